//! The bytes of a file as text, whatever packs and encodes them.
//!
//! A byte-order mark decides, then the declaration of an XML file, then the bytes: UTF-8 where they are UTF-8, a few
//! odd ones aside, else what `chardetng` takes them for, as web browsers do.

use std::io::{BufRead, ErrorKind, Read, Result as IoResult};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::{fs::File, sync::Arc};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::facts::Warnings;
use engine::error::{Error, Result};
use engine::text::reader::{
    Advance, HAS_RETURN, LineReader, MOST_UNPACKED, Packing, no_text, packing, require_file, too_packed, unpack,
};

/// The first bytes of a file, by which its format is known.
const SAMPLE: usize = 1 << 16;
/// The first bytes of a file, by which its encoding is known.
const SCANNED: usize = 1 << 24;
/// The longest line: the matrix of a very long sentence.
const LONGEST: usize = 1 << 26;
/// The longest row of CSV or unit of XML, in bytes: it has texts and links.
const MOST_RECORD: usize = 1 << 24;

/// A file that can be read again and again.
#[derive(Clone, Debug)]
pub struct ImportInput {
    path: PathBuf,
    size: u64,
    read: Arc<AtomicU64>,
    packing: Option<Packing>,
    encoding: &'static Encoding,
    /// How the encoding is known, where that should be told.
    pub note: Option<String>,
    pub sample: Vec<u8>,
}

impl ImportInput {
    /// Looks at a file; `label` overrules the encoding.
    pub fn open(path: &Path, label: Option<&str>) -> Result<Self> {
        let size = require_file(path)?.len();
        let mut input = Self {
            path: path.into(),
            size,
            read: Arc::default(),
            packing: None,
            encoding: UTF_8,
            note: None,
            sample: Vec::new(),
        };
        let mut start = Vec::new();
        let failed = |error: std::io::Error| Error::io(path, &error);
        File::open(path).map_err(failed)?.take(4).read_to_end(&mut start).map_err(failed)?;
        input.packing = packing(&start);
        let mut bytes = input.scan(SAMPLE)?;
        input.sample.clone_from(&bytes);
        if !input.is_npy() {
            refuse_binary(path, &bytes)?;
            if bytes.len() == SAMPLE {
                bytes = input.scan(SCANNED)?;
            }
            // A part of it says so before any of it is kept.
            if bytes.len() as u64 / MOST_UNPACKED.1
                > input.read.load(Ordering::Relaxed).max(MOST_UNPACKED.0 / MOST_UNPACKED.1)
            {
                return Err(Error::file(path, too_packed()));
            }
            (input.encoding, input.note) = encoding(path, &bytes, label)?;
        }
        Ok(input)
    }

    fn scan(&self, most: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let ended = self.bytes()?.take(most as u64).read_to_end(&mut bytes);
        match ended {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(Error::file(&self.path, error.to_string())),
            Err(error) if bytes.is_empty() => {
                let message = format!("could not be read ({error}); the file may be truncated or damaged");
                Err(Error::file(&self.path, message))
            }
            _ => Ok(bytes),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in small letters, without the ending of a packed file.
    pub fn name(&self) -> String {
        let name = self.path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        unpacked(&name).to_owned()
    }

    /// Its name without any ending: what a system is called that has no other name.
    pub fn stem(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let bare = unpacked(&name);
        bare.rsplit_once('.').map_or(bare, |(stem, _)| stem).to_owned()
    }

    pub fn packed(&self) -> Option<&'static str> {
        self.packing.map(|packing| match packing {
            Packing::Gzip => "gzip",
            Packing::Zstandard => "zstandard",
        })
    }

    pub fn encoding(&self) -> &'static str {
        if self.is_npy() { "" } else { self.encoding.name() }
    }

    /// The first bytes as text: whole lines, unless the first is very long.
    pub fn head(&self) -> String {
        let mut head = self.encoding.decode_with_bom_removal(&self.sample).0.into_owned();
        if !head.contains('\n') {
            head = head.replace('\r', "\n");
        }
        if self.sample.len() == SAMPLE
            && let Some(end) = head.rfind('\n')
        {
            head.truncate(end + 1);
        }
        head
    }

    pub fn is_npy(&self) -> bool {
        self.sample.starts_with(b"\x93NUMPY")
    }

    /// How far the present pass is, from 0 to 1.
    pub fn progress(&self) -> f32 {
        if self.size == 0 { 1.0 } else { (self.read.load(Ordering::Relaxed) as f64 / self.size as f64) as f32 }
    }

    /// The bytes from the start, unpacked.
    pub fn bytes(&self) -> Result<Box<dyn BufRead + Send>> {
        let file = File::open(&self.path).map_err(|error| Error::io(&self.path, &error))?;
        self.read.store(0, Ordering::Relaxed);
        unpack(&self.path, Counting { file, read: Arc::clone(&self.read) })
    }

    /// The text from the start in UTF-8, what cannot be decoded replaced by U+FFFD.
    pub fn text(&self) -> Result<Box<dyn BufRead + Send>> {
        let decoder = self.encoding.new_decoder_with_bom_removal();
        Ok(Box::new(Transcoded { input: self.bytes()?, decoder, text: Vec::new(), at: 0, ended: false }))
    }

    pub fn lines(&self) -> Result<TextLines> {
        // UTF-8 comes as it is, so that odd bytes can be told by their lines.
        let input = if self.encoding == UTF_8 { self.bytes()? } else { self.text()? };
        Ok(TextLines { reader: LineReader::new(&self.path, input).longest(LONGEST).passing_over() })
    }
}

fn unpacked(name: &str) -> &str {
    [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

struct Counting {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Bytes and lines read since the last record began; too long a record is refused.
#[derive(Clone, Debug, Default)]
pub struct RecordMeter {
    bytes: Arc<AtomicUsize>,
    feeds: Arc<AtomicUsize>,
}

impl RecordMeter {
    pub fn over(&self, input: Box<dyn BufRead + Send>) -> Metered {
        Metered { input, meter: self.clone() }
    }

    /// Nothing that was read is kept any more.
    pub fn begin(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// The line that is read at present, from 1.
    pub fn line(&self) -> usize {
        self.feeds.load(Ordering::Relaxed) + 1
    }

    /// What is wrong where too much was read.
    pub fn too_long(&self) -> Option<String> {
        let is_long = self.bytes.load(Ordering::Relaxed) > MOST_RECORD;
        is_long.then(|| format!("is within something of more than {MOST_RECORD} bytes; cut it, or take it out"))
    }
}

/// An input that is measured as it is read.
pub struct Metered {
    input: Box<dyn BufRead + Send>,
    meter: RecordMeter,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Metered {
    fn fill_buf(&mut self) -> IoResult<&[u8]> {
        self.meter.too_long().map_or(Ok(()), |why| Err(std::io::Error::other(why)))?;
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What is consumed was buffered before.
        if let Ok(bytes) = self.input.fill_buf() {
            let feeds = memchr::memchr_iter(b'\n', &bytes[..count.min(bytes.len())]).count();
            self.meter.feeds.fetch_add(feeds, Ordering::Relaxed);
        }
        self.meter.bytes.fetch_add(count, Ordering::Relaxed);
        self.input.consume(count);
    }
}

struct Transcoded {
    input: Box<dyn BufRead + Send>,
    decoder: Decoder,
    text: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Read for Transcoded {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let text = self.fill_buf()?;
        let count = text.len().min(buffer.len());
        buffer[..count].copy_from_slice(&text[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Transcoded {
    fn fill_buf(&mut self) -> IoResult<&[u8]> {
        while self.at == self.text.len() && !self.ended {
            let bytes = self.input.fill_buf()?;
            self.ended = bytes.is_empty();
            let room = self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(1 << 20);
            self.text.resize(room, 0);
            let (_, read, written, _) = self.decoder.decode_to_utf8(bytes, &mut self.text, self.ended);
            self.text.truncate(written);
            self.at = 0;
            self.input.consume(read);
        }
        Ok(&self.text[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.text.len());
    }
}

/// Control characters that a text may have, and one of how many bytes they may be in a longer one.
const MOST_CONTROLS: (usize, usize) = (8, 50);

/// Refuses what is packed in a way that is not read here, and what holds so many control characters that it is no text.
fn refuse_binary(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(error) = no_text(path, bytes) {
        return Err(error);
    }
    // ESC switches letters in ISO-2022, bytes of 0 are told by the encoding.
    let is_control = |byte: &&u8| matches!(byte, 1..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F);
    let bytes = &bytes[..bytes.len().min(SAMPLE)];
    let count = if Encoding::for_bom(bytes).is_some() { 0 } else { bytes.iter().filter(is_control).count() };
    if count > MOST_CONTROLS.0 && count * MOST_CONTROLS.1 > bytes.len() {
        let message = "is no text: it is full of control characters; unpack it, or save it as text";
        return Err(Error::file(path, message));
    }
    Ok(())
}

fn encoding(path: &Path, bytes: &[u8], label: Option<&str>) -> Result<(&'static Encoding, Option<String>)> {
    if let Some(label) = label {
        let found = Encoding::for_label(label.as_bytes());
        let unknown = || Error::file(path, format!("`{label}` is no encoding; write `utf-8` or `windows-1252`"));
        return Ok((found.ok_or_else(unknown)?, None));
    }
    if let Some((found, _)) = Encoding::for_bom(bytes) {
        return Ok((found, None));
    }
    let zeros = bytes.iter().take(SAMPLE).filter(|byte| **byte == 0).count();
    if zeros * 10 > bytes.len().min(SAMPLE) {
        let message = "is no text but holds bytes of 0; if it is UTF-16 without a byte-order mark, save it as UTF-8, or import \
                       it with `analyse --encoding utf-16le` or `utf-16be`";
        return Err(Error::file(path, message));
    }
    if let Some(found) = declared(bytes) {
        return Ok((found, None));
    }
    Ok(guessed(bytes))
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let line = bytes.strip_prefix(b"<?xml")?;
    let line = std::str::from_utf8(&line[..memchr::memchr(b'>', line)?]).ok()?;
    let rest = line.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let found = Encoding::for_label(rest[1..].split(quote).next()?.as_bytes())?;
    // A declaration that could be read like this is no UTF-16.
    Some(if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found })
}

/// UTF-8 where more letters beyond ASCII are UTF-8 than not, else what `chardetng` says.
fn guessed(bytes: &[u8]) -> (&'static Encoding, Option<String>) {
    let (mut good, mut bad) = (0, 0);
    let mut end = bytes.len();
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    // The sample may end within a letter.
    if bytes.len() == SCANNED {
        end = bytes.len() - 3;
        bad = bad.saturating_sub(1);
    }
    if bad == 0 {
        return (UTF_8, None);
    }
    if good >= bad {
        return (UTF_8, Some(format!("UTF-8, but {bad} places are not; each is shown as U+FFFD.")));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..end], true);
    let found = detector.guess(None, Utf8Detection::Deny);
    let note =
        format!("The file is not UTF-8; by its bytes it is {}. If letters look wrong, save it as UTF-8.", found.name());
    (found, Some(note))
}

/// The lines of a text file; what is odd about one is told and the others are read.
#[derive(Debug)]
pub struct TextLines {
    reader: LineReader,
}

/// A line of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    pub number: usize,
    /// Without its end; `None` where it is too long to be read.
    pub text: Option<String>,
}

impl TextLines {
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// The next line; odd bytes are warnings.
    pub fn next(&mut self, warnings: &mut Warnings) -> Result<Option<TextLine>> {
        let advance = self.reader.advance()?;
        let number = self.reader.line();
        match advance {
            Advance::End => Ok(None),
            Advance::TooLong(bytes) => {
                warnings.add(number, format!("has {bytes} bytes, too many to be read; it is left out"));
                Ok(Some(TextLine { number, text: None }))
            }
            Advance::Line => {
                let text = self.reader.lossy().into_owned();
                if self.reader.has_return() {
                    warnings.add(number, HAS_RETURN);
                }
                odd(number, &text, self.reader.text().is_err(), warnings);
                Ok(Some(TextLine { number, text: Some(text) }))
            }
        }
    }
}

/// Whether there is nothing but letters, spaces and tabs: of a million long lines the least is looked at twice.
fn is_plain(text: &str) -> bool {
    // U+0080 to U+009F begin with C2, U+FFFD with EF.
    let is_odd = |byte: &u8| (*byte < b' ' && *byte != b'\t') || matches!(*byte, 0x7F | 0xC2 | 0xEF);
    // Whole blocks at once, which the compiler turns into a few instructions.
    text.as_bytes().chunks(256).all(|block| !block.iter().fold(false, |any, byte| any | is_odd(byte)))
}

fn odd(number: usize, text: &str, is_replaced: bool, warnings: &mut Warnings) {
    if !is_replaced && is_plain(text) {
        return;
    }
    if is_replaced {
        warnings.add(number, "has bytes that are not UTF-8; each is shown as U+FFFD");
    } else if text.contains('\u{fffd}') {
        warnings.add(number, "has letters that could not be decoded; each is shown as U+FFFD");
    }
    if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\t') {
        warnings.add(number, format!("has a control character (U+{:04X})", u32::from(control)));
    }
}
