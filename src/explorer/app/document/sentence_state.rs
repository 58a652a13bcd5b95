//! What is looked at: a source sentence and how it is searched. A request is made of a scene, and a scene is
//! what undo goes back to.

use std::sync::Arc;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::app::document::interlinear::InterlinearPlan;
use engine::decoding::{Ranking, SearchOptions};
use engine::interventions::{Interventions, Place, SetAlpha};
use engine::{models::choice::ModelSpec, text::sentence::MAX_SOURCE_BYTES};

/// Candidates kept for each word, for the inspector.
pub const CANDIDATES: usize = 10;

/// A source sentence and how it is searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentenceState {
    pub source: String,
    pub position: Option<usize>,
    pub search: SearchSettings,
    /// A translation that every model reads; `None` while its field is closed.
    pub given: Option<String>,
    /// Interventions by model; they stay when the column of the model is removed.
    pub interventions: Arc<[Owned]>,
    /// Further columns in the order they were made; they stay when the column of their model is removed.
    pub variants: Arc<[Variant]>,
    pub interlinear: Arc<InterlinearPlan>,
}

/// Another column of a model; `None` in a field: as in the sentence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variant {
    #[serde(skip)]
    pub id: u64,
    #[serde(alias = "folders")]
    pub models: Vec<ModelSpec>,
    pub source: Option<String>,
    #[serde(flatten)]
    pub search: SearchChange,
    /// Whether the typed word is shown for `[UNK]`.
    #[serde(rename = "unk_replacement")]
    pub replaces: Option<bool>,
    /// What is set in it, in place of what is set for the model.
    #[serde(serialize_with = "kept_alone", deserialize_with = "alone")]
    pub interventions: Option<Arc<Interventions>>,
}

#[expect(clippy::ref_option, reason = "serde calls it with a reference")]
fn kept_alone<S: Serializer>(set: &Option<Arc<Interventions>>, output: S) -> Result<S::Ok, S::Error> {
    let owned = |set: &Arc<Interventions>| Owned { interventions: Arc::clone(set), ..Owned::default() };
    set.as_ref().map(owned).serialize(output)
}

fn alone<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Arc<Interventions>>, D::Error> {
    Ok(Option::<Owned>::deserialize(input)?.map(|owned| owned.interventions))
}

impl Variant {
    /// `None` where nothing valid is left.
    pub fn sound(self, id: u64) -> Option<Self> {
        let is_readable = |text: &String| !text.trim().is_empty() && text.len() <= MAX_SOURCE_BYTES;
        let search = SearchChange {
            beam: self.search.beam.map(|beam| beam.clamp(1, MOST_BEAM)),
            length_normalization: self.search.length_normalization.filter(|a| (0.0..=MOST_POWER).contains(a)),
            ..self.search
        };
        let variant = Self { id, search, ..self };
        (variant.source.as_ref().is_none_or(is_readable) && !variant.is_as_original()).then_some(variant)
    }

    pub fn is_as_original(&self) -> bool {
        *self == Self { id: self.id, models: self.models.clone(), ..Self::default() }
    }
}

/// What a variant searches otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchChange {
    pub beam: Option<usize>,
    pub length_normalization: Option<f32>,
    pub forbid_unk: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unk: Option<bool>,
}

impl SearchChange {
    pub fn between(from: SearchSettings, to: SearchSettings) -> Self {
        let power = (from.length_normalization - to.length_normalization).abs() > 1e-6;
        Self {
            beam: (from.beam != to.beam).then_some(to.beam),
            length_normalization: power.then_some(to.length_normalization),
            forbid_unk: (from.forbid_unk != to.forbid_unk).then_some(to.forbid_unk),
            allow_unk: (from.allow_unk != to.allow_unk).then_some(to.allow_unk),
        }
    }

    pub fn over(self, settings: SearchSettings) -> SearchSettings {
        SearchSettings {
            beam: self.beam.unwrap_or(settings.beam),
            length_normalization: self.length_normalization.unwrap_or(settings.length_normalization),
            forbid_unk: self.forbid_unk.unwrap_or(settings.forbid_unk),
            allow_unk: self.allow_unk.unwrap_or(settings.allow_unk),
        }
    }
}

/// Interventions of a model or an ensemble.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Owned {
    /// Called `folders` in older links and states.
    #[serde(alias = "folders")]
    pub models: Vec<ModelSpec>,
    /// Never empty.
    #[serde(flatten, serialize_with = "kept", deserialize_with = "sound_set")]
    pub interventions: Arc<Interventions>,
}

/// Unknown keys are ignored, missing ones are empty.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// As in a file of interventions; nothing where a later version wrote what this one cannot read.
    set: Value,
}

fn kept<S: Serializer>(set: &Arc<Interventions>, output: S) -> Result<S::Ok, S::Error> {
    let set = serde_json::to_value(&**set).map_err(S::Error::custom)?;
    Kept { set }.serialize(output)
}

/// Drops what makes no sense.
fn sound_set<'de, D: Deserializer<'de>>(input: D) -> Result<Arc<Interventions>, D::Error> {
    let Kept { set } = Kept::deserialize(input)?;
    let mut set: Interventions = serde_json::from_value(set).unwrap_or_default();
    let is_weight = |alpha: &f32| alpha.is_finite() && *alpha >= 0.0;
    set.pin.retain(|pin| if let SetAlpha::Weights(row) = &pin.alpha { row.iter().all(is_weight) } else { true });
    set.mask.retain(|mask| if let Place::Bytes(bytes) = mask { bytes.start <= bytes.end } else { true });
    set.temperature = set.temperature.filter(|t| t.is_finite() && *t > 0.0);
    Ok(Arc::new(set))
}

impl SentenceState {
    pub(super) fn bytes(&self) -> usize {
        let variants = self.variants.iter().filter_map(|variant| variant.source.as_ref());
        let texts: usize = self.given.iter().chain(variants).map(String::len).sum();
        let rows: usize = self.interventions.iter().map(|owned| owned.interventions.row_bytes()).sum();
        self.source.len() + texts + rows + self.interlinear.bytes()
    }

    pub fn set_for(&self, models: &[ModelSpec]) -> Arc<Interventions> {
        let owned = self.interventions.iter().find(|owned| owned.models == models);
        owned.map(|owned| Arc::clone(&owned.interventions)).unwrap_or_default()
    }

    pub fn variant(&self, id: u64) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.id == id)
    }

    pub fn text_of(&self, variant: Option<u64>) -> &str {
        let own = variant.and_then(|id| self.variant(id)?.source.as_deref());
        own.unwrap_or(&self.source)
    }

    pub fn search_of(&self, variant: Option<u64>) -> SearchSettings {
        variant.and_then(|id| self.variant(id)).map_or(self.search, |variant| variant.search.over(self.search))
    }

    /// A variant of another text keeps the sentence's interventions that still make sense.
    pub fn set_of(&self, models: &[ModelSpec], variant: Option<u64>) -> Arc<Interventions> {
        let Some(variant) = variant.and_then(|id| self.variant(id)) else { return self.set_for(models) };
        let inherited = || {
            let set = self.set_for(models);
            if variant.source.is_some() { Arc::new(set.for_other_text()) } else { set }
        };
        variant.interventions.clone().unwrap_or_else(inherited)
    }

    pub fn set_in(&mut self, models: &[ModelSpec], variant: Option<u64>, interventions: Interventions) {
        match variant {
            None => self.set(models, interventions),
            Some(id) if *self.set_of(models, variant) != interventions => {
                self.change_variant(id, |variant| variant.interventions = Some(Arc::new(interventions)));
            }
            Some(_) => {}
        }
    }

    pub fn change_variant(&mut self, id: u64, change: impl FnOnce(&mut Variant)) {
        let mut list = self.variants.to_vec();
        if let Some(variant) = list.iter_mut().find(|variant| variant.id == id) {
            change(variant);
            self.variants = list.into();
        }
    }

    pub fn set(&mut self, models: &[ModelSpec], interventions: Interventions) {
        let mut list: Vec<Owned> = self.interventions.to_vec();
        let at = list.iter().position(|owned| owned.models == models);
        match at {
            Some(at) if interventions.is_empty() => drop(list.remove(at)),
            Some(at) => list[at].interventions = Arc::new(interventions),
            None if interventions.is_empty() => {}
            None => list.push(Owned { models: models.to_vec(), interventions: Arc::new(interventions) }),
        }
        self.interventions = list.into();
    }

    /// Drops what belongs to positions or source words; true when anything was dropped.
    pub fn keep_for_other_text(&mut self) -> bool {
        let before = Arc::clone(&self.interventions);
        for owned in before.iter() {
            self.set(&owned.models, owned.interventions.for_other_text());
        }
        before != self.interventions
    }

    /// The same for variants: one with its own text goes unless `carried` gives its new text.
    pub fn keep_variants(&mut self, carried: impl Fn(&str) -> Option<String>) -> bool {
        let kept = |variant: &Variant| {
            let source = match &variant.source {
                Some(source) => Some(carried(source)?),
                None => None,
            };
            let interventions = variant.interventions.as_ref().map(|set| Arc::new(set.for_other_text()));
            Some(Variant { source, interventions, ..variant.clone() })
        };
        let before = self.variants.len();
        self.variants = self.variants.iter().filter_map(kept).collect();
        before != self.variants.len()
    }
}

const MOST_BEAM: usize = 50;
/// Greatest A of log p / |y|^A.
const MOST_POWER: f32 = 2.0;

/// How translations are searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchSettings {
    /// From 1 to 50.
    pub beam: usize,
    /// A of log p / |y|^A, from 0 to 2.
    pub length_normalization: f32,
    pub forbid_unk: bool,
    pub allow_unk: bool,
}

impl Default for SearchSettings {
    fn default() -> Self {
        Self { beam: 5, length_normalization: 0.0, forbid_unk: false, allow_unk: false }
    }
}

impl SearchSettings {
    pub fn sound(self) -> Self {
        Self {
            beam: self.beam.clamp(1, MOST_BEAM),
            length_normalization: self.length_normalization.clamp(0.0, MOST_POWER),
            ..self
        }
    }

    pub fn options(self) -> SearchOptions {
        SearchOptions {
            beam: self.beam,
            ranking: Ranking::power(self.length_normalization),
            forbid_unk: self.forbid_unk,
            allow_unk: self.allow_unk,
            candidates: CANDIDATES,
            trace: true,
            ..SearchOptions::default()
        }
    }
}

/// Truncates a text to the longest sentence; true when anything was cut.
pub fn cut(mut text: String) -> (String, bool) {
    let is_long = text.len() > MAX_SOURCE_BYTES;
    if is_long {
        text.truncate(text.floor_char_boundary(MAX_SOURCE_BYTES));
        text.shrink_to_fit();
    }
    (text, is_long)
}
