//! Marian's `.bin`, as Firefox Translations and Bergamot ship it: numbers of 32 bits, or integers of 8 and 16
//! with a multiplier behind them (intgemm), of browsermt's Marian and of the upstream one.
//!
//! | bytes | what |
//! |---|---|
//! | u64 = 1, u64 n | version, tensors |
//! | n times u64 x 4 | bytes of the name with its NUL, type, dimensions, bytes of the numbers |
//! | names; i32 for each dimension | |
//! | u64 | bytes to the numbers, which begin at a multiple of 256 |
//!
//! Integers are stored \[out, in\], whatever the shape says, but for browsermt's `Wemb`; the value is q / multiplier.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, ops::Range};

use half::f16;

use crate::error::{Error, Result};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::marian::{self, MarianTensors};
use crate::models::origins::marian_options::{MarianOptions, OPTIONS};
use crate::models::{checkpoint::Array, disk, header::MOST_NUMBERS, origins::marian_files};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Marian bin",
    about: "Models of Firefox Translations, translateLocally and Bergamot: a folder with a .bin and .spm, or the .bin",
    finds: |path| !files(path).is_empty(),
    read,
};

const VERSION: u64 = 1;
const MOST_BYTES: u64 = 6 << 30;
const MOST_TENSORS: u64 = 1 << 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    Float32,
    Float16,
    Int8,
    /// Integers with a multiplier; of how many bytes, and whether by browsermt's Marian.
    Quantized(usize, bool),
}

impl NumberType {
    fn of(code: u64) -> Option<Self> {
        match code {
            0x404 => Some(Self::Float32),
            0x402 => Some(Self::Float16),
            0x101 => Some(Self::Int8),
            0x4101 => Some(Self::Quantized(1, true)),
            0x4102 => Some(Self::Quantized(2, true)),
            0x10001 => Some(Self::Quantized(1, false)),
            0x10002 => Some(Self::Quantized(2, false)),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float16 => 2,
            Self::Int8 => 1,
            Self::Quantized(size, _) => size,
        }
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct MarianBin {
    path: PathBuf,
    bytes: Vec<u8>,
    tensors: BTreeMap<String, (u64, Vec<usize>, Range<usize>)>,
}

struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    place: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8]> {
        let end = self.place.checked_add(size).filter(|end| *end <= self.bytes.len());
        let cut = || Error::file(self.path, "ends before its tensors do; it is damaged, so copy or download it again");
        let taken = &self.bytes[self.place..end.ok_or_else(cut)?];
        self.place += size;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = [0; 8];
        number.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(number))
    }

    fn size(&mut self) -> Result<usize> {
        self.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }
}

impl MarianBin {
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = disk::read(path, MOST_BYTES)?;
        let mut cursor = Cursor { path, bytes: &bytes, place: 0 };
        let version = cursor.number()?;
        if version != VERSION {
            let message = format!("is of version {version}; version {VERSION} of Marian's binary format is read");
            return Err(Error::file(path, message));
        }
        let count = cursor.number()?;
        if count > MOST_TENSORS {
            return Err(Error::file(path, format!("has {count} tensors; at most {MOST_TENSORS} are read")));
        }
        let mut heads = Vec::new();
        for _ in 0..count {
            heads.push([cursor.size()?, cursor.size()?, cursor.size()?, cursor.size()?]);
        }
        let mut names = Vec::new();
        for [length, ..] in &heads {
            let name = cursor.take(*length)?;
            names.push(String::from_utf8_lossy(name.strip_suffix(b"\0").unwrap_or(name)).into_owned());
        }
        let mut shapes = Vec::new();
        for [_, _, dimensions, _] in &heads {
            let sizes = cursor.take(dimensions.saturating_mul(4))?.as_chunks::<4>().0.iter();
            shapes.push(sizes.map(|size| i32::from_le_bytes(*size)).collect::<Vec<i32>>());
        }
        let padding = cursor.size()?;
        cursor.take(padding)?;
        let mut tensors = BTreeMap::new();
        for (([_, code, _, length], name), shape) in heads.into_iter().zip(names).zip(shapes) {
            let start = cursor.place;
            cursor.take(length)?;
            let code = code as u64;
            let shape: Vec<usize> = shape.into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
            let numbers = shape.iter().fold(1, |product: usize, size| product.saturating_mul(*size));
            let end = match NumberType::of(code) {
                Some(kind @ NumberType::Quantized(..)) => numbers.saturating_mul(kind.size()).saturating_add(4),
                Some(kind) => numbers.saturating_mul(kind.size()),
                None => length,
            };
            if end > length || numbers > MOST_NUMBERS {
                let message = format!("has {length} bytes, fewer than the shape {shape:?} needs; the file is damaged");
                return Err(Error::tensor(path, name, message));
            }
            tensors.insert(name, (code, shape, start..start + end));
        }
        Ok(Self { path: path.into(), tensors, bytes })
    }

    pub fn is_browsermt(&self) -> bool {
        let kinds = self.tensors.values().map(|(code, ..)| NumberType::of(*code));
        kinds.flatten().any(|kind| matches!(kind, NumberType::Quantized(_, true)))
    }

    pub fn options(&self) -> Result<MarianOptions> {
        let Some((_, _, place)) = self.tensors.get(OPTIONS) else {
            return Err(Error::file(&self.path, format!("has no `{OPTIONS}`; it is no model of Marian")));
        };
        Ok(MarianOptions::new(&self.path, &String::from_utf8_lossy(&self.bytes[place.clone()])))
    }

    fn refuse(&self, name: &str, message: impl Into<String>) -> Error {
        Error::tensor(&self.path, name, message.into())
    }

    fn quantized(&self, name: &str, place: Range<usize>) -> Result<(&[u8], f32)> {
        let bytes = &self.bytes[place];
        let (integers, multiplier) = bytes.split_at(bytes.len().saturating_sub(4));
        let multiplier = multiplier.as_chunks().0.first().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        if multiplier.is_normal() {
            return Ok((integers, multiplier));
        }
        Err(self.refuse(name, format!("has the multiplier {multiplier}, by which nothing can be divided")))
    }

    /// The numbers as they lie in the file, and whether those are \[out, in\].
    fn numbers(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>, bool)> {
        let refuse = |message: String| self.refuse(name, message);
        let Some((code, shape, place)) = self.tensors.get(name) else { return Err(refuse("is missing".into())) };
        let bytes = &self.bytes[place.clone()];
        let four = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
        let kind = NumberType::of(*code).ok_or_else(|| {
            refuse(format!(
                "is stored as type {code:#x}, which is packed for one kind of processor or unknown; convert the model with \
                 `marian-conv --gemm-type float32`"
            ))
        })?;
        let numbers: Vec<f32> = match kind {
            NumberType::Float32 => bytes.as_chunks().0.iter().map(four).collect(),
            NumberType::Float16 => bytes.as_chunks().0.iter().map(|half| f16::from_le_bytes(*half).to_f32()).collect(),
            NumberType::Int8 => bytes.iter().map(|byte| f32::from(i8::from_le_bytes([*byte]))).collect(),
            NumberType::Quantized(size, _) => {
                let (integers, multiplier) = self.quantized(name, place.clone())?;
                let pairs = || integers.as_chunks().0.iter().map(|pair| f32::from(i16::from_le_bytes(*pair)));
                let single = || integers.iter().map(|byte| f32::from(i8::from_le_bytes([*byte])));
                let by = |integer: f32| integer / multiplier;
                if size == 1 { single().map(by).collect() } else { pairs().map(by).collect() }
            }
        };
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(refuse("holds a number that is not finite; the file is damaged".into()));
        }
        Ok((numbers, shape.clone(), matches!(kind, NumberType::Quantized(..)) && !is_embedding(name)))
    }
}

fn is_embedding(name: &str) -> bool {
    name.ends_with("Wemb")
}

impl MarianTensors for MarianBin {
    fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.tensors.get(name).map(|(_, shape, _)| shape.clone())
    }

    fn array(&mut self, name: &str) -> Result<Array> {
        let (data, shape, is_turned) = self.numbers(name)?;
        match *shape {
            [rows, columns] if is_turned => Ok(Array { shape: vec![columns, rows], data }.transposed()),
            _ => Ok(Array { shape, data }),
        }
    }

    fn turned(&mut self, name: &str) -> Result<Array> {
        let (data, shape, is_turned) = self.numbers(name)?;
        match *shape {
            [rows, columns] if is_turned => Ok(Array { shape: vec![columns, rows], data }),
            _ => Ok(Array { shape, data }.transposed()),
        }
    }

    fn integers(&mut self, name: &str, turned: bool) -> Result<Option<(Vec<i8>, f32)>> {
        match self.tensors.get(name) {
            Some((code, _, place))
                if matches!(NumberType::of(*code), Some(NumberType::Quantized(1, _)))
                    && turned != is_embedding(name) =>
            {
                let (integers, multiplier) = self.quantized(name, place.clone())?;
                Ok(Some((integers.iter().map(|byte| byte.cast_signed()).collect(), multiplier)))
            }
            _ => Ok(None),
        }
    }
}

fn files(path: &Path) -> Vec<PathBuf> {
    marian_files::model_files(path, "bin", |start| start.starts_with(&VERSION.to_le_bytes()))
}

fn read(path: &Path) -> Result<Foreign> {
    let file = marian_files::chosen(path, files(path))?;
    let mut found = MarianBin::open(&file)?;
    let options = found.options()?;
    let toolkit = if found.is_browsermt() { marian::BERGAMOT } else { ENTRY.name };
    marian::read(&file, &mut found, &options, toolkit)
}
