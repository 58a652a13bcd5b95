//! A translation that the user gives, as a model reads it: its probability, word by word, and its alignment.

use crate::jobs::{live::protocol::HypothesisView, live::view, models::loaded::LoadedModel};
use engine::error::{Error, Result};
use engine::evaluation::rows::{self, RowReader};
use engine::{decoding::force, models::Stepper, text::line, ticket::CancellationToken};

/// Most numbers of its alignment.
const MOST_CELLS: usize = 4_000_000;

/// The given words under this model, `</s>` included. Error: no words, too many, or [`Error::Stale`].
pub(crate) fn given(
    model: &LoadedModel,
    source: &view::Source,
    text: &str,
    stepper: &mut dyn Stepper,
    ticket: &CancellationToken,
) -> Result<HypothesisView> {
    let target = line::read(&model.model().target, text, false);
    let target = target.map_err(|why| Error::Input(format!("Your translation {why}.")))?;
    if target.words() == 0 {
        return Err(Error::Input("Your translation has no words that this model could read.".to_owned()));
    }
    let cells = source.sentence.len() * target.ids.len();
    if cells > MOST_CELLS {
        return Err(Error::Input("Your translation is too long to be aligned with this text.".to_owned()));
    }
    let longer = RowReader::own(model.system()).tokens_past_eos(&target.ids);
    let forced = force(stepper, &[(&source.sentence.ids, &longer)], ticket)?;
    let forced = rows::of_tokens_alone(forced.into_iter().next().unwrap_or_default(), target.ids.len());
    Ok(view::given(&model.wording(), source, (&target, false), forced))
}
