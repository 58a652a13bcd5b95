//! The alignment error rate (Och and Ney 2003, section 6), with precision and recall. Imports `text`.
//!
//! A are the links found, S the sure links of the annotators, P their possible ones, which include S. Sentences are
//! pooled: counts add up over the corpus and the rates are taken once.

use crate::text::links::{Link, Links};

/// What the rates are made of; counts of sentences add up to those of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AerCounts {
    pub found: u64,
    pub sure: u64,
    pub found_sure: u64,
    pub found_possible: u64,
}

/// The rates of a corpus, each from 0 to 1. A rate whose denominator is 0 has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AerRates {
    /// |A ∩ P| / |A|
    pub precision: Option<f64>,
    /// |A ∩ S| / |S|
    pub recall: Option<f64>,
    /// AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    pub aer: Option<f64>,
}

impl AerCounts {
    /// Counts one sentence pair; a link that is found twice counts once.
    pub fn of(found: &[Link], gold: &Links) -> Self {
        let mut found = found.to_vec();
        found.sort_unstable();
        found.dedup();
        let among = |is: &dyn Fn(Link) -> bool| found.iter().filter(|link| is(**link)).count() as u64;
        Self {
            found: found.len() as u64,
            sure: gold.sure().len() as u64,
            found_sure: among(&|link| gold.is_sure(link)),
            found_possible: among(&|link| gold.is_possible(link)),
        }
    }

    pub fn rates(&self) -> AerRates {
        let rate = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        AerRates {
            precision: rate(self.found_possible, self.found),
            recall: rate(self.found_sure, self.sure),
            aer: rate(self.found_sure + self.found_possible, self.found + self.sure).map(|right| 1.0 - right),
        }
    }
}

sums!(AerCounts: found, sure, found_sure, found_possible; each);
