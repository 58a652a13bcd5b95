//! What page Sentence remembers between two frames. A leaf.

use std::collections::HashMap;

use crate::app::document::sentence_state::SearchSettings;
use crate::app::view::Hover;
use crate::jobs::live::protocol::ColumnId;
use crate::pages::sentence::view::tree_memory;
use engine::models::transformer::heads::HeadKind;

/// Settings of a variant as they are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesideDraft {
    /// How it is searched.
    pub search: SearchSettings,
    /// Show typed words for `[UNK]`.
    pub replaces: bool,
    /// With what is set.
    pub has_interventions: bool,
}

/// Where the list of sentences is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListPlace {
    /// Beside the columns, or closed by the user.
    #[default]
    Beside,
    /// Folded, since the window is too narrow for both.
    Folded,
    /// Over the columns of such a window.
    Over,
}

/// A cell of a selected row that is dragged up or down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dragged {
    pub column: ColumnId,
    pub i: usize,
    pub j: usize,
    /// Where the mouse went down, points from the top.
    pub from: f32,
    pub before: f32,
    /// The weight that the mouse has last said.
    pub wanted: f32,
    /// The weight that was sent last, if any was.
    pub sent: Option<f32>,
}

/// What page Sentence remembers.
#[derive(Default)]
pub struct SentenceMemory {
    /// The trees of searches, by column.
    pub trees: HashMap<ColumnId, tree_memory::TreeMemory>,
    /// The menu of the selected word is to open.
    pub opens_word: Option<()>,
    /// A cell that is dragged up or down.
    pub dragged: Option<Dragged>,
    /// A word or a translation that is to be forced, as typed.
    pub forced: String,
    /// Words of a variant, as typed.
    pub wording: String,
    /// Settings of a variant, while they are chosen.
    pub beside: Option<BesideDraft>,
    /// The row that gets a line of interlinear text, and how many it has before: the first cell of the new one wants the keyboard.
    pub line_begins: Option<(String, usize)>,
    /// The name of a line of interlinear text, by its place, as typed.
    pub line_name: Option<(usize, String)>,
    /// The order of the next permutation of a row.
    pub seed: u64,
    /// How far all heatmaps are scrolled to the right together, points.
    pub scroll_x: f32,
    /// The side of a cell that was last drawn, points.
    pub cell: f32,
    /// A cell marked with the arrow keys; the mouse takes it over.
    pub key_mark: Option<Hover>,
    /// A text, and the tag of the language that it is almost surely in.
    pub guessed: (String, Option<&'static str>),
    /// Which heads of Transformers are shown, where all are.
    pub heads: HeadKind,
    /// Height of the outputs as last measured, by column.
    pub output_heights: HashMap<ColumnId, f32>,
    /// Where the list of sentences is.
    pub list: ListPlace,
    /// The position in the list that is already in view.
    pub seen_position: Option<usize>,
    /// The rows of the list that were in view last.
    pub rows_in_view: std::ops::Range<usize>,
    /// The target word that is already in view: its column, its place, and the height of the picture, points.
    pub seen_target: Option<(ColumnId, usize, u32)>,
}

/// Which columns are in view.
#[derive(Default)]
pub struct ColumnsMemory {
    /// The first column in view, where not all of them fit.
    pub first_column: usize,
    /// Width of a column as last painted, points.
    pub column_width: f32,
    /// The column that is to be the first in view.
    pub wanted_column: Option<usize>,
    /// How far the columns were scrolled by hand, points; `None`: to the first that is in view.
    pub scrolled: Option<f32>,
    /// The first column in view when a lesson began.
    pub before_lesson: Option<usize>,
    /// The selected column and the newest one, both already in view.
    pub seen_columns: (Option<ColumnId>, Option<ColumnId>),
}
