//! Parallel files, read side by side: line n of one is the translation of line n of the other. Imports floor 0.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::reader::LineReader;

/// What gives one line after the other.
pub trait LineSource {
    type Line;

    /// The next line; `None` at the end.
    fn next_line(&mut self) -> Result<Option<Self::Line>>;

    fn name(&self) -> &Path;

    fn number(&self) -> usize;
}

impl LineSource for LineReader {
    type Line = String;

    fn next_line(&mut self) -> Result<Option<String>> {
        self.next().transpose()
    }

    fn name(&self) -> &Path {
        self.path()
    }

    fn number(&self) -> usize {
        self.line()
    }
}

/// The next line of both sides; `None` where both end.
pub fn next_pair<L: LineSource>(source: &mut L, target: &mut L) -> Result<Option<(L::Line, L::Line)>> {
    match (source.next_line()?, target.next_line()?) {
        (Some(source), Some(target)) => Ok(Some((source, target))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(unequal(source, target)),
        (Some(_), None) => Err(unequal(target, source)),
    }
}

/// One file ends and the other goes on.
pub fn unequal<L: LineSource>(short: &L, long: &L) -> Error {
    let message = format!(
        "ends after line {}, but {} goes on; the files must be translations line by line",
        short.number(),
        long.name().display()
    );
    Error::file(short.name(), message)
}

/// The pairs of lines of several (source, target) files, one after the other.
#[derive(Debug)]
pub struct ParallelReader {
    files: Vec<(PathBuf, PathBuf)>,
    open: Option<(LineReader, LineReader)>,
    is_held: bool,
    is_learned_from: bool,
    failed: bool,
}

impl ParallelReader {
    /// A reader of (source, target) files; they are opened when their turn comes.
    pub fn new(files: &[(PathBuf, PathBuf)]) -> Self {
        Self {
            files: files.iter().rev().cloned().collect(),
            open: None,
            is_held: false,
            is_learned_from: false,
            failed: false,
        }
    }

    /// The same for text that is held in memory; see [`LineReader::held`].
    pub fn held(self) -> Self {
        Self { is_held: true, ..self }
    }

    /// The same for text that is learned from; see [`LineReader::learned_from`].
    pub fn learned_from(self) -> Self {
        Self { is_learned_from: true, ..self }
    }

    pub fn source(&self) -> Option<&LineReader> {
        self.open.as_ref().map(|(source, _)| source)
    }

    fn read(&mut self) -> Result<Option<(String, String)>> {
        loop {
            let (source, target) = match &mut self.open {
                Some(readers) => readers,
                empty => {
                    let Some((source, target)) = self.files.pop() else { return Ok(None) };
                    let open = |path: &Path| -> Result<LineReader> {
                        let reader = LineReader::open(path)?;
                        let reader = if self.is_held { reader.held() } else { reader };
                        Ok(if self.is_learned_from { reader.learned_from() } else { reader })
                    };
                    empty.insert((open(&source)?, open(&target)?))
                }
            };
            match next_pair(source, target)? {
                None => self.open = None,
                pair => return Ok(pair),
            }
        }
    }
}

impl Iterator for ParallelReader {
    type Item = Result<(String, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}
