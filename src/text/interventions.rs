//! Floor 1: files of interventions: what a person asks of a model's decoding, in words and positions from 1, so that
//! one file serves several models. What they do is the business of `decoding`. Imports floor 0.
//!
//! ```json
//! {"version": 1, "source": "the old house", "prefix": "la", "temperature": 0.5,
//!  "force": [{"position": 2, "word": "vieille"}], "forbid": [{"word": "ancienne"}],
//!  "pin": [{"row": 3, "alpha": {"word": "house"}}], "mask": [{"position": 1}]}
//! ```
//!
//! A file is one such object for all sentences, over as many lines as it likes, or an object a line, each for the
//! sentence of the same line of the text; there an empty line changes nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::reader::{LineReader, MOST_LINE, open};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// What is changed while one sentence is translated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interventions {
    /// [`VERSION`].
    pub version: u32,
    /// The sentence that it was made for; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name of the model that it was made with, for the window; any other may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text that the translation begins with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Words that are said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<Force>,
    /// Words that are not said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<Forbid>,
    /// Rows of alpha that are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// Source words that get no weight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<Place>,
    /// Temperature of the softmax over the energies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
}

impl Default for Interventions {
    fn default() -> Self {
        Self {
            version: VERSION,
            source: None,
            model: None,
            prefix: String::new(),
            force: Vec::new(),
            forbid: Vec::new(),
            pin: Vec::new(),
            mask: Vec::new(),
            temperature: None,
        }
    }
}

/// A word that is said at a position, or from it on where it is cut into pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// Target token, from 1.
    pub position: usize,
    /// As the vocabulary writes it, or as text.
    pub word: String,
    /// The model had chosen it, and it only stands still because of what is changed behind it; for the window.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(held: &bool) -> bool {
    !held
}

/// A word that is not said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forbid {
    /// Target token, from 1; without it the word is said nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// As the vocabulary writes it, or as text.
    pub word: String,
}

/// A row of alpha that is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Target token, from 1.
    pub row: usize,
    /// What the row becomes.
    pub alpha: Alpha,
}

/// What a row of alpha becomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alpha {
    /// A weight for each source token, `</s>` included.
    Weights(Vec<f32>),
    /// 1 at this source token, from 1.
    Position(usize),
    /// Shared by the tokens of this source word, wherever it stands.
    Word(String),
    /// The same for every source token.
    Uniform,
    /// The model's own weights in another order, which follows from this seed.
    Permuted(u64),
}

/// A source word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A source token, from 1.
    Position(usize),
    /// This word, wherever it stands.
    Word(String),
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    version: Option<u32>,
}

impl Interventions {
    /// Reads one object; `lines` is the number of lines before `text` in the file.
    ///
    /// # Errors
    /// A sentence with the line and the key that is wrong.
    pub fn parse(path: &Path, lines: usize, text: &str) -> Result<Self> {
        let wrong = |error: serde_json::Error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            let advice = "write an object of interventions as `interlinear translate --help` describes it";
            Error::line(path, lines + error.line().max(1), format!("{message}; {advice}"))
        };
        let head: Head = serde_json::from_str(text).map_err(wrong)?;
        match head.version {
            Some(VERSION) => serde_json::from_str(text).map_err(wrong),
            Some(version) => {
                let message = format!("is {version}, but this program reads version {VERSION}");
                Err(Error::key(path, "version", message))
            }
            None => Err(Error::line(path, lines + 1, format!("has no `version`; write \"version\": {VERSION}"))),
        }
    }

    /// As one line of JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::Internal(error.to_string()))
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self { source: self.source.clone(), model: self.model.clone(), ..Self::default() }
    }
}

/// A file of interventions, read beside a text.
#[derive(Debug)]
pub struct InterventionFile {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// One for all sentences.
    All(Arc<Interventions>),
    /// One a line; the first is read already.
    Lines { first: Option<String>, rest: LineReader },
}

/// Where in a file an intervention stands, for sentences about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
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

impl InterventionFile {
    /// Opens a file, packed or not; of one object for all sentences it is read at once.
    ///
    /// # Errors
    /// What cannot be read; what [`Interventions::parse`] refuses.
    pub fn open(path: &Path) -> Result<Self> {
        let mut lines = LineReader::open(path)?.learned_from();
        let first = lines.next().transpose()?.unwrap_or_default();
        let is_blank = |line: &str| line.trim().is_empty();
        let is_complete = |line: &str| serde_json::from_str::<Head>(line).is_ok();
        let mut behind = 0;
        let more = lines
            .inspect(|_| behind += 1)
            .find(|line| line.as_ref().map_or(true, |line| !is_blank(line)))
            .transpose()?;
        // An object over several lines is none on its first.
        // One object with several empty lines behind it changes the first sentence; an empty line at the end is none.
        let is_first_alone = more.is_none() && behind > 1 && is_complete(&first);
        let by_line =
            is_first_alone || more.is_some_and(|more| is_complete(&first) || is_blank(&first) && is_complete(&more));
        if by_line {
            let mut rest = LineReader::open(path)?;
            return Ok(Self { path: path.into(), kind: Kind::Lines { first: rest.next().transpose()?, rest } });
        }
        let mut text = String::new();
        let read = open(path)?.take(MOST_LINE as u64 + 1).read_to_string(&mut text);
        read.map_err(|error| Error::io(path, &error))?;
        if text.len() > MOST_LINE {
            return Err(Error::file(path, format!("has an object of more than {MOST_LINE} bytes")));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let all = Arc::new(Interventions::parse(path, 0, text)?);
        Ok(Self { path: path.into(), kind: Kind::All(all) })
    }

    /// The interventions of all sentences, where they have the same.
    pub fn all(&self) -> Option<(&Interventions, Origin)> {
        match &self.kind {
            Kind::All(all) => Some((all, Origin { path: self.path.clone(), line: None })),
            Kind::Lines { .. } => None,
        }
    }

    /// The interventions of the next sentence.
    ///
    /// # Errors
    /// A line that is no object of interventions; a file that has ended.
    pub fn next_sentence(&mut self) -> Result<(Arc<Interventions>, Origin)> {
        let (first, rest) = match &mut self.kind {
            Kind::All(all) => return Ok((Arc::clone(all), Origin { path: self.path.clone(), line: None })),
            Kind::Lines { first, rest } => (first, rest),
        };
        let is_first = first.is_some();
        let line = match first.take() {
            Some(line) => Some(line),
            None => rest.next().transpose()?,
        };
        let number = if is_first { 1 } else { rest.line() };
        let Some(line) = line else {
            let message = format!("has {number} lines, but the text has more; write a line for each, empty for none");
            return Err(Error::file(&self.path, message));
        };
        let read = match line.trim() {
            "" => Interventions::default(),
            line => Interventions::parse(&self.path, number - 1, line)?,
        };
        Ok((Arc::new(read), Origin { path: self.path.clone(), line: Some(number) }))
    }

    /// Refuses lines behind the last sentence.
    pub fn finish(&mut self) -> Result<()> {
        let Kind::Lines { first, rest } = &mut self.kind else { return Ok(()) };
        let mut more = first.take().or(rest.next().transpose()?);
        while let Some(line) = more {
            if !line.trim().is_empty() {
                return Err(Error::line(&self.path, rest.line(), "has no sentence, since the text has fewer lines"));
            }
            more = rest.next().transpose()?;
        }
        Ok(())
    }
}
