//! What was found out about a file, and what was wrong with it.

use std::path::{Path, PathBuf};

use crate::options::{Base, ColumnRole, LinkOrder, Orientation};
use engine::error::Error;

pub use engine::text::links::guess::Fact as ImportFact;

/// A result whose error is the end of a sentence that begins with file and line.
pub type ImportReported<T> = std::result::Result<T, String>;

/// What a matrix may have behind the words of its sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behind {
    #[default]
    Nothing,
    /// Zeros too; links may be of `</s>`, the place behind the words.
    Padding,
    /// Decoder state after the last word, up to the array's size; the source has a place for `</s>` always or never.
    Decoder { has_end: bool },
}

/// A column of a table and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportColumn {
    /// Its name, or its number from 1 where the file names none.
    pub name: String,
    pub role: ColumnRole,
}

/// What was found out about a file before its first sentence was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub format: &'static str,
    pub label: &'static str,
    /// The encoding of its text, as the Encoding Standard names it; empty for numbers.
    pub encoding: &'static str,
    pub packed: Option<&'static str>,
    pub orientation: ImportFact<Orientation>,
    pub behind: Behind,
    pub base: ImportFact<Base>,
    pub order: ImportFact<LinkOrder>,
    pub columns: Vec<ImportColumn>,
    pub languages: Option<(String, String)>,
    pub sentences: Option<usize>,
    /// What else one should know, in sentences.
    pub notes: Vec<String>,
}

impl Facts {
    /// Whether people should be asked about something.
    pub fn asks(&self) -> bool {
        self.orientation.asks() || self.base.asks() || self.order.asks()
    }

    /// Everything that was found out, in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let packed = self.packed.map_or_else(String::new, |packing| format!(", packed with {packing}"));
        let encoding = if self.encoding.is_empty() { String::new() } else { format!(", {}", self.encoding) };
        let mut sentences = vec![format!("{}{encoding}{packed}.", self.label)];
        sentences.extend(self.orientation.note(Orientation::name));
        sentences.extend(self.base.note(Base::name));
        sentences.extend(self.order.note(LinkOrder::name));
        sentences
            .extend(self.languages.iter().map(|(source, target)| format!("Translated from {source} to {target}.")));
        sentences.extend(self.notes.iter().cloned());
        sentences
    }
}

/// Something about one line that one should know; the rest of the file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: usize,
    /// A sentence that names file and line.
    pub sentence: String,
}

pub const MOST_WARNINGS: usize = 100;

/// The warnings of a file: the first [`MOST_WARNINGS`], and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warnings {
    path: PathBuf,
    pub kept: Vec<Warning>,
    pub count: usize,
}

impl Warnings {
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), kept: Vec::new(), count: 0 }
    }

    /// Notes what is wrong with a line; `message` continues "file, line n: ".
    pub fn add(&mut self, line: usize, message: impl Into<String>) {
        self.note(line, &Error::line(&self.path, line, message));
    }

    /// Notes an error that concerns a line alone.
    pub fn note(&mut self, line: usize, error: &Error) {
        self.count += 1;
        if self.kept.len() < MOST_WARNINGS {
            self.kept.push(Warning { line, sentence: error.to_string() });
        }
    }

    /// Takes in those of later lines.
    pub fn absorb(&mut self, later: Self) {
        self.count += later.count;
        let room = MOST_WARNINGS.saturating_sub(self.kept.len());
        self.kept.extend(later.kept.into_iter().take(room));
    }
}
