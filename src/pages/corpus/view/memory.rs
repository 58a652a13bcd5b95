//! Floor 11: what page Corpus remembers between two frames. A leaf.

use crate::corpus::judgements::judge::ErrorMark;
use crate::pages::corpus::desk::JudgeDesk;
use crate::pages::corpus::view::plan_draft::PlanDraft;
use crate::pages::corpus::view::scheme_draft::SchemeDraft;
use crate::widgets::heatmap::Texture;

/// What page Corpus remembers of what is being typed and clicked.
#[derive(Default)]
pub struct CorpusMemory {
    /// Marking of errors.
    pub marking: Marking,
    /// A path, as typed.
    pub path: String,
    /// A tag, as typed.
    pub tag: String,
    /// The note of a sentence, as typed.
    pub note: String,
    /// Of which sentence the note is, and whose.
    pub noted: Option<(usize, String)>,
    /// Something was typed that is not kept yet.
    pub is_noting: bool,
    /// When what was typed is kept, seconds of the window's clock; `None`: it is.
    pub note_due: Option<f64>,
    /// The annotator, as typed.
    pub annotator: Option<String>,
    /// The scheme of errors, while it is edited.
    pub scheme: Option<SchemeDraft>,
    /// The system whose alignment is shown, by its place, and how far it is scrolled to the right, points.
    pub system: usize,
    /// As said.
    pub scroll: f32,
    /// Its picture.
    pub texture: Texture,
    /// The sentence and its source word that the next link begins at.
    pub linked: Option<(usize, usize)>,
    /// Which score is shown by length, by its place.
    pub score: usize,
    /// It is shown by tag instead.
    pub by_tag: bool,
    /// What words of other texts are compared with in the detail: the system at this place; none: the references.
    pub lit: Option<usize>,
    /// The system whose source words are listed, by its place.
    pub words_of: usize,
    /// They are sorted by how large a share of them is wrong.
    pub by_share: bool,
    /// How the rows of the table were chosen and sorted when they were drawn last.
    pub ordered: (String, String),
    /// Where the keyboard is among the tasks of a campaign.
    pub desk: JudgeDesk,
    /// The sentence and the translation that were brought into view last.
    pub judged: Option<(usize, usize)>,
    /// A campaign, as typed.
    pub plan: PlanDraft,
    /// The hit that is already in view.
    pub seen_hit: Option<usize>,
}

/// What is remembered of the marks of errors.
#[derive(Default)]
pub struct Marking {
    /// A mark that is being made, and of which sentence.
    pub span: Option<(usize, ErrorMark)>,
    /// The mark that is chosen.
    pub mark: Option<MarkKey>,
    /// The mark that the mouse is over.
    pub over_mark: Option<MarkKey>,
    /// The system whose errors are judged, by its place.
    pub judged: usize,
    /// Its kind.
    pub category: String,
    /// Its severity.
    pub severity: String,
}

/// A mark of a sentence: whose, and which of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkKey {
    /// The sentence, from 0.
    pub at: usize,
    /// The annotator.
    pub annotator: String,
    /// Its number, from 0.
    pub number: usize,
}
