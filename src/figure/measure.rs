//! How much room text takes. Each painter brings a [`TextMeasure`] of the letters that it paints.

use std::borrow::Cow;

use unicode_bidi::{BidiClass, bidi_class};
use unicode_normalization::UnicodeNormalization as _;

use crate::geometry::{Area, point, size};
use crate::mark::{Across, Down, Mark, Rectangle, TextMark, WordsMark};

/// What a painter knows of its letters.
pub trait TextMeasure {
    /// Width of a line of text, points.
    fn width(&self, text: &str, size: f32) -> f32;
    /// Height of a line, points.
    fn height(&self, size: f32) -> f32;
}

/// Widths of the letters from space to `~` in thousandths of their size, as in Helvetica and the fonts made to replace
/// it, which is what viewers take for `sans-serif`.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
const NARROW: u16 = 600;
const WIDE: u16 = 1000;

/// Letters of a usual sans-serif font, for files whose reader brings the font.
#[derive(Clone, Copy, Debug, Default)]
pub struct SansSerif;

impl TextMeasure for SansSerif {
    fn width(&self, text: &str, size: f32) -> f32 {
        text.chars().map(|letter| f32::from(thousandths(letter))).sum::<f32>() * size / 1000.0
    }

    fn height(&self, size: f32) -> f32 {
        1.15 * size
    }
}

fn thousandths(letter: char) -> u16 {
    match letter {
        ' '..='~' => WIDTHS[letter as usize - ' ' as usize],
        '\u{300}'..='\u{36f}' => 0,
        '\u{a0}' => WIDTHS[0],
        // Latin letters with marks are as wide as without.
        '\u{a1}'..='\u{24f}' => match std::iter::once(letter).nfd().next() {
            // A mark is wider than this letter.
            Some('i') => 278,
            Some(plain @ ' '..='~') => WIDTHS[plain as usize - ' ' as usize],
            Some(_) | None => 556,
        },
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' => WIDE,
        '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' => WIDE,
        _ => NARROW,
    }
}

/// Whether a text starts from the right: its first letter with a direction does.
pub fn starts_right(text: &str) -> bool {
    text.chars()
        .find_map(|c| match bidi_class(c) {
            BidiClass::L => Some(false),
            BidiClass::R | BidiClass::AL => Some(true),
            _ => None,
        })
        .unwrap_or(false)
}

/// A line cut with an ellipsis at `room` points.
pub fn cut<'a>(measure: &dyn TextMeasure, text: &'a str, size: f32, room: f32) -> Cow<'a, str> {
    if measure.width(text, size) <= room {
        return Cow::Borrowed(text);
    }
    let with_ellipsis = |end: usize| format!("{}\u{2026}", text[..end].trim_end());
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fits = ends.partition_point(|&end| measure.width(&with_ellipsis(end), size) <= room);
    Cow::Owned(with_ellipsis(ends.get(fits.saturating_sub(1)).copied().unwrap_or(0)))
}

/// The words of a text in at most so many lines of `room` points; what is left over is cut.
pub fn broken(measure: &dyn TextMeasure, text: &str, size: f32, room: f32, lines: usize) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = done.len() >= lines;
        match done.last_mut() {
            Some(line) if is_last || measure.width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => done.push(word.to_owned()),
        }
    }
    done.iter().map(|line| cut(measure, line, size, room).into_owned()).collect()
}

/// Words as single texts with rectangles behind them, for painters that know no lines of words.
pub fn laid_out<'a>(measure: &dyn TextMeasure, of: &'a WordsMark<'_>) -> Vec<Mark<'a>> {
    let height = measure.height(of.size);
    let (mut x, mut out) = (0.0, Vec::new());
    for (n, (word, back)) in of.words.iter().enumerate() {
        let shown = cut(measure, word, of.size, of.room - x);
        let width = measure.width(&shown, of.size);
        if width > of.room - x {
            break;
        }
        let at = of.at + size(x, 0.0);
        if !back.is_clear() {
            let area = Area::from_min_size(point(at.x, at.y - 0.5 * height), size(width, height));
            out.push(Mark::Rect(Rectangle::filled(area, 0.0, *back)));
        }
        let is_whole = shown == *word;
        let colour = if n < of.faded.0 { of.faded.1 } else { of.colour };
        out.push(Mark::Text(TextMark::new(shown, at, (Across::Left, Down::Middle), of.size, colour)));
        if !is_whole {
            break;
        }
        x += width + of.gap;
    }
    out
}
