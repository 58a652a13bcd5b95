//! A sentence with what is set in a column as a file that others open, and that `interlinear translate
//! --interventions` reads. Pure.

use crate::app::document::column::Column;
use engine::error::{Error, Result};
use engine::interventions::Interventions;

/// As one line of JSON. Error: nothing is translated, or words are still being chosen.
pub fn json(column: &Column, set: &Interventions) -> Result<String> {
    let waits = column.decoding || column.stale || *column.set != *set;
    let Some(best) = column.hypotheses.first().filter(|_| !waits) else {
        let message = tr!("The words of this column are still being chosen; save it when they stand");
        return Err(Error::Input(message.to_owned()));
    };
    let source = Some(column.source.text.clone());
    let model = column.facts.as_ref().map(|facts| facts.name.clone());
    let form = Interventions { source, model, ..best.touched.form.clone() };
    Ok(form.to_json()? + "\n")
}
