//! Floor 3: weights, read from and written to safetensors files.
//!
//! The header of a file is checked before the body is read ([`header`]). The file stays as it
//! is stored, in one buffer: each tensor is widened
//! to `f32` when it is asked for, straight into the place where it is wanted. A model that is packed for
//! decoding never holds its weights twice. No memory mapping, no `unsafe`. Everything that is wrong with
//! a file is a sentence that names it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use candle_core::{Device, Tensor};
use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use rayon::prelude::*;
use safetensors::Dtype;
use safetensors::tensor::View;

use crate::error::{Error, Result};
use crate::models::header::{NumberFormat, TensorPlace};
use crate::models::{disk, header};
use crate::text::write::write_inside;

/// Numbers widened at a time: small enough for the first-level cache, large enough to share out.
const BLOCK: usize = 4096;

/// Called with the share of a file that is read, from 0 to 1.
pub type Progress<'a> = &'a mut dyn FnMut(f32);

/// One tensor on the host, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its numbers, the last dimension fastest.
    pub data: Vec<f32>,
}

impl Array {
    /// Rows as columns; what has other than two dimensions stays as it is.
    pub fn transposed(self) -> Self {
        let &[rows, columns] = self.shape.as_slice() else { return self };
        let data = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
        Self { data: data.map(|place| self.data[place]).collect(), shape: vec![columns, rows] }
    }
}

/// The weights of a model by name, as `f32`.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    path: PathBuf,
    slots: BTreeMap<String, Slot>,
    /// The file that they were read from.
    file: Option<Arc<Vec<u8>>>,
    /// See [`Weights::guided`].
    guided: Option<String>,
}

/// The key of the file's metadata that says how the attention was guided.
const GUIDED: &str = "guided";

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
    kind: NumberFormat,
}

/// A tensor of which single rows are wanted.
#[derive(Clone, Copy, Debug)]
pub struct TensorRows<'a> {
    slot: &'a Slot,
    /// How many there are.
    pub count: usize,
    /// Numbers of each.
    pub width: usize,
}

impl TensorRows<'_> {
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
                NumberFormat::F32 => widen_f32(buffer, bytes),
                NumberFormat::F16 => buffer.chunks_mut(64).zip(bytes.chunks(128)).for_each(|(x, bytes)| {
                    let mut halves = [f16::ZERO; 64];
                    let words = bytes.as_chunks::<2>().0.iter();
                    halves.iter_mut().zip(words).for_each(|(half, word)| *half = f16::from_le_bytes(*word));
                    halves[..x.len()].convert_to_f32_slice(x);
                }),
                NumberFormat::Bf16 => widen_bf16(buffer, bytes),
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

impl NumberFormat {
    /// The numbers of some bytes.
    pub(super) fn read(self, bytes: &[u8]) -> Vec<f32> {
        let mut numbers = vec![0.0; bytes.len() / self.size()];
        let blocks = numbers.chunks_mut(BLOCK).zip(bytes.chunks(BLOCK * self.size()));
        blocks.for_each(|(numbers, bytes)| self.widen()(numbers, bytes));
        numbers
    }

    fn widen(self) -> fn(&mut [f32], &[u8]) {
        match self {
            Self::Bf16 => widen_bf16,
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
            Self::Bf16 => {
                let (words, _) = bytes.as_chunks::<2>();
                words.iter().fold(true, |finite, word| finite & (u16::from_le_bytes(*word) & 0x7f80 != 0x7f80))
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
        Self::load_with(path, expected, &mut |_| {})
    }

    /// As [`Weights::load`]; `progress` is called with the share that is read.
    pub fn load_with(path: &Path, expected: &[(String, Vec<usize>)], progress: Progress<'_>) -> Result<Self> {
        let (buffer, places) = read(path, expected, progress)?;
        Self::of(path, buffer, expected, places)
    }

    /// Tensors that lie in the bytes of a file, which is kept; nothing is copied.
    pub(super) fn of(
        path: &Path,
        buffer: Vec<u8>,
        expected: &[(String, Vec<usize>)],
        places: Vec<TensorPlace>,
    ) -> Result<Self> {
        check_finite(path, &buffer, expected, &places)?;
        let file = Arc::new(buffer);
        let slot = |(name, shape): &(String, Vec<usize>), (place, kind)| {
            let stored = Some(Stored { file: Arc::clone(&file), place, kind });
            (name.clone(), Slot { shape: shape.clone(), stored, wide: OnceLock::new() })
        };
        let slots = expected.iter().zip(places).map(|(entry, found)| slot(entry, found)).collect();
        let guided = header::note(&file, GUIDED);
        Ok(Self { path: path.into(), slots, guided, file: Some(file) })
    }

    /// Where training put a cost on alpha from given links: the reading of the rows that it was put on, `predicted`
    /// or `input`. It stands in the metadata of the file.
    pub fn guided(&self) -> Option<&str> {
        self.guided.as_deref()
    }

    /// Says what [`Weights::guided`] says.
    pub fn set_guided(&mut self, reading: Option<String>) {
        self.guided = reading;
    }

    /// What [`Weights::guided`] says of a file; `None` also where it cannot be read.
    pub fn guided_in(path: &Path) -> Option<String> {
        let (mut file, length) = disk::open(path).ok()?;
        let mut start = Vec::new();
        (&mut file).take(header::LENGTH_BYTES as u64 + 1).read_to_end(&mut start).ok()?;
        let rest = header::end(path, &start, length).ok()?.saturating_sub(start.len());
        file.take(rest as u64).read_to_end(&mut start).ok()?;
        header::note(&start, GUIDED)
    }

    /// The bytes of the file that they were read from.
    pub fn file(&self) -> Option<&[u8]> {
        self.file.as_deref().map(Vec::as_slice)
    }

    /// Writes a safetensors file, as `f16` if `half`: under a temporary name in the same folder,
    /// synchronised, then renamed, so that no reader ever sees half a file.
    pub fn save(&self, path: &Path, half: bool) -> Result<()> {
        if half
            && let Some((name, _)) =
                self.iter().find(|(_, array)| array.data.iter().any(|x| !f16::from_f32(*x).is_finite()))
        {
            return Err(Error::tensor(path, name, "holds a number too large for f16; write f32 instead"));
        }
        let tensors = self.iter().map(|(name, array)| (name, Written { array, half }));
        let notes = self.guided.clone().map(|reading| HashMap::from([(GUIDED.to_owned(), reading)]));
        let file = safetensors::serialize(tensors, notes)
            .map_err(|error| Error::file(path, format!("could not be written: {error}")))?;
        write_inside(path, |out| out.write_all(&file))
    }

    fn slot(&self, name: &str) -> Result<&Slot> {
        self.slots.get(name).ok_or_else(|| Error::tensor(&self.path, name, "is missing"))
    }

    /// The array of that name. It is widened at the first call and then kept; [`Weights::numbers`] keeps
    /// nothing.
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
    pub fn rows(&self, name: &str) -> Result<TensorRows<'_>> {
        let slot = self.slot(name)?;
        let count = slot.shape.first().copied().unwrap_or(0);
        Ok(TensorRows { slot, count, width: slot.shape.iter().skip(1).product() })
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

    /// Copies of all arrays by their names.
    pub fn tensors(&self, device: &Device) -> Result<HashMap<String, Tensor>> {
        self.names().map(|name| Ok((name.to_owned(), self.tensor(name, device)?))).collect()
    }
}

/// A tensor as it is written to a file.
struct Written<'a> {
    array: &'a Array,
    half: bool,
}

impl View for Written<'_> {
    fn dtype(&self) -> Dtype {
        if self.half { Dtype::F16 } else { Dtype::F32 }
    }

    fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let numbers = self.array.data.iter();
        Cow::Owned(if self.half {
            numbers.flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect()
        } else {
            numbers.flat_map(|x| x.to_le_bytes()).collect()
        })
    }

    fn data_len(&self) -> usize {
        self.array.data.len() * if self.half { 2 } else { 4 }
    }
}

/// Every number of each tensor is finite.
fn check_finite(path: &Path, buffer: &[u8], expected: &[(String, Vec<usize>)], places: &[TensorPlace]) -> Result<()> {
    let message = "holds a number that is not finite (NaN or infinity); the file is damaged or its training diverged";
    for ((name, _), (place, kind)) in expected.iter().zip(places) {
        if !buffer[place.clone()].par_chunks(16 * BLOCK).all(|bytes| kind.is_finite(bytes)) {
            return Err(Error::tensor(path, name, message));
        }
    }
    Ok(())
}

/// The bytes of a weights file, its header checked before its body is read, and where the tensors lie in them.
fn read(path: &Path, expected: &[(String, Vec<usize>)], progress: Progress<'_>) -> Result<(Vec<u8>, Vec<TensorPlace>)> {
    const PIECE: u64 = 4 << 20;
    let sentence = |error| Error::io(path, &error);
    let (mut file, length) = disk::open(path)?;
    let mut bytes = Vec::new();
    let more = |bytes: &mut Vec<u8>, file: &mut File, count| file.take(count).read_to_end(bytes).map_err(sentence);
    more(&mut bytes, &mut file, header::LENGTH_BYTES as u64 + 1)?;
    let end = header::end(path, &bytes, length)?;
    let rest = (end - bytes.len()) as u64;
    more(&mut bytes, &mut file, rest)?;
    let places = header::places(path, &bytes, length, expected)?;
    let body = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(bytes.len());
    if bytes.try_reserve_exact(body).is_err() {
        return Err(Error::file(path, format!("has {length} bytes, more than there is memory for")));
    }
    while more(&mut bytes, &mut file, PIECE)? > 0 {
        progress((bytes.len() as f32 / length.max(1) as f32).min(1.0));
    }
    if bytes.len() as u64 != length {
        return Err(header::truncated(path, bytes.len() as u64));
    }
    Ok((bytes, places))
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

fn widen_bf16(numbers: &mut [f32], bytes: &[u8]) {
    let (words, _) = bytes.as_chunks::<2>();
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = bf16::from_le_bytes(*word).to_f32();
    }
}
