//! Floor 9: what is set in a column, in sentences: for the bar that takes it away again, and for files. Pure.

use std::ops::Range;

use crate::jobs::live::interventions::{Ban, Interventions};

/// What is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A word of the prefix by its place, and those behind it.
    Word(usize),
    /// The word that is said at this target position, behind the prefix.
    Force(usize),
    /// A ban.
    Ban(Ban),
    /// The row at this target position.
    Pin(usize),
    /// The mask at this place of the text.
    Mask(Range<usize>),
    /// The temperature.
    Temperature,
}

/// How target tokens are counted: by themselves, or as the words that they are pieces of, where those are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The tokens of each word; empty: every token is a word.
    words: Vec<Range<usize>>,
    /// Rows of alpha between a token's own and the one that belongs to it.
    delay: usize,
}

impl Numbers {
    /// By the tokens of each word; none: every token is a word.
    pub fn by(words: Vec<Range<usize>>) -> Self {
        Self { words, delay: 0 }
    }

    /// With rows of alpha that belong to the token so many before their own.
    pub fn read_after(self, delay: usize) -> Self {
        Self { delay, ..self }
    }

    /// The token that a row of alpha belongs to, in words.
    fn row_name(&self, row: usize) -> String {
        row.checked_sub(self.delay).map_or_else(|| format!("step {}", row + 1), |token| self.name(token))
    }

    /// The word that a token belongs to, from 0. What lies behind the last word is counted on.
    fn word(&self, token: usize) -> usize {
        let behind = self.words.last().map_or(0, |last| last.end);
        if token >= behind {
            return self.words.len() + token - behind;
        }
        self.words.partition_point(|word| word.end <= token)
    }

    /// A token in words.
    fn name(&self, token: usize) -> String {
        let at = self.word(token);
        match self.words.get(at).filter(|word| word.len() > 1) {
            Some(word) => format!("piece {} of word {}", token - word.start + 1, at + 1),
            None => format!("word {}", at + 1),
        }
    }
}

/// One thing that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is, in few words.
    pub text: String,
    /// How it is taken away.
    pub taken: Taken,
}

/// All that is set; `source` is the text that it was set for, `numbers` says how target words are counted.
pub fn items(set: &Interventions, source: &str, numbers: &Numbers) -> Vec<Item> {
    let mut items = Vec::new();
    let mut add = |text: String, taken: Taken| items.push(Item { text, taken });
    for (at, start) in set.prefix.iter().enumerate().filter(|(_, start)| start.is_forced) {
        add(format!("{} is \"{}\"", numbers.name(at), start.word.text()), Taken::Word(at));
    }
    for (i, word) in &set.forces {
        add(format!("{} is \"{}\"", numbers.name(*i), word.text()), Taken::Force(*i));
    }
    for ban in &set.bans {
        let word = ban.word.text();
        let text = match ban.i {
            Some(i) => format!("{} is not \"{word}\"", numbers.name(i)),
            None => format!("never \"{word}\""),
        };
        add(text, Taken::Ban(ban.clone()));
    }
    for pin in &set.pins {
        add(format!("alpha of {} is set", numbers.row_name(pin.i)), Taken::Pin(pin.i));
    }
    for (i, seed) in &set.orders {
        add(format!("alpha of {} is permuted, seed {seed}", numbers.row_name(*i)), Taken::Pin(*i));
    }
    for mask in &set.masks {
        let word = source.get(mask.clone()).filter(|word| !word.is_empty()).unwrap_or("</s>");
        add(format!("\"{word}\" is masked"), Taken::Mask(mask.clone()));
    }
    if let Some(t) = set.temperature {
        add(format!("temperature {t:.2}"), Taken::Temperature);
    }
    items
}

/// How many words are held because of what was changed behind them.
pub fn held(set: &Interventions, numbers: &Numbers) -> usize {
    let held = set.prefix.iter().enumerate().filter(|(_, start)| !start.is_forced);
    let mut words: Vec<usize> = held.map(|(at, _)| numbers.word(at)).collect();
    words.dedup();
    words.len()
}

/// All that is set as one sentence; `None` where nothing is.
pub fn sentence(set: &Interventions, source: &str, numbers: &Numbers) -> Option<String> {
    let items = items(set, source, numbers);
    if items.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = items.into_iter().map(|item| item.text).collect();
    match held(set, numbers) {
        0 => {}
        1 => parts.push("1 word before is held".to_owned()),
        count => parts.push(format!("{count} words before are held")),
    }
    Some(format!("Set by hand: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::live::interventions::{Pin, Start, Word};

    #[test]
    fn everything_that_is_set_is_said() {
        let word = |word: &str| Word::Entry(word.to_owned());
        let set = Interventions {
            prefix: vec![Start { word: word("la"), is_forced: false }, Start { word: word("botte"), is_forced: true }],
            forces: vec![(4, word("usée"))],
            bans: vec![Ban { i: Some(2), word: word("a") }, Ban { i: None, word: word("b") }],
            orders: vec![(3, 7)],
            pins: vec![Pin { i: 2, alpha: std::sync::Arc::from([1.0]) }],
            masks: vec![4..7, 12..12],
            temperature: Some(2.0),
        };
        assert_eq!(
            sentence(&set, "the red shoe", &Numbers::default()).as_deref(),
            Some(
                "Set by hand: word 2 is \"botte\"; word 5 is \"usée\"; word 3 is not \"a\"; never \"b\"; alpha of word 3 is set; \
                 alpha of word 4 is permuted, seed 7; \"red\" is masked; \"</s>\" is masked; temperature 2.00; 1 word before is held"
            )
        );
        assert_eq!(sentence(&Interventions::default(), "", &Numbers::default()), None);
        // the first two tokens are one word, which is held in part, and the third is the second word
        let numbers = Numbers::by(vec![0..2, 2..3]);
        assert_eq!(
            sentence(&set, "the red shoe", &numbers).as_deref(),
            Some(
                "Set by hand: piece 2 of word 1 is \"botte\"; word 4 is \"usée\"; word 2 is not \"a\"; never \"b\"; alpha of word 2 is \
                 set; alpha of word 3 is permuted, seed 7; \"red\" is masked; \"</s>\" is masked; temperature 2.00; 1 word before is held"
            )
        );
        assert_eq!(
            (numbers.name(2), numbers.name(3), numbers.name(4)),
            ("word 2".into(), "word 3".into(), "word 4".into())
        );
    }
}
