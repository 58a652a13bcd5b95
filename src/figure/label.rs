//! Floor 6: words as labels: what they say and how much room they need.

use std::borrow::Cow;

use crate::figure::measure::Measure;
use crate::figure::palette::{Palette, Rgba};
use crate::figure::sizes::{LABEL_MAX, TEXT_SMALL};
use crate::text::sentence::UNK;

/// What kind of word it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// One like most.
    #[default]
    Plain,
    /// The model does not know it.
    Unknown,
    /// `</s>`.
    End,
}

impl Tone {
    /// Of a word.
    pub fn of(is_unk: bool, is_eos: bool) -> Self {
        if is_unk {
            Self::Unknown
        } else if is_eos {
            Self::End
        } else {
            Self::Plain
        }
    }

    /// The colour of its letters.
    pub fn colour(self, palette: &Palette) -> Rgba {
        match self {
            Self::Plain => palette.text,
            Self::Unknown => palette.warm,
            Self::End => palette.weak,
        }
    }
}

/// A word beside or above the cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label<'a> {
    /// What it says.
    pub text: Cow<'a, str>,
    /// What kind of word it is.
    pub tone: Tone,
}

/// A source word as it is shown: an unknown word with what the model reads in its place.
pub fn source_text(text: &str, is_unk: bool) -> Cow<'_, str> {
    if is_unk { Cow::Owned(format!("{text} {UNK}")) } else { Cow::Borrowed(text) }
}

/// A target word as it is shown: `[UNK]` with the typed word that it probably stands for, which `replace` puts first.
pub fn target_text<'a>(text: &'a str, is_unk: bool, replaced: Option<&str>, replace: bool) -> Cow<'a, str> {
    match replaced {
        Some(typed) if is_unk && replace => Cow::Owned(format!("{typed} {UNK}")),
        Some(typed) if is_unk => Cow::Owned(format!("{UNK} ({typed})")),
        Some(_) | None => Cow::Borrowed(text),
    }
}

/// The widest of these labels, at most [`LABEL_MAX`].
pub fn widest<'a>(measure: &dyn Measure, labels: impl Iterator<Item = Cow<'a, str>>) -> f32 {
    labels.map(|label| measure.width(&label, TEXT_SMALL)).fold(0.0, f32::max).min(LABEL_MAX)
}
