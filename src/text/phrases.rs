//! Floor 1: phrase tables as Moses writes them, streamed a line at a time. Imports floor 0.
//!
//! A line is `source ||| target ||| features [||| alignment ||| counts ...]` (Koehn et al. 2007). What follows the
//! features is never looked at, and a line keeps every one of its bytes, its end included, so that a table with
//! a further feature differs from the old one in that feature alone.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, Read as _, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::reader;

/// What stands between fields.
const BETWEEN: &str = "|||";
/// The longest line; nothing longer is a phrase pair.
const MOST_BYTES: usize = 1 << 20;
/// Which feature p(target | source) is where Moses made the table, counted from 1: its order is inverse phrase
/// probability, inverse lexical weight, direct phrase probability, direct lexical weight.
pub const DIRECT: usize = 3;

/// A line of a phrase table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Counted from 1.
    pub number: usize,
    /// The whole line with its end, as it was read.
    line: String,
    source: Range<usize>,
    target: Range<usize>,
    features: Range<usize>,
}

impl Entry {
    /// Finds the fields of a line.
    pub fn new(number: usize, line: String) -> std::result::Result<Self, String> {
        let fields: Vec<Range<usize>> = fields(&line).take(3).collect();
        let Ok([source, target, features]) = <[Range<usize>; 3]>::try_from(fields) else {
            let found = line.matches(BETWEEN).count() + 1;
            return Err(format!(
                "has {found} field{} of the three that a phrase pair needs; write it as `source ||| target ||| features`",
                if found == 1 { "" } else { "s" }
            ));
        };
        for (side, name) in [(&source, "source"), (&target, "target")] {
            if side.is_empty() {
                return Err(format!("has no {name} phrase before its `|||`; take the line out"));
            }
        }
        let entry = Self { number, line, source, target, features };
        match entry.features_text().split_whitespace().find(|feature| feature.parse::<f64>().is_err()) {
            None => Ok(entry),
            Some(other) => {
                Err(format!("has the feature `{other}`, which is no number; features are numbers split by spaces"))
            }
        }
    }

    /// The source phrase, without the spaces around it.
    pub fn source(&self) -> &str {
        &self.line[self.source.clone()]
    }

    /// The target phrase, without the spaces around it.
    pub fn target(&self) -> &str {
        &self.line[self.target.clone()]
    }

    fn features_text(&self) -> &str {
        &self.line[self.features.clone()]
    }

    /// The features in their order.
    pub fn features(&self) -> impl Iterator<Item = f64> + '_ {
        self.features_text().split_whitespace().filter_map(|feature| feature.parse().ok())
    }

    /// Feature `n`, counted from 1.
    pub fn feature(&self, n: usize) -> Option<f64> {
        self.features().nth(n.checked_sub(1)?)
    }

    /// The line as it was read, its end included.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Writes the line with one further feature behind the others, every other byte as it was.
    pub fn write_with(&self, feature: &str, output: &mut dyn Write) -> std::io::Result<()> {
        let (before, after) = self.line.split_at(self.features.end);
        write!(output, "{before} {feature}{after}")
    }
}

/// The places of the fields, without the spaces around them; an empty one lies behind its `|||`.
fn fields(line: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    line.split(BETWEEN).map(move |field| {
        let from = start;
        start += field.len() + BETWEEN.len();
        // The mark that some editors put before the first line is no part of a phrase.
        let trimmed = field.strip_prefix('\u{feff}').unwrap_or(field);
        let from = from + field.len() - trimmed.len();
        let text = trimmed.trim();
        let before = if text.is_empty() { 0 } else { trimmed.len() - trimmed.trim_start().len() };
        from + before..from + before + text.len()
    })
}

/// Reads a phrase table, packed with gzip or zstandard or not.
pub struct PhraseTable {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    line: usize,
    bytes: u64,
    size: Option<u64>,
    /// Features of the first line.
    features: Option<usize>,
    ended: bool,
}

impl PhraseTable {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if facts.is_dir() {
            return Err(Error::file(path, "is a folder; name a phrase table"));
        }
        // What a packed file holds is not known before it is unpacked.
        let packed = Packing::of(path) != Packing::Plain;
        let mut table = Self::new(path, reader::open(path)?);
        table.size = (facts.is_file() && !packed).then_some(facts.len());
        Ok(table)
    }

    /// Reads from any input; errors name `path`.
    pub fn new(path: &Path, input: Box<dyn BufRead + Send>) -> Self {
        Self { path: path.into(), input, line: 0, bytes: 0, size: None, features: None, ended: false }
    }

    /// What error sentences call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes read so far, unpacked.
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// Bytes in all, where that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// How many features the lines have; `None` before the first.
    pub fn features(&self) -> Option<usize> {
        self.features
    }

    fn read(&mut self) -> Result<Option<Entry>> {
        let number = self.line + 1;
        let mut bytes = Vec::new();
        let input = &mut self.input;
        input.take(MOST_BYTES as u64 + 1).read_until(b'\n', &mut bytes).map_err(|error| {
            let message = format!("could not be read to its end ({error}); the file may be truncated or damaged");
            Error::line(&self.path, number, message)
        })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.len() > MOST_BYTES {
            let message = format!("has more than {MOST_BYTES} bytes; this is no line of a phrase table");
            return Err(Error::line(&self.path, number, message));
        }
        self.line = number;
        self.bytes += bytes.len() as u64;
        let line = String::from_utf8(bytes).map_err(|_| reader::not_utf8(&self.path, number))?;
        let entry = Entry::new(number, line).map_err(|message| Error::line(&self.path, number, message))?;
        let features = entry.features().count();
        let first = *self.features.get_or_insert(features);
        if features != first {
            let message = format!("has {features} features, but the first line has {first}; all need the same number");
            return Err(Error::line(&self.path, number, message));
        }
        Ok(Some(entry))
    }
}

impl Iterator for PhraseTable {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// Feature `n` of `entry`, counted from 1.
///
/// # Errors
/// A sentence that names the file, the line and the flag or field `asked` by which another is chosen.
pub fn feature(path: &Path, entry: &Entry, n: usize, asked: &str) -> Result<f64> {
    entry.feature(n).ok_or_else(|| {
        let found = entry.features().count();
        let message = format!("has no feature {n}, only {found}; name the one that is p(target | source) with {asked}");
        Error::line(path, entry.number, message)
    })
}

/// The phrase as people write it: Moses escapes what its files give a meaning to (`&apos;`, `&#124;`).
pub fn unescape(phrase: &str) -> Cow<'_, str> {
    const ESCAPED: &[(&str, &str)] = &[
        ("&bar;", "|"),
        ("&#124;", "|"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&bra;", "["),
        ("&ket;", "]"),
        ("&#91;", "["),
        ("&#93;", "]"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        // Last, or `&amp;lt;` would become `<`.
        ("&amp;", "&"),
    ];
    if !phrase.contains('&') {
        return Cow::Borrowed(phrase);
    }
    Cow::Owned(ESCAPED.iter().fold(phrase.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain)))
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip, `.gz`.
    Gzip,
    /// zstandard, `.zst`.
    Zstandard,
}

impl Packing {
    /// By the extension of a name.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstandard,
            _ => Self::Plain,
        }
    }
}

/// Writes what `write` writes into a file, packed as its name says, in one step: the file appears when it is whole.
///
/// # Errors
/// What `write` returns, or a sentence that names `path`; an old file is then untouched.
pub fn write_packed<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut failed = None;
    let written = crate::text::lines::write_atomic(path, |file| {
        let mut packer = Packer::new(Packing::of(path), file)?;
        match write(&mut packer) {
            Ok(()) => packer.finish(),
            Err(error) => {
                failed = Some(error);
                Err(std::io::Error::other("stopped"))
            }
        }
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// A file that is packed while it is written.
enum Packer<'a> {
    Plain(&'a mut std::io::BufWriter<File>),
    Gzip(flate2::write::GzEncoder<&'a mut std::io::BufWriter<File>>),
    Zstandard(zstd::stream::write::Encoder<'static, &'a mut std::io::BufWriter<File>>),
}

impl<'a> Packer<'a> {
    fn new(packing: Packing, file: &'a mut std::io::BufWriter<File>) -> std::io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Self::Plain(file),
            Packing::Gzip => Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstandard => Self::Zstandard(zstd::stream::write::Encoder::new(file, 0)?),
        })
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.finish()?.flush(),
            Self::Zstandard(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstandard(encoder) => encoder.flush(),
        }
    }
}
