//! Floor 8: what is looked at: a source sentence and how it is searched. A request is made of a scene, and a scene is
//! what undo goes back to.

use crate::decoding::{Ranking, SearchOptions};
use crate::session::history::Written;
use crate::text::sentence::MAX_SOURCE_BYTES;

/// Candidates kept for each word, for the inspector.
pub const CANDIDATES: usize = 10;

/// A source sentence and how it is searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The text being translated.
    pub source: String,
    /// Where in the shown list it comes from.
    pub position: Option<usize>,
    /// How its translations are searched.
    pub search: SearchSettings,
    /// A translation that the user gives, to be read by every model; `None` while there is no field for it.
    pub given: Option<String>,
}

/// How translations are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSettings {
    /// From 1 to 50.
    pub beam: usize,
    /// A of log p / |y|^A, from 0 to 2.
    pub length_normalization: f32,
    /// Never emit `[UNK]`.
    pub forbid_unk: bool,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { beam: 5, length_normalization: 0.0, forbid_unk: false }
    }
}

impl SearchSettings {
    /// As decoding wants them.
    pub fn options(self) -> SearchOptions {
        SearchOptions {
            beam: self.beam,
            ranking: Ranking::power(self.length_normalization),
            forbid_unk: self.forbid_unk,
            candidates: CANDIDATES,
            trace: true,
            ..SearchOptions::default()
        }
    }
}

impl Written for Scene {
    fn text(&self) -> &str {
        &self.source
    }

    fn bytes(&self) -> usize {
        self.source.len() + self.given.as_ref().map_or(0, String::len)
    }
}

/// The text as far as a sentence may be long, and whether anything was cut off.
pub fn cut(mut text: String) -> (String, bool) {
    let is_long = text.len() > MAX_SOURCE_BYTES;
    if is_long {
        text.truncate(text.floor_char_boundary(MAX_SOURCE_BYTES));
        text.shrink_to_fit();
    }
    (text, is_long)
}
