//! Floor 4: what a person changes in a model's steps: where it looks and which words it may say.
//!
//! [`Intervening`] wraps a stepper of any architecture. Between the halves of a step it changes alpha, so that c_i, the
//! words and the next state follow from what was set; behind the second half it takes words away. Energies stay
//! those of the model, and so does log p of the words that remain: nothing is normalised again.

use std::sync::Arc;

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::models::{Asked, Need, Row, StepOutput, Stepper};

/// Who chose a target word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    /// The model, by itself.
    #[default]
    Free,
    /// The model before, and it is held because something behind it was changed.
    Held,
    /// A person.
    Forced,
}

impl Said {
    /// In few words; what the model chose by itself needs none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Free => None,
            Self::Held => Some("held"),
            Self::Forced => Some("forced"),
        }
    }
}

/// One change. Target positions i and source positions j count from 0; of several that contradict each other at one
/// position the last counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// alpha_i is this row, a weight for each source word (`</s>` included); it is taken as it is.
    Pin {
        /// Target position.
        i: usize,
        /// alpha_ij, [t_x].
        alpha: Vec<f32>,
    },
    /// alpha_i is the model's own row in another order, that of [`permutation`].
    Permute {
        /// Target position.
        i: usize,
        /// What the order follows from.
        seed: u64,
    },
    /// Source word j gets no weight wherever alpha is not pinned; the other words share its weight in proportion.
    Mask {
        /// Source position.
        j: usize,
    },
    /// alpha_i = softmax(e_i / T) wherever alpha is not pinned: above 1 it looks more evenly, below 1 more sharply. Local
    /// attention keeps its window, its Gaussian and the sum of its row.
    Temperature(f32),
    /// Target word i is this one.
    Force {
        /// Target position.
        i: usize,
        /// y_i.
        token: u32,
    },
    /// This word is not said at position i, or nowhere. A forced word is said all the same.
    Forbid {
        /// Target position; `None`: every one.
        i: Option<usize>,
        /// The word.
        token: u32,
    },
}

impl Intervention {
    /// Whether it changes alpha, which a model without an alignment does not have.
    pub fn needs_alignment(&self) -> bool {
        match self {
            Self::Pin { .. } | Self::Permute { .. } | Self::Mask { .. } | Self::Temperature(_) => true,
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
            Self::Pin { .. }
            | Self::Permute { .. }
            | Self::Mask { .. }
            | Self::Temperature(_)
            | Self::Force { .. }
            | Self::Forbid { .. } => Ok(()),
        }
    }

    /// The word that it names.
    fn token(&self) -> Option<u32> {
        match self {
            Self::Force { token, .. } | Self::Forbid { token, .. } => Some(*token),
            Self::Pin { .. } | Self::Permute { .. } | Self::Mask { .. } | Self::Temperature(_) => None,
        }
    }
}

/// Steps as `inner` does, with interventions.
pub struct Intervening<'a> {
    inner: &'a mut dyn Stepper,
    by_sentence: Vec<Arc<[Intervention]>>,
    /// T_x of each sentence of the batch.
    lengths: Vec<usize>,
    /// Steps begun; the running one is at position `steps - 1`.
    steps: usize,
}

impl<'a> Intervening<'a> {
    /// Around this stepper. `by_sentence` has the interventions of each sentence of the batches to come; a
    /// sentence beyond it has none.
    pub fn new(inner: &'a mut dyn Stepper, by_sentence: Vec<Arc<[Intervention]>>) -> Self {
        Self { inner, by_sentence, lengths: Vec::new(), steps: 0 }
    }

    /// The interventions of a sentence.
    fn of(&self, sentence: usize) -> &[Intervention] {
        self.by_sentence.get(sentence).map_or(&[], |list| list)
    }

    /// What may be said in the row of a sentence at the running position.
    fn words(&self, sentence: usize) -> Words {
        let here = self.steps.saturating_sub(1);
        let mut words = Words::default();
        for one in self.of(sentence) {
            match one {
                Intervention::Force { i, token } if *i == here => words.only = Some(*token),
                Intervention::Forbid { i, token } if i.is_none_or(|i| i == here) => words.never.push(*token),
                Intervention::Force { .. }
                | Intervention::Forbid { .. }
                | Intervention::Pin { .. }
                | Intervention::Permute { .. }
                | Intervention::Mask { .. }
                | Intervention::Temperature(_) => {}
            }
        }
        words
    }

    /// Every word that is named is one of the model's.
    fn check_words(&self, vocabulary: usize) -> Result<()> {
        let named = self.by_sentence.iter().flat_map(|list| list.iter()).filter_map(Intervention::token);
        match named.into_iter().find(|token| *token as usize >= vocabulary) {
            None => Ok(()),
            Some(token) => Err(Error::Input(format!(
                "the word id {token} was forced or forbidden, but the model knows only {vocabulary} target words"
            ))),
        }
    }
}

impl Stepper for Intervening<'_> {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        for (sentence, source) in sources.iter().enumerate() {
            self.of(sentence).iter().try_for_each(|one| one.check_source(source.len()))?;
        }
        self.lengths = sources.iter().map(|source| source.len()).collect();
        self.steps = 0;
        self.inner.begin(sources)
    }

    fn align(&mut self, rows: &[Row], output: &mut StepOutput) -> Result<()> {
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
            look(list, self.steps, r, t_x, output);
        }
        self.steps += 1;
        Ok(())
    }

    fn predict(&mut self, rows: &[Row], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let words: Vec<Words> = rows.iter().map(|row| self.words(row.sentence)).collect();
        if words.iter().all(Words::is_free) {
            return self.inner.predict(rows, need, output);
        }
        let most = words.iter().map(|words| words.never.len()).max().unwrap_or(0);
        let best = if need.best > 0 { need.best.saturating_add(most) } else { 0 };
        let forced = (0..).zip(&words).filter_map(|(row, words)| Some(Asked { row, token: words.only? }));
        let asked: Vec<Asked> = need.words.iter().copied().chain(forced).collect();
        self.inner.predict(rows, &Need { every: need.every, best, words: &asked }, output)?;
        let forced = output.words.split_off(need.words.len());
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
            choose(&words, &forced, need.best, self.steps, output)?;
        }
        Ok(())
    }

    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        self.inner.context(sentence)
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner.annotations(sentence)
    }
}

/// What may be said at one position.
#[derive(Clone, Debug, Default)]
struct Words {
    /// Nothing but this word.
    only: Option<u32>,
    /// None of these.
    never: Vec<u32>,
}

impl Words {
    fn is_free(&self) -> bool {
        self.only.is_none() && self.never.is_empty()
    }

    fn allows(&self, token: u32) -> bool {
        self.only.map_or_else(|| !self.never.contains(&token), |only| only == token)
    }

    /// Takes the probability from every word that may not be said.
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

/// Leaves the `best` words that may be said in each row; `forced` has log p of the forced ones, in the order of rows.
fn choose(words: &[Words], forced: &[f32], best: usize, step: usize, output: &mut StepOutput) -> Result<()> {
    let (mut kept, mut ends) = (Vec::new(), Vec::with_capacity(words.len()));
    let mut forced = forced.iter().copied();
    for (row, words) in words.iter().enumerate() {
        match words.only {
            Some(token) => match forced.next() {
                Some(log_p) if log_p > f32::NEG_INFINITY => kept.push((token, log_p)),
                Some(_) | None => {
                    return Err(Error::Input(format!(
                        "the model gives the word forced at target position {step} (id {token}) no probability at all; choose another word there"
                    )));
                }
            },
            None => kept.extend(output.best_row(row).iter().filter(|word| words.allows(word.0)).take(best)),
        }
        ends.push(kept.len());
    }
    (output.best, output.best_ends) = (kept, ends);
    Ok(())
}

/// An order of the `t_x` source words for target word i: place j takes the weight of the word named there. Every order is
/// equally probable, and the same seed gives the same one.
pub fn permutation(seed: u64, i: usize, t_x: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(i as u64);
    let mut order: Vec<usize> = (0..t_x).collect();
    order.shuffle(&mut rng);
    order
}

/// Changes alpha_i of row `r` over its `t_x` source words.
fn look(list: &[Intervention], i: usize, r: usize, t_x: usize, output: &mut StepOutput) {
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
            Intervention::Pin { .. }
            | Intervention::Permute { .. }
            | Intervention::Force { .. }
            | Intervention::Forbid { .. } => {}
        }
    }
    if let Some(pinned) = pinned {
        output.alpha[at].copy_from_slice(&pinned);
    } else if !masked.is_empty() || temperature != 1.0 {
        let (energies, local) = (output.energies.get(at.clone()), output.p_t_row(r).is_some());
        let scores = scores(&output.alpha[at.clone()], energies, local, temperature);
        share(&scores, &masked, &mut output.alpha[at]);
    }
}

/// ln alpha_ij at a temperature, up to a constant of the row; -infinity where nothing is looked at.
pub(super) fn scores(alpha: &[f32], energies: Option<&[f32]>, local: bool, temperature: f64) -> Vec<f64> {
    let inverse = 1.0 / temperature;
    let score = |(j, alpha): (usize, &f32)| match energies.map(|energies| f64::from(energies[j])) {
        // the energies of several models cannot be compared: their mean alpha is all there is
        None => f64::from(*alpha).ln() * inverse,
        Some(e_ij) if e_ij.is_nan() => f64::NEG_INFINITY,
        // the window and its Gaussian are in alpha alone: softmax(e / T) g = softmax(e) g exp(e / T - e) up to a constant
        Some(e_ij) if local => f64::from(*alpha).ln() + e_ij * (inverse - 1.0),
        Some(e_ij) => e_ij * inverse,
    };
    alpha.iter().enumerate().map(score).collect()
}

/// alpha_i = sum_j alpha_ij softmax(scores), where masked words have no part; all zeros where nothing is left.
pub(super) fn share(scores: &[f64], masked: &[usize], alpha: &mut [f32]) {
    let seen = |j: usize| if masked.contains(&j) { f64::NEG_INFINITY } else { scores[j] };
    let most = (0..scores.len()).map(seen).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = alpha.iter().map(|alpha| f64::from(*alpha)).sum();
    let weight = |j: usize| if most > f64::NEG_INFINITY { (seen(j) - most).exp() } else { 0.0 };
    let sum: f64 = (0..scores.len()).map(weight).sum();
    for (j, alpha) in alpha.iter_mut().enumerate() {
        *alpha = if sum > 0.0 { (total * weight(j) / sum) as f32 } else { 0.0 };
    }
}
