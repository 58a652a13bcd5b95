//! Floor 8: every act of the user, as a value. Menus, keys and the mouse all make one of these.

use std::path::PathBuf;

use crate::analysis::reading::Reading;
use crate::decoding::ensemble::Mixing;
use crate::nn::device::DeviceChoice;
use crate::session::pages::Page;
use crate::session::{evaluation, maps, new_training, phrases};
use crate::worker::protocol::{ColumnId, EnsembleSpec};

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Which numbers the heatmap shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// alpha_ij, from 0 to 1.
    #[default]
    Alpha,
    /// e_ij, before the softmax.
    Energies,
}

/// A list of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum List {
    /// The sentences that come with the program.
    #[default]
    Examples,
    /// What was translated before, newest first.
    History,
    /// An opened file, by its position in `Session::files`.
    File(usize),
}

/// A pair of words (and where the mouse is).
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
pub enum Format {
    /// A table with source words along the top.
    Tsv,
    /// The JSON line of `interlinear translate`.
    Json,
    /// `i-j` pairs, source-target, from 0.
    Pharaoh,
}

/// Every act of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// The text of the source changed by typing.
    EditSource(String),
    /// The text of the source is replaced as a whole (paste over all, an example); one step of undo.
    ReplaceSource(String),
    /// Takes back the last edit of the source.
    Undo,
    /// Does it again.
    Redo,

    /// Opens what was dropped or chosen: a folder becomes a column, a text file a list.
    Open(PathBuf),
    /// A column for this model folder, at the right.
    AddColumn(PathBuf),
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
    RemoveColumn(ColumnId),
    /// Moves a column to position `to`, from 0.
    MoveColumn {
        /// Which.
        column: ColumnId,
        /// Its new position, from 0.
        to: usize,
    },
    /// Tries again to load a column's model.
    ReloadColumn(ColumnId),

    /// Shows a list of sentences.
    ShowList(List),
    /// Closes an opened file, by its position in `Session::files`.
    CloseFile(usize),
    /// Translates a sentence of the shown list, by its position there.
    PickSentence(usize),
    /// Moves by so many sentences in the shown list (only through matches while searching).
    MoveSentence(isize),
    /// Goes to the first sentence of the shown list.
    FirstSentence,
    /// Goes to the last sentence of the shown list.
    LastSentence,
    /// Looks for this in the shown list; empty shows everything.
    Search(String),
    /// Forgets the sentences translated before.
    ClearHistory,

    /// Where the mouse is.
    Hover(Option<Hover>),
    /// Selects a target word for the inspector.
    SelectTarget {
        /// In which column.
        column: ColumnId,
        /// Which target word, from 0.
        i: usize,
    },
    /// Moves the selected target word by so many words.
    MoveTarget(isize),
    /// Makes the next (or an earlier) column the selected one.
    MoveColumnSelection(isize),
    /// Shows this hypothesis of a column's beam, from 0 (the best).
    SelectHypothesis {
        /// In which column.
        column: ColumnId,
        /// Which, from 0.
        hypothesis: usize,
    },
    /// Moves by so many hypotheses in the selected column.
    MoveHypothesis(isize),
    /// Selects nothing.
    Deselect,

    /// Beam, from 1 to 50.
    SetBeam(usize),
    /// A of log p / |y|^A, from 0 to 2.
    SetLengthNormalization(f32),
    /// Never emit `[UNK]`.
    SetForbidUnk(bool),
    /// Show the source word of greatest alpha in place of `[UNK]`.
    SetUnkReplacement(bool),
    /// Where models compute.
    SetDevice(DeviceChoice),
    /// alpha or energies.
    SetShown(Shown),
    /// Which word a row of an alignment belongs to, in models where there is a choice.
    SetReading(Reading),
    /// Colour map, by name.
    SetPalette(String),
    /// Light, dark or as the system.
    SetTheme(Theme),
    /// Size of everything, from 0.5 to 3.
    SetZoom(f32),
    /// Any number that the window wants to find again at the next start (panel widths, cell size, open panels).
    SetLayout {
        /// A name of the window's choice.
        key: String,
        /// Its value.
        value: f32,
    },

    /// Writes a column's shown alignment to a file.
    Export {
        /// Whose.
        column: ColumnId,
        /// How.
        format: Format,
        /// Where to.
        path: PathBuf,
    },
    /// Takes a notice away, by its id.
    DismissNotice(u64),
    /// Stops the work under way; the table stays.
    Stop,

    /// Shows a page.
    ShowPage(Page),
    /// Something on the page Evaluation.
    Evaluation(evaluation::Command),
    /// Something on the page Map.
    Map(maps::Command),
    /// Something on the page Phrases.
    Phrases(phrases::Command),
    /// Something on the sheet New training.
    Training(new_training::Command),
    /// Holds up the work of this number, or has it go on.
    PauseTask(u64, bool),
    /// Ends the work of this number.
    CancelTask(u64),
}
