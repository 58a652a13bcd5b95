//! One target word as the inspector has it: the next words that the model weighed, and where it looked.

use std::borrow::Cow;

use crate::axes::{Axes, Axis};
use crate::geometry::{Area, Size, point, size};
use crate::label::{Label, widest};
use crate::mark::{Across, Down, Mark, Rectangle, TextMark};
use crate::palette::{Palette, Rgba};
use crate::sizes::{SPACE_1, SPACE_2, TEXT_BODY, TEXT_SMALL};
use crate::{Figure, bars::BarMark, measure::TextMeasure};
use engine::analysis::divergence::entropy;

const ROW: f32 = 19.0;
const CANDIDATES: f32 = 250.0;
const NAMES: f32 = 0.4;
/// Between the candidates and alpha, points.
const BETWEEN: f32 = 24.0;
/// Height of the bars of alpha, points.
const HEIGHT: f32 = 150.0;
const PITCH: (f32, f32) = (26.0, 220.0);
/// How the source words lean, radians.
const ANGLE: f32 = 0.85;
const BAR: f32 = 0.8;

/// A target word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected<'a> {
    pub text: Cow<'a, str>,
    /// Its place and its numbers, in a line.
    pub caption: Cow<'a, str>,
    pub heading: Cow<'a, str>,
    /// What else could have been said with its probability, best first, and whether it is what was said.
    pub candidates: Vec<(Cow<'a, str>, f32, bool)>,
    /// alpha_i over the source words; `None` without alignment.
    pub alpha: Option<Cow<'a, [f32]>>,
}

impl<'a> Inspected<'a> {
    /// The place of word i of so many and its probability.
    pub fn caption(i: usize, words: usize, log_p: f32) -> String {
        format!("word {} of {words}, p {:.3}, log p {log_p:.2}", i + 1, log_p.exp())
    }

    /// What candidates are of, of a word of several pieces with the first of them.
    pub fn heading(first_piece: Option<&str>) -> String {
        first_piece.map_or_else(
            || tr!("Next-word candidates").to_owned(),
            |first| tr!("Candidates for its first piece, {first}", first),
        )
    }

    /// Whether there is anything to draw but the word itself.
    pub fn has_bars(&self) -> bool {
        !self.candidates.is_empty() || self.alpha.is_some()
    }

    /// All of it; `source` are the words that alpha goes over.
    pub fn whole(&self, source: &[Label<'a>], measure: &dyn TextMeasure, palette: &Palette) -> Figure<'a> {
        let (title, small) = (measure.height(TEXT_BODY), measure.height(TEXT_SMALL));
        let top = title + small + SPACE_1 + SPACE_2;
        let mut marks = vec![
            text(self.text.clone(), 0.0, 0.0, TEXT_BODY, palette.accent),
            text(self.caption.clone(), 0.0, title + SPACE_1, TEXT_SMALL, palette.weak),
        ];
        let mut reach = size(measure.width(&self.caption, TEXT_SMALL).max(measure.width(&self.text, TEXT_BODY)), top);
        let mut left = 0.0;
        let mut add = |(more, part): (Vec<Mark<'a>>, Size), left: &mut f32| {
            marks.extend(more);
            reach = size(reach.x.max(*left + part.x), reach.y.max(top + part.y));
            *left += part.x + BETWEEN;
        };
        if !self.candidates.is_empty() {
            add(self.bars((left, top), measure, palette), &mut left);
        }
        if let Some(alpha) = &self.alpha {
            add(columns((alpha, source), (left, top), measure, palette), &mut left);
        }
        Figure { marks, size: reach, ..Figure::default() }
    }

    fn bars(&self, (left, top): (f32, f32), measure: &dyn TextMeasure, palette: &Palette) -> (Vec<Mark<'a>>, Size) {
        let words = self.candidates.iter().map(|(text, ..)| Cow::Borrowed(text.as_ref()));
        let names = widest(measure, words).min(CANDIDATES * NAMES) + SPACE_2;
        let first = top + measure.height(TEXT_SMALL) + SPACE_1;
        let mut marks = vec![text(self.heading.clone(), left, top, TEXT_SMALL, palette.weak)];
        for (n, (text, probability, is_marked)) in self.candidates.iter().enumerate() {
            let area = Area::from_min_size(point(left, first + n as f32 * ROW), size(CANDIDATES, ROW));
            let number = Cow::Owned(format!("{probability:.3}"));
            let (text, share, is_marked) = (text.clone(), *probability, *is_marked);
            let bar = BarMark { text, share, number, is_marked, ..BarMark::default() };
            marks.extend(bar.marks(&area, names, palette));
        }
        let width = CANDIDATES.max(measure.width(&self.heading, TEXT_SMALL));
        (marks, size(width, first - top + ROW * self.candidates.len() as f32))
    }
}

fn columns<'a>(
    (alpha, source): (&[f32], &[Label<'a>]), (left, top): (f32, f32), measure: &dyn TextMeasure, palette: &Palette,
) -> (Vec<Mark<'a>>, Size) {
    let line = measure.height(TEXT_SMALL);
    let sum: f32 = alpha.iter().sum();
    // local-p does not divide by the sum again
    let sum = if (sum - 1.0).abs() < 5e-3 { String::new() } else { format!(", sum {sum:.2}") };
    let heading = format!("\u{3b1} over the source words, entropy {:.2} nats{sum}", entropy(alpha));
    let width = (PITCH.0 * alpha.len() as f32).max(PITCH.1);
    let axis = |text, ends, ticks| Axis { label: "", text, ticks, ends };
    let (none, number) = (|_: f64| String::new(), |value: f64| format!("{value:.1}"));
    let (across, up) = ([-0.5, alpha.len() as f64 - 0.5], [0.0, 1.0]);
    let axes = Axes { x: axis(&none, across, &[]), y: axis(&number, up, &[]) };
    let area = Area::from_min_size(point(left, top + line + SPACE_1), size(width, HEIGHT));
    let frame = axes.frame(&area, measure);
    let mut marks = vec![text(heading.clone().into(), left, top, TEXT_SMALL, palette.weak)];
    marks.extend(axes.marks(&frame, measure, palette));
    let share = 0.5 * f64::from(BAR);
    for (j, alpha) in alpha.iter().enumerate().filter(|(_, alpha)| **alpha > 0.0) {
        let x = j as f64;
        let bar = Area::from_min_max(frame.place([x - share, f64::from(*alpha)]), frame.place([x + share, 0.0]));
        marks.push(Mark::Rect(Rectangle::filled(bar, 0.0, palette.accent)));
    }
    let widest = source.iter().map(|word| measure.width(&word.text, TEXT_SMALL)).fold(0.0, f32::max);
    for (j, word) in source.iter().enumerate() {
        let foot = frame.place([j as f64, 0.0]) + size(2.0, 2.0 * SPACE_1);
        let (anchor, colour) = ((Across::Right, Down::Middle), word.tone.colour(palette));
        let name = TextMark::new(word.text.clone(), foot, anchor, TEXT_SMALL, colour);
        marks.push(Mark::Text(TextMark { angle: ANGLE, ..name }));
    }
    // the first words may lean out to the left
    let out = source.iter().enumerate().map(|(j, word)| {
        let reach = measure.width(&word.text, TEXT_SMALL) * ANGLE.cos() + SPACE_1;
        reach - (frame.place([j as f64, 0.0]).x - left)
    });
    let out = out.fold(0.0, f32::max);
    marks.iter_mut().skip(1).for_each(|mark| mark.shift(size(out, 0.0)));
    let foot = frame.area.bottom() + 2.0 * SPACE_1 + widest * ANGLE.sin() + line * ANGLE.cos();
    (marks, size((width + out).max(measure.width(&heading, TEXT_SMALL)), foot - top))
}

fn text(text: Cow<'_, str>, left: f32, top: f32, size: f32, colour: Rgba) -> Mark<'_> {
    Mark::Text(TextMark::new(text, point(left, top), (Across::Left, Down::Top), size, colour))
}
