//! What the user does on page Map. A leaf.

use std::path::PathBuf;

use engine::{analysis::map::Method, lang, models::choice::ModelSpec};

/// The words or sentences that a map shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointChoice {
    #[default]
    SourceWords,
    TargetWords,
    List,
    Typed,
    Annotations,
}

impl PointChoice {
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

    pub fn key(self) -> &'static str {
        self.entry().1
    }

    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.1 == key).map(|entry| entry.0)
    }

    pub fn name(self) -> &'static str {
        lang::text(self.entry().2)
    }

    pub fn is_counted(self) -> bool {
        matches!(self, Self::SourceWords | Self::TargetWords | Self::List)
    }
}

/// What the colours of the points mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Rank,
    /// Letters of a word, words of a phrase.
    Length,
}

/// A table to save or to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapTable {
    Neighbours,
    Points,
}

/// Actions on the Map page.
#[derive(Clone, Debug, PartialEq)]
pub enum MapCommand {
    DismissMessage,
    SetModel(ModelSpec),
    SetChoice(PointChoice),
    SetCount(usize),
    SetMethod(Method),
    SetPerplexity(f32),
    SetColour(Colour),
    SetTyped(String),
    Compute,
    /// Shows a word of a model among the words of its side, on a new map if needed.
    Find {
        model: ModelSpec,
        choice: PointChoice,
        word: String,
    },
    Search(String),
    MoveMatch(isize),
    Select(Option<usize>),
    Save(MapTable, PathBuf),
}
