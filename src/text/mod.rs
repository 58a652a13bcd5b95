//! Floor 1: words and ids. Imports floor 0 only; knows no tensors and no window.

pub mod corpus;
pub mod dictionary;
pub mod foreign;
#[cfg(target_family = "wasm")]
pub mod given;
pub mod join;
pub mod language;
pub mod line;
pub mod lines;
pub mod links;
pub mod markdown;
pub mod pairs;
pub mod parallel;
pub mod phrases;
pub mod pieces;
pub mod readable;
pub mod reader;
pub mod sentence;
pub mod tokenizer;
pub mod tsv;
pub mod unspaced;
pub mod vocab;
pub mod words;
pub mod write;
pub mod zstandard;
