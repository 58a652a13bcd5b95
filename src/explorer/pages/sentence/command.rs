//! What the user does on page Sentence. A leaf.

use std::path::PathBuf;

use crate::app::document::interlinear::{LinksBy, TextRow};
use crate::app::{
    document::hand::TakenAway, document::rewording::WordEdit, document::sentence_state::SearchSettings,
    files::drawing::Drawing, files::export::AlignmentFormat, files::lists::List, view::Hover,
};
use crate::jobs::live::protocol::ColumnId;
use engine::decoding::{SystemSpec, ensemble::Mixing};
use engine::interventions::Word;
use engine::models::{choice::ModelChoice, transformer::heads::HeadPlace};

/// Actions on the Sentence page, without those on the source text.
#[derive(Clone, Debug, PartialEq)]
pub enum SentenceCommand {
    Column(ColumnCommand),
    List(ListCommand),
    Select(SelectCommand),
    Search(SearchCommand),
    Intervene(InterveneCommand),
    Probe(ProbeCommand),
    Variant(VariantCommand),
    Head(HeadCommand),
    Interlinear(InterlinearCommand),
}

/// Actions on the interlinear text.
#[derive(Clone, Debug, PartialEq)]
pub enum InterlinearCommand {
    Move(TextRow, isize),
    Show(TextRow, bool),
    Links(TextRow, LinksBy),
    /// Least alpha of a link, from 0 to 1.
    Threshold(f32),
    Add {
        under: TextRow,
        name: String,
        is_gloss: bool,
    },
    /// Changes a line, by its place in the plan.
    Tier(usize, TierEdit),
    Type {
        tier: usize,
        words: Vec<String>,
        j: usize,
        text: String,
    },
    Open(PathBuf),
    /// Writes it in this format of `GLOSS_FORMATS`.
    Save {
        format: &'static str,
        path: PathBuf,
    },
}

/// How a line is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TierEdit {
    Name(String),
    Gloss(bool),
    Move(isize),
    Remove,
}

/// Actions of the sheet that learns an alignment head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadCommand {
    /// The path of one of its files: sources, translations, links.
    File(usize, String),
    Passes(u64),
    /// With a file only a statistical aligner of the model's languages is learned from the text, and written to it.
    Learn(ColumnId, Option<PathBuf>),
}

/// Questions about a column for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeCommand {
    /// Finds a small change of the row of target word i by which the model emits this word, and sets it.
    Persuade {
        column: ColumnId,
        i: usize,
        word: Word,
    },
    /// Shows by this measure how much the translation depends on the source words, and computes it if needed.
    Measure {
        column: ColumnId,
        /// Index into `MEASURES`.
        measure: usize,
    },
    Save {
        column: ColumnId,
        path: PathBuf,
    },
}

/// Settings of a variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesideSettings {
    pub search: SearchSettings,
    pub replaces: bool,
    pub has_interventions: bool,
}

/// Actions on variants. In an original's column they open a variant, in a variant's column they change it.
#[derive(Clone, Debug, PartialEq)]
pub enum VariantCommand {
    Word {
        column: ColumnId,
        j: usize,
        edit: WordEdit,
    },
    Text {
        column: ColumnId,
        text: String,
    },
    Beside(ColumnId, BesideSettings),
    Adopt(ColumnId),
    Close(ColumnId),
    /// Finds the neighbours of a source word by the model's embeddings; `None` clears them.
    Near(Option<(ColumnId, usize)>),
}

/// Changes of what a decoder attends to and emits. Words i and j are those that the column shows, from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum InterveneCommand {
    /// Target word i is this one, and those before it stay as they are shown.
    Force {
        column: ColumnId,
        i: usize,
        word: Word,
    },
    /// The translation begins with these entries of the vocabulary, the last of which is forced.
    Follow {
        column: ColumnId,
        tokens: Vec<String>,
    },
    Whole {
        column: ColumnId,
        text: String,
    },
    /// This word is not emitted.
    Ban {
        column: ColumnId,
        /// In place of target word i, after the words that are shown before it; `None`: nowhere.
        i: Option<usize>,
        word: Word,
        /// In all columns, where it is banned everywhere.
        in_all: bool,
    },
    Weight {
        column: ColumnId,
        i: usize,
        j: usize,
        /// From 0 to 1.
        weight: f32,
        /// The other words share what is left of 1.
        renormalise: bool,
        /// One movement with the command before, and one step of undo.
        goes_on: bool,
    },
    Row {
        column: ColumnId,
        i: usize,
        edit: RowEdit,
    },
    /// Makes the rows of all words anew, where this edit gives a row.
    Rows {
        column: ColumnId,
        edit: RowEdit,
    },
    /// Source word j gets no weight where alpha is not set, or gets it again.
    Mask {
        column: ColumnId,
        j: usize,
        is_masked: bool,
        in_all: bool,
    },
    /// Sets the output of a head of a Transformer to zero, or restores it.
    LeaveOut {
        column: ColumnId,
        place: HeadPlace,
        is_left_out: bool,
    },
    /// T of softmax(e_i / T); 1 is the model's own.
    Temperature {
        column: ColumnId,
        temperature: f32,
        goes_on: bool,
    },
    Take {
        column: ColumnId,
        what: TakenAway,
    },
    TakeAll,
}

/// How a row of alpha is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEdit {
    OneHot(usize),
    Uniform,
    Reversed,
    /// Its weights in an order that follows from this seed.
    Permuted(u64),
    Like(ColumnId),
    /// Equal weights on the words that the statistical aligner links with it.
    Links,
    /// Equal weights on the words that are linked with it manually.
    Gold,
    /// The model's own row.
    Free,
}

/// Actions on columns.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnCommand {
    Add(SystemSpec),
    SetMixing {
        column: ColumnId,
        mixing: Mixing,
    },
    Remove(ColumnId),
    Move {
        column: ColumnId,
        to: usize,
    },
    Reload(ColumnId),
    /// Makes a column's model translate into this language, with these heads as its alignment if they are chosen.
    Choose {
        column: ColumnId,
        chosen: ModelChoice,
    },
    Export {
        column: ColumnId,
        format: AlignmentFormat,
        path: PathBuf,
    },
    /// Writes a column's translation to a file as a figure with the last settings, in the format of the extension.
    Draw {
        column: ColumnId,
        kind: &'static str,
        path: PathBuf,
    },
    Copy {
        column: ColumnId,
        drawing: Drawing,
    },
}

/// Actions on the lists of sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum ListCommand {
    Show(List),
    CloseFile(usize),
    Pick(usize),
    /// Moves by so many sentences in the shown list, or through its matches while searching.
    Move(isize),
    First,
    Last,
    Search(String),
    ClearHistory,
}

/// What is marked.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectCommand {
    Hover(Option<Hover>),
    Target { column: ColumnId, i: usize },
    MoveTarget(isize),
    MoveColumn(isize),
    Hypothesis { column: ColumnId, hypothesis: usize },
    ShowGiven(bool),
    Column(ColumnId),
    MoveHypothesis(isize),
    Nothing,
}

/// How the translation is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchCommand {
    /// From 1 to 50.
    SetBeam(usize),
    /// A of log p / |y|^A, from 0 to 2.
    SetLengthNormalization(f32),
    SetForbidUnk(bool),
    /// Lets models emit `[UNK]` that do not by default.
    SetAllowUnk(bool),
}
