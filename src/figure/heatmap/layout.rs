//! The heatmap as numbers: where every cell and label stands, and what lies under a point.
//!
//! Rows are target words i, columns source words j, as in figure 3 of Bahdanau et al. (2015).
//! Labels are pinned at the top and at the side; the matrix scrolls under them.

use std::ops::{Range, RangeInclusive};

use crate::geometry::{Area, Point, Size, size};
use crate::sizes::{CELL_AUTO, CELL_LIMITS, GAZE_INSET, GAZE_MARK, LABEL_MAX, SPACE_1, SPACE_2};

/// How the matrix is scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zoom {
    /// Readable cells; scrolls when there are many.
    Auto,
    /// All cells in view, however small.
    Whole,
    /// Side of a cell in points.
    Fixed(f32),
}

/// How the labels over the columns stand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slant {
    /// Radians above the horizontal; 0 is upright text.
    pub angle: f32,
    /// Every how many columns a label fits.
    pub stride: usize,
}

/// Sizes that all models' heatmaps share, so that a source word has the same place in each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    pub cell: f32,
    pub left: f32,
    pub top: f32,
    /// What slanted labels need beyond the last column.
    pub right: f32,
    pub slant: Slant,
}

/// What has to be known before sizes can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// T_y, the most rows of all models.
    pub rows: usize,
    pub columns: usize,
    pub source_width: f32,
    /// Widest target label of all models, points.
    pub target_width: f32,
    /// Widest word over the target words, where there is one.
    pub corner_width: f32,
    /// Height of a line of label text, points.
    pub text_height: f32,
    /// Pixels of the screen in a point.
    pub pixels_per_point: f32,
}

const SLANTED: f32 = 55.0 * std::f32::consts::PI / 180.0;
const UPRIGHT_TEXT: f32 = 0.0;
const VERTICAL: f32 = std::f32::consts::FRAC_PI_2;

impl Metrics {
    /// Chooses the sizes for `needs` in `available` points.
    pub fn choose(needs: &Needs, available: impl Into<Size>, zoom: Zoom) -> Self {
        let available = available.into();
        let source_width = needs.source_width.min(LABEL_MAX);
        let left = needs.target_width.max(needs.corner_width).min(LABEL_MAX) + SPACE_2;
        // the corner has two lines, also over upright labels
        let corner = if needs.corner_width > 0.0 { 2.0 * needs.text_height + SPACE_2 } else { 0.0 };
        let mut metrics =
            Self { cell: CELL_AUTO.1, left, top: 0.0, right: 0.0, slant: Slant { angle: 0.0, stride: 1 } };
        // Cells depend on the room that labels leave, labels on the cells: two rounds settle it.
        for _ in 0..2 {
            metrics.slant = slant(source_width, metrics.cell, needs.text_height);
            let (sin, cos) = metrics.slant.angle.sin_cos();
            metrics.top = (source_width * sin + needs.text_height * cos + SPACE_2).max(corner);
            metrics.right = if metrics.slant.angle == SLANTED { source_width * cos } else { 0.0 };
            let room = size(available.x - left - metrics.right, available.y - metrics.top);
            metrics.cell = cell(needs, room, zoom);
        }
        metrics.slant = slant(source_width, metrics.cell, needs.text_height);
        metrics
    }

    /// Size of the matrix without labels.
    pub fn matrix(&self, rows: usize, columns: usize) -> Size {
        size(columns as f32 * self.cell, rows as f32 * self.cell)
    }

    /// Every how many rows a label of this height fits.
    pub fn row_stride(&self, text_height: f32) -> usize {
        stride(self.cell, text_height * 0.92)
    }
}

/// Side of a cell, a whole number of pixels so that rows stay equal and sharp.
fn cell(needs: &Needs, room: Size, zoom: Zoom) -> f32 {
    let whole = (room.x / needs.columns.max(1) as f32).min(room.y / needs.rows.max(1) as f32);
    let side = match zoom {
        Zoom::Fixed(side) => side,
        Zoom::Whole => whole.min(CELL_AUTO.1),
        Zoom::Auto => whole.clamp(CELL_AUTO.0, CELL_AUTO.1),
    };
    let pixels = side.clamp(CELL_LIMITS.0, CELL_LIMITS.1) * needs.pixels_per_point;
    // what is whole but for the last digit is whole
    (pixels + 1e-3).floor().max(1.0) / needs.pixels_per_point
}

fn slant(widest: f32, cell: f32, text_height: f32) -> Slant {
    let line = text_height * 0.92;
    if widest + SPACE_1 <= cell {
        Slant { angle: UPRIGHT_TEXT, stride: 1 }
    } else if cell * SLANTED.sin() >= line {
        Slant { angle: SLANTED, stride: 1 }
    } else {
        Slant { angle: VERTICAL, stride: stride(cell, line) }
    }
}

fn stride(cell: f32, line: f32) -> usize {
    ((line / cell).ceil() as usize).max(1)
}

/// Where local attention looks: p_t of every row and D words on both sides of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaze<'a> {
    /// In source words from 0; NaN where a row has none.
    pub p_t: &'a [f32],
    pub window: usize,
}

impl Gaze<'_> {
    /// p_t of row i, where it has one.
    pub fn position(&self, i: usize) -> Option<f32> {
        self.p_t.get(i).copied().filter(|p_t| p_t.is_finite())
    }

    /// The words j of row i with |j - p_t| <= D, of so many; `None` where there is none.
    pub fn words(&self, i: usize, columns: usize) -> Option<RangeInclusive<usize>> {
        let (p_t, d) = (self.position(i)?, self.window as f32);
        let first = (p_t - d).ceil().max(0.0) as usize;
        let last = (p_t + d).floor().min(columns as f32 - 1.0);
        (last >= first as f32).then_some(first..=last as usize)
    }
}

/// The matrix on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Top left corner of cell (0, 0); it moves when the matrix scrolls.
    pub origin: Point,
    pub cell: f32,
    pub rows: usize,
    pub columns: usize,
}

impl Grid {
    pub fn area(&self) -> Area {
        self.cells_area(&(0..self.rows), &(0..self.columns))
    }

    pub fn cell_area(&self, i: usize, j: usize) -> Area {
        Area::from_min_size(self.corner(i, j), size(self.cell, self.cell))
    }

    /// The cells from these rows and columns.
    pub fn cells_area(&self, rows: &Range<usize>, columns: &Range<usize>) -> Area {
        Area::from_min_max(self.corner(rows.start, columns.start), self.corner(rows.end, columns.end))
    }

    /// Row i across the matrix.
    pub fn row_area(&self, i: usize) -> Area {
        self.cells_area(&(i..i + 1), &(0..self.columns))
    }

    /// Column j down the matrix.
    pub fn column_area(&self, j: usize) -> Area {
        self.cells_area(&(0..self.rows), &(j..j + 1))
    }

    fn corner(&self, i: usize, j: usize) -> Point {
        self.origin + size(j as f32 * self.cell, i as f32 * self.cell)
    }

    /// The point of row i at a fractional source position; the middle of column j is j.
    pub fn position(&self, i: usize, p: f32) -> Point {
        let last = self.columns as f32;
        self.origin + size((p + 0.5).clamp(0.0, last) * self.cell, (i as f32 + 0.5) * self.cell)
    }

    /// The mark of p_t in row i: a lozenge, from its left corner round.
    pub fn gaze_mark(&self, i: usize, p_t: f32) -> [Point; 4] {
        let (share, least, most) = GAZE_MARK;
        let (centre, side) = (self.position(i, p_t), (self.cell * share).clamp(least, most));
        [size(-side, 0.0), size(0.0, -side), size(side, 0.0), size(0.0, side)].map(|offset| centre + offset)
    }

    /// The cells of row i from column to column, framed within the row.
    pub fn gaze_frame(&self, i: usize, words: &RangeInclusive<usize>) -> Area {
        let cells = self.cell_area(i, *words.start()).union(self.cell_area(i, *words.end()));
        let inset = if self.cell > 6.0 * GAZE_INSET { GAZE_INSET } else { 0.0 };
        cells.shrink(inset)
    }

    /// The cell under a point.
    pub fn hit(&self, at: Point) -> Option<(usize, usize)> {
        let offset = size((at.x - self.origin.x) / self.cell, (at.y - self.origin.y) / self.cell);
        if !(offset.x >= 0.0 && offset.y >= 0.0) {
            return None;
        }
        let (i, j) = (offset.y as usize, offset.x as usize);
        (i < self.rows && j < self.columns).then_some((i, j))
    }

    /// The column whose label, rising by `angle` radians from `foot` (y of the labels' feet), is under a point.
    pub fn column_of_label(&self, at: Point, foot: f32, angle: f32) -> Option<usize> {
        let shift = if angle > UPRIGHT_TEXT { (foot - at.y) / angle.tan() } else { 0.0 };
        let offset = (at.x - shift - self.origin.x) / self.cell;
        (offset >= 0.0 && (offset as usize) < self.columns).then_some(offset as usize)
    }

    /// Rows that `clip` shows, even in part.
    pub fn visible_rows(&self, clip: Area) -> Range<usize> {
        visible(clip.min.y - self.origin.y, clip.max.y - self.origin.y, self.cell, self.rows)
    }

    /// Columns that `clip` shows, even in part.
    pub fn visible_columns(&self, clip: Area) -> Range<usize> {
        visible(clip.min.x - self.origin.x, clip.max.x - self.origin.x, self.cell, self.columns)
    }
}

/// Which of `count` cells in a row, from 0 on, lie between two places, even in part.
pub fn visible(from: f32, to: f32, cell: f32, count: usize) -> Range<usize> {
    let first = (from / cell).floor().max(0.0) as usize;
    let last = (to / cell).ceil().max(0.0) as usize;
    first.min(count)..last.min(count).max(first.min(count))
}
