//! One sentence pair in both directions: its posteriors, what they count, and the links that are read off them.

use crate::aligner::lexicon::{Lexicon, NONE};
use crate::aligner::{jumps, lexicon};
use crate::aligner::{jumps::Jumps, lattice::Lattice, settings::AlignerSettings};

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatticeStep {
    Model1,
    Hmm,
}

impl LatticeStep {
    pub fn name(self) -> &'static str {
        match self {
            Self::Model1 => "IBM model 1",
            Self::Hmm => "HMM",
        }
    }
}

/// A pair and the room to compute it in.
#[derive(Debug, Default)]
pub struct PairPosteriors {
    source: Vec<Option<u32>>,
    target: Vec<Option<u32>>,
    /// Numbers of the pairs of words, [target, source].
    pairs: Vec<u32>,
    /// The target words come from source words.
    pub forward: Lattice,
    /// The source words come from target words.
    pub reverse: Lattice,
}

impl PairPosteriors {
    /// Looks up the words of a pair of the corpus.
    pub fn read_ids(&mut self, lexicon: &Lexicon, source: &[u32], target: &[u32], floor: f32) {
        self.source.clear();
        self.source.extend(source.iter().copied().map(Some));
        self.target.clear();
        self.target.extend(target.iter().copied().map(Some));
        self.look_up(lexicon, floor);
    }

    /// Looks up words of which some may not be known; `alike` is t of a source word and a target word, by place, of
    /// which one is not known.
    pub fn read(
        &mut self, lexicon: &Lexicon, source: impl Iterator<Item = Option<u32>>,
        target: impl Iterator<Item = Option<u32>>, floor: f32, alike: &dyn Fn(usize, usize) -> Option<f32>,
    ) {
        self.source.clear();
        self.source.extend(source);
        self.target.clear();
        self.target.extend(target);
        self.look_up(lexicon, floor);
        for i in 0..self.target.len() {
            for j in 0..self.source.len() {
                if (self.source[j].is_none() || self.target[i].is_none())
                    && let Some(t) = alike(j, i)
                {
                    self.forward.set(i, j, t);
                    self.reverse.set(j, i, t);
                }
            }
        }
    }

    fn look_up(&mut self, lexicon: &Lexicon, floor: f32) {
        let (t_x, t_y) = (self.source.len(), self.target.len());
        self.forward.prepare(t_x, t_y);
        self.reverse.prepare(t_y, t_x);
        self.pairs.clear();
        for (i, target) in self.target.iter().enumerate() {
            self.forward.set_null(i, target.map_or(floor, |target| lexicon.null_forward[target as usize]));
            for (j, source) in self.source.iter().enumerate() {
                let pair = source.zip(*target).map_or(NONE, |(source, target)| lexicon.find(source, target));
                self.pairs.push(pair);
                let (forward, reverse) = match pair {
                    NONE => (floor, floor),
                    pair => (lexicon.pair(pair).forward.max(floor), lexicon.pair(pair).reverse.max(floor)),
                };
                self.forward.set(i, j, forward);
                self.reverse.set(j, i, reverse);
            }
        }
        for (j, source) in self.source.iter().enumerate() {
            self.reverse.set_null(j, source.map_or(floor, |source| lexicon.null_reverse[source as usize]));
        }
    }

    pub fn posteriors(&mut self, step: LatticeStep, settings: &AlignerSettings, jumps: (&Jumps, &Jumps)) -> (f64, f64) {
        match step {
            LatticeStep::Model1 => {
                let (p0, tension) = (settings.p0, settings.tension);
                (self.forward.model1(p0, tension), self.reverse.model1(p0, tension))
            }
            LatticeStep::Hmm => self.hmm(settings.p0, jumps),
        }
    }

    /// The posteriors of the hidden Markov models.
    pub fn hmm(&mut self, p0: f32, jumps: (&Jumps, &Jumps)) -> (f64, f64) {
        (self.forward.hmm(p0, &self.source, jumps.0), self.reverse.hmm(p0, &self.target, jumps.1))
    }

    /// p(target word i comes from source word j): the mean of both directions.
    pub fn mean(&self, i: usize, j: usize) -> f32 {
        0.5 * (self.forward.posterior(i, j) + self.reverse.posterior(j, i))
    }

    /// Counts the pairs of words, each direction by itself or both by what they agree about.
    pub fn count(&self, settings: &AlignerSettings, counts: &lexicon::PairCounts) {
        let (t_x, least) = (self.source.len(), settings.least);
        for i in 0..self.target.len() {
            for j in 0..t_x {
                let pair = self.pairs[i * t_x + j];
                if pair == NONE {
                    continue;
                }
                let (forward, reverse) = (self.forward.posterior(i, j), self.reverse.posterior(j, i));
                if settings.agreement {
                    // Both posteriors multiplied: p(a | both) as far as the directions are independent.
                    counts.add(pair, forward * reverse, forward * reverse, least);
                } else {
                    counts.add(pair, forward, reverse, least);
                }
            }
        }
        let nulls =
            [(&self.forward, &self.target, &counts.null_forward), (&self.reverse, &self.source, &counts.null_reverse)];
        for (lattice, words, counts) in nulls {
            for (i, word) in words.iter().enumerate() {
                let null = lattice.null(i);
                if let Some(word) = word
                    && null > least
                {
                    crate::aligner::counts::add(&counts[*word as usize], null);
                }
            }
        }
    }

    pub fn count_jumps(&self, jumps: &[jumps::JumpCounts; 2], least: f32) {
        self.forward.count_jumps(&self.source, &jumps[0], least);
        self.reverse.count_jumps(&self.target, &jumps[1], least);
    }
}
