//! Floor 5: is one system better than another, or was it lucky with the test set? Paired bootstrap resampling
//! (Koehn 2004) over the counts of sentences, with the p-value of sacreBLEU's `--paired-bs`. Imports its room.

use std::iter::Sum;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::analysis::{bleu, chrf};

/// Counts of a sentence that add up to those of a corpus, of which a score is made.
pub trait BootstrapCounts: for<'a> Sum<&'a Self> {
    /// The score of a corpus with these counts, from 0 to 100.
    fn score(&self) -> f64;
}

impl BootstrapCounts for bleu::BleuCounts {
    fn score(&self) -> f64 {
        self.bleu().score
    }
}

impl BootstrapCounts for chrf::ChrfCounts {
    fn score(&self) -> f64 {
        Self::score(self)
    }
}

/// A figure of the test set, and where 95 % of its resamples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The figure itself.
    pub value: f64,
    /// The mean over the resamples.
    pub mean: f64,
    /// One resample in 40 lies below.
    pub low: f64,
    /// One resample in 40 lies above.
    pub high: f64,
}

/// Two systems on the same sentences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The score of the first.
    pub first: Interval,
    /// The score of the second.
    pub second: Interval,
    /// Second minus first.
    pub difference: Interval,
    /// Share of the resamples in which the second scores higher (Koehn 2004, section 4).
    pub second_wins: f64,
    /// Share of the resamples in which both score the same, which neither wins.
    pub ties: f64,
    /// The probability of a difference as great as this, either way, between systems that are equally good.
    pub p_value: f64,
    /// Resamples drawn.
    pub resamples: usize,
}

/// Compares two systems by their counts of the same sentences. The same seed gives the same answer everywhere.
/// `None` without sentences, without resamples or when the numbers of sentences differ.
pub fn paired<C: BootstrapCounts>(first: &[C], second: &[C], resamples: usize, seed: u64) -> Option<Paired> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sentences = u32::try_from(first.len()).ok().filter(|sentences| *sentences > 0)?;
    paired_by(first, second, resamples, &mut || rng.random_range(0..sentences) as usize)
}

/// As [`paired`], with sentences drawn by `draw`, which answers with indexes into `first`.
pub fn paired_by<C: BootstrapCounts>(
    first: &[C],
    second: &[C],
    resamples: usize,
    draw: &mut dyn FnMut() -> usize,
) -> Option<Paired> {
    if first.is_empty() || first.len() != second.len() || resamples == 0 {
        return None;
    }
    let mut scores = (Vec::with_capacity(resamples), Vec::with_capacity(resamples));
    for _ in 0..resamples {
        let drawn: Vec<usize> = (0..first.len()).map(|_| draw()).collect();
        let score = |counts: &[C]| drawn.iter().map(|sentence| &counts[*sentence]).sum::<C>().score();
        scores.0.push(score(first));
        scores.1.push(score(second));
    }
    let [a, b] = [first, second].map(|counts| counts.iter().sum::<C>().score());
    let differences: Vec<f64> = scores.0.iter().zip(&scores.1).map(|(a, b)| b - a).collect();
    let wins = differences.iter().filter(|difference| **difference > 0.0).count();
    let ties = differences.iter().filter(|difference| **difference == 0.0).count();
    Some(Paired {
        second_wins: wins as f64 / resamples as f64,
        ties: ties as f64 / resamples as f64,
        p_value: p_value(&differences, b - a),
        first: interval(a, scores.0),
        second: interval(b, scores.1),
        difference: interval(b - a, differences),
        resamples,
    })
}

/// As sacreBLEU: of the n sorted resamples the (n/40 + 1)-th from either end.
fn interval(value: f64, mut resamples: Vec<f64>) -> Interval {
    let mean = resamples.iter().sum::<f64>() / resamples.len() as f64;
    resamples.sort_by(f64::total_cmp);
    let tail = resamples.len() / 40;
    Interval { value, mean, low: resamples[tail], high: resamples[resamples.len() - 1 - tail] }
}

/// As sacreBLEU, which follows multeval and Moses: the share of the resamples whose difference, centred on their mean, is
/// greater than the true one; differences without sign, and 1 added above and below. Unlike there, systems that never
/// differ get 1.
fn p_value(differences: &[f64], difference: f64) -> f64 {
    if differences.iter().all(|difference| *difference == 0.0) {
        return 1.0;
    }
    let mean = differences.iter().map(|difference| difference.abs()).sum::<f64>() / differences.len() as f64;
    let chance = differences.iter().filter(|sampled| sampled.abs() - mean > difference.abs()).count();
    (chance + 1) as f64 / (differences.len() + 1) as f64
}
