//! Lists of words in files, for queries: a word a line.

use std::{collections::HashSet, path::Path};

use engine::error::{Error, Result};
use engine::text::{reader::LineReader, words::folded};

const MOST: usize = 1_000_000;

/// The words of a file in small letters, without blank lines and `#` comments; relative paths begin at `folder`.
pub fn words(folder: &Path, name: &str) -> Result<HashSet<String>> {
    let path = folder.join(name);
    let mut words = HashSet::new();
    for (n, line) in LineReader::open(&path)?.held().enumerate() {
        let line = line?;
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if word.split_whitespace().count() > 1 {
            return Err(Error::line(&path, n + 1, format!("`{word}` is no single word; a list has one word a line")));
        }
        words.insert(folded(word));
        if words.len() > MOST {
            return Err(Error::file(&path, format!("has more than {MOST} words; take a shorter list")));
        }
    }
    if words.is_empty() {
        return Err(Error::file(&path, "has no words; write one a line"));
    }
    Ok(words)
}
