//! Numbers of minimal pairs beside their probabilities, and their means over many. A new one is one line of
//! [`PAIR_FIGURES`]. Imports its room and `bootstrap`.

use crate::analysis::contrast::minimal::{MinimalPair, wilson};
use crate::analysis::{bootstrap::resampled_mean, contrast::depends::PairDependence};

type PairWord = (&'static str, fn(&PairDependence) -> Option<&str>);

/// One line of [`PAIR_FIGURES`].
pub struct PairFigure {
    /// Its columns: the number of a pair, or the mean; where 95 % of the means lie, from and to; how many pairs have
    /// it.
    pub heads: [&'static str; 4],
    /// A word that stands before it in the table of pairs.
    pub word: Option<PairWord>,
    /// It is 0 or 1.
    pub is_share: bool,
    /// Of a pair; `None` where the pair has none.
    pub of: fn(&MinimalPair) -> Option<f64>,
}

macro_rules! heads {
    ($name:literal) => {
        [$name, concat!($name, "_low"), concat!($name, "_high"), concat!($name, "_pairs")]
    };
}

/// Every number of a pair beside its probabilities, in the order of their columns.
pub const PAIR_FIGURES: &[PairFigure] = &[
    PairFigure {
        heads: heads!("changed_accuracy"),
        word: None,
        is_share: true,
        of: |pair| {
            let [good, bad] = pair.depends.changed.as_ref()?.log_p;
            Some(share(good > bad))
        },
    },
    PairFigure {
        heads: heads!("difference_change"),
        word: None,
        is_share: false,
        of: |pair| {
            let [good, bad] = pair.depends.changed.as_ref()?.log_p;
            Some(good - bad - pair.difference())
        },
    },
    PairFigure {
        heads: heads!("word_change"),
        word: None,
        is_share: false,
        of: |pair| {
            let [good, bad] = pair.depends.changed.as_ref()?.word_log_p;
            Some(good - bad - pair.word_difference())
        },
    },
    PairFigure {
        heads: heads!("alpha"),
        word: Some(("looks_at", |depends| Some(&depends.looks_at.as_ref()?.word))),
        is_share: false,
        of: |pair| Some(pair.depends.looks_at.as_ref()?.alpha),
    },
    PairFigure {
        heads: heads!("left_out"),
        word: None,
        is_share: false,
        of: |pair| Some(pair.depends.looks_at.as_ref()?.lost[0]),
    },
    PairFigure {
        heads: heads!("left_out_word"),
        word: None,
        is_share: false,
        of: |pair| {
            let [good, bad] = pair.depends.looks_at.as_ref()?.lost;
            Some(good - bad)
        },
    },
];

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// The mean of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairMean {
    pub pairs: u64,
    pub mean: f64,
    /// Where it lies with a confidence of 95 %: of a share by Wilson's score, else of resamples.
    pub low: f64,
    pub high: f64,
}

const RESAMPLES: (usize, u64) = (1000, 1);

impl PairFigure {
    /// The mean over pairs; `None` where none has it.
    pub fn mean<'a>(&self, pairs: impl Iterator<Item = &'a MinimalPair>) -> Option<PairMean> {
        let numbers: Vec<f64> = pairs.filter_map(self.of).collect();
        let pairs = numbers.len() as u64;
        if self.is_share {
            let right = numbers.iter().filter(|number| **number > 0.0).count() as u64;
            let (low, high) = wilson(right, pairs)?;
            return Some(PairMean { pairs, mean: right as f64 / pairs as f64, low, high });
        }
        let found = resampled_mean(&numbers, RESAMPLES.0, RESAMPLES.1)?;
        Some(PairMean { pairs, mean: found.value, low: found.low, high: found.high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::contrast::depends::{ChangedPair, LookedAt};

    fn lost(lost: [f64; 2]) -> MinimalPair {
        let looks_at = Some(LookedAt { word: "shoe".to_owned(), alpha: 0.5, lost });
        MinimalPair { depends: PairDependence { looks_at, ..PairDependence::default() }, ..MinimalPair::default() }
    }

    fn figure(name: &str) -> &'static PairFigure {
        PAIR_FIGURES.iter().find(|figure| figure.heads[0] == name).expect("a figure")
    }

    #[test]
    fn means_are_of_the_pairs_that_have_a_number_and_lie_within_their_interval() {
        let pairs = [lost([1.0, 0.5]), lost([3.0, -0.5]), MinimalPair::default(), lost([2.0, 0.0])];
        let mean = figure("left_out").mean(pairs.iter()).expect("pairs");
        assert_eq!((mean.pairs, mean.mean), (3, 2.0));
        assert!(1.0 <= mean.low && mean.low < 2.0 && 2.0 < mean.high && mean.high <= 3.0, "{mean:?}");
        assert_eq!(figure("left_out_word").mean(pairs.iter()).map(|mean| mean.mean), Some(2.0));
        assert_eq!(figure("changed_accuracy").mean(pairs.iter()), None);
    }

    #[test]
    fn what_interventions_change_is_the_difference_of_differences() {
        let mut pair = MinimalPair { log_p: [-1.0, -3.0], word_log_p: [-0.5, -1.0], ..MinimalPair::default() };
        pair.depends.changed = Some(ChangedPair { log_p: [-4.0, -3.5], word_log_p: [-2.0, -1.0] });
        let said = ["changed_accuracy", "difference_change", "word_change"].map(|name| (figure(name).of)(&pair));
        assert_eq!(said, [Some(0.0), Some(-2.5), Some(-1.5)]);
        let mean = figure("changed_accuracy").mean([&pair].into_iter()).expect("a pair");
        assert_eq!((mean.mean, mean.low), (0.0, 0.0));
    }
}
