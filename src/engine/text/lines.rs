//! A text file held in memory as a list of lines, for lists of a million sentences. Imports floor 0.
//!
//! A file is read in pieces of whole lines. The first is small, so that a list has lines to show at once; what is
//! there already is shared, not copied, as the list grows.

use std::path::{Path, PathBuf};
use std::{borrow::Cow, ops::Range, sync::Arc};

use unicode_normalization::UnicodeNormalization as _;

use crate::error::{Error, Result};
#[cfg(not(target_family = "wasm"))]
use crate::text::reader::require_file;
use crate::text::reader::{Advance, LineReader, MOST_TEXT};
use crate::text::words::folded;

/// A text file, or its beginning while it is being read. Clones share the text.
#[derive(Clone, Debug)]
pub struct TextFile {
    path: PathBuf,
    pieces: Vec<Arc<Piece>>,
    firsts: Vec<usize>,
    lines: usize,
    is_whole: bool,
}

/// Whole lines, each with a feed behind it, and where each starts.
#[derive(Debug)]
struct Piece {
    text: String,
    starts: Vec<u32>,
}

/// The most lines of a list: their places come to 400 MB.
const MOST_LINES: usize = 100_000_000;
/// Bytes of the first piece; each further one is four times as large, up to [`PIECE`].
const FIRST_PIECE: usize = 1 << 16;
const PIECE: usize = 1 << 22;
const GROWTH: u64 = 1 << 24;

impl TextFile {
    /// Reads a file, packed or not; any style of line ends, a byte-order mark is dropped.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_growing(path, &mut |_| true)
    }

    /// As [`TextFile::open`]; `grown` hears the beginning of the file as soon as there are lines, now and then while
    /// there come more, and may end the reading with false.
    pub fn open_growing(path: &Path, grown: &mut dyn FnMut(&Self) -> bool) -> Result<Self> {
        Self::open_within(path, MOST_TEXT, FIRST_PIECE, grown)
    }

    fn open_within(path: &Path, most: u64, piece: usize, grown: &mut dyn FnMut(&Self) -> bool) -> Result<Self> {
        #[cfg(not(target_family = "wasm"))]
        require_file(path)?;
        // A list may hold a line of any length, as long as the whole text fits 32 bits.
        let mut lines = LineReader::open(path)?.at_most(most, MOST_LINES).longest(most as usize);
        let (mut file, mut size, mut shown) = (Self::nothing(path), piece, None);
        while file.read_piece(&mut lines, size)? {
            size = (4 * size).min(PIECE.max(piece));
            if shown.is_none_or(|shown| lines.bytes() - shown >= GROWTH) {
                shown = Some(lines.bytes());
                if !grown(&file) {
                    return Err(Error::Stale);
                }
            }
        }
        file.is_whole = true;
        Ok(file)
    }

    fn nothing(path: &Path) -> Self {
        Self { path: path.into(), pieces: Vec::new(), firsts: Vec::new(), lines: 0, is_whole: false }
    }

    fn read_piece(&mut self, lines: &mut LineReader, size: usize) -> Result<bool> {
        let mut piece = Piece { text: String::with_capacity(size), starts: Vec::new() };
        let goes_on = loop {
            if piece.text.len() >= size {
                break true;
            }
            if lines.advance()? == Advance::End {
                break false;
            }
            piece.starts.push(piece.text.len() as u32);
            piece.text.push_str(lines.text()?);
            piece.text.push('\n');
        };
        if !piece.starts.is_empty() {
            self.firsts.push(self.lines);
            self.lines += piece.starts.len();
            self.pieces.push(Arc::new(piece));
        }
        Ok(goes_on)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.lines
    }

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
    fn start(&self, i: usize) -> usize {
        self.starts.get(i).map_or(self.text.len(), |start| *start as usize)
    }

    fn line(&self, i: usize) -> &str {
        let line = &self.text[self.start(i)..self.start(i + 1)];
        line.strip_suffix('\n').unwrap_or(line)
    }

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

/// What is looked for in lines, letter case aside; letters with marks and apostrophes are found however they are
/// written.
#[derive(Clone, Debug)]
pub struct Needle {
    folded: String,
    rule: Option<regex::Regex>,
}

impl Needle {
    /// Looks for this text; the empty text is in every line.
    pub fn new(text: &str) -> Self {
        let is_plain = !text.is_empty() && text.len() < 1000 && !text.contains(['\r', '\n']);
        let rule = || regex::RegexBuilder::new(&every_form(text)).case_insensitive(true).multi_line(true).build().ok();
        Self { folded: folded(text), rule: is_plain.then(rule).flatten() }
    }

    /// A rule that finds it in many lines at once, since it never matches an end of line; `None` where there is none.
    pub fn rule(&self) -> Option<&regex::Regex> {
        self.rule.as_ref()
    }

    /// Whether a line holds it.
    pub fn is_in(&self, line: &str) -> bool {
        match &self.rule {
            Some(rule) => rule.is_match(line),
            None => folded(line).contains(&self.folded),
        }
    }
}

fn every_form(text: &str) -> String {
    /// A letter whose mark follows is another letter.
    const REST: &str = "(?:$|[^\n\u{300}-\u{36f}\u{3099}\u{309a}\u{11a8}-\u{11ff}])";
    let form = |c: char| {
        let (one, parts) = (c.to_string(), std::iter::once(c).nfd().collect::<String>());
        match c {
            '\'' | '\u{2019}' => "['\u{2019}]".to_owned(),
            _ if one == parts => regex::escape(&one),
            _ => format!("(?:{}|{})", regex::escape(&one), regex::escape(&parts)),
        }
    };
    text.nfc().map(form).chain([REST.to_owned()]).collect()
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
            let whole = TextFile::open(&path)?;
            let lines = |file: &TextFile| (0..file.len()).map(|i| file.line(i).into_owned()).collect::<Vec<_>>();
            for piece in 4..12 {
                let mut counts = Vec::new();
                let grown = &mut |file: &TextFile| {
                    assert!(!file.is_whole() && lines(&whole).starts_with(&lines(file)), "{text:?} by {piece}");
                    counts.push(file.len());
                    true
                };
                let read = TextFile::open_within(&path, MOST_TEXT, piece, grown)?;
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
