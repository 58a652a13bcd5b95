//! Where a figure or a table comes from, for the file that it is written to.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use engine::text::commands;

/// Where a file comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// What it shows, in a line.
    pub title: String,
    /// Names and values that someone needs to make it again, such as the model, its fingerprint and the sentence.
    pub facts: Vec<(String, String)>,
}

impl Provenance {
    /// Adds a fact; one without a value is none.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.facts.push((name.to_owned(), value));
        }
    }

    /// Adds a model and the digest of its weights, in hexadecimal digits.
    pub fn model(&mut self, name: &str, digest: &str) {
        self.fact("model", name);
        self.fact("digest", if digest.is_empty() { String::new() } else { format!("sha256:{digest}") });
    }

    /// Adds the version of this program, as the last fact.
    pub fn program(&mut self) {
        self.fact("program", format!("Interlinear {}", env!("CARGO_PKG_VERSION")));
    }

    /// It with these facts, and the version of this program behind them.
    pub fn with<const N: usize>(mut self, facts: [(&str, String); N]) -> Self {
        facts.into_iter().for_each(|(name, value)| self.fact(name, value));
        self.program();
        self
    }

    /// As an object: a text for each name, and a list where a name has several values.
    pub fn json(&self) -> Value {
        let mut all = Map::new();
        let title = [("title".to_owned(), self.title.clone())];
        for (name, value) in title.into_iter().filter(|(_, title)| !title.is_empty()).chain(self.facts.clone()) {
            match all.get_mut(&name) {
                None => drop(all.insert(name, value.into())),
                Some(Value::Array(values)) => values.push(value.into()),
                Some(first) => *first = json!([first, value]),
            }
        }
        all.into()
    }

    /// A JSON object with it as the last key, `provenance`.
    pub fn within(&self, object: &str) -> String {
        let begin = object.trim_end().strip_suffix('}').unwrap_or_default();
        let comma = if begin.len() > 1 { "," } else { "" };
        // what commands a terminal is written as JSON may have it, names of models included
        let own = commands::json(&self.json()).unwrap_or_else(|_| "{}".to_owned());
        format!("{begin}{comma}\"provenance\":{own}}}")
    }
}

/// The file that has the provenance of a table: a table has no place for it that every reader of tables would pass over.
pub fn beside(table: &Path) -> PathBuf {
    PathBuf::from(format!("{}.provenance.json", table.display()))
}
