//! Floor 11: what the user does on page Evaluation. A leaf.

use std::path::PathBuf;

use crate::analysis::bleu::Tokenization;
use crate::evaluation::contrast::ContrastMeasures;

/// What files the figures can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiguresFormat {
    /// A row for each model, set, kind of output and length.
    Tsv,
    /// The same for a program, with how it was measured.
    Json,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluationCommand {
    /// Changes what is measured on.
    Test(TestCommand),
    /// Does something with minimal pairs.
    Contrast(ContrastCommand),
    /// Whether to translate without `[UNK]` as well.
    SetAlsoWithoutUnk(bool),
    /// Takes the first test set, whose files are put into this folder.
    TakeFirstSet(PathBuf),
    /// Measures the models and ensembles of the columns.
    Run,
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Shows the sentences on page Corpus, as a corpus that is not saved.
    ShowSentences,
    /// Writes the table of figures to a file.
    Export { format: FiguresFormat, path: PathBuf },
    /// Opens a training log, the log of a run's folder, or the logs of all runs in a folder.
    OpenLogs(PathBuf),
    /// Takes a log away, by its position.
    CloseLog(usize),
}

/// What is measured on.
#[derive(Clone, Debug, PartialEq)]
pub enum TestCommand {
    /// The file of source sentences; `None`: none.
    SetSource(Option<PathBuf>),
    /// One more file of references.
    AddReference(PathBuf),
    /// Puts another file of references in the place of one, by its position.
    SetReference(usize, PathBuf),
    /// Takes a file of references away, by its position.
    RemoveReference(usize),
    /// The file of alignments by hand; `None`: none.
    SetGold(Option<PathBuf>),
    /// Whether the words are split by spaces already.
    SetPretokenized(bool),
    /// Whether rows of alpha are also read by the word that was read.
    SetByInput(bool),
    /// How BLEU cuts text into words.
    SetTokenization(Option<Tokenization>),
}

/// What the user does with minimal pairs.
#[derive(Clone, Debug, PartialEq)]
pub enum ContrastCommand {
    /// Asks all open models about the pairs of a table.
    Open(PathBuf),
    /// Asks again.
    Again,
    /// Forces the pairs with the interventions of a file as well; `None`: of none.
    SetInterventions(Option<PathBuf>),
    /// What else is asked at the critical word.
    SetMeasures(ContrastMeasures),
    /// Shows a row for each pair in place of one for each tag.
    ShowPairs(bool),
    /// Chooses a row.
    Select(usize),
    /// Shows the pair of a row on page Sentence.
    Show(usize),
    /// Writes the table that is shown.
    Save(PathBuf),
}
