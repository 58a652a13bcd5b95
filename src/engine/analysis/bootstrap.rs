//! Is one system better than another, or was it lucky with the test set? Paired bootstrap resampling
//! (Koehn 2004), which sacreBLEU calls `--paired-bs`, and approximate randomisation (Noreen 1989; Riezler and Maxwell
//! 2005), its `--paired-ar`, over the counts of sentences, for all pairs of any number of systems at once: a trial sums
//! the counts of each system once, whatever the number of its pairs. Imports its room.

pub mod significance;

use std::collections::HashMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use crate::analysis::{bleu, chrf, ter};

/// Pairs with fewer sentences have no p: resamples of so few say nothing of other sentences.
pub const LEAST_SENTENCES: usize = 30;
pub const TRIALS: usize = 10_000;
/// Trials for each pair of systems: Holm's p can be as small as one of so many.
const TRIALS_PER_PAIR: usize = 100;
/// Sentences that are resampled one by one. Beyond, groups of sentences are: each sentence is put into one by chance,
/// so the variance stays the same; exchanging groups is as exact a test as exchanging sentences.
const MOST_GROUPS: usize = 5000;
const BLOCK: usize = 8;
/// Numbers that a step of [`Trials`] goes through on each core, some milliseconds.
const STEP: usize = 10_000_000;

/// Counts of a sentence that add up to those of a corpus, of which a score is made.
pub trait BootstrapCounts: Copy + Send + Sync {
    /// The counts, as numbers that add up.
    type Numbers: Copy + Default + AsRef<[f64]> + AsMut<[f64]> + Send + Sync;
    /// Whether the system with the smaller score is the better one.
    const LOWER_IS_BETTER: bool = false;
    /// The numbers of a sentence.
    fn numbers(&self) -> Self::Numbers;
    /// The score of a corpus with these numbers: BLEU and chrF2 from 0 to 100, TER from 0 on.
    fn score(numbers: &Self::Numbers) -> f64;
}

impl BootstrapCounts for bleu::BleuCounts {
    type Numbers = [f64; 10];

    fn numbers(&self) -> Self::Numbers {
        let ([a, b, c, d], [e, f, g, h]) = (self.correct, self.total);
        [self.hypothesis_tokens, self.reference_tokens, a, b, c, d, e, f, g, h].map(|count| count as f64)
    }

    fn score(numbers: &Self::Numbers) -> f64 {
        let [hypothesis_tokens, reference_tokens, a, b, c, d, total @ ..] = numbers.map(|number| number as u64);
        Self { hypothesis_tokens, reference_tokens, correct: [a, b, c, d], total }.bleu().score
    }
}

impl BootstrapCounts for chrf::ChrfCounts {
    type Numbers = [f64; 18];

    fn numbers(&self) -> Self::Numbers {
        let all = [self.hypothesis, self.reference, self.correct];
        std::array::from_fn(|n| all[n / chrf::MAX_ORDER][n % chrf::MAX_ORDER] as f64)
    }

    fn score(numbers: &Self::Numbers) -> f64 {
        let part = |at: usize| std::array::from_fn(|n| numbers[at * chrf::MAX_ORDER + n] as u64);
        Self { hypothesis: part(0), reference: part(1), correct: part(2) }.score()
    }
}

impl BootstrapCounts for ter::TerCounts {
    type Numbers = [f64; 2];
    const LOWER_IS_BETTER: bool = true;

    fn numbers(&self) -> Self::Numbers {
        [self.edits as f64, self.length]
    }

    fn score(&[edits, length]: &Self::Numbers) -> f64 {
        Self { edits: edits as u64, length }.score()
    }
}

/// A number of each sentence, of which a corpus has the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanCounts(f64);

impl MeanCounts {
    /// Of a sentence; `None` where it has no number.
    pub fn of(number: f32) -> Option<Self> {
        (!number.is_nan()).then(|| Self(f64::from(number)))
    }
}

impl BootstrapCounts for MeanCounts {
    type Numbers = [f64; 2];

    fn numbers(&self) -> Self::Numbers {
        [self.0, 1.0]
    }

    fn score(&[sum, sentences]: &Self::Numbers) -> f64 {
        sum / sentences
    }
}

/// A figure of the test set, and where 95 % of its resamples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
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
    pub first: Interval,
    /// The score of the second.
    pub second: Interval,
    pub difference: Interval,
    /// Share of the resamples in which the second is better (Koehn 2004, section 4).
    pub second_wins: f64,
    /// Share of the resamples in which both score the same, which neither wins.
    #[serde(skip)]
    pub ties: f64,
    /// Two-sided, of the same resamples: twice the share of those on the rarer side of 0, ties on both. It is at most
    /// 0.05 exactly where 95 % of the differences leave 0 outside. `None` of fewer than [`LEAST_SENTENCES`].
    pub p_value: Option<f64>,
    /// That of approximate randomisation, where it was made: in how many trials the difference is at least as great,
    /// either way, when chance gives the outputs of each sentence to the one system or the other; 1 added above and
    /// below.
    #[serde(rename = "p_ar")]
    pub p_randomised: Option<f64>,
    /// Both corrected for the other pairs, where there are any.
    pub p_holm: Option<f64>,
    #[serde(rename = "p_ar_holm")]
    pub p_randomised_holm: Option<f64>,
    pub resamples: usize,
    /// Trials of the randomisation.
    pub trials: usize,
    pub sentences: usize,
}

/// How two systems are compared, by sacreBLEU's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedTests {
    pub bootstrap: usize,
    /// Trials of `--paired-ar`; 0: it is not made.
    pub randomisation: usize,
    pub seed: u64,
}

impl PairedTests {
    /// As many trials as p needs that is corrected for so many pairs of systems.
    pub fn of_pairs(pairs: usize) -> Self {
        let trials = TRIALS.max(TRIALS_PER_PAIR * pairs);
        Self { bootstrap: trials, randomisation: trials, seed: 12345 }
    }
}

/// The counts of systems, sentence by sentence; some may lack some sentences.
pub struct BootstrapSample<C: BootstrapCounts> {
    is_grouped: bool,
    rng: ChaCha8Rng,
    /// The groups of sentences that the same systems have.
    places: HashMap<Vec<bool>, Vec<usize>>,
    sizes: Vec<usize>,
    columns: Vec<Vec<Option<C::Numbers>>>,
}

impl<C: BootstrapCounts> BootstrapSample<C> {
    /// For so many sentences, of which some may not come.
    pub fn new(sentences: usize, seed: u64) -> Self {
        let (is_grouped, rng) = (sentences > MOST_GROUPS, ChaCha8Rng::seed_from_u64(seed));
        Self { is_grouped, rng, places: HashMap::new(), sizes: Vec::new(), columns: Vec::new() }
    }

    /// Adds a sentence: what is counted of each of the same systems, `None` of those that lack it.
    pub fn add(&mut self, counts: impl IntoIterator<Item = Option<C>>) {
        let numbers: Vec<Option<C::Numbers>> = counts.into_iter().map(|counts| Some(counts?.numbers())).collect();
        self.columns.resize_with(numbers.len(), Vec::new);
        let groups = self.places.entry(numbers.iter().map(Option::is_some).collect()).or_default();
        let is_full = self.is_grouped && groups.len() >= MOST_GROUPS;
        let group =
            if is_full { groups[self.rng.random_range(0..groups.len() as u32) as usize] } else { self.sizes.len() };
        for (column, numbers) in self.columns.iter_mut().zip(&numbers) {
            match (column.get_mut(group), numbers) {
                (Some(Some(sum)), Some(numbers)) => add(sum, numbers, 1.0),
                (Some(_), _) => {}
                (None, numbers) => column.push(*numbers),
            }
        }
        if !is_full {
            groups.push(group);
            self.sizes.push(0);
        }
        self.sizes[group] += 1;
    }
}

fn add<N: AsRef<[f64]> + AsMut<[f64]>>(sum: &mut N, numbers: &N, times: f64) {
    sum.as_mut().iter_mut().zip(numbers.as_ref()).for_each(|(sum, number)| *sum += times * number);
}

struct View<N> {
    system: usize,
    column: Vec<N>,
    is_there: Vec<bool>,
    total: N,
    scores: Vec<f64>,
}

struct TestedPair {
    views: [usize; 2],
    sentences: usize,
    chance: usize,
}

/// Both tests of pairs of systems, in steps. All pairs have the same resamples and exchanges, so p of a pair is the
/// same whatever others are tested with it.
pub struct Trials<C: BootstrapCounts> {
    tests: PairedTests,
    groups: usize,
    /// Of each system over all its sentences; `None` without any.
    pub scores: Vec<Option<f64>>,
    views: Vec<View<C::Numbers>>,
    pairs: Vec<TestedPair>,
    rng: ChaCha8Rng,
    resamples: usize,
    exchanges: usize,
}

impl<C: BootstrapCounts> Trials<C> {
    pub fn new(sample: &BootstrapSample<C>, pairs: &[(usize, usize)], tests: PairedTests) -> Self {
        let score = |column: &Vec<Option<C::Numbers>>| {
            let there = column.iter().flatten().copied();
            Some(C::score(&there.reduce(|mut sum, numbers| {
                add(&mut sum, &numbers, 1.0);
                sum
            })?))
        };
        let (mut views, none) = (Vec::new(), Vec::new());
        let pair = |&(first, second): &(usize, usize)| {
            let [first, second] = [first, second].map(|at| (at, sample.columns.get(at).unwrap_or(&none)));
            let is_there: Vec<bool> = first.1.iter().zip(second.1).map(|(a, b)| a.is_some() && b.is_some()).collect();
            let sentences =
                sample.sizes.iter().zip(&is_there).map(|(size, is_there)| if *is_there { *size } else { 0 }).sum();
            TestedPair { views: [first, second].map(|of| view::<C>(&mut views, of, &is_there)), sentences, chance: 0 }
        };
        let pairs = pairs.iter().map(pair).collect();
        let (groups, rng) = (sample.sizes.len(), ChaCha8Rng::seed_from_u64(tests.seed));
        let scores = sample.columns.iter().map(score).collect();
        Self { tests, groups, scores, views, pairs, rng, resamples: 0, exchanges: 0 }
    }

    /// How far it is, from 0 to 1.
    pub fn share(&self) -> f32 {
        let all = (self.tests.bootstrap + self.tests.randomisation).max(1);
        (self.resamples + self.exchanges) as f32 / all as f32
    }

    /// Some more trials, on all cores; false when all are done.
    pub fn step(&mut self) -> bool {
        let block = (self.groups * self.views.len() + self.pairs.len()) * size_of::<C::Numbers>();
        let trials = rayon::current_num_threads() * (STEP / block.max(1)).max(1) * BLOCK;
        if self.resamples < self.tests.bootstrap {
            let (groups, mut rng) = (self.groups as u32, self.rng.clone());
            self.resample(trials, &mut || rng.random_range(0..groups) as usize);
            self.rng = rng;
        } else if self.exchanges < self.tests.randomisation {
            self.exchange(trials);
        }
        self.resamples < self.tests.bootstrap || self.exchanges < self.tests.randomisation
    }

    /// Draws up to so many more resamples of the sentences with `draw`, which answers with their places from 0 on.
    pub fn resample(&mut self, most: usize, draw: &mut dyn FnMut() -> usize) {
        let count = most.min(self.tests.bootstrap - self.resamples);
        let (groups, mut blocks) = (self.groups, Vec::new());
        for trial in 0..count {
            if trial % BLOCK == 0 {
                blocks.push(vec![[0.0; BLOCK]; groups]);
            }
            (0..groups).for_each(|_| blocks[trial / BLOCK][draw()][trial % BLOCK] += 1.0);
        }
        let scores = |weights: &Vec<[f64; BLOCK]>| {
            self.sums(weights).iter().map(|sums| sums.map(|one| C::score(&one))).collect()
        };
        let scores: Vec<Vec<[f64; BLOCK]>> = blocks.par_iter().map(scores).collect();
        for (at, view) in self.views.iter_mut().enumerate() {
            view.scores.extend(scores.iter().flat_map(|block| block[at]).take(count));
        }
        self.resamples += count;
    }

    fn exchange(&mut self, most: usize) {
        let count = most.min(self.tests.randomisation - self.exchanges);
        let (groups, rng) = (self.groups, &mut self.rng);
        let mut draw = |trials: usize| (trials, (0..groups).map(|_| rng.random()).collect::<Vec<u8>>());
        let blocks: Vec<_> = (0..count).step_by(BLOCK).map(|from| draw(BLOCK.min(count - from))).collect();
        let chances = blocks.par_iter().map(|(trials, bits)| self.chances(*trials, bits)).collect::<Vec<_>>();
        for chances in chances {
            self.pairs.iter_mut().zip(chances).for_each(|(pair, chances)| pair.chance += chances);
        }
        self.exchanges += count;
    }

    fn chances(&self, count: usize, bits: &[u8]) -> Vec<usize> {
        let weight = |bits: &u8| std::array::from_fn(|trial| f64::from(bits >> trial & 1));
        let sums = self.sums(&bits.iter().map(weight).collect::<Vec<_>>());
        let chance = |pair: &TestedPair| {
            let [(one, given), (other, taken)] = pair.views.map(|at| (self.views[at].total, &sums[at]));
            let found = (C::score(&one) - C::score(&other)).abs();
            // Sums of fractions that are equal may differ in their last digits.
            let least = found - 1e-12 * (1.0 + C::score(&one).abs());
            let is_chance = |trial: &usize| {
                let (mut one, mut other) = (one, other);
                for (numbers, times) in [(&taken[*trial], 1.0), (&given[*trial], -1.0)] {
                    add(&mut one, numbers, times);
                    add(&mut other, numbers, -times);
                }
                (C::score(&one) - C::score(&other)).abs() >= least
            };
            (0..count).filter(is_chance).count()
        };
        self.pairs.iter().map(chance).collect()
    }

    fn sums(&self, weights: &[[f64; BLOCK]]) -> Vec<[C::Numbers; BLOCK]> {
        let sums = |view: &View<C::Numbers>| {
            let mut sums = [C::Numbers::default(); BLOCK];
            for (numbers, weights) in view.column.iter().zip(weights) {
                sums.iter_mut().zip(weights).for_each(|(sum, times)| add(sum, numbers, *times));
            }
            sums
        };
        self.views.iter().map(sums).collect()
    }

    /// What came of each pair, in their order, not yet corrected for each other; `None` of pairs without sentences, and
    /// without resamples.
    pub fn finish(&mut self) -> Vec<Option<Paired>> {
        self.pairs.iter().map(|pair| self.found(pair)).collect()
    }

    fn found(&self, pair: &TestedPair) -> Option<Paired> {
        let [first, second] = pair.views.map(|at| &self.views[at]);
        if pair.sentences == 0 || first.scores.is_empty() {
            return None;
        }
        let differences: Vec<f64> = first.scores.iter().zip(&second.scores).map(|(a, b)| b - a).collect();
        let share = |is: &dyn Fn(f64) -> bool| {
            differences.iter().filter(|difference| is(**difference)).count() as f64 / differences.len() as f64
        };
        let [a, b] = [first, second].map(|view| C::score(&view.total));
        let of_enough = |p: f64| (pair.sentences >= LEAST_SENTENCES).then_some(p);
        let p_randomised = (pair.chance + 1) as f64 / (self.exchanges + 1) as f64;
        Some(Paired {
            second_wins: share(&|difference| if C::LOWER_IS_BETTER { difference < 0.0 } else { difference > 0.0 }),
            ties: share(&|difference| difference == 0.0),
            p_value: of_enough(p_value(&differences)),
            p_randomised: of_enough(p_randomised).filter(|_| self.exchanges > 0),
            p_holm: None,
            p_randomised_holm: None,
            first: interval(a, first.scores.clone()),
            second: interval(b, second.scores.clone()),
            difference: interval(b - a, differences),
            resamples: self.resamples,
            trials: self.exchanges,
            sentences: pair.sentences,
        })
    }
}

fn view<C: BootstrapCounts>(
    views: &mut Vec<View<C::Numbers>>, (system, column): (usize, &Vec<Option<C::Numbers>>), is_there: &[bool],
) -> usize {
    views.iter().position(|view| view.system == system && view.is_there == is_there).unwrap_or_else(|| {
        let both =
            column.iter().zip(is_there).map(|(numbers, is_there)| numbers.filter(|_| *is_there).unwrap_or_default());
        let (column, mut total): (Vec<C::Numbers>, _) = (both.collect(), C::Numbers::default());
        for numbers in &column {
            add(&mut total, numbers, 1.0);
        }
        views.push(View { system, column, is_there: is_there.to_vec(), total, scores: Vec::new() });
        views.len() - 1
    })
}

/// The mean of numbers, and where 95 % of those of its resamples lie. The same seed gives the same answer everywhere.
/// `None` without numbers or resamples.
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
