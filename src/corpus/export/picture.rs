//! Floor 7: the heatmap of an output as a figure.

use std::borrow::Cow;

use crate::corpus::store::output::SystemOutput;
use crate::figure::Figure;
use crate::figure::label::{Hand, Label, Tone};
use crate::figure::provenance::Provenance;
use crate::figure::sheet::{FigureStyle, PictureSheet, kind};
use crate::text::sentence::{EOS, UNK};

/// Draws an output's heatmap; `None` where it has no alpha.
pub fn drawn<T>(output: &SystemOutput, title: &str, paint: impl FnOnce(&Figure<'_>) -> T) -> Option<T> {
    let alpha = output.alpha.as_ref()?;
    let source = labels(&output.source);
    let facts = vec![("system".to_owned(), title.to_owned())];
    let sheet = PictureSheet {
        source: source.collect(),
        target: labels(&output.target).collect(),
        alpha: Some(alpha),
        provenance: Provenance { title: title.to_owned(), facts },
        ..PictureSheet::default()
    };
    kind("heatmap")?.draw(&sheet, &FigureStyle::default()).as_ref().map(paint)
}

fn labels(words: &[String]) -> impl Iterator<Item = Label<'_>> {
    words.iter().map(|word| Label {
        text: Cow::Borrowed(word.as_str()),
        tone: Tone::of(word == UNK, word == EOS),
        hand: Hand::default(),
    })
}
