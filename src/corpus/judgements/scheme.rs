//! The scheme of errors: which kinds there are and what each severity weighs. A workspace keeps one; it goes out
//! and comes in as a small TOML or JSON file. A leaf.
//!
//! ```toml
//! categories = ["accuracy/omission", "style"]
//! severities = [{ name = "minor", weight = 1.0 }, { name = "major", weight = 5.0 }]
//! exceptions = [{ category = "fluency/punctuation", severity = "minor", weight = 0.1 }]
//! ```

use std::io::Write as _;
use std::{collections::BTreeSet, path::Path};

use serde::{Deserialize, Serialize};

use engine::error::{Error, Result};
use engine::text::{reader::read_file, toml::parse, write::write_atomic};

const MOST: u64 = 1 << 20;

/// Kinds of errors and how bad they may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorScheme {
    pub categories: Vec<String>,
    pub severities: Vec<Severity>,
    /// Weights of kinds that are not those of their severities; the first that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<WeightException>,
}

/// What errors of a kind weigh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightException {
    /// How the kinds begin, in any case.
    pub category: String,
    /// Of which severity, if not of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    pub weight: f64,
}

/// How bad an error is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Severity {
    pub name: String,
    pub weight: f64,
}

/// Names that are new, old before new. A kind and a severity may be called the same, so each has a list of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renamed {
    pub kinds: Vec<(String, String)>,
    pub severities: Vec<(String, String)>,
}

const PRESETS: [(&str, &str); 2] = [
    ("mqm", include_str!("../../../assets/schemes/mqm.toml")),
    ("google", include_str!("../../../assets/schemes/google.toml")),
];

impl Default for ErrorScheme {
    fn default() -> Self {
        Self::preset("mqm").expect("comes with the program")
    }
}

impl ErrorScheme {
    /// One that comes with the program.
    pub fn preset(name: &str) -> Option<Self> {
        let text = PRESETS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1;
        parse(text).ok()
    }

    /// The name of the preset that weighs the same, if any does.
    pub fn name(&self) -> &'static str {
        let weighs_so = |known: &Self| (&known.severities, &known.exceptions) == (&self.severities, &self.exceptions);
        let known = PRESETS.iter().find(|(name, _)| Self::preset(name).as_ref().is_some_and(weighs_so));
        known.map_or("of this corpus", |(name, _)| name)
    }

    /// Its weights, in words.
    pub fn weights(&self) -> String {
        let severities = self.severities.iter().map(|known| format!("{} {}", known.name, known.weight));
        let exceptions = self.exceptions.iter().map(|known| {
            format!("{} {} {}", known.severity.as_deref().unwrap_or_default(), known.category, known.weight)
        });
        let all: Vec<String> = severities.chain(exceptions).collect();
        all.join(", ").replace("  ", " ")
    }

    /// What an error weighs; 0 of a severity that the scheme does not have.
    pub fn weight(&self, category: &str, severity: &str) -> f64 {
        let begins = |name: &str| category.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let is_of = |name: &Option<String>| name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(severity));
        let exception = self.exceptions.iter().find(|known| begins(&known.category) && is_of(&known.severity));
        exception.map_or_else(|| self.severity(severity), |known| known.weight)
    }

    /// What an error of a severity weighs, whatever its kind.
    pub fn severity(&self, severity: &str) -> f64 {
        let known = self.severities.iter().find(|known| known.name.eq_ignore_ascii_case(severity));
        known.map_or(0.0, |known| known.weight)
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
        let severities = self.severities.iter().map(|known| ("severities", &known.name, known.weight));
        let exceptions = self.exceptions.iter().map(|known| ("exceptions", &known.category, known.weight));
        match severities.chain(exceptions).find(|(_, _, weight)| !(*weight >= 0.0 && weight.is_finite())) {
            None => Ok(()),
            Some((key, name, weight)) => {
                Err((key, format!("gives `{name}` the weight {weight}, which must be a number from 0 up")))
            }
        }
    }

    /// Reads a file: JSON where its name ends so, else TOML. `google` and `mqm` need none.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(known) = path.to_str().filter(|_| !path.exists()).and_then(Self::preset) {
            return Ok(known);
        }
        let bytes = read_file(path, MOST)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Error::file(path, "is not UTF-8; save it so"))?;
        let wrong = |why: &str| Error::file(path, format!("is no scheme of errors ({why})"));
        let scheme: Self = if is_json(path) {
            serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?
        } else {
            parse(text).map_err(|fault| wrong(&fault.message))?
        };
        scheme.check().map_err(|(key, why)| Error::key(path, key, why))?;
        Ok(scheme)
    }

    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::Internal(error.to_string()))
    }

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
