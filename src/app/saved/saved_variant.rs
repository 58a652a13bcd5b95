//! Floor 9: variants as they are kept between starts, in a form of their own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::document::scene::{Owned, SearchChange, Variant};
use crate::app::saved::saved_interventions::SavedInterventions;
use crate::text::sentence::MAX_SOURCE_BYTES;

/// A column beside a model's. Unknown keys are ignored, missing ones are as in the sentence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedVariant {
    /// The folder of the model, or those of all members of an ensemble.
    pub folders: Vec<PathBuf>,
    /// Its own text.
    pub source: Option<String>,
    /// Its own beam.
    pub beam: Option<usize>,
    /// Its own A of log p / |y|^A.
    pub length_normalization: Option<f32>,
    /// Whether it never emits `[UNK]`.
    pub forbid_unk: Option<bool>,
    /// Whether it shows typed words in place of `[UNK]`.
    pub unk_replacement: Option<bool>,
    /// What is set in it alone; with nothing in it where that is nothing.
    pub interventions: Option<SavedInterventions>,
}

impl SavedVariant {
    /// As it is kept; `None` where a path is not text.
    pub fn of(variant: &Variant) -> Option<Self> {
        let Variant { id: _, folders, source, search, replaces, interventions } = variant;
        let set = interventions.as_ref().map(|set| Owned { folders: Vec::new(), interventions: set.clone() });
        folders.iter().all(|folder| folder.to_str().is_some()).then(|| Self {
            folders: folders.clone(),
            source: source.clone(),
            beam: search.beam,
            length_normalization: search.length_normalization,
            forbid_unk: search.forbid_unk,
            unk_replacement: *replaces,
            interventions: set.as_ref().and_then(SavedInterventions::of),
        })
    }

    /// As it was, with this number; what makes no sense is as in the sentence. `None` where nothing is left.
    pub fn variant(self, id: u64) -> Option<Variant> {
        let readable = |text: &String| !text.trim().is_empty() && text.len() <= MAX_SOURCE_BYTES;
        let set = |saved: SavedInterventions| saved.owned().map(|owned| owned.interventions).unwrap_or_default();
        if self.source.as_ref().is_some_and(|text| !readable(text)) {
            return None;
        }
        let variant = Variant {
            id,
            folders: self.folders,
            source: self.source,
            search: SearchChange {
                beam: self.beam.map(|beam| beam.clamp(1, 50)),
                length_normalization: self.length_normalization.filter(|a| (0.0..=2.0).contains(a)),
                forbid_unk: self.forbid_unk,
            },
            replaces: self.unk_replacement,
            interventions: self.interventions.map(set),
        };
        (!variant.is_as_original()).then_some(variant)
    }
}
