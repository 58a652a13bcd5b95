//! How the aligner learns.

use crate::aligner::lexicon::Prior;

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlignerSettings {
    /// Passes with IBM model 1, and with the hidden Markov model.
    pub model1: usize,
    pub hmm: usize,
    /// How much model 1 likes the diagonal; 0 is Brown et al.'s.
    pub tension: f32,
    /// p_0, the probability that a word comes from no word.
    pub p0: f32,
    /// What counts are mixed with.
    pub prior: Prior,
    /// How often the common jumps count in those of each word; 0: words have none of their own.
    pub jump_weight: f32,
    /// How often any jump is thought to have been seen before.
    pub jump_smoothing: f32,
    /// Whether both directions learn from what they agree about (Liang, Taskar, Klein 2006).
    pub agreement: bool,
    /// How much more often than by chance two words must occur together to be looked at; 0: always.
    pub association: f32,
    /// t of pairs that are not looked at.
    pub floor: f32,
    /// Smaller posteriors are not counted.
    pub least: f32,
    /// Pairs with smaller t are let go before the hidden Markov model; 0 keeps all.
    pub prune: f32,
}

impl Default for AlignerSettings {
    fn default() -> Self {
        Self {
            model1: 1,
            hmm: 4,
            tension: 12.0,
            p0: 0.2,
            prior: Prior { alpha: 0.01, alike: 1.0 },
            jump_weight: 200.0,
            jump_smoothing: 1.0,
            agreement: true,
            association: 1.0,
            floor: 1e-7,
            least: 1e-4,
            prune: 1e-5,
        }
    }
}
