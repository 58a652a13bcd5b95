//! What the user does on page Map. A leaf.

use std::path::PathBuf;

use engine::analysis::map::Method;
use engine::lang;
use engine::models::choice::ModelSpec;

/// What is to be mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointChoice {
    /// The most frequent source words.
    #[default]
    SourceWords,
    /// The most frequent target words.
    TargetWords,
    /// The sentences of the shown list.
    List,
    /// The lines typed on the page.
    Typed,
    /// The annotations of the sentence on screen.
    Annotations,
}

impl PointChoice {
    /// Every choice: itself, its key in the saved state, its name, and what it is.
    pub const ALL: [(Self, &'static str, &'static str, &'static str); 5] = [
        (
            Self::SourceWords,
            "source",
            id!("Source words"),
            id!("The most frequent words that are read, by their rows of the embedding matrix"),
        ),
        (
            Self::TargetWords,
            "target",
            id!("Target words"),
            id!("The most frequent words that are written, by their rows of the embedding matrix"),
        ),
        (
            Self::List,
            "list",
            id!("Phrases of the list"),
            id!("The lines of the list on page Sentence, by the context c, or by the mean of their annotations h_j"),
        ),
        (Self::Typed, "typed", id!("Typed phrases"), id!("Lines typed or pasted here, by c or the mean of h_j")),
        (
            Self::Annotations,
            "annotations",
            id!("Words in their sentence"),
            id!("The annotations h_j of the sentence on page Sentence (Bahdanau et al. 2015, equation 7)"),
        ),
    ];

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        Self::ALL.iter().find(|entry| entry.0 == self).unwrap_or(&Self::ALL[0])
    }

    /// In the saved state.
    pub fn key(self) -> &'static str {
        self.entry().1
    }

    /// The choice of this key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.1 == key).map(|entry| entry.0)
    }

    /// Its name in menus.
    pub fn name(self) -> &'static str {
        lang::text(self.entry().2)
    }

    /// Whether it can be said how many.
    pub fn is_counted(self) -> bool {
        matches!(self, Self::SourceWords | Self::TargetWords | Self::List)
    }
}

/// What the colours of the points mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// The rank in the vocabulary, or the place in the list or the sentence.
    #[default]
    Rank,
    /// Letters of a word, words of a phrase.
    Length,
}

/// A table to be saved or copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapTable {
    /// The neighbours of the selected point.
    Neighbours,
    /// All points with their places.
    Points,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum MapCommand {
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Which model, by its folder.
    SetModel(ModelSpec),
    /// What is to be mapped.
    SetChoice(PointChoice),
    /// At most so many points.
    SetCount(usize),
    SetMethod(Method),
    /// About how many neighbours count for a point.
    SetPerplexity(f32),
    /// What the colours mean.
    SetColour(Colour),
    /// The lines that are typed.
    SetTyped(String),
    /// Makes the map; the one under way is dropped.
    Compute,
    /// Shows a word of a model among words of its side; the map is made where another one is there.
    Find {
        model: ModelSpec,
        choice: PointChoice,
        word: String,
    },
    /// Looks for this among the points.
    Search(String),
    /// Selects the next match, or an earlier one.
    MoveMatch(isize),
    /// Selects a point, by its position in the points of the chart.
    Select(Option<usize>),
    /// Writes a table of tab-separated values.
    Save(MapTable, PathBuf),
}
