//! What page Sentence remembers between two frames. A leaf.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::document::tree::{DrawnTree, SearchTree, ShownTree};
use crate::app::view::Hover;
use crate::{jobs::live::protocol::ColumnId, pages::sentence::command::BesideSettings};
use figure::tree::TreeLayout;

/// Where the list of sentences is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListPlace {
    /// Next to the columns, or closed by the user.
    #[default]
    Beside,
    /// Hidden, since the window is too narrow for both.
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
    pub from: f32,
    pub before: f32,
    pub wanted: f32,
    pub sent: Option<f32>,
}

/// What the Sentence page remembers between frames.
#[derive(Default)]
pub struct SentenceMemory {
    pub trees: HashMap<ColumnId, TreeMemory>,
    pub opens_word: Option<()>,
    pub dragged: Option<Dragged>,
    pub forced: String,
    pub wording: String,
    /// Settings of a variant while they are edited.
    pub beside: Option<BesideSettings>,
    /// The row that gets a line of interlinear text, and its number of lines before; the new line takes the focus.
    pub line_begins: Option<(String, usize)>,
    /// The place and the edited name of a line of interlinear text.
    pub line_name: Option<(usize, String)>,
    /// The seed of the next permutation of a row.
    pub seed: u64,
    /// Horizontal scroll offset of all heatmaps, points.
    pub scroll_x: f32,
    pub cell: f32,
    /// A cell marked with the arrow keys, until the mouse moves.
    pub key_mark: Option<Hover>,
    /// A text, and the tag of the language that it is almost surely in.
    pub guessed: (String, Option<&'static str>),
    pub output_heights: HashMap<ColumnId, f32>,
    /// Height of the page's middle in which the columns show all rows of their pictures, or the first dozen, points.
    pub needed: f32,
    pub list: ListPlace,
    pub seen_position: Option<usize>,
    pub rows_in_view: std::ops::Range<usize>,
    /// The target word that was scrolled into view: its column, its place, and the height of the picture, points.
    pub seen_target: Option<(ColumnId, usize, u32)>,
}

/// Which columns are in view.
#[derive(Default)]
pub struct ColumnsMemory {
    pub first_column: usize,
    /// Width of a column when last painted, points.
    pub column_width: f32,
    pub wanted_column: Option<usize>,
    /// Scroll offset that the user set, points; `None` follows `first_column`.
    pub scrolled: Option<f32>,
    pub before_lesson: Option<usize>,
    /// The selected column and the newest one when last painted.
    pub seen_columns: (Option<ColumnId>, Option<ColumnId>),
}

/// What the window remembers of a column's tree.
#[derive(Default)]
pub struct TreeMemory {
    pub revision: u64,
    pub tree: Option<Arc<SearchTree>>,
    pub selected: Option<usize>,
    pub collapsed: HashSet<usize>,
    /// Steps that are drawn; `None`: all.
    pub steps: Option<usize>,
    pub follows: bool,
    /// The number of steps for which the selection was last set.
    pub followed: Option<usize>,
    pub pruned: bool,
    /// 0 until a tree is shown.
    pub scale: f32,
    pub seen: Option<usize>,
    pub arranged: Option<Arc<Arranged>>,
    /// Widths of words at this size, points.
    pub widths: HashMap<String, f32>,
}

/// The drawn nodes of a tree with their places.
pub struct Arranged {
    pub of: ShownTree,
    pub size: (f32, f32),
    pub drawn: DrawnTree,
    pub layout: TreeLayout,
}
