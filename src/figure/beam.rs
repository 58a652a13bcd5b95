//! Floor 6: a hypothesis of the beam in one line: its place, its numbers, its words.

use std::borrow::Cow;

use crate::figure::geometry::{Area, point};
use crate::figure::mark::{Across, Down, Mark, Rectangle, Text, Words};
use crate::figure::palette::{Palette, Rgba};
use crate::figure::sizes::{SPACE_1, SPACE_2, TEXT_BODY, TEXT_SMALL};

/// Widths of the numbers in front of the words, points.
pub const NUMBERS: [f32; 3] = [20.0, 52.0, 64.0];

/// A letter takes about so much, points.
const LETTER: f32 = 0.5 * TEXT_BODY;
/// Words that stay before the first that differs.
const CONTEXT: usize = 2;

/// A hypothesis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row<'a> {
    /// Its place in the beam, from 1.
    pub place: usize,
    /// log p.
    pub log_p: f32,
    /// log p / |y|^A, where hypotheses are ordered by it.
    pub rank: Option<f32>,
    /// Its words in the order they are seen, each with its log p.
    pub words: Vec<(Cow<'a, str>, f32)>,
    /// How many of the first words are those of the best hypothesis: they are faded, and most of them left out where
    /// the row is too short for what differs.
    pub shared: usize,
    /// Behind the whole line.
    pub back: Rgba,
}

impl<'a> Row<'a> {
    /// In this area.
    pub fn marks(self, area: &Area, palette: &Palette) -> Vec<Mark<'a>> {
        let middle = area.centre().y;
        let mut out = Vec::new();
        if !self.back.is_clear() {
            out.push(Mark::Rect(Rectangle::filled(*area, 3.0, self.back)));
        }
        let mut x = area.left();
        let mut number = |width: f32, text: String| {
            x += width;
            let at = point(x, middle);
            out.push(Mark::Text(Text::new(text, at, (Across::Right, Down::Middle), TEXT_SMALL, palette.weak)));
        };
        number(NUMBERS[0] - SPACE_1, self.place.to_string());
        number(NUMBERS[1] + SPACE_1, format!("{:.2}", self.log_p));
        if let Some(rank) = self.rank {
            number(NUMBERS[2], format!("{rank:.2}"));
        }
        let left = x + SPACE_1 + SPACE_2;
        let room = area.right() - left;
        let (words, faded) = self.differing(room);
        let words = words.into_iter().map(|(word, log_p)| (word, palette.doubt(log_p)));
        out.push(Mark::Words(Words {
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

    /// The words that are shown, and how many of the first are faded.
    fn differing(self, room: f32) -> (Vec<(Cow<'a, str>, f32)>, usize) {
        let wide = |words: &[(Cow<'a, str>, f32)]| -> f32 {
            words.iter().map(|(word, _)| word.chars().count() as f32 * LETTER + SPACE_1).sum()
        };
        let left_out = self.shared.min(self.words.len()).saturating_sub(CONTEXT);
        if left_out < 2 || wide(&self.words) <= room {
            return (self.words, self.shared);
        }
        let dots = (Cow::Borrowed("\u{2026}"), 0.0);
        let words = std::iter::once(dots).chain(self.words.into_iter().skip(left_out)).collect();
        (words, 1 + CONTEXT)
    }
}
