//! The files that figures are written to. A new format is one painter and one line of [`FORMATS`].

use std::path::Path;

#[cfg(not(target_family = "wasm"))]
use crate::pdf::pdf;
use crate::png::png;
use crate::{Figure, svg};
use crate::{fonts::Fonts, page::FigurePage};
use engine::error::{Error, Result};

/// One line of [`FORMATS`].
#[derive(Clone, Copy, Debug)]
pub struct FigureFormat {
    /// On the command line, and behind the point of a file's name.
    pub name: &'static str,
    pub about: &'static str,
    pub write: fn(&Figure<'_>, &FigurePage, &Fonts) -> Result<Vec<u8>>,
}

/// Every format, first the one that is written where none is named.
pub const FORMATS: &[FigureFormat] = &[
    FigureFormat {
        name: "svg",
        about: id!("shapes and text for editors and web pages; the viewer brings the font"),
        write: |figure, page, _| Ok(svg::sized(figure, page).into_bytes()),
    },
    #[cfg(not(target_family = "wasm"))]
    FigureFormat { name: "pdf", about: id!("shapes and text for papers, with its fonts"), write: pdf },
    FigureFormat { name: "png", about: id!("pixels for slides, at a resolution"), write: png },
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static FigureFormat> {
    FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name))
}

/// The format that a file's name ends with.
pub fn format_of(path: &Path) -> Result<&'static FigureFormat> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let names: Vec<String> = FORMATS.iter().map(|format| format!(".{}", format.name)).collect();
    let unknown = || Error::file(path, format!("is no kind of figure; end the name with {}", listed(&names)));
    extension.and_then(format).ok_or_else(unknown)
}

fn listed(names: &[String]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        names => names.concat(),
    }
}
