//! What is probably wrong with a translation, from its words and its alignment alone: source words that nothing came
//! from, and words that are repeated. Hints, not proofs; the manual says how often they were right. Imports `alignment`.

use std::collections::HashSet;

use crate::analysis::alignment::Alignment;
use crate::text::language::primary;

/// A source word counts as translated if a target word has at least this weight on it.
const LEAST: f32 = 0.1;
/// Letters of a word that has a meaning of its own.
const LETTERS: usize = 3;
/// Letters of a word that is not repeated after one other word without reason: "pas à pas" is a phrase.
const FAR_LETTERS: usize = 5;
const DIRECT_LETTERS: usize = 3;
const PHRASE: usize = 3;

fn letters(word: &str) -> usize {
    word.chars().filter(|letter| letter.is_alphabetic()).count()
}

/// Source words with a meaning of their own that no target word came from. `from` [target words, source words] says
/// where words come from: an alignment head, or alpha that was guided. `language` is a BCP 47 tag; words such as
/// "about" are left aside in the languages whose function words are known.
pub fn left_out(from: &Alignment, source: &[&str], language: &str) -> Vec<usize> {
    let language = primary(language);
    let known = stop_words::lookup(&language).unwrap_or_default();
    let function: HashSet<&str> = known.iter().copied().collect();
    let is_plain = |word: &str| letters(word) >= LETTERS && !function.contains(word.to_lowercase().as_str());
    let most = |j: usize| from.iter().filter_map(|row| row.get(j)).fold(0.0_f32, |most, weight| most.max(*weight));
    let is_out = |(j, word): &(usize, &&str)| is_plain(word) && most(*j) < LEAST;
    source.iter().enumerate().filter(is_out).map(|(j, _)| j).collect()
}

/// Target words that say again what stands just before them: the word itself, the word before the last, or three words.
/// Words that the source repeats are left aside; `None` is an unknown word, across which nothing is repeated.
pub fn repeated(target: &[Option<&str>], source: &[&str]) -> Vec<usize> {
    let low = |word: &str| word.to_lowercase();
    let source: Vec<String> = source.iter().map(|word| low(word)).filter(|word| letters(word) > LETTERS).collect();
    if source.iter().collect::<HashSet<_>>().len() < source.len() {
        return Vec::new();
    }
    let words: Vec<(usize, Option<String>)> = target
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is_none_or(|word| word.chars().any(char::is_alphanumeric)))
        .map(|(i, word)| (i, word.map(low)))
        .collect();
    let is_again = |at: usize| {
        let word = words[at].1.as_deref()?;
        let before = |by: usize| at.checked_sub(by).and_then(|at| words[at].1.as_deref());
        let is_direct = before(1) == Some(word) && letters(word) >= DIRECT_LETTERS;
        let is_far = before(1).is_some() && before(2) == Some(word) && letters(word) >= FAR_LETTERS;
        let phrase = |from: usize| words.get(from..from + PHRASE)?.iter().map(|(_, word)| word.as_deref()).collect();
        let here: Option<Vec<&str>> = at.checked_sub(PHRASE - 1).and_then(phrase);
        let is_phrase = here.is_some_and(|here| (0..at + 1 - PHRASE).any(|from| phrase(from).as_ref() == Some(&here)));
        (is_direct || is_far || is_phrase).then_some(words[at].0)
    };
    (0..words.len()).filter_map(is_again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_nothing_came_from_is_left_out_unless_it_only_binds_others() {
        let source = ["He", "flatly", "refused", "with", "anger"];
        let from =
            |flatly: f32| Alignment::from_rows(&[vec![0.9, flatly, 0.0, 0.0, 0.0], vec![0.0, 0.0, 0.95, 0.02, 0.02]]);
        assert_eq!(left_out(&from(0.03), &source, "en"), [1, 4]);
        assert_eq!(left_out(&from(0.5), &source, "en-GB"), [4]);
        assert_eq!(left_out(&from(0.5), &source, "xx"), [3, 4], "no function words are known");
    }

    #[test]
    fn what_is_said_twice_is_repeated_unless_the_source_says_it_twice() {
        for (target, expected) in [
            ("il a refusé refusé son aide", vec![3]),
            ("nous arrivons vendredi à vendredi", vec![4]),
            ("elle vit le jour pas à pas", vec![]),
            ("dans un magasin rouge dans un magasin", vec![6]),
            ("un [UNK] dans un [UNK] dans", vec![]),
            ("vous vous levez , oui , oui", vec![1, 6]),
        ] {
            let words: Vec<Option<&str>> =
                target.split(' ').map(|word| Some(word).filter(|word| *word != "[UNK]")).collect();
            assert_eq!(repeated(&words, &["she", "arrives"]), expected, "{target}");
        }
        let again = [Some("jamais"), Some("jamais")];
        assert!(repeated(&again, &["never", "never"]).is_empty());
    }
}
