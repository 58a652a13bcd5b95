//! How large a figure becomes in a file, and how fine.

use serde::{Deserialize, Serialize};

use crate::{geometry::Size, sizes::TEXT_BODY};
use engine::error::{Error, Result};

/// Points in a millimetre.
const POINTS: f32 = 72.0 / 25.4;
/// Most pixels of a picture; each takes four bytes of memory.
const MOST_PIXELS: f64 = 100e6;
const LEAST_LETTERS: f32 = 6.0;
/// Widest and narrowest figure, millimetres.
pub const WIDTHS_MM: (f32, f32) = (5.0, 5000.0);
/// Finest and coarsest picture, pixels in an inch.
pub const DPIS: (f32, f32) = (20.0, 2400.0);

/// The size of a figure in a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FigurePage {
    /// Its width, millimetres; `None` leaves it as large as its points are.
    pub width_mm: Option<f32>,
    /// Pixels in an inch of a picture that is made of pixels.
    pub dpi: f32,
}

/// A width of paper in points.
pub fn points(mm: f32) -> f32 {
    mm * POINTS
}

impl Default for FigurePage {
    fn default() -> Self {
        Self { width_mm: None, dpi: 300.0 }
    }
}

impl FigurePage {
    /// What the points of a figure of this size are multiplied with.
    pub fn scale(&self, size: Size) -> f32 {
        self.width_mm.map_or(1.0, |width| width * POINTS / size.x.max(1.0))
    }

    /// That the letters of a figure of this size are hard to read in this width, and the width that they need.
    pub fn small_letters(&self, size: Size) -> Option<String> {
        let letters = self.scale(size) * TEXT_BODY;
        let width = LEAST_LETTERS / TEXT_BODY * size.x / POINTS;
        (letters < LEAST_LETTERS).then(|| {
            format!(
                "The letters are {letters:.1} points high; for {LEAST_LETTERS} points it wants a width of {:.0} mm",
                width.ceil()
            )
        })
    }

    /// Width and height in pixels, at least one each.
    pub fn pixels(&self, size: Size) -> Result<(u32, u32)> {
        let per_point = f64::from(self.scale(size)) * f64::from(self.dpi) / 72.0;
        let side = |points: f32| (f64::from(points) * per_point).round().max(1.0);
        let (width, height) = (side(size.x), side(size.y));
        if width * height > MOST_PIXELS {
            let sentence = format!(
                "the picture would have {width:.0} by {height:.0} pixels; choose a lower resolution or a smaller width"
            );
            return Err(Error::Input(sentence));
        }
        Ok((width as u32, height as u32))
    }
}
