//! Floor 7: the file of a corpus, its tables and what of them is in memory.

pub mod blocks;
pub mod coder;
pub mod corpus;
pub mod file;
pub mod fold;
pub mod kinds;
pub mod known;
pub mod lists;
pub mod look;
pub mod output;
pub mod ranges;
pub mod read;
pub mod schema;
pub mod texts;
pub mod write;
