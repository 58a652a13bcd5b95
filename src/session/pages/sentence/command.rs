//! Floor 8: what the user does on page Sentence. A leaf.

use std::path::PathBuf;

use crate::decoding::ensemble::Mixing;
use crate::session::drawing::Drawing;
use crate::worker::protocol::{ColumnId, EnsembleSpec};

/// A list of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum List {
    /// The sentences that come with the program.
    #[default]
    Examples,
    /// What was translated before, newest first.
    History,
    /// An opened file, by its position among the opened files.
    File(usize),
}

/// Where the mouse is: a word, or a pair of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hover {
    /// Where the mouse is; marks are drawn in every column.
    pub column: ColumnId,
    /// Target position, when over a target word or cell.
    pub i: Option<usize>,
    /// Source position, when over a source word or cell.
    pub j: Option<usize>,
}

/// What files the shown alignment can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentFormat {
    /// A table with source words along the top.
    Tsv,
    /// The JSON line of `interlinear translate`.
    Json,
    /// `i-j` pairs, source-target, from 0.
    Pharaoh,
}

/// What the user does on page Sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum SentenceCommand {
    /// With the source text.
    Source(SourceCommand),
    /// With the columns.
    Column(ColumnCommand),
    /// With the lists of sentences.
    List(ListCommand),
    /// With what is marked.
    Select(SelectCommand),
    /// With the settings of the search.
    Search(SearchCommand),
}

/// What is done with the source text.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceCommand {
    /// The text changed by typing.
    Edit(String),
    /// The text is replaced as a whole (paste over all, an example); one step of undo.
    Replace(String),
    /// Takes back the last edit.
    Undo,
    /// Does it again.
    Redo,
    /// The translation that the user gives changed by typing; `None` takes its field away.
    Give(Option<String>),
    /// Stops the work under way; the table stays.
    Stop,
}

/// What is done with the columns.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnCommand {
    /// A column for this model folder, at the right.
    Add(PathBuf),
    /// A column for an ensemble, at the right.
    AddEnsemble(EnsembleSpec),
    /// What an ensemble averages and whose alignment it shows.
    SetMixing {
        /// In which column.
        column: ColumnId,
        /// How its members become one.
        mixing: Mixing,
    },
    /// Takes a column away.
    Remove(ColumnId),
    /// Moves a column to position `to`, from 0.
    Move {
        /// Which.
        column: ColumnId,
        /// Its new position, from 0.
        to: usize,
    },
    /// Tries again to load a column's model.
    Reload(ColumnId),
    /// Writes a column's shown alignment to a file.
    Export {
        /// Whose.
        column: ColumnId,
        /// How.
        format: AlignmentFormat,
        /// Where to.
        path: PathBuf,
    },
    /// Writes a column's translation to a file as the figure that was set last, in the format that the name ends with.
    Draw {
        /// Whose.
        column: ColumnId,
        /// Where to.
        path: PathBuf,
    },
    /// Draws a column's translation for the clipboard.
    Copy {
        /// Whose.
        column: ColumnId,
        /// What of it, and how it looks.
        drawing: Drawing,
    },
}

/// What is done with the lists of sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum ListCommand {
    /// Shows a list.
    Show(List),
    /// Closes an opened file, by its position among the opened files.
    CloseFile(usize),
    /// Translates a sentence of the shown list, by its position there.
    Pick(usize),
    /// Moves by so many sentences in the shown list (only through matches while searching).
    Move(isize),
    /// Goes to the first sentence of the shown list.
    First,
    /// Goes to the last sentence of the shown list.
    Last,
    /// Looks for this in the shown list; empty shows everything.
    Search(String),
    /// Forgets the sentences translated before.
    ClearHistory,
}

/// What is marked.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectCommand {
    /// Where the mouse is.
    Hover(Option<Hover>),
    /// Selects a target word for the inspector.
    Target {
        /// In which column.
        column: ColumnId,
        /// Which target word, from 0.
        i: usize,
    },
    /// Moves the selected target word by so many words.
    MoveTarget(isize),
    /// Makes the next (or an earlier) column the selected one.
    MoveColumn(isize),
    /// Shows this hypothesis of a column's beam, from 0 (the best).
    Hypothesis {
        /// In which column.
        column: ColumnId,
        /// Which, from 0.
        hypothesis: usize,
    },
    /// Shows the alignment of the given translation, or that of the model's own.
    ShowGiven(bool),
    /// Makes this column the selected one.
    Column(ColumnId),
    /// Moves by so many hypotheses in the selected column.
    MoveHypothesis(isize),
    /// Selects nothing.
    Nothing,
}

/// How the translation is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchCommand {
    /// Beam, from 1 to 50.
    SetBeam(usize),
    /// A of log p / |y|^A, from 0 to 2.
    SetLengthNormalization(f32),
    /// Never emit `[UNK]`.
    SetForbidUnk(bool),
}
