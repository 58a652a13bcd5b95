//! Floor 3: how many floating-point operations the matrix products of a model come to, so that a speed can be
//! given as a share of what the machine multiplies.
//!
//! Counted is what the equations need, not what a program happens to do: every weight matrix [out, in] once for
//! each vector that it is applied to (2 out in operations), and the products of attention (energies, c_i) over the
//! words that are looked at. What does not depend on the step is counted once a sentence (U_a h_j, C c). Not counted are
//! element-wise work, look-ups and padding. Imports its own room.

use crate::models::config::Config;
use crate::models::shapes;

pub use crate::attention::ScoredAttention;

/// When the matrix of that name is applied.
pub fn applied(config: &Config, name: &str) -> ScoredAttention {
    (config.architecture.entry().applied)(config, name)
}

/// Operations of the products, as they are shared out. A sentence has t_x source words, `</s>` included; a step makes
/// one target word of one hypothesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// For each source word: the encoder, and the keys of attention.
    pub source_word: u64,
    /// Once a sentence: start states, and what a context that never changes is multiplied by.
    pub sentence: u64,
    /// For each step: the decoder and the read-out up to the output layer.
    pub step: u64,
    /// For each step: the output layer, [K_y, l] or its factors.
    pub output: u64,
    /// For each step and each source word that is looked at: the energy and its part of c_i.
    pub look: u64,
    /// Source words that a step looks at, at most.
    pub reach: usize,
}

impl Cost {
    /// The cost of a model with this configuration.
    pub fn of(config: &Config) -> Self {
        let mut cost = Self { reach: config.window().map_or(usize::MAX, |d| 2 * d + 1), ..Self::default() };
        for (name, shape) in shapes(config) {
            if let [rows, columns] = shape[..] {
                cost.add(applied(config, &name), 2 * (rows * columns) as u64);
            }
        }
        cost.look = 2 * (config.architecture.entry().look_products)(config) as u64;
        cost
    }

    /// Adds a matrix of `work` operations where it is applied.
    fn add(&mut self, applied: ScoredAttention, work: u64) {
        match applied {
            ScoredAttention::Never => {}
            ScoredAttention::Word | ScoredAttention::WordAfterWord => self.source_word += work,
            ScoredAttention::Sentence => self.sentence += work,
            ScoredAttention::Step => self.step += work,
            ScoredAttention::Output => self.output += work,
            ScoredAttention::Halves => {
                self.source_word += work / 2;
                self.step += work / 2;
            }
        }
    }

    /// Reading a sentence of `t_x` words.
    pub fn encode(&self, t_x: usize) -> u64 {
        self.sentence + self.source_word * t_x as u64
    }

    /// One step of one hypothesis of a sentence of `t_x` words, the output layer for all words included.
    pub fn decode(&self, t_x: usize) -> u64 {
        self.step + self.output + self.look * t_x.min(self.reach) as u64
    }

    /// Loss and gradient of one pair: three times the way forward, for each product has two of its size on the way
    /// back, one for the weight (or annotation) and one for what it was applied to.
    pub fn train(&self, t_x: usize, t_y: usize) -> u64 {
        3 * (self.encode(t_x) + self.decode(t_x) * t_y as u64)
    }
}
