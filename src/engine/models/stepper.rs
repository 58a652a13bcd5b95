//! What the search drives: steps over plain `f32` rows, one row a hypothesis.

use crate::error::{Error, Result};
use crate::models::need::{Asked, Need, top};
use crate::models::transformer::heads::{HeadChanges, HeadKind};
use crate::ticket::CancellationToken;

/// One hypothesis to be extended by a [`Stepper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// Which sentence of the batch it translates.
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
    /// alpha'_ij of an alignment head, rows * t_x: where the word comes from that each row has read; empty without one, zeros at
    /// the first step.
    pub head: Vec<f32>,
}

impl StepOutput {
    /// log p of all words for row `r`, where every word was asked for.
    pub fn log_p_row(&self, r: usize) -> &[f32] {
        &self.log_p[r * self.vocabulary..(r + 1) * self.vocabulary]
    }

    /// The most probable words of row `r` with their log p, best first, of equals the lower id: as many as were asked
    /// for, or all that have a probability.
    pub fn best_row(&self, r: usize) -> &[(u32, f32)] {
        let first = if r == 0 { 0 } else { self.best_ends[r - 1] };
        &self.best[first..self.best_ends[r]]
    }

    /// alpha_i of row `r` over the first `length` source words; `None` without alignment.
    pub fn alpha_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.alpha.is_empty()).then(|| &self.alpha[r * self.t_x..r * self.t_x + length])
    }

    /// p_t of row `r`; `None` where the attention is not local.
    pub fn p_t_row(&self, r: usize) -> Option<f32> {
        self.p_t.get(r).copied()
    }

    /// alpha'_{i-1} of row `r` over the first `length` source words; `None` without an alignment head.
    pub fn head_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.head.is_empty()).then(|| &self.head[r * self.t_x..r * self.t_x + length])
    }

    /// e_i of row `r` over the first `length` source words; `None` without alignment.
    pub fn energies_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.energies.is_empty()).then(|| &self.energies[r * self.t_x..r * self.t_x + length])
    }

    /// Gives what `need` asks for from [`StepOutput::log_p`], which must hold all words of all rows; they are
    /// forgotten unless they are needed themselves.
    pub fn answer(&mut self, need: &Need<'_>) {
        self.forget_words();
        for row in 0..self.rows {
            if need.best > 0 {
                let row = &self.log_p[row * self.vocabulary..(row + 1) * self.vocabulary];
                self.best.extend(top(row, need.best));
            }
            self.best_ends.push(self.best.len());
        }
        let log_p = |asked: &Asked| self.log_p_row(asked.row).get(asked.token as usize).copied().unwrap_or(f32::NAN);
        self.words = need.words.iter().map(log_p).collect();
        if !need.every {
            self.log_p.clear();
        }
    }

    /// Empties `best` and `words`.
    pub(crate) fn forget_words(&mut self) {
        self.best.clear();
        self.best_ends.clear();
        self.words.clear();
    }

    /// Whether this is what [`Stepper::align`] gave for as many rows; `t_x` is `None` without alignment.
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
    /// Heads of a layer.
    pub heads: usize,
    /// What a row of a head has room for: the longest source of the batch, or of self-attention the words before.
    pub t_x: usize,
}

impl<'a> HeadRows<'a> {
    /// Where each head looked in row `r`, over the first `length` words: the heads of layer 1 first.
    pub fn of_row(self, r: usize, length: usize) -> impl Iterator<Item = &'a [f32]> {
        let row = move |layer: &'a Vec<f32>| {
            let wide = self.heads * self.t_x;
            layer[r * wide..(r + 1) * wide].chunks_exact(self.t_x.max(1)).map(move |head| &head[..length])
        };
        self.layers.iter().flat_map(row)
    }
}

/// Refuses changes of heads where there are none.
pub(crate) fn without_heads(changes: &[HeadChanges]) -> Result<()> {
    if changes.iter().all(HeadChanges::is_empty) {
        return Ok(());
    }
    Err(Error::Input("this model has no heads that could be changed; choose a Transformer".to_owned()))
}

/// Decodes a batch step by step; rows may be dropped, repeated and reordered between steps.
///
/// A step has two halves, [`Stepper::align`] and [`Stepper::predict`]. Between them a caller may change
/// [`StepOutput::alpha`]: the words, and the state from which the next step goes on, follow from what stands there.
pub trait Stepper: Send {
    /// Encodes the sources (ids, `</s>` included, none empty) and forgets the batch before.
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()>;
    /// As [`Stepper::begin`], with other heads than the model's own, one change a sentence; a sentence beyond them has none. It
    /// holds until the next batch.
    ///
    /// # Errors
    /// A change for a model that has no heads.
    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        without_heads(changes)?;
        self.begin(sources)
    }

    /// Whether [`Stepper::begin_changed`] takes changes.
    fn has_heads(&self) -> bool {
        self.inner().is_some_and(Stepper::has_heads)
    }

    /// Whether its steps tell where words come from ([`StepOutput::head`]).
    fn has_alignment_head(&self) -> bool {
        self.inner().is_some_and(Stepper::has_alignment_head)
    }

    /// The first half of a step: alpha, energies and p_t of the given rows, and the sizes of `output`.
    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()>;
    /// The second half, for the same rows: reads alpha and gives of log p what `need` asks for. It may be asked again
    /// with another alpha; the next step goes on from the last answer.
    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()>;

    /// The stepper that this one is laid over: what it does not answer by itself, that one does.
    fn inner(&self) -> Option<&dyn Stepper> {
        None
    }

    fn step(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.align(rows, output)?;
        self.predict(rows, need, output)
    }

    /// The most target words that it has positions for.
    fn most(&self) -> usize {
        self.inner().map_or(usize::MAX, Stepper::most)
    }

    /// What a long [`Stepper::begin`] or [`Stepper::join`] asks whether it is still wanted.
    fn heed(&self, ticket: &CancellationToken) {
        if let Some(inner) = self.inner() {
            inner.heed(ticket);
        }
    }

    /// The one word that may be said at target position i of a sentence, from 0; `None` where the choice is free. Whoever
    /// searches asks, and takes that word.
    fn forced(&self, sentence: usize, i: usize) -> Option<u32> {
        self.inner()?.forced(sentence, i)
    }

    /// Whether [`Stepper::join`] may be asked.
    fn joins(&self) -> bool {
        false
    }

    /// Between two steps, leaves all sentences but `kept`, in increasing order, which are numbered from 0 again, and
    /// encodes further ones behind them. The rows of the last step stay parents, and behind them stand the first states
    /// of the new sentences.
    fn join(&mut self, _kept: &[usize], _sources: &[&[u32]]) -> Result<()> {
        Err(Error::Internal("a batch was to take more sentences that cannot".to_owned()))
    }

    /// The one context vector c of a sentence of the batch (rnnencdec), else `None`. [n]
    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        self.inner()?.context(sentence)
    }

    /// The decoder states s_i of the rows of the last step, before the first those s_0 of the sentences, one row of [n]
    /// after the other (luong: h_t of the top layer); `None` where they are not on the host.
    fn states(&self) -> Option<&[f32]> {
        self.inner()?.states()
    }

    /// Where all heads of the decoder looked at the last step, by cross-attention or at the words before, of which there are as
    /// many as steps: y_0, then those that were said. `None` where a model has no such heads.
    fn heads(&self, kind: HeadKind) -> Option<HeadRows<'_>> {
        self.inner()?.heads(kind)
    }

    /// Where each head of the encoder looks in a sentence of the batch, the heads of layer 1 first: a row for each source
    /// word, [t_x][t_x]. `None` where a model has no heads.
    ///
    /// # Errors
    /// What encoding refuses.
    fn source_heads(&self, sentence: usize) -> Result<Option<Vec<Vec<Vec<f32>>>>> {
        self.inner().map_or(Ok(None), |inner| inner.source_heads(sentence))
    }

    /// What the encoder made of each source word, in the order of the source: the annotations where the model keeps
    /// them, else the states of its encoder [n] (rnnencdec), which its decoder never sees. Of the sentences that came with
    /// the last [`Stepper::begin`] or [`Stepper::join`].
    fn encoded(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner().map_or_else(|| self.annotations(sentence), |inner| inner.encoded(sentence))
    }

    /// The annotations h_j of a sentence of the batch, one of [2n] (rnnsearch) or [n] for each source word in the
    /// order of the source, `</s>` included; `None` where the model keeps none.
    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner()?.annotations(sentence)
    }
}
