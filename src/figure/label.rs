//! Words as labels: what they say and how much room they need.

use std::borrow::Cow;

use crate::mark::{BorderSide, Mark, Rectangle, Stroke};
use crate::palette::{Palette, Rgba};
use crate::sizes::{LABEL_MAX, TEXT_SMALL};
use crate::{geometry::Area, measure::TextMeasure};
use engine::{interventions::Said, text::sentence::UNK};

/// What kind of word it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    /// The model does not know it.
    Unknown,
    /// `</s>`, or another that is no word of the text.
    End,
}

impl Tone {
    pub fn of(is_unk: bool, is_eos: bool) -> Self {
        match (is_unk, is_eos) {
            (true, _) => Self::Unknown,
            (false, true) => Self::End,
            (false, false) => Self::Plain,
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

/// What a person has set at a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hand {
    /// Who chose it, of a target word.
    pub said: Said,
    /// Of a target word, its row of alpha is set; of a source word, it has no weight.
    pub is_set: bool,
}

impl Hand {
    /// The frame of a word that the model did not choose by itself: a thick one with a ground where it was forced, a
    /// thin one where it is held.
    pub fn frame<'a>(self, area: Area, palette: &Palette) -> Option<Mark<'a>> {
        let (fill, width, colour) = match self.said {
            Said::Free => return None,
            Said::Held => (Rgba::TRANSPARENT, 1.0, palette.set.fade(HELD)),
            Said::Forced => (palette.set_soft, 2.0, palette.set),
        };
        let border = Stroke { width, colour };
        Some(Mark::Rect(Rectangle { fill, ..Rectangle::framed(area, 3.0, border, BorderSide::Inside) }))
    }
}

const HELD: f32 = 0.6;

/// A word beside or above the cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label<'a> {
    pub text: Cow<'a, str>,
    /// What kind of word it is.
    pub tone: Tone,
    /// What a person has set at it.
    pub hand: Hand,
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
pub fn widest<'a>(measure: &dyn TextMeasure, labels: impl Iterator<Item = Cow<'a, str>>) -> f32 {
    labels.map(|label| measure.width(&label, TEXT_SMALL)).fold(0.0, f32::max).min(LABEL_MAX)
}
