//! What page Corpus remembers between two frames. A leaf.

use crate::pages::{
    corpus::judging_state::JudgingState, corpus::view::plan_draft::PlanDraft, corpus::view::scheme_draft::SchemeDraft,
};
use crate::widgets::heatmap::Texture;

/// Unsaved input of the Corpus page.
#[derive(Default)]
pub struct CorpusMemory {
    pub mark: Option<MarkKey>,
    pub over_mark: Option<MarkKey>,
    pub path: String,
    pub tag: String,
    pub note: TypedNote,
    pub annotator: Option<String>,
    pub scheme: Option<SchemeDraft>,
    pub picture: ShownAlignment,
    /// The sentence and its source word that the next link begins at.
    pub linked: Option<(usize, usize)>,
    pub overview: OverviewChoice,
    /// What words of other texts are compared with in the detail: the system at this place; none: the references.
    pub lit: Option<usize>,
    /// How the rows of the table were chosen and sorted when they were drawn last.
    pub ordered: (String, String),
    pub desk: JudgingState,
    /// The sentence and the translation that were brought into view last.
    pub judged: Option<(usize, usize)>,
    pub plan: PlanDraft,
    /// The hit that is already in view.
    pub seen_hit: Option<usize>,
}

/// A note as it is typed.
#[derive(Default)]
pub struct TypedNote {
    pub text: String,
    /// Of which sentence it is, and whose.
    pub of: Option<(usize, String)>,
    /// Something was typed that is not kept yet.
    pub is_typed: bool,
    /// When what was typed is kept, seconds of the window's clock; `None`: it is.
    pub due: Option<f64>,
}

/// The alignment that is shown of a sentence.
#[derive(Default)]
pub struct ShownAlignment {
    /// Its system, by its place.
    pub system: usize,
    /// How far it is scrolled to the right, points.
    pub scroll: f32,
    pub texture: Texture,
}

/// What the overview shows.
#[derive(Default)]
pub struct OverviewChoice {
    /// Which score is shown by length, by its place.
    pub score: usize,
    pub by_tag: bool,
    /// The system whose source words are listed, by its place.
    pub words_of: usize,
    /// They are sorted by how large a share of them is wrong.
    pub by_share: bool,
}

/// A mark of a sentence: whose, and which of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkKey {
    pub at: usize,
    pub annotator: String,
    /// Its number, from 0.
    pub number: usize,
}
