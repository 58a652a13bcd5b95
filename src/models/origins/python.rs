//! Floor 3: what Python 2 pickled beside a model: its settings, and the words with their ids. Nothing of it is run.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::models::disk;
use crate::models::origins::pickle;

/// Settings by their names.
///
/// # Errors
/// A sentence that names the file.
pub fn settings(path: &Path) -> Result<Map<String, Value>> {
    let bytes = disk::read(path, disk::CONFIG_LIMIT)?;
    let wrong = |message: String| Error::file(path, format!("is a pickle that {message}"));
    pickle::read(&bytes).and_then(|read| read.settings(read.result())).map_err(wrong)
}

/// `size` words in the order of their ids, without those that are not wanted. Words of higher ids are unknown to the
/// model; ids without a word get names that occur in no text.
///
/// # Errors
/// A sentence that names the file, and the word.
pub fn words(path: &Path, size: usize, unwanted: &[&str]) -> Result<Vec<String>> {
    let bytes = disk::read(path, disk::TOKENIZER_LIMIT)?;
    let wrong = |message: String| Error::file(path, format!("is a pickle that {message}"));
    let found = pickle::read(&bytes).and_then(|read| read.words(read.result())).map_err(wrong)?;
    let mut words: Vec<Option<String>> = vec![None; size];
    for (word, id) in found.into_iter().filter(|(word, _)| !unwanted.contains(&word.as_str())) {
        let Some(place) = words.get_mut(id) else { continue };
        if let Some(other) = place.replace(word.clone()) {
            return Err(Error::file(path, format!("gives `{word}` the id {id} that `{other}` has")));
        }
    }
    Ok(words.into_iter().enumerate().map(|(id, word)| word.unwrap_or_else(|| format!("<unused {id}>"))).collect())
}
