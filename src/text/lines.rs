//! Floor 1: a text file held in memory as a list of lines, for lists of a million sentences; and files
//! written in one step. Imports floor 0.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::text::reader::not_utf8;
use crate::text::reader::read_all;

/// Where the lines start: half the memory for files below 4 GiB.
#[derive(Clone, Debug)]
enum Starts {
    Small(Vec<u32>),
    Large(Vec<usize>),
}

/// A text file: its text once, and where its lines start.
#[derive(Clone, Debug)]
pub struct TextFile {
    path: PathBuf,
    text: String,
    starts: Starts,
}

/// What a search of some lines found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The first line, from 0, that holds the needle.
    At(usize),
    /// Nothing yet; go on from this line.
    NotYet(usize),
    /// Not in this line nor in any later one.
    Nowhere,
}

/// Longest text that a list holds, unpacked.
const MOST_BYTES: u64 = 2 << 30;

impl TextFile {
    /// Reads a file, packed or not; any style of line ends, a byte-order mark is dropped.
    ///
    /// # Errors
    /// A sentence that names the file, or the first line that is not UTF-8. Pipes and devices are refused, since
    /// they may never end, and so is a text of more than 2 GiB.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_within(path, MOST_BYTES)
    }

    fn open_within(path: &Path, most: u64) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if facts.is_dir() {
            return Err(Error::file(path, "is a folder; choose a text file"));
        }
        if !facts.is_file() {
            return Err(Error::file(path, "is a pipe or a device and no file; save the text in a file and open that"));
        }
        let mut bytes = read_all(path, most)?;
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            not_utf8(path, starts_of(valid).count() + 1)
        })?;
        Ok(Self::from_text(path, text))
    }

    /// The lines of `text` as if it had been read from `path`.
    #[must_use]
    pub fn from_text(path: &Path, text: String) -> Self {
        // The first line starts at 0; an end of line at the very end starts no further line.
        let further = starts_of(text.as_bytes()).filter(|start| *start < text.len());
        let first = usize::from(!text.is_empty());
        let starts = if u32::try_from(text.len()).is_ok() {
            Starts::Small(std::iter::repeat_n(0, first).chain(further.map(|start| start as u32)).collect())
        } else {
            Starts::Large(std::iter::repeat_n(0, first).chain(further).collect())
        };
        Self { path: path.into(), text, starts }
    }

    /// Where it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.starts {
            Starts::Small(starts) => starts.len(),
            Starts::Large(starts) => starts.len(),
        }
    }

    /// True for a file without any line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn start(&self, i: usize) -> Option<usize> {
        match &self.starts {
            Starts::Small(starts) => starts.get(i).map(|start| *start as usize),
            Starts::Large(starts) => starts.get(i).copied(),
        }
    }

    /// Line `i`, from 0, without its end; empty beyond the last.
    #[must_use]
    pub fn line(&self, i: usize) -> Cow<'_, str> {
        let Some(start) = self.start(i) else { return Cow::Borrowed("") };
        let line = &self.text[start..self.start(i + 1).unwrap_or(self.text.len())];
        let line = line.strip_suffix('\n').unwrap_or(line);
        Cow::Borrowed(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Looks for `needle`, letter case aside, in at most `budget` lines starting with line `from`.
    #[must_use]
    pub fn search(&self, needle: &str, from: usize, budget: usize) -> Found {
        let needle = needle.to_lowercase();
        let end = from.saturating_add(budget).min(self.len());
        for i in from..end {
            let line = self.line(i);
            if holds(&line, &needle) {
                return Found::At(i);
            }
        }
        if end < self.len() { Found::NotYet(end) } else { Found::Nowhere }
    }
}

/// True when `line` holds `needle`, which is in lower case already.
fn holds(line: &str, needle: &str) -> bool {
    if line.is_ascii() && needle.is_ascii() {
        let needle = needle.as_bytes();
        return needle.is_empty()
            || line.as_bytes().windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    }
    line.to_lowercase().contains(needle)
}

/// Byte positions behind each end of line: `\n`, `\r\n`, or `\r` alone where the first end is one.
fn starts_of(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let first = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let alone = first.is_some_and(|at| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    let end = if alone { b'\r' } else { b'\n' };
    bytes.iter().enumerate().filter(move |(_, byte)| **byte == end).map(|(at, _)| at + 1)
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
            assert_eq!(TextFile::open_within(&path, 7000)?.len(), 1000);
            let error = TextFile::open_within(&path, 6999).expect_err("it is longer").to_string();
            assert!(error.contains(name) && error.contains("longer than 6999 bytes"), "{error}");
        }
        Ok(())
    }
}
