//! Floor 8: what is set in a column, in sentences: for the bar that takes it away again, and for files. Pure.

use crate::session::pages::sentence::command::Taken;
use crate::worker::interventions::Interventions;

/// One thing that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is, in few words.
    pub text: String,
    /// How it is taken away.
    pub taken: Taken,
}

/// All that is set; `source` is the text that it was set for.
pub fn items(set: &Interventions, source: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut add = |text: String, taken: Taken| items.push(Item { text, taken });
    for (at, start) in set.prefix.iter().enumerate().filter(|(_, start)| start.is_forced) {
        add(format!("word {} is \"{}\"", at + 1, start.word.text()), Taken::Word(at));
    }
    for (i, word) in &set.forces {
        add(format!("word {} is \"{}\"", i + 1, word.text()), Taken::Force(*i));
    }
    for ban in &set.bans {
        let word = ban.word.text();
        let text = match ban.i {
            Some(i) => format!("word {} is not \"{word}\"", i + 1),
            None => format!("never \"{word}\""),
        };
        add(text, Taken::Ban(ban.clone()));
    }
    for pin in &set.pins {
        add(format!("alpha of word {} is set", pin.i + 1), Taken::Pin(pin.i));
    }
    for (i, seed) in &set.orders {
        add(format!("alpha of word {} is permuted, seed {seed}", i + 1), Taken::Pin(*i));
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
pub fn held(set: &Interventions) -> usize {
    set.prefix.iter().filter(|start| !start.is_forced).count()
}

/// All that is set as one sentence; `None` where nothing is.
pub fn sentence(set: &Interventions, source: &str) -> Option<String> {
    let items = items(set, source);
    if items.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = items.into_iter().map(|item| item.text).collect();
    match held(set) {
        0 => {}
        1 => parts.push("1 word before is held".to_owned()),
        count => parts.push(format!("{count} words before are held")),
    }
    Some(format!("Set by hand: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::interventions::{Ban, Pin, Start, Word};

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
            sentence(&set, "the red shoe").as_deref(),
            Some(
                "Set by hand: word 2 is \"botte\"; word 5 is \"usée\"; word 3 is not \"a\"; never \"b\"; alpha of word 3 is set; \
                 alpha of word 4 is permuted, seed 7; \"red\" is masked; \"</s>\" is masked; temperature 2.00; 1 word before is held"
            )
        );
        assert_eq!(sentence(&Interventions::default(), ""), None);
    }
}
