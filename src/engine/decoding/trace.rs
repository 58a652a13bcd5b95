//! What the search leaves behind, in plain `f32`, append-only.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Why a node is no longer extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeFate {
    /// Still in the beam, or an inner node of a hypothesis that is, that finished or that was cut.
    Alive,
    /// Fell out of the best `beam - finished` extensions, itself or all that continued it.
    Pruned,
    Finished,
    /// Still unfinished at the maximal length.
    Cut,
}

/// One extension that the search kept, or one of the best that it did not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: usize,
    /// The node that it extends; `None` at the first step.
    pub parent: Option<usize>,
    pub step: usize,
    pub token: u32,
    /// log p(y_i | y_<i, x).
    pub log_p: f32,
    /// log p(y_1..y_i | x).
    pub total: f32,
    /// alpha_ij over the T_x source words; `None` without alignment. Nodes that extend one hypothesis share it.
    pub alpha: Option<Arc<[f32]>>,
    /// e_ij before the softmax, NaN at words that have none; `None` without alignment. Shared as `alpha` is.
    pub energies: Option<Arc<[f32]>>,
    /// The aligned position p_t of local attention, in source words from 0; `None` elsewhere.
    pub p_t: Option<f32>,
    /// The best next words at this position with their log p, best first (`SearchOptions::candidates` many).
    pub candidates: Vec<(u32, f32)>,
    pub fate: NodeFate,
}

/// A translation, found by a search or given and forced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    pub tokens: Vec<u32>,
    pub token_log_p: Vec<f32>,
    pub log_p: f32,
    /// What it is ranked by: log p corrected for length and coverage ([`crate::decoding::Ranking`]).
    pub rank: f32,
    pub finished: bool,
    /// One row for each token, and behind them those of steps behind `</s>` where somebody had them taken; `None` where
    /// the model has no alignment and where it was left out.
    pub alpha: Option<Vec<Vec<f32>>>,
    /// As `alpha`, before the softmax; NaN at words that have no energy.
    pub energies: Option<Vec<Vec<f32>>>,
    /// The aligned position p_t of each token, in source words from 0; `None` where the attention is not local.
    pub p_t: Option<Vec<f32>>,
    /// alpha'_ij of an alignment head: where each token comes from. The row comes with the step that reads the token,
    /// so the last one has zeros, and none yet while the search goes on; `None` without a head and where it was left
    /// out.
    pub head: Option<Vec<Vec<f32>>>,
    /// There is an alignment, but it is larger than `SearchOptions::most_numbers` allows. Never true of the best.
    pub left_out: bool,
    /// Per token the best words at that position (`SearchOptions::candidates` many).
    pub candidates: Vec<Vec<(u32, f32)>>,
    /// Index of its last node in the trace, when one was kept.
    pub node: Option<usize>,
}

impl Hypothesis {
    /// Where each token comes from: the rows of the alignment head where there is one, else those of alpha.
    pub fn came_from(&self) -> Option<&[Vec<f32>]> {
        self.head.as_deref().or(self.alpha.as_deref())
    }
}

/// Rows of a head with zeros for the last token, whose row no step has given.
pub(super) fn whole(head: Option<Vec<Vec<f32>>>, tokens: usize, t_x: usize) -> Option<Vec<Vec<f32>>> {
    head.map(|mut rows| {
        rows.resize(tokens, vec![0.0; t_x]);
        rows
    })
}

/// The result for one sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Best first; never empty unless the maximal length is 0.
    pub hypotheses: Vec<Hypothesis>,
    /// All nodes, when `SearchOptions::trace` asked for them.
    pub nodes: Vec<Node>,
    /// The one context vector, where the model has one (rnnencdec). [n]
    pub context: Option<Vec<f32>>,
}

/// What the search reports while it works.
#[derive(Clone, Debug)]
pub enum SearchProgress<'a> {
    /// The source is read; `context` as in [`Decoded`].
    Encoded {
        /// The one context vector, where the model has one. [n]
        context: Option<Vec<f32>>,
    },
    /// A step is done: the best hypothesis so far, finished or not.
    Expanded {
        /// The leading hypothesis (partial; its `alpha` rows so far).
        best: &'a Hypothesis,
    },
}
