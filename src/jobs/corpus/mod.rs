//! Floor 8: the thread that owns an open corpus.

pub mod calls;
pub mod explore;
pub mod thread;
