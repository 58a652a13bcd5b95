//! What the user does on page Corpus. A leaf.

use std::path::PathBuf;

use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::{corpus::documents::DocumentCommand, corpus::views::ExploreCommand};
use corpus::{export::out::ExportFormat, judgements::judge::ErrorMark};
use engine::{decoding::SystemSpec, evaluation::contrast::ContrastMeasures};
use import;

/// A command of the Corpus page.
#[derive(Clone, Debug, PartialEq)]
pub enum CorpusCommand {
    Corpus(CorpusRequest),
    /// Brings in a file; without a corpus into one that is not saved.
    Import(PathBuf),
    /// Puts in the small set that comes with the program; without a corpus into one that is not saved.
    Fill,
    SetRole(import::Role),
    /// Whether the best candidate of an n-best list that comes in, by chrF2, is a system of its own.
    TakeOracle(bool),
    /// Texts that begin a corpus are cut into words already.
    Pretokenized(bool),
    /// Of n-best lists the first by this comes in too; empty: only as they are.
    Rerank(String),
    SetFilter(String),
    /// Sorts by this column: descending numbers and ascending texts, then reversed, then unsorted.
    Sort(String),
    /// Chooses a sentence by its place, from 0.
    Select(Option<usize>),
    Move(isize),
    /// Opens the chosen sentence on page Sentence.
    OpenSentence,
    /// Runs the models and ensembles of the columns; with true their alignments of the references.
    Run(bool),
    RunOne(SystemSpec, bool),
    /// Runs them with the interventions of a file, as systems of their own.
    RunWith(PathBuf),
    /// Runs those for which something is set on page Sentence with that, as systems of their own.
    RunSet,
    ShowColumn(String, bool),
    SetAnnotator(String),
    Star(u8),
    /// Gives it a tag, or takes it away.
    Tag(String),
    Note {
        at: usize,
        annotator: String,
        note: String,
    },
    /// Rates what a system, by its name, makes of it, from 0 to 100; `None`: takes that back.
    Rate(String, Option<u8>),
    Mark(ErrorMark),
    /// Takes away the mark of this number.
    Unmark(usize),
    /// Says that what a system, by its name, makes of it has no errors, or takes that back.
    NoErrors(String),
    /// Chooses whose words are linked by hand: the system at this place; none: the reference.
    LinkTo(Option<usize>),
    /// Draws a link by hand: none, sure, possible, and none again. Words of source and the linked text, from 0.
    Link(usize, usize),
    LinksOfAligner,
    NoLinks,
    Save(ExportFormat, PathBuf),
    Explore(ExploreCommand),
    Documents(DocumentCommand),
    Contrast(ContrastCommand),
    Log(LogCommand),
    DismissMessage,
}

impl CorpusCommand {
    pub fn import_gold(path: PathBuf) -> Self {
        let options = import::ImportOptions { role: Some(import::Role::Gold), ..import::ImportOptions::default() };
        Self::Corpus(CorpusRequest::Import(path, options))
    }
}

/// A command for minimal pairs.
#[derive(Clone, Debug, PartialEq)]
pub enum ContrastCommand {
    Open(PathBuf),
    Again,
    /// Forces the pairs with the interventions of a file as well; `None`: of none.
    SetInterventions(Option<PathBuf>),
    SetMeasures(ContrastMeasures),
    /// Shows a row for each pair in place of one for each tag.
    ShowPairs(bool),
    Select(usize),
    /// Shows the pair of a row on page Sentence.
    Show(usize),
    Save(PathBuf),
}

/// A command for training logs.
#[derive(Clone, Debug, PartialEq)]
pub enum LogCommand {
    /// Opens a log, the log of a run's folder, or the logs of all runs in a folder.
    Open(PathBuf),
    Close(usize),
}
