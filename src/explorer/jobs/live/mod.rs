//! The live translation: one slot, the latest request wins.

pub mod mailbox;
pub mod protocol;
pub mod serve;
pub mod view;
pub mod worker;
