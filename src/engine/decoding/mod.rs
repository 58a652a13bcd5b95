//! The search. The last floor whose imports may name a tensor; its own signatures
//! are plain numbers. Blocking, no threads, no clock, never prints.
//!
//! [`decode`] is beam search (greedy is a beam of 1) over a batch of sentences; [`force`] reads off the probability and
//! alignment of a given target; [`corpus`] does either for any number of sentences in batches; [`sample`] draws
//! translations; an [`Ensemble`] is several models as one. [`ablate`](mod@ablate) says each step again with another
//! alpha; [`importance`](mod@importance) has further pictures of what matters.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::models::config::Config;

pub mod ablate;
pub mod batching;
pub mod beam;
pub mod corpus;
pub mod ensemble;
pub mod forced;
pub mod importance;
pub mod phrases;
mod pool;
pub mod rank;
pub mod reweigh;
pub mod sample;
mod select;
pub mod step_trace;
pub mod system;
pub mod trace;
mod tree;

pub use crate::decoding::corpus::{decode_all, force_all};
pub use crate::decoding::forced::{HeadAlphas, force, force_heads};
pub use crate::decoding::rank::{LengthRule, Ranking};
pub use crate::decoding::trace::{Decoded, Hypothesis, Node, NodeFate, SearchProgress};
pub use crate::decoding::{batching::batches, beam::decode, ensemble::Ensemble, sample::sample, system::SystemSpec};

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Hypotheses kept, at least 1; 1 is greedy.
    pub beam: usize,
    pub max_length: Option<usize>,
    /// What finished hypotheses are ranked by; by default log p.
    pub ranking: Ranking,
    pub forbid_unk: bool,
    /// Let models emit `[UNK]` that do not by default ([`Specials::bars_unk`]).
    #[serde(default)]
    pub allow_unk: bool,
    /// How many next-word candidates each expanded node keeps for the inspector.
    pub candidates: usize,
    /// Keep the whole trace (every node, what left the beam and why).
    pub trace: bool,
    /// Most numbers (alpha and energies) that the hypotheses of a sentence come to together. The best one always has
    /// its own, further ones only while there is room ([`Hypothesis::left_out`]).
    pub most_numbers: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            beam: 5,
            max_length: None,
            ranking: Ranking::default(),
            forbid_unk: false,
            allow_unk: false,
            candidates: 0,
            trace: false,
            most_numbers: usize::MAX,
        }
    }
}

impl fmt::Display for SearchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "beam {}", self.beam)?;
        if self.ranking.length != LengthRule::default() {
            write!(f, ", length penalty {}", self.ranking.length)?;
        }
        let coverage = Some(self.ranking.coverage).filter(|coverage| *coverage > 0.0);
        coverage.map_or(Ok(()), |coverage| write!(f, ", coverage {coverage}"))?;
        self.max_length.map_or(Ok(()), |most| write!(f, ", at most {most} tokens"))?;
        f.write_str(if self.forbid_unk { ", [UNK] forbidden" } else { "" })?;
        f.write_str(if self.allow_unk { ", [UNK] allowed" } else { "" })
    }
}

impl SearchOptions {
    /// The most target tokens for a source of `t_x` words, `</s>` included on both sides.
    pub fn limit(&self, t_x: usize) -> usize {
        self.max_length.unwrap_or(2 * t_x + 10)
    }
}

/// Ids that the search must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specials {
    pub eos: u32,
    pub unk: u32,
    pub bars_unk: bool,
}

impl Specials {
    pub fn of(config: &Config) -> Self {
        Self { eos: config.eos, unk: config.unk, bars_unk: config.bars_unk }
    }

    /// The id of `[UNK]` where it must not be emitted.
    pub fn forbidden(&self, forbid_unk: bool, allow_unk: bool) -> Option<u32> {
        (forbid_unk || self.bars_unk && !allow_unk).then_some(self.unk)
    }
}
