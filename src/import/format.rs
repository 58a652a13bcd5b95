//! What a format is: one line of [`FORMATS`](crate::FORMATS) and a reader.

use std::sync::Arc;

use crate::facts::{Facts, Warnings};
use crate::input::{ImportInput, TextLines};
use crate::options::{ImportOptions, Role};
use crate::record::Record;
use engine::error::Result;

/// One row of [`FORMATS`](crate::FORMATS).
#[derive(Clone, Copy)]
pub struct FormatEntry {
    pub name: &'static str,
    pub label: &'static str,
    /// How likely a file is of this format by its first bytes: from 0, impossible, to 100, certain.
    pub sniff: fn(&FileSample<'_>) -> u8,
    pub reading: FormatReading,
    pub is_written: bool,
    /// The public files, or the toolkit, that showed that it is read rightly.
    pub proof: &'static str,
}

/// Who reads a kind of file.
#[derive(Clone, Copy)]
pub enum FormatReading {
    /// Starts to read a file with sentences and states what was found out about it.
    Sentences(fn(&ImportInput, &ImportOptions, &mut Facts) -> Result<Box<dyn FormatReader>>),
    /// It says something of sentences that a corpus has: `corpus::import` reads it.
    OfCorpus(CorpusKind),
    /// Nobody: what it is and what to do with it, as the end of a sentence.
    Refused(&'static str),
}

/// What only a corpus takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorpusKind {
    Judgements,
    Mqm,
    Pearmut,
    Comet,
    Scores,
    Conllu,
}

impl FormatEntry {
    /// Whether it is read sentence by sentence.
    pub fn has_sentences(&self) -> bool {
        matches!(self.reading, FormatReading::Sentences(_))
    }

    /// Whether it has links of words and no words.
    pub fn is_links(&self) -> bool {
        matches!(self.name, "pharaoh" | "talp" | "naacl")
    }
}

impl std::fmt::Debug for FormatEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FormatEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The start of a file, by which its format is known.
#[derive(Clone, Copy, Debug)]
pub struct FileSample<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
    /// The same as text, in whole lines unless the first is very long.
    pub head: &'a str,
}

impl<'a> FileSample<'a> {
    /// The first lines that are not blank.
    pub fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.head.lines().filter(|line| !line.trim().is_empty())
    }

    /// The first line that is not blank.
    pub fn first(&self) -> &'a str {
        self.lines().next().unwrap_or_default()
    }

    /// Whether the name ends so.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        self.name.rsplit_once('.').is_some_and(|(_, ending)| extensions.contains(&ending))
    }
}

/// Reads a file sentence by sentence, by one of two ways.
pub trait FormatReader: Send {
    /// The next sentence; problems of a single one are warnings.
    fn next(&mut self, _: &mut Warnings) -> Result<Option<Record>> {
        Ok(None)
    }

    /// The lines, and what reads them, where each is a sentence whatever the others say; [`Self::next`] is not asked then.
    fn apart(&mut self) -> Option<(&mut TextLines, Arc<dyn LineParser>)> {
        None
    }
}

/// Reads a line without the others, on any thread.
pub trait LineParser: Send + Sync {
    /// What a line says; `None` where it is no sentence.
    fn record(&self, number: usize, line: &str, warnings: &mut Warnings) -> Option<Record>;
}

/// The name of the system whose outputs a file holds: the caller's, else the file's.
pub fn system(input: &ImportInput, options: &ImportOptions) -> String {
    match &options.role {
        Some(Role::Output(name)) => name.clone(),
        Some(Role::Source | Role::Reference | Role::Gold | Role::Scores(_)) | None => input.stem(),
    }
}
