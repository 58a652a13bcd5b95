//! The heatmap of an output as a figure.

use std::borrow::Cow;

use crate::store::output::SystemOutput;
use engine::text::sentence::{EOS, UNK};
use figure::Figure;
use figure::label::{Hand, Label, Tone};
use figure::provenance::Provenance;
use figure::sheet::{FigureStyle, PictureSheet, kind};

/// Draws an output's heatmap; `None` where it has no alpha.
pub fn drawn<T>(
    output: &SystemOutput, provenance: Provenance, has_legend: bool, paint: impl FnOnce(&Figure<'_>) -> T,
) -> Option<T> {
    let sheet = sheet(output, provenance);
    kind("heatmap")?.draw(&sheet, &FigureStyle { has_legend, ..FigureStyle::default() }).as_ref().map(paint)
}

/// What figures of an output are made of.
pub fn sheet(output: &SystemOutput, provenance: Provenance) -> PictureSheet<'_> {
    PictureSheet {
        source: labels(&output.source).collect(),
        target: labels(&output.target).collect(),
        alpha: output.alpha.as_ref(),
        provenance,
        ..PictureSheet::default()
    }
}

fn labels(words: &[String]) -> impl Iterator<Item = Label<'_>> {
    words.iter().map(|word| Label {
        text: Cow::Borrowed(word.as_str()),
        tone: Tone::of(word == UNK, word == EOS),
        hand: Hand::default(),
    })
}
