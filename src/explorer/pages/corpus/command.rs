//! What the user does on page Corpus. A leaf.

use std::path::PathBuf;

use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::corpus::documents::DocumentCommand;
use crate::pages::corpus::views::ExploreCommand;
use corpus::export::out::ExportFormat;
use corpus::judgements::judge::ErrorMark;
use engine::decoding::SystemSpec;
use engine::evaluation::contrast::ContrastMeasures;
use import;

/// What the user does on page Corpus.
#[derive(Clone, Debug, PartialEq)]
pub enum CorpusCommand {
    /// Asks the corpus thread for something, in its words.
    Corpus(CorpusRequest),
    /// Brings in a file; without a corpus into one that is not saved.
    Import(PathBuf),
    /// Puts in the small set that comes with the program; without a corpus into one that is not saved.
    Fill,
    /// What a plain text that comes in is.
    SetRole(import::Role),
    /// Whether the best candidate of an n-best list that comes in, by chrF2, is a system of its own.
    TakeOracle(bool),
    /// Texts that begin a corpus are cut into words already.
    Pretokenized(bool),
    /// Of n-best lists the first by this comes in too; empty: only as they are.
    Rerank(String),
    /// The conditions, as typed.
    SetFilter(String),
    /// Sorts by this column, numbers by the greatest first and texts from A to Z; again: the other way round; a third time:
    /// as they came.
    Sort(String),
    /// Chooses a sentence by its place, from 0.
    Select(Option<usize>),
    /// Goes so many rows down.
    Move(isize),
    /// Opens the chosen sentence on page Sentence.
    OpenSentence,
    /// Runs the models and ensembles of the columns; with true their alignments of the references.
    Run(bool),
    /// Runs one model, or one ensemble; with true its alignments of the references.
    RunOne(SystemSpec, bool),
    /// Runs them with the interventions of a file, as systems of their own.
    RunWith(PathBuf),
    /// Runs those for which something is set on page Sentence with that, as systems of their own.
    RunSet,
    /// Shows a column, or hides it.
    ShowColumn(String, bool),
    /// Whose judgements are given.
    SetAnnotator(String),
    /// Gives the chosen sentence stars.
    Star(u8),
    /// Gives it a tag, or takes it away.
    Tag(String),
    /// Writes a note on a sentence.
    Note { at: usize, annotator: String, note: String },
    /// Rates what a system, by its name, makes of it, from 0 to 100; `None`: takes that back.
    Rate(String, Option<u8>),
    /// Marks an error in it.
    Mark(ErrorMark),
    /// Takes away the mark of this number.
    Unmark(usize),
    /// Says that what a system, by its name, makes of it has no errors, or takes that back.
    NoErrors(String),
    /// Chooses whose words are linked by hand: the system at this place; none: the reference.
    LinkTo(Option<usize>),
    /// Draws a link by hand: none, sure, possible, and none again. Words of source and the linked text, from 0.
    Link(usize, usize),
    /// Begins the links by hand with those of the statistical aligner.
    LinksOfAligner,
    /// Takes all links by hand away.
    NoLinks,
    /// Writes the rows into a file.
    Save(ExportFormat, PathBuf),
    /// Does something with the whole of the sentences.
    Explore(ExploreCommand),
    /// Does something with two documents.
    Documents(DocumentCommand),
    /// Does something with minimal pairs.
    Contrast(ContrastCommand),
    /// Opens or closes training logs.
    Log(LogCommand),
    /// Takes the message away.
    DismissMessage,
}

impl CorpusCommand {
    /// Brings in links by hand.
    pub fn import_gold(path: PathBuf) -> Self {
        let options = import::ImportOptions { role: Some(import::Role::Gold), ..import::ImportOptions::default() };
        Self::Corpus(CorpusRequest::Import(path, options))
    }
}

/// What the user does with minimal pairs.
#[derive(Clone, Debug, PartialEq)]
pub enum ContrastCommand {
    /// Asks all open models about the pairs of a table.
    Open(PathBuf),
    Again,
    /// Forces the pairs with the interventions of a file as well; `None`: of none.
    SetInterventions(Option<PathBuf>),
    /// What else is asked at the critical word.
    SetMeasures(ContrastMeasures),
    /// Shows a row for each pair in place of one for each tag.
    ShowPairs(bool),
    Select(usize),
    /// Shows the pair of a row on page Sentence.
    Show(usize),
    /// Writes the table that is shown.
    Save(PathBuf),
}

/// What the user does with training logs.
#[derive(Clone, Debug, PartialEq)]
pub enum LogCommand {
    /// Opens a log, the log of a run's folder, or the logs of all runs in a folder.
    Open(PathBuf),
    /// Closes a log, by its position.
    Close(usize),
}
