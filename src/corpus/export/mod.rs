//! Floor 7: what goes out of a corpus.

pub mod arrays;
pub mod columnar;
pub mod out;
pub mod picture;
