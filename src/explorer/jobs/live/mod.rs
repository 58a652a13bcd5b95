//! The live translation: one slot, the latest request wins.

pub mod given;
pub mod mailbox;
pub mod near;
pub mod protocol;
pub mod serve;
pub mod untouched;
pub mod view;
pub mod worker;
