//! Floor 8: both steps of two models in a row: what the first says, and how the second reads it.

use crate::analysis::reading::Reading;
use crate::decoding::ensemble::pivot::Between;
use crate::decoding::{Hypothesis, force};
use crate::error::Result;
use crate::jobs::live::protocol::BetweenView;
use crate::jobs::live::view::{Source, Wording, view};
use crate::models::{Kernels, Model};
use crate::text::sentence::Sentence;
use crate::ticket::CancellationToken;

/// Both steps of a translation of `source` by two models.
pub(crate) fn steps(
    [first, second]: [&Model; 2],
    (source, between): (&Sentence, &Between),
    best: &[u32],
    threads: usize,
    ticket: &CancellationToken,
) -> Result<BetweenView> {
    let mut stepper = second.stepper(Kernels::Fused, threads)?;
    let forced = force(&mut *stepper, &[(&between.read.ids, best)], ticket)?.into_iter().next().unwrap_or_default();
    let then = Hypothesis {
        tokens: best.to_vec(),
        token_log_p: forced.token_log_p,
        log_p: forced.log_p,
        alpha: forced.alpha.map(|mut alpha| {
            alpha.truncate(best.len());
            alpha
        }),
        ..Hypothesis::default()
    };
    let said = |model: &Model, sentence: &Sentence, hypothesis: Hypothesis| {
        let wording = wording(model);
        view(&wording, &Source::new(&wording, sentence.clone(), false), hypothesis)
    };
    Ok(BetweenView {
        said: said(first, source, between.said.clone()),
        read: between.read.clone(),
        then: said(second, &between.read, then),
    })
}

fn wording(model: &Model) -> Wording<'_> {
    Wording {
        source: &model.source,
        target: &model.target,
        language: &model.config.target_language,
        unk: model.config.unk,
        rows: (Reading::Predicted, 0),
    }
}
