//! How much of the weight of some output words lies on the words of a hit: of each row alpha_i of an output word that a query
//! names behind `|`, the sum over the source words of the hit. Imports its room and `text`.

use std::collections::BTreeMap;

use crate::analysis::concordance::{ConcordanceQuery, ConcordanceSentence};
use crate::text::cells::{CellTable, TableCell};
use crate::{analysis::alignment::Alignment, text::words::folded};

/// Means of sentences, one after the other (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
struct WeightMeans {
    sentences: u64,
    pairs: u64,
    mean: f64,
    squares: f64,
}

impl WeightMeans {
    fn add(&mut self, mean: f64, pairs: u64) {
        self.sentences += 1;
        self.pairs += pairs;
        let distance = mean - self.mean;
        self.mean += distance / self.sentences as f64;
        self.squares += distance * (mean - self.mean);
    }

    fn span(&self) -> Option<(f64, f64)> {
        let free = self.sentences.checked_sub(1).filter(|free| *free > 0)? as f64;
        let width = quantile(free) * (self.squares / free / self.sentences as f64).sqrt();
        Some(((self.mean - width).max(0.0), (self.mean + width).min(1.0)))
    }
}

/// The quantile of Student's t of so many degrees of freedom that leaves 2.5 % above it: of few as tables have it, of
/// more by its expansion about the normal distribution (Abramowitz and Stegun, 26.7.5).
fn quantile(free: f64) -> f64 {
    const FEW: [f64; 6] = [12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912];
    const TERMS: [f64; 5] = [1.959_964, 2.372_271, 2.822_499, 2.555_853, 1.589_532];
    FEW.get(free as usize - 1).copied().unwrap_or_else(|| TERMS.iter().rev().fold(0.0, |sum, term| sum / free + term))
}

/// Weights of the output words of a query on its hits, by each system, sentence by sentence.
pub struct WeightTally {
    query: ConcordanceQuery,
    names: Vec<String>,
    words: Vec<BTreeMap<Option<String>, WeightMeans>>,
}

impl WeightTally {
    pub fn new(names: Vec<String>, query: ConcordanceQuery) -> Option<Self> {
        let is_of_both = !query.source.is_empty() && !query.output.is_empty();
        is_of_both.then(|| Self { words: vec![BTreeMap::new(); names.len()], query, names })
    }

    /// Adds a sentence of a system: its words, links where the query asks for them, and alpha between these words.
    pub fn add(&mut self, system: usize, sentence: &ConcordanceSentence<'_>, alpha: &Alignment) {
        let mut own: BTreeMap<Option<String>, (f64, u64)> = BTreeMap::new();
        for (hit, i) in self.query.pairs(sentence) {
            let row = alpha.row(i);
            let weight: f64 = hit.iter().filter_map(|j| row.get(*j)).map(|weight| f64::from(*weight)).sum();
            for word in [None, Some(folded(&sentence.output[i]))] {
                let (sum, pairs) = own.entry(word).or_default();
                (*sum, *pairs) = (*sum + weight, *pairs + 1);
            }
        }
        for (word, (sum, pairs)) in own {
            self.words[system].entry(word).or_default().add(sum / pairs as f64, pairs);
        }
    }

    /// A row for each system and output word, the greatest weight first.
    pub fn table(&self) -> CellTable {
        let mut rows = Vec::new();
        for (name, words) in self.names.iter().zip(&self.words) {
            let mut all: Vec<_> = words.iter().collect();
            all.sort_by(|(a, one), (b, other)| a.is_some().cmp(&b.is_some()).then(other.mean.total_cmp(&one.mean)));
            rows.extend(all.into_iter().map(|(word, means)| {
                let (low, high) = means.span().unzip();
                let numbers = [Some(means.mean), low, high].map(TableCell::Number);
                let texts = [name.as_str(), word.as_deref().unwrap_or("(all)")].map(TableCell::from);
                let counts = [means.sentences, means.pairs].map(TableCell::Count);
                texts.into_iter().chain(numbers).chain(counts).collect()
            }));
        }
        CellTable { head: vec!["system", "word", "weight", "low", "high", "sentences", "pairs"], rows }
    }
}
