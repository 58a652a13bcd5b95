//! The thread that owns an open corpus.

pub mod calls;
pub mod explore;
mod open;
pub mod thread;
