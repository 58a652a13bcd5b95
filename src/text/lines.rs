//! Floor 1: a text file held in memory as a list of lines, for lists of a million sentences; and files
//! written in one step. Imports floor 0.
//!
//! A file is read in pieces of whole lines. The first is small, so that a list has lines to show at once; what is
//! there already is shared, not copied, as the list grows.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufWriter, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::text::reader;
use crate::text::reader::{Ends, not_utf8};

/// A text file, or its beginning while it is being read. Clones share the text.
#[derive(Clone, Debug)]
pub struct TextFile {
    path: PathBuf,
    pieces: Vec<Arc<Piece>>,
    /// The number of the first line of each piece.
    firsts: Vec<usize>,
    lines: usize,
    bytes: u64,
    is_whole: bool,
}

/// Whole lines, and where each starts.
#[derive(Debug)]
struct Piece {
    text: String,
    starts: Vec<u32>,
}

/// Longest text that a list holds, unpacked. A place in it fits 32 bits.
const MOST_BYTES: u64 = 2 << 30;
/// Bytes of the first piece; each further one is four times as large, up to [`PIECE`].
const FIRST_PIECE: usize = 1 << 16;
/// Bytes of a piece, unless a line is longer.
const PIECE: usize = 1 << 22;
/// A growing list is shown again when so many bytes have come.
const GROWTH: u64 = 1 << 24;

impl TextFile {
    /// Reads a file, packed or not; any style of line ends, a byte-order mark is dropped.
    ///
    /// # Errors
    /// A sentence that names the file, or the first line that is not UTF-8. Pipes and devices are refused, since
    /// they may never end, and so is a text of more than 2 GiB.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_growing(path, &mut |_| true)
    }

    /// As [`TextFile::open`]; `grown` hears the beginning of the file as soon as there are lines, now and then while
    /// there come more, and may end the reading with false.
    ///
    /// # Errors
    /// As [`TextFile::open`]; [`Error::Stale`] when `grown` ends it.
    pub fn open_growing(path: &Path, grown: &mut dyn FnMut(&Self) -> bool) -> Result<Self> {
        Self::open_within(path, MOST_BYTES, FIRST_PIECE, grown)
    }

    fn open_within(path: &Path, most: u64, piece: usize, grown: &mut dyn FnMut(&Self) -> bool) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if facts.is_dir() {
            return Err(Error::file(path, "is a folder; choose a text file"));
        }
        if !facts.is_file() {
            return Err(Error::file(path, "is a pipe or a device and no file; save the text in a file and open that"));
        }
        let mut reading = Reading { input: reader::open(path)?, ends: Ends::Unknown, carried: Vec::new(), most };
        let (mut file, mut size, mut shown) = (Self::nothing(path), piece, None);
        while reading.piece_onto(&mut file, size)? {
            size = (4 * size).min(PIECE.max(piece));
            if shown.is_none_or(|shown| file.bytes - shown >= GROWTH) {
                shown = Some(file.bytes);
                if !grown(&file) {
                    return Err(Error::Stale);
                }
            }
        }
        file.is_whole = true;
        Ok(file)
    }

    /// The lines of `text` as if it had been read from `path`.
    pub fn from_text(path: &Path, text: String) -> Self {
        let mut file = Self::nothing(path);
        let ends = ends_of(text.as_bytes(), true);
        file.push(text, ends);
        file.is_whole = true;
        file
    }

    fn nothing(path: &Path) -> Self {
        Self { path: path.into(), pieces: Vec::new(), firsts: Vec::new(), lines: 0, bytes: 0, is_whole: false }
    }

    /// Appends whole lines.
    fn push(&mut self, text: String, ends: Ends) {
        if text.is_empty() {
            return;
        }
        // An end of line at the very end starts no further line.
        let further = memchr::memchr_iter(end_byte(ends), text.as_bytes()).map(|at| at + 1);
        let starts: Vec<u32> =
            std::iter::once(0).chain(further.filter(|start| *start < text.len())).map(|start| start as u32).collect();
        self.firsts.push(self.lines);
        self.lines += starts.len();
        self.pieces.push(Arc::new(Piece { text, starts }));
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of lines, or of those read so far.
    pub fn len(&self) -> usize {
        self.lines
    }

    /// True for a file without any line.
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Whether it was read to its end.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Line `i`, from 0, without its end; empty beyond the last.
    pub fn line(&self, i: usize) -> Cow<'_, str> {
        if i >= self.lines {
            return Cow::Borrowed("");
        }
        let (piece, i) = self.place(i);
        Cow::Borrowed(piece.line(i))
    }

    /// The piece that holds a line, and the line's number in it.
    fn place(&self, i: usize) -> (&Piece, usize) {
        let at = self.firsts.partition_point(|first| *first <= i) - 1;
        (&self.pieces[at], i - self.firsts[at])
    }

    /// Looks for `needle` in the lines from `from` on, for about so many bytes: the lines that hold it, and the line to
    /// go on with.
    pub fn search(&self, needle: &Needle, from: usize, budget: usize) -> (Vec<usize>, usize) {
        if from >= self.lines {
            return (Vec::new(), self.lines);
        }
        let (piece, first) = self.place(from);
        let end = piece.starts.partition_point(|start| (*start as usize) < piece.start(first) + budget.max(1));
        let found = piece.search(needle, first..end).into_iter().map(|i| i + from - first).collect();
        (found, from - first + end)
    }
}

impl Piece {
    /// Where line `i` starts; the end of the text behind the last.
    fn start(&self, i: usize) -> usize {
        self.starts.get(i).map_or(self.text.len(), |start| *start as usize)
    }

    fn line(&self, i: usize) -> &str {
        let line = &self.text[self.start(i)..self.start(i + 1)];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The lines of `range` that hold the needle.
    fn search(&self, needle: &Needle, range: Range<usize>) -> Vec<usize> {
        let Some(rule) = &needle.rule else {
            return range.filter(|i| needle.is_in(self.line(*i))).collect();
        };
        // The needle is looked for in all lines at once: an end of line is never part of it.
        let (mut found, mut at) = (Vec::new(), self.start(range.start));
        let text = &self.text[..self.start(range.end)];
        while let Some(hit) = rule.find_at(text, at) {
            let i = self.starts.partition_point(|start| *start as usize <= hit.start()) - 1;
            found.push(i);
            at = self.start(i + 1);
        }
        found
    }
}

/// What is looked for in lines, letter case aside.
#[derive(Clone, Debug)]
pub struct Needle {
    lower: String,
    /// As a rule that searches many lines at once; `None` where a needle is long or strange.
    rule: Option<regex::Regex>,
}

impl Needle {
    /// Looks for this text; the empty text is in every line.
    pub fn new(text: &str) -> Self {
        let is_plain = !text.is_empty() && text.len() < 1000 && !text.contains(['\r', '\n']);
        let rule = || regex::RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().ok();
        Self { lower: text.to_lowercase(), rule: is_plain.then(rule).flatten() }
    }

    /// Whether a line holds it.
    pub fn is_in(&self, line: &str) -> bool {
        match &self.rule {
            Some(rule) => rule.is_match(line),
            None => line.to_lowercase().contains(&self.lower),
        }
    }
}

/// A file on its way into a list.
struct Reading {
    input: Box<dyn BufRead + Send>,
    ends: Ends,
    /// The beginning of a line whose end has not come yet.
    carried: Vec<u8>,
    most: u64,
}

impl Reading {
    /// Reads about `size` bytes more and appends the lines that end in them, at the end of the file all; false there.
    fn piece_onto(&mut self, file: &mut TextFile, size: usize) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.carried);
        loop {
            bytes.reserve_exact(size);
            let part = (&mut self.input).take(size as u64);
            let got = { part }.read_to_end(&mut bytes).map_err(|error| Error::io(&file.path, &error))?;
            file.bytes += got as u64;
            if file.bytes > self.most {
                let message = format!("is longer than {} bytes when unpacked; split it into shorter files", self.most);
                return Err(Error::file(&file.path, message));
            }
            if self.ends == Ends::Unknown {
                self.ends = ends_of(&bytes, got == 0);
            }
            let end = match self.ends {
                _ if got == 0 => bytes.len(),
                Ends::Unknown => 0,
                ends => memchr::memrchr(end_byte(ends), &bytes).map_or(0, |at| at + 1),
            };
            if end > 0 || got == 0 {
                self.carried = bytes.split_off(end);
                self.append(file, bytes)?;
                return Ok(got > 0);
            }
        }
    }

    fn append(&self, file: &mut TextFile, mut bytes: Vec<u8>) -> Result<()> {
        if file.is_empty() && bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let before = memchr::memchr_iter(end_byte(self.ends), valid).count();
            not_utf8(&file.path, file.lines + before + 1)
        })?;
        file.push(text, self.ends);
        Ok(())
    }
}

/// The byte that ends a line.
fn end_byte(ends: Ends) -> u8 {
    if ends == Ends::Return { b'\r' } else { b'\n' }
}

/// How lines end: `\n`, perhaps after `\r`, or `\r` alone where the first end is one. Unknown before the first end.
fn ends_of(bytes: &[u8], is_all: bool) -> Ends {
    let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) else { return Ends::Unknown };
    match (bytes[at], bytes.get(at + 1)) {
        (b'\n', _) | (_, Some(b'\n')) => Ends::Feed,
        (_, None) if !is_all => Ends::Unknown,
        _ => Ends::Return,
    }
}

/// Writes a file in one step: into a temporary file in the same folder, which takes the name only when
/// everything is on the disk. A reader sees the old file or the new one, never half of one.
///
/// # Errors
/// A sentence that names `path`; the old file is then untouched.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".interlinear-").suffix(".tmp");
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, temporary) = builder.tempfile_in(folder).map_err(failed)?.into_parts();
    let mut writer = BufWriter::new(file);
    write(&mut writer).map_err(failed)?;
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    drop(file);
    temporary.persist(path).map_err(|error| failed(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_unpacks_to_too_much_is_refused() -> Result<()> {
        let failed = |error: std::io::Error| Error::io("list", &error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let text = "a line\n".repeat(1000);
        let packed = zstd::encode_all(text.as_bytes(), 1).map_err(failed)?;
        for (name, bytes) in [("list.txt", text.as_bytes()), ("list.zst", &packed)] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).map_err(failed)?;
            let open = |most| TextFile::open_within(&path, most, FIRST_PIECE, &mut |_| true);
            assert_eq!(open(7000)?.len(), 1000);
            let error = open(6999).expect_err("it is longer").to_string();
            assert!(error.contains(name) && error.contains("longer than 6999 bytes"), "{error}");
        }
        Ok(())
    }

    #[test]
    fn a_file_read_in_pieces_has_the_lines_of_the_whole() -> Result<()> {
        let failed = |error: std::io::Error| Error::io("list", &error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("list.txt");
        let texts =
            ["", "\n", "\r", "a", "a\n", "a\r\nb\r\n\r\nc", "a\r\rb\nc\r", "\u{feff}\u{e9}t\u{e9}\nx\r\n\ny", "\ra"];
        for text in texts {
            std::fs::write(&path, text).map_err(failed)?;
            let whole = TextFile::from_text(&path, text.trim_start_matches('\u{feff}').to_owned());
            let lines = |file: &TextFile| (0..file.len()).map(|i| file.line(i).into_owned()).collect::<Vec<_>>();
            for piece in 4..12 {
                let mut counts = Vec::new();
                let grown = &mut |file: &TextFile| {
                    assert!(!file.is_whole() && lines(&whole).starts_with(&lines(file)), "{text:?} by {piece}");
                    counts.push(file.len());
                    true
                };
                let read = TextFile::open_within(&path, MOST_BYTES, piece, grown)?;
                assert_eq!(lines(&read), lines(&whole), "{text:?} by {piece}");
                assert!(read.is_whole() && counts.len() <= 1);
                for needle in ["A", "\u{c9}", "", "x\r", "b"].map(Needle::new) {
                    let (mut found, mut from) = (Vec::new(), 0);
                    while from < read.len() {
                        let (more, next) = read.search(&needle, from, 2);
                        assert!(next > from);
                        found.extend(more);
                        from = next;
                    }
                    let expect: Vec<_> = (0..read.len()).filter(|i| needle.is_in(&read.line(*i))).collect();
                    assert_eq!(found, expect, "{needle:?} in {text:?} by {piece}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line_wherever_it_is() -> Result<()> {
        let failed = |error: std::io::Error| Error::io("list", &error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("list.txt");
        let mut bytes = b"a line of text\n".repeat(20_000);
        bytes[15 * 17_999 + 3] = 0xff;
        std::fs::write(&path, &bytes).map_err(failed)?;
        let mut shown = 0;
        let opened = TextFile::open_growing(&path, &mut |file| {
            shown = file.len();
            true
        });
        let error = opened.expect_err("it is no text").to_string();
        assert!(error.contains("list.txt, line 18000: is not UTF-8"), "{error}");
        assert!((1..18_000).contains(&shown), "its beginning was there at once");
        let ended = TextFile::open_growing(&path, &mut |_| false);
        assert!(matches!(ended, Err(Error::Stale)), "nobody waits for it");
        Ok(())
    }
}
