//! Phrase tables as Moses writes them, streamed a line at a time. Imports floor 0.
//!
//! A line is `source ||| target ||| features [||| alignment ||| counts ...]` (Koehn et al. 2007). What follows the
//! features is never looked at, and a line keeps every one of its bytes, its end included, so that a table with
//! a further feature differs from the old one in that feature alone.

use std::io::{BufRead, Write};
use std::{ops::Range, path::Path};

use crate::error::{Error, Result};
use crate::text::reader;
use crate::text::reader::{Advance, LineReader, Packing};

pub use crate::text::write::write_packed;

const BETWEEN: &str = "|||";
/// Which feature p(target | source) is where Moses made the table, counted from 1: its order is inverse phrase
/// probability, inverse lexical weight, direct phrase probability, direct lexical weight.
pub const DIRECT: usize = 3;

/// A line of a phrase table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhraseEntry {
    pub number: usize,
    line: String,
    source: Range<usize>,
    target: Range<usize>,
    features: Range<usize>,
}

impl PhraseEntry {
    /// Finds the fields of a line.
    pub fn new(number: usize, line: String) -> std::result::Result<Self, String> {
        let fields: Vec<Range<usize>> = fields(&line).take(3).collect();
        let Ok([source, target, features]) = <[Range<usize>; 3]>::try_from(fields) else {
            let found = line.matches(BETWEEN).count() + 1;
            return Err(format!(
                "has {found} field{} of the three that a phrase pair needs; write it as `source ||| target ||| features`",
                if found == 1 { "" } else { "s" }
            ));
        };
        for (side, name) in [(&source, "source"), (&target, "target")] {
            if side.is_empty() {
                return Err(format!("has no {name} phrase before its `|||`; take the line out"));
            }
        }
        let entry = Self { number, line, source, target, features };
        match entry.features_text().split_whitespace().find(|feature| feature.parse::<f64>().is_err()) {
            None => Ok(entry),
            Some(other) => {
                Err(format!("has the feature `{other}`, which is no number; features are numbers split by spaces"))
            }
        }
    }

    pub fn source(&self) -> &str {
        &self.line[self.source.clone()]
    }

    pub fn target(&self) -> &str {
        &self.line[self.target.clone()]
    }

    fn features_text(&self) -> &str {
        &self.line[self.features.clone()]
    }

    pub fn features(&self) -> impl Iterator<Item = f64> + '_ {
        self.features_text().split_whitespace().filter_map(|feature| feature.parse().ok())
    }

    pub fn feature(&self, n: usize) -> Option<f64> {
        self.features().nth(n.checked_sub(1)?)
    }

    pub fn line(&self) -> &str {
        &self.line
    }

    pub fn write_with(&self, feature: &str, output: &mut dyn Write) -> std::io::Result<()> {
        let (before, after) = self.line.split_at(self.features.end);
        write!(output, "{before} {feature}{after}")
    }
}

fn fields(line: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    line.split(BETWEEN).map(move |field| {
        let from = start;
        start += field.len() + BETWEEN.len();
        // The mark that some editors put before the first line is no part of a phrase.
        let trimmed = field.strip_prefix('\u{feff}').unwrap_or(field);
        let from = from + field.len() - trimmed.len();
        let text = trimmed.trim();
        let before = if text.is_empty() { 0 } else { trimmed.len() - trimmed.trim_start().len() };
        from + before..from + before + text.len()
    })
}

/// Reads a phrase table, packed with gzip or zstandard or not.
pub struct PhraseTable {
    lines: LineReader,
    size: Option<u64>,
    features: Option<usize>,
    ended: bool,
}

impl PhraseTable {
    pub fn open(path: &Path) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if facts.is_dir() {
            return Err(Error::file(path, "is a folder; name a phrase table"));
        }
        // What a packed file holds is not known before it is unpacked.
        let mut table = Self::new(path, reader::open(path)?);
        table.size = (facts.is_file() && Packing::of_name(path).is_none()).then_some(facts.len());
        Ok(table)
    }

    /// Reads from any input; errors name `path`.
    pub fn new(path: &Path, input: Box<dyn BufRead + Send>) -> Self {
        Self { lines: LineReader::new(path, input).feeds_only(), size: None, features: None, ended: false }
    }

    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// Bytes read so far, unpacked.
    pub fn bytes_read(&self) -> u64 {
        self.lines.bytes()
    }

    /// Bytes in all, where that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    pub fn features(&self) -> Option<usize> {
        self.features
    }

    fn read(&mut self) -> Result<Option<PhraseEntry>> {
        if self.lines.advance()? == Advance::End {
            return Ok(None);
        }
        let number = self.lines.line();
        let wrong = |message| Error::line(self.lines.path(), number, message);
        let entry = PhraseEntry::new(number, self.lines.whole()?.to_owned()).map_err(wrong)?;
        let features = entry.features().count();
        let first = *self.features.get_or_insert(features);
        if features != first {
            let message = format!("has {features} features, but the first line has {first}; all need the same number");
            return Err(Error::line(self.lines.path(), number, message));
        }
        Ok(Some(entry))
    }
}

impl Iterator for PhraseTable {
    type Item = Result<PhraseEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// Feature `n` of `entry`, counted from 1.
pub fn feature(path: &Path, entry: &PhraseEntry, n: usize, asked: &str) -> Result<f64> {
    entry.feature(n).ok_or_else(|| {
        let found = entry.features().count();
        let message = format!("has no feature {n}, only {found}; name the one that is p(target | source) with {asked}");
        Error::line(path, entry.number, message)
    })
}
