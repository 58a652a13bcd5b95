//! Floor 9: what is set for a model on page Sentence as interventions for every sentence of a workspace.

use crate::text::interventions::{Alpha, Forbid, Force, Interventions as File, Pin, Place};
use crate::text::sentence::EOS;
use crate::worker::interventions::{Interventions, Word};

/// As a file has them; `source` is the text that they were set for. Words that are only held, and not chosen, are free.
pub fn file(set: &Interventions, source: &str) -> File {
    let text = |word: &Word| word.text().trim().to_owned();
    let first = set.prefix.iter().enumerate().filter(|(_, start)| start.is_forced).map(|(i, start)| (i, &start.word));
    let forced = first.chain(set.forces.iter().map(|(i, word)| (*i, word)));
    let pins = set.pins.iter().map(|pin| Pin { row: pin.i + 1, alpha: Alpha::Weights(pin.alpha.to_vec()) });
    let orders = set.orders.iter().map(|(i, seed)| Pin { row: i + 1, alpha: Alpha::Permuted(*seed) });
    let masked = |mask: &std::ops::Range<usize>| {
        let word = source.get(mask.clone()).filter(|word| !word.is_empty()).unwrap_or(EOS);
        Place::Word(word.to_owned())
    };
    File {
        force: forced.map(|(i, word)| Force { position: i + 1, word: text(word), held: false }).collect(),
        forbid: set.bans.iter().map(|ban| Forbid { position: ban.i.map(|i| i + 1), word: text(&ban.word) }).collect(),
        pin: pins.chain(orders).collect(),
        mask: set.masks.iter().map(masked).collect(),
        temperature: set.temperature,
        ..File::default()
    }
}
