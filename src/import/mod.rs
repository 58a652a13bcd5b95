//! Floor 6: files of others: texts, tables, outputs of systems, alignments and attention. Imports `text` and the view of
//! a matrix in `analysis`; reads only, streams, and starts no thread.
//!
//! [`open`] finds out what a file is, or is told in [`ImportOptions`], and gives [`Facts`] and the sentences one by one as
//! [`Record`]s. What is good is kept: a line that cannot be read is a warning with its number, and the records behind
//! it keep their places. What is unclear is a [`ImportFact::Ask`] with both readings and the one used;
//! the answer goes into the options and the file is opened again.
//!
//! A format is one line of [`FORMATS`] and one file of [`formats`]. The talp notation is Pharaoh's, counted from 1.

pub mod beside;
pub mod contrast;
pub mod decimal;
pub mod documents;
pub mod facts;
pub mod format;
pub mod formats;
pub mod input;
pub mod matrix;
pub mod options;
pub mod record;

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};

pub use crate::import::facts::{Facts, ImportColumn, ImportFact, Warning, Warnings};
pub use crate::import::format::{FileSample, FormatEntry};
pub use crate::import::options::{
    Base, BesideFiles, ColumnRole, ImportOptions, LinkOrder, OracleBy, Orientation, Role,
};
pub use crate::import::record::{ImportedOutput, ImportedText, Record};

use crate::import::format::{FormatReader, LineParser};
use crate::import::formats::{
    blocks, jsonl, links, marian, nbest, nematus_json, npy, snum, table, text, tmx, wordalign, xliff,
};
use crate::import::input::{ImportInput, TextLine};

/// Every format; of equally likely ones the first is taken.
pub const FORMATS: &[FormatEntry] = &[
    FormatEntry { name: "text", label: "Plain text", sniff: text::sniff, open: text::open },
    FormatEntry { name: "tsv", label: "Table with tabs (TSV)", sniff: table::sniff_tsv, open: table::open_tsv },
    FormatEntry { name: "csv", label: "Table with commas (CSV)", sniff: table::sniff_csv, open: table::open_csv },
    FormatEntry { name: "tmx", label: "Translation memory (TMX)", sniff: tmx::sniff, open: tmx::open },
    FormatEntry { name: "xliff", label: "XLIFF 1.2 or 2.0", sniff: xliff::sniff, open: xliff::open },
    FormatEntry {
        name: "translate",
        label: "JSON lines of translate",
        sniff: jsonl::sniff_translate,
        open: jsonl::open,
    },
    FormatEntry { name: "score", label: "JSON lines of score", sniff: jsonl::sniff_score, open: jsonl::open },
    FormatEntry { name: "pharaoh", label: "Links, Pharaoh", sniff: links::sniff_pharaoh, open: links::open_pharaoh },
    FormatEntry { name: "naacl", label: "Links, HLT-NAACL 2003", sniff: links::sniff_naacl, open: links::open_naacl },
    FormatEntry { name: "naacl-text", label: "Text of HLT-NAACL 2003", sniff: snum::sniff, open: snum::open },
    FormatEntry { name: "wordalign", label: "Links and texts as XML", sniff: wordalign::sniff, open: wordalign::open },
    FormatEntry {
        name: "opennmt",
        label: "Attention of OpenNMT (lua)",
        sniff: blocks::sniff_opennmt,
        open: blocks::open,
    },
    FormatEntry { name: "nematus", label: "Attention of Nematus", sniff: blocks::sniff_nematus, open: blocks::open },
    FormatEntry {
        name: "nematus-json",
        label: "Attention of Nematus, JSON",
        sniff: nematus_json::sniff,
        open: nematus_json::open,
    },
    FormatEntry {
        name: "sockeye",
        label: "Attention of Sockeye 1",
        sniff: blocks::sniff_sockeye,
        open: blocks::open_sockeye,
    },
    FormatEntry {
        name: "marian-soft",
        label: "Output of Marian with weights",
        sniff: marian::sniff_soft,
        open: marian::open_soft,
    },
    FormatEntry {
        name: "marian-hard",
        label: "Output of Marian with links",
        sniff: marian::sniff_hard,
        open: marian::open_hard,
    },
    FormatEntry { name: "nbest", label: "N-best lists (Moses)", sniff: nbest::sniff, open: nbest::open },
    FormatEntry {
        name: "neural-monkey",
        label: "Attention of Neural Monkey (.npy)",
        sniff: npy::sniff,
        open: npy::open,
    },
];

/// The format of a name.
pub fn format(name: &str) -> Option<&'static FormatEntry> {
    FORMATS.iter().find(|entry| entry.name == name)
}

/// The formats that a file may be of, the likeliest first, each with how likely it is, from 1 to 100.
pub fn guess(path: &Path) -> Result<Vec<(&'static FormatEntry, u8)>> {
    Ok(guesses(&ImportInput::open(path, None)?))
}

fn guesses(input: &ImportInput) -> Vec<(&'static FormatEntry, u8)> {
    let (name, head) = (input.name(), input.head());
    let sample = FileSample { name: &name, bytes: &input.sample, head: &head };
    let likely = FORMATS.iter().map(|entry| (entry, (entry.sniff)(&sample)));
    let mut likely: Vec<_> = likely.filter(|(_, score)| *score > 0).collect();
    likely.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    likely
}

/// All records of a table that has these columns; `tell` hears of what is odd in it.
///
/// # Errors
/// As [`open`]; what a file without the needed columns lacks.
fn table(
    path: &Path,
    columns: Vec<(String, ColumnRole)>,
    (needed, lacks): (&[ColumnRole], &str),
    tell: &mut dyn FnMut(&str),
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
        warnings.kept.iter().for_each(|warning| tell(&warning.sentence));
        all.extend(records);
    }
}

/// Starts to read a file.
///
/// # Errors
/// A sentence that names the file when it cannot be read at all or is of no known format, or when an option names none.
pub fn open(path: &Path, options: &ImportOptions) -> Result<Import> {
    let input = ImportInput::open(path, options.encoding.as_deref())?;
    let entry = match &options.format {
        Some(name) => format(name).ok_or_else(|| unknown_format(name))?,
        None => guesses(&input).first().map(|(entry, _)| *entry).ok_or_else(|| no_format(path))?,
    };
    let mut facts = Facts {
        format: entry.name,
        label: entry.label,
        encoding: input.encoding(),
        packed: input.packed(),
        notes: input.note.clone().into_iter().collect(),
        ..Facts::default()
    };
    let reader = (entry.open)(&input, options, &mut facts)?;
    Ok(Import { facts, input, reader, warnings: Warnings::new(path), ended: false, failed: None })
}

fn unknown_format(name: &str) -> Error {
    let names: Vec<&str> = FORMATS.iter().map(|entry| entry.name).collect();
    Error::Input(format!("`{name}` is no format of files; choose one of {}", names.join(", ")))
}

fn no_format(path: &Path) -> Error {
    Error::file(
        path,
        "is of no format that is known here, also not as JSON; say which it is, or save it as plain text or TSV",
    )
}

/// A file that is being read.
pub struct Import {
    /// What was found out about the file.
    pub facts: Facts,
    /// What was wrong so far; whoever reads a window adds what was wrong in it.
    pub warnings: Warnings,
    input: ImportInput,
    reader: Box<dyn FormatReader>,
    ended: bool,
    /// Why the file ended before its end, once what came before was given out.
    failed: Option<Error>,
}

/// Some neighbouring sentences of a file, which may still have to be read from their lines: on any thread, by
/// [`RecordWindow::read`].
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
    /// The next sentences, at most so many, unread where lines can be read apart from each other; an empty window is the
    /// end. What is wrong with them is told with the window.
    ///
    /// # Errors
    /// When the file cannot be read on; what came before was in earlier windows.
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
