//! The words of a model of others on both sides, and their ids here.

use std::path::Path;

use crate::error::{Error, Result};
use crate::models::config::{Architecture, Config};
use crate::text::sentence::{EOS, UNK};
use crate::{models::origins::tensors::ForeignTensors, text::foreign::vocabulary::Vocabulary};

/// The words of a model of others, and where the rows of the source embedding come from.
#[derive(Debug)]
pub struct ForeignWords {
    pub source: Vocabulary,
    pub target: Vocabulary,
    /// Source embedding row of each source word, `None` if the model has none; empty if the ids are the model's.
    pub rows: Vec<Option<usize>>,
    pub eos: u32,
    pub unk: u32,
}

impl ForeignWords {
    pub fn config(&self, architecture: Architecture, width: usize) -> Config {
        Config {
            source_vocabulary: self.source.words().len(),
            target_vocabulary: self.target.words().len(),
            eos: self.eos,
            unk: self.unk,
            ..Config::bare(architecture, width)
        }
    }

    pub fn shared(origin: &Path, words: Vocabulary) -> Result<Self> {
        let source = words.words().to_vec();
        Self::of(origin, &source, words)
    }

    /// Source words may lack the end of a sentence; both sides get the target's ids of it and of the unknown word.
    pub fn of(origin: &Path, source: &[String], target: Vocabulary) -> Result<Self> {
        let specials = [EOS, UNK].map(|word| target.id(word));
        let [Some(eos), Some(unk)] = specials else {
            return Err(Error::file(origin, format!("has no `{EOS}` or no `{UNK}` among its target words")));
        };
        let place = |word: &str| source.iter().position(|known| known == word);
        let Some(from) = place(UNK) else {
            return Err(Error::file(
                origin,
                format!("has no word for what is unknown, `{UNK}`, among its source words"),
            ));
        };
        let mut rows: Vec<Option<usize>> = (0..source.len()).map(Some).collect();
        let least = eos.max(unk) as usize + 1;
        if place(EOS).is_none() {
            rows.push(None);
        }
        rows.resize(rows.len().max(least), None);
        let ended = place(EOS).unwrap_or(source.len());
        rows.swap(ended, eos as usize);
        let from = rows.iter().position(|row| *row == Some(from)).unwrap_or(from);
        rows.swap(from, unk as usize);
        let name = |(id, row): (usize, &Option<usize>)| match row {
            Some(row) => source[*row].clone(),
            None if id == eos as usize => EOS.to_owned(),
            None => format!("<{id}>"),
        };
        let words = rows.iter().enumerate().map(name).collect();
        if rows.iter().enumerate().all(|(id, row)| *row == Some(id)) {
            rows.clear();
        }
        Ok(Self { source: Vocabulary::from_words(origin, words)?, target, rows, eos, unk })
    }

    pub fn lend_source(&self, tensors: &mut ForeignTensors, theirs: &str, config: &Config) -> Result<()> {
        let (ours, d) = ("source_embedding", config.embedding);
        if self.rows.is_empty() {
            return tensors.lend(ours, theirs, &[config.source_vocabulary, d]);
        }
        let known = self.rows.iter().flatten().count();
        tensors.check(theirs, &[known, d])?;
        let numbers = tensors.numbers(theirs, 0, &[known, d])?;
        let row =
            |row: &Option<usize>| row.map_or_else(|| vec![0.0; d], |row| numbers[row * d..(row + 1) * d].to_vec());
        tensors.make(ours, &[self.rows.len(), d], self.rows.iter().flat_map(row).collect());
        Ok(())
    }
}

/// Source and target language by the files, else by a folder name such as `opus-mt-en-fr`.
pub fn languages(name: &str, source: Option<&str>, target: Option<&str>) -> (String, String) {
    let parts: Vec<&str> = name.rsplit('-').collect();
    let from_name = |part: usize| parts.get(part).filter(|_| name.contains("opus-mt")).copied();
    (language(source.or_else(|| from_name(1))), language(target.or_else(|| from_name(0))))
}

fn language(name: Option<&str>) -> String {
    let Some(name) = name.map(|name| name.trim().replace('_', "-")).filter(|name| !name.is_empty()) else {
        return "und".to_owned();
    };
    if name.contains(['+', ' ', ',']) {
        return "mul".to_owned();
    }
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if name.split('-').all(is_part) { name } else { "und".to_owned() }
}
