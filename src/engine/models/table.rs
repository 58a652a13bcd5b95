//! The table of architectures.

use std::path::Path;

use crate::models::entry::{Architecture, ModelEntry};
use crate::models::{luong, nematus, opennmt, rnn_encdec, rnn_search, transformer};
use crate::{error::Result, models::config::Config};

pub const TRAINED: &[ModelEntry] = &[rnn_encdec::ENTRY, rnn_search::ENTRY, luong::ENTRY];

pub const MODELS: &[ModelEntry] =
    &[rnn_encdec::ENTRY, rnn_search::ENTRY, luong::ENTRY, nematus::ENTRY, opennmt::ENTRY, transformer::ENTRY];

impl Architecture {
    pub const RNN_ENC_DEC: Self = Self::new(&rnn_encdec::ENTRY);
    pub const RNN_SEARCH: Self = Self::new(&rnn_search::ENTRY);
    pub const LUONG: Self = Self::new(&luong::ENTRY);
    pub const NEMATUS: Self = Self::new(&nematus::ENTRY);
    pub const OPENNMT: Self = Self::new(&opennmt::ENTRY);
    pub const TRANSFORMER: Self = Self::new(&transformer::ENTRY);

    pub fn from_name(name: &str) -> Option<Self> {
        Self::among(MODELS, name)
    }
}

impl Config {
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_among(MODELS, path)
    }

    pub fn from_json(path: &Path, text: &str) -> Result<Self> {
        Self::from_json_among(MODELS, path, text)
    }
}
