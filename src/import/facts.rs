//! Floor 6: what was found out about a file, and what was wrong with it. Imports its room and `error`.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::import::options::{Base, ColumnRole, LinkOrder, Orientation};

/// A result whose error is the end of a sentence that begins with file and line.
pub type ImportReported<T> = std::result::Result<T, String>;

/// Something that a file does not say outright.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ImportFact<T> {
    /// Files of this format leave nothing open here.
    #[default]
    None,
    /// Known.
    Known {
        value: T,
        /// How it is known, as the end of a sentence.
        how: String,
    },
    /// Unclear: people should be asked. Give the answer in [`Options`](crate::import::options::ImportOptions) and open again.
    Ask {
        used: T,
        other: T,
        /// Why it is unclear, as the end of a sentence.
        why: String,
    },
}

impl<T: Copy> ImportFact<T> {
    /// Known, and how.
    pub fn known(value: T, how: impl Into<String>) -> Self {
        Self::Known { value, how: how.into() }
    }

    /// How it is read.
    pub fn value(&self) -> Option<T> {
        match self {
            Self::None => None,
            Self::Known { value, .. } => Some(*value),
            Self::Ask { used, .. } => Some(*used),
        }
    }

    /// Whether people should be asked.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }
}

/// What a matrix may have behind the words of its sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behind {
    /// Nothing, or `</s>`.
    #[default]
    Nothing,
    /// Zeros too; links may be of `</s>`, the place behind the words.
    Padding,
    /// What the decoder looked at when it went on behind the last word, up to the size of an array in which longer sentences
    /// are cut. The source side has a place for `</s>` in each sentence or in none.
    Decoder { has_end: bool },
}

/// A column of a table and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportColumn {
    /// Its name, or its number from 1 where the file names none.
    pub name: String,
    /// What it holds.
    pub role: ColumnRole,
}

/// What was found out about a file before its first sentence was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its format, a name of [`FORMATS`](crate::import::FORMATS).
    pub format: &'static str,
    /// What people call the format.
    pub label: &'static str,
    /// The encoding of its text, as the Encoding Standard names it; empty for numbers.
    pub encoding: &'static str,
    /// `gzip` or `zstandard`, where it is packed.
    pub packed: Option<&'static str>,
    /// Which side the rows of its matrices belong to.
    pub orientation: ImportFact<Orientation>,
    /// What its matrices have behind the words.
    pub behind: Behind,
    /// Where its links count words from.
    pub base: ImportFact<Base>,
    /// Which side its links name first.
    pub order: ImportFact<LinkOrder>,
    /// Its columns, where it is a table.
    pub columns: Vec<ImportColumn>,
    /// The languages of source and target, where it says so.
    pub languages: Option<(String, String)>,
    /// How many sentences it has, where it says so.
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
    pub fn told(&self) -> Vec<String> {
        let packed = self.packed.map_or_else(String::new, |packing| format!(", packed with {packing}"));
        let encoding = if self.encoding.is_empty() { String::new() } else { format!(", {}", self.encoding) };
        let mut told = vec![format!("{}{encoding}{packed}.", self.label)];
        told.extend(tell(&self.orientation, Orientation::name));
        told.extend(tell(&self.base, base_name));
        told.extend(tell(&self.order, order_name));
        told.extend(self.languages.iter().map(|(source, target)| format!("Translated from {source} to {target}.")));
        told.extend(self.notes.iter().cloned());
        told
    }
}

/// One fact as a sentence.
fn tell<T: Copy>(fact: &ImportFact<T>, name: fn(T) -> &'static str) -> Option<String> {
    let capital = |text: &str| {
        let mut chars = text.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    match fact {
        ImportFact::None => None,
        ImportFact::Known { value, how } => Some(format!("{}: {how}.", capital(name(*value)))),
        ImportFact::Ask { used, other, why } => {
            Some(format!("{}, or {}? {} is used: {why}.", capital(name(*used)), name(*other), capital(name(*used))))
        }
    }
}

/// Where words are counted from, in words.
pub fn base_name(base: Base) -> &'static str {
    match base {
        Base::Zero => "words counted from 0",
        Base::One => "words counted from 1",
    }
}

/// Which side comes first, in words.
pub fn order_name(order: LinkOrder) -> &'static str {
    match order {
        LinkOrder::SourceFirst => "the source side first",
        LinkOrder::TargetFirst => "the target side first",
    }
}

/// Something about one line that one should know; the rest of the file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line, from 1.
    pub line: usize,
    /// A sentence that names file and line.
    pub sentence: String,
}

/// The most warnings that are kept.
pub const MOST_WARNINGS: usize = 100;

/// The warnings of a file: the first [`MOST_WARNINGS`], and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warnings {
    path: PathBuf,
    /// The first ones.
    pub kept: Vec<Warning>,
    /// How many there were.
    pub count: usize,
}

impl Warnings {
    /// None so far.
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
