//! What is probably wrong with a translation, from its words and its alignment alone: source words that it leaves out,
//! and words that it repeats. Hints, not proofs; the manual says how often they were right. Imports `alignment`.

use crate::analysis::alignment::Alignment;
use crate::text::language::primary;

/// The weight of a target word on a source word from which on the source word counts as translated.
const LEAST: f32 = 0.1;
/// Shorter words are ignored, as function words are.
const LETTERS: usize = 3;
/// The same for a word that is repeated after one other word.
const FAR_LETTERS: usize = 5;
/// Words of a repeated phrase, and how far before it the same phrase may begin.
const PHRASE: usize = 3;
const PHRASE_WITHIN: usize = 8;

/// Words that change the meaning if they are lost, although lists of function words have them.
const KEPT: &[(&str, &[&str])] = &[
    (
        "en",
        &[
            "no", "not", "never", "without", "nothing", "nobody", "two", "three", "four", "five", "six", "seven",
            "eight", "nine", "ten", "hundred", "new", "good", "big", "small", "young", "man", "men", "world", "home",
            "help", "problem", "important",
        ],
    ),
    (
        "de",
        &[
            "nicht", "kein", "keine", "keinen", "nie", "ohne", "nichts", "zwei", "drei", "vier", "fünf", "sechs",
            "sieben", "acht", "neun", "zehn", "neu", "neue", "gut", "gute", "tag", "jahr", "mensch",
        ],
    ),
    (
        "fr",
        &[
            "jamais", "sans", "rien", "personne", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf",
            "dix",
        ],
    ),
];

/// Words between two equal ones that make an idiom of them, such as "temps en temps".
const BETWEEN: [&str; 7] = ["à", "en", "après", "and", "by", "für", "um"];

fn letters(word: &str) -> usize {
    word.chars().filter(|letter| letter.is_alphabetic()).count()
}

/// Whether a word in lower case carries meaning in this language (a BCP 47 tag).
fn has_meaning(word: &str, language: &str) -> bool {
    let language = primary(language);
    let kept = KEPT.iter().find(|(tag, _)| *tag == language).map_or(&[][..], |(_, words)| words);
    let function = stop_words::lookup(&language).unwrap_or_default();
    kept.contains(&word) || letters(word) >= LETTERS && !function.contains(&word)
}

/// Places of source words with a meaning on which no target word has a weight of 0.1. `from` [target words, source words]
/// are the rows of an alignment head. Words of scripts without spaces are too short to be reported.
pub fn left_out(from: &Alignment, source: &[&str], language: &str) -> Vec<usize> {
    let most = |j: usize| from.iter().filter_map(|row| row.get(j)).fold(0.0_f32, |most, weight| most.max(*weight));
    let is_out = |(j, word): &(usize, &&str)| most(*j) < LEAST && has_meaning(&word.to_lowercase(), language);
    source.iter().enumerate().filter(is_out).map(|(j, _)| j).collect()
}

/// Words in lower case with their places; `None` at what no repetition goes across, an unknown word or a sentence's end.
fn comparable(words: &[Option<&str>]) -> Vec<(usize, Option<String>)> {
    let is_end = |word: &str| [".", "!", "?", "\u{2026}"].contains(&word);
    let is_said = |word: &str| is_end(word) || word.chars().any(char::is_alphanumeric);
    let said = words.iter().enumerate().filter(|(_, word)| word.is_none_or(is_said));
    said.map(|(i, word)| (i, word.filter(|word| !is_end(word)).map(str::to_lowercase))).collect()
}

/// Places of target words that repeat the word before, the word before the last, or three words shortly before. A source
/// that repeats a word is not judged. `target` has `None` for unknown words; `language` is that of the target.
pub fn repeated(target: &[Option<&str>], source: &[&str], language: &str) -> Vec<usize> {
    let source = comparable(&source.iter().map(|word| Some(*word)).collect::<Vec<_>>());
    let source: Vec<&String> = source.iter().filter_map(|(_, word)| word.as_ref()).collect();
    let is_long = |word: &str| letters(word) > LETTERS;
    let is_near = (1..source.len()).any(|at| source[at] == source[at - 1] || at > 1 && source[at] == source[at - 2]);
    if is_near || (1..source.len()).any(|at| is_long(source[at]) && source[..at].contains(&source[at])) {
        return Vec::new();
    }
    let words = comparable(target);
    let is_again = |at: usize| {
        let word = words[at].1.as_deref()?;
        let before = |by: usize| at.checked_sub(by).and_then(|at| words[at].1.as_deref());
        let is_direct = before(1) == Some(word) && has_meaning(word, language);
        let is_idiom = before(1).is_none_or(|between| BETWEEN.contains(&between));
        let is_far =
            !is_idiom && before(2) == Some(word) && letters(word) >= FAR_LETTERS && has_meaning(word, language);
        let phrase = |from: usize| words.get(from..from + PHRASE)?.iter().map(|(_, word)| word.as_deref()).collect();
        let begins = at.checked_sub(PHRASE - 1);
        let here: Option<Vec<&str>> = begins.and_then(phrase);
        let mut earlier = begins.into_iter().flat_map(|begins| begins.saturating_sub(PHRASE_WITHIN)..begins);
        let is_phrase = here.is_some_and(|here| earlier.any(|from| phrase(from).as_ref() == Some(&here)));
        (is_direct || is_far || is_phrase).then_some(words[at].0)
    };
    (0..words.len()).filter_map(is_again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_nothing_came_from_is_left_out_unless_it_only_binds_others() {
        let source = ["He", "flatly", "refused", "with", "no", "anger"];
        let from = |flatly: f32| {
            Alignment::from_rows(&[vec![0.9, flatly, 0.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 0.95, 0.02, 0.0, 0.02]])
        };
        assert_eq!(left_out(&from(0.03), &source, "en"), [1, 4, 5]);
        assert_eq!(left_out(&from(0.5), &source, "en-GB"), [4, 5]);
        assert_eq!(left_out(&from(0.5), &source, "xx"), [3, 5], "no function words are known");
    }

    #[test]
    fn what_is_said_twice_is_repeated_unless_the_source_or_the_grammar_says_it_twice() {
        let fault = |target: &str, source: &[&str]| {
            let words = target.split(' ').map(|word| Some(word).filter(|word| *word != "[UNK]"));
            repeated(&words.collect::<Vec<_>>(), source, "fr")
        };
        for (target, expected) in [
            ("il a refusé refusé son aide", vec![3]),
            ("le professeur de professeur", vec![3]),
            ("elle vit petit à petit", vec![]),
            ("dans un magasin rouge dans un magasin", vec![6]),
            ("un [UNK] dans un [UNK] dans", vec![]),
            ("vous vous levez . Levez la main", vec![]),
        ] {
            assert_eq!(fault(target, &["she", "arrives"]), expected, "{target}");
        }
        assert!(fault("au revoir revoir", &["bye", ",", "bye"]).is_empty());
        assert!(fault("jamais jamais", &["never", "say", "it", "again", "never"]).is_empty());
    }
}
