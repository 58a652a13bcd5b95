//! Floor 6: attention of Neural Monkey: a numpy array \[sentences, source, target\], padded with zeros; the texts are files
//! of their own. An array of two axes is one sentence. Imports its room.

use std::io::{BufRead, Read as _};
use std::path::PathBuf;

use crate::analysis::alignment::Alignment;
use crate::error::{Error, Result};
use crate::import::beside::Sides;
use crate::import::facts::{Facts, ImportReported, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::ImportInput;
use crate::import::matrix::{FileMatrix, PEEKED, fit, kept, orientation, settle};
use crate::import::options::{ImportOptions, Orientation};
use crate::import::record::{ImportedOutput, ImportedText, Record};
use crate::models::origins::npz::{MAGIC, NumpyHeader, ReadNumber};
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

/// An array that is being read.
struct Array {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    /// Bytes of a number, and how it is read.
    size: usize,
    number: ReadNumber,
    is_big_endian: bool,
    /// Sentences, rows, columns.
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
