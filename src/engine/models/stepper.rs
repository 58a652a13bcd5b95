//! What the search drives: steps over plain `f32` rows, one row a hypothesis.

use crate::error::{Error, Result};
use crate::models::need::{Asked, Need, top};
use crate::models::transformer::heads::{HeadChanges, HeadKind};
use crate::ticket::CancellationToken;

/// One hypothesis to be extended by a [`Stepper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRow {
    pub sentence: usize,
    /// Which row of the previous step its state comes from; at the first step of a batch ignored.
    pub parent: usize,
    /// y_{i-1}; `None` at the first step of the sentence.
    pub y_prev: Option<u32>,
}

/// What a step gives for each row, in plain `f32`.
#[derive(Clone, Debug, Default)]
pub struct StepOutput {
    pub rows: usize,
    pub vocabulary: usize,
    /// Row stride of `alpha` and `energies`: the longest source of the batch.
    pub t_x: usize,
    /// log p, rows * K_y; empty unless every word was asked for.
    pub log_p: Vec<f32>,
    /// The best words of all rows, one row after the other; see [`StepOutput::best_row`].
    pub best: Vec<(u32, f32)>,
    /// Where the words of each row end in `best`, [rows].
    pub best_ends: Vec<usize>,
    /// log p of the words asked for, in the order of asking; NaN where the vocabulary has no such word.
    pub words: Vec<f32>,
    /// alpha_ij, rows * t_x; empty where the model has no alignment.
    pub alpha: Vec<f32>,
    /// e_ij, rows * t_x; empty where the model has no alignment, NaN at words that have no energy.
    pub energies: Vec<f32>,
    /// The aligned position p_t of each row, in source words from 0; empty where the attention is not local.
    pub p_t: Vec<f32>,
    /// alpha'_ij of an alignment head for the word that each row has read, rows * t_x; zeros at the first step.
    pub head: Vec<f32>,
}

impl StepOutput {
    pub fn log_p_row(&self, r: usize) -> &[f32] {
        &self.log_p[r * self.vocabulary..(r + 1) * self.vocabulary]
    }

    /// The most probable words of row `r`, best first, of equals the lower id; only those with a probability.
    pub fn best_row(&self, r: usize) -> &[(u32, f32)] {
        let first = if r == 0 { 0 } else { self.best_ends[r - 1] };
        &self.best[first..self.best_ends[r]]
    }

    pub fn alpha_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.alpha.is_empty()).then(|| &self.alpha[r * self.t_x..r * self.t_x + length])
    }

    pub fn p_t_row(&self, r: usize) -> Option<f32> {
        self.p_t.get(r).copied()
    }

    pub fn head_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.head.is_empty()).then(|| &self.head[r * self.t_x..r * self.t_x + length])
    }

    pub fn energies_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.energies.is_empty()).then(|| &self.energies[r * self.t_x..r * self.t_x + length])
    }

    /// Answers `need` from [`StepOutput::log_p`], which must hold all words and is then emptied unless needed.
    pub fn answer(&mut self, need: &Need<'_>) {
        self.forget_words();
        for row in 0..self.rows {
            if need.best > 0 {
                self.best.extend(top(&self.log_p[row * self.vocabulary..(row + 1) * self.vocabulary], need.best));
            }
            self.best_ends.push(self.best.len());
        }
        let log_p = |asked: &Asked| self.log_p_row(asked.row).get(asked.token as usize).copied().unwrap_or(f32::NAN);
        self.words = need.words.iter().map(log_p).collect();
        if !need.every {
            self.log_p.clear();
        }
    }

    pub(crate) fn forget_words(&mut self) {
        self.best.clear();
        self.best_ends.clear();
        self.words.clear();
    }

    /// Checks that this is [`Stepper::align`]'s output for as many rows; `t_x` is `None` without alignment.
    pub(crate) fn check_aligned(&self, rows: &[StepRow], t_x: Option<usize>) -> Result<()> {
        if self.rows == rows.len() && self.alpha.len() == rows.len() * t_x.unwrap_or(0) {
            return Ok(());
        }
        let (rows, aligned, alpha) = (rows.len(), self.rows, self.alpha.len());
        Err(Error::Internal(format!("words were asked for {rows} rows after {aligned} with {alpha} weights")))
    }
}

/// The weights of all heads of a kind, for the rows of a step.
#[derive(Clone, Copy, Debug)]
pub struct HeadRows<'a> {
    /// Of each layer, [rows, heads, t_x].
    pub layers: &'a [Vec<f32>],
    pub heads: usize,
    /// Row stride of a head: the longest source of the batch, or the words before (self-attention).
    pub t_x: usize,
}

impl<'a> HeadRows<'a> {
    /// Where each head looked in row `r`, over the first `length` words, from layer 1 on.
    pub fn of_row(self, r: usize, length: usize) -> impl Iterator<Item = &'a [f32]> {
        let row = move |layer: &'a Vec<f32>| {
            let wide = self.heads * self.t_x;
            layer[r * wide..(r + 1) * wide].chunks_exact(self.t_x.max(1)).map(move |head| &head[..length])
        };
        self.layers.iter().flat_map(row)
    }
}

pub(crate) fn without_heads(changes: &[HeadChanges]) -> Result<()> {
    if changes.iter().all(HeadChanges::is_empty) {
        return Ok(());
    }
    Err(Error::Input("this model has no heads that could be changed; choose a Transformer".to_owned()))
}

/// Decodes a batch step by step; rows may be dropped, repeated and reordered between steps.
///
/// Between [`Stepper::align`] and [`Stepper::predict`] a caller may change [`StepOutput::alpha`]; all else follows.
pub trait Stepper: Send {
    /// Encodes the sources (ids, `</s>` included, none empty) and forgets the batch before.
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()>;
    /// [`Stepper::begin`] with one change of heads a sentence, until the next batch; an error if there are no heads.
    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        without_heads(changes)?;
        self.begin(sources)
    }

    fn has_heads(&self) -> bool {
        self.inner().is_some_and(Stepper::has_heads)
    }

    fn has_alignment_head(&self) -> bool {
        self.inner().is_some_and(Stepper::has_alignment_head)
    }

    /// The first half of a step: alpha, energies and p_t of the given rows, and the sizes of `output`.
    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()>;
    /// Second half, for the same rows: answers `need` from alpha. If repeated, the next step follows the last answer.
    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()>;

    /// The stepper that this one wraps; it answers what this one does not.
    fn inner(&self) -> Option<&dyn Stepper> {
        None
    }

    fn step(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.align(rows, output)?;
        self.predict(rows, need, output)
    }

    fn most(&self) -> usize {
        self.inner().map_or(usize::MAX, Stepper::most)
    }

    /// Lets a long [`Stepper::begin`] or [`Stepper::join`] stop when cancelled.
    fn heed(&self, ticket: &CancellationToken) {
        if let Some(inner) = self.inner() {
            inner.heed(ticket);
        }
    }

    /// The one word allowed at target position i of a sentence, from 0, which the search must take; `None` if free.
    fn forced(&self, sentence: usize, i: usize) -> Option<u32> {
        self.inner()?.forced(sentence, i)
    }

    fn joins(&self) -> bool {
        false
    }

    /// Keeps the sentences `kept` (ascending, renumbered from 0) and encodes `sources` behind them. Rows of the last
    /// step stay parents, and behind them stand the first states of the new sentences.
    fn join(&mut self, _kept: &[usize], _sources: &[&[u32]]) -> Result<()> {
        Err(Error::Internal("a batch was to take more sentences that cannot".to_owned()))
    }

    /// The one context vector c of a sentence of the batch (rnnencdec), else `None`. [n]
    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        self.inner()?.context(sentence)
    }

    /// Decoder states s_i of the last step's rows, at first s_0 of the sentences, [n] each (luong: h_t of the top
    /// layer); `None` if they are not on the host.
    fn states(&self) -> Option<&[f32]> {
        self.inner()?.states()
    }

    /// Where all decoder heads looked at the last step, at the source or at the words before; `None` without heads.
    fn heads(&self, kind: HeadKind) -> Option<HeadRows<'_>> {
        self.inner()?.heads(kind)
    }

    /// Where each encoder head looks in a sentence, from layer 1 on, [t_x][t_x]; `None` without heads.
    fn source_heads(&self, sentence: usize) -> Result<Option<Vec<Vec<Vec<f32>>>>> {
        self.inner().map_or(Ok(None), |inner| inner.source_heads(sentence))
    }

    /// What the encoder made of each source word of a sentence that came last: annotations, or states [n] (rnnencdec).
    fn encoded(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner().map_or_else(|| self.annotations(sentence), |inner| inner.encoded(sentence))
    }

    /// Annotations h_j of a sentence, [2n] (rnnsearch) or [n] a source word, `</s>` included; `None` if none are kept.
    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner()?.annotations(sentence)
    }
}
