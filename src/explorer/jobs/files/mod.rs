//! Files that are read, followed and written behind the window.

pub mod disk;
pub mod follow;
pub mod inbox;
pub mod texts;
