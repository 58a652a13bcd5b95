//! Floor 8: what is looked at: a source sentence and how it is searched. A request is made of a scene, and a scene is
//! what undo goes back to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::decoding::{Ranking, SearchOptions};
use crate::session::history::Written;
use crate::text::sentence::MAX_SOURCE_BYTES;
use crate::worker::interventions::Interventions;

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
    /// What a person has set, by model; it stays when the column of the model is removed.
    pub interventions: Arc<[Owned]>,
}

/// What is set for a model or an ensemble.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owned {
    /// The folder of the model, or those of all members.
    pub folders: Vec<PathBuf>,
    /// What is set; never nothing.
    pub interventions: Arc<Interventions>,
}

impl Scene {
    /// What is set for these folders.
    pub fn set_for(&self, folders: &[PathBuf]) -> Arc<Interventions> {
        let owned = self.interventions.iter().find(|owned| owned.folders == folders);
        owned.map(|owned| Arc::clone(&owned.interventions)).unwrap_or_default()
    }

    /// Sets this for these folders, in place of what was set there.
    pub fn set(&mut self, folders: &[PathBuf], interventions: Interventions) {
        let mut list: Vec<Owned> = self.interventions.to_vec();
        let at = list.iter().position(|owned| owned.folders == folders);
        match at {
            Some(at) if interventions.is_empty() => drop(list.remove(at)),
            Some(at) => list[at].interventions = Arc::new(interventions),
            None if interventions.is_empty() => {}
            None => list.push(Owned { folders: folders.to_vec(), interventions: Arc::new(interventions) }),
        }
        self.interventions = list.into();
    }

    /// Goes on to another text: what belongs to positions or source words goes, what holds for every word stays. True
    /// when anything went.
    pub fn keep_for_other_text(&mut self) -> bool {
        let before = Arc::clone(&self.interventions);
        for owned in before.iter() {
            self.set(&owned.folders, owned.interventions.for_other_text());
        }
        before != self.interventions
    }
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
