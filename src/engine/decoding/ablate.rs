//! Every step of a given translation said again with another alpha_i, the steps before it left as they were: by
//! how much the words depend on where the model looks (Jain and Wallace 2019, Attention is not Explanation; Wiegreffe
//! and Pinter 2019, Attention is not not Explanation).

use std::ops::Range;

use crate::decoding::reweigh::{permutation, scores, share};
use crate::decoding::{beam::check_sources, forced::outside};
use crate::error::{Error, Result};
use crate::models::transformer::heads::{HeadChanges, HeadPlace};
use crate::models::{Asked, Need, StepOutput, StepRow, Stepper};
use crate::ticket::CancellationToken;

/// What becomes of alpha_i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaChange {
    Own,
    /// Every source word has the same weight, `</s>` included; the row keeps its sum.
    Uniform,
    /// The weights change places, by [`permutation`] with this seed.
    Permuted(u64),
    /// Source word j has no weight and the rest share it in proportion, as a mask does.
    Without(usize),
}

/// What the model says at a step after a change.
#[derive(Clone, Copy, Debug)]
pub struct AblatedStep<'a> {
    pub i: usize,
    pub change: AlphaChange,
    pub alpha: &'a [f32],
    /// log p of every word, by alpha_i as changed.
    pub log_p: &'a [f32],
    /// log p of every word, by the model's own alpha_i.
    pub own: &'a [f32],
}

/// Rows of a step: each has probabilities of a vocabulary.
const MOST_ROWS: usize = 64;
const MOST_HEADS: usize = 31;

/// Forces a target (ids, `</s>` included) and tells what each step says by its own alpha_i, which comes first, by a
/// uniform one, by one permuted with each seed, and without each source word.
pub fn ablate(
    stepper: &mut dyn Stepper, (source, target): (&[u32], &[u32]), seeds: &[u64], ticket: &CancellationToken,
    on_progress: &mut dyn FnMut(AblatedStep<'_>),
) -> Result<()> {
    check_sources(&[source])?;
    ticket.check()?;
    stepper.begin(&[source])?;
    let t_x = source.len();
    let permuted = seeds.iter().copied().map(AlphaChange::Permuted);
    let changes: Vec<AlphaChange> = [AlphaChange::Own, AlphaChange::Uniform]
        .into_iter()
        .chain(permuted)
        .chain((0..t_x).map(AlphaChange::Without))
        .collect();
    let slots = changes.len().min(MOST_ROWS);
    let mut output = StepOutput::default();
    let mut own = Vec::new();
    for (i, &token) in target.iter().enumerate() {
        let y_prev = i.checked_sub(1).map(|before| target[before]);
        let rows = vec![StepRow { sentence: 0, parent: 0, y_prev }; slots];
        stepper.align(&rows, &mut output)?;
        if token as usize >= output.vocabulary {
            return Err(outside(token, i, output.vocabulary));
        }
        let looked = Looked::read(&output, t_x)?;
        for (round, changes) in changes.chunks(slots).enumerate() {
            ticket.check()?;
            for (slot, change) in changes.iter().enumerate() {
                looked.change(*change, i, &mut output.alpha[slot * t_x..(slot + 1) * t_x]);
            }
            stepper.predict(&rows, &Need::all(), &mut output)?;
            if round == 0 {
                own = output.log_p_row(0).to_vec();
            }
            for (slot, &change) in changes.iter().enumerate() {
                let alpha = &output.alpha[slot * t_x..(slot + 1) * t_x];
                on_progress(AblatedStep { i, change, alpha, log_p: output.log_p_row(slot), own: &own });
            }
        }
        if changes.len() > slots {
            // The next step goes on from the last answer, which must be the model's own.
            output.alpha[..t_x].copy_from_slice(&looked.alpha);
            stepper.predict(&rows, &Need::words(&[]), &mut output)?;
        }
    }
    Ok(())
}

/// log p of some words of a forced target (ids), by the model's own alpha_i and with these source tokens left out of
/// it, the others sharing their weight in proportion; the steps before stay as they were. A pair for each word.
pub fn leave_out(
    stepper: &mut dyn Stepper, (source, target): (&[u32], &[u32]), words: Range<usize>, tokens: &[usize],
    ticket: &CancellationToken,
) -> Result<Vec<[f32; 2]>> {
    check_sources(&[source])?;
    stepper.begin(&[source])?;
    let t_x = source.len();
    let (mut output, mut found) = (StepOutput::default(), Vec::with_capacity(words.len()));
    for (i, &token) in target.iter().enumerate().take(words.end) {
        ticket.check()?;
        let y_prev = i.checked_sub(1).map(|before| target[before]);
        let slots = if words.contains(&i) { 2 } else { 1 };
        let rows = vec![StepRow { sentence: 0, parent: 0, y_prev }; slots];
        stepper.align(&rows, &mut output)?;
        if token as usize >= output.vocabulary {
            return Err(outside(token, i, output.vocabulary));
        }
        if slots == 2 {
            let looked = Looked::read(&output, t_x)?;
            share(&looked.scores, tokens, &mut output.alpha[t_x..2 * t_x]);
        }
        let asked = [Asked { row: 0, token }, Asked { row: 1, token }];
        stepper.predict(&rows, &Need::words(if slots == 2 { &asked } else { &[] }), &mut output)?;
        if let [own, without] = output.words[..] {
            found.push([own, without]);
        }
    }
    Ok(found)
}

/// Hears the place of a head among those asked about, log p of every word with it, and without it.
pub type HeadListener<'a> = dyn FnMut(usize, &[f32], &[f32]) + 'a;

/// Forces a target (ids, `</s>` included) with each of these heads left out in turn, in all steps, and tells log p of
/// every word at each step: the place of the head among them, then that of the model with nothing further left out,
/// then without the head (Michel, Levy, Neubig 2019, Are Sixteen Heads Really Better than One?, section 3.2).
pub fn leave_heads_out(
    stepper: &mut dyn Stepper, (source, target): (&[u32], &[u32]), places: &[HeadPlace], ticket: &CancellationToken,
    on_progress: &mut HeadListener<'_>,
) -> Result<()> {
    check_sources(&[source])?;
    let mut output = StepOutput::default();
    for (round, places) in places.chunks(MOST_HEADS).enumerate() {
        ticket.check()?;
        let without = |place: &HeadPlace| HeadChanges { left_out: vec![*place], masked: Vec::new() };
        let changes: Vec<HeadChanges> =
            std::iter::once(HeadChanges::default()).chain(places.iter().map(without)).collect();
        stepper.begin_changed(&vec![source; changes.len()], &changes)?;
        for (i, &token) in target.iter().enumerate() {
            ticket.check()?;
            let y_prev = i.checked_sub(1).map(|before| target[before]);
            let rows: Vec<StepRow> =
                (0..changes.len()).map(|row| StepRow { sentence: row, parent: row, y_prev }).collect();
            stepper.step(&rows, &Need::all(), &mut output)?;
            if token as usize >= output.vocabulary {
                return Err(outside(token, i, output.vocabulary));
            }
            for n in 0..places.len() {
                on_progress(round * MOST_HEADS + n, output.log_p_row(0), output.log_p_row(n + 1));
            }
        }
    }
    Ok(())
}

struct Looked {
    alpha: Vec<f32>,
    scores: Vec<f64>,
}

impl Looked {
    fn read(output: &StepOutput, t_x: usize) -> Result<Self> {
        let Some(alpha) = output.alpha_row(0, t_x) else {
            let message = "this model has no alignment that could be changed; choose one that aligns";
            return Err(Error::Input(message.to_owned()));
        };
        let local = output.p_t_row(0).is_some();
        Ok(Self { scores: scores(alpha, output.energies_row(0, t_x), local, 1.0), alpha: alpha.to_vec() })
    }

    fn change(&self, change: AlphaChange, i: usize, alpha: &mut [f32]) {
        let t_x = self.alpha.len();
        alpha.copy_from_slice(&self.alpha);
        match change {
            AlphaChange::Own => {}
            AlphaChange::Uniform => alpha.fill(self.alpha.iter().sum::<f32>() / t_x as f32),
            AlphaChange::Permuted(seed) => {
                alpha.iter_mut().zip(permutation(seed, i, t_x)).for_each(|(alpha, j)| *alpha = self.alpha[j]);
            }
            AlphaChange::Without(j) => share(&self.scores, &[j], alpha),
        }
    }
}
