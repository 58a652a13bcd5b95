//! The file of a corpus, its tables and what of them is in memory.
//!
//! Why columns are packed next to the rows, and not asked of SQLite: of a million sentences with two systems, two
//! cores, SQLite sorts by a measure in 1.3 to 2.1 s and by a difference of systems in 1.1 to 1.5 s (the goal is 0.3
//! s; 0.07 to 0.11 s with an index, but each of some 40 measures would need its own), finds a word in the four texts
//! in 1.1 to 1.7 s (the goal is 0.5 s). An FTS5 index of trigrams takes 436 s to build and makes a file of 987 MB one
//! of 1,572 MB, and knows no expressions.

pub mod blocks;
pub mod coder;
pub mod corpus;
pub mod file;
pub mod fold;
pub mod kinds;
pub mod output;
pub mod parts;
pub mod read;
pub mod rules;
pub mod schema;
pub mod scoring;
pub mod texts;
pub mod write;
