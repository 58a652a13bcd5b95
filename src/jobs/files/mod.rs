//! Floor 8: files that are read, followed and written behind the window.

pub mod disk;
pub mod follow;
pub mod texts;
