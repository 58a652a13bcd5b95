//! Floor 7: the scheme of errors: which kinds there are and what each severity weighs. A workspace keeps one; it goes out
//! and comes in as a small TOML or JSON file. A leaf.
//!
//! ```toml
//! categories = ["accuracy/omission", "style"]
//! severities = [{ name = "minor", weight = 1.0 }, { name = "major", weight = 5.0 }]
//! ```

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::reader::read_file;
use crate::text::write::write_atomic;

/// The most bytes of a file.
const MOST: u64 = 1 << 20;

/// Kinds of errors and how bad they may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorScheme {
    /// Kinds, `group/kind`.
    pub categories: Vec<String>,
    /// Severities, the mildest first.
    pub severities: Vec<Severity>,
}

/// How bad an error is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Severity {
    pub name: String,
    /// What an error of it weighs.
    pub weight: f32,
}

/// Names that are new, old before new. A kind and a severity may be called the same, so each has a list of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renamed {
    /// Of kinds.
    pub kinds: Vec<(String, String)>,
    /// Of severities.
    pub severities: Vec<(String, String)>,
}

impl Default for ErrorScheme {
    /// The core of MQM (Multidimensional Quality Metrics) with its usual weights.
    fn default() -> Self {
        let categories = [
            "accuracy/addition",
            "accuracy/omission",
            "accuracy/mistranslation",
            "accuracy/untranslated",
            "fluency/grammar",
            "fluency/spelling",
            "fluency/punctuation",
            "fluency/register",
            "fluency/inconsistency",
            "terminology",
            "style",
            "locale",
            "other",
        ];
        let severities = [("neutral", 0.0), ("minor", 1.0), ("major", 5.0), ("critical", 25.0)];
        Self {
            categories: categories.map(str::to_owned).to_vec(),
            severities: severities.map(|(name, weight)| Severity { name: name.to_owned(), weight }).to_vec(),
        }
    }
}

impl ErrorScheme {
    /// What an error of a severity weighs; 0 for one that the scheme does not have.
    pub fn weight(&self, severity: &str) -> f32 {
        self.severities.iter().find(|known| known.name == severity).map_or(0.0, |known| known.weight)
    }

    /// Whether it has this kind and this severity.
    pub fn has(&self, category: &str, severity: &str) -> bool {
        let is_severity = self.severities.iter().any(|known| known.name == severity);
        is_severity && self.categories.iter().any(|known| known == category)
    }

    /// Whether it makes sense; else the key that is wrong, and why, as the end of a sentence.
    pub fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        let names = |key, names: Vec<&str>| {
            let mut seen = BTreeSet::new();
            match names.iter().find(|name| name.trim().is_empty() || !seen.insert(**name)) {
                _ if names.is_empty() => Err((key, "has none; name at least one".to_owned())),
                Some(name) if name.trim().is_empty() => Err((key, "has a name that is blank".to_owned())),
                Some(name) => Err((key, format!("has `{name}` twice"))),
                None => Ok(()),
            }
        };
        names("categories", self.categories.iter().map(String::as_str).collect())?;
        names("severities", self.severities.iter().map(|severity| severity.name.as_str()).collect())?;
        match self.severities.iter().find(|severity| !(severity.weight >= 0.0 && severity.weight.is_finite())) {
            None => Ok(()),
            Some(Severity { name, weight }) => {
                Err(("severities", format!("gives `{name}` the weight {weight}, which must be a number from 0 up")))
            }
        }
    }

    /// Reads a file: JSON where its name ends so, else TOML.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = read_file(path, MOST)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Error::file(path, "is not UTF-8; save it so"))?;
        let wrong = |why: &str| Error::file(path, format!("is no scheme of errors ({why})"));
        let scheme: Self = if is_json(path) {
            serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?
        } else {
            toml::from_str(text).map_err(|error| wrong(error.message()))?
        };
        scheme.check().map_err(|(key, why)| Error::key(path, key, why))?;
        Ok(scheme)
    }

    /// As a TOML file has it.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::Internal(error.to_string()))
    }

    /// Writes a file, as [`ErrorScheme::open`] reads it.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = if is_json(path) {
            serde_json::to_string_pretty(self).map_err(|error| Error::Internal(error.to_string()))?
        } else {
            self.to_toml()?
        };
        write_atomic(path, |file| file.write_all(text.as_bytes()))
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}
