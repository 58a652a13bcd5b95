//! Minimal pairs: of a good and a bad translation that differ in one place, which does a model hold for more probable
//! (contrastive pairs of Sennrich 2017, "How grammatical is character-level neural machine translation?"). Imports its room.

use std::ops::Range;

use crate::analysis::contrast::depends::PairDependence;

/// What a model says of a pair of translations; the good one is first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MinimalPair {
    /// ln p(y given x) of both.
    pub log_p: [f64; 2],
    /// The first word in which they differ, `</s>` where one ends before the other; equal where the model reads no
    /// difference.
    pub words: [String; 2],
    /// ln p of these words, given what stands before them.
    pub word_log_p: [f64; 2],
    /// The model does not know one of these words.
    pub is_unknown: bool,
    /// What was asked beside.
    pub depends: PairDependence,
}

impl MinimalPair {
    pub fn difference(&self) -> f64 {
        self.log_p[0] - self.log_p[1]
    }

    /// The same at the first word in which they differ.
    pub fn word_difference(&self) -> f64 {
        self.word_log_p[0] - self.word_log_p[1]
    }
}

/// Of two translations in ids, and in words as ranges of these, the first words that differ; `None` where all are the
/// same.
pub fn first_difference(ids: [&[u32]; 2], words: [&[Range<usize>]; 2]) -> Option<[Range<usize>; 2]> {
    let [good, bad] = words;
    let differ = |(one, other): (&Range<usize>, &Range<usize>)| ids[0][one.clone()] != ids[1][other.clone()];
    let at = good.iter().zip(bad).position(differ).or_else(|| {
        let shorter = good.len().min(bad.len());
        (good.len() != bad.len()).then_some(shorter)
    })?;
    let nothing = |ids: &[u32]| ids.len()..ids.len();
    Some([
        good.get(at).cloned().unwrap_or_else(|| nothing(ids[0])),
        bad.get(at).cloned().unwrap_or_else(|| nothing(ids[1])),
    ])
}

/// Counts of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MinimalCounts {
    pub pairs: u64,
    pub right: u64,
    /// At the first word in which both differ, its good form is.
    pub word_right: u64,
    /// Both are equally probable, most often since the model reads no difference.
    pub equal: u64,
    pub unknown: u64,
    sum: f64,
    word_sum: f64,
}

impl MinimalCounts {
    pub fn add(&mut self, pair: &MinimalPair) {
        let (difference, at_word) = (pair.difference(), pair.word_difference());
        self.pairs += 1;
        self.right += u64::from(difference > 0.0);
        self.word_right += u64::from(at_word > 0.0);
        self.equal += u64::from(difference == 0.0);
        self.unknown += u64::from(pair.is_unknown);
        self.sum += difference;
        self.word_sum += at_word;
    }

    /// The share of pairs that are right; `None` without any.
    pub fn accuracy(&self) -> Option<f64> {
        self.mean(self.right as f64)
    }

    /// The same by the first word in which they differ.
    pub fn word_accuracy(&self) -> Option<f64> {
        self.mean(self.word_right as f64)
    }

    /// The mean of [`MinimalPair::difference`].
    pub fn mean_difference(&self) -> Option<f64> {
        self.mean(self.sum)
    }

    /// The mean of [`MinimalPair::word_difference`].
    pub fn mean_word_difference(&self) -> Option<f64> {
        self.mean(self.word_sum)
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.pairs > 0).then(|| sum / self.pairs as f64)
    }
}

/// The quantile of a normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959_963_984_540_054;

/// Where a share of `right` of `all` lies with a confidence of 95 %, by Wilson's score: it holds for few pairs and for
/// shares near 0 and 1, too.
pub fn wilson(right: u64, all: u64) -> Option<(f64, f64)> {
    if all == 0 {
        return None;
    }
    let (n, share) = (all as f64, right as f64 / all as f64);
    let middle = share + Z * Z / (2.0 * n);
    let width = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    Some((((middle - width) / whole).max(0.0), ((middle + width) / whole).min(1.0)))
}

/// Where the difference of two shares of the same `all` lies with a confidence of 95 %: the share of `own` less that of
/// the other side, which alone has `other_only` while the first alone has `own_only` (Newcombe 1998, "Improved
/// confidence intervals for the difference between binomial proportions based on paired data", method 10).
pub fn paired_difference(all: u64, own: u64, own_only: u64, other_only: u64) -> Option<(f64, f64)> {
    let other = own + other_only - own_only;
    let ((own_low, own_high), (other_low, other_high)) = (wilson(own, all)?, wilson(other, all)?);
    let n = all as f64;
    let (e, f, g) = ((own - own_only) as f64, own_only as f64, other_only as f64);
    let h = n - e - f - g;
    let product = (e + f) * (g + h) * (e + g) * (f + h);
    let excess = e * h - f * g;
    let excess = if excess > 0.0 { (excess - n / 2.0).max(0.0) } else { excess };
    let phi = if product > 0.0 { excess / product.sqrt() } else { 0.0 };
    let (own, other) = (own as f64 / n, other as f64 / n);
    let width = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
    let difference = own - other;
    Some((difference - width(own - own_low, other_high - other), difference + width(own_high - own, other - other_low)))
}

/// p of the exact test of McNemar, two-sided: how probable so uneven a split is where two models are equally good, of
/// the pairs that only the first has right and those that only the second has; 1 without any.
pub fn mcnemar(first: u64, second: u64) -> f64 {
    let (n, few) = (first + second, first.min(second));
    // ln of n over k, k by k, less n ln 2
    let mut log = -(n as f64) * std::f64::consts::LN_2;
    let mut below = log.exp();
    for k in 1..=few {
        log += ((n - k + 1) as f64).ln() - (k as f64).ln();
        below += log.exp();
    }
    (2.0 * below).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_that_differs_is_found_whatever_its_pieces() {
        let one: &[Range<usize>] = &[0..1, 1..3, 3..4];
        let other: &[Range<usize>] = &[0..1, 1..2, 2..3];
        assert_eq!(first_difference([&[7, 8, 9, 0], &[7, 8, 0]], [one, other]), Some([1..3, 1..2]));
        assert_eq!(first_difference([&[7, 8, 9, 0], &[7, 8, 9, 0]], [one, one]), None);
        let ended: &[Range<usize>] = &[0..1, 1..3];
        assert_eq!(first_difference([&[7, 8, 9, 0], &[7, 8, 9]], [one, ended]), Some([3..4, 3..3]));
    }

    /// The values are those of R: `prop.test`-like Wilson bounds without correction, and `binom.test(2, 10)`.
    #[test]
    fn intervals_and_tests_are_those_of_the_books() {
        let (low, high) = wilson(8, 10).expect("pairs");
        assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(10, 10).expect("pairs");
        assert!((low - 0.7225).abs() < 1e-4 && (high - 1.0).abs() < 1e-9, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
        assert!((mcnemar(2, 8) - 0.109_375).abs() < 1e-9);
        assert_eq!([mcnemar(0, 0), mcnemar(5, 5)], [1.0, 1.0]);
        assert!(mcnemar(60_000, 50_000) < 1e-100);
    }
}
