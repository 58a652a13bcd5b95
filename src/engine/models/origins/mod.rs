//! Models of other toolkits, one file an origin, one entry of [`ORIGINS`]. Nothing of theirs is run or downloaded; it
//! becomes a configuration, tensors by the names of [`shapes`](crate::models::shapes), and two tokenizer files.

mod argos;
mod card;
mod ctranslate;
pub mod foreign;
mod hugging_face;
mod joey;
mod keys;
pub mod marian;
pub mod marian_bin;
mod marian_files;
pub mod marian_npz;
pub mod marian_options;
pub mod marian_rnn;
pub mod model_bin;
pub mod nematus;
pub mod npz;
mod opennmt;
mod pack;
mod pickle;
mod pickled;
mod refused;
pub mod tensors;
pub mod torch;
mod torch_layers;
mod words;

use std::path::Path;

use crate::models::origins::foreign::OriginEntry;

pub use crate::models::origins::refused::{refused, why};

/// Every form of others that is read, the more particular first.
pub const ORIGINS: &[OriginEntry] = &[
    marian_bin::ENTRY,
    nematus::ENTRY,
    marian_npz::ENTRY,
    argos::ENTRY,
    ctranslate::ENTRY,
    hugging_face::ENTRY,
    opennmt::ENTRY,
    joey::ENTRY,
];

/// The form of a path; `None` in a browser, whose page has model folders alone.
pub fn find(path: &Path) -> Option<&'static OriginEntry> {
    if cfg!(target_family = "wasm") {
        return None;
    }
    ORIGINS.iter().find(|origin| (origin.finds)(path))
}
