//! The stepper of an ensemble: all members take the same step, and what they say is averaged.

use std::sync::Arc;

use crate::decoding::ensemble::readings::{EnsembleBatch, Readings};
use crate::error::{Error, Result};
use crate::models::{Need, StepOutput, StepRow, Stepper};
use crate::{decoding::ensemble::average::Average, nn::fused::elementwise};

/// A [`Stepper`] over several with the same target words.
pub struct Mixture {
    steppers: Vec<Box<dyn Stepper>>,
    outputs: Vec<StepOutput>,
    readings: Arc<Readings>,
    average: Average,
    shown: Vec<usize>,
    /// The alpha of the running step, as the caller last left it.
    alpha: Vec<f32>,
    batches: Vec<EnsembleBatch>,
    lengths: Vec<usize>,
    t_x: usize,
}

impl Mixture {
    /// `readings` says what each of the steppers reads; `shown` names those whose alignment is averaged. Where it is
    /// one alone, it must be the lead of the merged sentences.
    pub fn new(steppers: Vec<Box<dyn Stepper>>, readings: Arc<Readings>, average: Average, shown: Vec<usize>) -> Self {
        let outputs = steppers.iter().map(|_| StepOutput::default()).collect();
        Self {
            steppers,
            outputs,
            readings,
            average,
            shown,
            alpha: Vec::new(),
            batches: Vec::new(),
            lengths: Vec::new(),
            t_x: 0,
        }
    }
}

impl Stepper for Mixture {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.batches = self.readings.split(sources)?;
        self.lengths = sources.iter().map(|source| source.len()).collect();
        self.t_x = self.lengths.iter().copied().max().unwrap_or(0);
        for (stepper, batch) in self.steppers.iter_mut().zip(&self.batches) {
            let own: Vec<&[u32]> = batch.sources.iter().map(Vec::as_slice).collect();
            stepper.begin(&own)?;
        }
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        for (stepper, own) in self.steppers.iter_mut().zip(&mut self.outputs) {
            stepper.align(rows, own)?;
        }
        (output.rows, output.t_x) = (rows.len(), self.t_x);
        output.vocabulary = self.outputs.first().map_or(0, |first| first.vocabulary);
        self.average_alpha(rows, output);
        self.alpha.clone_from(&output.alpha);
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        if output.alpha.len() != self.alpha.len() {
            return Err(Error::Internal("the members of an ensemble were given no alpha of theirs".to_owned()));
        }
        if output.alpha != self.alpha {
            self.share_alpha(rows, output);
        }
        for (stepper, own) in self.steppers.iter_mut().zip(&mut self.outputs) {
            stepper.predict(rows, &Need::all(), own)?;
        }
        let [first, others @ ..] = self.outputs.as_slice() else {
            return Err(Error::Internal("an ensemble without members was asked for a step".to_owned()));
        };
        output.log_p.clone_from(&first.log_p);
        average(self.average, &mut output.log_p, others, first.vocabulary);
        output.answer(need);
        let with_head: Vec<usize> =
            (0..self.steppers.len()).filter(|&n| self.steppers[n].has_alignment_head()).collect();
        self.mean(rows, &with_head, StepOutput::head_row, &mut output.head);
        Ok(())
    }

    fn has_alignment_head(&self) -> bool {
        self.steppers.iter().any(|stepper| stepper.has_alignment_head())
    }

    fn most(&self) -> usize {
        self.steppers.iter().map(|stepper| stepper.most()).min().unwrap_or(usize::MAX)
    }

    fn joins(&self) -> bool {
        self.steppers.iter().all(|stepper| stepper.joins())
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let new = self.readings.split(sources)?;
        for ((stepper, batch), new) in self.steppers.iter_mut().zip(&mut self.batches).zip(new) {
            let own: Vec<&[u32]> = new.sources.iter().map(Vec::as_slice).collect();
            stepper.join(kept, &own)?;
            batch.sources = kept.iter().map(|&sentence| std::mem::take(&mut batch.sources[sentence])).collect();
            batch.places = kept.iter().map(|&sentence| std::mem::take(&mut batch.places[sentence])).collect();
            batch.sources.extend(new.sources);
            batch.places.extend(new.places);
        }
        self.lengths = kept.iter().map(|&sentence| self.lengths[sentence]).collect();
        self.lengths.extend(sources.iter().map(|source| source.len()));
        self.t_x = self.lengths.iter().copied().max().unwrap_or(0);
        Ok(())
    }

    fn context(&self, _: usize) -> Option<Vec<f32>> {
        None
    }

    fn annotations(&self, _: usize) -> Option<Vec<Vec<f32>>> {
        None
    }
}

impl Mixture {
    /// alpha_ij = the mean over the shown members of the weight that each gives to its tokens at place j. Energies of
    /// different models cannot be compared, so only those of a single one are given, and so is p_t.
    fn average_alpha(&self, rows: &[StepRow], output: &mut StepOutput) {
        output.energies.clear();
        output.p_t.clear();
        self.mean(rows, &self.shown, StepOutput::alpha_row, &mut output.alpha);
        if let &[only] = self.shown.as_slice() {
            output.energies.clone_from(&self.outputs[only].energies);
            output.p_t.clone_from(&self.outputs[only].p_t);
        }
    }

    fn mean(&self, rows: &[StepRow], members: &[usize], of: RowOf, means: &mut Vec<f32>) {
        means.clear();
        if members.is_empty() {
            return;
        }
        means.resize(rows.len() * self.t_x, 0.0);
        let share = 1.0 / members.len() as f32;
        for &member in members {
            for (r, row) in rows.iter().enumerate() {
                let places = &self.batches[member].places[row.sentence];
                let Some(weights) = of(&self.outputs[member], r, places.len()) else { continue };
                let mean = &mut means[r * self.t_x..][..self.t_x];
                places.iter().zip(weights).for_each(|(&place, weight)| mean[place] += share * weight);
            }
        }
    }
}

type RowOf = fn(&StepOutput, usize, usize) -> Option<&[f32]>;

impl Mixture {
    /// Hands on an alpha that the caller changed: in the rows that differ, every member that aligns looks at each place
    /// as much as is asked for. Of several tokens at a place each gets its own share, or all the same where the member
    /// did not look there. A weight on a place where a member reads nothing is lost to it.
    fn share_alpha(&mut self, rows: &[StepRow], output: &StepOutput) {
        for (r, row) in rows.iter().enumerate() {
            let at = r * self.t_x..(r + 1) * self.t_x;
            let wanted = &output.alpha[at.clone()];
            if *wanted == self.alpha[at] {
                continue;
            }
            for (own, batch) in self.outputs.iter_mut().zip(&self.batches).filter(|(own, _)| !own.alpha.is_empty()) {
                let places = &batch.places[row.sentence];
                share(wanted, places, &mut own.alpha[r * own.t_x..][..places.len()]);
            }
        }
        self.alpha.clone_from(&output.alpha);
    }
}

fn share(wanted: &[f32], places: &[usize], alpha: &mut [f32]) {
    let mut from = 0;
    while from < places.len() {
        // the tokens of a place follow each other
        let count = places[from..].iter().take_while(|place| **place == places[from]).count();
        let tokens = &mut alpha[from..from + count];
        let (sum, wanted) = (tokens.iter().sum::<f32>(), wanted[places[from]]);
        for alpha in tokens {
            *alpha = wanted * if sum > 0.0 { *alpha / sum } else { 1.0 / count as f32 };
        }
        from += count;
    }
}

fn average(average: Average, log_p: &mut [f32], others: &[StepOutput], vocabulary: usize) {
    let count = (others.len() + 1) as f32;
    match average {
        Average::Probability => {
            for other in others {
                elementwise::log_add_exp(&other.log_p, log_p);
            }
            let log_count = count.ln();
            for log_p in log_p {
                *log_p -= log_count;
            }
        }
        Average::LogProbability => {
            for other in others {
                elementwise::add(&other.log_p, log_p);
            }
            for log_p in &mut *log_p {
                *log_p /= count;
            }
            log_p.chunks_exact_mut(vocabulary.max(1)).for_each(elementwise::log_softmax);
        }
    }
}
