//! Floor 1: tokenizer files read, each once for all models that have the same. Imports floor 0.
//!
//! The library reads a file by trying every kind of model on a copy of its whole vocabulary; the word lists that this
//! program makes are read here directly, and the library gets the rules alone. Compiling the rules takes longest of
//! what is left, so [`Tokenizers`] shares one tokenizer among all whose files have the same bytes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokenizers::models::wordlevel::WordLevel;

use crate::error::{Error, Result};
use crate::text::sentence::{EOS, UNK};
use crate::text::tokenizer::Tokenizer;

/// What all tokenizers of one file have in common.
pub(super) struct Shared {
    pub(super) inner: tokenizers::Tokenizer,
    /// Words by id; holes in a foreign file are empty strings.
    pub(super) words: Vec<String>,
    pub(super) unk: u32,
    eos: u32,
}

/// The place of a file's tokenizer, locked while it is read.
type Place = Arc<Mutex<Weak<Shared>>>;

/// The tokenizers in use, by the bytes of their files. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Tokenizers {
    places: Arc<Mutex<HashMap<[u8; 32], Place>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

impl Tokenizers {
    /// As [`Tokenizer::from_file`]; a tokenizer in use whose file has the same bytes is shared.
    pub fn from_file(&self, path: &Path) -> Result<Tokenizer> {
        let json = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
        let place = {
            let mut places = lock(&self.places);
            places.retain(|_, place| Arc::strong_count(place) > 1 || lock(place).strong_count() > 0);
            Arc::clone(places.entry(Sha256::digest(&json).into()).or_default())
        };
        let mut known = lock(&place);
        let shared = match known.upgrade() {
            Some(shared) => shared,
            None => Arc::new(Shared::read(path, &json)?),
        };
        *known = Arc::downgrade(&shared);
        Ok(Tokenizer::of(shared))
    }
}

/// What lies behind these locks is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tokenizer {
    /// Reads a tokenizer file.
    ///
    /// # Errors
    /// A sentence that names the file when it is missing, no such file, or without `</s>` and `[UNK]`.
    pub fn from_file(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
        Self::from_json(path, &bytes)
    }

    /// As [`Tokenizer::from_file`] from bytes; errors name `origin`.
    pub fn from_json(origin: &Path, json: &[u8]) -> Result<Self> {
        Shared::read(origin, json).map(|shared| Self::of(Arc::new(shared)))
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self { eos: Some(shared.eos), shared }
    }
}

impl Shared {
    fn read(origin: &Path, json: &[u8]) -> Result<Self> {
        let (mut inner, ids) = match word_list(json) {
            Some(read) => read,
            None => whole(origin, json)?,
        };
        // A limit on length or padding in a foreign file would silently drop or add words.
        inner.with_truncation(None).map_err(|error| Error::file(origin, error.to_string()))?;
        inner.with_padding(None);
        let special = |word: &str| {
            let missing = || Error::file(origin, format!("has no `{word}` in its vocabulary; add it to the file"));
            inner.token_to_id(word).ok_or_else(missing)
        };
        let (eos, unk) = (special(EOS)?, special(UNK)?);
        let len = ids.values().max().map_or(0, |id| *id as usize + 1);
        if len > 2 * ids.len() + 1000 {
            let message = format!("has only {} words but ids up to {}; number the words from 0", ids.len(), len - 1);
            return Err(Error::file(origin, message));
        }
        let mut words = vec![String::new(); len];
        for (word, id) in ids {
            words[id as usize] = word;
        }
        Ok(Self { inner, words, unk, eos })
    }
}

/// The library's own reading.
fn whole(origin: &Path, json: &[u8]) -> Result<(tokenizers::Tokenizer, HashMap<String, u32>)> {
    let inner = tokenizers::Tokenizer::from_bytes(json).map_err(|error| {
        let advice = "train the model again or copy the tokenizer file from where the model comes from";
        Error::file(origin, format!("is not a complete Hugging Face tokenizers file ({error}); {advice}"))
    })?;
    let ids = inner.get_vocab(true).into_iter().collect();
    Ok((inner, ids))
}

/// A file whose model is a list of whole words, without words added to it.
#[derive(Deserialize)]
struct WordList {
    added_tokens: Vec<serde_json::Value>,
    model: Words,
    #[serde(flatten)]
    rules: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Words {
    #[serde(rename = "type")]
    kind: String,
    vocab: HashMap<String, u32>,
    unk_token: String,
}

/// A word list read directly; `None` for any other file, and for one that is not in order, which the library then
/// complains of.
fn word_list(json: &[u8]) -> Option<(tokenizers::Tokenizer, HashMap<String, u32>)> {
    let WordList { added_tokens, model: Words { kind, vocab, unk_token }, mut rules } =
        serde_json::from_slice(json).ok()?;
    if kind != "WordLevel" || !added_tokens.is_empty() {
        return None;
    }
    let empty = serde_json::json!({"type": kind, "vocab": {}, "unk_token": unk_token});
    rules.insert("added_tokens".to_owned(), added_tokens.into());
    rules.insert("model".to_owned(), empty);
    let mut inner = tokenizers::Tokenizer::from_bytes(serde_json::to_vec(&rules).ok()?).ok()?;
    let words = vocab.iter().map(|(word, id)| (word.clone(), *id)).collect();
    inner.with_model(WordLevel::builder().vocab(words).unk_token(unk_token).build().ok()?);
    Some((inner, vocab))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 1, "</s>": 0, "house": 3, "the": 2}, "unk_token": "[UNK]"}}"#;

    #[test]
    fn a_word_list_is_read_as_the_library_reads_it() -> Result<()> {
        let origin = Path::new("file");
        let (ours, ids) = word_list(FILE.as_bytes()).expect("a word list");
        let (theirs, all) = whole(origin, FILE.as_bytes())?;
        assert_eq!(ids, all);
        let text = |tokenizer: &tokenizers::Tokenizer| tokenizer.to_string(true).expect("it can be written");
        assert_eq!(text(&ours), text(&theirs));
        let encoded = |tokenizer: &tokenizers::Tokenizer| {
            tokenizer.encode("The HOUSE of", false).expect("it can be read").get_ids().to_vec()
        };
        assert_eq!((encoded(&ours), encoded(&theirs)), (vec![2, 3, 1], vec![2, 3, 1]));
        let added = FILE.replace(r#""added_tokens": []"#, r#""added_tokens": [{"id": 4, "content": "x", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}]"#);
        assert!(word_list(added.as_bytes()).is_none());
        assert_eq!(Tokenizer::from_json(origin, added.as_bytes())?.id("x"), Some(4));
        Ok(())
    }

    #[test]
    fn files_of_the_same_bytes_share_one_tokenizer_while_it_is_used() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::Input(error.to_string()))?;
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file is written");
            path
        };
        let (one, two) = (write("one", FILE), write("two", FILE));
        let other = write("other", &FILE.replace("house", "home"));
        let known = Tokenizers::default();
        let (a, b, c) = (known.from_file(&one)?, known.clone().from_file(&two)?, known.from_file(&other)?);
        assert!(Arc::ptr_eq(&a.shared, &b.shared) && !Arc::ptr_eq(&a.shared, &c.shared));
        drop((a, b));
        known.from_file(&other)?;
        assert_eq!(lock(&known.places).len(), 1, "what nobody uses is forgotten");
        Ok(())
    }
}
