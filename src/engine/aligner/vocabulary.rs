//! The words of one side of a parallel text, letter case aside, and their ids.
//!
//! Words that are too rare to learn anything about share the entry of their first letters: `constrained` and
//! `constraints` help each other, and so does a word that was never seen.

use std::{borrow::Cow, collections::HashMap};

/// Stands before the first letters of rare words, so that they are not taken for a word.
const CLASS: char = '\u{2}';
const LETTERS: usize = 5;

/// Words and their ids; frequent words have small ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignerVocabulary {
    words: Vec<Box<str>>,
    ids: HashMap<Box<str>, u32>,
}

impl AlignerVocabulary {
    /// Entries in the order of their ids; of equal ones the first counts.
    pub fn new(words: Vec<Box<str>>) -> Self {
        let mut ids = HashMap::with_capacity(words.len());
        for (id, word) in words.iter().enumerate() {
            ids.entry(word.clone()).or_insert(id as u32);
        }
        Self { words, ids }
    }

    /// The id of a folded word, or of the entry that it shares with other rare words; `None` without either.
    pub fn id(&self, folded: &str) -> Option<u32> {
        self.ids.get(folded).or_else(|| self.ids.get(&*class(folded))).copied()
    }

    pub fn words(&self) -> &[Box<str>] {
        &self.words
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A word without what does not matter for its meaning: letter case, the kind of apostrophe and quotation mark.
pub fn fold(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    let one_kind = |c: char| match c {
        '\u{2019}' | '\u{2018}' | '\u{2bc}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
        c => c,
    };
    Cow::Owned(word.to_lowercase().chars().map(one_kind).collect())
}

fn class(folded: &str) -> String {
    std::iter::once(CLASS).chain(folded.chars().take(LETTERS)).collect()
}

/// Counts the words of one side while it is read.
#[derive(Debug, Default)]
pub struct AlignerWordCounter {
    ids: HashMap<Box<str>, u32>,
    counts: Vec<u32>,
}

impl AlignerWordCounter {
    pub fn add(&mut self, word: &str) -> u32 {
        let folded = fold(word);
        let next = self.counts.len() as u32;
        let id = if let Some(&id) = self.ids.get(&*folded) {
            id
        } else {
            self.ids.insert(folded.into(), next);
            self.counts.push(0);
            next
        };
        self.counts[id as usize] += 1;
        id
    }

    /// The vocabulary, where words counted less than `rare` times share entries, and the id in it of each preliminary
    /// id.
    pub fn finish(self, rare: u32) -> (AlignerVocabulary, Vec<u32>) {
        let mut entries: HashMap<Box<str>, (u64, Vec<u32>)> = HashMap::new();
        for (word, id) in self.ids {
            let count = self.counts[id as usize];
            let key = if count < rare { class(&word).into() } else { word };
            let entry = entries.entry(key).or_default();
            entry.0 += u64::from(count);
            entry.1.push(id);
        }
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_unstable_by(|(a, (of_a, _)), (b, (of_b, _))| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        let mut places = vec![0; self.counts.len()];
        for (place, (_, (_, ids))) in entries.iter().enumerate() {
            for &id in ids {
                places[id as usize] = place as u32;
            }
        }
        (AlignerVocabulary::new(entries.into_iter().map(|(word, _)| word).collect()), places)
    }
}
