//! Files of others: texts, tables, outputs of systems, alignments and attention.
//!
//! [`open`] finds out what a file is, or takes it from [`ImportOptions`], and gives [`Facts`] and the sentences one by
//! one as [`Record`]s. What is good is kept: a line that cannot be read is a warning with its number, and the records
//! behind it keep their places. What is unclear is a [`ImportFact::Ask`] with both readings and the one used; the
//! answer goes into the options and the file is opened again.
//!
//! A format is one row of [`FORMATS`] and one file of [`formats`].

pub mod beside;
pub mod contrast;
pub mod decimal;
pub mod documents;
pub mod facts;
pub mod format;
pub mod formats;
pub mod input;
pub mod kinds;
pub mod matrix;
pub mod options;
pub mod recognise;
pub mod record;

use std::{path::Path, sync::Arc};

use engine::error::{Error, Result};

pub use crate::facts::{Behind, Facts, ImportColumn, ImportFact, Warning, Warnings};
pub use crate::format::{FileSample, FormatEntry};
pub use crate::kinds::{FORMATS, decide, guess, kind_of};
pub use crate::options::{Base, ColumnRole, ImportOptions, LinkOrder, OracleBy, Orientation, Role};
pub use crate::record::{ImportedOutput, ImportedText, Record};

use crate::format::{FormatReader, FormatReading, LineParser};
use crate::input::{ImportInput, TextLine};

fn table(
    path: &Path, columns: Vec<(String, ColumnRole)>, (needed, lacks): (&[ColumnRole], &str),
    notify: &mut dyn FnMut(&str),
) -> Result<Vec<Record>> {
    let mut file = open(path, &ImportOptions { columns, ..ImportOptions::default() })?;
    if !needed.iter().all(|role| file.facts.columns.iter().any(|column| column.role == *role)) {
        return Err(Error::file(path, lacks));
    }
    let mut all = Vec::new();
    loop {
        let window = file.window(1000)?;
        if window.is_empty() {
            return Ok(all);
        }
        let (records, warnings) = window.read();
        warnings.kept.iter().for_each(|warning| notify(&warning.sentence));
        all.extend(records);
    }
}

/// Opens a file for reading; the error names the file.
pub fn open(path: &Path, options: &ImportOptions) -> Result<Import> {
    let input = ImportInput::open(path, options.encoding.as_deref())?;
    let entry = decide(&input, options)?;
    let mut facts = Facts {
        format: entry.name,
        label: entry.label,
        encoding: input.encoding(),
        packed: input.packed(),
        notes: input.note.clone().into_iter().collect(),
        ..Facts::default()
    };
    let reader = match entry.reading {
        FormatReading::Sentences(open) => open(&input, options, &mut facts)?,
        FormatReading::Refused(why) => return Err(Error::file(path, why)),
        FormatReading::OfCorpus(_) => {
            let message = format!("is of the kind \"{}\"; only a corpus takes it, by `analyse --import`", entry.label);
            return Err(Error::file(path, message));
        }
    };
    Ok(Import { facts, input, reader, warnings: Warnings::new(path), ended: false, failed: None })
}

/// A file that is being read.
pub struct Import {
    pub facts: Facts,
    /// What was wrong so far; whoever reads a window adds what was wrong in it.
    pub warnings: Warnings,
    input: ImportInput,
    reader: Box<dyn FormatReader>,
    ended: bool,
    failed: Option<Error>,
}

/// Neighbouring sentences of a file, perhaps unparsed; [`RecordWindow::read`] parses them on any thread.
pub struct RecordWindow {
    lines: Vec<TextLine>,
    parser: Option<Arc<dyn LineParser>>,
    records: Vec<Record>,
    warnings: Warnings,
}

impl RecordWindow {
    /// Whether the file has no more.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.records.is_empty()
    }

    /// The sentences, and what was wrong with them.
    pub fn read(mut self) -> (Vec<Record>, Warnings) {
        if let Some(parser) = &self.parser {
            for line in &self.lines {
                let record = line.text.as_deref().and_then(|text| parser.record(line.number, text, &mut self.warnings));
                self.records.extend(record);
            }
        }
        (self.records, self.warnings)
    }
}

impl std::fmt::Debug for Import {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import").field("path", &self.input.path()).finish_non_exhaustive()
    }
}

impl Import {
    /// The next sentences, at most so many, unparsed if lines can be parsed independently; empty at the end.
    pub fn window(&mut self, most: usize) -> Result<RecordWindow> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut window = RecordWindow {
            lines: Vec::new(),
            parser: None,
            records: Vec::new(),
            warnings: Warnings::new(self.input.path()),
        };
        while !self.ended && window.lines.len() + window.records.len() < most {
            if let Err(error) = self.advance(&mut window) {
                self.ended = true;
                if window.is_empty() {
                    return Err(error);
                }
                self.failed = Some(error);
            }
        }
        Ok(window)
    }

    fn advance(&mut self, window: &mut RecordWindow) -> Result<()> {
        match self.reader.apart() {
            None => match self.reader.next(&mut window.warnings)? {
                Some(record) => window.records.push(record),
                None => self.ended = true,
            },
            Some((lines, parser)) => {
                window.parser = Some(parser);
                match lines.next(&mut window.warnings)? {
                    Some(line) => window.lines.push(line),
                    None => self.ended = true,
                }
            }
        }
        Ok(())
    }

    /// How much of the file was read, from 0 to 1.
    pub fn progress(&self) -> f32 {
        self.input.progress()
    }
}
