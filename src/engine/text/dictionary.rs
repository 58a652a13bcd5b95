//! What stands for an unknown word: a dictionary from source words to target words, as Luong et al. (2015b) and
//! Jean et al. (2015) use it; its file, and how one is counted. Imports floor 0.
//!
//! A line of the file is `source TAB target TAB number`; the number, a count or a probability, may be left out and is
//! then 1. Of several lines with one source word the greatest number wins, of equals the first.

use std::{borrow::Cow, collections::HashMap, collections::hash_map::Entry, io::Write, path::Path};

use crate::error::{Error, Result};
use crate::text::{reader::LineReader, write::write_atomic};

/// A dictionary with one translation for each word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    entries: HashMap<String, (String, f64)>,
}

impl Dictionary {
    /// Reads a file, packed or not. Empty lines are passed over.
    pub fn open(path: &Path) -> Result<Self> {
        let mut reader = LineReader::open(path)?;
        let mut dictionary = Self::default();
        while let Some(line) = reader.next().transpose()? {
            if !line.is_empty() {
                let (source, target, number) =
                    entry(&line).map_err(|message| Error::line(path, reader.line(), message))?;
                dictionary.insert(source, target, number);
            }
        }
        Ok(dictionary)
    }

    /// Adds a translation, unless a better one is there.
    pub fn insert(&mut self, source: &str, target: &str, number: f64) {
        match self.entries.entry(source.to_owned()) {
            Entry::Occupied(mut old) if number > old.get().1 => drop(old.insert((target.to_owned(), number))),
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => drop(place.insert((target.to_owned(), number))),
        }
    }

    /// The translation of a word: that of the word as it is written; else that of the word in lower case, with the case
    /// carried over where the word begins with a capital or has only capitals.
    pub fn translate(&self, word: &str) -> Option<Cow<'_, str>> {
        if let Some((target, _)) = self.entries.get(word) {
            return Some(Cow::Borrowed(target));
        }
        let (target, _) = self.entries.get(&word.to_lowercase())?;
        Some(with_case_of(word, target))
    }
}

fn entry(line: &str) -> std::result::Result<(&str, &str, f64), String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let (source, target, number) = match columns.as_slice() {
        [source, target] => (*source, *target, "1"),
        [source, target, number] => (*source, *target, *number),
        _ => {
            let found = columns.len();
            return Err(format!("has {found} columns; write source, target and a number with tabs between"));
        }
    };
    if source.trim().is_empty() || target.trim().is_empty() {
        return Err("has an empty word; write source, target and a number with tabs between".to_owned());
    }
    let known: Option<f64> = number.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    let number =
        known.ok_or_else(|| format!("has \"{number}\" for a count or a probability; write a number from 0"))?;
    Ok((source, target, number))
}

fn with_case_of<'a>(word: &str, target: &'a str) -> Cow<'a, str> {
    let cased: Vec<char> = word.chars().filter(|c| c.is_lowercase() || c.is_uppercase()).collect();
    if cased.len() > 1 && cased.iter().all(|c| c.is_uppercase()) {
        return Cow::Owned(target.to_uppercase());
    }
    let mut rest = target.chars();
    match (word.chars().next(), rest.next()) {
        (Some(first), Some(initial)) if first.is_uppercase() => {
            Cow::Owned(initial.to_uppercase().chain(rest).collect())
        }
        _ => Cow::Borrowed(target),
    }
}

/// Counts which target word goes with which source word.
#[derive(Clone, Debug, Default)]
pub struct WordCounts {
    source: Words,
    target: Words,
    pairs: HashMap<(u32, u32), u64>,
}

#[derive(Clone, Debug, Default)]
struct Words {
    ids: HashMap<String, u32>,
    words: Vec<String>,
}

impl Words {
    fn id(&mut self, word: &str) -> u32 {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        let id = self.words.len() as u32;
        self.ids.insert(word.to_owned(), id);
        self.words.push(word.to_owned());
        id
    }
}

impl WordCounts {
    /// Counts one link. Words that a line of the file could not hold are skipped, and links between a word and a
    /// mark of punctuation, which no translation would want.
    pub fn add(&mut self, source: &str, target: &str) {
        let fits = |word: &str| !word.trim().is_empty() && !word.contains(['\t', '\n', '\r']);
        let is_word = |word: &str| word.chars().any(char::is_alphanumeric);
        if fits(source) && fits(target) && is_word(source) == is_word(target) {
            let pair = (self.source.id(source), self.target.id(target));
            *self.pairs.entry(pair).or_insert(0) += 1;
        }
    }

    pub fn best(&self, minimum: u64) -> Vec<(&str, &str, u64)> {
        let mut best: HashMap<u32, (u64, &str)> = HashMap::new();
        for (&(source, target), &count) in self.pairs.iter().filter(|(_, count)| **count >= minimum) {
            let target = self.target.words[target as usize].as_str();
            let kept = best.entry(source).or_insert((count, target));
            if (count, std::cmp::Reverse(target)) > (kept.0, std::cmp::Reverse(kept.1)) {
                *kept = (count, target);
            }
        }
        let source = |id: u32| self.source.words[id as usize].as_str();
        let mut entries: Vec<_> = best.into_iter().map(|(id, (count, target))| (source(id), target, count)).collect();
        entries.sort_unstable();
        entries
    }

    pub fn save(&self, path: &Path, minimum: u64) -> Result<()> {
        write_atomic(path, |file| {
            self.best(minimum)
                .iter()
                .try_for_each(|(source, target, count)| writeln!(file, "{source}\t{target}\t{count}"))
        })
    }
}
