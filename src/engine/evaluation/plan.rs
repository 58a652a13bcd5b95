//! Interventions that a system is asked with about many sentences, those of a workspace or of a list.
//!
//! A file holds one object for all sentences, whose `source` is not looked at here, or a line for each sentence in the order of
//! these. A sentence that they do not fit, since it lacks a word that they name, is left out and told.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::interventions::{Intervention, InterventionFile, InterventionReader, Interventions, Origin, ResolvedText};
use crate::text::{sentence::Sentence, words::vocabulary_words};
use crate::{evaluation::EvaluatedSystem, models::folder::hexadecimal};

const MOST_KEPT: usize = 1 << 14;

/// Interventions for all sentences or for each.
#[derive(Clone, Debug, PartialEq)]
pub struct InterventionPlan {
    pub name: String,
    path: PathBuf,
    plan: Plan,
}

#[derive(Clone, Debug, PartialEq)]
enum Plan {
    All(Arc<Interventions>),
    Lines(Arc<[Arc<Interventions>]>),
}

impl InterventionPlan {
    /// Reads a file; it gives them its name.
    pub fn open(path: &Path) -> Result<Self> {
        let file = InterventionFile::open(path)?;
        let plan = match file.all() {
            Some((all, _)) => Plan::All(Arc::new(Interventions { source: None, ..(**all).clone() })),
            None => Plan::Lines(lines(file)?.into()),
        };
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self { name, path: path.to_owned(), plan })
    }

    /// The same for all sentences, under a name.
    pub fn of(name: &str, all: Interventions) -> Self {
        let all = Arc::new(Interventions { source: None, ..all });
        Self { name: name.to_owned(), path: PathBuf::from(name), plan: Plan::All(all) }
    }

    /// As a file has them, or the digest of a long one: by this a system knows whether it is run with the same.
    pub fn document(&self) -> String {
        let json = |one: &Arc<Interventions>| one.to_json().unwrap_or_default();
        let text = match &self.plan {
            Plan::All(all) => json(all),
            Plan::Lines(lines) => lines.iter().map(json).collect::<Vec<_>>().join("\n"),
        };
        // Systems are read often, and every time as a whole.
        if text.len() <= MOST_KEPT { text } else { format!("sha256:{}", hexadecimal(&Sha256::digest(text))) }
    }

    pub fn check(&self, system: EvaluatedSystem<'_>) -> Result<()> {
        match &self.plan {
            Plan::All(all) => reader(system).check(all, &self.origin(None)),
            Plan::Lines(_) => Ok(()),
        }
    }

    /// Refuses words that are said or not said, where translations are given.
    pub fn check_given(&self) -> Result<()> {
        let sets_words =
            |one: &Arc<Interventions>| !one.prefix.is_empty() || !one.force.is_empty() || !one.forbid.is_empty();
        let (at, line) = match &self.plan {
            Plan::All(all) => (sets_words(all).then_some(0), false),
            Plan::Lines(lines) => (lines.iter().position(sets_words), true),
        };
        let Some(at) = at else { return Ok(()) };
        let why =
            "has words that are said or not said, but here translations are given; leave out prefix, force and forbid";
        Err(if line { Error::line(&self.path, at + 1, why) } else { Error::file(&self.path, why) })
    }

    /// Refuses lines for sentences that there are not.
    pub fn check_length(&self, sentences: usize) -> Result<()> {
        match &self.plan {
            Plan::Lines(lines) if lines.len() > sentences => {
                let message = format!("has {} lines, but the corpus has {sentences} sentences", lines.len());
                Err(Error::file(&self.path, message))
            }
            Plan::All(_) | Plan::Lines(_) => Ok(()),
        }
    }

    /// Those of a sentence, from 0, as the system counts its words, or why they do not fit it.
    pub fn resolve(
        &self, at: usize, system: EvaluatedSystem<'_>, (source, pretokenized): (&Sentence, bool),
    ) -> Result<Arc<[Intervention]>> {
        let (file, line) = match &self.plan {
            Plan::All(all) => (all, None),
            Plan::Lines(lines) => match lines.get(at) {
                Some(file) => (file, Some(at + 1)),
                None => return Ok(Arc::default()),
            },
        };
        let words = vocabulary_words(&system.lead().source, source, pretokenized);
        let read = ResolvedText { sentence: source, words: &words };
        Ok(reader(system).resolve(file, read).strict(&self.origin(line))?.list)
    }

    fn origin(&self, line: Option<usize>) -> Origin {
        Origin { path: self.path.clone(), line }
    }
}

/// What reads interventions for a model, or for several as one, which have no heads in common.
pub fn reader<'a>(system: impl Into<EvaluatedSystem<'a>>) -> InterventionReader<'a> {
    let system = system.into();
    let heads = if let EvaluatedSystem::Model(model) = system { model.config.transformer() } else { None };
    InterventionReader { target: &system.lead().target, aligns: system.aligns(), heads }
}

/// Empty lines at the end are for no sentence.
fn lines(mut file: InterventionFile) -> Result<Vec<Arc<Interventions>>> {
    let mut all = Vec::new();
    while let Some((one, _)) = file.next_line()? {
        all.push(one);
    }
    let filled = all.iter().rposition(|one| **one != Interventions::default()).map_or(0, |last| last + 1);
    all.truncate(filled);
    Ok(all)
}
