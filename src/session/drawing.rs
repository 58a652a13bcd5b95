//! Floor 8: how a figure is asked for: what it shows, how it looks, how large it becomes. A leaf.

use crate::figure::links::Weight;
use crate::figure::page::Page;
use crate::figure::palette::ColourMap;

/// Resolution of a picture in the clipboard, pixels in an inch: twice that of a usual screen.
const CLIPBOARD_DPI: f32 = 144.0;

/// A figure as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// The name of a kind of figure.
    pub kind: &'static str,
    /// The colours of a heatmap; `None`: as on the screen.
    pub map: Option<&'static ColourMap>,
    /// For a dark ground.
    pub is_dark: bool,
    /// It says what its colours and widths mean.
    pub has_legend: bool,
    /// It says below which model it is of and how that searched.
    pub has_caption: bool,
    /// Links with less alpha are left out.
    pub threshold: f32,
    /// How alpha is seen in links.
    pub weight: Weight,
    /// How large and how fine.
    pub page: Page,
}

impl Drawing {
    /// With a legend, as large as its text needs.
    pub fn new(kind: &'static str, is_dark: bool) -> Self {
        Self {
            kind,
            map: None,
            is_dark,
            has_legend: true,
            has_caption: false,
            threshold: 0.1,
            weight: Weight::default(),
            page: Page::default(),
        }
    }

    /// For the clipboard.
    pub fn to_copy(kind: &'static str, is_dark: bool) -> Self {
        Self { page: Page { width_mm: None, dpi: CLIPBOARD_DPI }, ..Self::new(kind, is_dark) }
    }
}
