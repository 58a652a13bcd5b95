//! A hypothesis of the beam in one line: its place, its numbers, its words.

use std::borrow::Cow;

use crate::geometry::{Area, point};
use crate::mark::{Across, Down, Mark, Rectangle, TextMark, WordsMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{SPACE_1, SPACE_2, TEXT_BODY, TEXT_SMALL};
use engine::interventions::Said;

/// Widths of the numbers in front of the words, points.
pub const NUMBERS: [f32; 4] = [20.0, 52.0, 64.0, 66.0];

const LETTER: f32 = 0.5 * TEXT_BODY;
const FORCED: f32 = 0.5;
const HELD: f32 = 0.7;
const CONTEXT: usize = 2;

/// A hypothesis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeamRow<'a> {
    /// Its place in the beam, from 1.
    pub place: usize,
    pub log_p: f32,
    /// log p / |y|^A, where hypotheses are ordered by it.
    pub rank: Option<f32>,
    /// log p / tokens of the model, where that is shown.
    pub per_token: Option<f32>,
    /// Its words in the order they are seen, each with its log p.
    pub words: Vec<(Cow<'a, str>, f32)>,
    /// Who chose each word, in the same order; those behind the last are the model's own.
    pub said: Vec<Said>,
    /// How many of the first words are those of the best hypothesis: they are faded, and most of them left out where
    /// the row is too short for what differs.
    pub shared: usize,
    pub back: Rgba,
}

impl<'a> BeamRow<'a> {
    pub fn marks(self, area: &Area, palette: &Palette) -> Vec<Mark<'a>> {
        let middle = area.center().y;
        let mut out = Vec::new();
        if !self.back.is_clear() {
            out.push(Mark::Rect(Rectangle::filled(*area, 3.0, self.back)));
        }
        let mut x = area.left();
        let mut number = |width: f32, text: String| {
            x += width;
            let at = point(x, middle);
            out.push(Mark::Text(TextMark::new(text, at, (Across::Right, Down::Middle), TEXT_SMALL, palette.weak)));
        };
        number(NUMBERS[0] - SPACE_1, self.place.to_string());
        number(NUMBERS[1] + SPACE_1, format!("{:.2}", self.log_p));
        if let Some(rank) = self.rank {
            number(NUMBERS[2], format!("{rank:.2}"));
        }
        if let Some(per_token) = self.per_token {
            number(NUMBERS[3], format!("{per_token:.2}"));
        }
        let left = x + SPACE_1 + SPACE_2;
        let room = area.right() - left;
        let (words, faded) = self.differing(room);
        let words = words.into_iter().map(|(word, log_p, said)| {
            let back = match said {
                Said::Free => palette.doubt(log_p),
                Said::Held => palette.set_soft.fade(HELD),
                Said::Forced => palette.set.fade(FORCED),
            };
            (word, back)
        });
        out.push(Mark::Words(WordsMark {
            words: words.collect(),
            faded: (faded, palette.weak),
            at: point(left, middle),
            size: TEXT_BODY,
            colour: palette.text,
            gap: SPACE_1,
            room,
        }));
        out
    }

    fn differing(self, room: f32) -> (Vec<(Cow<'a, str>, f32, Said)>, usize) {
        let wide = |words: &[(Cow<'a, str>, f32)]| -> f32 {
            words.iter().map(|(word, _)| word.chars().count() as f32 * LETTER + SPACE_1).sum()
        };
        let left_out = self.shared.min(self.words.len()).saturating_sub(CONTEXT);
        let is_short = left_out < 2 || wide(&self.words) <= room;
        let said = self.said.into_iter().chain(std::iter::repeat(Said::Free));
        let all = self.words.into_iter().zip(said).map(|((word, log_p), said)| (word, log_p, said));
        if is_short {
            return (all.collect(), self.shared);
        }
        let dots = (Cow::Borrowed("\u{2026}"), 0.0, Said::Free);
        let words = std::iter::once(dots).chain(all.skip(left_out)).collect();
        (words, 1 + CONTEXT)
    }
}
