//! What the user does on page Sentence. A leaf.

use std::path::PathBuf;

use crate::app::document::hand::TakenAway;
use crate::app::document::interlinear::{LinksBy, TextRow};
use crate::app::document::rewording::WordEdit;
use crate::app::document::sentence_state::SearchSettings;
use crate::app::files::drawing::Drawing;
use crate::app::files::export::AlignmentFormat;
use crate::app::files::lists::List;
use crate::app::view::Hover;
use crate::jobs::live::protocol::ColumnId;
use engine::decoding::SystemSpec;
use engine::decoding::ensemble::Mixing;
use engine::interventions::Word;
use engine::models::choice::ModelChoice;
use engine::models::transformer::heads::HeadPlace;

/// What the user does on page Sentence, but for what is done with the source text.
#[derive(Clone, Debug, PartialEq)]
pub enum SentenceCommand {
    Column(ColumnCommand),
    /// With the lists of sentences.
    List(ListCommand),
    /// With what is marked.
    Select(SelectCommand),
    /// With the settings of the search.
    Search(SearchCommand),
    /// With what the decoder looks at and says.
    Intervene(InterveneCommand),
    /// With questions about a column that are answered in the background.
    Probe(ProbeCommand),
    /// With variants of the sentence and of its search, each a column beside its original.
    Variant(VariantCommand),
    /// With an alignment head that is learned for an open model.
    Head(HeadCommand),
    /// With the sentence as interlinear text.
    Interlinear(InterlinearCommand),
}

/// What is done with the sentence as interlinear text.
#[derive(Clone, Debug, PartialEq)]
pub enum InterlinearCommand {
    /// Moves a row by so many shown rows.
    Move(TextRow, isize),
    /// Leaves a row out, or has it again.
    Show(TextRow, bool),
    /// What links a row.
    Links(TextRow, LinksBy),
    /// Least alpha of a link, from 0 to 1.
    Threshold(f32),
    /// Another line under a row.
    Add {
        under: TextRow,
        name: String,
        /// It has glosses by the Leipzig rules.
        is_gloss: bool,
    },
    /// Changes a line, by its place in the plan.
    Tier(usize, TierEdit),
    /// What a line says under the words of its row.
    Type {
        /// The line, by its place in the plan.
        tier: usize,
        words: Vec<String>,
        /// Which word, from 0.
        j: usize,
        text: String,
    },
    /// Brings lemmas, parts of speech and what else a file in CoNLL-U has of the sentence.
    Open(PathBuf),
    /// Writes it in this format of `GLOSS_FORMATS`.
    Save { format: &'static str, path: PathBuf },
}

/// How a line is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TierEdit {
    /// It is called so.
    Name(String),
    /// It has glosses by the Leipzig rules.
    Gloss(bool),
    /// Up or down by so many lines of its row.
    Move(isize),
    Remove,
}

/// What is done to learn an alignment head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadCommand {
    /// The path of one of its files: sources, translations, links.
    File(usize, String),
    /// Passes over the text.
    Passes(u64),
    /// Learns it for the model of this column.
    Learn(ColumnId),
    /// Learns a statistical aligner of the languages of this column's model from the text alone, and keeps it in this file.
    LearnAligner(ColumnId, PathBuf),
}

/// What is asked about a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeCommand {
    /// A small change of the row of target word i by which the model says this word; it is set when it is found.
    Persuade {
        column: ColumnId,
        /// Which target word, from 0.
        i: usize,
        word: Word,
    },
    /// Shows by this measure how much the words of the shown translation depend on the source words, and measures it where
    /// that is not done yet.
    Measure {
        column: ColumnId,
        /// A place in `MEASURES`.
        measure: usize,
    },
    /// Writes the sentence and what is set in the column to a file of interventions.
    Save { column: ColumnId, path: PathBuf },
}

/// What is done with variants. In an original's column a change opens a variant beside it, in a variant's column it
/// changes that one.
#[derive(Clone, Debug, PartialEq)]
pub enum VariantCommand {
    /// Changes a source word.
    Word {
        column: ColumnId,
        /// Which source word that the column shows, from 0.
        j: usize,
        edit: WordEdit,
    },
    /// Translates this text in place of the sentence.
    Text { column: ColumnId, text: String },
    /// Opens a variant of what this column shows, with other settings.
    Beside {
        column: ColumnId,
        search: SearchSettings,
        /// Show typed words for `[UNK]`.
        replaces: bool,
        has_interventions: bool,
    },
    /// Makes the text of a variant, and what is set in it, the sentence.
    Adopt(ColumnId),
    /// Takes a variant away.
    Close(ColumnId),
    /// Looks for the neighbours of a source word of a column by the model's embeddings; `None` forgets them.
    Near(Option<(ColumnId, usize)>),
}

/// What is done with what a decoder looks at and says. Words i and j are those that the column shows, from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum InterveneCommand {
    /// Target word i is this one, and those before it stay as they are shown.
    Force { column: ColumnId, i: usize, word: Word },
    /// The translation begins with these entries of the vocabulary, the last of which is forced.
    Follow { column: ColumnId, tokens: Vec<String> },
    /// This is the whole translation.
    Whole { column: ColumnId, text: String },
    /// This word is not said.
    Ban {
        column: ColumnId,
        /// In place of target word i, behind the words that are shown before it; `None`: nowhere.
        i: Option<usize>,
        word: Word,
        /// In all columns, where it is to be said nowhere.
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
    /// The row of target word i is made anew.
    Row { column: ColumnId, i: usize, edit: RowEdit },
    /// The rows of all words are made anew, as far as this makes any.
    Rows { column: ColumnId, edit: RowEdit },
    /// Source word j gets no weight where alpha is not set, or gets it again.
    Mask { column: ColumnId, j: usize, is_masked: bool, in_all: bool },
    /// The output of a head of a Transformer is zero, or the head's own again.
    LeaveOut { column: ColumnId, place: HeadPlace, is_left_out: bool },
    /// T of softmax(e_i / T); 1 is the model's own.
    Temperature {
        column: ColumnId,
        temperature: f32,
        /// One movement with the command before, and one step of undo.
        goes_on: bool,
    },
    /// Takes one thing away.
    Take { column: ColumnId, what: TakenAway },
    /// Takes all away, in all columns.
    TakeAll,
}

/// How a row of alpha is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEdit {
    /// All weight on this source word.
    OneHot(usize),
    /// The same weight on every source token.
    Uniform,
    /// Its weights from the last to the first.
    Reversed,
    /// Its weights in an order that follows from this seed.
    Permuted(u64),
    /// The row of the like word of another column.
    Like(ColumnId),
    /// The words that the statistical aligner links it with, alike.
    Links,
    /// The words that it is linked with by hand, alike.
    Gold,
    /// By the model again.
    Free,
}

/// What is done with the columns.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnCommand {
    /// A column for this model folder, at the right.
    Add(SystemSpec),
    /// What an ensemble averages and whose alignment it shows.
    SetMixing { column: ColumnId, mixing: Mixing },
    /// Takes a column away.
    Remove(ColumnId),
    /// Moves a column to position `to`, from 0.
    Move {
        column: ColumnId,
        /// Its new position, from 0.
        to: usize,
    },
    /// Tries again to load a column's model.
    Reload(ColumnId),
    /// Makes a column's model translate into this language, with these heads as its alignment, where they are chosen.
    Choose { column: ColumnId, chosen: ModelChoice },
    /// Writes a column's shown alignment to a file.
    Export { column: ColumnId, format: AlignmentFormat, path: PathBuf },
    /// Writes a column's translation to a file as a figure that looks as was set last, in the format that the name ends
    /// with.
    Draw { column: ColumnId, kind: &'static str, path: PathBuf },
    /// Draws a column's translation for the clipboard.
    Copy { column: ColumnId, drawing: Drawing },
}

/// What is done with the lists of sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum ListCommand {
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
        column: ColumnId,
        hypothesis: usize,
    },
    /// Shows the alignment of the given translation, or that of the model's own.
    ShowGiven(bool),
    /// Makes this column the selected one.
    Column(ColumnId),
    /// Moves by so many hypotheses in the selected column.
    MoveHypothesis(isize),
    Nothing,
}

/// How the translation is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchCommand {
    /// Beam, from 1 to 50.
    SetBeam(usize),
    /// A of log p / |y|^A, from 0 to 2.
    SetLengthNormalization(f32),
    SetForbidUnk(bool),
    /// Let models emit `[UNK]` that do not by default.
    SetAllowUnk(bool),
}
