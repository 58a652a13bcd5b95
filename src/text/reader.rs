//! Floor 1: lines of text files, plain, gzip or zstandard, streamed; and parallel files side by side. Imports floor 0.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Opens a file, unpacking gzip and zstandard, which are known by their first bytes whatever the name.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    // A folder opens but does not read: the error comes here.
    let start = file.fill_buf().map_err(failed)?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, flate2::bufread::MultiGzDecoder::new(file))));
    }
    if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::stream::read::Decoder::with_buffer(file).map_err(failed)?;
        return Ok(Box::new(BufReader::with_capacity(1 << 16, decoder)));
    }
    Ok(Box::new(file))
}

/// How a file ends its lines; the first end decides, so that a stray carriage return later
/// cannot shift the lines of one side of a parallel corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Before the first end.
    Unknown,
    /// `\n`, perhaps after a `\r`.
    Feed,
    /// `\r` alone, as old Macintosh files.
    Return,
}

/// The lines of a file, without their ends, in UTF-8; a byte-order mark is dropped.
pub struct LineReader {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    line: usize,
    ends: Ends,
    buffer: Vec<u8>,
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

    /// Reads lines from any input; errors name `path`.
    pub fn new(path: &Path, input: Box<dyn BufRead + Send>) -> Self {
        Self { path: path.into(), input, line: 0, ends: Ends::Unknown, buffer: Vec::new(), failed: false }
    }

    /// Lines read so far.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read(&mut self) -> Result<Option<String>> {
        self.buffer.clear();
        let failed = |error: std::io::Error| {
            let message = format!("could not be read to its end ({error}); the file may be truncated or damaged");
            Error::line(&self.path, self.line + 1, message)
        };
        if self.ends == Ends::Unknown {
            self.ends = first_line(&mut self.input, &mut self.buffer).map_err(failed)?;
        } else {
            let end = if self.ends == Ends::Return { b'\r' } else { b'\n' };
            self.input.read_until(end, &mut self.buffer).map_err(failed)?;
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.ends == Ends::Return {
            trim_end(&mut self.buffer, b'\r');
        } else {
            trim_end(&mut self.buffer, b'\n');
            trim_end(&mut self.buffer, b'\r');
        }
        if self.line == 0 && self.buffer.starts_with("\u{feff}".as_bytes()) {
            self.buffer.drain(..3);
        }
        self.line += 1;
        match std::str::from_utf8(&self.buffer) {
            Ok(line) => Ok(Some(line.to_owned())),
            Err(_) => Err(not_utf8(&self.path, self.line)),
        }
    }
}

impl Iterator for LineReader {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}

/// The sentence for a line that is not UTF-8, counted from 1.
pub(crate) fn not_utf8(path: &Path, line: usize) -> Error {
    Error::line(path, line, "is not UTF-8; convert the file to UTF-8, for example with `iconv -t UTF-8`")
}

fn trim_end(buffer: &mut Vec<u8>, byte: u8) {
    if buffer.last() == Some(&byte) {
        buffer.pop();
    }
}

/// Reads the first line with its end, and tells how the file ends its lines.
fn first_line(input: &mut dyn BufRead, buffer: &mut Vec<u8>) -> std::io::Result<Ends> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(Ends::Feed);
        }
        let Some(at) = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            let len = chunk.len();
            buffer.extend_from_slice(chunk);
            input.consume(len);
            continue;
        };
        let feed = chunk[at] == b'\n';
        buffer.extend_from_slice(&chunk[..=at]);
        input.consume(at + 1);
        if feed {
            return Ok(Ends::Feed);
        }
        if input.fill_buf()?.first() == Some(&b'\n') {
            buffer.push(b'\n');
            input.consume(1);
            return Ok(Ends::Feed);
        }
        return Ok(Ends::Return);
    }
}

/// All lines of a file.
pub fn read_lines(path: &Path) -> Result<Vec<String>> {
    LineReader::open(path)?.collect()
}

/// The pairs of lines of several (source, target) files, one after the other.
#[derive(Debug)]
pub struct ParallelReader {
    /// Files to come, the next one last.
    files: Vec<(PathBuf, PathBuf)>,
    open: Option<(LineReader, LineReader)>,
    failed: bool,
}

impl ParallelReader {
    /// A reader of (source, target) files; they are opened when their turn comes.
    pub fn new(files: &[(PathBuf, PathBuf)]) -> Self {
        Self { files: files.iter().rev().cloned().collect(), open: None, failed: false }
    }

    fn read(&mut self) -> Result<Option<(String, String)>> {
        loop {
            let (source, target) = match &mut self.open {
                Some(readers) => readers,
                empty => {
                    let Some((source, target)) = self.files.pop() else { return Ok(None) };
                    empty.insert((LineReader::open(&source)?, LineReader::open(&target)?))
                }
            };
            match (source.next().transpose()?, target.next().transpose()?) {
                (Some(source), Some(target)) => return Ok(Some((source, target))),
                (None, None) => self.open = None,
                (Some(_), None) => return Err(unequal(target, source)),
                (None, Some(_)) => return Err(unequal(source, target)),
            }
        }
    }
}

fn unequal(short: &LineReader, long: &LineReader) -> Error {
    let message = format!(
        "ends here, but {} goes on; both files must have the same number of lines, one translation a line",
        long.path().display()
    );
    Error::line(short.path(), short.line(), message)
}

impl Iterator for ParallelReader {
    type Item = Result<(String, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}
