//! Floor 6: attention of Neural Monkey: a numpy array \[sentences, source, target\], padded with zeros; the texts are files
//! of their own. An array of two axes is one sentence. Imports its room.

use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use half::f16;

use crate::analysis::alignment::Alignment;
use crate::error::{Error, Result};
use crate::import::beside::Sides;
use crate::import::facts::{Facts, ImportReported, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::ImportInput;
use crate::import::matrix::{FileMatrix, PEEKED, fit, kept, orientation, settle};
use crate::import::options::{ImportOptions, Orientation};
use crate::import::record::{ImportedOutput, ImportedText, Record};
use crate::text::readable::tokens;

/// The most weights of a sentence.
const MOST: usize = 1 << 24;

/// The magic of numpy.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.bytes.starts_with(MAGIC) { 100 } else { 0 }
}

/// Starts to read.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut peeked = Array::open(input)?;
    let mut sides = Sides::open(&options.beside)?;
    let (mut matrices, mut unheard) = (Vec::new(), Warnings::new(input.path()));
    while matrices.len() < PEEKED
        && let Ok(Some(matrix)) = peeked.next()
    {
        let n = peeked.done;
        let [source, target] = sides.both(n, n, &mut unheard)?.map(|text| text.map(|text| tokens(&text).len()));
        matrices.push(FileMatrix { matrix: matrix.trimmed(), source, target });
    }
    matrices.retain(|seen| seen.matrix.rows() > 0);
    facts.orientation = orientation(&matrices, options.orientation, Orientation::SourceRows);
    let array = Array::open(input)?;
    facts.sentences = Some(array.shape.0);
    let (n, rows, columns) = array.shape;
    facts.notes.push(format!("An array of {n} sentences, {rows} by {columns} tokens at most."));
    if options.beside.source.is_none() || options.beside.target.is_none() {
        facts.notes.push("The texts are in files of their own; name them, so that the weights fit their words.".into());
    }
    Ok(Box::new(NpyReader {
        array,
        sides: Sides::open(&options.beside)?,
        orientation: facts.orientation.value().unwrap_or(Orientation::SourceRows),
        system: system(input, options),
    }))
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// How numbers are written: the kind, its bytes, and the number of so many bytes, the least first.
const NUMBERS: &[(&str, usize, fn(&[u8]) -> f32)] = &[
    ("f2", 2, |bytes| f16::from_le_bytes(array(bytes)).to_f32()),
    ("f4", 4, |bytes| f32::from_le_bytes(array(bytes))),
    ("f8", 8, |bytes| f64::from_le_bytes(array(bytes)) as f32),
];

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// An array that is being read.
struct Array {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    /// Bytes of a number, and how it is read.
    size: usize,
    number: fn(&[u8]) -> f32,
    is_big_endian: bool,
    /// Sentences, rows, columns.
    shape: (usize, usize, usize),
    done: usize,
}

impl Array {
    fn open(input: &ImportInput) -> Result<Self> {
        let path = input.path();
        let mut bytes = input.bytes()?;
        let header = header(path, &mut bytes)?;
        let refuse = |message: String| Error::file(path, message);
        let entry = |key: &str| {
            entry(&header, key).ok_or_else(|| refuse(format!("has no `{key}` in its header and is no array of numpy")))
        };
        let written = entry("descr")?;
        let kind = written.trim_matches(['\'', '"']);
        let bare = kind.trim_start_matches(['<', '>', '=', '|']);
        let Some(&(_, size, number)) = NUMBERS.iter().find(|(kind, ..)| *kind == bare) else {
            return Err(refuse(format!("holds numbers of the kind `{bare:.20}`; save it as float32")));
        };
        if entry("fortran_order")? == "True" {
            return Err(refuse("is stored column by column; save it with `numpy.ascontiguousarray`".into()));
        }
        let shape = shape(entry("shape")?).ok_or_else(|| {
            refuse(
                "has no shape (sentences, source, target); weights of several heads or layers need one chosen".into(),
            )
        })?;
        if shape.1 == 0 || shape.2 == 0 {
            return Err(refuse("has no weights".into()));
        }
        if shape.1.saturating_mul(shape.2) > MOST {
            return Err(refuse(format!("has {} by {} weights a sentence, too many", shape.1, shape.2)));
        }
        let is_big_endian = kind.starts_with('>');
        Ok(Self { path: path.into(), input: bytes, size, number, is_big_endian, shape, done: 0 })
    }

    /// The next matrix as it lies in the file; `None` behind the last.
    fn next(&mut self) -> Result<Option<Alignment>> {
        let (sentences, rows, columns) = self.shape;
        if self.done == sentences {
            return Ok(None);
        }
        let mut bytes = vec![0; rows * columns * self.size];
        self.input.read_exact(&mut bytes).map_err(|error| {
            let n = self.done + 1;
            Error::file(&self.path, format!("ends within sentence {n} of {sentences} ({error}); it may be truncated"))
        })?;
        self.done += 1;
        if self.is_big_endian {
            bytes.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
        let weights = bytes.chunks_exact(self.size).map(self.number).collect();
        Ok(Some(Alignment::new(weights, columns).unwrap_or_default()))
    }
}

/// The header's text, of versions 1, 2 and 3.
fn header(path: &Path, input: &mut dyn BufRead) -> Result<String> {
    let failed =
        |error: std::io::Error| Error::file(path, format!("ends within its header ({error}) and is no array of numpy"));
    let mut start = [0; 8];
    input.read_exact(&mut start).map_err(failed)?;
    if !start.starts_with(MAGIC) {
        return Err(Error::file(path, "is no array of numpy: it does not begin with its mark"));
    }
    let mut size = [0; 4];
    let bytes = if start[6] == 1 { 2 } else { 4 };
    input.read_exact(&mut size[..bytes]).map_err(failed)?;
    let mut header = Vec::new();
    input.take(u64::from(u32::from_le_bytes(size)).min(1 << 16)).read_to_end(&mut header).map_err(failed)?;
    Ok(String::from_utf8_lossy(&header).into_owned())
}

/// The value of a key of the header, which is a dictionary of Python.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(&format!("'{key}':"))?.1.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

/// Sentences, rows and columns.
fn shape(text: &str) -> Option<(usize, usize, usize)> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let sizes: Option<Vec<usize>> =
        inner.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect();
    match sizes?.as_slice() {
        [rows, columns] => Some((1, *rows, *columns)),
        [sentences, rows, columns] => Some((*sentences, *rows, *columns)),
        _ => None,
    }
}

struct NpyReader {
    array: Array,
    sides: Sides,
    orientation: Orientation,
    system: String,
}

impl FormatReader for NpyReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let n = self.array.done + 1;
        let Some(matrix) = self.array.next()? else {
            self.sides.end(self.array.done, self.array.done, warnings)?;
            return Ok(None);
        };
        let [mut source, mut target] = self.sides.both(n, n, warnings)?.map(|text| text.map(|text| tokens(&text)));
        let alpha = if matrix.weights().iter().any(|weight| !weight.is_finite()) {
            Err("the matrix has weights that are no numbers".to_owned())
        } else {
            self.fitted(matrix, target.as_mut(), source.as_mut())
        };
        let alpha = kept(Some(alpha), n, warnings);
        let mut output = ImportedOutput::cut(&self.system, target.unwrap_or_default());
        output.alpha = alpha.filter(|alpha| alpha.rows() > 0);
        let source = source.map(ImportedText::cut);
        let mut record = Record { sentence: n, line: n, source, outputs: vec![output], ..Record::default() };
        settle(&mut record, warnings);
        Ok(Some(record))
    }
}

impl NpyReader {
    /// With the texts the words tell how much is padding, without them the zeros. Behind the last target word the decoder
    /// may have gone on, so that those weights are not 0 and mean nothing.
    fn fitted(
        &self,
        matrix: Alignment,
        target: Option<&mut Vec<String>>,
        source: Option<&mut Vec<String>>,
    ) -> ImportReported<Alignment> {
        match target {
            Some(target) => {
                let is_turned = self.orientation == Orientation::SourceRows;
                let alpha = if is_turned { matrix.turned() } else { matrix };
                let alpha = alpha.words(target.len(), alpha.columns());
                let alpha = if source.is_some() { alpha } else { alpha.trimmed_columns() };
                fit(alpha, Orientation::TargetRows, target, source)
            }
            None if self.orientation == Orientation::TargetRows => Ok(matrix.trimmed()),
            None => Ok(matrix.trimmed().turned()),
        }
    }
}
