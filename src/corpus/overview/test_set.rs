//! Floor 7: a corpus that is not saved: a test set in memory, sources and one or more references, line by line;
//! which of its sentences and what of them is measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::text::reader::{LineReader, MOST_TEXT};
use crate::text::words::words;

/// A source sentence and its references. Cloning it copies no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPair {
    /// As in the file.
    pub source: Arc<str>,
    /// At least one; the first is the one whose probability is measured.
    pub references: Arc<[Arc<str>]>,
}

impl TestPair {
    /// The first reference.
    pub fn reference(&self) -> &str {
        self.references.first().map_or("", AsRef::as_ref)
    }
}

/// Whether translations may contain `[UNK]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unk {
    /// As any other word.
    Allowed,
    /// The search never emits it (Bahdanau et al. 2015, table 1, last column).
    Forbidden,
}

impl Unk {
    /// Its name: `allowed` or `forbidden`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Forbidden => "forbidden",
        }
    }
}

/// Which sentences of a test set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// All.
    All,
    /// Those without words in the source or in a reference that a model of the evaluation does not know.
    WithoutUnk,
}

impl Set {
    /// Its name: `all` or `without UNK`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::WithoutUnk => "without UNK",
        }
    }
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationStage {
    /// NLL of the references.
    Scoring,
    /// Translations.
    Translating(Unk),
    /// Alignments of given pairs.
    Aligning,
}

/// Hears after every batch what was done, with its sentences and words, `</s>` counted. It may wait, as while paused.
pub type EvaluationListener<'a> = dyn FnMut(EvaluationStage, usize, usize) + 'a;

/// The most sentences of a test set: translating more would take days, and each takes some 150 bytes beside its text.
const MOST_SENTENCES: usize = 1_000_000;

/// A test set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSet {
    /// The file of the sources.
    pub source: PathBuf,
    /// The files of the references, at least one.
    pub references: Vec<PathBuf>,
    /// The words are split by spaces already.
    pub pretokenized: bool,
    /// At least one; pair n is line n of every file.
    pub pairs: Vec<TestPair>,
}

impl TestSet {
    /// Reads a file of sources and files of references, packed (gzip, zstandard) or not.
    ///
    /// # Errors
    /// A sentence that names the file, and the line where one ends before another or is not UTF-8; files without
    /// any line.
    pub fn read(source: &Path, references: &[PathBuf], pretokenized: bool) -> Result<Self> {
        let references: Result<Vec<LineReader>> = references.iter().map(|path| LineReader::open(path)).collect();
        Self::from_lines(LineReader::open(source)?, references?, pretokenized)
    }

    /// As [`TestSet::read`], from any readers.
    pub fn from_lines(source: LineReader, references: Vec<LineReader>, pretokenized: bool) -> Result<Self> {
        let limited = |reader: LineReader| reader.at_most(MOST_TEXT, MOST_SENTENCES);
        let mut source = limited(source);
        let mut references: Vec<LineReader> = references.into_iter().map(limited).collect();
        if references.is_empty() {
            return Err(Error::Input("a test set needs at least one file of references".into()));
        }
        let mut pairs = Vec::new();
        loop {
            let line = source.next().transpose()?;
            let lines: Result<Vec<Option<String>>> =
                references.iter_mut().map(|reader| reader.next().transpose()).collect();
            let lines = lines?;
            match line {
                Some(line) if lines.iter().all(Option::is_some) => {
                    let references = lines.into_iter().flatten().map(Arc::from).collect();
                    pairs.push(TestPair { source: line.into(), references });
                }
                None if lines.iter().all(Option::is_none) => break,
                _ => {
                    let goes_on = [&line].into_iter().chain(&lines).map(Option::is_some);
                    let readers = [&source].into_iter().chain(&references);
                    return Err(unequal(&readers.zip(goes_on).collect::<Vec<_>>()));
                }
            }
        }
        if pairs.is_empty() {
            return Err(Error::file(source.path(), "has no lines; give a test set"));
        }
        Ok(Self {
            source: source.path().into(),
            references: references.iter().map(|reader| reader.path().into()).collect(),
            pretokenized,
            pairs,
        })
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Never true for a set that was read.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Words between spaces of each source and its first reference, as alignments by hand count them.
    pub fn lengths(&self) -> Vec<(usize, usize)> {
        let count = |text: &str| words(text).count();
        self.pairs.iter().map(|pair| (count(&pair.source), count(pair.reference()))).collect()
    }

    /// A short name: that of the file of sources without its folder.
    pub fn name(&self) -> String {
        self.source.file_name().map_or_else(|| "test set".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// One file ended and another goes on, as is told of each.
fn unequal(readers: &[(&LineReader, bool)]) -> Error {
    let find = |wanted: bool| readers.iter().find(|(_, goes_on)| *goes_on == wanted).map(|(reader, _)| *reader);
    let (Some(short), Some(long)) = (find(false), find(true)) else {
        return Error::Internal("files of equal length were called unequal".into());
    };
    let message = format!(
        "ends after line {}, but {} goes on; the files must be translations line by line",
        short.line(),
        long.path().display()
    );
    Error::file(short.path(), message)
}
