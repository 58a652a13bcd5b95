//! Where costly conditions hold: frequencies of words, n-grams, jumps of alignments, source words that are translated
//! otherwise. What was found out is remembered until the corpus changes.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use crate::import::aligned::{Linker, WordFate, fates, word_fates};
use crate::query::filter::{ExpensiveCondition, Filter, Matched};
use crate::store::corpus::{CorpusTable, SystemColumn};
use crate::{measures::frequencies::Frequencies, store::file::Workspace};
use engine::aligner::bundled::AlignerChoice;
use engine::analysis::{alignment::JumpSet, alignment::jumps};
use engine::analysis::{contrast::times, lexical::bare};
use engine::error::{Error, Result};
use engine::text::{lines::Needle, sentence::UNK, unspaced::is_unspaced, words::composed};

const STEP: usize = 512;
const REMEMBERED: usize = 8;

/// What costly conditions are found out with.
#[derive(Clone, Debug, Default)]
pub struct FilterResources {
    /// Where frequencies are read from; none: the references are counted.
    pub path: Option<PathBuf>,
    /// The aligner of source and target; none: references are linked by hand or by forced models alone.
    pub aligner: Option<AlignerChoice>,
    frequencies: Option<Arc<Frequencies>>,
    jumps: HashMap<i64, Arc<Vec<JumpSet>>>,
    known: Vec<(ExpensiveCondition, Vec<bool>)>,
}

/// Whether an answer is still wanted.
pub type GoesOn<'a> = dyn FnMut() -> bool + 'a;

fn wanted(at: usize, goes_on: &mut GoesOn<'_>) -> Result<()> {
    if at.is_multiple_of(STEP) && !goes_on() { Err(Error::Stale) } else { Ok(()) }
}

impl FilterResources {
    /// Means that are to be found out with from now on. A file of the same name may have been written again.
    pub fn set(&mut self, path: Option<PathBuf>, aligner: Option<AlignerChoice>) {
        *self = Self { path, aligner, jumps: std::mem::take(&mut self.jumps), ..Self::default() };
    }

    /// The corpus has changed.
    pub fn forget(&mut self) {
        let frequencies = self.path.is_some().then(|| self.frequencies.take()).flatten();
        *self = Self { path: self.path.take(), aligner: self.aligner.take(), frequencies, ..Self::default() };
    }

    /// A filter that knows where its conditions hold; [`Error::Stale`] when it is not wanted any more.
    pub fn filter(
        &mut self, line: &str, corpus: &CorpusTable, workspace: &Workspace, goes_on: &mut GoesOn<'_>,
    ) -> Result<Filter> {
        let mut filter = Filter::new(line, corpus)?;
        filter.gather(&mut |costly| {
            if let Some((_, holds)) = self.known.iter().find(|(known, _)| known == costly) {
                return Ok(holds.clone());
            }
            let holds = self.holds(costly, corpus, workspace, goes_on)?;
            if self.known.len() >= REMEMBERED {
                self.known.remove(0);
            }
            self.known.push((costly.clone(), holds.clone()));
            Ok(holds)
        })?;
        Ok(filter)
    }

    /// How often words are in the training text; [`Error::Stale`] as above.
    pub fn frequencies(&mut self, corpus: &CorpusTable, goes_on: &mut GoesOn<'_>) -> Result<Arc<Frequencies>> {
        if let Some(known) = &self.frequencies {
            return Ok(Arc::clone(known));
        }
        let counted = match &self.path {
            Some(path) => Frequencies::read(path, corpus.bleu.tokenization)?,
            None => Frequencies::counted(corpus, goes_on).ok_or(Error::Stale)?,
        };
        Ok(Arc::clone(self.frequencies.insert(Arc::new(counted))))
    }

    fn holds(
        &mut self, costly: &ExpensiveCondition, corpus: &CorpusTable, workspace: &Workspace, goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<bool>> {
        let mut holds = vec![false; corpus.len()];
        match costly {
            ExpensiveCondition::Frequency(system, low, high) => {
                let known = self.frequencies(corpus, goes_on)?;
                let is = |text: Option<&str>| {
                    let text = corpus.cut(text.unwrap_or_default());
                    text.split(' ').any(|word| !word.is_empty() && (*low..=*high).contains(&known.of(word)))
                };
                for (at, holds) in holds.iter_mut().enumerate() {
                    wanted(at, goes_on)?;
                    let Some(system) = system else {
                        *holds = is(corpus.references.get(at));
                        continue;
                    };
                    let said = corpus.systems.get(*system).and_then(|column| column.texts.get(at));
                    let reference = corpus.references.get(at);
                    // Counted where both are there, as the overview does.
                    *holds = said.is_some() && reference.is_some() && (is(reference) || is(said));
                }
            }
            ExpensiveCondition::Ngram(matched, ngram) => {
                let ngram: Vec<&str> = ngram.iter().map(String::as_str).collect();
                for at in candidates(&ngram, corpus) {
                    wanted(at, goes_on)?;
                    holds[at] = matches(*matched, &ngram, corpus, at).unwrap_or(false);
                }
            }
            ExpensiveCondition::Wrong(system, word) => {
                let Some(column) = corpus.systems.get(*system) else { return Ok(holds) };
                let mut linker = Linker::new(self.aligner.as_ref(), corpus.rules)?;
                let mut places = Vec::new();
                corpus.sources.search(&Needle::new(word), &mut |at| places.push(at));
                for (n, at) in places.into_iter().enumerate() {
                    wanted(n, goes_on)?;
                    holds[at] = is_wrong(word, &mut linker, column, (corpus, workspace), at)?;
                }
            }
            ExpensiveCondition::Jump(system, low, high) => {
                let Some(column) = corpus.systems.get(*system) else { return Ok(holds) };
                let sets = self.jump_sets(column, (corpus, workspace), goes_on)?;
                for (holds, set) in holds.iter_mut().zip(sets.iter()) {
                    *holds = set.has(*low, *high);
                }
            }
        }
        Ok(holds)
    }

    fn jump_sets(
        &mut self, column: &SystemColumn, (corpus, workspace): (&CorpusTable, &Workspace), goes_on: &mut GoesOn<'_>,
    ) -> Result<Arc<Vec<JumpSet>>> {
        if let Some(known) = self.jumps.get(&column.system.id) {
            return Ok(Arc::clone(known));
        }
        let mut sets = vec![JumpSet::default(); column.texts.len()];
        for (at, set) in sets.iter_mut().enumerate() {
            wanted(at, goes_on)?;
            if column.texts.get(at).is_none() {
                continue;
            }
            let links = workspace
                .output(column.system.id, at)?
                .and_then(|output| output.word_links(corpus.sources.get(at)?, corpus.rules));
            *set = JumpSet::of(&jumps(&links.unwrap_or_default()));
        }
        Ok(Arc::clone(self.jumps.entry(column.system.id).or_insert(Arc::new(sets))))
    }
}

fn candidates(ngram: &[&str], corpus: &CorpusTable) -> Vec<usize> {
    let mut longest = ngram.iter().max_by_key(|word| word.chars().count()).copied().unwrap_or_default();
    // Cutting turns some signs into others, and every spelling of an unknown word into one.
    if longest.contains(['&', '<', '>', '"']) || longest == UNK {
        return (0..corpus.len()).collect();
    }
    // Somebody may have set spaces within such a word.
    if let Some(letter) = longest.matches(is_unspaced).next() {
        longest = letter;
    }
    let mut there = vec![false; corpus.len()];
    let texts = std::iter::once(&corpus.references).chain(corpus.systems.iter().map(|column| &column.texts));
    for texts in texts {
        texts.search(&Needle::new(longest), &mut |at| there[at] = true);
    }
    (0..corpus.len()).filter(|at| there[*at]).collect()
}

fn matches(matched: Matched, ngram: &[&str], corpus: &CorpusTable, at: usize) -> Option<bool> {
    let times = |text: &str| times(&corpus.cut(&composed(text)), ngram);
    let wanted = times(corpus.references.get(at)?);
    let said = |system: usize| Some(times(corpus.systems.get(system)?.texts.get(at)?));
    Some(match matched {
        Matched::Right(system) => said(system)?.min(wanted) > 0,
        Matched::More(first, second) => said(first)?.min(wanted) > said(second)?.min(wanted),
        Matched::Missed(system) => wanted > said(system)?,
        Matched::Extra(system) => said(system)? > wanted,
    })
}

fn is_wrong(
    word: &str, linker: &mut Linker, column: &SystemColumn, (corpus, workspace): (&CorpusTable, &Workspace), at: usize,
) -> Result<bool> {
    let (Some(source), references) = (corpus.sources.get(at), corpus.references_of(at)) else { return Ok(false) };
    if column.texts.get(at).is_none() || !corpus.rules.source.words(source).into_iter().any(|other| bare(other) == word)
    {
        return Ok(false);
    }
    // A damaged one is told of where it is shown, and stops nothing here.
    let Some(output) = workspace.output(column.system.id, at).ok().flatten() else { return Ok(false) };
    let (links, _) = linker.of_reference(corpus, workspace, at)?;
    let own = word_fates((source, corpus.rules), &references, &links, &output);
    let fates = fates(source, corpus.rules.source, &own);
    Ok(fates.get(word).is_some_and(WordFate::is_wrong))
}
