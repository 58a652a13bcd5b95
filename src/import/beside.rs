//! Floor 6: the texts that lie beside a file, read line for line with it. Imports its room.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::import::facts::Warnings;
use crate::import::input::{ImportInput, TextLines};
use crate::import::options::BesideFiles;

/// One text beside a file.
#[derive(Debug)]
struct Side {
    path: PathBuf,
    lines: TextLines,
    /// The number of the line read last, from 1, and its text.
    at: usize,
    text: Option<String>,
    ended: bool,
    /// Its own warnings are told when it is imported itself.
    unheard: Warnings,
}

impl Side {
    fn open(path: &Path) -> Result<Self> {
        let lines = ImportInput::open(path, None)?.lines()?;
        Ok(Self { path: path.into(), lines, at: 0, text: None, ended: false, unheard: Warnings::new(path) })
    }

    /// Line `n`, from 1; lines are asked for in their order. `None` behind the end.
    fn line(&mut self, n: usize) -> Result<Option<&str>> {
        while self.at < n && !self.ended {
            self.at += 1;
            self.text = self.lines.next(&mut self.unheard)?.map(|line| line.text.unwrap_or_default());
            self.ended = self.text.is_none();
        }
        Ok(self.text.as_deref().filter(|_| self.at == n))
    }
}

/// The texts beside a file, where there are any.
#[derive(Debug, Default)]
pub struct Sides {
    source: Option<Side>,
    target: Option<Side>,
}

impl Sides {
    /// Opens them.
    pub fn open(beside: &BesideFiles) -> Result<Self> {
        let side = |path: &Option<PathBuf>| path.as_deref().map(Side::open).transpose();
        Ok(Self { source: side(&beside.source)?, target: side(&beside.target)? })
    }

    /// Whether there is a source text.
    pub fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Whether there is a target text.
    pub fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Line `n` of the source text, from 1; `None` where there is no text. A missing line is a warning about `line` of
    /// the file.
    pub fn source(&mut self, n: usize, line: usize, warnings: &mut Warnings) -> Result<Option<String>> {
        line_of(&mut self.source, n, line, warnings)
    }

    /// The same for the target text.
    pub fn target(&mut self, n: usize, line: usize, warnings: &mut Warnings) -> Result<Option<String>> {
        line_of(&mut self.target, n, line, warnings)
    }

    /// The same for both, the source first.
    pub fn both(&mut self, n: usize, line: usize, warnings: &mut Warnings) -> Result<[Option<String>; 2]> {
        Ok([self.source(n, line, warnings)?, self.target(n, line, warnings)?])
    }

    /// Tells, behind sentence `n`, the last one, of texts that go on.
    pub fn end(&mut self, n: usize, line: usize, warnings: &mut Warnings) -> Result<()> {
        for side in [&mut self.source, &mut self.target].into_iter().flatten() {
            if side.line(n + 1)?.is_some() {
                let path = side.path.display();
                warnings.add(
                    line,
                    format!("is the last, sentence {n}, but {path} has more lines; check that they belong together"),
                );
            }
        }
        Ok(())
    }
}

fn line_of(side: &mut Option<Side>, n: usize, line: usize, warnings: &mut Warnings) -> Result<Option<String>> {
    let Some(side) = side else { return Ok(None) };
    if let Some(text) = side.line(n)? {
        return Ok(Some(text.to_owned()));
    }
    warnings.add(
        line,
        format!("is sentence {n}, but {} has no line {n}; check that they belong together", side.path.display()),
    );
    Ok(None)
}
