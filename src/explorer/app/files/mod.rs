//! Files that the explorer opens and writes.

pub mod claim;
pub mod common;
#[cfg(target_family = "wasm")]
mod download;
pub mod drawing;
pub mod export;
pub mod gold;
pub mod in_words;
pub mod interlinear;
pub mod line;
pub mod lists;
pub mod picture;
#[cfg(target_family = "wasm")]
pub mod upload;
pub mod work;
