//! What page Corpus remembers between two frames. A leaf.

use std::sync::Arc;

use crate::{pages::corpus::judging_state::JudgingState, widgets::heatmap::Texture};
use corpus::judgements::campaign::Campaign;
use corpus::judgements::scheme::{ErrorScheme, Renamed, Severity, WeightException};

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
    /// A campaign while it is planned, and its annotators as they are typed.
    pub plan: Option<(String, Campaign)>,
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

/// A name as it is edited, and what it was.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Its name in the workspace.
    pub was: Option<String>,
    pub name: String,
    pub weight: f64,
}

/// A scheme as it is edited.
#[derive(Clone, Debug)]
pub struct SchemeDraft {
    /// That of the workspace.
    pub of: Arc<ErrorScheme>,
    pub kinds: Vec<Named>,
    pub severities: Vec<Named>,
    /// Weights that are not those of the severities; they are kept.
    pub exceptions: Vec<WeightException>,
}

impl SchemeDraft {
    pub fn new(of: Arc<ErrorScheme>) -> Self {
        let named = |name: &String, weight| Named { was: Some(name.clone()), name: name.clone(), weight };
        let kinds = of.categories.iter().map(|name| named(name, 0.0)).collect();
        let severities = of.severities.iter().map(|severity| named(&severity.name, severity.weight)).collect();
        let exceptions = of.exceptions.clone();
        Self { of, kinds, severities, exceptions }
    }

    /// What it comes to, and which names are new.
    pub fn scheme(&self) -> (ErrorScheme, Renamed) {
        let clean = |named: &Named| named.name.trim().to_owned();
        let severity = |named: &Named| Severity { name: clean(named), weight: named.weight };
        let scheme = ErrorScheme {
            categories: self.kinds.iter().map(clean).collect(),
            severities: self.severities.iter().map(severity).collect(),
            exceptions: self.exceptions.clone(),
        };
        let renamed = |list: &[Named]| {
            let all = list.iter().filter_map(|named| Some((named.was.clone()?, clean(named))));
            all.filter(|(was, is)| was != is).collect()
        };
        (scheme, Renamed { kinds: renamed(&self.kinds), severities: renamed(&self.severities) })
    }
}
