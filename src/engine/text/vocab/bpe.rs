//! Vocabularies of subwords: byte pair encoding (Sennrich et al. 2016) learned from counted words. Imports floor 0.
//!
//! Text is folded and cut into words exactly as for [`crate::text::vocab::build`]; only then a word is cut into
//! pieces. Every piece but the first of a word begins with [`CONTINUES`], which no word of ours does, so pieces can
//! always be put together to the words that they came from.

use std::collections::{HashMap, HashSet};

use ahash::AHashMap;
use compact_str::CompactString;
use serde_json::Value;
use tokenizers::AddedToken;
use tokenizers::models::bpe::{BPE, BpeTrainer};

use crate::error::{Error, Result};
use crate::text::sentence::{EOS, UNK};
use crate::text::{tokenizer::Tokenizer, vocab::tokenizer};

/// What every piece but the first of a word begins with.
pub const CONTINUES: &str = "##";

/// Of the running characters so many stand in the vocabulary, the most frequent first, as one of 20,000 in a corpus of
/// Europe's languages is a Greek or Chinese letter that no model could learn. A word with another is `[UNK]` whole.
const CHARACTERS_KEPT: f64 = 0.99995;

/// A pair of pieces becomes one piece when it occurs at least so often.
const LEAST: u64 = 2;

pub fn build_bpe(language: &str, counts: HashMap<String, u64>, size: usize) -> Result<Tokenizer> {
    tokenizer(language, &learn(counts, size)?)
}

/// Learns one vocabulary for both sides from the words of both; each side keeps its own rules for cutting words.
pub fn build_joint_bpe(
    languages: [&str; 2], [source, target]: [HashMap<String, u64>; 2], size: usize,
) -> Result<[Tokenizer; 2]> {
    let mut counts = source;
    for (word, count) in target {
        *counts.entry(word).or_default() += count;
    }
    let model = learn(counts, size)?;
    let [source, target] = languages.map(|language| tokenizer(language, &model));
    Ok([source?, target?])
}

fn learn(mut counts: HashMap<String, u64>, size: usize) -> Result<Value> {
    counts.retain(|word, count| *count > 0 && word != EOS && word != UNK);
    keep_frequent_characters(&mut counts);
    let letters = letters(&counts);
    // The library gives numbers to letters in the order in which it meets them; given in advance, they are always the same.
    let fixed: Vec<AddedToken> = [EOS.to_owned(), UNK.to_owned()]
        .into_iter()
        .chain(letters)
        .map(|piece| AddedToken::from(piece, true))
        .collect();
    if fixed.len() > size {
        return Err(Error::Input(format!(
            "a vocabulary of {size} pieces does not hold the {} letters of the text, at the beginning of words and inside, \
             `{EOS}` and `{UNK}`; give it more pieces",
            fixed.len() - 2
        )));
    }
    let trainer = BpeTrainer::builder()
        .vocab_size(size)
        .min_frequency(LEAST)
        .continuing_subword_prefix(CONTINUES.to_owned())
        .special_tokens(fixed)
        .show_progress(false)
        .build();
    let failed = |error: tokenizers::Error| Error::Internal(format!("byte pair encoding was not learned: {error}"));
    let mut model = BPE::builder().unk_token(UNK.to_owned()).build().map_err(failed)?;
    trainer.do_train(&scaled(counts), &mut model).map_err(failed)?;
    serde_json::to_value(&model).map_err(|error| Error::Internal(error.to_string()))
}

fn keep_frequent_characters(counts: &mut HashMap<String, u64>) {
    let mut characters: HashMap<char, u64> = HashMap::new();
    for (word, count) in counts.iter() {
        for c in word.chars() {
            *characters.entry(c).or_default() += count;
        }
    }
    let mut falling: Vec<(char, u64)> = characters.into_iter().collect();
    falling.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let total: u64 = falling.iter().map(|(_, count)| count).sum();
    let enough = total as f64 * CHARACTERS_KEPT;
    let mut covered = 0;
    let kept: HashSet<char> = falling
        .into_iter()
        .take_while(|(_, count)| {
            let needed = (covered as f64) < enough;
            covered += count;
            needed
        })
        .map(|(c, _)| c)
        .collect();
    counts.retain(|word, _| word.chars().all(|c| kept.contains(&c)));
}

fn letters(counts: &HashMap<String, u64>) -> Vec<String> {
    let (mut first, mut inside) = (HashSet::new(), HashSet::new());
    for word in counts.keys() {
        let mut chars = word.chars();
        first.extend(chars.next());
        inside.extend(chars);
    }
    let first = first.into_iter().map(String::from);
    let mut letters: Vec<String> = first.chain(inside.into_iter().map(|c| format!("{CONTINUES}{c}"))).collect();
    letters.sort_unstable();
    letters
}

/// The counts as the library takes them: it adds up pairs in 32 bits.
fn scaled(counts: HashMap<String, u64>) -> AHashMap<CompactString, u64> {
    let pairs: u64 = counts.iter().map(|(word, count)| word.len() as u64 * count).sum();
    let divisor = pairs / (1 << 30) + 1;
    counts.into_iter().map(|(word, count)| (CompactString::from(word), count.div_ceil(divisor))).collect()
}
