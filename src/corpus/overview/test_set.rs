//! Floor 7: a corpus that is not saved: a test set in memory, sources and one or more references, line by line;
//! which of its sentences and what of them is measured.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::analysis::bleu;
use crate::analysis::buckets::Buckets;
use crate::analysis::unknown::Replacing;
use crate::corpus::store::read::SAMPLE;
use crate::corpus::store::write::NewSentence;
use crate::decoding;
use crate::error::{Error, Result};
use crate::text::cut::WordRule;
use crate::text::links::Links;
use crate::text::links::read::{LinkLayout, read};
use crate::text::parallel::unequal;
use crate::text::reader::{LineReader, MOST_TEXT};

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

/// How to evaluate.
#[derive(Clone, Debug)]
pub struct EvaluationOptions {
    /// How to search; `unk` overrides `forbid_unk`.
    pub search: decoding::SearchOptions,
    /// Sentences decoded together, at least 1.
    pub batch: usize,
    pub buckets: Buckets,
    /// How BLEU cuts text into words.
    pub tokenization: bleu::Tokenization,
    /// Which translations to make: with `[UNK]`, without, both or none.
    pub unk: Vec<Unk>,
    /// What replaces unknown words of the output, in models that align; the others keep `[UNK]`.
    pub replace_unk: Option<Replacing>,
    /// What tells the time, where that is wanted.
    pub clock: Option<fn() -> Instant>,
}

impl Default for EvaluationOptions {
    fn default() -> Self {
        Self {
            search: decoding::SearchOptions::default(),
            batch: 16,
            buckets: Buckets::default(),
            tokenization: bleu::Tokenization::default(),
            unk: vec![Unk::Allowed],
            replace_unk: None,
            clock: None,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestSet {
    /// The file of the sources.
    pub source: PathBuf,
    /// The files of the references, at least one.
    pub references: Vec<PathBuf>,
    /// The words are split by spaces already.
    pub pretokenized: bool,
    /// At least one; pair n is line n of every file. The first reference is the one whose probability is measured.
    pub pairs: Vec<NewSentence>,
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
        if references.is_empty() {
            return Err(Error::Input("a test set needs at least one file of references".into()));
        }
        let readers = std::iter::once(source).chain(references);
        let mut readers: Vec<LineReader> = readers.map(|reader| reader.at_most(MOST_TEXT, MOST_SENTENCES)).collect();
        let mut pairs = Vec::new();
        loop {
            let lines = readers.iter_mut().map(|reader| reader.next().transpose());
            let lines = lines.collect::<Result<Vec<Option<String>>>>()?;
            let first = |goes_on: bool| lines.iter().position(|line| line.is_some() == goes_on);
            match (first(false), first(true)) {
                (Some(short), Some(long)) => return Err(unequal(&readers[short], &readers[long])),
                (Some(_), None) => break,
                (None, _) => {
                    let (line, mut lines) = (pairs.len() + 1, lines.into_iter().flatten());
                    let (source, reference) = (lines.next().unwrap_or_default(), lines.next());
                    pairs.push(NewSentence {
                        source,
                        reference,
                        further: lines.collect(),
                        name: None,
                        line,
                        gold: None,
                    });
                }
            }
        }
        let mut files = readers.iter().map(|reader| reader.path().to_path_buf());
        let source = files.next().unwrap_or_default();
        if pairs.is_empty() {
            return Err(Error::file(&source, "has no lines; give a test set"));
        }
        Ok(Self { source, references: files.collect(), pretokenized, pairs })
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Never true for a set that was read.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The usual tokenizer of BLEU for a target language; if that is not known (empty), for the script of the references.
    pub fn usual_tokenization(&self, target: &str) -> bleu::Tokenization {
        let sample: Vec<&str> = self.pairs.iter().take(SAMPLE).map(NewSentence::first).collect();
        bleu::Tokenization::usual_of(target, &sample.join(" "))
    }

    /// Words between spaces of each source and its first reference, as alignments by hand count them.
    pub fn lengths(&self) -> Vec<(usize, usize)> {
        let rule = if self.pretokenized { WordRule::Given } else { WordRule::Spaces };
        let count = |text: &str| rule.count(text);
        self.pairs.iter().map(|pair| (count(&pair.source), count(pair.first()))).collect()
    }

    /// Gives its pairs links by hand, in their order.
    pub fn set_golds(&mut self, golds: Vec<Links>) {
        self.pairs.iter_mut().zip(golds).for_each(|(pair, gold)| pair.gold = Some(gold));
    }

    /// Reads links by hand of its pairs; gives how they were read, in a sentence.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read_golds(&mut self, path: &Path, layout: &LinkLayout) -> Result<String> {
        let gold = read(path, &self.lengths(), layout)?;
        self.set_golds(gold.pairs);
        Ok(gold.note)
    }

    /// A short name: that of the file of sources without its folder.
    pub fn name(&self) -> String {
        self.source.file_name().map_or_else(|| "test set".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}
