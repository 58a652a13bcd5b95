//! What a person changes in a model's steps: where it looks and which words it may say.
//!
//! [`Intervening`] wraps a stepper of any architecture. Between the halves of a step it changes alpha, so that c_i, the
//! words and the next state follow from what was set; behind the second half it takes words away. Energies stay
//! those of the model, and so does log p of the words that remain: nothing is normalised again. In a Transformer alpha is that
//! of the heads that are its alignment, the others look as they do; masks and heads that are left out are all layers'.

use std::sync::Arc;

use crate::decoding::batching::{Take, bounded_batches};
use crate::decoding::corpus::{decode_all, in_batches};
use crate::decoding::reweigh::{permutation, scores, share};
use crate::decoding::{Decoded, Hypothesis, SearchOptions, Specials, decode, force};
use crate::error::{Error, Result};
use crate::models::transformer::heads::{HeadChanges, HeadPlace};
use crate::models::{Need, StepOutput, StepRow, Stepper};
use crate::ticket::CancellationToken;

/// One change. Target positions i and source positions j count from 0; of several that contradict each other at one
/// position the last counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// alpha_i is this row, a weight for each source word (`</s>` included); it is taken as it is.
    Pin { i: usize, alpha: Vec<f32> },
    /// alpha_i is the model's own row in another order, that of [`permutation`].
    Permute { i: usize, seed: u64 },
    /// Source word j gets no weight wherever alpha is not pinned; the other words share its weight in proportion. In a
    /// Transformer no head of cross-attention looks at it, in any layer.
    Mask { j: usize },
    /// alpha_i = softmax(e_i / T) wherever alpha is not pinned: above 1 it looks more evenly, below 1 more sharply.
    /// Local attention keeps its window, its Gaussian and the sum of its row.
    Temperature(f32),
    /// The output of this head of a Transformer is zero.
    LeaveOut(HeadPlace),
    /// Target word i is this one.
    Force { i: usize, token: u32 },
    /// This word is not said at position i, or nowhere. A forced word is said all the same.
    Forbid {
        /// Target position; `None`: every one.
        i: Option<usize>,
        token: u32,
    },
}

impl Intervention {
    /// Whether it acts on every target word, whichever is said.
    pub fn is_for_all_words(&self) -> bool {
        matches!(self, Self::Mask { .. } | Self::Temperature(_) | Self::LeaveOut(_))
    }

    /// Whether it changes alpha, which a model without an alignment does not have, or what alpha follows from.
    pub fn needs_alignment(&self) -> bool {
        match self {
            Self::Pin { .. } | Self::Permute { .. } | Self::Mask { .. } | Self::Temperature(_) | Self::LeaveOut(_) => {
                true
            }
            Self::Force { .. } | Self::Forbid { .. } => false,
        }
    }

    /// Whether it means something for a source of `t_x` words.
    pub(crate) fn check_source(&self, t_x: usize) -> Result<()> {
        let wrong = |message: String| Err(Error::Input(message));
        match self {
            Self::Pin { i, alpha } if alpha.len() != t_x => wrong(format!(
                "the alignment of target word {} was set with {} weights, but the source has {t_x} words",
                i + 1,
                alpha.len()
            )),
            Self::Pin { i, alpha } if !alpha.iter().all(|alpha| *alpha >= 0.0 && alpha.is_finite()) => {
                wrong(format!("a weight of target word {} is not a number from 0 up", i + 1))
            }
            Self::Mask { j } if *j >= t_x => {
                wrong(format!("source word {} was masked, but the source has only {t_x} words", j + 1))
            }
            Self::Temperature(t) if !(*t > 0.0 && t.is_finite()) => {
                wrong(format!("the temperature of the alignment is {t}, but it must be a number above 0"))
            }
            _ => Ok(()),
        }
    }

    fn token(&self) -> Option<u32> {
        match self {
            Self::Force { token, .. } | Self::Forbid { token, .. } => Some(*token),
            _ => None,
        }
    }
}

/// Steps as `inner` does, with interventions.
pub struct Intervening<'a> {
    inner: &'a mut dyn Stepper,
    by_sentence: Vec<Arc<[Intervention]>>,
    others: Arc<[Intervention]>,
    /// T_x of each sentence of the batch.
    lengths: Vec<usize>,
    /// Steps begun; the running one is at position `steps - 1`.
    steps: usize,
}

impl<'a> Intervening<'a> {
    /// Around this stepper. `by_sentence` has the interventions of each sentence of the batches to come; a sentence
    /// beyond it has none.
    pub fn new(inner: &'a mut dyn Stepper, by_sentence: Vec<Arc<[Intervention]>>) -> Self {
        Self { inner, by_sentence, others: Arc::default(), lengths: Vec::new(), steps: 0 }
    }

    pub fn for_all(inner: &'a mut dyn Stepper, list: Arc<[Intervention]>) -> Self {
        Self { others: list, ..Self::new(inner, Vec::new()) }
    }

    fn heads_of(&self, sentence: usize) -> HeadChanges {
        let mut changes = HeadChanges::default();
        for one in self.of(sentence) {
            match one {
                Intervention::LeaveOut(place) => changes.left_out.push(*place),
                Intervention::Mask { j } if self.inner.has_heads() => changes.masked.push(*j),
                _ => {}
            }
        }
        changes
    }

    fn of(&self, sentence: usize) -> &[Intervention] {
        self.by_sentence.get(sentence).unwrap_or(&self.others)
    }

    fn words(&self, sentence: usize) -> Words {
        let here = self.steps.saturating_sub(1);
        let never = |one: &Intervention| match one {
            Intervention::Forbid { i, token } if i.is_none_or(|i| i == here) => Some(*token),
            _ => None,
        };
        let only = self.forced(sentence, here);
        let never = if only.is_some() { Vec::new() } else { self.of(sentence).iter().filter_map(never).collect() };
        Words { only, never }
    }

    fn check_words(&self, vocabulary: usize) -> Result<()> {
        let named =
            self.by_sentence.iter().chain([&self.others]).flat_map(|list| list.iter()).filter_map(Intervention::token);
        match named.into_iter().find(|token| *token as usize >= vocabulary) {
            None => Ok(()),
            Some(token) => Err(Error::Input(format!(
                "the word id {token} was forced or forbidden, but the model knows only {vocabulary} target words"
            ))),
        }
    }
}

impl Stepper for Intervening<'_> {
    fn inner(&self) -> Option<&dyn Stepper> {
        Some(&*self.inner)
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        for (sentence, source) in sources.iter().enumerate() {
            self.of(sentence).iter().try_for_each(|one| one.check_source(source.len()))?;
        }
        self.lengths = sources.iter().map(|source| source.len()).collect();
        self.steps = 0;
        let mut all: Vec<HeadChanges> = (0..sources.len()).map(|sentence| self.heads_of(sentence)).collect();
        for (own, more) in all.iter_mut().zip(changes) {
            own.left_out.extend(&more.left_out);
            own.masked.extend(&more.masked);
        }
        self.inner.begin_changed(sources, &all)
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.inner.align(rows, output)?;
        self.check_words(output.vocabulary)?;
        for (r, row) in rows.iter().enumerate() {
            let list = self.of(row.sentence);
            if !list.iter().any(Intervention::needs_alignment) {
                continue;
            }
            if output.alpha.is_empty() {
                let message = "this model has no alignment that could be changed; choose one that aligns";
                return Err(Error::Input(message.to_owned()));
            }
            let t_x = self.lengths.get(row.sentence).copied().unwrap_or(0);
            look(list, (self.steps, self.inner.has_heads()), r, t_x, output);
        }
        self.steps += 1;
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let words: Vec<Words> = rows.iter().map(|row| self.words(row.sentence)).collect();
        let most = words.iter().map(|words| words.never.len()).max().unwrap_or(0);
        let best = if need.best > 0 { need.best.saturating_add(most) } else { 0 };
        self.inner.predict(rows, &Need { best, ..*need }, output)?;
        if words.iter().all(Words::is_free) {
            return Ok(());
        }
        for (asked, log_p) in need.words.iter().zip(&mut output.words) {
            if !words[asked.row].allows(asked.token) {
                *log_p = f32::NEG_INFINITY;
            }
        }
        if need.every {
            for (words, row) in words.iter().zip(output.log_p.chunks_exact_mut(output.vocabulary.max(1))) {
                words.silence(row);
            }
        }
        if need.best > 0 {
            choose(&words, need.best, output);
        }
        Ok(())
    }

    fn forced(&self, sentence: usize, i: usize) -> Option<u32> {
        self.of(sentence).iter().rev().find_map(|one| match one {
            Intervention::Force { i: at, token } if *at == i => Some(*token),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, Default)]
struct Words {
    only: Option<u32>,
    never: Vec<u32>,
}

impl Words {
    fn is_free(&self) -> bool {
        self.only.is_none() && self.never.is_empty()
    }

    fn allows(&self, token: u32) -> bool {
        self.only.map_or_else(|| !self.never.contains(&token), |only| only == token)
    }

    fn silence(&self, log_p: &mut [f32]) {
        match self.only {
            Some(only) => {
                let others = (0..).zip(log_p).filter(|(token, _)| *token != only);
                others.for_each(|(_, log_p)| *log_p = f32::NEG_INFINITY);
            }
            None => self.never.iter().for_each(|token| log_p[*token as usize] = f32::NEG_INFINITY),
        }
    }
}

fn choose(words: &[Words], best: usize, output: &mut StepOutput) {
    let (mut kept, mut ends) = (Vec::new(), Vec::with_capacity(words.len()));
    for (row, words) in words.iter().enumerate() {
        kept.extend(output.best_row(row).iter().filter(|word| !words.never.contains(&word.0)).take(best));
        ends.push(kept.len());
    }
    (output.best, output.best_ends) = (kept, ends);
}

/// Changes alpha_i of row `r` over its `t_x` source words; heads have masked their words already.
fn look(list: &[Intervention], (i, has_heads): (usize, bool), r: usize, t_x: usize, output: &mut StepOutput) {
    let at = r * output.t_x..r * output.t_x + t_x;
    let (mut pinned, mut masked, mut temperature) = (None, Vec::new(), 1.0);
    for one in list {
        match one {
            Intervention::Pin { i: pinned_at, alpha } if *pinned_at == i => pinned = Some(alpha.clone()),
            Intervention::Permute { i: pinned_at, seed } if *pinned_at == i => {
                let own = &output.alpha[at.clone()];
                pinned = Some(permutation(*seed, i, t_x).into_iter().map(|j| own[j]).collect());
            }
            Intervention::Mask { j } => masked.push(*j),
            Intervention::Temperature(t) => temperature = f64::from(*t),
            _ => {}
        }
    }
    if let Some(pinned) = pinned {
        output.alpha[at].copy_from_slice(&pinned);
    } else if !masked.is_empty() && !has_heads || temperature != 1.0 {
        let (energies, local) = (output.energies.get(at.clone()), output.p_t_row(r).is_some());
        let scores = scores(&output.alpha[at.clone()], energies, local, temperature);
        share(&scores, &masked, &mut output.alpha[at]);
    }
}

/// As [`force_all`](crate::decoding::force_all), with the interventions of each pair; one that means nothing for its
/// sentence is an error.
pub fn force_changed(
    stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], interventions: &[Arc<[Intervention]>], batch: usize,
    ticket: &CancellationToken,
) -> Result<Vec<Hypothesis>> {
    let mut all = vec![Hypothesis::default(); pairs.len()];
    let lengths: Vec<usize> = pairs.iter().map(|(source, target)| source.len().max(target.len())).collect();
    for indexes in bounded_batches(&lengths, batch, 1) {
        let chosen: Vec<(&[u32], &[u32])> = indexes.iter().map(|&index| pairs[index]).collect();
        let lists = indexes.iter().map(|&index| interventions.get(index).cloned().unwrap_or_default()).collect();
        let forced = force(&mut Intervening::new(stepper, lists), &chosen, ticket)?;
        indexes.iter().zip(forced).for_each(|(&index, forced)| all[index] = forced);
    }
    Ok(all)
}

/// As [`decode_all`], with the interventions of each sentence; one that means nothing for its sentence is an error.
#[expect(clippy::too_many_arguments, reason = "those of decode_all, and what is changed")]
pub fn intervene_all(
    stepper: &mut dyn Stepper, specials: Specials, sources: &[&[u32]], interventions: &[Arc<[Intervention]>],
    options: &SearchOptions, batch: usize, ticket: &CancellationToken, done: &mut Take<'_, Decoded>,
) -> Result<()> {
    if interventions.iter().all(|list| list.is_empty()) {
        return decode_all(stepper, specials, sources, options, batch, ticket, done);
    }
    let mut decode = |indexes: &[usize], chosen: &[&[u32]]| {
        let lists = indexes.iter().map(|&index| interventions.get(index).cloned().unwrap_or_default()).collect();
        let mut changed = Intervening::new(stepper, lists);
        decode(&mut changed, specials, chosen, options, ticket, &mut |_, _| {})
    };
    in_batches(sources, (batch, options.beam), &mut decode, done)
}
