//! What the colours of a figure mean.

use std::borrow::Cow;

use crate::geometry::{Area, Point, Size, point, size};
use crate::mark::{Across, BorderSide, Cells, Down, LinesMark, Mark, Rectangle, Scale, Stroke, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{SPACE_1, TEXT_SMALL};

/// Of a band of colours, points.
pub const SIZE: Size = size(72.0, 12.0);
/// Width of the band with its ends in numbers, points.
pub const WITH_ENDS: f32 = 176.0;
/// Width of a legend of links or of doubt, points.
pub const WITH_WORDS: f32 = 260.0;
/// Values of alpha that the legend of links has.
const LINKS: [f32; 3] = [0.25, 0.5, 1.0];
const LINK: (f32, f32) = (26.0, 34.0);
/// log p at which the colour of doubt is full.
const DOUBT_END: f32 = -4.6;
const WORD: f32 = 38.0;
const STEPS: usize = 72;
const NUMBER: f32 = 40.0;

/// A band of colours from the one end to the other, framed.
pub fn band<'a>(area: &Area, palette: &Palette, colour: impl Fn(f32) -> Rgba) -> Vec<Mark<'a>> {
    let width = area.width() / STEPS as f32;
    let step = |n: usize| {
        let corner = area.min + size(n as f32 * width, 0.0);
        // Each reaches under the next one, so that nothing shows between them.
        let reach = if n + 1 == STEPS { width } else { width + 0.5 };
        let share = n as f32 / (STEPS - 1) as f32;
        // opaque, since what covers twice where two meet would show as a seam
        let fill = colour(share).over(palette.panel);
        Mark::Rect(Rectangle::filled(Area::from_min_size(corner, size(reach, area.height())), 0.0, fill))
    };
    let edge = Stroke { width: 1.0, colour: palette.line };
    let frame = Mark::Rect(Rectangle::framed(*area, 0.0, edge, BorderSide::Outside));
    (0..STEPS).map(step).chain(std::iter::once(frame)).collect()
}

/// The band of a heatmap's cells with the numbers at its ends, from the left of `place`.
pub fn of_cells<'a>(cells: &Cells<'_>, name: &'a str, place: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let (from, (low, high)) = cells.scale.legend(cells.numbers.range());
    let number = |value: f32| match cells.scale {
        Scale::Unit => format!("{value:.0}"),
        Scale::Range | Scale::Between(..) => format!("{value:.1}"),
        Scale::Signed => format!("{value:.2}"),
    };
    let area = Area::from_min_size(place.min + size(NUMBER, 0.0), SIZE);
    let mut marks = band(&area, palette, |share| cells.map.colour(from + (1.0 - from) * share));
    marks.extend(beside(&area, [number(low), number(high)], palette));
    if !name.is_empty() {
        marks.push(text(name, point(area.right() + NUMBER, area.center().y), Across::Left, palette));
    }
    marks
}

/// What the links of a few alpha look like, and the alpha below which there are none.
pub fn of_links<'a>(place: &Area, threshold: f32, stroke: impl Fn(f32) -> Stroke, palette: &Palette) -> Vec<Mark<'a>> {
    let middle = place.center().y;
    let text = |words: String, x: f32| text(words, point(x, middle), Across::Left, palette);
    let mut marks = vec![text("alpha".to_owned(), place.left())];
    let mut x = place.left() + WORD;
    for alpha in LINKS.into_iter().filter(|alpha| *alpha >= threshold) {
        let ends = vec![[point(x, middle), point(x + LINK.0, middle)]];
        marks.push(Mark::Lines(LinesMark { ends, stroke: stroke(alpha), is_crisp: false }));
        marks.push(text(format!("{alpha}"), x + LINK.0 + SPACE_1));
        x += LINK.0 + LINK.1;
    }
    if threshold > 0.0 {
        marks.push(text(format!("from {threshold}"), x));
    }
    marks
}

/// What the colour behind a word means.
pub fn of_doubt<'a>(place: &Area, palette: &Palette) -> Vec<Mark<'a>> {
    let area = Area::from_min_size(place.min + size(WORD, 0.0), SIZE);
    let mut marks = band(&area, palette, |share| palette.doubt(DOUBT_END * share).over(palette.panel));
    marks.extend(beside(&area, ["p = 1", "p = 0.01 or less"], palette));
    marks
}

fn beside<'a>(band: &Area, [low, high]: [impl Into<Cow<'a, str>>; 2], palette: &Palette) -> [Mark<'a>; 2] {
    let middle = band.center().y;
    [
        text(low, point(band.left() - SPACE_1, middle), Across::Right, palette),
        text(high, point(band.right() + SPACE_1, middle), Across::Left, palette),
    ]
}

fn text<'a>(words: impl Into<Cow<'a, str>>, at: Point, across: Across, palette: &Palette) -> Mark<'a> {
    Mark::Text(TextMark::new(words, at, (across, Down::Middle), TEXT_SMALL, palette.weak))
}
