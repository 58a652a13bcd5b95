//! The vocabulary, a shortlist of the most frequent words (Bahdanau et al. 2015, section 4.1),
//! and the tokenizer file that is made of it. Imports floor 0.

use std::{collections::HashMap, path::Path};

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::text::language::{normalizer, word_pattern};
use crate::text::sentence::{EOS, UNK};
use crate::text::{tokenizer::Tokenizer, unspaced::words};

pub mod bpe;

/// Id of [`EOS`] in the vocabularies made here.
pub const EOS_ID: u32 = 0;
/// Id of [`UNK`] in the vocabularies made here.
pub const UNK_ID: u32 = 1;

/// Counts the words of one language.
///
/// Lines are counted by what stands between spaces, or by their words where scripts set none, and every distinct chunk
/// is cut into words only once, which is possible because no word of ours crosses whitespace.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Tokenizer,
    chunks: HashMap<String, u64>,
}

impl WordCounter {
    /// A counter that cuts words as `language` does.
    pub fn new(language: &str) -> Result<Self> {
        Ok(Self { splitter: build(language, std::iter::empty(), 0)?, chunks: HashMap::new() })
    }

    pub fn add(&mut self, line: &str) {
        for chunk in words(line).flat_map(str::split_whitespace) {
            if let Some(count) = self.chunks.get_mut(chunk) {
                *count += 1;
            } else {
                self.chunks.insert(chunk.to_owned(), 1);
            }
        }
    }

    pub fn finish(self) -> HashMap<String, u64> {
        let mut counts = HashMap::new();
        for (chunk, count) in &self.chunks {
            for word in self.splitter.words(chunk) {
                *counts.entry(word).or_insert(0) += count;
            }
        }
        counts
    }
}

pub fn count(language: &str, lines: impl IntoIterator<Item = Result<String>>) -> Result<HashMap<String, u64>> {
    let mut counter = WordCounter::new(language)?;
    for line in lines {
        counter.add(&line?);
    }
    Ok(counter.finish())
}

/// Makes a tokenizer of at most `size` entries: [`EOS`], [`UNK`], then words by falling count, ties by code point, so
/// that the same counts always give the same file. Words keep their case.
pub fn build(language: &str, words: impl IntoIterator<Item = (String, u64)>, size: usize) -> Result<Tokenizer> {
    let mut words: Vec<(String, u64)> =
        words.into_iter().filter(|(word, count)| *count > 0 && word != EOS && word != UNK).collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let kept = words.into_iter().map(|(word, _)| word).take(size.saturating_sub(2));
    let vocabulary: serde_json::Map<String, Value> =
        [EOS.to_owned(), UNK.to_owned()].into_iter().chain(kept).enumerate().map(|(id, w)| (w, json!(id))).collect();
    tokenizer(language, &json!({"type": "WordLevel", "vocab": vocabulary, "unk_token": UNK}))
}

fn tokenizer(language: &str, model: &Value) -> Result<Tokenizer> {
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": normalizer(),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Split", "pattern": {"Regex": word_pattern(language)}, "behavior": "Isolated", "invert": false},
        ]},
        "post_processor": null, "decoder": null,
        "model": model,
    });
    let bytes = serde_json::to_vec(&file).map_err(|error| Error::Internal(error.to_string()))?;
    Tokenizer::from_json(Path::new("a new tokenizer"), &bytes)
}
