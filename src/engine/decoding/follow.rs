//! What a model would say at each word of a given target, over its whole vocabulary.

use crate::models::{Need, StepOutput, StepRow, Stepper};
use crate::{decoding::beam::check_sources, error::Result, ticket::CancellationToken};

/// Goes through `target` word by word and shows each step before its word is read, with log p of every word and the
/// `best` ones.
pub fn follow(
    stepper: &mut dyn Stepper,
    source: &[u32],
    target: &[u32],
    best: usize,
    ticket: &CancellationToken,
    see: &mut dyn FnMut(usize, &StepOutput),
) -> Result<()> {
    check_sources(&[source])?;
    stepper.begin(&[source])?;
    let mut output = StepOutput::default();
    for i in 0..target.len() {
        ticket.check()?;
        let y_prev = (i > 0).then(|| target[i - 1]);
        let need = Need { every: true, best, words: &[] };
        stepper.step(&[StepRow { sentence: 0, parent: 0, y_prev }], &need, &mut output)?;
        see(i, &output);
    }
    Ok(())
}
