//! Figures of translations, and of anybody's attention.

use crate::failure::Answer;
use std::io::Write as _;
use std::{borrow::Cow, path::PathBuf};

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::{FromPyObject, Python, pyclass, pyfunction, pymethods};

use crate::arrays::{Matrix, Words, matrix};
use crate::forked;
use corpus::{export::picture, store::output::SystemOutput};
use engine::analysis::{alignment::Alignment, words::merge_alpha};
use engine::error::{Error, Result};
use engine::text::{cut::WordRule, pieces::PieceMarks, write};
use explorer::app::files::picture::PictureRequest;
use figure::formats::{FORMATS, FigureFormat, format, format_of};
use figure::page::{DPIS, FigurePage, WIDTHS_MM};
use figure::palette::{COLOUR_MAPS, ColourMap};
use figure::sheet::{FigureKind, FigureNeeds, FigureStyle, KINDS, PictureSheet, kind};
use figure::{beam::BeamRow, fonts::Fonts, links::Weight, provenance::Provenance};

/// How a figure is to look.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct StyleAsked {
    /// Nothing: a heatmap, or the beam where there is no alignment.
    pub kind: Option<String>,
    palette: Option<String>,
    dark: bool,
    legend: bool,
    caption: Option<String>,
    width: Option<f32>,
    dpi: f32,
    threshold: f32,
    opacity: bool,
}

/// A hypothesis in a figure of the beam.
pub struct DrawnHypothesis {
    pub log_p: f32,
    /// With log p of each.
    pub words: Vec<(String, f32)>,
}

/// A figure that can be drawn into any format.
#[pyclass(frozen, module = "interlinear._native")]
pub struct NativeFigure {
    said: SystemOutput,
    beam: Vec<DrawnHypothesis>,
    /// What has the search, or a word of it.
    picture: Option<PictureRequest>,
    kind: &'static FigureKind,
    look: FigureStyle,
    page: FigurePage,
    provenance: Provenance,
}

/// Refuses what a table does not have.
fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    Error::Input(format!("there is no {what} {name}; choose {}", names.collect::<Vec<_>>().join(", ")))
}

fn within(what: &str, number: f32, (least, most): (f32, f32)) -> Result<f32> {
    let wrong = || Error::Input(format!("{what} is {number}; give a number from {least} to {most}"));
    Some(number).filter(|number| (least..=most).contains(number)).ok_or_else(wrong)
}

impl NativeFigure {
    /// A figure of what was said in words.
    pub fn new(
        said: SystemOutput, beam: Vec<DrawnHypothesis>, (style, mut picture): (&StyleAsked, Option<PictureRequest>),
        provenance: Provenance,
    ) -> Answer<Self> {
        let usual = if said.alpha.is_some() { "heatmap" } else { "beam" };
        let name = style.kind.as_deref().unwrap_or(usual);
        let kind = kind(name).ok_or_else(|| unknown("kind", name, KINDS.iter().map(|kind| kind.name)))?;
        let is_lacking = match kind.needs {
            FigureNeeds::Nothing => beam.is_empty(),
            FigureNeeds::Alignment => said.alpha.is_none(),
            FigureNeeds::Search | FigureNeeds::Word => picture.is_none(),
        };
        if is_lacking {
            return Err(Error::Input(kind.needs.lacking().to_owned()).into());
        }
        let maps = || COLOUR_MAPS.iter().map(|map| map.key);
        let look = FigureStyle {
            is_dark: style.dark,
            map: match &style.palette {
                None => ColourMap::usual(style.dark),
                Some(name) => ColourMap::named(name).ok_or_else(|| unknown("palette", name, maps()))?,
            },
            has_legend: style.legend,
            caption: style.caption.clone(),
            threshold: style.threshold,
            weight: if style.opacity { Weight::Opacity } else { Weight::Width },
        };
        let width_mm = style.width.map(|width| within("width", width, WIDTHS_MM)).transpose()?;
        let page = FigurePage { width_mm, dpi: within("dpi", style.dpi, DPIS)? };
        if let Some(picture) = &mut picture {
            (picture.look, picture.page) = (look.clone(), page);
        }
        Ok(Self { said, beam, picture, kind, look, page, provenance })
    }

    fn sheet(&self) -> PictureSheet<'_> {
        let row = |(n, line): (usize, &DrawnHypothesis)| BeamRow {
            place: n + 1,
            log_p: line.log_p,
            words: line.words.iter().map(|(word, log_p)| (Cow::Owned(word.clone()), *log_p)).collect(),
            ..BeamRow::default()
        };
        let beam = self.beam.iter().enumerate().map(row).collect();
        PictureSheet { beam, ..picture::sheet(&self.said, self.provenance.clone()) }
    }

    fn written(&self, format: &FigureFormat) -> Result<Vec<u8>> {
        if let Some(picture) = &self.picture {
            return picture.drawn(|figure| (format.write)(figure, &self.page, &Fonts::default()));
        }
        let sheet = self.sheet();
        let lacking = || Error::Input(self.kind.needs.lacking().to_owned());
        let figure = self.kind.draw(&sheet, &self.look).ok_or_else(lacking)?;
        (format.write)(&figure, &self.page, &Fonts::default())
    }
}

#[pymethods]
impl NativeFigure {
    /// The file in a format, by its name.
    fn bytes(&self, py: Python<'_>, name: &str) -> Answer<Vec<u8>> {
        let known = format(name).ok_or_else(|| unknown("format", name, FORMATS.iter().map(|format| format.name)))?;
        Ok(forked::detached(py, || self.written(known))??)
    }

    /// Writes it in the format that the name ends with.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Answer<()> {
        Ok(forked::detached(py, || {
            // The name is at fault, and not the file.
            let format = format_of(&path).map_err(|why| Error::Input(why.to_string()))?;
            let bytes = self.written(format)?;
            write::write_atomic(&path, |file| file.write_all(&bytes))
        })??)
    }

    /// What it draws.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// The words of both sides.
    #[getter]
    fn words(&self) -> (&[String], &[String]) {
        (&self.said.source, &self.said.target)
    }

    /// The weights between them.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Answer<Option<Matrix<'py>>> {
        let rows = |alpha: &Alignment| alpha.iter().map(<[f32]>::to_vec).collect::<Vec<_>>();
        Ok(self.said.alpha.as_ref().map(|alpha| matrix(py, &rows(alpha))).transpose()?)
    }
}

/// The numbers of an array that has a row for each target word and a column for each source word.
pub fn alignment(alpha: &PyReadonlyArray2<'_, f32>, (source, target): (usize, usize), what: &str) -> Result<Alignment> {
    let (rows, columns) = (alpha.shape()[0], alpha.shape()[1]);
    if (rows, columns) != (target, source) {
        return Err(Error::Input(format!(
            "{what} is {rows} by {columns}, and there are {target} target words (rows) and {source} source words (columns)"
        )));
    }
    let weights: Vec<f32> = alpha.as_array().iter().copied().collect();
    if weights.iter().any(|weight| weight.is_nan()) {
        return Err(Error::Input(format!("{what} has numbers that are none (NaN)")));
    }
    Ok(if columns == 0 { Alignment::default() } else { Alignment::new(weights, columns).unwrap_or_default() })
}

/// A figure of anybody's attention, or of hypotheses.
#[pyfunction]
pub fn draw(
    source: Vec<String>, target: Vec<String>, alpha: Option<PyReadonlyArray2<'_, f32>>, title: &str, style: StyleAsked,
    beam: Vec<(f32, Vec<(String, f32)>)>,
) -> Answer<NativeFigure> {
    let read = |alpha| alignment(&alpha, (source.len(), target.len()), "alpha");
    let alpha = alpha.map(read).transpose()?;
    let said = SystemOutput { source, target, alpha, ..SystemOutput::default() };
    let mut about = Provenance { title: title.to_owned(), ..Provenance::default() };
    about.program();
    let beam = beam.into_iter().map(|(log_p, words)| DrawnHypothesis { log_p, words });
    NativeFigure::new(said, beam.collect(), (&style, None), about)
}

/// Words instead of the pieces of a vocabulary, by the marks that the pieces have, and alpha between them.
#[pyfunction]
pub fn words_of_pieces<'py>(
    py: Python<'py>, source: Vec<String>, target: Vec<String>, alpha: PyReadonlyArray2<'py, f32>,
) -> Answer<Words<Matrix<'py>>> {
    let alpha = alignment(&alpha, (source.len(), target.len()), "alpha")?;
    let marks = PieceMarks::seen(&[source.as_slice(), target.as_slice()].concat());
    let (x, y) = (marks.words(&source, WordRule::default()), marks.words(&target, WordRule::default()));
    let words = |pieces: &[String], ranges: &[std::ops::Range<usize>]| {
        ranges.iter().map(|range| marks.word(&pieces[range.clone()])).collect()
    };
    let merged: Vec<Vec<f32>> = merge_alpha(&alpha, &x, &y).iter().map(<[f32]>::to_vec).collect();
    Ok((words(&source, &x), words(&target, &y), matrix(py, &merged)?))
}
