//! The links of an aligner over the cells: a frame within each linked cell, whole where the aligner is sure of it,
//! dashed where only one of its directions has the link.

use crate::geometry::{Area, Point, point, size};
use crate::mark::{Across, Down, LinesMark, Mark, Stroke, TextMark};
use crate::sizes::{SPACE_1, SPACE_2, TEXT_SMALL};
use crate::{heatmap::layout::Grid, measure::TextMeasure, palette::Palette};
use engine::text::links::Links;

const WIDTH: (f32, f32, f32) = (0.11, 1.0, 3.0);
const EDGE_FROM: f32 = 8.0;
const DASH: (f32, f32) = (2.2, 1.8);
const LINE: f32 = 17.0;
/// Least weight of a link that is outlined whole, and of one that is dashed, where links are read off weights.
pub const FROM: [f32; 2] = [0.4, 0.2];

/// Whose links are outlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outlined {
    #[default]
    Aligner,
    /// Those of alpha, where the model looked to choose a word.
    Alpha,
    /// Those of an alignment head, where a word comes from.
    Head,
    ByHand,
    /// What the class guesses; the numbers are shown.
    Guess,
    /// What the class guesses, before the numbers may be seen.
    GuessFirst,
}

impl Outlined {
    /// What the legend says of a whole frame, and of a dashed one.
    pub fn legend(self) -> [(&'static str, bool); 2] {
        let [whole, dashed] = match self {
            Self::Aligner => [
                id!("outlined: links of the statistical aligner"),
                id!("dashed: links of only one of its two directions"),
            ],
            Self::Alpha => [id!("outlined: where it looked, alpha of at least 0.40"), id!("dashed: of at least 0.20")],
            Self::Head => {
                [id!("outlined: where words come from, by the head, at least 0.40"), id!("dashed: at least 0.20")]
            }
            Self::ByHand => [id!("outlined: links by hand"), id!("dashed: possible links by hand")],
            Self::Guess | Self::GuessFirst => {
                [id!("outlined: what was guessed"), id!("dashed: guessed, not the model's")]
            }
        };
        [(whole, true), (dashed, false)]
    }
}
/// Height of the legend, points.
pub const LEGEND: f32 = 2.0 * LINE + SPACE_1;
const SAMPLE: f32 = 12.0;

/// The outlines of the linked cells in view.
pub fn outlines<'a>(links: &Links, grid: &Grid, view: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let (rows, columns) = (grid.visible_rows(*view), grid.visible_columns(*view));
    let is_seen = |i: usize, j: usize| rows.contains(&i) && columns.contains(&j);
    let all = links.all().into_iter().map(|(link, is_sure)| (link.target, link.source, is_sure));
    let seen = all.filter(|(i, j, _)| is_seen(*i, *j) && *i < grid.rows && *j < grid.columns);
    frames(seen.map(|(i, j, is_sure)| (grid.cell_area(i, j), is_sure)), grid.cell, palette)
}

fn frames<'a>(areas: impl Iterator<Item = (Area, bool)>, side: f32, palette: &Palette) -> Vec<Mark<'a>> {
    let (share, least, most) = WIDTH;
    let width = (share * side).clamp(least, most);
    let (mut whole, mut dashed, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for (area, is_sure) in areas {
        let sides = within(&area, 0.5 * width, width);
        if side >= EDGE_FROM {
            edges.extend(within(&area, width + 0.5, 1.0));
            if !is_sure {
                // between the dashes
                edges.extend(sides);
            }
        }
        if is_sure {
            whole.extend(sides);
        } else {
            dashed.extend(sides.iter().flat_map(|ends| dashes(*ends, width)));
        }
    }
    let lines = |ends, width, colour| Mark::Lines(LinesMark { ends, stroke: Stroke { width, colour }, is_crisp: true });
    let edge = palette.link_edge;
    let marks = [(edges, 1.0, edge), (whole, width, palette.link), (dashed, width, palette.link)];
    marks
        .into_iter()
        .filter(|(ends, ..)| !ends.is_empty())
        .map(|(ends, width, colour)| lines(ends, width, colour))
        .collect()
}

fn within(area: &Area, inset: f32, width: f32) -> [[Point; 2]; 4] {
    let at = area.shrink(inset);
    let half = 0.5 * width;
    let (left, right, top, bottom) = (at.left(), at.right(), at.top(), at.bottom());
    [
        [point(left - half, top), point(right + half, top)],
        [point(left - half, bottom), point(right + half, bottom)],
        [point(left, top - half), point(left, bottom + half)],
        [point(right, top - half), point(right, bottom + half)],
    ]
}

fn dashes([from, to]: [Point; 2], width: f32) -> Vec<[Point; 2]> {
    let length = (to.x - from.x) + (to.y - from.y);
    let (dash, gap) = ((DASH.0 * width).min(length), DASH.1 * width);
    let count = ((length - dash) / (dash + gap)).round().max(1.0);
    let step = (length - dash) / count;
    let along = |at: f32| if from.y == to.y { from + size(at, 0.0) } else { from + size(0.0, at) };
    (0..=count as usize).map(|n| [along(n as f32 * step), along(n as f32 * step + dash)]).collect()
}

/// A linked cell beside a possibly linked one, from the left of an area.
pub fn sample<'a>(area: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let side = area.height().min(SAMPLE);
    let cell = |x: f32| Area::from_center_size(point(area.left() + x + 0.5 * side, area.center().y), size(side, side));
    frames([(cell(0.0), true), (cell(side + SPACE_1), false)].into_iter(), side, palette)
}

pub const SAMPLE_WIDTH: f32 = 2.0 * SAMPLE + SPACE_1;

/// What the outlines are, a line for each kind.
pub fn legend<'a>(of: Outlined, place: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let mut marks = Vec::new();
    for (n, (text, is_sure)) in of.legend().into_iter().enumerate() {
        let middle = place.top() + (n as f32 + 0.5) * LINE;
        let cell = Area::from_center_size(point(place.left() + 0.5 * SAMPLE, middle), size(SAMPLE, SAMPLE));
        marks.extend(frames(std::iter::once((cell, is_sure)), SAMPLE, palette));
        let at = point(place.left() + SAMPLE + SPACE_2, middle);
        marks.push(Mark::Text(TextMark::new(text, at, (Across::Left, Down::Middle), TEXT_SMALL, palette.weak)));
    }
    marks
}

pub fn legend_width(of: Outlined, measure: &dyn TextMeasure) -> f32 {
    let widest = of.legend().iter().map(|(text, _)| measure.width(text, TEXT_SMALL)).fold(0.0, f32::max);
    SAMPLE + 2.0 * SPACE_2 + widest
}
