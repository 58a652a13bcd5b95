//! Interlinear text as a figure, as gb4e sets it: a number, words in columns with what stands under them, and the translations
//! below; what is longer than the paper is wide goes on in further lines.

use crate::geometry::{point, size};
use crate::interlinear::sentence::{GlossTier, GlossedSentence};
use crate::interlinear::{known, leipzig};
use crate::mark::{Across, Down, Mark, TextMark};
use crate::measure::{TextMeasure, starts_right};
use crate::{Figure, MARGIN};
use crate::{page::points, palette::Palette};
use engine::error::{Error, Result};
use engine::text::unspaced::line_breaks;

/// What the files of such figures are called.
pub const TITLE: &str = "Interlinear text";
/// Height of the letters, points: that of a paper, so that a width of paper is one.
const LETTERS: f32 = 10.0;
const SMALL: f32 = 0.8;
const LINE: f32 = 13.0;
const GAP: f32 = 8.0;
const NUMBER: f32 = 26.0;
/// Width of the paper where none is said, millimetres: A4 with its margins.
const PAPER_MM: f32 = 160.0;
const MOST: f32 = 14_400.0;

/// Sentences below each other on paper of this width; what labels of grammar mean stands at the end.
pub fn picture(
    sentences: &[GlossedSentence], width_mm: Option<f32>, measure: &dyn TextMeasure, palette: &Palette,
) -> Result<Figure<'static>> {
    let room = points(width_mm.unwrap_or(PAPER_MM)) - 2.0 * MARGIN;
    let mut page = GlossPage { measure, palette, room, top: 0.0, widest: 0.0, marks: Vec::new() };
    for (n, sentence) in sentences.iter().enumerate() {
        page.example(n + 1, sentence);
    }
    let known = known(sentences);
    if !known.is_empty() {
        page.paragraph(leipzig::text(&known).trim_end(), 0.0);
    }
    if page.top > MOST {
        let (count, most) = (sentences.len(), MOST / points(1000.0));
        let message = format!("{count} sentences do not fit on a page, which is {most:.0} m high at most; give fewer");
        return Err(Error::Input(message));
    }
    let width = width_mm.map_or(page.widest, |_| page.widest.max(room));
    Ok(Figure { size: size(width, page.top), marks: page.marks, ..Figure::default() }.grounded(palette))
}

type Pieces = Vec<(String, f32)>;

struct GlossPage<'a> {
    measure: &'a dyn TextMeasure,
    palette: &'a Palette,
    room: f32,
    top: f32,
    widest: f32,
    marks: Vec<Mark<'static>>,
}

impl GlossPage<'_> {
    fn example(&mut self, number: usize, sentence: &GlossedSentence) {
        let words = GlossTier { cells: sentence.words.clone(), ..GlossTier::default() };
        let rows: Vec<GlossTier> = std::iter::once(words).chain(sentence.rows()).collect();
        let cell = |row: &GlossTier, j: usize| pieces(row.cells.get(j).map_or("", String::as_str), row.is_gloss);
        let width = |j: usize| rows.iter().map(|row| self.width(&cell(row, j))).fold(0.0, f32::max);
        let widths: Vec<f32> = (0..sentence.words.len()).map(width).collect();
        let is_from_right = starts_right(&sentence.words.join(" "));
        self.text(&[(format!("({number})"), LETTERS)], 0.0, false);
        let room = self.room - NUMBER;
        let mut from = 0;
        while from < widths.len() {
            let (mut to, mut x) = (from + 1, widths[from]);
            while to < widths.len() && x + GAP + widths[to] <= room {
                x += GAP + widths[to];
                to += 1;
            }
            for row in &rows {
                let mut x = 0.0;
                for (j, width) in widths.iter().enumerate().take(to).skip(from) {
                    let at = if is_from_right { self.room.max(NUMBER + width) - x } else { NUMBER + x };
                    self.text(&cell(row, j), at, is_from_right);
                    x += width + GAP;
                }
                self.top += LINE;
            }
            from = to;
            self.top += 0.3 * LINE;
        }
        for text in &sentence.texts {
            self.paragraph(&format!("\u{2018}{}\u{2019} ({})", text.words.join(" "), text.name), NUMBER);
        }
        self.top += GAP;
    }

    /// Lines of running text, from the right where its letters run so; broken as Unicode allows it (UAX 14).
    fn paragraph(&mut self, text: &str, left: f32) {
        let is_from_right = starts_right(text);
        // a first letter of the other direction would turn the whole line
        let isolated = |line: &str| if is_from_right { format!("\u{2067}{line}\u{2069}") } else { line.to_owned() };
        let mut line = String::new();
        let mut from = 0;
        for end in line_breaks(text) {
            let part = &text[from..end];
            from = end;
            let whole = format!("{line}{part}");
            if !line.is_empty() && self.measure.width(whole.trim_end(), LETTERS) > self.room - left {
                self.running(&isolated(line.trim_end()), left, is_from_right);
                part.clone_into(&mut line);
            } else {
                line = whole;
            }
        }
        self.running(&isolated(line.trim_end()), left, is_from_right);
    }

    fn running(&mut self, line: &str, left: f32, is_from_right: bool) {
        let at = if is_from_right { self.room } else { left };
        self.text(&[(line.to_owned(), LETTERS)], at, is_from_right);
        self.top += LINE;
    }

    fn width(&self, pieces: &[(String, f32)]) -> f32 {
        pieces.iter().map(|(text, size)| self.measure.width(text, *size)).sum()
    }

    fn text(&mut self, pieces: &[(String, f32)], at: f32, is_end: bool) {
        let mut x = if is_end { at - self.width(pieces) } else { at };
        for (text, size) in pieces {
            let width = self.measure.width(text, *size);
            // what runs from the right is measured roughly, and is right at its right end
            let (across, from) = if starts_right(text) { (Across::Right, x + width) } else { (Across::Left, x) };
            // all stand on one line, whatever their height
            let foot = self.top + 0.5 * LINE + 0.35 * (LETTERS - size);
            let anchor = (across, Down::Middle);
            let mark = TextMark::new(text.clone(), point(from, foot), anchor, *size, self.palette.text);
            self.marks.push(Mark::Text(mark));
            x += width;
        }
        self.widest = self.widest.max(x);
    }
}

fn pieces(cell: &str, is_gloss: bool) -> Pieces {
    let plain = || vec![(cell.to_owned(), LETTERS)];
    match (cell.is_empty(), is_gloss) {
        (true, _) => Vec::new(),
        (false, false) => plain(),
        (false, true) => {
            let piece = |(text, is_label): (&str, bool)| {
                if is_label { (text.to_uppercase(), SMALL * LETTERS) } else { (text.to_owned(), LETTERS) }
            };
            leipzig::labelled(cell).into_iter().map(piece).collect()
        }
    }
}
