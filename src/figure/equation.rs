//! Equations as marks. Letters as they are, `_x` and `_{..}` below the line, `^x` and `^{..}` above it, `\t{s}`
//! with a tilde, `\r{h}` and `\l{h}` with an arrow over them; `∘` is the product of each number with its neighbour.

use std::borrow::Cow;

use crate::geometry::{Point, point};
use crate::mark::{Across, Dots, Down, LinesMark, Mark, Stroke, TextMark};
use crate::{measure::TextMeasure, palette::Rgba};

/// A part of an equation, with the sign that it is written with.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    /// Below `_`, or above `^`.
    Index(char, Vec<Piece>),
    /// With a tilde `t` over it, or an arrow to the right `r` or to the left `l`.
    Over(char, Vec<Piece>),
    Ring,
}

const SMALL: f32 = 0.72;
const SHIFT: f32 = 0.32;
const RING: f32 = 0.6;

/// An equation in one line: its marks, from the middle of its left end, and its width.
pub fn typeset(text: &str, at: Point, size: f32, colour: Rgba, measure: &dyn TextMeasure) -> (Vec<Mark<'static>>, f32) {
    let mut setter = Setter { marks: Vec::new(), colour, measure };
    let end = setter.set(&parse(text), at, size);
    (setter.marks, end - at.x)
}

/// An equation as a line of text that can be read out.
pub fn spoken(text: &str) -> String {
    let mut line = String::new();
    say(&parse(text), &mut line);
    line
}

fn say(pieces: &[Piece], line: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => line.push_str(text),
            Piece::Ring => line.push('*'),
            Piece::Index(mark, inner) => {
                let mut text = String::new();
                say(inner, &mut text);
                line.push(*mark);
                line.push_str(&if text.chars().count() > 1 { format!("{{{text}}}") } else { text });
            }
            Piece::Over(accent, inner) => {
                say(inner, line);
                line.push_str(match accent {
                    't' => "~",
                    'r' => " forward",
                    _ => " backward",
                });
            }
        }
    }
}

fn parse(text: &str) -> Vec<Piece> {
    let letters: Vec<char> = text.chars().collect();
    pieces(&letters)
}

fn pieces(letters: &[char]) -> Vec<Piece> {
    let (mut found, mut at): (Vec<Piece>, usize) = (Vec::new(), 0);
    while at < letters.len() {
        let (piece, next) = match (letters[at], letters.get(at + 1)) {
            (mark @ ('_' | '^'), Some(_)) => of_group(letters, at + 1, |inner| Piece::Index(mark, inner)),
            ('\\', Some(&over @ ('t' | 'r' | 'l'))) => of_group(letters, at + 2, |inner| Piece::Over(over, inner)),
            ('∘', _) => (Piece::Ring, at + 1),
            (letter, _) => (Piece::Text(letter.to_string()), at + 1),
        };
        match (found.last_mut(), piece) {
            (Some(Piece::Text(run)), Piece::Text(letter)) => run.push_str(&letter),
            (_, piece) => found.push(piece),
        }
        at = next;
    }
    found
}

fn of_group(letters: &[char], at: usize, wrap: impl Fn(Vec<Piece>) -> Piece) -> (Piece, usize) {
    if letters.get(at) != Some(&'{') {
        let end = (at + 1).min(letters.len());
        return (wrap(pieces(&letters[at.min(end)..end])), end);
    }
    let mut depth = 0;
    for (end, letter) in letters.iter().enumerate().skip(at) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (wrap(pieces(&letters[at + 1..end])), end + 1);
        }
    }
    (wrap(pieces(&letters[at + 1..])), letters.len())
}

struct Setter<'m> {
    marks: Vec<Mark<'static>>,
    colour: Rgba,
    measure: &'m dyn TextMeasure,
}

impl Setter<'_> {
    fn set(&mut self, pieces: &[Piece], at: Point, size: f32) -> f32 {
        let mut x = at.x;
        // An index above stands over one below.
        let mut indexed: Option<f32> = None;
        for piece in pieces {
            let from = point(x, at.y);
            let (start, end) = match piece {
                Piece::Text(text) => (x, self.text(text, from, size)),
                Piece::Ring => (x, self.ring(from, size)),
                Piece::Over(accent, inner) => (x, self.over(*accent, inner, from, size)),
                Piece::Index(mark, inner) => {
                    let (x, sign) = (indexed.unwrap_or(x), if *mark == '_' { 1.0 } else { -1.0 });
                    (x, self.set(inner, point(x, at.y + sign * SHIFT * size), SMALL * size))
                }
            };
            indexed = matches!(piece, Piece::Index(..)).then_some(start);
            x = x.max(end);
        }
        x
    }

    fn text(&mut self, text: &str, at: Point, size: f32) -> f32 {
        let width = self.measure.width(text, size);
        let anchor = (Across::Left, Down::Middle);
        self.marks.push(Mark::Text(TextMark::new(Cow::Owned(text.to_owned()), at, anchor, size, self.colour)));
        at.x + width
    }

    fn ring(&mut self, at: Point, size: f32) -> f32 {
        let width = RING * size;
        let border = Stroke { width: 1.0, colour: self.colour };
        let dots = vec![(point(at.x + 0.5 * width, at.y + 0.06 * size), Rgba::TRANSPARENT)];
        self.marks.push(Mark::Dots(Dots { dots, radius: 0.14 * size, border, is_square: false }));
        at.x + width
    }

    fn over(&mut self, accent: char, inner: &[Piece], at: Point, size: f32) -> f32 {
        let end = self.set(inner, at, size);
        let (left, right, y) = (at.x + 0.04 * size, end - 0.02 * size, at.y - 0.46 * size);
        let (wave, head) = (0.07 * size, 0.13 * size);
        let third = (right - left) / 3.0;
        let ends = if accent == 't' {
            let corners = [(left, y + wave), (left + third, y - wave), (right - third, y + wave), (right, y - wave)];
            corners.windows(2).map(|pair| [point(pair[0].0, pair[0].1), point(pair[1].0, pair[1].1)]).collect()
        } else {
            let (tip, back) = if accent == 'r' { (right, -head) } else { (left, head) };
            let tip = point(tip, y);
            let barb = |by: f32| [point(tip.x + back, y + by), tip];
            vec![[point(left, y), point(right, y)], barb(-0.6 * head), barb(0.6 * head)]
        };
        let stroke = Stroke { width: (0.06 * size).max(0.8), colour: self.colour };
        self.marks.push(Mark::Lines(LinesMark { ends, stroke, is_crisp: false }));
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::SansSerif;

    #[test]
    fn what_is_typeset_is_what_is_read_out() {
        for (text, expected) in [
            ("c_i = ∑_j α_{ij} h_j", "c_i = ∑_j α_{ij} h_j"),
            (r"s_i = (1 - z_i) ∘ s_{i-1} + z_i ∘ \t{s}_i", "s_i = (1 - z_i) * s_{i-1} + z_i * s~_i"),
            (r"\r{h}_j, \l{h}_j", "h forward_j, h backward_j"),
            ("a_", "a_"),
            ("a_{b", "a_b"),
            ("", ""),
        ] {
            assert_eq!(spoken(text), expected, "{text}");
        }
    }

    #[test]
    fn indices_are_smaller_and_beside_what_they_belong_to() {
        let (marks, width) = typeset("h_s^k x", point(10.0, 20.0), 10.0, Rgba::TRANSPARENT, &SansSerif);
        let texts: Vec<&TextMark<'_>> =
            marks.iter().filter_map(|mark| if let Mark::Text(text) = mark { Some(text) } else { None }).collect();
        let [h, s, k, x] = texts[..] else { panic!("{texts:?}") };
        assert!(h.at == point(10.0, 20.0) && s.at.y > 20.0 && k.at.y < 20.0 && x.at.y == 20.0);
        assert!(s.at.x == k.at.x && s.at.x > h.at.x && x.at.x > s.at.x);
        assert!(s.size < h.size && (width - (x.at.x + SansSerif.width(" x", 10.0) - 10.0)).abs() < 0.01);
    }
}
