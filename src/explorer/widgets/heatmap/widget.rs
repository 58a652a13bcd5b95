//! What a heatmap is told, and what it answers.

use egui::{Id, Pos2};

use crate::app::document::table::AlignmentTable;
use crate::app::settings::Shown;
use engine::analysis::alignment::Alignment;
use engine::analysis::row_convention::RowConvention;
use figure::heatmap::HeatmapMarks;
use figure::heatmap::layout::{Gaze, Metrics};
use figure::heatmap::outlines::Outlined;
use figure::mark::Scale;
use figure::palette::ColourMap;

/// What is to be drawn.
pub struct HeatmapWidget<'a> {
    pub id: Id,
    /// Whose alignment it is.
    pub name: &'a str,
    pub table: &'a AlignmentTable,
    pub matrix: &'a Alignment,
    /// Which numbers they are.
    pub shown: Shown,
    /// The colours of the cells,
    pub map: &'static ColourMap,
    /// and what their ends stand for.
    pub scale: Scale,
    /// Sizes, shared by all columns.
    pub metrics: Metrics,
    pub marks: HeatmapMarks,
    /// Where local attention looks.
    pub gaze: Option<Gaze<'a>>,
    /// Draw it, and do not only say it.
    pub draws_gaze: bool,
    /// Whose links the table's are.
    pub outlined: Outlined,
    /// Alpha of the selected row can be dragged.
    pub can_drag: bool,
    /// Cells where the original of a variant looked most, in rows that look elsewhere now.
    pub before: Vec<(usize, usize)>,
    /// Show typed words for `[UNK]`.
    pub replace: bool,
    /// How far to the right all heatmaps are scrolled.
    pub scroll_x: f32,
    /// Say where this cell is, as for a menu of it.
    pub locate: Option<(usize, usize)>,
    /// Bring this row into view.
    pub reveal: Option<usize>,
}

/// A menu is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatmapInput {
    /// Of this target word,
    pub i: Option<usize>,
    /// of this source word, of the cell of both.
    pub j: Option<usize>,
    /// Where it is to open.
    pub at: Pos2,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Target and source word under the mouse.
    pub over: (Option<usize>, Option<usize>),
    /// Target word that was clicked.
    pub clicked: Option<usize>,
    /// The cell that was clicked, where it was one.
    pub cell: Option<(usize, usize)>,
    /// The word or cell whose menu is asked for.
    pub menu: Option<HeatmapInput>,
    /// How far to the right this one is scrolled now.
    pub scroll_x: f32,
    /// Cells are to be so many times as large.
    pub zoom: f32,
    /// Keys: rows down, columns right.
    pub steps: (isize, isize),
    /// A cell of the selected row that the mouse begins to drag, and where, points from the top.
    pub grabbed: Option<(usize, usize, f32)>,
}

impl HeatmapWidget<'_> {
    /// Whether alpha of the selected row can be dragged.
    pub(super) fn drags(&self) -> bool {
        let is_alpha = self.shown == Shown::Alpha && self.table.reading != Some(RowConvention::Head);
        self.can_drag && is_alpha && !self.table.is_given
    }
}
