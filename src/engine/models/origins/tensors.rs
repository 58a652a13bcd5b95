//! The tensors of another toolkit's file, by their names there. An origin hands them on under our names, in full or
//! some rows; `f32`, `f16` and `bf16` stay where they lie, and every tensor that is not used is refused by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::checkpoint::{Array, Weights};
use crate::models::disk;
use crate::models::header::{self, MOST_NUMBERS, NumberFormat, TensorPlace};

/// What CTranslate2 multiplied by before it stored the scale of 16-bit integers too.
const OLD_SCALE: f32 = 1000.0;
const SCALE: &str = "_scale";
const MOST_LAYERS: usize = 64;

/// How the numbers of a tensor are stored elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    Float(NumberFormat),
    /// Whole numbers of so many bytes (1, 2, 4), perhaps to be divided by a scale.
    Whole(usize),
}

impl ForeignFormat {
    fn size(self) -> usize {
        match self {
            Self::Float(format) => format.size(),
            Self::Whole(size) => size,
        }
    }

    fn read(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::Float(format) => format.read(bytes),
            Self::Whole(1) => bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect(),
            Self::Whole(2) => {
                bytes.as_chunks::<2>().0.iter().map(|word| f32::from(i16::from_le_bytes(*word))).collect()
            }
            Self::Whole(_) => bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word) as f32).collect(),
        }
    }
}

/// A tensor as a file has it.
#[derive(Clone, Debug)]
pub struct ForeignTensor {
    pub shape: Vec<usize>,
    pub place: Range<usize>,
    pub format: ForeignFormat,
}

/// The tensors of a file, and those of ours that are made of them.
#[derive(Debug)]
pub struct ForeignTensors {
    path: PathBuf,
    bytes: Vec<u8>,
    tensors: BTreeMap<String, ForeignTensor>,
    used: BTreeSet<String>,
    lent: Vec<(String, Vec<usize>)>,
    places: Vec<TensorPlace>,
    made: Vec<(String, Array)>,
}

impl ForeignTensors {
    pub fn new(path: &Path, bytes: Vec<u8>, tensors: BTreeMap<String, ForeignTensor>) -> Result<Self> {
        let mut numbers = 0_usize;
        for (name, tensor) in &tensors {
            let count = tensor.shape.iter().try_fold(1, |count: usize, size| count.checked_mul(*size));
            let size = count.and_then(|count| count.checked_mul(tensor.format.size()));
            let Range { start, end } = tensor.place;
            if size.is_none() || end.checked_sub(start) != size || end > bytes.len() {
                let shape = &tensor.shape;
                let message = format!(
                    "of the shape {shape:?} does not lie in the {} bytes of the file; copy it again",
                    bytes.len()
                );
                return Err(Error::tensor(path, name, message));
            }
            numbers = numbers.saturating_add(count.unwrap_or(0));
        }
        if numbers > MOST_NUMBERS {
            let message = format!("holds {numbers} numbers; models of at most {MOST_NUMBERS} are read");
            return Err(Error::file(path, message));
        }
        let (used, lent, places, made) = Default::default();
        Ok(Self { path: path.into(), bytes, tensors, used, lent, places, made })
    }

    pub fn safetensors(path: &Path) -> Result<Self> {
        let bytes = disk::read(path, u64::MAX)?;
        let end = header::end(path, &bytes, bytes.len() as u64)?;
        let metadata = header::metadata(path, &bytes[..end], bytes.len() as u64)?;
        let mut tensors = BTreeMap::new();
        for (name, info) in metadata.tensors() {
            let Some(format) = NumberFormat::of(info.dtype) else {
                let message = format!("is stored as {}; F32, F16 and BF16 can be read", info.dtype);
                return Err(Error::tensor(path, name, message));
            };
            let (from, to) = info.data_offsets;
            let (shape, place) = (info.shape.clone(), end + from..end + to);
            tensors.insert(name, ForeignTensor { shape, place, format: ForeignFormat::Float(format) });
        }
        Self::new(path, bytes, tensors)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        let tensor = self.tensors.get(name).ok_or_else(|| Error::tensor(&self.path, name, "is missing"))?;
        Ok(&tensor.shape)
    }

    pub fn matrix(&self, name: &str) -> Result<[usize; 2]> {
        match self.shape(name)? {
            &[rows, columns] if rows > 0 && columns > 0 => Ok([rows, columns]),
            shape => {
                let message = format!("has the shape {shape:?} where a matrix was expected");
                Err(Error::tensor(&self.path, name, message))
            }
        }
    }

    /// How many layers there are, by the name of a tensor that each has.
    pub fn layers(&self, name: impl Fn(usize) -> String) -> Result<usize> {
        let wrong = |l: usize, message: String| Err(Error::tensor(&self.path, name(l), message));
        match (0..=MOST_LAYERS).take_while(|l| self.has(&name(*l))).count() {
            0 => wrong(0, "is missing".into()),
            count if count > MOST_LAYERS => wrong(MOST_LAYERS, format!("is of more than {MOST_LAYERS} layers")),
            count => Ok(count),
        }
    }

    pub fn is_whole(&self, name: &str) -> bool {
        self.tensors.get(name).is_none_or(|tensor| matches!(tensor.format, ForeignFormat::Whole(_)))
    }

    /// Whether two names are of the same bytes.
    pub fn same(&self, one: &str, other: &str) -> bool {
        let place = |name: &str| self.tensors.get(name).map(|tensor| (&tensor.place, tensor.format));
        place(one).is_some() && place(one) == place(other)
    }

    pub fn squeeze(&mut self, name: &str) {
        if let Some(tensor) = self.tensors.get_mut(name) {
            tensor.shape.retain(|size| *size != 1);
        }
    }

    pub fn leave(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }

    pub fn number(&mut self, name: &str) -> Result<Option<f32>> {
        if !self.has(name) {
            return Ok(None);
        }
        let numbers = self.numbers(name, 0, &[])?;
        Ok(numbers.first().copied())
    }

    /// The numbers of some rows of a tensor, from row `first`; all of it where `shape` is its shape.
    pub fn numbers(&mut self, name: &str, first: usize, shape: &[usize]) -> Result<Vec<f32>> {
        let (place, format) = self.rows(name, first, shape)?;
        let mut numbers = format.read(&self.bytes[place]);
        let name = format!("{name}{SCALE}");
        if matches!(format, ForeignFormat::Whole(_)) && !shape.is_empty() {
            self.unscale(&name, format, first, shape[0], &mut numbers)?;
        }
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(numbers);
        }
        let message =
            "holds a number that is not finite (NaN or infinity); the file is damaged or its training diverged";
        Err(Error::tensor(&self.path, name.trim_end_matches(SCALE), message))
    }

    fn unscale(
        &mut self, name: &str, format: ForeignFormat, first: usize, rows: usize, numbers: &mut [f32],
    ) -> Result<()> {
        let scales = match self.tensors.get(name).map(|scale| scale.shape.len()) {
            None if format == ForeignFormat::Whole(2) => vec![OLD_SCALE],
            Some(0) => self.numbers(name, 0, &[])?,
            _ => self.numbers(name, first, &[rows])?,
        };
        if let Some(zero) = scales.iter().find(|scale| **scale <= 0.0) {
            return Err(Error::tensor(&self.path, name, format!("holds {zero}, where a number above 0 was expected")));
        }
        let width = numbers.len() / scales.len().max(1);
        for (row, scale) in numbers.chunks_mut(width.max(1)).zip(scales) {
            for number in row {
                *number /= scale;
            }
        }
        Ok(())
    }

    /// Where rows lie: all dimensions but the first are the tensor's own, or `shape` is its whole shape.
    fn rows(&mut self, name: &str, first: usize, shape: &[usize]) -> Result<(Range<usize>, ForeignFormat)> {
        let part = self.tensors.get(name).filter(|tensor| {
            let has = tensor.shape.first().zip(shape.first());
            tensor.shape.len() == shape.len()
                && tensor.shape.get(1..) == shape.get(1..)
                && has.is_some_and(|(all, rows)| first.checked_add(*rows).is_some_and(|end| end <= *all))
        });
        if part.is_none() {
            self.check(name, shape)?;
        }
        let Some(tensor) = self.tensors.get(name).filter(|_| part.is_some() || first == 0) else {
            return Err(Error::tensor(&self.path, name, format!("has no row {first} of the shape {shape:?}")));
        };
        let row = tensor.format.size() * shape.iter().skip(1).product::<usize>();
        let start = tensor.place.start + first * row;
        let size = tensor.format.size() * shape.iter().product::<usize>();
        let found = (start..start + size, tensor.format);
        self.used.insert(name.to_owned());
        Ok(found)
    }

    pub fn check(&self, name: &str, shape: &[usize]) -> Result<()> {
        let Some(tensor) = self.tensors.get(name) else {
            return Err(Error::tensor(
                &self.path,
                name,
                format!("is missing; one of the shape {shape:?} was expected"),
            ));
        };
        let bare = |shape: &[usize]| shape[shape.iter().take_while(|size| **size == 1).count()..].to_vec();
        if bare(&tensor.shape) == bare(shape) {
            return Ok(());
        }
        let message = format!("has the shape {:?} where {shape:?} was expected", tensor.shape);
        Err(Error::tensor(&self.path, name, message))
    }

    pub fn lend(&mut self, ours: &str, theirs: &str, shape: &[usize]) -> Result<()> {
        self.check(theirs, shape)?;
        self.lend_rows(ours, theirs, 0, shape)
    }

    pub fn lend_rows(&mut self, ours: &str, theirs: &str, first: usize, shape: &[usize]) -> Result<()> {
        let (place, format) = self.rows(theirs, first, shape)?;
        let ForeignFormat::Float(format) = format else {
            let data = self.numbers(theirs, first, shape)?;
            self.make(ours, shape, data);
            return Ok(());
        };
        self.lent.push((ours.to_owned(), shape.to_vec()));
        self.places.push((place, format));
        Ok(())
    }

    pub fn make(&mut self, ours: &str, shape: &[usize], data: Vec<f32>) {
        self.made.push((ours.to_owned(), Array { shape: shape.to_vec(), data }));
    }

    pub fn lend_or_zeros(&mut self, ours: &str, theirs: &str, first: usize, size: usize) -> Result<()> {
        if self.has(theirs) {
            return self.lend_rows(ours, theirs, first, &[size]);
        }
        self.make(ours, &[size], vec![0.0; size]);
        Ok(())
    }

    pub fn finish(mut self) -> Result<Weights> {
        let scales: Vec<String> = self.used.iter().map(|name| format!("{name}{SCALE}")).collect();
        self.used.extend(scales);
        if let Some(extra) = self.tensors.keys().find(|name| !self.used.contains(*name)) {
            return Err(Error::tensor(&self.path, extra, "is not part of any architecture that is read here"));
        }
        let mut weights = Weights::of(&self.path, &self.bytes, &self.lent, self.places)?;
        for (name, array) in self.made {
            weights.insert(name, array);
        }
        Ok(weights)
    }
}
