//! What a column shows as a picture for a file. Drawn off the window's thread, while the session goes on.

use std::{borrow::Cow, ops::Range, path::Path, sync::Arc};

use crate::app::document::table::{AlignmentTable, TargetWord, Units, target_words};
use crate::{app::settings::Shown, jobs::live::protocol::HypothesisView};
use engine::analysis::measures::{MEASURES, Measure};
use engine::error::{Error, Result};
use engine::{analysis::row_convention::RowConvention, text::links::Links};
use figure::heatmap::{layout::Gaze, outlines::Outlined};
use figure::label::{Label, Tone, source_text};
use figure::sheet::{FigureKind, FigureStyle, PictureSheet, kind};
use figure::{Figure, png};
use figure::{
    beam::BeamRow, fonts::Fonts, formats::format_of, inspected::Inspected, mark::Scale, measure::SansSerif,
    page::FigurePage, palette::Palette, png::Pixels, provenance::Provenance, tree::DrawnNode,
};

/// What a column shows, and how it is to look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureRequest {
    pub table: Arc<AlignmentTable>,
    pub hypotheses: Vec<HypothesisView>,
    pub tree: Vec<DrawnNode<'static>>,
    pub word: Option<usize>,
    /// D of local attention.
    pub window: Option<usize>,
    pub replaces: bool,
    pub shown: Shown,
    pub outlined: Outlined,
    /// Hypotheses are ordered by log p over their length.
    pub is_normalised: bool,
    pub title: String,
    pub facts: Vec<(String, String)>,
    pub kind: &'static str,
    pub look: FigureStyle,
    pub page: FigurePage,
}

impl PictureRequest {
    pub fn drawn<T>(&self, paint: impl FnOnce(&Figure<'_>) -> Result<T>) -> Result<T> {
        let (kind, sheet) = (self.kind()?, self.sheet());
        let figure = kind.draw(&sheet, &self.look).ok_or_else(|| Error::Input(kind.needs.lacking().to_owned()))?;
        paint(&figure)
    }

    fn kind(&self) -> Result<&'static FigureKind> {
        kind(self.kind).ok_or_else(|| Error::Internal(format!("a figure without a line: {}", self.kind)))
    }

    pub fn outline_gold(&mut self, links: Links) {
        let table = AlignmentTable { links: Some(links), agreement: None, ..(*self.table).clone() };
        (self.table, self.outlined) = (Arc::new(table), Outlined::ByHand);
        self.facts.retain(|(name, _)| !["links", "greatest alpha"].contains(&name.as_str()));
        self.facts.push(("links".to_owned(), "by hand".to_owned()));
    }

    fn sheet(&self) -> PictureSheet<'_> {
        let table = &self.table;
        let source = table.source.iter().map(|word| Label {
            text: source_text(&word.text, word.is_unk),
            tone: Tone::of(word.is_unk, !word.is_word()),
            hand: word.hand(),
        });
        let target = table.target.iter().map(|word| Label {
            text: word.label(self.replaces),
            tone: Tone::of(word.is_unk, word.is_eos),
            hand: word.hand(),
        });
        let gaze = table.p_t.as_deref().zip(self.window).map(|(p_t, window)| Gaze { p_t, window });
        PictureSheet {
            source: source.collect(),
            target: target.collect(),
            alpha: table.alpha.as_ref(),
            cells: table.numbers(self.shown).map(|matrix| (matrix, scale(self.shown))),
            name: measure(self.shown).map_or("", |measure| measure.title),
            links: table.links.as_ref(),
            outlined: self.outlined,
            gaze,
            corner: table.reading.filter(|_| measure(self.shown).is_none()).map(RowConvention::row_text),
            beam: self.hypotheses.iter().enumerate().map(|(n, hypothesis)| self.row(n, hypothesis)).collect(),
            tree: self.tree.clone(),
            word: self.word.and_then(|i| inspected(table, i, self.replaces)),
            provenance: Provenance { title: self.title.clone(), facts: self.facts.clone() },
        }
    }

    fn row(&self, n: usize, of: &HypothesisView) -> BeamRow<'static> {
        let pieces = of.pieces.as_ref().filter(|_| self.table.units == Some(Units::Words));
        let replaces = self.replaces || self.table.is_given;
        let word = |word: TargetWord| (Cow::Owned(word.label(replaces).into_owned()), word.log_p);
        let rank = self.is_normalised.then_some(of.found.rank);
        let words = target_words(of, pieces).into_iter().map(word).collect();
        let said = of.touched.all_said(of.tokens.len());
        let said = match pieces {
            None => said,
            Some(pieces) => {
                let most = |word: &Range<usize>| said[word.clone()].iter().copied().max().unwrap_or_default();
                pieces.target.iter().map(most).collect()
            }
        };
        BeamRow { place: n + 1, log_p: of.found.log_p, rank, words, said, ..BeamRow::default() }
    }
}

/// A figure of one column, or of several beside each other on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRequest {
    panels: Vec<PictureRequest>,
    in_a_row: usize,
    caption: Option<String>,
}

impl From<PictureRequest> for FigureRequest {
    fn from(picture: PictureRequest) -> Self {
        Self { panels: vec![picture], in_a_row: 1, caption: None }
    }
}

impl FigureRequest {
    /// Several, in rows of so many, with one legend and a caption below all.
    pub fn of(panels: Vec<PictureRequest>, in_a_row: usize, caption: Option<String>) -> Self {
        Self { panels, in_a_row, caption }
    }

    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let (format, page) = (format_of(path)?, self.page());
        self.drawn(|figure| (format.write)(figure, &page, &Fonts::default()))
    }

    pub fn pixels(&self) -> Result<Pixels> {
        self.drawn(|figure| png::pixels(figure, &self.page(), &Fonts::default()))
    }

    fn page(&self) -> FigurePage {
        self.panels.first().map_or_else(FigurePage::default, |first| first.page)
    }

    pub fn drawn<T>(&self, paint: impl FnOnce(&Figure<'_>) -> Result<T>) -> Result<T> {
        let first = match &self.panels[..] {
            [] => return Err(Error::Internal("a figure of nothing".to_owned())),
            [one] => return one.drawn(paint),
            [first, ..] => first,
        };
        let mut sheets: Vec<PictureSheet<'_>> = self.panels.iter().map(PictureRequest::sheet).collect();
        let ranges = sheets.iter().filter_map(|sheet| sheet.cells.and_then(|(numbers, _)| numbers.range()));
        let range = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        for (_, scale) in sheets.iter_mut().filter_map(|sheet| sheet.cells.as_mut()) {
            let (low, high) = scale.of_range(range);
            *scale = if *scale == Scale::Unit { Scale::Unit } else { Scale::Between(low, high) };
        }
        let kind = first.kind()?;
        let looks: Vec<&FigureStyle> = self.panels.iter().map(|one| &one.look).collect();
        let figure = kind.panels(&sheets, &looks, self.in_a_row);
        let figure = figure.ok_or_else(|| Error::Input(kind.needs.lacking().to_owned()))?;
        let palette = Palette::of(first.look.is_dark);
        paint(&match &self.caption {
            Some(text) => figure.captioned(text, &SansSerif, palette).grounded(palette),
            None => figure,
        })
    }
}

fn inspected(table: &AlignmentTable, i: usize, replaces: bool) -> Option<Inspected<'_>> {
    let word = table.target.get(i)?;
    Some(Inspected {
        text: word.label(replaces),
        caption: Inspected::caption(i, table.target.len(), word.log_p).into(),
        heading: Inspected::heading(word.pieces.first().map(String::as_str)).into(),
        candidates: word.candidates.iter().map(|(text, p)| (text.into(), *p, *text == word.entry)).collect(),
        alpha: table.alpha.as_ref().map(|alpha| alpha.row(i).into()),
    })
}

pub fn scale(shown: Shown) -> Scale {
    match shown {
        Shown::Alpha => Scale::Unit,
        Shown::Energies => Scale::Range,
        Shown::Measure(_) => Scale::Signed,
    }
}

pub fn measure(shown: Shown) -> Option<&'static Measure> {
    let Shown::Measure(measure) = shown else { return None };
    MEASURES.get(measure)
}

pub const GUIDED: &str = id!("its attention was trained on word links of a statistical aligner");
