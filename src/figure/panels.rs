//! Floor 6: one figure of many: figures beside and below each other, on one ground. Imports its room.

use crate::figure::Figure;
use crate::figure::geometry::{Area, point, size};
use crate::figure::mark::{Mark, Rectangle};
use crate::figure::palette::Palette;
use crate::figure::provenance::Provenance;

/// Makes the figures of a row equally high, so that what is put below them begins at one height.
pub fn level(figures: &mut [Figure<'_>], columns: usize) {
    for row in figures.chunks_mut(columns.max(1)) {
        let height = row.iter().map(|figure| figure.size.y).fold(0.0, f32::max);
        row.iter_mut().for_each(|figure| figure.size.y = height);
    }
}

/// Figures in rows of so many, each column as wide as its widest figure and each row as high as its highest. All facts of all
/// figures are kept, those that they share once.
pub fn together<'a>(figures: Vec<Figure<'a>>, columns: usize, palette: &Palette) -> Figure<'a> {
    let columns = columns.clamp(1, figures.len().max(1));
    let widest =
        |column: usize| figures.iter().skip(column).step_by(columns).map(|figure| figure.size.x).fold(0.0, f32::max);
    let widths: Vec<f32> = (0..columns).map(widest).collect();
    let heights: Vec<f32> =
        figures.chunks(columns).map(|row| row.iter().map(|figure| figure.size.y).fold(0.0, f32::max)).collect();
    let whole = size(widths.iter().sum(), heights.iter().sum());
    let mut provenance = Provenance::default();
    let mut marks = vec![Mark::Rect(Rectangle::filled(Area::at(point(0.0, 0.0), whole), 0.0, palette.panel))];
    let mut titles = Vec::new();
    for (n, figure) in figures.into_iter().enumerate() {
        let (column, row) = (n % columns, n / columns);
        let by = size(widths[..column].iter().sum(), heights[..row].iter().sum());
        marks.extend(figure.marks.into_iter().map(|mut mark| {
            mark.shift(by);
            mark
        }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_in_a_grid_without_touching() {
        let figure = |width: f32, height: f32, model: &str| Figure {
            size: size(width, height),
            marks: vec![Mark::Rect(Rectangle::filled(
                Area::at(point(0.0, 0.0), size(width, height)),
                0.0,
                Palette::of(false).text,
            ))],
            provenance: Provenance {
                title: model.to_owned(),
                facts: vec![("model".into(), model.into()), ("kind".into(), "links".into())],
            },
        };
        let all = together(
            vec![figure(10.0, 5.0, "a"), figure(20.0, 8.0, "b"), figure(30.0, 4.0, "c")],
            2,
            Palette::of(false),
        );
        assert_eq!(all.size, size(50.0, 12.0));
        let areas: Vec<Area> = all
            .marks
            .iter()
            .filter_map(|mark| if let Mark::Rect(one) = mark { Some(one.area) } else { None })
            .collect();
        let at = [point(0.0, 0.0), point(0.0, 0.0), point(30.0, 0.0), point(0.0, 8.0)];
        assert_eq!(areas.iter().map(|area| area.min).collect::<Vec<_>>(), at);
        assert_eq!((all.provenance.title.as_str(), all.provenance.facts.len()), ("a; b; c", 4));
        assert_eq!(together(Vec::new(), 3, Palette::of(false)).size, size(0.0, 0.0));
    }
}
