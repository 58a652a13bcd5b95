//! What is set in a column, in sentences: for the bar that takes it away again, and for files. Pure.

use std::ops::Range;

use engine::interventions::{Forbid, Interventions, Pin, Place, SetAlpha};
use engine::{models::transformer::heads::HeadPlace, text::sentence::EOS};

/// An intervention to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenAway {
    /// The word that is forced at this target position, and at the beginning those behind it.
    Word(usize),
    Ban(Forbid),
    Pin(usize),
    Mask(Place),
    Head(HeadPlace),
    Temperature,
}

/// How target tokens are counted: as tokens, or as the words that they are pieces of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// The tokens of each word; empty: every token is a word.
    words: Vec<Range<usize>>,
    /// Rows of alpha between a token's own and the one that belongs to it.
    delay: usize,
}

impl TokenCount {
    pub fn by(words: Vec<Range<usize>>) -> Self {
        Self { words, delay: 0 }
    }

    /// Rows of alpha belong to the token `delay` before their own.
    pub fn read_after(self, delay: usize) -> Self {
        Self { delay, ..self }
    }

    fn row_name(&self, row: usize) -> String {
        row.checked_sub(self.delay).map_or_else(|| tr!("step {}", row + 1), |token| self.name(token))
    }

    /// The word that a token belongs to, from 0. What lies behind the last word is counted on.
    fn word(&self, token: usize) -> usize {
        let behind = self.words.last().map_or(0, |last| last.end);
        if token >= behind {
            return self.words.len() + token - behind;
        }
        self.words.partition_point(|word| word.end <= token)
    }

    fn name(&self, token: usize) -> String {
        let at = self.word(token);
        match self.words.get(at).filter(|word| word.len() > 1) {
            Some(word) => tr!("piece {} of word {}", token - word.start + 1, at + 1),
            None => tr!("word {}", at + 1),
        }
    }
}

/// One intervention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandItem {
    pub text: String,
    pub taken: TakenAway,
}

pub fn items(set: &Interventions, source: &str, numbers: &TokenCount) -> Vec<HandItem> {
    let mut items = Vec::new();
    let mut add = |text: String, taken: TakenAway| items.push(HandItem { text, taken });
    for force in set.force.iter().filter(|force| !force.held) {
        add(tr!("{} is \"{}\"", numbers.name(force.i), force.word.text()), TakenAway::Word(force.i));
    }
    for forbid in &set.forbid {
        let word = forbid.word.text();
        let text = match forbid.i {
            Some(i) => tr!("{} is not \"{word}\"", numbers.name(i), word),
            None => tr!("never \"{word}\"", word),
        };
        add(text, TakenAway::Ban(forbid.clone()));
    }
    for Pin { i, alpha } in &set.pin {
        let how = if let SetAlpha::Permuted(seed) = alpha {
            tr!("permuted, seed {seed}", seed)
        } else {
            tr!("set").to_owned()
        };
        add(tr!("alpha of {} is {how}", numbers.row_name(*i), how), TakenAway::Pin(*i));
    }
    for mask in &set.mask {
        let word = match mask {
            Place::Bytes(bytes) if bytes.end == 0 => ">>".to_owned(),
            Place::Bytes(bytes) => source.get(bytes.clone()).filter(|word| !word.is_empty()).unwrap_or(EOS).to_owned(),
            Place::Word(word) => word.clone(),
            Place::Position(j) => tr!("source token {}", j + 1),
        };
        add(tr!("\"{word}\" is masked", word), TakenAway::Mask(mask.clone()));
    }
    for place in &set.leave_out {
        add(tr!("head {place} is left out", place), TakenAway::Head(*place));
    }
    if let Some(t) = set.temperature {
        add(tr!("temperature {t}", t = format_args!("{t:.2}")), TakenAway::Temperature);
    }
    items
}

/// How many words are held because of a change after them.
pub fn held(set: &Interventions, numbers: &TokenCount) -> usize {
    let held = set.force.iter().filter(|force| force.held);
    let mut words: Vec<usize> = held.map(|force| numbers.word(force.i)).collect();
    words.dedup();
    words.len()
}

pub fn sentence(set: &Interventions, source: &str, numbers: &TokenCount) -> Option<String> {
    let items = items(set, source, numbers);
    if items.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = items.into_iter().map(|item| item.text).collect();
    match held(set, numbers) {
        0 => {}
        count => parts.push(tr!("{n} word before is held" | "{n} words before are held" % count)),
    }
    Some(tr!("Set by hand: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::interventions::{Force, Word};
    use engine::models::transformer::heads::HeadKind;

    #[test]
    fn everything_that_is_set_is_said() {
        let word = |word: &str| Word::Entry(word.to_owned());
        let force = |i, text: &str, held| Force { i, word: word(text), held };
        let set = Interventions {
            force: vec![force(0, "la", true), force(1, "botte", false), force(4, "usée", false)],
            forbid: vec![Forbid { i: Some(2), word: word("a") }, Forbid { i: None, word: word("b") }],
            pin: vec![Pin { i: 2, alpha: SetAlpha::Weights(vec![1.0]) }, Pin { i: 3, alpha: SetAlpha::Permuted(7) }],
            mask: vec![Place::Bytes(4..7), Place::Bytes(12..12)],
            leave_out: vec![HeadPlace { attention: HeadKind::Source, layer: 2, head: 3 }],
            temperature: Some(2.0),
            ..Interventions::default()
        };
        assert_eq!(
            sentence(&set, "the red shoe", &TokenCount::default()).as_deref(),
            Some(
                "Set by hand: word 2 is \"botte\"; word 5 is \"usée\"; word 3 is not \"a\"; never \"b\"; alpha of word 3 is set; \
                 alpha of word 4 is permuted, seed 7; \"red\" is masked; \"</s>\" is masked; head source 2.3 is left out; temperature 2.00; 1 word before is held"
            )
        );
        assert_eq!(sentence(&Interventions::default(), "", &TokenCount::default()), None);
        // the first two tokens are one word, which is held in part, and the third is the second word
        let numbers = TokenCount::by(vec![0..2, 2..3]);
        assert_eq!(
            sentence(&set, "the red shoe", &numbers).as_deref(),
            Some(
                "Set by hand: piece 2 of word 1 is \"botte\"; word 4 is \"usée\"; word 2 is not \"a\"; never \"b\"; alpha of word 2 is \
                 set; alpha of word 3 is permuted, seed 7; \"red\" is masked; \"</s>\" is masked; head source 2.3 is left out; temperature 2.00; 1 word before is held"
            )
        );
        assert_eq!(
            (numbers.name(2), numbers.name(3), numbers.name(4)),
            ("word 2".into(), "word 3".into(), "word 4".into())
        );
    }
}
