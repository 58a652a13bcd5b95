//! Floor 3: settings of others in JSON, each read by its key.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::Activation;

/// No size may be larger, as in our own files.
const LARGEST: u64 = 1 << 24;
/// The most layers.
const MOST_LAYERS: u64 = 64;

/// A JSON object of settings.
#[derive(Debug, Default)]
pub struct ForeignSettings {
    path: PathBuf,
    map: Map<String, Value>,
}

impl ForeignSettings {
    /// Reads the bytes of the file at `path`.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(map)) => Ok(Self { path: path.into(), map }),
            Ok(_) => Err(Error::file(path, "must hold one JSON object, { ... }")),
            Err(error) => {
                Err(Error::line(path, error.line().max(1), format!("is not valid JSON ({error}); copy the file again")))
            }
        }
    }

    /// An error about a key.
    pub fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Result<T> {
        Err(Error::key(&self.path, key, message))
    }

    /// What stands under a key; `None` where nothing or `null` does.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A text, where there is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    fn whole(&self, key: &str, least: u64, most: u64) -> Result<usize> {
        let number = self.get(key).and_then(Value::as_u64).filter(|number| (least..=most).contains(number));
        let found = self.get(key).map_or("missing".to_owned(), |value| short(&value.to_string()));
        let message = || format!("is {found}, where a whole number from {least} to {most} was expected");
        number.map_or_else(|| self.wrong(key, message()), |number| Ok(number as usize))
    }

    /// A size, at least 1.
    pub fn size(&self, key: &str) -> Result<usize> {
        self.whole(key, 1, LARGEST)
    }

    /// How many layers.
    pub fn layers(&self, key: &str) -> Result<usize> {
        self.whole(key, 1, MOST_LAYERS)
    }

    /// The id of one of `words` words.
    pub fn id(&self, key: &str, words: usize) -> Result<u32> {
        self.whole(key, 0, words.saturating_sub(1) as u64).map(|id| id as u32)
    }

    /// Yes or no, `otherwise` where the key is not there.
    pub fn flag(&self, key: &str, otherwise: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => {
                self.wrong(key, format!("is {}, where true or false was expected", short(&other.to_string())))
            }
        }
    }

    /// Refuses a setting that is not as the program computes.
    pub fn must_be(&self, key: &str, expected: bool) -> Result<()> {
        if self.flag(key, expected)? == expected {
            return Ok(());
        }
        self.wrong(key, format!("is {}, which is not implemented; only {expected} is", !expected))
    }

    /// The nonlinearity of that name.
    pub fn activation(&self, key: &str) -> Result<Activation> {
        match self.text(key) {
            Some("relu") => Ok(Activation::Relu),
            Some("swish" | "silu") => Ok(Activation::Swish),
            Some("gelu") => Ok(Activation::Gelu),
            other => {
                let found = short(other.unwrap_or("missing"));
                self.wrong(key, format!("is {found}; relu, swish (or silu) and gelu are implemented"))
            }
        }
    }
}

/// A text, cut so that a sentence stays one.
pub fn short(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        format!("{}...", text.chars().take(37).collect::<String>())
    }
}
