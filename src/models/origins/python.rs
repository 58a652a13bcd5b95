//! Floor 3: what Python 2 pickled beside a model: its settings, and the words with their ids. Nothing of it is run.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::models::disk;
use crate::models::origins::pickle;
use crate::text::foreign::vocabulary::Entry;

/// Settings by their names.
///
/// # Errors
/// A sentence that names the file.
pub fn settings(path: &Path) -> Result<Map<String, Value>> {
    let bytes = disk::read(path, disk::CONFIG_LIMIT)?;
    let wrong = |message: String| Error::file(path, format!("is a pickle that {message}"));
    pickle::read(&bytes).and_then(|read| read.settings(read.result())).map_err(wrong)
}

/// Words and their ids.
///
/// # Errors
/// A sentence that names the file.
pub fn words(path: &Path) -> Result<Vec<Entry>> {
    let bytes = disk::read(path, disk::TOKENIZER_LIMIT)?;
    let wrong = |message: String| Error::file(path, format!("is a pickle that {message}"));
    let found = pickle::read(&bytes).and_then(|read| read.words(read.result())).map_err(wrong)?;
    Ok(found.into_iter().map(|(word, id)| (word, id as u64, None)).collect())
}
