//! The training corpus as ids, and its minibatches. Imports floor 0.
//!
//! Minibatches as Bahdanau et al. 2015, appendix B.2: read 20 minibatches' worth of shuffled pairs, sort them by
//! length, cut them into minibatches of 80. An epoch's order follows from (seed, epoch) alone, so that
//! training can go on at minibatch k of epoch e.

use std::path::{Path, PathBuf};

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::text::parallel::ParallelReader;
use crate::text::tokenizer::{CorpusEncoder, Tokenizer};

/// A sentence and its translation as ids, `</s>` included where the model wants it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentencePair {
    pub source: Vec<u32>,
    pub target: Vec<u32>,
}

/// How a corpus is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairRules {
    /// Id of `</s>`, the same on both sides.
    pub eos: u32,
    pub source_eos: bool,
    /// Pairs with more words on either side, `</s>` not counted, are left out.
    pub max_words: usize,
    /// Stop after so many pairs kept.
    pub max_pairs: Option<usize>,
    /// A corpus that takes more memory than this is an error.
    pub max_bytes: u64,
}

/// A parallel corpus in memory: all ids in one piece, and where each side of each pair ends.
#[derive(Clone, Debug, Default)]
pub struct ParallelText {
    ids: Vec<u32>,
    /// Ends of source 0, target 0, source 1, target 1, ..
    ends: Vec<usize>,
    /// Pairs left out because they were too long or empty on a side.
    pub left_out: usize,
}

impl ParallelText {
    /// Reads (source, target) files in order. `progress` gets the number of pairs read now and then and may stop the
    /// reading with an error.
    pub fn read(
        files: &[(PathBuf, PathBuf)], source: &Tokenizer, target: &Tokenizer, rules: &PairRules,
        progress: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        let mut corpus = Self::default();
        let mut encoders = (CorpusEncoder::new(source), CorpusEncoder::new(target));
        let mut pair = SentencePair::default();
        for (read, lines) in ParallelReader::new(files).learned_from().enumerate() {
            if rules.max_pairs.is_some_and(|most| corpus.len() >= most) {
                break;
            }
            let (source_line, target_line) = lines?;
            pair.source.clear();
            pair.target.clear();
            encoders.0.extend(&source_line, &mut pair.source);
            encoders.1.extend(&target_line, &mut pair.target);
            corpus.push_words(&mut pair, rules);
            corpus.check_size(files.iter().map(|(source, _)| source.as_path()), rules)?;
            if read % 1000 == 0 {
                progress(read)?;
            }
        }
        if corpus.is_empty() {
            let names = names(files.iter().map(|(source, _)| source.as_path()));
            let message = format!("no pair of at most {} words a side in {names}", rules.max_words);
            return Err(Error::Input(format!("{message}; raise the length limit or give other files")));
        }
        Ok(corpus)
    }

    pub fn bytes(&self) -> u64 {
        (size_of_val(self.ids.as_slice()) + size_of_val(self.ends.as_slice())) as u64
    }

    /// Refuses a corpus, read from these files, that has become too large. A small packed file can hold a text of any
    /// length.
    pub fn check_size<'a>(&self, files: impl Iterator<Item = &'a Path>, rules: &PairRules) -> Result<()> {
        if self.bytes() <= rules.max_bytes {
            return Ok(());
        }
        let (names, pairs, gib) = (names(files), self.len(), rules.max_bytes as f64 / f64::from(1 << 30));
        let left = format!("the {gib:.1} GiB that are left for text of half of this machine's memory");
        let message = format!("the first {pairs} pairs of {names} take more than {left}");
        Err(Error::Input(format!("{message}; set a `limit` or give a shorter text")))
    }

    /// Ends the sentences and keeps the pair, unless a side is empty or too long: then false.
    pub fn push_words(&mut self, pair: &mut SentencePair, rules: &PairRules) -> bool {
        let fits = |words: usize| (1..=rules.max_words).contains(&words);
        if !fits(pair.source.len()) || !fits(pair.target.len()) {
            self.left_out += 1;
            return false;
        }
        if rules.source_eos {
            pair.source.push(rules.eos);
        }
        pair.target.push(rules.eos);
        self.push(&pair.source, &pair.target);
        true
    }

    /// Appends a pair as it is.
    pub fn push(&mut self, source: &[u32], target: &[u32]) {
        for side in [source, target] {
            self.ids.extend_from_slice(side);
            self.ends.push(self.ids.len());
        }
    }

    /// Writes this word behind the last target.
    pub fn lengthen_last(&mut self, word: u32) {
        if let Some(end) = self.ends.last_mut() {
            self.ids.push(word);
            *end += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn target_ids(&self) -> usize {
        (0..self.len()).map(|i| self.lengths(i).0).sum()
    }

    pub fn pair(&self, i: usize) -> (&[u32], &[u32]) {
        let start = if i == 0 { 0 } else { self.ends[2 * i - 1] };
        let (middle, end) = (self.ends[2 * i], self.ends[2 * i + 1]);
        (&self.ids[start..middle], &self.ids[middle..end])
    }

    /// (T_y, T_x) of pair `i`: what minibatches are sorted by.
    fn lengths(&self, i: usize) -> (usize, usize) {
        let (source, target) = self.pair(i);
        (target.len(), source.len())
    }

    /// The minibatches of an epoch: `size` pairs each, sorted within `pool` minibatches' worth of shuffled pairs.
    pub fn batches(&self, seed: u64, epoch: u64, size: usize, pool: usize) -> Batches {
        let size = size.max(1);
        self.cut(seed, epoch, size * pool.max(1), |rest| size.min(rest.len()))
    }

    /// The minibatches of an epoch, cut so that a minibatch has at most `words` target ids, padding to its longest
    /// sentence included: pools of `pool` shuffled pairs are sorted and cut. A pair longer than that is a minibatch of
    /// its own.
    pub fn batches_of_words(&self, seed: u64, epoch: u64, words: usize, pool: usize) -> Batches {
        self.cut(seed, epoch, pool.max(1), |rest| {
            // sorted by T_y, the last of a minibatch is its longest
            let fits = |n: &usize| self.lengths(rest[*n] as usize).0 * (n + 1) <= words;
            (0..rest.len()).take_while(fits).count().max(1)
        })
    }

    /// Sorts each `pool` of the pairs of an epoch, which come in random order, by (T_y, T_x), cuts it into minibatches,
    /// of which the `next` has so many of the pairs that are left, and shuffles those.
    fn cut(&self, seed: u64, epoch: u64, pool: usize, next: impl Fn(&[u32]) -> usize) -> Batches {
        // an epoch has its own stream of the seed's
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(epoch);
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.shuffle(&mut rng);
        let (mut sorted, mut ends) = (Vec::with_capacity(order.len()), Vec::new());
        for chunk in order.chunks_mut(pool) {
            chunk.sort_by_key(|i| self.lengths(*i as usize));
            let mut minibatches: Vec<&[u32]> = Vec::new();
            let mut rest = &*chunk;
            while !rest.is_empty() {
                let (minibatch, more) = rest.split_at(next(rest));
                minibatches.push(minibatch);
                rest = more;
            }
            minibatches.shuffle(&mut rng);
            for minibatch in minibatches {
                sorted.extend_from_slice(minibatch);
                ends.push(sorted.len());
            }
        }
        Batches { order: sorted, ends }
    }
}

fn names<'a>(files: impl Iterator<Item = &'a Path>) -> String {
    files.map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The minibatches of an epoch, in the order in which they are trained on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    order: Vec<u32>,
    /// Minibatch k is `order[ends[k-1]..ends[k]]`.
    ends: Vec<usize>,
}

impl Batches {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, k: usize) -> Option<&[u32]> {
        let end = *self.ends.get(k)?;
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        self.order.get(start..end)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).filter_map(|k| self.get(k))
    }
}
