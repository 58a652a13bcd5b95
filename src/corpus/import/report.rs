//! What came of a file that was imported, in sentences.

use std::{collections::BTreeMap, path::Path};

use engine::error::Error;
use import::ImportOptions;
use import::facts::MOST_WARNINGS;

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    pub sentences: usize,
    /// References for sentences that had none of that number, or another.
    pub references: usize,
    pub outputs: usize,
    pub golds: usize,
    /// Scores of others, one for each sentence and system.
    pub scores: usize,
    pub numbers: usize,
    /// What differs from what is there, which stays, and how much of it.
    pub differing: BTreeMap<String, usize>,
    pub judgements: usize,
    /// Sentences whose words have parts of speech now.
    pub tagged: usize,
    /// How the file is imported so that it goes in their place.
    pub replacing: Option<ImportOptions>,
    /// Marks of errors that are set apart, for what they were of was replaced.
    pub apart: usize,
    pub facts: Vec<String>,
    /// Something should be asked: the file leaves open how it is meant.
    pub asks: bool,
    /// What could not be taken, with line numbers: the first ones.
    pub warnings: Vec<String>,
    pub warned: usize,
    /// It was stopped before its end; what came stays.
    pub is_stopped: bool,
    /// Most of the file cannot be used, so nothing was taken; the facts say why.
    pub is_refused: bool,
}

impl ImportReport {
    pub fn summary(&self) -> String {
        let parts = [
            (self.sentences, tr!("{n} new sentence" | "{n} new sentences" % self.sentences)),
            (self.references, tr!("{n} reference" | "{n} references" % self.references)),
            (self.outputs, tr!("{n} output" | "{n} outputs" % self.outputs)),
            (self.golds, tr!("{n} alignment by hand" | "{n} alignments by hand" % self.golds)),
            (self.scores, tr!("{n} score" | "{n} scores" % self.scores)),
            (self.numbers, tr!("{n} number of a sentence" | "{n} numbers of sentences" % self.numbers)),
            (self.judgements, tr!("{n} judgement" | "{n} judgements" % self.judgements)),
            (self.tagged, tr!("parts of speech of {n} sentence" | "parts of speech of {n} sentences" % self.tagged)),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
        let what = if parts.is_empty() { tr!("nothing").to_owned() } else { parts.join(", ") };
        let faults = match self.warned {
            0 => String::new(),
            count => tr!("; {n} line has a fault" | "; {n} lines have faults" % count),
        };
        let differing: Vec<String> = self.differing.iter().map(|(what, count)| format!("{count} {what}")).collect();
        let differing = if differing.is_empty() {
            String::new()
        } else {
            tr!("; {} would replace others, which stay", differing.join(tr!(" and ")))
        };
        let apart = match self.apart {
            0 => String::new(),
            count => tr!("; {n} mark of an error is set apart, for its words were replaced"
                | "; {n} marks of errors are set apart, for their words were replaced" % count),
        };
        let stopped = tr!("; it was stopped. What came stays, and importing the file again goes on");
        let stopped = if self.is_stopped { stopped } else { "" };
        tr!("Imported {what}{differing}{apart}{faults}{stopped}", what, differing, apart, faults, stopped)
    }

    pub(super) fn replaces(&mut self, what: impl Into<String>, replaces: bool) -> bool {
        if !replaces {
            *self.differing.entry(what.into()).or_default() += 1;
        }
        replaces
    }

    pub(crate) fn warn(&mut self, path: &Path, line: usize, message: &str) {
        self.warned += 1;
        if self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(Error::line(path, line, message).to_string());
        }
    }
}
