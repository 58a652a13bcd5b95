//! What a heatmap is told, and what it answers.

use egui::{Id, Pos2};

use crate::app::{document::table::AlignmentTable, settings::Shown};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention};
use figure::heatmap::layout::{Gaze, Metrics};
use figure::heatmap::{HeatmapMarks, outlines::Outlined};
use figure::{mark::Scale, palette::ColourMap};

/// A heatmap to be painted.
pub struct HeatmapWidget<'a> {
    pub id: Id,
    pub name: &'a str,
    pub table: &'a AlignmentTable,
    pub matrix: &'a Alignment,
    pub shown: Shown,
    pub map: &'static ColourMap,
    pub scale: Scale,
    pub metrics: Metrics,
    pub marks: HeatmapMarks,
    pub gaze: Option<Gaze<'a>>,
    pub draws_gaze: bool,
    pub outlined: Outlined,
    pub can_drag: bool,
    /// Cells where the original of a variant has its greatest alpha, in rows where the variant has it elsewhere.
    pub before: Vec<(usize, usize)>,
    /// Show typed words for `[UNK]`.
    pub replace: bool,
    pub scroll_x: f32,
    pub locate: Option<(usize, usize)>,
    pub reveal: Option<usize>,
}

/// A request for a context menu.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatmapInput {
    pub i: Option<usize>,
    pub j: Option<usize>,
    pub at: Pos2,
}

/// What the user did on the heatmap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    pub over: (Option<usize>, Option<usize>),
    pub clicked: Option<usize>,
    pub cell: Option<(usize, usize)>,
    pub menu: Option<HeatmapInput>,
    pub scroll_x: f32,
    pub zoom: f32,
    /// Keys: rows down, columns right.
    pub steps: (isize, isize),
    /// A cell of the selected row where a drag starts, and its height, points from the top.
    pub grabbed: Option<(usize, usize, f32)>,
}

impl HeatmapWidget<'_> {
    pub(super) fn drags(&self) -> bool {
        let is_alpha = self.shown == Shown::Alpha && self.table.reading != Some(RowConvention::Head);
        self.can_drag && is_alpha && !self.table.is_given
    }
}
