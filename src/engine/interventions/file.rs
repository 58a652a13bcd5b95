//! Files of interventions, read beside a text: one object for all sentences, over as many lines as it likes, or an
//! object a line, each for the sentence of the same line of the text; there an empty line changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interventions::form::{Interventions, is_object};
use crate::text::reader::{LineReader, MOST_LINE};

/// A file of interventions, read beside a text.
pub struct InterventionFile {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    All(Arc<Interventions>),
    Lines(Lines),
}

struct Lines {
    rest: Box<dyn Iterator<Item = Result<String>> + Send>,
    taken: usize,
}

impl Lines {
    fn take(&mut self) -> Result<Option<String>> {
        let line = self.rest.next().transpose()?;
        self.taken += usize::from(line.is_some());
        Ok(line)
    }
}

/// Where in a file an intervention stands, for sentences about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub path: PathBuf,
    /// The line, in a file of one object a line.
    pub line: Option<usize>,
}

impl Origin {
    /// A sentence about a key of the object.
    pub fn wrong(&self, key: &str, message: &str) -> Error {
        match self.line {
            Some(line) => Error::line(&self.path, line, format!("key `{key}` {message}")),
            None => Error::key(&self.path, key, message),
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

impl InterventionFile {
    /// Opens a file, packed or not; of one object for all sentences it is read at once.
    pub fn open(path: &Path) -> Result<Self> {
        let mut rest = LineReader::open(path)?;
        let first = rest.next().transpose()?.unwrap_or_default();
        let (mut blank, mut next) = (0, None);
        while let Some(line) = rest.next().transpose()? {
            if !is_blank(&line) {
                next = Some(line);
                break;
            }
            blank += 1;
        }
        // An object over several lines is none on its first. One object with several empty lines behind it changes the first
        // sentence; an empty line at the end is none.
        let by_line = match &next {
            None => blank > 1 && is_object(&first),
            Some(next) => is_object(&first) || is_blank(&first) && is_object(next),
        };
        let blanks = std::iter::repeat_with(String::new).take(blank);
        let rest = std::iter::once(first).chain(blanks).chain(next).map(Ok).chain(rest);
        if by_line {
            return Ok(Self { path: path.into(), kind: Kind::Lines(Lines { rest: Box::new(rest), taken: 0 }) });
        }
        let mut text = String::new();
        for line in rest {
            text += &line?;
            text.push('\n');
            if text.len() > MOST_LINE {
                return Err(Error::file(path, format!("has an object of more than {MOST_LINE} bytes")));
            }
        }
        let all = Arc::new(Interventions::parse(path, 0, &text)?);
        Ok(Self { path: path.into(), kind: Kind::All(all) })
    }

    pub fn all(&self) -> Option<(&Arc<Interventions>, Origin)> {
        match &self.kind {
            Kind::All(all) => Some((all, Origin { path: self.path.clone(), line: None })),
            Kind::Lines(_) => None,
        }
    }

    pub fn next_line(&mut self) -> Result<Option<(Arc<Interventions>, Origin)>> {
        let lines = match &mut self.kind {
            Kind::All(all) => return Ok(Some((Arc::clone(all), Origin { path: self.path.clone(), line: None }))),
            Kind::Lines(lines) => lines,
        };
        let Some(line) = lines.take()? else { return Ok(None) };
        let read = match line.trim() {
            "" => Interventions::default(),
            line => Interventions::parse(&self.path, lines.taken - 1, line)?,
        };
        Ok(Some((Arc::new(read), Origin { path: self.path.clone(), line: Some(lines.taken) })))
    }

    /// As [`InterventionFile::next_line`], where there is a sentence; a file that has ended is an error.
    pub fn next_sentence(&mut self) -> Result<(Arc<Interventions>, Origin)> {
        let next = self.next_line()?;
        next.ok_or_else(|| {
            let number = if let Kind::Lines(lines) = &self.kind { lines.taken } else { 0 };
            let message = format!("has {number} lines, but the text has more; write a line for each, empty for none");
            Error::file(&self.path, message)
        })
    }

    /// Refuses lines behind the last sentence.
    pub fn finish(&mut self) -> Result<()> {
        let Kind::Lines(lines) = &mut self.kind else { return Ok(()) };
        while let Some(line) = lines.take()? {
            if !is_blank(&line) {
                return Err(Error::line(&self.path, lines.taken, "has no sentence, since the text has fewer lines"));
            }
        }
        Ok(())
    }
}
