//! How a figure is asked for: what it shows, how it looks, how large it becomes. A leaf.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use figure::formats::{FORMATS, format};
use figure::page::{DPIS, FigurePage, WIDTHS_MM};
use figure::sheet::{KINDS, kind};
use figure::{links::Weight, palette::ColourMap};

/// Resolution of a picture in the clipboard, pixels in an inch: twice that of a usual screen.
const CLIPBOARD_DPI: f32 = 144.0;

pub const MOST_IN_A_ROW: usize = 100;

const IN_A_ROW: usize = 2;

/// The name of a line of a table; serde would borrow a plain `&'static str` from what it reads.
type TableName = &'static str;

/// Options of a figure; in the saved state an invalid option has its default.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drawing {
    #[serde(deserialize_with = "kind_named")]
    pub kind: TableName,
    /// The name of the format of a file whose name says none.
    #[serde(deserialize_with = "format_named")]
    pub format: TableName,
    /// The colours of a heatmap; `None`: as on the screen.
    #[serde(rename = "palette", deserialize_with = "map_of")]
    pub map: Option<&'static ColourMap>,
    #[serde(rename = "dark")]
    pub is_dark: bool,
    #[serde(rename = "legend")]
    pub has_legend: bool,
    #[serde(rename = "caption")]
    pub has_caption: bool,
    #[serde(rename = "all", skip_serializing_if = "std::ops::Not::not")]
    pub of_all: bool,
    #[serde(skip_serializing_if = "is_usual")]
    pub in_a_row: usize,
    /// The gold links are outlined if a column gives the reference.
    #[serde(rename = "gold", skip_serializing_if = "std::ops::Not::not")]
    pub of_gold: bool,
    /// Links with less alpha are left out.
    #[serde(skip)]
    pub threshold: f32,
    #[serde(skip)]
    pub weight: Weight,
    #[serde(skip)]
    pub branches: Branches,
    #[serde(flatten)]
    pub page: FigurePage,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_usual(in_a_row: &usize) -> bool {
    *in_a_row == IN_A_ROW
}

fn kind_named<'de, D: Deserializer<'de>>(input: D) -> Result<TableName, D::Error> {
    Ok(kind(&String::deserialize(input)?).unwrap_or(&KINDS[0]).name)
}

fn format_named<'de, D: Deserializer<'de>>(input: D) -> Result<TableName, D::Error> {
    Ok(format(&String::deserialize(input)?).unwrap_or(&FORMATS[0]).name)
}

fn map_of<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'static ColourMap>, D::Error> {
    Ok(Option::<String>::deserialize(input)?.as_deref().and_then(ColourMap::named))
}

/// What of a search is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branches {
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
    pub fn new(kind: &'static str, is_dark: bool) -> Self {
        Self {
            kind,
            format: FORMATS[0].name,
            map: None,
            is_dark,
            has_legend: true,
            has_caption: false,
            of_all: false,
            in_a_row: IN_A_ROW,
            of_gold: false,
            threshold: 0.1,
            weight: Weight::default(),
            branches: Branches::default(),
            page: FigurePage::default(),
        }
    }

    pub fn sound(self) -> Self {
        let within = |(least, most): (f32, f32)| move |number: f32| number.clamp(least, most);
        let width_mm = self.page.width_mm.filter(|width| width.is_finite()).map(within(WIDTHS_MM));
        let dpi = Some(self.page.dpi).filter(|dpi| dpi.is_finite()).map_or(FigurePage::default().dpi, within(DPIS));
        Self { page: FigurePage { width_mm, dpi }, in_a_row: self.in_a_row.clamp(1, MOST_IN_A_ROW), ..self }
    }

    /// A path with the ending of the format, where it has none of a format.
    pub fn named(&self, path: PathBuf) -> PathBuf {
        let has_format = path.extension().and_then(|end| end.to_str()).is_some_and(|end| format(end).is_some());
        if has_format { path } else { PathBuf::from(format!("{}.{}", path.display(), self.format)) }
    }

    pub fn file(&self) -> String {
        format!("{}.{}", self.kind, self.format)
    }

    pub fn to_copy(kind: &'static str, is_dark: bool) -> Self {
        Self { page: FigurePage { width_mm: None, dpi: CLIPBOARD_DPI }, ..Self::new(kind, is_dark) }
    }
}
