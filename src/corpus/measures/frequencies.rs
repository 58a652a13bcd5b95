//! How often words are in the training text: counted in the references at hand, or read from a file.

use std::{collections::HashMap, path::Path};

use crate::store::corpus::CorpusTable;
use engine::analysis::{lexical::cut, mteval::Tokenization};
use engine::error::Result;
use engine::text::{reader::LineReader, sentence::UNK};

/// Counts of words.
#[derive(Clone, Debug, Default)]
pub struct Frequencies {
    counts: HashMap<String, u32>,
    pub origin: String,
}

/// The classes of frequency, each from and to; as compare-mt has them (Neubig et al. 2019).
pub const CLASSES: &[(u32, u32)] =
    &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 9), (10, 99), (100, 999), (1000, u32::MAX)];
const STEP: usize = 4096;

impl Frequencies {
    /// How often a word was seen; an unknown word never was.
    pub fn of(&self, word: &str) -> u32 {
        self.counts.get(word).copied().filter(|_| word != UNK).unwrap_or(0)
    }

    /// The line of [`CLASSES`] of a word.
    pub fn class(&self, word: &str) -> usize {
        let count = self.of(word);
        CLASSES.iter().position(|(low, high)| (*low..=*high).contains(&count)).unwrap_or(0)
    }

    /// Counts the references; `None` when `goes_on` says no.
    pub fn counted(corpus: &CorpusTable, goes_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        let mut all = Self { origin: id!("the references of this corpus").to_owned(), ..Self::default() };
        let mut counted = 0_usize;
        let counts = goes_on()
            && corpus.references.each(&mut |_, text| {
                all.add(text, corpus.bleu.tokenization);
                counted += 1;
                !counted.is_multiple_of(STEP) || goes_on()
            });
        counts.then_some(all)
    }

    /// Reads a file of lines with a word and its count, or else a training text whose words are counted.
    pub fn read(path: &Path, tokenization: Tokenization) -> Result<Self> {
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        let mut all = Self { origin: name, ..Self::default() };
        let mut is_list = None;
        for line in LineReader::open(path)?.learned_from() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            // The first line tells which of both it is.
            let pair = counted_word(&line);
            match (*is_list.get_or_insert(pair.is_some()), pair) {
                (true, Some((word, count))) => *all.counts.entry(word.to_owned()).or_insert(0) += count,
                _ => all.add(&line, tokenization),
            }
        }
        Ok(all)
    }

    fn add(&mut self, text: &str, tokenization: Tokenization) {
        for word in cut(text, tokenization).split(' ').filter(|word| !word.is_empty()) {
            match self.counts.get_mut(word) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(word.to_owned(), 1)),
            }
        }
    }
}

/// `word 12` or `12 word`.
fn counted_word(line: &str) -> Option<(&str, u32)> {
    let mut parts = line.split_whitespace();
    let (first, second) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    second.parse().ok().map(|count| (first, count)).or_else(|| Some((second, first.parse().ok()?)))
}

/// The name of a line of [`CLASSES`], as it is shown.
pub fn class_name(range: (u32, u32)) -> String {
    ranged(range, "+", "\u{2013}")
}

/// The range of a line of [`CLASSES`], as a condition has it.
pub fn class_range(range: (u32, u32)) -> String {
    ranged(range, "..", "..")
}

fn ranged((low, high): (u32, u32), more: &str, to: &str) -> String {
    match high {
        u32::MAX => format!("{low}{more}"),
        _ if low == high => low.to_string(),
        _ => format!("{low}{to}{high}"),
    }
}
