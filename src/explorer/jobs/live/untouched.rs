//! What a model does by itself where a column has interventions: its own translation, and how far each next
//! word is from what it would have said.

use crate::jobs::live::protocol::Shift;
use engine::interventions::{Intervening, Intervention};
use engine::models::{StepOutput, Stepper};
use engine::text::{sentence::UNK, tokenizer::Tokenizer};
use engine::{
    analysis::divergence::jensen_shannon, decoding::follow::follow, error::Result, ticket::CancellationToken,
};

/// Most log p that are kept of the model's own steps; words further on are not compared.
const MOST: usize = 16_000_000;

/// How interventions change the next word at each place of `target`, given the same words; forced words are ignored.
pub(crate) fn shifts(
    stepper: &mut dyn Stepper,
    list: &[Intervention],
    pair: (&[u32], &[u32]),
    words: (&Tokenizer, usize),
    ticket: &CancellationToken,
) -> Result<Vec<Shift>> {
    let (source, target) = pair;
    let (vocabulary, candidates) = words;
    let best = |output: &StepOutput| -> Vec<(String, f32)> {
        let word = |id: u32| vocabulary.token(id).unwrap_or(UNK).to_owned();
        output.best_row(0).iter().map(|&(id, log_p)| (word(id), log_p)).collect()
    };
    let compared = &target[..target.len().min(MOST / vocabulary.len().max(1))];
    let (mut own, mut shifts) = (Vec::new(), Vec::new());
    follow(stepper, source, compared, candidates, ticket, &mut |i, output| {
        let log_p = output.log_p.get(compared[i] as usize).copied().unwrap_or(f32::NEG_INFINITY);
        shifts.push(Shift { before: best(output), log_p, ..Shift::default() });
        own.push(output.log_p.clone());
    })?;
    let free = list.iter().filter(|one| !matches!(one, Intervention::Force { .. })).cloned();
    let mut changed = Intervening::new(stepper, vec![free.collect()]);
    follow(&mut changed, source, compared, candidates, ticket, &mut |i, output| {
        shifts[i].after = best(output);
        shifts[i].divergence = jensen_shannon(&own[i], &output.log_p) as f32;
    })?;
    Ok(shifts)
}
