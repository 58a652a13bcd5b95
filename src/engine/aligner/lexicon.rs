//! Which words translate which: t(target | source) and t(source | target) of all pairs of words that may belong
//! together. Each source word has a small hash table of its own, of target ids; the place in it is the number of the
//! pair, under which both directions keep what they know.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::aligner::corpus::AlignerText;
use crate::aligner::counts::{add, value, zeros};

const EMPTY: u32 = u32::MAX;

/// The number of a pair that is not there.
pub const NONE: u32 = u32::MAX;

/// A pair of words and what both directions say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexiconEntry {
    pub target: u32,
    pub forward: f32,
    pub reverse: f32,
}

/// The tables of all source words.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    /// Where the table of each source word starts; its size is a power of 2, or 0.
    starts: Vec<u32>,
    entries: Vec<LexiconEntry>,
    /// t(target | NULL), by target word.
    pub null_forward: Vec<f32>,
    /// t(source | NULL), by source word.
    pub null_reverse: Vec<f32>,
}

impl Lexicon {
    /// Tables of what is given for each source word.
    pub fn new(rows: &[Vec<LexiconEntry>], null_forward: Vec<f32>, null_reverse: Vec<f32>) -> Self {
        let size =
            |row: &Vec<LexiconEntry>| if row.is_empty() { 0 } else { (row.len() * 4 / 3 + 1).next_power_of_two() };
        let mut starts = vec![0];
        let mut end = 0;
        for row in rows {
            end += size(row) as u32;
            starts.push(end);
        }
        let blank = LexiconEntry { target: EMPTY, forward: 0.0, reverse: 0.0 };
        let mut lexicon = Self { starts, entries: vec![blank; end as usize], null_forward, null_reverse };
        for (source, row) in rows.iter().enumerate() {
            for entry in row {
                let at = lexicon.place(source as u32, entry.target);
                lexicon.entries[at] = *entry;
            }
        }
        lexicon
    }

    #[inline]
    fn place(&self, source: u32, target: u32) -> usize {
        let (start, end) = (self.starts[source as usize] as usize, self.starts[source as usize + 1] as usize);
        let mask = end - start - 1;
        let mut at = (target.wrapping_mul(0x9e37_79b1) >> 8) as usize & mask;
        loop {
            let found = self.entries[start + at].target;
            if found == target || found == EMPTY {
                return start + at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    pub fn find(&self, source: u32, target: u32) -> u32 {
        if self.starts[source as usize] == self.starts[source as usize + 1] {
            return NONE;
        }
        let at = self.place(source, target);
        if self.entries[at].target == target { at as u32 } else { NONE }
    }

    #[inline]
    pub fn pair(&self, pair: u32) -> &LexiconEntry {
        &self.entries[pair as usize]
    }

    /// Places for pairs, empty ones among them.
    pub fn places(&self) -> usize {
        self.entries.len()
    }

    pub fn sources(&self) -> usize {
        self.starts.len() - 1
    }

    fn row(&self, source: usize) -> impl Iterator<Item = usize> {
        (self.starts[source] as usize..self.starts[source + 1] as usize).filter(|&at| self.entries[at].target != EMPTY)
    }

    pub fn entries(&self, source: usize) -> Vec<LexiconEntry> {
        let mut entries: Vec<LexiconEntry> = self.row(source).map(|at| self.entries[at]).collect();
        entries.sort_unstable_by_key(|entry| entry.target);
        entries
    }

    /// The tables of all target words.
    pub fn turned(self) -> Self {
        let mut rows = vec![Vec::new(); self.null_forward.len()];
        for source in 0..self.sources() {
            for entry in self.entries(source) {
                let LexiconEntry { target, forward, reverse } = entry;
                rows[target as usize].push(LexiconEntry { target: source as u32, forward: reverse, reverse: forward });
            }
        }
        Self::new(&rows, self.null_reverse, self.null_forward)
    }

    /// The same without pairs of which both directions say less than `least`.
    pub fn pruned(self, least: f32) -> Self {
        let keep = |entry: &LexiconEntry| entry.forward >= least || entry.reverse >= least;
        let rows: Vec<Vec<LexiconEntry>> =
            (0..self.sources()).map(|source| self.entries(source).into_iter().filter(keep).collect()).collect();
        Self::new(&rows, self.null_forward, self.null_reverse)
    }
}

/// Expected counts.
#[derive(Debug)]
pub struct PairCounts {
    pub forward: Vec<AtomicU64>,
    pub reverse: Vec<AtomicU64>,
    pub null_forward: Vec<AtomicU64>,
    pub null_reverse: Vec<AtomicU64>,
}

impl PairCounts {
    pub fn new(lexicon: &Lexicon) -> Self {
        Self {
            forward: zeros(lexicon.places()),
            reverse: zeros(lexicon.places()),
            null_forward: zeros(lexicon.null_forward.len()),
            null_reverse: zeros(lexicon.null_reverse.len()),
        }
    }

    /// Counts a pair in both directions.
    #[inline]
    pub fn add(&self, pair: u32, forward: f32, reverse: f32, least: f32) {
        if forward > least {
            add(&self.forward[pair as usize], forward);
        }
        if reverse > least {
            add(&self.reverse[pair as usize], reverse);
        }
    }
}

/// How counts become probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Of the Dirichlet distribution over the translations of a word, with which variational Bayes takes the place of
    /// the maximum of the likelihood (Riley and Gildea 2012); 0 for the latter.
    pub alpha: f32,
    /// What is added to the counts of two words that are written alike.
    pub alike: f32,
}

impl Lexicon {
    /// The M step: t from counts, which are forgotten. `alike` says which target word is written like a source word.
    pub fn estimate(&mut self, counts: &PairCounts, prior: Prior, alike: &[u32]) {
        let take = |counts: &[AtomicU64]| -> Vec<f64> {
            counts.iter().map(|count| value(count.swap(0, Ordering::Relaxed))).collect()
        };
        let (mut forward, mut reverse) = (take(&counts.forward), take(&counts.reverse));
        let mut sums = vec![(0.0, 0.0); self.null_forward.len()];
        for (source, &twin) in alike.iter().enumerate() {
            if prior.alike > 0.0 && twin != NONE {
                let at = self.find(source as u32, twin);
                if at != NONE {
                    forward[at as usize] += f64::from(prior.alike);
                    reverse[at as usize] += f64::from(prior.alike);
                }
            }
        }
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.target != EMPTY) {
            sums[entry.target as usize].0 += reverse[at];
            sums[entry.target as usize].1 += 1.0;
        }
        let alpha = f64::from(prior.alpha);
        let norms: Vec<f64> = sums.iter().map(|(sum, n)| share(*sum, *n, alpha)).collect();
        for source in 0..self.sources() {
            let (sum, n) = self.row(source).fold((0.0, 0.0), |(sum, n), at| (sum + forward[at], n + 1.0));
            let norm = share(sum, n, alpha);
            for at in self.starts[source] as usize..self.starts[source + 1] as usize {
                let entry = &mut self.entries[at];
                if entry.target != EMPTY {
                    entry.forward = part(forward[at], alpha, norm);
                    entry.reverse = part(reverse[at], alpha, norms[entry.target as usize]);
                }
            }
        }
        null(&mut self.null_forward, &take(&counts.null_forward));
        null(&mut self.null_reverse, &take(&counts.null_reverse));
    }
}

fn share(sum: f64, n: f64, alpha: f64) -> f64 {
    let below = if alpha > 0.0 { exp_digamma(sum + alpha * n) } else { sum };
    if below > 0.0 { 1.0 / below } else { 0.0 }
}

fn part(count: f64, alpha: f64, norm: f64) -> f32 {
    let above = if alpha > 0.0 { exp_digamma(count + alpha) } else { count };
    (above * norm) as f32
}

fn null(t: &mut [f32], counts: &[f64]) {
    let total: f64 = counts.iter().sum();
    if total > 0.0 {
        // A little for each word, so that none is impossible.
        let little = 1e-3 * total / counts.len() as f64;
        let all = total * (1.0 + 1e-3);
        for (t, count) in t.iter_mut().zip(counts) {
            *t = ((count + little) / all) as f32;
        }
    }
}

/// For each source word the target word that is written alike, or [`NONE`].
pub fn alike(corpus: &AlignerText) -> Vec<u32> {
    let twin =
        |word: &str| corpus.target_words.id(word).filter(|&id| &*corpus.target_words.words()[id as usize] == word);
    corpus.source_words.words().iter().map(|word| twin(word).unwrap_or(NONE)).collect()
}

/// exp(psi(x)), a count under a Dirichlet prior, for x > 0: by recurrence to 6, then by the asymptotic series; to 1e-9.
pub fn exp_digamma(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 6.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    // psi(x) = ln x - 1/2x - 1/12x^2 + 1/120x^4 - 1/252x^6 + 1/240x^8 - ..
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    x * (-0.5 / x - series - below).exp()
}
