//! Attention of Neural Monkey: a numpy array \[sentences, source, target\], padded with zeros; the texts are files of
//! their own. An array of two axes is one sentence.

use std::io::{BufRead, Read as _};
use std::path::PathBuf;

use crate::facts::{Behind, Facts, Warnings};
use crate::format::{FileSample, FormatReader, system};
use crate::input::ImportInput;
use crate::matrix::{FileMatrix, PEEKED, orientation};
use crate::options::{ImportOptions, Orientation};
use crate::record::{ImportedOutput, Record};
use engine::analysis::alignment::Alignment;
use engine::error::{Error, Result};
use engine::models::origins::npz::{MAGIC, NumpyHeader, ReadNumber};

const MOST: usize = 1 << 24;

/// The magic of numpy.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.bytes.starts_with(MAGIC) { 100 } else { 0 }
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let (mut peeked, mut matrices) = (Array::open(input)?, Vec::new());
    while matrices.len() < PEEKED
        && let Ok(Some(matrix)) = peeked.next()
    {
        matrices.push(FileMatrix { matrix: matrix.trimmed(), source: None, target: None });
    }
    matrices.retain(|seen| seen.matrix.rows() > 0);
    facts.orientation = orientation(&matrices, options.orientation, Orientation::SourceRows);
    facts.behind = Behind::Decoder { has_end: false };
    let array = Array::open(input)?;
    let (n, rows, columns) = array.shape;
    facts.sentences = Some(n);
    facts.notes.push(format!("An array of {n} sentences, {rows} by {columns} tokens at most."));
    let is_turned = facts.orientation.value() == Some(Orientation::SourceRows);
    Ok(Box::new(NpyReader { array, is_turned, system: system(input, options) }))
}

struct Array {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    size: usize,
    number: ReadNumber,
    is_big_endian: bool,
    shape: (usize, usize, usize),
    done: usize,
}

impl Array {
    fn open(input: &ImportInput) -> Result<Self> {
        let path = input.path();
        let mut bytes = input.bytes()?;
        let header = NumpyHeader::read(path, &mut bytes)?;
        let refuse = |message: String| Error::file(path, message);
        let Some((size, number)) = header.number().filter(|_| header.kind.starts_with('f')) else {
            return Err(refuse(format!("holds numbers of the kind `{:.20}`; save it as float32", header.kind)));
        };
        if header.by_columns {
            return Err(refuse("is stored column by column; save it with `numpy.ascontiguousarray`".into()));
        }
        let shape = match *header.shape.as_slice() {
            [rows, columns] => (1, rows, columns),
            [sentences, rows, columns] => (sentences, rows, columns),
            _ => {
                let message =
                    "has no shape (sentences, source, target); weights of several heads or layers need one chosen";
                return Err(refuse(message.into()));
            }
        };
        if shape.1 == 0 || shape.2 == 0 {
            return Err(refuse("has no weights".into()));
        }
        if shape.1.saturating_mul(shape.2) > MOST {
            return Err(refuse(format!("has {} by {} weights a sentence, too many", shape.1, shape.2)));
        }
        let is_big_endian = header.is_big_endian;
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

struct NpyReader {
    array: Array,
    is_turned: bool,
    system: String,
}

impl FormatReader for NpyReader {
    fn next(&mut self, _: &mut Warnings) -> Result<Option<Record>> {
        let Some(matrix) = self.array.next()? else { return Ok(None) };
        let n = self.array.done;
        let alpha = Some(if self.is_turned { matrix.turned() } else { matrix });
        let output = ImportedOutput { alpha, ..ImportedOutput::plain(&self.system, String::new()) };
        Ok(Some(Record { sentence: n, line: n, outputs: vec![output], ..Record::default() }))
    }
}
