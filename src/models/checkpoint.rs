//! Floor 3: weights, read from and written to safetensors files.
//!
//! A file is read into one buffer, checked there, and stays as it is stored: each tensor is widened
//! to `f32` when it is asked for, straight into the place where it is wanted. A model that is packed for
//! decoding never holds its weights twice. No memory mapping, no `unsafe`. Everything that is wrong with
//! a file is a sentence that names it.

use std::collections::BTreeMap;
use std::io;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use candle_core::{Device, Tensor};
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::error::{Error, Result};
use crate::text::write::write_inside;

/// Numbers widened at a time: small enough for the first-level cache, large enough to share out.
const BLOCK: usize = 4096;

/// One tensor on the host, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its numbers, the last dimension fastest.
    pub data: Vec<f32>,
}

/// The weights of a model by name, as `f32`.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    path: PathBuf,
    slots: BTreeMap<String, Slot>,
    /// The file that they were read from.
    file: Option<Arc<Vec<u8>>>,
}

/// A tensor as it lies in the file, as it was asked for, or both.
#[derive(Clone, Debug)]
struct Slot {
    shape: Vec<usize>,
    stored: Option<Stored>,
    wide: OnceLock<Array>,
}

/// Checked numbers of a file.
#[derive(Clone, Debug)]
struct Stored {
    file: Arc<Vec<u8>>,
    place: Range<usize>,
    kind: Kind,
}

/// How the numbers of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F16,
    F32,
}

/// A tensor of which single rows are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    slot: &'a Slot,
    /// How many there are.
    pub count: usize,
    /// Numbers of each.
    pub width: usize,
}

impl Rows<'_> {
    /// Row `row`, in `buffer` where it has to be widened.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn get<'b>(&'b self, row: usize, buffer: &'b mut Vec<f32>) -> &'b [f32] {
        if let Some(array) = self.slot.wide.get() {
            return &array.data[row * self.width..(row + 1) * self.width];
        }
        buffer.resize(self.width, 0.0);
        if let Some(Stored { file, place, kind }) = &self.slot.stored {
            let bytes = &file[place.clone()][row * self.width * kind.size()..(row + 1) * self.width * kind.size()];
            match kind {
                Kind::F32 => widen_f32(buffer, bytes),
                Kind::F16 => buffer.chunks_mut(64).zip(bytes.chunks(128)).for_each(|(x, bytes)| {
                    let mut halves = [f16::ZERO; 64];
                    let words = bytes.as_chunks::<2>().0.iter();
                    halves.iter_mut().zip(words).for_each(|(half, word)| *half = f16::from_le_bytes(*word));
                    halves[..x.len()].convert_to_f32_slice(x);
                }),
            }
        }
        buffer
    }
}

impl PartialEq for Weights {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.iter().eq(other.iter())
    }
}

impl Slot {
    fn array(&self) -> &Array {
        self.wide.get_or_init(|| Array { shape: self.shape.clone(), data: self.to_vec() })
    }

    /// Its numbers behind those in `all`; nothing is kept.
    fn append_to(&self, all: &mut Vec<f32>) {
        match (self.wide.get(), &self.stored) {
            (Some(array), _) => all.extend_from_slice(&array.data),
            (None, Some(stored)) => stored.append_to(all),
            (None, None) => {}
        }
    }

    fn to_vec(&self) -> Vec<f32> {
        let mut data = Vec::new();
        self.append_to(&mut data);
        data
    }
}

impl Stored {
    fn append_to(&self, all: &mut Vec<f32>) {
        let bytes = &self.file[self.place.clone()];
        let first = all.len();
        all.resize(first + bytes.len() / self.kind.size(), 0.0);
        let widen = self.kind.widen();
        let blocks = all[first..].par_chunks_mut(BLOCK).with_min_len(16);
        blocks.zip(bytes.par_chunks(BLOCK * self.kind.size())).for_each(|(numbers, bytes)| widen(numbers, bytes));
    }
}

impl Kind {
    fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::F16 => Some(Self::F16),
            Dtype::F32 => Some(Self::F32),
            _ => None,
        }
    }

    /// Bytes of a number.
    fn size(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    fn widen(self) -> fn(&mut [f32], &[u8]) {
        match self {
            Self::F16 => widen_f16,
            Self::F32 => widen_f32,
        }
    }

    /// Whether no number is infinite or NaN: those have all bits of the exponent set.
    fn is_finite(self, bytes: &[u8]) -> bool {
        match self {
            Self::F16 => {
                let (words, _) = bytes.as_chunks::<2>();
                words.iter().fold(true, |finite, word| finite & (u16::from_le_bytes(*word) & 0x7c00 != 0x7c00))
            }
            Self::F32 => {
                let (words, _) = bytes.as_chunks::<4>();
                words.iter().fold(true, |finite, word| finite & f32::from_le_bytes(*word).is_finite())
            }
        }
    }
}

impl Weights {
    /// No weights yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a safetensors file of `f32` or `f16` that holds exactly the `expected` names and shapes.
    ///
    /// # Errors
    /// A sentence that names the file, and the tensor where one is missing, unexpected, of another
    /// shape or type, or holds a number that is not finite.
    pub fn load(path: &Path, expected: &[(String, Vec<usize>)]) -> Result<Self> {
        let buffer = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
        Self::from_file(path, buffer, expected)
    }

    /// As [`Weights::load`], from the bytes of the file; `path` is only named in errors.
    pub fn from_bytes(path: &Path, buffer: &[u8], expected: &[(String, Vec<usize>)]) -> Result<Self> {
        Self::from_file(path, buffer.to_vec(), expected)
    }

    /// As [`Weights::from_bytes`]; the buffer is kept and nothing is copied.
    pub fn from_file(path: &Path, buffer: Vec<u8>, expected: &[(String, Vec<usize>)]) -> Result<Self> {
        let places = places(path, &buffer, expected)?;
        let file = Arc::new(buffer);
        let slot = |(name, shape): &(String, Vec<usize>), (place, kind)| {
            let stored = Some(Stored { file: Arc::clone(&file), place, kind });
            (name.clone(), Slot { shape: shape.clone(), stored, wide: OnceLock::new() })
        };
        let slots = expected.iter().zip(places).map(|(entry, found)| slot(entry, found)).collect();
        Ok(Self { path: path.into(), slots, file: Some(file) })
    }

    /// The bytes of the file that they were read from.
    pub fn file(&self) -> Option<&[u8]> {
        self.file.as_deref().map(Vec::as_slice)
    }

    /// Writes a safetensors file, as `f16` if `half`: under a temporary name in the same folder,
    /// synchronised, then renamed, so that no reader ever sees half a file.
    pub fn save(&self, path: &Path, half: bool) -> Result<()> {
        let (size, dtype) = if half { (2, "F16") } else { (4, "F32") };
        if half
            && let Some((name, _)) =
                self.iter().find(|(_, array)| array.data.iter().any(|x| !f16::from_f32(*x).is_finite()))
        {
            return Err(Error::tensor(path, name, "holds a number too large for f16; write f32 instead"));
        }
        let header = self.header(size, dtype);
        write_inside(path, |out| {
            out.write_all(&(header.len() as u64).to_le_bytes())?;
            out.write_all(header.as_bytes())?;
            for (_, array) in self.iter() {
                write_numbers(out, &array.data, half)?;
            }
            Ok(())
        })
    }

    /// The JSON header: a line of names, types, shapes and places, padded to 8 bytes.
    fn header(&self, size: usize, dtype: &str) -> String {
        let mut map = serde_json::Map::new();
        let mut offset = 0;
        for (name, array) in self.iter() {
            let end = offset + array.data.len() * size;
            map.insert(
                name.to_owned(),
                serde_json::json!({"dtype": dtype, "shape": array.shape, "data_offsets": [offset, end]}),
            );
            offset = end;
        }
        let text = serde_json::Value::Object(map).to_string();
        let padded = text.len().next_multiple_of(8);
        format!("{text:<padded$}")
    }

    fn slot(&self, name: &str) -> Result<&Slot> {
        self.slots.get(name).ok_or_else(|| Error::tensor(&self.path, name, "is missing"))
    }

    /// The array of that name. It is widened at the first call and then kept; what is only needed for a moment is
    /// had from [`Weights::numbers`].
    ///
    /// # Errors
    /// When there is none; the sentence names the tensor.
    pub fn get(&self, name: &str) -> Result<&Array> {
        self.slot(name).map(Slot::array)
    }

    /// A copy of the numbers of that name.
    pub fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        self.slot(name).map(Slot::to_vec)
    }

    /// As [`Weights::numbers`], behind those that are in `all` already.
    pub fn append(&self, name: &str, all: &mut Vec<f32>) -> Result<()> {
        self.slot(name).map(|slot| slot.append_to(all))
    }

    /// The tensor of that name row by row, read where it lies.
    pub fn rows(&self, name: &str) -> Result<Rows<'_>> {
        let slot = self.slot(name)?;
        let count = slot.shape.first().copied().unwrap_or(0);
        Ok(Rows { slot, count, width: slot.shape.iter().skip(1).product() })
    }

    /// Puts an array in the place of that name.
    pub fn insert(&mut self, name: impl Into<String>, array: Array) {
        let slot = Slot { shape: array.shape.clone(), stored: None, wide: OnceLock::from(array) };
        self.slots.insert(name.into(), slot);
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.keys().map(String::as_str)
    }

    /// Names and arrays, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.slots.iter().map(|(name, slot)| (name.as_str(), slot.array()))
    }

    /// Names and arrays to be changed in place, sorted by name.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Array)> {
        self.slots.iter_mut().filter_map(|(name, slot)| {
            slot.array();
            slot.wide.get_mut().map(|array| (name.as_str(), array))
        })
    }

    /// How many numbers there are in all.
    pub fn parameters(&self) -> usize {
        self.slots.values().map(|slot| slot.shape.iter().product::<usize>()).sum()
    }

    /// A copy of the array of that name as a tensor on `device`.
    pub fn tensor(&self, name: &str, device: &Device) -> Result<Tensor> {
        let slot = self.slot(name)?;
        Ok(Tensor::from_vec(slot.to_vec(), slot.shape.as_slice(), device)?)
    }
}

/// Where the numbers of each of the `expected` tensors lie in a file; all are finite.
fn places(path: &Path, buffer: &[u8], expected: &[(String, Vec<usize>)]) -> Result<Vec<(Range<usize>, Kind)>> {
    let file = SafeTensors::deserialize(buffer).map_err(|error| Error::file(path, what_is_wrong(buffer, &error)))?;
    let mut views = Vec::with_capacity(expected.len());
    for (name, shape) in expected {
        let view = file
            .tensor(name)
            .map_err(|_| Error::tensor(path, name, "is missing; this file does not fit its config.json"))?;
        if view.shape() != shape.as_slice() {
            let message = format!("has the shape {:?} where the config.json asks for {shape:?}", view.shape());
            return Err(Error::tensor(path, name, message));
        }
        views.push((name, view));
    }
    if let Some(extra) = file.names().into_iter().filter(|name| !expected.iter().any(|(known, _)| known == name)).min()
    {
        let message = "is not part of this architecture; the file belongs to another model";
        return Err(Error::tensor(path, extra, message));
    }
    let start = buffer.as_ptr() as usize;
    let place = |(name, view): (&String, TensorView<'_>)| {
        let kind = kind(path, name, &view)?;
        let first = view.data().as_ptr() as usize - start;
        Ok((first..first + view.data().len(), kind))
    };
    views.into_iter().map(place).collect()
}

/// Why a buffer is no safetensors file, as a sentence without its subject.
fn what_is_wrong(buffer: &[u8], error: &SafeTensorError) -> String {
    const FOREIGN: &str = "is not a safetensors file; only models in the safetensors format can be read";
    if buffer.is_empty() {
        return "is empty; copy or download it again".into();
    }
    // A header that begins as JSON shows that the rest was lost, not that the file is foreign.
    let looks_right = buffer.len() > 8 && buffer[8] == b'{';
    match error {
        SafeTensorError::InvalidHeaderLength
        | SafeTensorError::MetadataIncompleteBuffer
        | SafeTensorError::HeaderTooSmall
            if looks_right =>
        {
            format!(
                "is truncated or damaged (it has {} bytes, not what its header says); copy or download it again",
                buffer.len()
            )
        }
        _ if looks_right => format!("has a damaged header ({error}); copy or download it again"),
        _ => FOREIGN.into(),
    }
}

/// How the numbers of a view are stored; all are finite.
fn kind(path: &Path, name: &str, view: &TensorView<'_>) -> Result<Kind> {
    let Some(kind) = Kind::of(view.dtype()) else {
        let message = format!("is stored as {}; only F32 and F16 can be read, so convert the file", view.dtype());
        return Err(Error::tensor(path, name, message));
    };
    if view.data().par_chunks(16 * BLOCK).all(|bytes| kind.is_finite(bytes)) {
        return Ok(kind);
    }
    let message = "holds a number that is not finite (NaN or infinity); the file is damaged or its training diverged";
    Err(Error::tensor(path, name, message))
}

fn widen_f32(numbers: &mut [f32], bytes: &[u8]) {
    let (words, _) = bytes.as_chunks::<4>();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = f32::from_le_bytes(*word);
    }
}

fn widen_f16(numbers: &mut [f32], bytes: &[u8]) {
    let mut halves = [f16::ZERO; BLOCK];
    let (words, _) = bytes.as_chunks::<2>();
    for (half, word) in halves.iter_mut().zip(words) {
        *half = f16::from_le_bytes(*word);
    }
    halves[..numbers.len()].convert_to_f32_slice(numbers);
}

fn write_numbers(out: &mut impl io::Write, data: &[f32], half: bool) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(BLOCK * 4);
    for block in data.chunks(BLOCK) {
        bytes.clear();
        if half {
            bytes.extend(block.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()));
        } else {
            bytes.extend(block.iter().flat_map(|x| x.to_le_bytes()));
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}
