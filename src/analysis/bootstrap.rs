//! Floor 5: is one system better than another, or was it lucky with the test set? Paired bootstrap resampling
//! (Koehn 2004), which sacreBLEU calls `--paired-bs`, and approximate randomisation (Noreen 1989; Riezler and Maxwell
//! 2005), its `--paired-ar`, over the counts of sentences; and what p is worth where many pairs are tested (Holm 1979).
//! Imports its room.

use std::iter::Sum;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::analysis::{bleu, chrf};

/// Counts of a sentence that add up to those of a corpus, of which a score is made.
pub trait BootstrapCounts: for<'a> Sum<&'a Self> {
    /// The score of a corpus with these counts: BLEU and chrF2 from 0 to 100.
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

/// A number of each sentence, of which a corpus has the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanCounts {
    sum: f64,
    sentences: f64,
}

sums!(MeanCounts: sum, sentences; each);

impl MeanCounts {
    /// Of a sentence; `None` where it has no number.
    pub fn of(number: f32) -> Option<Self> {
        (!number.is_nan()).then(|| Self { sum: f64::from(number), sentences: 1.0 })
    }
}

impl BootstrapCounts for MeanCounts {
    fn score(&self) -> f64 {
        self.sum / self.sentences
    }
}

/// A figure of the test set, and where 95 % of its resamples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    #[serde(skip)]
    pub ties: f64,
    /// Two-sided, of the same resamples: twice the share of those on the rarer side of 0, ties on both. It is at most
    /// 0.05 exactly where 95 % of the differences leave 0 outside.
    pub p_value: f64,
    /// That of [`randomised`], where it was found.
    #[serde(rename = "p_ar")]
    pub p_randomised: Option<f64>,
    /// Both corrected for the other pairs, where there are any.
    pub p_holm: Option<f64>,
    #[serde(rename = "p_ar_holm")]
    pub p_randomised_holm: Option<f64>,
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
        p_value: p_value(&differences),
        p_randomised: None,
        p_holm: None,
        p_randomised_holm: None,
        first: interval(a, scores.0),
        second: interval(b, scores.1),
        difference: interval(b - a, differences),
        resamples,
    })
}

/// The mean of numbers, and where 95 % of those of its resamples lie. The same seed gives the same answer everywhere. `None` without
/// numbers or resamples.
pub fn resampled_mean(numbers: &[f64], resamples: usize, seed: u64) -> Option<Interval> {
    let count = u32::try_from(numbers.len()).ok().filter(|count| *count > 0)?;
    if resamples == 0 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mean = |sum: f64| sum / f64::from(count);
    let means = (0..resamples).map(|_| mean((0..count).map(|_| numbers[rng.random_range(0..count) as usize]).sum()));
    let means = means.collect();
    Some(interval(mean(numbers.iter().sum()), means))
}

/// As sacreBLEU: of the n sorted resamples the (n/40 + 1)-th from either end.
pub(crate) fn interval(value: f64, mut resamples: Vec<f64>) -> Interval {
    let mean = resamples.iter().sum::<f64>() / resamples.len() as f64;
    resamples.sort_by(f64::total_cmp);
    let tail = resamples.len() / 40;
    Interval { value, mean, low: resamples[tail], high: resamples[resamples.len() - 1 - tail] }
}

/// Never 0: fewer resamples cannot show less than one of them.
fn p_value(differences: &[f64]) -> f64 {
    let count = |is: &dyn Fn(f64) -> bool| differences.iter().filter(|difference| is(**difference)).count();
    let rarer = count(&|difference| difference <= 0.0).min(count(&|difference| difference >= 0.0));
    let resamples = differences.len() as f64;
    (2.0 * rarer as f64 / resamples).clamp(1.0 / (resamples + 1.0), 1.0)
}

/// The p-value of approximate randomisation: how often a difference at least as great, either way, comes about when the
/// outputs of each sentence are given to the one system or the other by chance; 1 added above and below. As sacreBLEU's,
/// which counts greater differences alone. The same seed gives the same answer everywhere. `None` as for [`paired`].
pub fn randomised<C: BootstrapCounts>(first: &[C], second: &[C], trials: usize, seed: u64) -> Option<f64> {
    if first.is_empty() || first.len() != second.len() || trials == 0 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut swaps = vec![false; first.len()];
    let difference = |swaps: &[bool]| {
        let side = |is_second: bool| {
            let one = |((a, b), swap): ((_, _), &bool)| if *swap == is_second { a } else { b };
            first.iter().zip(second).zip(swaps).map(one).sum::<C>().score()
        };
        (side(true) - side(false)).abs()
    };
    let found = difference(&swaps);
    let mut chance = 0;
    for _ in 0..trials {
        for swap in &mut swaps {
            *swap = rng.random();
        }
        chance += usize::from(difference(&swaps) >= found);
    }
    Some((chance + 1) as f64 / (trials + 1) as f64)
}

/// Holm's correction: of n tests the k-th smallest p times n - k + 1, at least that of the one before it and at most 1. Taking those
/// up to 0.05 errs in any of them in one of twenty cases, however the tests hang together.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let (mut adjusted, mut before) = (vec![0.0; p.len()], 0.0_f64);
    for (k, at) in order.into_iter().enumerate() {
        before = before.max(p[at] * (p.len() - k) as f64).min(1.0);
        adjusted[at] = before;
    }
    adjusted
}

/// Corrects the p of pairs of systems by one measure for each other; one pair alone needs no correction.
pub fn correct(mut pairs: Vec<&mut Paired>) {
    if pairs.len() < 2 {
        return;
    }
    let corrected = |p: fn(&Paired) -> Option<f64>| {
        let all: Option<Vec<f64>> = pairs.iter().map(|pair| p(pair)).collect();
        all.map(|all| holm(&all))
    };
    let (bootstrap, randomised) = (corrected(|pair| Some(pair.p_value)), corrected(|pair| pair.p_randomised));
    for (n, pair) in pairs.iter_mut().enumerate() {
        let at = |all: &Option<Vec<f64>>| all.as_ref().map(|all| all[n]);
        (pair.p_holm, pair.p_randomised_holm) = (at(&bootstrap), at(&randomised));
    }
}
