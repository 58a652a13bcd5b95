//! Floor 11: what the user does on page Phrases. A leaf.

use std::path::PathBuf;

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum PhrasesCommand {
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Reads this phrase table and scores it.
    Open(PathBuf),
    /// Takes the table away.
    Close,
    /// Scores the table with the chosen model, as after it was cancelled.
    Score,
    /// Chooses the model of a column, by its folder.
    SetModel(PathBuf),
    /// Says which feature of the table is p(target | source), counted from 1.
    SetFeature(usize),
    /// Types a source phrase.
    TypeSource(String),
    /// Takes a source phrase, by its number in the table.
    PickSource(usize),
    /// Looks for this in all pairs; empty finds nothing.
    Search(String),
    /// Chooses a pair, by its place in the table.
    Select(Option<usize>),
    /// Draws targets of the source phrase from the model; each time others.
    Sample,
    /// Writes both scores of all pairs as tab-separated values.
    Export(PathBuf),
}
