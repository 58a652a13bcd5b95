//! Figures as lists of marks in points, without a window. Imports plain words and numbers of lower floors.
//!
//! What is painted of a heatmap, of bars, of a beam is first a list of [`Mark`]s: text, rectangles, lines, curves,
//! polygons, images. The window paints such lists, and [`svg`] writes them; a painter needs to know the marks alone.
//! [`formats`] has the files that figures become; [`pdf`] and [`png`] paint what the SVG says, so that all look alike.
//! Sizes of text come from a [`measure::TextMeasure`], which each painter brings. Colours are those of [`palette`].
//!
//! Marks hold all that a painter of pages or pixels needs: no mark depends on the mouse or on the screen, an image says
//! its pixels ([`mark::Cells::pixels`]), and every length is in points, with y growing downwards.

#[macro_use]
extern crate engine;

pub mod axes;
pub mod bars;
pub mod beam;
pub mod equation;
pub mod fonts;
pub mod formats;
pub mod geometry;
pub mod heatmap;
pub mod inspected;
pub mod interlinear;
pub mod label;
pub mod legend;
pub mod links;
pub mod machine;
pub mod mark;
pub mod measure;
pub mod page;
pub mod palette;
#[cfg(not(target_family = "wasm"))]
pub mod pdf;
pub mod plane;
pub mod plot;
pub mod png;
pub mod provenance;
pub mod sheet;
pub mod sizes;
pub mod strip;
pub mod svg;
pub mod tree;

use crate::geometry::{Area, Size, point, size};
use crate::mark::{Across, Down, Mark, Rectangle, TextMark};
use crate::measure::{TextMeasure, broken};
use crate::sizes::{SPACE_1, TEXT_SMALL};
use crate::{palette::Palette, provenance::Provenance};

/// A whole figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure<'a> {
    /// Its size, points; its top left corner is (0, 0).
    pub size: Size,
    /// What is painted, from the back to the front.
    pub marks: Vec<Mark<'a>>,
    pub provenance: Provenance,
}

/// Round a figure on its ground, points.
pub const MARGIN: f32 = 10.0;
const ABOVE_CAPTION: f32 = 10.0;
const LEAST_CAPTION: f32 = 200.0;
const CAPTION_LINES: usize = 6;

const MOST_LETTERS: usize = 60;

impl Figure<'_> {
    /// What a file of it is called at first: what it is, in small letters.
    pub fn file(&self) -> String {
        let words =
            self.provenance.title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let name: String = words.collect::<Vec<_>>().join("-").to_lowercase().chars().take(MOST_LETTERS).collect();
        let name = if name.is_empty() { "figure" } else { name.trim_end_matches('-') };
        format!("{name}.svg")
    }

    /// It with words of its own; `None` where it has numbers as cells.
    pub fn kept(self) -> Option<Figure<'static>> {
        let marks = self.marks.into_iter().map(Mark::kept).collect::<Option<Vec<_>>>()?;
        Some(Figure { size: self.size, marks, provenance: self.provenance })
    }

    /// With another one below, so far from the left.
    pub fn below(mut self, mut other: Self, left: f32) -> Self {
        let top = self.size.y + SPACE_1;
        other.marks.iter_mut().for_each(|mark| mark.shift(size(left, top)));
        self.marks.append(&mut other.marks);
        self.size = size(self.size.x.max(left + other.size.x), top + other.size.y);
        self
    }

    /// With a caption below, in lines as wide as the figure.
    pub fn captioned(mut self, text: &str, measure: &dyn TextMeasure, palette: &Palette) -> Self {
        let (height, width) = (measure.height(TEXT_SMALL), self.size.x.max(LEAST_CAPTION));
        let lines = broken(measure, text, TEXT_SMALL, width, CAPTION_LINES);
        let mut y = self.size.y + ABOVE_CAPTION;
        for line in lines {
            let at = point(0.0, y);
            self.marks.push(Mark::Text(TextMark::new(line, at, (Across::Left, Down::Top), TEXT_SMALL, palette.text)));
            y += height;
        }
        self.size = size(width, y);
        self
    }

    /// On a ground of the palette's colour, with a margin.
    pub fn grounded(mut self, palette: &Palette) -> Self {
        self.marks.iter_mut().for_each(|mark| mark.shift(size(MARGIN, MARGIN)));
        self.size = size(self.size.x + 2.0 * MARGIN, self.size.y + 2.0 * MARGIN);
        let ground = Rectangle::filled(Area::from_min_size(point(0.0, 0.0), self.size), 0.0, palette.panel);
        self.marks.insert(0, Mark::Rect(ground));
        self
    }
}
