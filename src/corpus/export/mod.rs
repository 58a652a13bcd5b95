//! What goes out of a corpus.

pub mod arrays;
pub mod judged;
pub mod judgement_table;
pub mod out;
pub mod picture;
pub mod provenance;
