//! Floor 13: sentences read together with a file of interventions.

use std::path::Path;
use std::sync::Arc;

use crate::cli::input::{Sentences, SourceLine};
use crate::cli::windows::Input;
use crate::cli::words;
use crate::decoding::resolve::{Read, Reader};
use crate::decoding::{Ensemble, Intervention};
use crate::error::{Error, Result};
use crate::text::interventions::InterventionFile;

/// A line and what is changed while it is translated.
#[derive(Debug)]
pub struct Planned {
    /// The line; refused where its interventions do not fit it.
    pub line: SourceLine,
    /// Its interventions.
    pub list: Arc<[Intervention]>,
}

/// The sentences of a text, with interventions where there is a file of them.
pub struct PlannedSentences<'a> {
    sentences: Sentences<'a>,
    system: &'a Ensemble,
    file: Option<InterventionFile>,
}

impl<'a> PlannedSentences<'a> {
    /// Reads both side by side; what can be known to be wrong at once is.
    pub fn new(sentences: Sentences<'a>, system: &'a Ensemble, file: Option<InterventionFile>) -> Result<Self> {
        let planned = Self { sentences, system, file };
        if let Some((all, origin)) = planned.file.as_ref().and_then(InterventionFile::all) {
            planned.reader().check(all, &origin)?;
        }
        Ok(planned)
    }

    fn reader(&self) -> Reader<'_> {
        Reader { target: self.system.target(), aligns: self.system.aligns() }
    }

    fn plan(&mut self, mut line: SourceLine) -> Result<Planned> {
        let Some(file) = &mut self.file else { return Ok(Planned { line, list: Arc::default() }) };
        let (interventions, origin) = file.next_sentence()?;
        if !line.is_readable() {
            return Ok(Planned { line, list: Arc::default() });
        }
        let pretokenized = self.sentences.side.pretokenized;
        let pieces = words::source_pieces(self.system.lead(), &line.sentence, pretokenized);
        let pieces = pieces.unwrap_or_else(|| words::singles(line.sentence.len()));
        let source = Read { sentence: &line.sentence, words: &pieces };
        let list = match self.reader().resolve(&interventions, &origin, source) {
            Ok(list) => list.into(),
            Err(why) => {
                line.refused =
                    Some(Error::line(self.sentences.lines.name(), line.number, format!("is left out: {why}")));
                Arc::default()
            }
        };
        Ok(Planned { line, list })
    }
}

impl Input for PlannedSentences<'_> {
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
        Sentences::weight(&planned.line)
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
