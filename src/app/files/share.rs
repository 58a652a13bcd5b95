//! Floor 9: a sentence with what is set in a column as a file that others open, and that `interlinear translate
//! --interventions` reads. Pure.

use crate::app::document::column::Column;
use crate::decoding::Said;
use crate::error::{Error, Result};
use crate::jobs::live::interventions::{Interventions, Touched};
use crate::jobs::live::protocol::HypothesisView;
use crate::text::interventions::{Alpha, Forbid, Force, Interventions as File, Pin, Place};

/// What is set in a column as one line of JSON.
///
/// # Errors
/// Nothing is translated, or the words with what is set last are still being chosen.
pub fn json(column: &Column, set: &Interventions) -> Result<String> {
    let waits = column.decoding || column.stale || *column.set != *set;
    let Some(best) = column.hypotheses.first().filter(|_| !waits) else {
        let message = "The words of this column are still being chosen; save it when they stand";
        return Err(Error::Input(message.to_owned()));
    };
    let file = File {
        source: Some(column.source.text.clone()),
        model: column.facts.as_ref().map(|facts| facts.name.clone()),
        ..file(best, set)
    };
    Ok(file.to_json()? + "\n")
}

/// What is set in a column, as far as its model took it for this translation.
pub fn file(best: &HypothesisView, set: &Interventions) -> File {
    let touched = &best.touched;
    File {
        force: forced(&best.tokens, touched, set),
        forbid: set
            .bans
            .iter()
            .filter(|ban| !touched.refused.contains(&ban.word))
            .map(|ban| Forbid { position: ban.i.map(|i| i + 1), word: text(ban.word.text()) })
            .collect(),
        pin: rows(touched, set),
        mask: touched.masked.iter().map(|j| Place::Position(j + 1)).collect(),
        temperature: set.temperature.filter(|_| best.alpha.is_some()),
        ..File::default()
    }
}

fn text(word: &str) -> String {
    word.trim().to_owned()
}

/// The words of the prefix as the model's own entries, and those that are said further on.
fn forced(tokens: &[String], touched: &Touched, set: &Interventions) -> Vec<Force> {
    let prefix = touched.words.iter().take_while(|said| **said != Said::Free);
    let one = |(i, (said, word)): (usize, (&Said, &String))| Force {
        position: i + 1,
        word: word.clone(),
        held: *said == Said::Held,
    };
    let mut forced: Vec<Force> = prefix.zip(tokens).enumerate().map(one).collect();
    let first = forced.len();
    // a word that this model does not take would keep the file from being opened
    let behind = set.forces.iter().filter(|(i, word)| *i >= first && !touched.refused.contains(word));
    forced.extend(behind.map(|(i, word)| Force { position: i + 1, word: text(word.text()), held: false }));
    forced
}

/// The rows that are set; those that did not fit the sentence are left out.
fn rows(touched: &Touched, set: &Interventions) -> Vec<Pin> {
    let pins = set.pins.iter().map(|pin| Pin { row: pin.i + 1, alpha: Alpha::Weights(pin.alpha.to_vec()) });
    let orders = set.orders.iter().map(|(i, seed)| Pin { row: i + 1, alpha: Alpha::Permuted(*seed) });
    pins.chain(orders).filter(|pin| touched.pinned.contains(&(pin.row - 1))).collect()
}
