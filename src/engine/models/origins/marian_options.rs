//! The options of a Marian model, `special:model.yml` among its weights and the YAML files next to it: names with
//! a value or a list of values, which is all of YAML that Marian writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::disk;

pub const OPTIONS: &str = "special:model.yml";

/// Options by their names.
#[derive(Clone, Debug, Default)]
pub struct MarianOptions {
    path: PathBuf,
    values: BTreeMap<String, Vec<String>>,
}

/// An option and its implemented values; a missing one counts as empty.
pub type KnownOption = (&'static str, &'static [&'static str]);

impl MarianOptions {
    pub fn new(path: &Path, text: &str) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut last: Option<String> = None;
        for line in text.split(['\n', '\0']) {
            let bare = line.trim();
            if let (Some(item), Some(key)) = (bare.strip_prefix("- "), &last) {
                values.entry(key.clone()).or_default().extend(bare_value(item));
            } else if line.starts_with(' ') && bare.starts_with('[') {
                if let Some(key) = &last {
                    values.entry(key.clone()).or_default().extend(listed(bare));
                }
            } else if let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#'])) {
                let value = value.trim();
                let all = if value.starts_with('[') { listed(value) } else { bare_value(value).into_iter().collect() };
                last = Some(key.trim().to_owned());
                values.insert(key.trim().to_owned(), all);
            }
        }
        Self { path: path.into(), values }
    }

    pub fn read(path: &Path) -> Option<Self> {
        let bytes = disk::read(path, disk::CONFIG_LIMIT).ok()?;
        Some(Self::new(path, &String::from_utf8_lossy(&bytes)))
    }

    /// `None` if it is missing or empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.list(key).first().map(String::as_str)
    }

    pub fn list(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    pub fn is_on(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    pub fn size(&self, key: &str) -> Result<usize> {
        let message = || format!("is `{}`, where a whole number is expected", self.text(key).unwrap_or_default());
        self.text(key).and_then(|text| text.parse().ok()).ok_or_else(|| self.wrong(key, message()))
    }

    /// A number from 1 to `most`; `default` if it is not set.
    pub fn count(&self, key: &str, default: Option<usize>, most: usize) -> Result<usize> {
        match default.filter(|_| self.text(key).is_none()).map_or_else(|| self.size(key), Ok)? {
            size if (1..=most).contains(&size) => Ok(size),
            size => Err(self.wrong(key, format!("is {size}; it must be from 1 to {most}"))),
        }
    }

    pub fn check(&self, known: &[KnownOption]) -> Result<()> {
        for (key, implemented) in known {
            let value = self.list(key).join(" ");
            if !implemented.contains(&value.as_str()) {
                return Err(self.refused(key, &value));
            }
        }
        Ok(())
    }

    pub fn check_others(&self, prefix: &str, known: &[&str]) -> Result<()> {
        let unknown = |key: &str| key.starts_with(prefix) && !known.contains(&key);
        for key in self.values.keys().filter(|key| unknown(key)) {
            let value = self.list(key).join(" ");
            if !["", "false", "0"].contains(&value.as_str()) {
                return Err(self.refused(key, &value));
            }
        }
        Ok(())
    }

    fn refused(&self, key: &str, value: &str) -> Error {
        let value = if value.is_empty() { "not set" } else { value };
        self.wrong(key, format!("is {value:.60}, which is not implemented"))
    }

    pub fn wrong(&self, key: &str, message: impl Into<String>) -> Error {
        Error::key(&self.path, key, message)
    }
}

fn bare_value(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = ['"', '\''].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark));
    Some(inner.unwrap_or(text)).filter(|text| !text.is_empty() && *text != "~").map(str::to_owned)
}

fn listed(text: &str) -> Vec<String> {
    text.trim_matches(['[', ']']).split(',').filter_map(bare_value).collect()
}
