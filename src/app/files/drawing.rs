//! Floor 9: how a figure is asked for: what it shows, how it looks, how large it becomes. A leaf.

use std::path::PathBuf;

use crate::figure::formats::{FORMATS, format};
use crate::figure::links::Weight;
use crate::figure::page::FigurePage;
use crate::figure::palette::ColourMap;
use crate::figure::sheet::KINDS;

/// Resolution of a picture in the clipboard, pixels in an inch: twice that of a usual screen.
const CLIPBOARD_DPI: f32 = 144.0;

/// A figure as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// The name of a kind of figure.
    pub kind: &'static str,
    /// The name of the format of a file whose name says none.
    pub format: &'static str,
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
    /// What of a search a tree has.
    pub branches: Branches,
    /// How large and how fine.
    pub page: FigurePage,
}

/// What of a search is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branches {
    /// Those that fell out of the beam, too.
    pub pruned: bool,
    /// So many steps; `None`: all.
    pub steps: Option<usize>,
}

impl Default for Drawing {
    fn default() -> Self {
        Self::new(KINDS[0].name, false)
    }
}

impl Drawing {
    /// With a legend, as large as its text needs.
    pub fn new(kind: &'static str, is_dark: bool) -> Self {
        Self {
            kind,
            format: FORMATS[0].name,
            map: None,
            is_dark,
            has_legend: true,
            has_caption: false,
            threshold: 0.1,
            weight: Weight::default(),
            branches: Branches::default(),
            page: FigurePage::default(),
        }
    }

    /// A path with the ending of the format, where it has none of a format.
    pub fn named(&self, path: PathBuf) -> PathBuf {
        let has_format = path.extension().and_then(|end| end.to_str()).is_some_and(|end| format(end).is_some());
        if has_format { path } else { PathBuf::from(format!("{}.{}", path.display(), self.format)) }
    }

    /// What a file of it is called at first.
    pub fn file(&self) -> String {
        format!("{}.{}", self.kind, self.format)
    }

    /// For the clipboard.
    pub fn to_copy(kind: &'static str, is_dark: bool) -> Self {
        Self { page: FigurePage { width_mm: None, dpi: CLIPBOARD_DPI }, ..Self::new(kind, is_dark) }
    }
}
