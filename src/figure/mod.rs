//! Floor 6: figures as lists of marks in points, without a window. Imports plain words and numbers of lower floors.
//!
//! What is painted of a heatmap, of bars, of a beam is first a list of [`Mark`]s: text, rectangles, lines, curves,
//! polygons, images. The window paints such lists, and [`svg`] writes them; a painter needs to know the marks alone.
//! Sizes of text come from a [`measure::Measure`], which each painter brings. Colours are those of [`palette`].
//!
//! Marks hold all that a painter of pages or pixels needs: no mark depends on the mouse or on the screen, an image says
//! its pixels ([`mark::Cells::pixels`]), and every length is in points, with y growing downwards.

pub mod axes;
pub mod bars;
pub mod beam;
pub mod geometry;
pub mod heatmap;
pub mod label;
pub mod legend;
pub mod links;
pub mod mark;
pub mod measure;
pub mod palette;
pub mod plane;
pub mod plot;
pub mod provenance;
pub mod scatter;
pub mod sizes;
pub mod strip;
pub mod svg;

use crate::figure::geometry::Size;
use crate::figure::mark::Mark;
use crate::figure::provenance::Provenance;

/// A whole figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure<'a> {
    /// Its size, points; its top left corner is (0, 0).
    pub size: Size,
    /// What is painted, from the back to the front.
    pub marks: Vec<Mark<'a>>,
    /// Where it comes from.
    pub provenance: Provenance,
}
