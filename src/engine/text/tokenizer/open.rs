//! Tokenizer files opened, each once for all models that have the same. Imports floor 0.
//!
//! Compiling the rules takes longest, so [`Tokenizers`] shares one tokenizer among all whose files have the same bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{collections::HashMap, path::Path};

use sha2::{Digest as _, Sha256};

use crate::error::Result;
use crate::text::{cut::WordRule, reader::read_file, tokenizer::Tokenizer, tokenizer::file::Shared};

type Place = Arc<Mutex<Weak<Shared>>>;

/// The tokenizers in use, by the bytes of their files. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Tokenizers {
    places: Arc<Mutex<HashMap<[u8; 32], Place>>>,
}

impl Tokenizers {
    /// As [`Tokenizer::from_file`]; a tokenizer in use whose file has the same bytes is shared.
    pub fn from_file(&self, path: &Path) -> Result<Tokenizer> {
        self.from_json(path, &read_file(path, MOST_BYTES)?)
    }

    /// The same from bytes; errors name `path`.
    pub fn from_json(&self, path: &Path, json: &[u8]) -> Result<Tokenizer> {
        let place = {
            let mut places = lock(&self.places);
            places.retain(|_, place| Arc::strong_count(place) > 1 || lock(place).strong_count() > 0);
            Arc::clone(places.entry(Sha256::digest(json).into()).or_default())
        };
        let mut known = lock(&place);
        let shared = match known.upgrade() {
            Some(shared) => shared,
            None => Arc::new(Shared::read(path, json)?),
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
    pub fn from_file(path: &Path) -> Result<Self> {
        Self::from_json(path, &read_file(path, MOST_BYTES)?)
    }

    /// As [`Tokenizer::from_file`] from bytes; errors name `origin`.
    pub fn from_json(origin: &Path, json: &[u8]) -> Result<Self> {
        Shared::read(origin, json).map(|shared| Self::of(Arc::new(shared)))
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self { eos: Some(shared.eos), language: None, most: None, rule: WordRule::Tokens, shared }
    }
}

const MOST_BYTES: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::Error, text::tokenizer::file::tests::FILE};

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
