//! How well single words are translated, words counted as in bags (compare-mt, Neubig et al. 2019): an output
//! word is right as often as the reference has it too. Imports its room and `text`.

use std::collections::BTreeMap;

use crate::analysis::mteval::{Tokenization, tokenize, words};
use crate::analysis::unknown;
use crate::text::{sentence::UNK, unspaced, words::folded};

/// Counts of a word, or of a class of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LexicalCounts {
    pub reference: u64,
    pub output: u64,
    /// In both: the lesser of the two, sentence by sentence.
    pub right: u64,
}

impl LexicalCounts {
    /// Share of the output words that are right.
    pub fn precision(&self) -> Option<f64> {
        (self.output > 0).then(|| self.right as f64 / self.output as f64)
    }

    /// Share of the words of the reference that the output has.
    pub fn recall(&self) -> Option<f64> {
        (self.reference > 0).then(|| self.right as f64 / self.reference as f64)
    }

    /// F1 = 2 right / (output + reference), the harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        let all = self.output + self.reference;
        (all > 0).then(|| 2.0 * self.right as f64 / all as f64)
    }
}

sums!(LexicalCounts: reference, output, right; each);

/// A text as words with spaces between: those of scripts without spaces are found first, the rest is [`tokens`].
pub fn cut(text: &str, tokenization: Tokenization) -> String {
    let found = unspaced::cut(text).filter(|_| tokenization != Tokenization::None).map(|words| words.join(" "));
    tokens(found.as_deref().unwrap_or(text), tokenization)
}

/// The tokens of a tokenizer with spaces between; those of mteval-v13a where it cuts at characters, which are no words.
/// An unknown word is one, and spelled [`UNK`].
pub fn tokens(text: &str, tokenization: Tokenization) -> String {
    let by = match tokenization {
        Tokenization::Chinese | Tokenization::Characters => Tokenization::Mteval13a,
        words => words,
    };
    let parts: Vec<String> = unknown::parts(text).map(|part| tokenize(part, by)).collect();
    if parts.len() > 1 { words(&parts.join(&format!(" {UNK} "))).collect::<Vec<_>>().join(" ") } else { parts.concat() }
}

/// The counts of each word of a sentence pair, words in order; the texts are cut.
pub fn each<'a>(reference: &'a str, output: &'a str) -> BTreeMap<&'a str, LexicalCounts> {
    let mut words: BTreeMap<&str, LexicalCounts> = BTreeMap::new();
    for word in reference.split(' ').filter(|word| !word.is_empty()) {
        words.entry(word).or_default().reference += 1;
    }
    for word in output.split(' ').filter(|word| !word.is_empty()) {
        words.entry(word).or_default().output += 1;
    }
    for counts in words.values_mut() {
        counts.right = counts.reference.min(counts.output);
    }
    words
}

/// A word without the punctuation round it, in small letters, as it is looked for, so that `Maison,` and `maison` are
/// one.
pub fn bare(word: &str) -> String {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    folded(if bare.is_empty() { word } else { bare })
}

/// For each of some words whether it is right by any reference: so often as the one that has it most, as BLEU clips.
pub fn right_of_any(words: &[String], references: &[Vec<String>]) -> Vec<bool> {
    let all: Vec<Vec<bool>> = references.iter().map(|reference| right(words, reference.iter())).collect();
    (0..words.len()).map(|n| all.iter().any(|right| right[n])).collect()
}

/// For each of some words whether it is right: whether `others` have it, each of theirs used up once.
pub fn right<'a>(words: &[String], others: impl Iterator<Item = &'a String>) -> Vec<bool> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for word in others {
        *left.entry(word).or_default() += 1;
    }
    let take = |word: &String| {
        let count = left.get_mut(word.as_str()).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    words.iter().map(take).collect()
}
