//! The table of architectures.

use std::path::Path;

use crate::error::Result;
use crate::models::config::Config;
use crate::models::entry::{Architecture, ModelEntry};
use crate::models::{luong, nematus, opennmt, rnn_encdec, rnn_search, transformer};

/// The architectures that are trained here, in the order of the papers.
pub const TRAINED: &[ModelEntry] = &[rnn_encdec::ENTRY, rnn_search::ENTRY, luong::ENTRY];

/// Every architecture that can be loaded, in the order of the papers.
pub const MODELS: &[ModelEntry] =
    &[rnn_encdec::ENTRY, rnn_search::ENTRY, luong::ENTRY, nematus::ENTRY, opennmt::ENTRY, transformer::ENTRY];

impl Architecture {
    /// Cho et al. 2014.
    pub const RNN_ENC_DEC: Self = Self::new(&rnn_encdec::ENTRY);
    /// Bahdanau, Cho, Bengio 2015.
    pub const RNN_SEARCH: Self = Self::new(&rnn_search::ENTRY);
    /// Luong, Pham, Manning 2015.
    pub const LUONG: Self = Self::new(&luong::ENTRY);
    /// Sennrich et al. 2017.
    pub const NEMATUS: Self = Self::new(&nematus::ENTRY);
    /// Klein et al. 2017.
    pub const OPENNMT: Self = Self::new(&opennmt::ENTRY);
    /// Vaswani et al. 2017.
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
