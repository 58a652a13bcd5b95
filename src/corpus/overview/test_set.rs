//! A test set: sources and one or more references, line by line, which become a corpus that need not be saved.

use std::path::{Path, PathBuf};

use crate::store::rules::{KnownWords, SideRules};
use crate::store::{file::Workspace, read::MOST_REFERENCES, write::NewSentence};
use engine::error::{Error, Result};
use engine::evaluation::EvaluatedSystem;
use engine::text::links::read::{LinkLayout, read};
use engine::text::reader::{LineReader, MOST_TEXT};
use engine::text::{cut::WordRule, line, links::Links, parallel::unequal, tokenizer::Encode};

const MOST_SENTENCES: usize = 1_000_000;
const STEP: usize = 4096;

/// A test set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestSet {
    pub source: PathBuf,
    pub references: Vec<PathBuf>,
    /// The words are split by spaces already.
    pub pretokenized: bool,
    /// At least one; pair n is line n of every file. The first reference is the one whose probability is measured.
    pub pairs: Vec<NewSentence>,
}

impl TestSet {
    /// Reads a file of sources and files of references, packed (gzip, zstandard) or not.
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

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Never true for a set that was read.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
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
    pub fn read_golds(&mut self, path: &Path, layout: &LinkLayout) -> Result<String> {
        let gold = read(path, &self.lengths(), layout)?;
        self.set_golds(gold.pairs);
        Ok(gold.note)
    }

    /// Writes it into a new corpus file, whose words are those between spaces.
    pub fn corpus(&self, path: &Path) -> Result<Workspace> {
        if self.references.len() > MOST_REFERENCES {
            let count = self.references.len();
            let message =
                format!("there are {count} references, and a corpus has {MOST_REFERENCES}; measure with fewer");
            return Err(Error::Input(message));
        }
        let mut workspace = Workspace::open(path)?;
        let rules = Some(SideRules::SPACES);
        let known = KnownWords { pretokenized: self.pretokenized, rules, ..KnownWords::default() };
        let sources = self.pairs.iter().map(|pair| pair.source.as_str());
        workspace.settle_words(&known, sources, self.pairs.iter().map(NewSentence::first))?;
        let origin = workspace.add_origin(&self.name(), "")?;
        self.pairs.chunks(STEP).try_for_each(|new| workspace.add_sentences(origin, new).map(drop))?;
        Ok(workspace)
    }

    /// For each sentence: whether its source, and whether a reference, has a word unknown to the system (to all ensemble members).
    pub fn unknown(&self, system: EvaluatedSystem<'_>) -> Result<Vec<[bool; 2]>> {
        let unk = system.specials().unk;
        let read = |path: &Path, number: usize, tokenizer: &dyn Encode, text: &str| {
            line::read(tokenizer, text, self.pretokenized).map_err(|why| Error::line(path, number, why))
        };
        let of = |(n, pair): (usize, &NewSentence)| {
            // A test set with holes would give figures that mean something else.
            let source = read(&self.source, n + 1, system.source(), &pair.source)?;
            if source.is_empty() {
                return Err(Error::line(&self.source, n + 1, line::NO_WORDS));
            }
            let mut unknown = [source.ids.contains(&unk), false];
            for (path, text) in self.references.iter().zip(pair.references()) {
                unknown[1] |= read(path, n + 1, &system.lead().target, text)?.ids.contains(&unk);
            }
            Ok(unknown)
        };
        self.pairs.iter().enumerate().map(of).collect()
    }

    /// A short name: that of the file of sources without its folder.
    pub fn name(&self) -> String {
        self.source.file_name().map_or_else(|| "test set".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}
