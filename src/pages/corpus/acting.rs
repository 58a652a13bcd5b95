//! Floor 11: what is set for a model on page Sentence as interventions for every sentence of a workspace.

use crate::jobs::live::interventions::{Interventions, Word};
use crate::text::interventions::{Alpha, Forbid, Force, Interventions as File, Pin, Place};
use crate::text::sentence::EOS;

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::jobs::live::interventions::{Ban, Pin as Row, Start};

    #[test]
    fn what_is_set_for_a_sentence_is_said_in_words_that_others_have() {
        let word = |text: &str| Word::Entry(text.to_owned());
        let set = Interventions {
            prefix: vec![Start { word: word("le"), is_forced: false }, Start { word: word("vieux"), is_forced: true }],
            forces: vec![(4, word("vent"))],
            bans: vec![Ban { i: None, word: Word::Typed(" moulin ".to_owned()) }],
            pins: vec![Row { i: 2, alpha: Arc::from([0.5, 0.5].as_slice()) }],
            orders: vec![(3, 7)],
            masks: vec![4..7, 12..12],
            temperature: Some(0.5),
        };
        let file = file(&set, "the old mill");
        let places = |force: &Force| (force.position, force.word.clone());
        assert_eq!(
            file.force.iter().map(places).collect::<Vec<_>>(),
            [(2, "vieux".to_owned()), (5, "vent".to_owned())]
        );
        assert_eq!(file.forbid, [Forbid { position: None, word: "moulin".to_owned() }]);
        let weights = Pin { row: 3, alpha: Alpha::Weights(vec![0.5, 0.5]) };
        assert_eq!(file.pin, [weights, Pin { row: 4, alpha: Alpha::Permuted(7) }]);
        assert_eq!(file.mask, [Place::Word("old".to_owned()), Place::Word("</s>".to_owned())]);
        assert_eq!((file.temperature, file.source), (Some(0.5), None));
    }
}
