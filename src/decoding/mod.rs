//! Floor 4: the search. The last floor whose imports may name a tensor; its own signatures
//! are plain numbers. Blocking, no threads, no clock, never prints.
//!
//! [`decode`] is beam search (greedy is a beam of 1) over a batch of sentences;
//! [`force`] reads off the probability and alignment of a given target; [`corpus`] does either for
//! any number of sentences in batches; [`sample`] draws translations; an [`Ensemble`] is several models as one.
//! [`ablate`](mod@ablate) says each step again with another alpha; [`importance`](mod@importance) has further pictures of what
//! matters.

pub mod ablate;
pub mod apart;
pub mod batching;
pub mod beam;
pub mod corpus;
pub mod ensemble;
pub mod follow;
pub mod forced;
pub mod importance;
pub mod phrases;
mod pool;
pub mod rank;
pub mod reweigh;
pub mod sample;
mod select;
pub mod trace;
mod tree;

use crate::error::Result;
use crate::models::Stepper;
use crate::ticket::CancellationToken;

pub use crate::decoding::batching::batches;
pub use crate::decoding::corpus::{decode_all, force_all};
pub use crate::decoding::ensemble::Ensemble;
pub use crate::decoding::rank::{LengthRule, Ranking};
pub use crate::decoding::sample::sample;
pub use crate::decoding::trace::{Decoded, Forced, Hypothesis, Node, NodeFate, SearchProgress};

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses kept, at least 1; 1 is greedy.
    pub beam: usize,
    /// Most target tokens, `</s>` included; `None`: 2 T_x + 10.
    pub max_length: Option<usize>,
    /// What finished hypotheses are ranked by; by default log p.
    pub ranking: Ranking,
    /// Never emit `[UNK]`.
    pub forbid_unk: bool,
    /// How many next-word candidates each expanded node keeps for the inspector.
    pub candidates: usize,
    /// Keep the whole trace (every node, what left the beam and why).
    pub trace: bool,
    /// Most numbers (alpha and energies) that the hypotheses of a sentence come to together. The best one
    /// always has its own, further ones only while there is room ([`Hypothesis::left_out`]).
    pub most_numbers: usize,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            beam: 5,
            max_length: None,
            ranking: Ranking::default(),
            forbid_unk: false,
            candidates: 0,
            trace: false,
            most_numbers: usize::MAX,
        }
    }
}

impl SearchOptions {
    /// The most target tokens for a source of `t_x` words, `</s>` included on both sides.
    pub fn limit(&self, t_x: usize) -> usize {
        self.max_length.unwrap_or(2 * t_x + 10)
    }
}

/// Ids that the search must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specials {
    /// Id of `</s>`.
    pub eos: u32,
    /// Id of `[UNK]`.
    pub unk: u32,
}

/// Translates a batch of sentences (ids, `</s>` included). `emit` is called with each sentence's index and progress.
///
/// # Errors
/// [`Error::Stale`](crate::error::Error::Stale) as soon as the ticket is stale; a beam of 0, an empty
/// source, a forced word outside the vocabulary or without any probability, probabilities that are no numbers,
/// coverage without an alignment; what the stepper refuses.
pub fn decode(
    stepper: &mut dyn Stepper,
    specials: Specials,
    sources: &[&[u32]],
    options: &SearchOptions,
    ticket: &CancellationToken,
    emit: &mut dyn FnMut(usize, SearchProgress<'_>),
) -> Result<Vec<Decoded>> {
    beam::search(stepper, specials, sources, options, ticket, emit)
}

/// Scores given targets (ids, `</s>` included): log p of each word and its alignment.
///
/// # Errors
/// [`Error::Stale`](crate::error::Error::Stale) as soon as the ticket is stale; an empty source, a target
/// word outside the vocabulary; what the stepper refuses.
pub fn force(stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], ticket: &CancellationToken) -> Result<Vec<Forced>> {
    forced::force(stepper, pairs, ticket)
}
