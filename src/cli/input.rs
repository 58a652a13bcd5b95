//! Reading sentences a line at a time, in windows of bounded size.

use std::io;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::output;
use engine::error::{Error, Result};
use engine::text::reader::{Advance, LineReader};
use engine::text::sentence::{MAX_SOURCE_BYTES, MAX_SOURCE_TOKENS, Sentence};
use engine::text::tokenizer::Encode;
use engine::text::{line, parallel, reader};

/// How error sentences name stdin.
pub const STDIN: &str = "standard input";
/// A line without its end, or why no model may read it: it is too long, and not kept.
pub type InputLine = std::result::Result<String, String>;

/// Lines of UTF-8 text, counted, read ahead by a thread of their own.
pub struct InputLines {
    /// What error sentences call it.
    pub name: PathBuf,
    /// Bytes in all, where that is known.
    pub size: Option<u64>,
    waits: bool,
    /// A line that is not UTF-8 is refused as one that is too long is, and does not end the reading.
    pub goes_on: bool,
    read: Receiver<ReadLine>,
    next: Option<ReadLine>,
    /// The number of the line read last, from 1.
    pub number: usize,
    /// How many were read.
    pub bytes: u64,
}

struct ReadLine {
    line: Result<Option<InputLine>>,
    undecoded: Option<String>,
    number: usize,
    bytes: u64,
}

fn report_error(error: &Error) {
    output::notify(&error.to_string());
}

/// The lines of a file, packed or not; `-` is stdin.
pub fn lines(path: &Path) -> Result<LineReader> {
    let stdin = || LineReader::new(Path::new(STDIN), Box::new(BufReader::new(io::stdin())));
    let reader = if path == Path::new("-") { stdin() } else { LineReader::open(path)? };
    Ok(reader.on_skip(report_error))
}

const AHEAD: usize = 512;

impl InputLines {
    /// Opens a text file, packed with gzip or zstandard or not; `None` or `-` is stdin.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let is_file = std::fs::metadata("/dev/stdin").is_ok_and(|facts| facts.is_file());
            return Self::new(STDIN.into(), Box::new(BufReader::with_capacity(1 << 16, io::stdin())), None, !is_file);
        };
        let facts = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if facts.is_dir() {
            return Err(Error::file(path, "is a folder; name a text file"));
        }
        // What a packed file holds is not known before it is unpacked.
        let packed = path.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
        let size = (facts.is_file() && !packed).then_some(facts.len());
        Self::new(path.into(), reader::open(path)?, size, !facts.is_file())
    }

    fn new(name: PathBuf, input: Box<dyn BufRead + Send>, size: Option<u64>, waits: bool) -> Result<Self> {
        let (sender, read) = sync_channel(AHEAD);
        let mut reader = LineReader::new(&name, input).longest(MAX_SOURCE_BYTES).passing_over().on_skip(report_error);
        let thread = std::thread::Builder::new().name("interlinear-input".to_owned()).spawn(move || {
            loop {
                let (line, undecoded) = next_line(&mut reader);
                let ended = matches!(line, Ok(None));
                let report_error =
                    sender.send(ReadLine { line, undecoded, number: reader.line(), bytes: reader.bytes() });
                if ended || report_error.is_err() {
                    return;
                }
            }
        });
        thread.map_err(|error| Error::io(&name, &error))?;
        Ok(Self { name, size, waits, goes_on: false, read, next: None, number: 0, bytes: 0 })
    }

    /// Refuses the line read last.
    pub fn refuse(&self, why: impl Into<String>) -> Error {
        Error::line(&self.name, self.number, why)
    }

    /// Says at the end of an input without any line that there was nothing to do.
    pub fn warn_if_empty(&self, verb: &str) {
        if self.number == 0 {
            output::notify(&format!("{} has no lines, so there was nothing to {verb}", self.name.display()));
        }
    }

    /// Whether another line can be read without waiting for the writer.
    pub fn is_ready(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.read.try_recv().ok();
        }
        self.next.is_some() || !self.waits
    }

    /// The next line, or `None` at the end.
    pub fn read(&mut self) -> Result<Option<InputLine>> {
        // Behind the end the thread has nothing more to say.
        let Some(read) = self.next.take().or_else(|| self.read.recv().ok()) else { return Ok(None) };
        (self.number, self.bytes) = (read.number, read.bytes);
        match read.undecoded.filter(|_| self.goes_on) {
            Some(why) => Ok(Some(Err(why))),
            None => read.line,
        }
    }
}

fn next_line(reader: &mut LineReader) -> (Result<Option<InputLine>>, Option<String>) {
    match reader.advance() {
        Err(error) => (Err(error), None),
        Ok(Advance::TooLong(bytes)) => (Ok(Some(Err(line::too_many_bytes(bytes)))), None),
        Ok(Advance::End) => (Ok(None), None),
        Ok(Advance::Line) => match reader.text() {
            Ok(text) => (Ok(Some(Ok(text.to_owned()))), None),
            Err(error) => {
                let why = if let Error::Line { message, .. } = &error { Some(message.clone()) } else { None };
                (Err(error), why)
            }
        },
    }
}

impl parallel::LineSource for InputLines {
    type Line = InputLine;

    fn next_line(&mut self) -> Result<Option<InputLine>> {
        self.read()
    }

    fn name(&self) -> &Path {
        &self.name
    }

    fn number(&self) -> usize {
        self.number
    }
}

/// A text, and where there is one the text that stands beside it line by line.
pub struct InputFiles {
    pub source: InputLines,
    pub target: Option<InputLines>,
}

impl InputFiles {
    /// Opens what is named; see [`InputLines::open`].
    pub fn open(source: Option<&Path>, target: Option<&Path>) -> Result<Self> {
        let target = || target.map(|path| InputLines::open(Some(path))).transpose();
        Ok(Self { source: InputLines::open(source)?, target: target()? })
    }

    /// The target's side or the source's.
    pub fn side(&self, is_target: bool) -> &InputLines {
        self.target.as_ref().filter(|_| is_target).unwrap_or(&self.source)
    }

    /// Whether more can be read without waiting for the writer.
    pub fn is_ready(&mut self) -> bool {
        self.source.is_ready() && self.target.as_mut().is_none_or(InputLines::is_ready)
    }

    /// The next line, with the one beside it.
    pub fn read(&mut self) -> Result<Option<(InputLine, Option<InputLine>)>> {
        Ok(match &mut self.target {
            None => self.source.read()?.map(|source| (source, None)),
            Some(target) => {
                parallel::next_pair(&mut self.source, target)?.map(|(source, target)| (source, Some(target)))
            }
        })
    }

    /// The next pair of two texts.
    pub fn pair(&mut self) -> Result<Option<(InputLine, InputLine)>> {
        Ok(self.read()?.and_then(|(source, target)| Some((source, target?))))
    }
}

/// A line read for a model: its sentence, or why there is none.
#[derive(Debug)]
pub struct SourceLine {
    pub number: usize,
    /// The sentence; empty (no words) when it is refused.
    pub sentence: Sentence,
    /// Why it is not read; a sentence that names the line.
    pub refused: Option<Error>,
}

impl SourceLine {
    /// Whether there is anything to translate.
    pub fn is_readable(&self) -> bool {
        self.refused.is_none() && self.sentence.words() > 0
    }
}

/// How the lines of one side are cut into words.
#[derive(Clone, Copy, Debug)]
pub struct InputSide<'a> {
    pub tokenizer: &'a dyn Encode,
    /// The words are split by spaces already.
    pub pretokenized: bool,
}

impl InputSide<'_> {
    /// Tokenises the line that `lines` read last; one that is too long is refused.
    pub fn read(self, lines: &InputLines, line: InputLine) -> SourceLine {
        let (text, too_long) = line.map_or_else(|why| (String::new(), Some(why)), |text| (text, None));
        let sentence = line::encode(self.tokenizer, &text, self.pretokenized);
        let words = sentence.words();
        let too_long = too_long.or_else(|| (words > MAX_SOURCE_TOKENS).then(|| line::too_many_words(words)));
        let why = too_long.or_else(|| self.tokenizer.refuses(&sentence).filter(|_| words > 0));
        SourceLine { number: lines.number, sentence, refused: why.map(|why| lines.refuse(why)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<std::result::Result<InputLine, String>> {
        let mut lines = InputLines::new("file".into(), Box::new(io::Cursor::new(bytes.to_vec())), None, false)
            .expect("a thread can be had");
        let mut read = Vec::new();
        loop {
            match lines.read() {
                Ok(Some(line)) => read.push(Ok(line)),
                Ok(None) => return read,
                Err(error) => read.push(Err(error.to_string())),
            }
        }
    }

    #[test]
    fn lines_end_in_every_way() {
        let text = |line: &str| Ok(Ok(line.to_owned()));
        for (bytes, lines) in [
            (b"".as_slice(), vec![]),
            (b"\n", vec![text("")]),
            (b"a", vec![text("a")]),
            (b"a\n\nb\r\n", vec![text("a"), text(""), text("b")]),
            (b"a\r\n\r\nb\rc\r\nd\r", vec![text("a"), text(""), text("b c"), text("d")]),
            (b"a\r\rb\nc\r", vec![text("a  b"), text("c")]),
            (b"a\r\rb\rc", vec![text("a"), text(""), text("b"), text("c")]),
            (b"a\rb\r\nc\nd", vec![text("a b"), text("c"), text("d")]),
            (b"\ra", vec![text(""), text("a")]),
            (b"a\r", vec![text("a")]),
            (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", vec![text("a"), text("\u{feff}b")]),
        ] {
            assert_eq!(all(bytes), lines, "{bytes:?}");
            let other = LineReader::new(Path::new("file"), Box::new(io::Cursor::new(bytes)));
            let other: Vec<_> = other.map(|line| Ok(Ok(line.expect("UTF-8")))).collect();
            assert_eq!(other, lines, "training reads {bytes:?} alike");
        }
    }

    struct Endless(std::sync::Arc<std::sync::atomic::AtomicUsize>);

    impl io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = &mut buffer[..100];
            line.fill(b'x');
            line[99] = b'\n';
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Ok(100)
        }
    }

    #[test]
    fn endless_input_is_read_no_further_than_it_is_asked_for() -> Result<()> {
        let count = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
        let mut lines = InputLines::new(
            "file".into(),
            Box::new(BufReader::with_capacity(100, Endless(std::sync::Arc::clone(&count)))),
            None,
            true,
        )?;
        for taken in 1..=20 * AHEAD {
            assert!(matches!(lines.read(), Ok(Some(Ok(_)))));
            let read = count.load(std::sync::atomic::Ordering::SeqCst);
            // One more waits for room, and one is being read.
            assert!(read <= taken + AHEAD + 2, "{read} lines were read when {taken} were wanted");
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_read() {
        let read = all(b"a\n\xff\xfe\nb\n");
        assert_eq!(read.len(), 3);
        assert!(read[1].as_ref().is_err_and(|error| error.starts_with("file, line 2: is not UTF-8")), "{read:?}");
        let mut long = vec![b'x'; MAX_SOURCE_BYTES + 1];
        long.extend(b"\nb");
        assert_eq!(all(&long), vec![Ok(Err(line::too_many_bytes(MAX_SOURCE_BYTES + 1))), Ok(Ok("b".into()))]);
    }
}
