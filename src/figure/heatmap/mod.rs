//! Alpha_ij as Bahdanau's figure 3: source words along the top, target words down the side.

pub mod layout;
pub mod outlines;

use std::ops::Range;

use crate::geometry::{Area, point, size};
use crate::heatmap::layout::{Gaze, Grid, Metrics, Needs, Zoom};
use crate::label::{Label, widest};
use crate::mark::{
    Across, BorderSide, Cells, Down, Image, LinesMark, Mark, Polygon, Rectangle, Scale, Stroke, TextMark,
};
use crate::sizes::{GAZE_LINE, LABEL_MAX, SPACE_1, SPACE_2, TEXT_SMALL};
use crate::{Figure, legend};
use crate::{heatmap::outlines::Outlined, measure::TextMeasure, palette::Palette};
use engine::text::links::Links;

const LINES_FROM: f32 = 10.0;
const LINES_COVER: f32 = 0.22;
const SET_LINE: f32 = 2.0;
/// Side of a cell on a page, points; wide enough for slanted labels.
pub const PAGE_CELL: f32 = 18.0;

/// What the legend says of the marks of p_t, and where rows add up to less than 1: local-p multiplies the weights of its window by a
/// bell curve and does not divide them by their sum again (Luong et al. 2015, equation 10).
const GAZE_TEXTS: [&str; 2] = ["p_t: where local attention looks", "local-p: a row adds up to less than 1"];

/// What is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeatmapMarks {
    /// A target word, such as the one under the mouse.
    pub row: Option<usize>,
    /// A source word, such as the one under the mouse.
    pub column: Option<usize>,
    /// The target word that is looked at closely.
    pub selected: Option<usize>,
}

/// What is to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Heatmap<'a> {
    pub source: &'a [Label<'a>],
    pub target: &'a [Label<'a>],
    pub cells: Cells<'a>,
    /// What the numbers are, for the legend; empty of alpha and energies.
    pub name: &'a str,
    /// Where local attention looks, where that is drawn.
    pub gaze: Option<Gaze<'a>>,
    /// The links of an aligner, where they are drawn: outlines of their cells.
    pub links: Option<&'a Links>,
    pub outlined: Outlined,
    pub marks: HeatmapMarks,
    pub metrics: Metrics,
    /// Height of a line of a label, points.
    pub text_height: f32,
    /// Colours of everything but the cells.
    pub palette: &'a Palette,
}

impl<'a> Heatmap<'a> {
    /// The cells that `view` shows and what is marked on them.
    pub fn cells(&self, grid: &Grid, view: &Area) -> Vec<Mark<'a>> {
        let palette = self.palette;
        let mut out = vec![Mark::Image(Image { area: grid.area(), cells: self.cells })];
        if grid.cell >= LINES_FROM {
            out.push(self.lines(grid, view));
        }
        let edge = Stroke { width: 1.0, colour: palette.line };
        out.push(Mark::Rect(Rectangle::framed(grid.area(), 0.0, edge, BorderSide::Outside)));
        if let Some(gaze) = &self.gaze {
            self.gaze(gaze, grid, grid.visible_rows(*view), &mut out);
        }
        if let Some(links) = self.links {
            out.extend(outlines::outlines(links, grid, view, palette));
        }
        self.set(grid, view, &mut out);
        let mut frame = |area, radius, width| {
            let border = Stroke { width, colour: palette.mark };
            out.push(Mark::Rect(Rectangle::framed(area, radius, border, BorderSide::Outside)));
        };
        if let Some(i) = self.marks.selected.filter(|i| *i < grid.rows) {
            frame(grid.row_area(i), 2.0, 2.5);
        }
        if let Some(i) = self.marks.row.filter(|i| *i < grid.rows) {
            frame(grid.row_area(i), 0.0, 1.5);
        }
        if let Some(j) = self.marks.column.filter(|j| *j < grid.columns) {
            frame(grid.column_area(j), 0.0, 1.5);
        }
        out
    }

    fn set(&self, grid: &Grid, view: &Area, out: &mut Vec<Mark<'a>>) {
        let is_set = |labels: &[Label<'_>], at: &usize| labels.get(*at).is_some_and(|label| label.hand.is_set);
        for i in grid.visible_rows(*view).filter(|i| is_set(self.target, i)) {
            let border = Stroke { width: SET_LINE, colour: self.palette.set };
            out.push(Mark::Rect(Rectangle::framed(grid.row_area(i), 2.0, border, BorderSide::Inside)));
        }
        let struck = grid.visible_columns(*view).filter(|j| is_set(self.source, j));
        let line = struck.map(|j| {
            let (x, column) = (grid.column_area(j).center().x, grid.column_area(j));
            [point(x, column.top()), point(x, column.bottom())]
        });
        let ends: Vec<_> = line.collect();
        if !ends.is_empty() {
            let stroke = Stroke { width: SET_LINE, colour: self.palette.set };
            out.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: true }));
        }
    }

    /// Faint lines between the cells, so that the eye keeps its row.
    fn lines(&self, grid: &Grid, view: &Area) -> Mark<'a> {
        let seen = grid.area().intersect(*view);
        let stroke = Stroke { width: 1.0, colour: self.palette.weak.fade(LINES_COVER) };
        let (rows, columns) = (grid.visible_rows(seen).skip(1), grid.visible_columns(seen).skip(1));
        // They begin where the cell begins, half a line beside their middle.
        let across =
            rows.map(|i| grid.row_area(i).top() + 0.5).map(|y| [point(seen.left(), y), point(seen.right(), y)]);
        let down =
            columns.map(|j| grid.column_area(j).left() + 0.5).map(|x| [point(x, seen.top()), point(x, seen.bottom())]);
        Mark::Lines(LinesMark { ends: across.chain(down).collect(), stroke, is_crisp: true })
    }

    /// p_t of these rows, and the window of a row that is marked; windows of all rows would hide the cells.
    fn gaze(&self, gaze: &Gaze<'_>, grid: &Grid, rows: Range<usize>, out: &mut Vec<Mark<'a>>) {
        let stroke = Stroke { width: GAZE_LINE, colour: self.palette.gaze };
        for i in rows {
            let Some(p_t) = gaze.position(i) else { continue };
            let is_marked = self.marks.row == Some(i) || self.marks.selected == Some(i);
            if let Some(words) = gaze.words(i, grid.columns).filter(|_| is_marked) {
                out.push(Mark::Rect(Rectangle::framed(grid.gaze_frame(i, &words), 2.0, stroke, BorderSide::Inside)));
            }
            out.push(lozenge(grid, i, p_t, self.palette));
        }
    }

    /// Target words down the side, those beside what `strip` shows.
    pub fn row_labels(&self, grid: &Grid, strip: &Area) -> Vec<Mark<'a>> {
        let (palette, marks) = (self.palette, self.marks);
        let stride = self.metrics.row_stride(self.text_height);
        let mut out = Vec::new();
        for i in grid.visible_rows(*strip) {
            let Some(word) = self.target.get(i) else { continue };
            let (is_over, is_selected) = (marks.row == Some(i), marks.selected == Some(i));
            if i % stride != 0 && !is_over && !is_selected {
                continue;
            }
            let middle = grid.row_area(i).center().y;
            if is_over || is_selected {
                let (left, right) = (strip.left(), strip.right() - 2.0);
                let height = grid.cell.max(self.text_height);
                let back = Area::from_center_size(point(0.5 * (left + right), middle), size(right - left, height));
                let fill = if is_selected { palette.accent } else { palette.accent_soft };
                out.push(Mark::Rect(Rectangle::filled(back, 3.0, fill)));
            }
            if !is_selected {
                let (left, height) = (strip.left() + 1.0, (grid.cell - 1.0).max(self.text_height));
                let frame = Area::from_center_size(
                    point(0.5 * (left + strip.right() - 2.0), middle),
                    size(strip.right() - 2.0 - left, height),
                );
                out.extend(word.hand.frame(frame, palette));
            }
            let colour = if is_selected { palette.on_accent } else { word.tone.colour(palette) };
            let at = point(strip.right() - SPACE_1 - 2.0, middle);
            let text = TextMark::new(word.text.clone(), at, (Across::Right, Down::Middle), TEXT_SMALL, colour);
            out.push(Mark::Text(TextMark { room: LABEL_MAX, ..text }));
        }
        out
    }

    /// Source words along the top, those above what `strip` shows.
    pub fn column_labels(&self, grid: &Grid, strip: &Area) -> Vec<Mark<'a>> {
        let slant = self.metrics.slant;
        // A slanted label reaches into view from columns that are not.
        let reach = Area::from_min_max(point(strip.left() - strip.height(), strip.top()), strip.max);
        let mut out = Vec::new();
        for j in grid.visible_columns(reach) {
            let Some(word) = self.source.get(j) else { continue };
            let is_over = self.marks.column == Some(j);
            if j % slant.stride != 0 && !is_over {
                continue;
            }
            let colour = if is_over { self.palette.accent } else { word.tone.colour(self.palette) };
            let centre = grid.column_area(j).center().x;
            let mut text = if slant.angle > 0.0 {
                let foot = point(centre, strip.bottom() - SPACE_1 - 1.0);
                TextMark::new(word.text.clone(), foot, (Across::Left, Down::Middle), TEXT_SMALL, colour)
            } else {
                let foot = point(centre, strip.bottom() - SPACE_1);
                TextMark::new(word.text.clone(), foot, (Across::Centre, Down::Bottom), TEXT_SMALL, colour)
            };
            (text.angle, text.room, text.is_underlined) = (slant.angle, LABEL_MAX, slant.angle > 0.0 && is_over);
            out.push(Mark::Text(text));
        }
        out
    }

    /// Small words at the foot of the corner over the target words.
    pub fn corner(&self, text: &'a str, place: &Area) -> Mark<'a> {
        let foot = point(place.right() - SPACE_1 - 2.0, place.bottom() - SPACE_1);
        let text = TextMark::new(text, foot, (Across::Right, Down::Bottom), TEXT_SMALL, self.palette.weak);
        Mark::Text(TextMark { room: place.width() - SPACE_2, lines: 2, ..text })
    }

    /// What its colours, marks and outlines mean, a line for each.
    pub fn legend(&self, measure: &dyn TextMeasure) -> Figure<'a> {
        let place = Area::from_min_size(point(0.0, 0.0), legend::SIZE);
        let mut all = Figure {
            marks: legend::of_cells(&self.cells, self.name, &place, self.palette),
            size: size(legend::WITH_ENDS + measure.width(self.name, TEXT_SMALL), legend::SIZE.y),
            ..Figure::default()
        };
        if self.gaze.is_some() {
            let adds_up = |row: &[f32]| (row.iter().sum::<f32>() - 1.0).abs() < 1e-3;
            let is_less = self.cells.scale == Scale::Unit && !self.cells.numbers.iter().all(adds_up);
            for text in GAZE_TEXTS.into_iter().take(1 + usize::from(is_less)) {
                let at = point(legend::SIZE.y + SPACE_2, 0.5 * legend::SIZE.y);
                let words = TextMark::new(text, at, (Across::Left, Down::Middle), TEXT_SMALL, self.palette.weak);
                let size = size(at.x + measure.width(text, TEXT_SMALL), legend::SIZE.y);
                all = all.below(Figure { size, marks: vec![Mark::Text(words)], ..Figure::default() }, 0.0);
            }
            let lines = if is_less { 2.0 * legend::SIZE.y + SPACE_1 } else { legend::SIZE.y };
            let origin = point(0.0, all.size.y - lines);
            all.marks.push(lozenge(&Grid { origin, cell: legend::SIZE.y, rows: 1, columns: 1 }, 0, 0.0, self.palette));
        }
        if self.links.is_some() {
            let size = size(outlines::legend_width(self.outlined, measure), outlines::LEGEND);
            let marks = outlines::legend(self.outlined, &Area::from_min_size(point(0.0, 0.0), size), self.palette);
            all = all.below(Figure { size, marks, ..Figure::default() }, 0.0);
        }
        all
    }

    /// All of it as one figure, as large as it needs to be.
    pub fn sheet(mut self, corner: Option<&'a str>, has_legend: bool, measure: &dyn TextMeasure) -> Figure<'a> {
        let numbers = self.cells.numbers;
        let texts = |labels: &'a [Label<'a>]| labels.iter().map(|label| label.text.clone());
        self.text_height = measure.height(TEXT_SMALL);
        let needs = Needs {
            rows: numbers.rows(),
            columns: numbers.columns(),
            source_width: widest(measure, texts(self.source)),
            target_width: widest(measure, texts(self.target)),
            corner_width: corner.map_or(0.0, |text| widest_word(measure, text)),
            text_height: self.text_height,
            pixels_per_point: 1.0,
        };
        self.metrics = Metrics::choose(&needs, size(0.0, 0.0), Zoom::Fixed(PAGE_CELL));
        let Metrics { cell, left, top, right, .. } = self.metrics;
        let grid = Grid { origin: point(left, top), cell, rows: numbers.rows(), columns: numbers.columns() };
        let (matrix, end) = (grid.area(), grid.area().right() + right.max(SPACE_2));
        let side = Area::from_min_max(point(0.0, top), point(left, matrix.bottom()));
        let mut marks = self.cells(&grid, &matrix);
        marks.extend(self.row_labels(&grid, &side));
        marks.extend(self.column_labels(&grid, &Area::from_min_max(point(left, 0.0), point(end, top))));
        marks.extend(corner.map(|text| self.corner(text, &Area::from_min_max(point(0.0, 0.0), point(left, top)))));
        let figure = Figure { size: size(end, matrix.bottom() + SPACE_2), marks, ..Figure::default() };
        if has_legend { figure.below(self.legend(measure), left) } else { figure }
    }
}

/// The widest word of a text.
pub fn widest_word(measure: &dyn TextMeasure, text: &str) -> f32 {
    text.split(' ').map(|word| measure.width(word, TEXT_SMALL)).fold(0.0, f32::max)
}

/// The mark of p_t in row i.
pub fn lozenge<'a>(grid: &Grid, i: usize, p_t: f32, palette: &Palette) -> Mark<'a> {
    let stroke = Stroke { width: 1.0, colour: palette.gaze.contrast() };
    Mark::Polygon(Polygon { corners: grid.gaze_mark(i, p_t).to_vec(), fill: palette.gaze, stroke })
}

/// What the marks of local attention look like: p_t in its window.
pub fn gaze_legend<'a>(area: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let grid = Grid { origin: area.min, cell: area.height(), rows: 1, columns: 2 };
    let border = Stroke { width: GAZE_LINE, colour: palette.gaze };
    vec![Mark::Rect(Rectangle::framed(*area, 2.0, border, BorderSide::Inside)), lozenge(&grid, 0, 0.57, palette)]
}
