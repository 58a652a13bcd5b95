//! Floor 9: how figures are drawn, as it is kept between starts.

use serde::{Deserialize, Serialize};

use crate::app::files::drawing::Drawing;
use crate::figure::formats::format;
use crate::figure::page::{DPIS, FigurePage, WIDTHS_MM};
use crate::figure::palette::ColourMap;
use crate::figure::sheet::kind;

/// A figure by the names of its tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedFigure {
    /// Of the table of kinds.
    pub kind: String,
    /// Of the table of formats.
    pub format: String,
    /// `None`: as wide as its text needs.
    pub width_mm: Option<f32>,
    /// Pixels in an inch.
    pub dpi: f32,
    /// Of the table of colour maps; `None`: as on the screen.
    pub palette: Option<String>,
    /// For a dark ground.
    pub dark: bool,
    /// With a legend.
    pub legend: bool,
    /// With a caption.
    pub caption: bool,
}

impl Default for SavedFigure {
    fn default() -> Self {
        Self::of(&Drawing::default())
    }
}

impl SavedFigure {
    /// As it is kept.
    pub fn of(drawing: &Drawing) -> Self {
        Self {
            kind: drawing.kind.to_owned(),
            format: drawing.format.to_owned(),
            width_mm: drawing.page.width_mm,
            dpi: drawing.page.dpi,
            palette: drawing.map.map(|map| map.key.to_owned()),
            dark: drawing.is_dark,
            legend: drawing.has_legend,
            caption: drawing.has_caption,
        }
    }

    /// As it was; what is not understood is as at first.
    pub fn drawing(&self) -> Drawing {
        let first = Drawing::default();
        let within = |(least, most): (f32, f32)| move |number: f32| number.clamp(least, most);
        let finite = |number: &f32| number.is_finite();
        Drawing {
            kind: kind(&self.kind).map_or(first.kind, |kind| kind.name),
            format: format(&self.format).map_or(first.format, |format| format.name),
            map: self.palette.as_deref().and_then(ColourMap::named),
            is_dark: self.dark,
            has_legend: self.legend,
            has_caption: self.caption,
            page: FigurePage {
                width_mm: self.width_mm.filter(finite).map(within(WIDTHS_MM)),
                dpi: Some(self.dpi).filter(finite).map_or(first.page.dpi, within(DPIS)),
            },
            ..first
        }
    }
}
