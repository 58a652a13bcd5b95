//! What beads cost by the lengths of their sentences: the number of letters of a translation is drawn from a normal distribution
//! around that of the source times a constant (Gale and Church 1993, section 3). Breaks of paragraphs that stand in both
//! documents count a little.

use std::ops::Range;

use crate::aligner::{sentences::beads::DocumentSide, sentences::search::BeadCosts};

/// The variance of the length of a translation for each letter, s^2 of Gale and Church.
const VARIANCE: f32 = 6.8;
/// What a bead costs that begins a paragraph on one side alone, or goes over the end of one.
const BROKEN: f32 = 1.5;
/// Documents whose numbers of paragraphs differ more have paragraphs of different kinds.
const ALIKE: f32 = 1.4;
/// More paragraphs for each sentence are sentences themselves.
const LONG: f32 = 0.8;

/// Lengths of both documents.
#[derive(Clone, Debug)]
pub struct Lengths<'a> {
    source: &'a DocumentSide,
    target: &'a DocumentSide,
    /// Letters of the target for one of the source.
    ratio: f32,
    has_paragraphs: bool,
}

impl<'a> Lengths<'a> {
    pub fn new(source: &'a DocumentSide, target: &'a DocumentSide) -> Self {
        let letters = |side: &DocumentSide| side.letters.iter().sum::<usize>().max(1) as f32;
        let paragraphs = |side: &DocumentSide| side.begins.iter().filter(|begins| **begins).count() as f32;
        let (one, other) = (paragraphs(source), paragraphs(target));
        // Where every sentence is a paragraph, nothing is hinted at.
        let are_long = one < LONG * source.len() as f32 && other < LONG * target.len() as f32;
        Self {
            source,
            target,
            ratio: (letters(target) / letters(source)).clamp(0.2, 5.0),
            has_paragraphs: are_long && one.min(other) > 1.0 && one.max(other) <= ALIKE * one.min(other),
        }
    }

    /// What a bead costs by the breaks of paragraphs.
    pub fn breaks(&self, source: &Range<usize>, target: &Range<usize>) -> f32 {
        if !self.has_paragraphs {
            return 0.0;
        }
        let begins = |side: &DocumentSide, at: usize| side.begins.get(at).is_none_or(|begins| *begins);
        let starts = begins(self.source, source.start) != begins(self.target, target.start);
        let within = |side: &DocumentSide, range: &Range<usize>| range.clone().skip(1).any(|at| side.begins[at]);
        let count =
            usize::from(starts) + usize::from(within(self.source, source)) + usize::from(within(self.target, target));
        BROKEN * count as f32
    }

    /// -ln of the probability that lengths differ by chance as much as these do.
    pub fn length(&self, source: &Range<usize>, target: &Range<usize>) -> f32 {
        let letters =
            |side: &DocumentSide, range: &Range<usize>| side.letters[range.clone()].iter().sum::<usize>() as f32;
        let (x, y) = (letters(self.source, source), letters(self.target, target));
        let mean = f32::midpoint(x, y / self.ratio);
        if mean == 0.0 {
            return 0.0;
        }
        tail((y - self.ratio * x).abs() / (VARIANCE * mean).sqrt())
    }
}

/// -ln 2 (1 - Phi(z)), by the formula 26.2.17 of Abramowitz and Stegun.
fn tail(z: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * z);
    let sum = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    z * z / 2.0 - (2.0 * 0.39894228 * sum).ln()
}

impl BeadCosts for Lengths<'_> {
    fn sizes(&self) -> (usize, usize) {
        (self.source.len(), self.target.len())
    }

    fn begin_row(&mut self, _: usize, _: Range<usize>) {}

    fn cost(&self, source: Range<usize>, target: Range<usize>) -> f32 {
        self.length(&source, &target) + self.breaks(&source, &target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_that_of_a_normal_distribution() {
        for (z, p) in [(0.0, 1.0), (1.0, 0.317_310_5), (1.959_964, 0.05), (4.0, 6.334e-5)] {
            assert!((tail(z) - -f32::ln(p)).abs() < 1e-3, "{z}");
        }
    }
}
