//! The lines of text files, plain, gzip or zstandard, streamed. Imports floor 0.
//!
//! Everything in the program that reads lines reads them here, so that all agree on what a line is and none keeps
//! more of a line than it may.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::{borrow::Cow, fs::File};

use crate::error::{Error, Result};
use crate::text::zstandard::Decoder;

/// Opens a file, unpacking gzip and zstandard, which are known by their first bytes whatever the name.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    #[cfg(target_family = "wasm")]
    if let Some(bytes) = crate::text::given::get(path) {
        return unpack(path, std::io::Cursor::new(bytes));
    }
    unpack(path, File::open(path).map_err(|error| Error::io(path, &error))?)
}

/// Unpacks what comes from a file, if it is packed.
pub fn unpack(path: &Path, input: impl std::io::Read + Send + 'static) -> Result<Box<dyn BufRead + Send>> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let mut input = BufReader::with_capacity(1 << 16, input);
    // A folder opens but does not read: the error comes here.
    match packing(input.fill_buf().map_err(failed)?) {
        Some(Packing::Gzip) => Ok(limited(path, flate2::bufread::MultiGzDecoder::new(input))),
        Some(Packing::Zstandard) => Ok(limited(path, Decoder::with_buffer(input).map_err(failed)?)),
        None => Ok(Box::new(input)),
    }
}

/// What a file may be unpacked to: so many bytes, or so many times its own size. Texts are packed to a tenth, a table
/// that repeats its sentences to a fiftieth; thousands of times are blank lines, or one line again and again.
pub const MOST_UNPACKED: (u64, u64) = (8 << 20, 100);

struct Limited<D> {
    decoder: D,
    left: u64,
}

fn limited(path: &Path, decoder: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    let (bytes, times) = MOST_UNPACKED;
    // The size of what is no file is not known.
    let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map_or(u64::MAX, |facts| facts.len());
    let left = size.saturating_mul(times).max(bytes);
    Box::new(BufReader::with_capacity(1 << 16, Limited { decoder, left }))
}

impl<D: Read> Read for Limited<D> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| std::io::Error::new(ErrorKind::FileTooLarge, too_packed()))?;
        Ok(count)
    }
}

/// Of a file that unpacks to more than [`MOST_UNPACKED`].
pub fn too_packed() -> String {
    format!("it unpacks to more than {} times its size; unpack it and use the unpacked file", MOST_UNPACKED.1)
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    Zstandard,
}

impl Packing {
    /// By the extension of a name.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Some(Self::Gzip),
            Some("zst") => Some(Self::Zstandard),
            _ => None,
        }
    }
}

const MAGICS: &[(&[u8], &str)] = &[
    (b"\xFD7zXZ\0", "packed with xz"),
    (b"BZh", "packed with bzip2"),
    (b"PK\x03\x04", "a zip archive, as Word files are"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"\x1F\x8B", "packed twice with gzip"),
    (b"\x28\xB5\x2F\xFD", "packed twice with zstandard"),
    (b"\x04\x22\x4D\x18", "packed with lz4"),
    (b"%PDF-", "a PDF"),
    (b"{\\rtf1", "a document in RTF"),
    (b"\xD0\xCF\x11\xE0", "a document of an old Word or Excel"),
    (b"SQLite format 3\0", "a database"),
    (b"PAR1", "a table of Parquet"),
];

const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// What tar writes into the header of the first file of an archive, and where.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// So many zeros among so many first bytes are none of a text with a stray one.
const MOST_ZEROS: usize = 4;
const SEEN: usize = 512;

/// That a file is no text, where it begins as one that is packed in a way that is not read here, or as another format.
pub fn no_text(path: &Path, start: &[u8]) -> Option<Error> {
    if start.starts_with(POINTER) {
        let message = "is a pointer of Git LFS and not the file itself; run `git lfs pull` in its repository";
        return Some(Error::file(path, message));
    }
    let is_tar = start.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1));
    let known = MAGICS.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| *what);
    // UTF-16 has zeros, too, and is told to be converted
    let is_wide = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    let zeros = start.iter().take(SEEN).filter(|byte| **byte == 0).count();
    if known.is_none() && !is_tar && !is_wide && zeros >= MOST_ZEROS {
        return Some(Error::file(
            path,
            "is no text but holds bytes of 0, as programs and packed data do; choose a text file",
        ));
    }
    let what = known.or(is_tar.then_some("a tar archive"))?;
    Some(Error::file(path, format!("is {what}, no text; unpack it, or save it as text or packed with gzip")))
}

/// How a file is packed that starts with these bytes.
pub fn packing(start: &[u8]) -> Option<Packing> {
    match start {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstandard),
        _ => None,
    }
}

/// Refuses what is no plain file: a pipe or a device may never answer, or never end.
pub fn require_file(path: &Path) -> Result<std::fs::Metadata> {
    let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
    if facts.is_dir() {
        return Err(Error::file(path, "is a folder; choose a file"));
    }
    if !facts.is_file() {
        return Err(Error::file(path, "is a pipe or a device and no file; save it as a file and open that"));
    }
    Ok(facts)
}

/// The bytes of a plain file of at most `most` bytes.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let facts = require_file(path)?;
    let failed = |error: std::io::Error| Error::io(path, &error);
    let mut bytes = Vec::new();
    // The file may grow behind the first look at it.
    if facts.len() <= most {
        File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if facts.len() > most || bytes.len() as u64 > most {
        return Err(Error::file(path, format!("has more than {most} bytes, too many for such a file")));
    }
    Ok(bytes)
}

/// How a file ends its lines. A `\r` alone ends them only in a file without `\n`, so that a stray one cannot shift the
/// lines of one side of a parallel corpus. The first [`MOST_LINE`] bytes decide: where they have no `\n`, no line could
/// be longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Before the first end.
    Unknown,
    /// `\n`, perhaps after a `\r`. Another `\r` is read as a space.
    Feed,
    /// `\r`, as old Macintosh files; a `\n` that comes later still ends a line.
    Return,
}

impl Ends {
    fn find(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Feed => memchr::memchr(b'\n', bytes),
            Self::Unknown | Self::Return => memchr::memchr2(b'\n', b'\r', bytes),
        }
    }
}

/// Of a line that has a carriage return within it.
pub const HAS_RETURN: &str = "has a carriage return within it, which is read as a space";
/// The longest line, in bytes: no sentence, list of links or phrase pair is longer.
pub const MOST_LINE: usize = 1 << 20;
pub const MOST_TEXT: u64 = 2 << 30;
pub const MOST_LINES: usize = 10_000_000;
/// The most blank lines one after the other in a text that is learned from.
pub const MOST_BLANK: usize = 1_000_000;

/// What [`LineReader::advance`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    Line,
    /// A line of so many bytes, too many; they are not kept.
    TooLong(usize),
    /// The end of the file.
    End,
}

/// The lines of a file in UTF-8, without their ends; a byte-order mark is dropped.
pub struct LineReader {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    ends: Ends,
    most: usize,
    passes_over: bool,
    most_text: u64,
    most_lines: usize,
    /// The most blank lines one after the other, and how many the last ones were.
    most_blank: usize,
    blank: usize,
    line: usize,
    bytes: u64,
    kept: Vec<u8>,
    end: usize,
    keeps_returns: bool,
    /// Lines that had one, the last of them, and who is told.
    returns: usize,
    returned: usize,
    notify: fn(&Error),
    failed: bool,
}

impl std::fmt::Debug for LineReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineReader").field("path", &self.path).field("line", &self.line).finish_non_exhaustive()
    }
}

impl LineReader {
    /// Opens a file, packed or not.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::new(path, open(path)?))
    }

    pub fn new(path: &Path, input: Box<dyn BufRead + Send>) -> Self {
        Self {
            path: path.into(),
            input,
            ends: Ends::Unknown,
            most: MOST_LINE,
            passes_over: false,
            most_text: u64::MAX,
            most_lines: usize::MAX,
            most_blank: usize::MAX,
            blank: 0,
            line: 0,
            bytes: 0,
            kept: Vec::new(),
            end: 0,
            keeps_returns: false,
            returns: 0,
            returned: 0,
            notify: |_| (),
            failed: false,
        }
    }

    /// The same for a text that is held in memory: one that is longer than [`MOST_TEXT`] or has more than
    /// [`MOST_LINES`] is an error.
    pub fn held(self) -> Self {
        self.at_most(MOST_TEXT, MOST_LINES)
    }

    pub fn at_most(self, bytes: u64, lines: usize) -> Self {
        Self { most_text: bytes, most_lines: lines, ..self }
    }

    /// The same for a text that is learned from, of any length: more than [`MOST_BLANK`] blank lines one after the
    /// other are an error. A small packed file can hold so many that reading them would take hours and give nothing.
    pub fn learned_from(self) -> Self {
        Self { most_blank: MOST_BLANK, ..self }
    }

    /// The same where lines of up to `most` bytes are read.
    pub fn longest(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The same, passing over lines that are too long, which [`LineReader::advance`] then tells.
    pub fn passing_over(self) -> Self {
        Self { passes_over: true, ..self }
    }

    /// The same where only `\n` ends a line, and every other byte is kept.
    pub fn feeds_only(self) -> Self {
        Self { ends: Ends::Feed, keeps_returns: true, ..self }
    }

    /// The same where `notify` gets of the first line with a carriage return within it, and at the end how many there
    /// are.
    pub fn on_skip(self, notify: fn(&Error)) -> Self {
        Self { notify, ..self }
    }

    /// Whether the line read last has a carriage return within it, which is read as a space.
    pub fn has_return(&self) -> bool {
        self.returned == self.line && self.line > 0
    }

    pub fn line(&self) -> usize {
        self.line
    }

    /// Bytes read so far, unpacked.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the next line, for [`LineReader::text`].
    pub fn advance(&mut self) -> Result<Advance> {
        self.kept.clear();
        self.end = 0;
        let Some(mut length) = self.read()? else {
            if self.returns > 1 {
                let message = format!("has {} lines with a carriage return within them", self.returns);
                (self.notify)(&Error::file(&self.path, message));
                self.returns = 0;
            }
            return Ok(Advance::End);
        };
        self.line += 1;
        // Where lines end with a feed, a return before it belongs to the end.
        let kept = self.kept.len() - self.end;
        if self.ends == Ends::Feed && length == kept && self.kept[..kept].last() == Some(&b'\r') {
            self.end += 1;
            length -= 1;
        }
        let within = &mut self.kept[..length.min(kept)];
        if !self.keeps_returns && memchr::memchr(b'\r', within).is_some() {
            self.returned = self.line;
            within.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
            self.returns += 1;
            if self.returns == 1 {
                (self.notify)(&Error::line(&self.path, self.line, HAS_RETURN));
            }
        }
        if self.bytes > self.most_text || self.line > self.most_lines {
            return Err(self.too_much());
        }
        let is_blank = self.kept.trim_ascii().is_empty();
        self.blank = if is_blank { self.blank + 1 } else { 0 };
        if self.blank > self.most_blank {
            let message =
                format!("is blank, as are the {} lines before it; give a text with sentences", self.most_blank);
            return Err(Error::line(&self.path, self.line, message));
        }
        match length > self.most {
            false => Ok(Advance::Line),
            true if self.passes_over => Ok(Advance::TooLong(length)),
            true => Err(self.too_long(self.line)),
        }
    }

    fn read(&mut self) -> Result<Option<usize>> {
        let (mut length, mut is_line) = (0, false);
        loop {
            if self.fill()?.is_none() {
                return Ok(is_line.then_some(length));
            }
            if self.ends == Ends::Unknown {
                self.look_ahead()?;
            }
            let buffer = self.input.fill_buf().map_err(|error| Error::io(&self.path, &error))?;
            is_line = true;
            let end = self.ends.find(buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let ended_by = end.map(|end| buffer[end]);
            // One byte more may be the return of the line's end.
            let room = (self.most + 1).saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len();
            length += used;
            self.take(used);
            if let Some(byte) = ended_by {
                self.keep_end(byte)?;
                return Ok(Some(length));
            }
            if length > self.most + 1 && !self.passes_over {
                return Err(self.too_long(self.line + 1));
            }
        }
    }

    fn look_ahead(&mut self) -> Result<()> {
        let mut ahead = Vec::new();
        loop {
            let is_over = self.fill()?.is_none() || ahead.len() >= MOST_LINE;
            let buffer = self.input.fill_buf().map_err(|error| Error::io(&self.path, &error))?;
            if !is_over && memchr::memchr(b'\n', buffer).is_some() {
                self.ends = Ends::Feed;
                break;
            }
            if ahead.is_empty() && memchr::memchr(b'\r', buffer).is_none() {
                return Ok(());
            }
            if is_over {
                self.ends = Ends::Return;
                break;
            }
            let count = buffer.len();
            ahead.extend_from_slice(buffer);
            self.input.consume(count);
        }
        if !ahead.is_empty() {
            let rest = std::mem::replace(&mut self.input, Box::new(std::io::empty()));
            self.input = Box::new(std::io::Cursor::new(ahead).chain(rest));
        }
        Ok(())
    }

    fn keep_end(&mut self, byte: u8) -> Result<()> {
        self.take(1);
        self.kept.push(byte);
        self.end = 1;
        if byte == b'\r' && self.fill()? == Some(b'\n') {
            self.take(1);
            self.kept.push(b'\n');
            self.end = 2;
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) {
        self.input.consume(bytes);
        self.bytes += bytes as u64;
    }

    fn fill(&mut self) -> Result<Option<u8>> {
        loop {
            let error = match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) => error,
            };
            if error.kind() != ErrorKind::Interrupted {
                return Err(self.damaged(&error));
            }
        }
    }

    pub fn text(&self) -> Result<&str> {
        let line = self.utf8(&self.kept[..self.kept.len() - self.end])?;
        Ok(if self.line == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line })
    }

    /// The line read last, without its end, what is not UTF-8 replaced by U+FFFD.
    pub fn lossy(&self) -> Cow<'_, str> {
        let line = String::from_utf8_lossy(&self.kept[..self.kept.len() - self.end]);
        match line {
            Cow::Borrowed(line) if self.line == 1 => Cow::Borrowed(line.strip_prefix('\u{feff}').unwrap_or(line)),
            line => line,
        }
    }

    /// The line read last with its end and everything else that is in the file.
    pub fn whole(&self) -> Result<&str> {
        self.utf8(&self.kept)
    }

    fn utf8<'a>(&self, bytes: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(bytes).map_err(|_| {
            if let Some(error) = no_text(&self.path, bytes).filter(|_| self.line == 1) {
                return error;
            }
            let message = "is not UTF-8; convert the file to UTF-8, for example with `iconv -t UTF-8`";
            Error::line(&self.path, self.line, message)
        })
    }

    /// A packed file that is cut short or is something else fails while it is read.
    fn damaged(&self, error: &std::io::Error) -> Error {
        if error.kind() == ErrorKind::FileTooLarge {
            return Error::file(&self.path, format!("is read up to line {}: {error}", self.line));
        }
        let message = format!("could not be read to its end ({error}); the file may be truncated or damaged");
        Error::line(&self.path, self.line + 1, message)
    }

    fn too_long(&self, line: usize) -> Error {
        let message = format!("has more than {} bytes; cut it into sentences, or take it out", self.most);
        Error::line(&self.path, line, message)
    }

    fn too_much(&self) -> Error {
        let what = if self.bytes > self.most_text {
            format!("is longer than {} bytes when unpacked", self.most_text)
        } else {
            format!("has more than {} lines", self.most_lines)
        };
        Error::file(&self.path, format!("{what}; split it into shorter files"))
    }

    fn next_line(&mut self) -> Result<Option<String>> {
        match self.advance()? {
            Advance::Line => self.text().map(|line| Some(line.to_owned())),
            Advance::TooLong(_) => Err(self.too_long(self.line)),
            Advance::End => Ok(None),
        }
    }
}

impl Iterator for LineReader {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.next_line().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}
