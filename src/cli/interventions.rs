//! Floor 13: sentences read together with a file of interventions.

use std::path::Path;

use crate::cli::input::{InputSentences, SourceLine};
use crate::cli::windows::WindowInput;
use crate::decoding::Ensemble;
use crate::error::{Error, Result};
use crate::interventions::{InterventionFile, InterventionReader, Resolved, ResolvedText};
use crate::text::words::vocabulary_words;

/// A line and what is changed while it is translated.
#[derive(Debug)]
pub struct Planned {
    /// The line; refused where its interventions do not fit it.
    pub line: SourceLine,
    /// Its interventions.
    pub set: Resolved,
}

/// The sentences of a text, with interventions where there is a file of them.
pub struct PlannedSentences<'a> {
    sentences: InputSentences<'a>,
    system: &'a Ensemble,
    file: Option<InterventionFile>,
}

impl<'a> PlannedSentences<'a> {
    /// Reads both side by side; what can be known to be wrong at once is.
    pub fn new(sentences: InputSentences<'a>, system: &'a Ensemble, file: Option<InterventionFile>) -> Result<Self> {
        let planned = Self { sentences, system, file };
        if let Some((all, origin)) = planned.file.as_ref().and_then(InterventionFile::all) {
            planned.reader().check(all, &origin)?;
        }
        Ok(planned)
    }

    fn reader(&self) -> InterventionReader<'_> {
        InterventionReader { target: self.system.target(), aligns: self.system.aligns() }
    }

    fn plan(&mut self, mut line: SourceLine) -> Result<Planned> {
        let Some(file) = &mut self.file else { return Ok(Planned { line, set: Resolved::default() }) };
        let (interventions, origin) = file.next_sentence()?;
        if !line.is_readable() {
            return Ok(Planned { line, set: Resolved::default() });
        }
        let pretokenized = self.sentences.side.pretokenized;
        let words = vocabulary_words(&self.system.lead().source, &line.sentence, pretokenized);
        let source = ResolvedText { sentence: &line.sentence, words: &words };
        let set = self.reader().resolve(&interventions, source).strict(&origin);
        let set = set.unwrap_or_else(|why| {
            let why = format!("is left out: {why}");
            line.refused = Some(Error::line(self.sentences.lines.name(), line.number, why));
            Resolved::default()
        });
        Ok(Planned { line, set })
    }
}

impl WindowInput for PlannedSentences<'_> {
    type Item = Planned;

    fn next(&mut self) -> Result<Option<Planned>> {
        match self.sentences.next()? {
            Some(line) => self.plan(line).map(Some),
            None => self.file.as_mut().map_or(Ok(()), InterventionFile::finish).map(|()| None),
        }
    }

    fn is_ready(&mut self) -> bool {
        self.sentences.is_ready()
    }

    fn weight(planned: &Planned) -> usize {
        InputSentences::weight(&planned.line)
    }

    fn refused(planned: &Planned) -> Option<&Error> {
        planned.line.refused.as_ref()
    }

    fn size(&self) -> Option<u64> {
        self.sentences.size()
    }

    fn position(&self) -> u64 {
        self.sentences.position()
    }

    fn tell_empty(&self, verb: &str) {
        self.sentences.tell_empty(verb);
    }
}

/// Opens a file of interventions, where one is given.
pub fn open(path: Option<&Path>) -> Result<Option<InterventionFile>> {
    path.map(InterventionFile::open).transpose()
}
