//! Correlation of two lists of numbers, such as alpha_i and what leaving each source word out does: Pearson's, Spearman's
//! and Kendall's; and whether a metric says what people say: these of systems and of translations, and how often the two put a pair
//! the same way: of systems (Kocmi et al. 2021), and of the translations of a segment with ties that are calibrated (acc_eq, Deutsch,
//! Foster and Freitag 2023), each over segments that are drawn again, too. Imports its room.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::analysis::bootstrap::{Interval, interval};

/// Numbers of the same things, and the orders of both.
pub struct Ranked {
    numbers: [Vec<f64>; 2],
    orders: [Vec<u32>; 2],
    place: Vec<usize>,
}

impl Ranked {
    pub fn new(first: Vec<f64>, second: Vec<f64>) -> Self {
        let numbers = [first, second];
        let orders = numbers.each_ref().map(|of| {
            let mut order: Vec<u32> = (0..of.len() as u32).collect();
            order.sort_by(|one, other| of[*one as usize].total_cmp(&of[*other as usize]));
            order
        });
        let mut place = vec![0; numbers[0].len()];
        for (n, ties) in ties(&orders[1], &numbers[1]).enumerate() {
            for at in ties {
                place[*at as usize] = n + 1;
            }
        }
        Self { numbers, orders, place }
    }

    /// Pearson's, Spearman's and Kendall's correlation, where each thing is there so many times.
    pub fn correlations(&self, times: &[f64]) -> [Option<f64>; 3] {
        let ranks = [0, 1].map(|n| ranks(&self.orders[n], &self.numbers[n], times));
        [pearson(&self.numbers, times), pearson(&ranks, times), self.kendall(times)]
    }

    /// Kendall's tau-b (Kendall 1945): pairs in the same order less pairs in opposite order, over the pairs that are no
    /// ties in the one list and in the other, as a geometric mean.
    fn kendall(&self, times: &[f64]) -> Option<f64> {
        let pairs = |count: f64| count * (count - 1.0) / 2.0;
        let weight = |all: &[u32]| all.iter().map(|at| times[*at as usize]).sum::<f64>();
        let tied = |n: usize| ties(&self.orders[n], &self.numbers[n]).map(|all| pairs(weight(all))).sum::<f64>();
        let all = pairs(times.iter().sum());
        // How many of the second are below each, among those whose first is less: a binary indexed tree.
        let mut tree = vec![0.0; self.place.len() + 1];
        let below = |tree: &[f64], mut at: usize| {
            let mut sum = 0.0;
            while at > 0 {
                sum += tree[at];
                at &= at - 1;
            }
            sum
        };
        let (mut same, mut seen) = (0.0, 0.0);
        for equal in ties(&self.orders[0], &self.numbers[0]) {
            for (place, times) in equal.iter().map(|at| (self.place[*at as usize], times[*at as usize])) {
                same += times * (below(&tree, place - 1) + below(&tree, place) - seen);
            }
            for (mut at, times) in equal.iter().map(|at| (self.place[*at as usize], times[*at as usize])) {
                seen += times;
                while at < tree.len() {
                    tree[at] += times;
                    at += at & at.wrapping_neg();
                }
            }
        }
        let open = (all - tied(0)) * (all - tied(1));
        (open > 0.0).then(|| same / open.sqrt())
    }
}

fn ties<'a>(order: &'a [u32], numbers: &'a [f64]) -> impl Iterator<Item = &'a [u32]> {
    order.chunk_by(|one, other| numbers[*one as usize] == numbers[*other as usize])
}

fn ranks(order: &[u32], numbers: &[f64], times: &[f64]) -> Vec<f64> {
    let (mut ranks, mut before) = (vec![0.0; order.len()], 0.0);
    for equal in ties(order, numbers) {
        let count: f64 = equal.iter().map(|at| times[*at as usize]).sum();
        for at in equal {
            ranks[*at as usize] = before + f64::midpoint(count, 1.0);
        }
        before += count;
    }
    ranks
}

fn pearson([first, second]: &[Vec<f64>; 2], times: &[f64]) -> Option<f64> {
    let all: f64 = times.iter().sum();
    let mean = |of: &[f64]| of.iter().zip(times).map(|(number, times)| number * times).sum::<f64>() / all;
    let (one, other) = (mean(first), mean(second));
    let (mut both, mut squares) = (0.0, [0.0; 2]);
    for ((a, b), times) in first.iter().zip(second).zip(times) {
        let (a, b) = (a - one, b - other);
        both += times * a * b;
        squares = [squares[0] + times * a * a, squares[1] + times * b * b];
    }
    // What is left of equal numbers by rounding is no spread.
    let is_open =
        squares.iter().zip([one, other]).all(|(square, mean)| *square > all * (1e-12 * mean).powi(2).max(1e-24));
    is_open.then(|| both / (squares[0] * squares[1]).sqrt())
}

/// Kendall's tau-b. `None` where a list is all ties or has fewer than two numbers.
pub fn kendall(a: &[f32], b: &[f32]) -> Option<f64> {
    correlations(a, b)[2]
}

/// Numbers of a signed row below this share of its greatest, by size, count as 0.
const CLEAR: f32 = 0.05;

/// [`kendall`] of weights and of what words speak for or against. Where some numbers are below 0, those smaller than a
/// twentieth of the greatest, by size, are ties: noise around 0 does not decide.
pub fn kendall_of_effects(weights: &[f32], effects: &[f32]) -> Option<f64> {
    let most = effects.iter().fold(0.0_f32, |most, effect| most.max(effect.abs()));
    let is_signed = effects.iter().any(|effect| *effect < 0.0);
    let clear = |effect: &f32| if is_signed && effect.abs() < CLEAR * most { 0.0 } else { *effect };
    kendall(weights, &effects.iter().map(clear).collect::<Vec<_>>())
}

/// Spearman's rho: the correlation of the ranks, ties having the mean of theirs. `None` as for [`kendall`].
pub fn spearman(a: &[f32], b: &[f32]) -> Option<f64> {
    correlations(a, b)[1]
}

fn correlations(a: &[f32], b: &[f32]) -> [Option<f64>; 3] {
    let count = a.len().min(b.len());
    let [a, b] = [a, b].map(|all| all[..count].iter().map(|number| f64::from(*number)).collect());
    Ranked::new(a, b).correlations(&vec![1.0; count])
}

/// A translation: its segment and its system, each from 0, what a metric says of it and what people do, both so that
/// more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredPair {
    pub segment: u32,
    pub system: u32,
    pub metric: f64,
    pub people: f64,
}

pub const STATISTICS: [&str; 4] = ["Pearson", "Spearman", "Kendall tau-b", "pairwise accuracy"];
const WORK: (usize, usize, usize) = (20_000_000, 100, 1000);
const MOST_PAIRS: usize = 4_000_000;

struct TiedPair {
    apart: f64,
    segment: u32,
    /// Each segment counts the same, however many pairs it has.
    share: f64,
    /// What is won where the metric ties them: the share of a tie of people, less that of a pair in their order.
    gain: f64,
}

fn calibrated(pairs: &[TiedPair], times: &[f64]) -> Option<f64> {
    let sum = |of: fn(&TiedPair) -> f64| pairs.iter().map(|pair| times[pair.segment as usize] * of(pair)).sum::<f64>();
    let (all, mut right) = (sum(|pair| pair.share), sum(|pair| -pair.gain.min(0.0)));
    let mut best = if pairs.first().is_some_and(|pair| pair.apart > 0.0) { right } else { 0.0 };
    for tied in pairs.chunk_by(|one, other| one.apart == other.apart) {
        right += tied.iter().map(|pair| times[pair.segment as usize] * pair.gain).sum::<f64>();
        best = best.max(right);
    }
    (all > 0.0).then(|| best / all)
}

fn pairs(all: &[ScoredPair]) -> Vec<TiedPair> {
    let of = |segment: &[ScoredPair]| segment.len() * (segment.len() - 1) / 2;
    let segments = || all.chunk_by(|one, other| one.segment == other.segment);
    let is_few = segments().map(of).sum::<usize>() <= MOST_PAIRS;
    let mut pairs = Vec::new();
    for segment in segments().filter(|_| is_few) {
        let share = 1.0 / of(segment) as f64;
        for (n, one) in segment.iter().enumerate() {
            pairs.extend(segment[..n].iter().map(|other| {
                let (metric, people) = (one.metric - other.metric, one.people - other.people);
                let gain = f64::from(i8::from(people == 0.0) - i8::from(metric * people > 0.0));
                TiedPair { apart: metric.abs(), segment: one.segment, share, gain: share * gain }
            }));
        }
    }
    pairs.sort_by(|one, other| one.apart.total_cmp(&other.apart));
    pairs
}

fn of_systems(all: &[ScoredPair], times: &[f64]) -> [Option<f64>; 4] {
    let mut sums: Vec<[f64; 3]> = Vec::new();
    for one in all {
        let (at, times) = (one.system as usize, times[one.segment as usize]);
        sums.resize(sums.len().max(at + 1), [0.0; 3]);
        sums[at] = [sums[at][0] + times, sums[at][1] + times * one.metric, sums[at][2] + times * one.people];
    }
    sums.retain(|sum| sum[0] > 0.0);
    let [first, second] = [1, 2].map(|n| sums.iter().map(|sum| sum[n] / sum[0]).collect::<Vec<f64>>());
    let pairs = || (0..sums.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let order = |of: &[f64], (one, other): (usize, usize)| of[one].partial_cmp(&of[other]);
    let same = pairs().filter(|pair| order(&first, *pair) == order(&second, *pair)).count();
    let accuracy = (sums.len() > 1).then(|| same as f64 / pairs().count() as f64);
    let [pearson, spearman, kendall] = Ranked::new(first, second).correlations(&vec![1.0; sums.len()]);
    [pearson, spearman, kendall, accuracy]
}

/// How a metric and people agree about translations, those of a segment one behind the other: [`STATISTICS`] of the
/// means of systems, then of all translations and the pairs of each segment; each with where 95 % of the resamples of
/// so many segments lie. `None` where nothing differs. The same seed gives the same answer everywhere.
pub fn agreement(all: &[ScoredPair], seed: u64) -> Vec<Option<Interval>> {
    let segments = all.iter().map(|one| one.segment as usize + 1).max().unwrap_or_default();
    let ranked = Ranked::new(all.iter().map(|one| one.metric).collect(), all.iter().map(|one| one.people).collect());
    let pairs = pairs(all);
    let numbers = |times: &[f64]| {
        let own: Vec<f64> = all.iter().map(|one| times[one.segment as usize]).collect();
        let of_segments = ranked.correlations(&own).into_iter().chain([calibrated(&pairs, times)]);
        of_systems(all, times).into_iter().chain(of_segments).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = numbers(&vec![1.0; segments]).into_iter().map(|number| (number, Vec::new())).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..(WORK.0 / all.len().max(1)).clamp(WORK.1, WORK.2) {
        let mut times = vec![0.0; segments];
        (0..segments).for_each(|_| times[rng.random_range(0..segments)] += 1.0);
        found.iter_mut().zip(numbers(&times)).for_each(|((_, resamples), number)| resamples.extend(number));
    }
    let of = |(value, resamples): (Option<f64>, Vec<f64>)| Some(interval(value?, resamples));
    found.into_iter().map(|one| if one.1.is_empty() { None } else { of(one) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_around_0_does_not_decide_what_goes_with_alpha() {
        // Both look at the second word most; what the others lose is noise.
        let (alpha, lost) = ([0.05, 0.8, 0.1, 0.05], [0.01, 5.2, -0.02, 0.004]);
        assert!(kendall(&alpha, &lost).is_some_and(|tau| tau < 0.5));
        let clear = kendall_of_effects(&alpha, &lost).expect("not all ties");
        assert!((clear - 3.0 / 15.0f64.sqrt()).abs() < 1e-9, "3 of the 3 clear pairs, 5 pairs of alpha: {clear}");
        // Clear numbers below 0 count, and where none is below 0 all do.
        assert!(kendall_of_effects(&[0.2, 0.8], &[5.0, -4.0]).is_some_and(|tau| tau == -1.0));
        let js = [0.01, 5.2, 0.02, 0.004];
        assert_eq!(kendall_of_effects(&alpha, &js), kendall(&alpha, &js));
    }

    /// Values of scipy.stats.kendalltau and scipy.stats.spearmanr, and of counting by hand.
    #[test]
    fn known_correlations() {
        for (a, b, tau, rho) in [
            (&[1.0, 2.0, 3.0][..], &[10.0, 20.0, 30.0][..], Some(1.0), Some(1.0)),
            (&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], Some(-1.0), Some(-1.0)),
            (&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], Some(4.0 / 6.0), Some(0.8)),
            // one tie in the first list: 5 pairs there and 6 in the other, 4 more in order than not
            (&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 4.0, 3.0], Some(3.0 / 30.0f64.sqrt()), Some(0.737_864_787_372_621_9)),
            // 5 pairs in either list, 1 of them in order and 4 not
            (&[1.0, 1.0, 2.0, 3.0], &[4.0, 3.0, 3.0, 1.0], Some(-4.0 / 5.0), Some(-0.833_333_333_333_333_5)),
            (&[1.0, 1.0], &[1.0, 2.0], None, None),
            (&[1.0], &[1.0], None, None),
            (&[], &[], None, None),
        ] {
            for (found, expected) in [(kendall(a, b), tau), (spearman(a, b), rho)] {
                let near = found.zip(expected).map_or(found == expected, |(a, b)| (a - b).abs() < 1e-12);
                assert!(near, "{a:?} {b:?}: {found:?} is not {expected:?}");
            }
        }
    }
}
