//! The formats, a file each, and what some share.

pub mod blocks;
pub mod corpus;
pub mod jsonl;
pub mod links;
pub mod marian;
pub mod nbest;
pub mod npy;
pub mod rows;
pub mod snum;
pub mod subtitles;
pub mod table;
pub mod text;
pub mod tmx;
pub mod wordalign;
pub mod xliff;
pub mod xml;
