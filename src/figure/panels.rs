//! One figure of many: figures next to and below each other, on one ground.

use crate::geometry::{Area, point, size};
use crate::mark::{Mark, Rectangle};
use crate::{Figure, palette::Palette, provenance::Provenance};

/// Makes the figures of a row equally high, so that what is put below them begins at one height.
pub fn level(figures: &mut [Figure<'_>], columns: usize) {
    for row in figures.chunks_mut(columns.max(1)) {
        let height = row.iter().map(|figure| figure.size.y).fold(0.0, f32::max);
        for figure in row {
            figure.size.y = height;
        }
    }
}

/// Figures in rows of so many, each column as wide as its widest figure and each row as high as its highest.
pub fn together<'a>(figures: Vec<Figure<'a>>, columns: usize, palette: &Palette) -> Figure<'a> {
    let columns = columns.clamp(1, figures.len().max(1));
    let widest =
        |column: usize| figures.iter().skip(column).step_by(columns).map(|figure| figure.size.x).fold(0.0, f32::max);
    let widths: Vec<f32> = (0..columns).map(widest).collect();
    let heights: Vec<f32> =
        figures.chunks(columns).map(|row| row.iter().map(|figure| figure.size.y).fold(0.0, f32::max)).collect();
    let whole = size(widths.iter().sum(), heights.iter().sum());
    let mut provenance = Provenance::default();
    let mut marks =
        vec![Mark::Rect(Rectangle::filled(Area::from_min_size(point(0.0, 0.0), whole), 0.0, palette.panel))];
    let mut titles = Vec::new();
    for (n, figure) in figures.into_iter().enumerate() {
        let (column, row) = (n % columns, n / columns);
        let by = size(widths[..column].iter().sum(), heights[..row].iter().sum());
        let from = marks.len();
        marks.extend(figure.marks);
        marks[from..].iter_mut().for_each(|mark| mark.shift(by));
        titles.push(figure.provenance.title);
        for fact in figure.provenance.facts {
            if !provenance.facts.contains(&fact) {
                provenance.facts.push(fact);
            }
        }
    }
    provenance.title = titles.join("; ");
    Figure { size: whole, marks, provenance }
}
