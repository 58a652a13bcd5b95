//! Weights in safetensors files: the header is checked before the body is read ([`header`]), tensors are widened to
//! `f32` when asked for, and what is packed is handed over ([`Weights::hand_over`]), so that a model holds weights
//! once.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use candle_core::{Device, Tensor};
use half::f16;
use rayon::prelude::*;
use safetensors::{Dtype, tensor::TensorView};

use crate::error::{Error, Result};
use crate::models::header::{NumberFormat, SCALE, TensorPlace};
use crate::models::stored::{BLOCK, IntegerMatrix, Stored, in_8_bits};
use crate::models::{disk, header};
use crate::nn::fused::integers::{PackedIntegers, Rounding};
use crate::nn::fused::{Packed, elementwise::dot_short};
use crate::nn::linear::ROUNDING;
use crate::text::write::write_inside;

/// Called with the share of a file that is read, from 0 to 1.
pub type Progress<'a> = &'a mut dyn FnMut(f32);

/// One tensor on the host, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    pub data: Vec<f32>,
}

impl Array {
    /// Rows as columns; unchanged unless it has two dimensions.
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
    /// The parts of the file that they were read from, in its order.
    file: Vec<FilePart>,
    guided: Option<String>,
}

const GUIDED: &str = "guided";

#[derive(Clone, Debug)]
enum FilePart {
    Bytes(Vec<u8>),
    Tensor(String, NumberFormat),
}

#[derive(Debug)]
struct Slot {
    shape: Vec<usize>,
    stored: RwLock<Option<Arc<Stored>>>,
    wide: OnceLock<Array>,
}

/// A tensor that is read row by row.
#[derive(Clone, Debug)]
pub struct TensorRows<'a> {
    wide: Option<&'a Array>,
    stored: Option<Arc<Stored>>,
    pub count: usize,
    pub width: usize,
}

impl TensorRows<'_> {
    /// Row `row`, widened into `buffer` if needed; panics if there is none.
    pub fn get<'b>(&'b self, row: usize, buffer: &'b mut Vec<f32>) -> &'b [f32] {
        match (self.wide, &self.stored) {
            (Some(array), _) => &array.data[row * self.width..(row + 1) * self.width],
            (None, Some(stored)) => {
                stored.row(row, self.width, buffer);
                buffer
            }
            (None, None) => &[],
        }
    }

    /// Row `row` times x [width]; `buffer` is what it may be widened into. Panics if there is none.
    pub fn dot(&self, row: usize, x: &[f32], buffer: &mut Vec<f32>) -> f32 {
        match (self.wide, &self.stored) {
            (None, Some(stored)) => stored.dot(row, x, buffer),
            _ => dot_short(self.get(row, buffer), x),
        }
    }
}

impl PartialEq for Weights {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.iter().eq(other.iter())
    }
}

impl Clone for Slot {
    fn clone(&self) -> Self {
        Self { shape: self.shape.clone(), stored: RwLock::new(self.stored()), wide: self.wide.clone() }
    }
}

impl Slot {
    fn new(shape: &[usize], stored: Stored) -> Self {
        Self { shape: shape.to_vec(), stored: RwLock::new(Some(Arc::new(stored))), wide: OnceLock::new() }
    }

    fn stored(&self) -> Option<Arc<Stored>> {
        self.stored.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn array(&self) -> &Array {
        self.wide.get_or_init(|| Array { shape: self.shape.clone(), data: self.to_vec() })
    }

    fn append_to(&self, all: &mut Vec<f32>) {
        match (self.wide.get(), self.stored()) {
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

    fn hand_over(&self, stored: Stored) {
        if self.wide.get().is_none() {
            *self.stored.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(stored));
        }
    }
}

impl Weights {
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a safetensors file of `f32` or `f16` that holds exactly the `expected` names and shapes.
    pub fn load(path: &Path, expected: &[(String, Vec<usize>)]) -> Result<Self> {
        Self::load_with(path, expected, &mut |_| {})
    }

    pub fn load_with(path: &Path, expected: &[(String, Vec<usize>)], progress: Progress<'_>) -> Result<Self> {
        Self::read_from(path, disk::open(path)?, expected, progress)
    }

    pub fn read_from(
        path: &Path, file: (impl std::io::Read, u64), expected: &[(String, Vec<usize>)], progress: Progress<'_>,
    ) -> Result<Self> {
        let ReadFile { parts, tensors, scales } = read(path, file, expected, progress)?;
        let mut weights = Self { path: path.into(), file: parts, ..Self::default() };
        weights.store(expected, tensors.into_iter())?;
        for (name, bytes) in scales {
            weights.scale(&name, &bytes)?;
        }
        if let Some(FilePart::Bytes(start)) = weights.file.first() {
            weights.guided = header::note(start, GUIDED);
        }
        Ok(weights)
    }

    pub(super) fn of(
        path: &Path, buffer: &[u8], expected: &[(String, Vec<usize>)], places: Vec<TensorPlace>,
    ) -> Result<Self> {
        let mut weights = Self { path: path.into(), ..Self::default() };
        weights.store(expected, places.into_iter().map(|(place, kind)| (buffer[place].to_vec(), kind)))?;
        Ok(weights)
    }

    fn store(
        &mut self, expected: &[(String, Vec<usize>)], found: impl Iterator<Item = (Vec<u8>, NumberFormat)>,
    ) -> Result<()> {
        let message =
            "holds a number that is not finite (NaN or infinity); the file is damaged or its training diverged";
        for ((name, shape), (bytes, kind)) in expected.iter().zip(found) {
            if !bytes.par_chunks(16 * BLOCK).all(|bytes| kind.is_finite(bytes)) {
                return Err(Error::tensor(&self.path, name, message));
            }
            self.slots.insert(name.clone(), Slot::new(shape, Stored::Bytes { bytes, kind }));
        }
        Ok(())
    }

    fn scale(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        if !NumberFormat::F32.is_finite(bytes) {
            let message = "holds a scale that is not finite (NaN or infinity); the file is damaged, so copy it again";
            return Err(Error::tensor(&self.path, name, message));
        }
        let Some(slot) = self.slots.get_mut(name) else { return Ok(()) };
        if let Some(Stored::Bytes { bytes: q, .. }) = slot.stored().as_deref() {
            *slot = Slot::new(&slot.shape, Stored::Scaled { q: q.clone(), scales: NumberFormat::F32.read(bytes) });
        }
        Ok(())
    }

    /// The rows whose attention training guided, `predicted` or `input`, from the file's metadata.
    pub fn guided(&self) -> Option<&str> {
        self.guided.as_deref()
    }

    pub fn set_guided(&mut self, reading: Option<String>) {
        self.guided = reading;
    }

    /// [`Weights::guided`] of a file; `None` if it cannot be read.
    pub fn guided_in(path: &Path) -> Option<String> {
        let (mut file, length) = disk::open(path).ok()?;
        let mut start = Vec::new();
        (&mut file).take(header::LENGTH_BYTES as u64 + 1).read_to_end(&mut start).ok()?;
        let rest = header::end(path, &start, length).ok()?.saturating_sub(start.len());
        file.take(rest as u64).read_to_end(&mut start).ok()?;
        header::note(&start, GUIDED)
    }

    /// Calls `work` with the bytes of the file that they were read from, part by part, until it returns false.
    pub fn each_part(&self, work: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.file.iter().all(|part| match part {
            FilePart::Bytes(bytes) => work(bytes),
            FilePart::Tensor(name, kind) => {
                let stored = self.slots.get(name).and_then(Slot::stored);
                stored.is_none_or(|stored| work(&stored.bytes(*kind)))
            }
        })
    }

    /// Writes a safetensors file, as `f16` if `half`; readers never see half a file.
    pub fn save(&self, path: &Path, half: bool) -> Result<()> {
        self.write(path, if half { NumberFormat::F16 } else { NumberFormat::F32 }, 0)
    }

    /// Writes matrices as whole numbers of 8 bits with a scale a row, all else as `f16`. With fewer `bits` (from 4) the numbers
    /// are rounded further, those of the tables of words to `bits`, all others to one more: such a file is as large, but packs well.
    pub fn save_in_8_bits(&self, path: &Path, bits: u32) -> Result<()> {
        self.write(path, NumberFormat::I8, bits)
    }

    fn write(&self, path: &Path, kind: NumberFormat, bits: u32) -> Result<()> {
        if kind != NumberFormat::F32
            && let Some((name, _)) =
                self.iter().find(|(_, array)| array.data.iter().any(|x| !f16::from_f32(*x).is_finite()))
        {
            return Err(Error::tensor(path, name, "holds a number too large for f16; write f32 instead"));
        }
        let written: Vec<Written> = self.iter().flat_map(|(name, array)| written(name, array, kind, bits)).collect();
        let notes = self.guided.clone().map(|reading| HashMap::from([(GUIDED.to_owned(), reading)]));
        let file = written
            .iter()
            .map(|(name, shape, kind, bytes)| Ok((name, TensorView::new(*kind, shape.clone(), bytes)?)))
            .collect::<std::result::Result<Vec<_>, _>>()
            .and_then(|tensors| safetensors::serialize(tensors, notes))
            .map_err(|error| Error::file(path, format!("could not be written: {error}")))?;
        write_inside(path, |out| out.write_all(&file))
    }

    fn slot(&self, name: &str) -> Result<&Slot> {
        self.slots.get(name).ok_or_else(|| Error::tensor(&self.path, name, "is missing"))
    }

    /// The array of that name, widened at the first call and then kept; [`Weights::numbers`] keeps nothing.
    pub fn get(&self, name: &str) -> Result<&Array> {
        self.slot(name).map(Slot::array)
    }

    pub fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        self.slot(name).map(Slot::to_vec)
    }

    pub fn append(&self, name: &str, all: &mut Vec<f32>) -> Result<()> {
        self.slot(name).map(|slot| slot.append_to(all))
    }

    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        self.slot(name).map(|slot| slot.shape.as_slice())
    }

    pub fn rows(&self, name: &str) -> Result<TensorRows<'_>> {
        let slot = self.slot(name)?;
        let count = slot.shape.first().copied().unwrap_or(0);
        let (wide, width) = (slot.wide.get(), slot.shape.iter().skip(1).product());
        Ok(TensorRows { wide, stored: slot.stored(), count, width })
    }

    /// The matrix of that name if it was loaded as whole numbers.
    pub fn integers(&self, name: &str) -> Result<Option<IntegerMatrix>> {
        let slot = self.slot(name)?;
        Ok(slot.stored().filter(|_| slot.wide.get().is_none()).and_then(|stored| stored.integers()))
    }

    /// How the factors of that matrix are rounded, if it was loaded as whole numbers.
    pub fn rounding(&self, name: &str) -> Result<Option<Rounding>> {
        let slot = self.slot(name)?;
        Ok(slot.stored().filter(|_| slot.wide.get().is_none()).and_then(|stored| stored.rounding()))
    }

    pub fn insert(&mut self, name: impl Into<String>, array: Array) {
        let shape = array.shape.clone();
        self.slots.insert(name.into(), Slot { shape, stored: RwLock::default(), wide: OnceLock::from(array) });
    }

    pub fn insert_integers(&mut self, name: impl Into<String>, shape: &[usize], matrix: IntegerMatrix) {
        self.slots.insert(name.into(), Slot::new(shape, Stored::Integers(matrix)));
    }

    /// Arrays that will not change, so that what is packed of them can be handed over.
    pub fn at_rest(mut self) -> Self {
        for slot in self.slots.values_mut() {
            if let Some(array) = slot.wide.take() {
                *slot = Slot::new(&array.shape, Stored::Wide(array.data));
            }
        }
        self
    }

    /// Reads matrices packed below each other from where they are packed, and drops its own copies.
    pub fn hand_over<'a>(&self, names: impl Iterator<Item = &'a str>, pack: &Arc<Packed>) {
        self.hand_each(names, &|first, rows| Stored::Packed { pack: Arc::clone(pack), first, rows });
    }

    pub fn hand_over_integers<'a>(
        &self, names: impl Iterator<Item = &'a str>, pack: &Arc<PackedIntegers>, rounding: Rounding,
    ) {
        self.hand_each(names, &|first, rows| Stored::PackedIntegers { pack: Arc::clone(pack), first, rows, rounding });
    }

    fn hand_each<'a>(&self, names: impl Iterator<Item = &'a str>, stored: &dyn Fn(usize, usize) -> Stored) {
        let mut first = 0;
        for slot in names.filter_map(|name| self.slots.get(name)) {
            let rows = slot.shape.first().copied().unwrap_or(0);
            slot.hand_over(stored(first, rows));
            first += rows;
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.slots.iter().map(|(name, slot)| (name.as_str(), slot.array()))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Array)> {
        self.slots.iter_mut().filter_map(|(name, slot)| {
            slot.array();
            slot.wide.get_mut().map(|array| (name.as_str(), array))
        })
    }

    pub fn parameters(&self) -> usize {
        self.slots.values().map(|slot| slot.shape.iter().product::<usize>()).sum()
    }

    pub fn tensor(&self, name: &str, device: &Device) -> Result<Tensor> {
        let slot = self.slot(name)?;
        Ok(Tensor::from_vec(slot.to_vec(), slot.shape.as_slice(), device)?)
    }

    /// Copies of all arrays by name, and their roundings under names that end in [`ROUNDING`].
    pub fn tensors(&self, device: &Device) -> Result<HashMap<String, Tensor>> {
        let mut tensors = HashMap::new();
        for name in self.names() {
            tensors.insert(name.to_owned(), self.tensor(name, device)?);
            let a = match self.rounding(name)? {
                None => continue,
                Some(Rounding::Fixed(a)) => a,
                Some(Rounding::Greatest) => 0.0,
            };
            tensors.insert(format!("{name}{ROUNDING}"), Tensor::new(a, device)?);
        }
        Ok(tensors)
    }
}

/// Least rows of a table of words: one a word of a vocabulary.
const LEAST_TABLE: usize = 2000;

/// A tensor of a file: its name, its shape, how its numbers are stored, and their bytes.
type Written = (String, Vec<usize>, Dtype, Vec<u8>);

fn written(name: &str, array: &Array, kind: NumberFormat, bits: u32) -> Vec<Written> {
    let numbers = array.data.iter();
    let one = |kind, bytes| (name.to_owned(), array.shape.clone(), kind, bytes);
    match (kind, array.shape.as_slice()) {
        (NumberFormat::I8, &[rows, _]) => {
            let is_table = rows >= LEAST_TABLE;
            let (q, scales) = in_8_bits(&array.data, rows, if is_table { bits } else { bits + 1 }.min(8));
            let bytes = scales.iter().flat_map(|x| x.to_le_bytes()).collect();
            vec![one(Dtype::I8, q), (format!("{name}{SCALE}"), vec![rows], Dtype::F32, bytes)]
        }
        (NumberFormat::F32, _) => vec![one(Dtype::F32, numbers.flat_map(|x| x.to_le_bytes()).collect())],
        _ => vec![one(Dtype::F16, numbers.flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect())],
    }
}

struct ReadFile {
    parts: Vec<FilePart>,
    tensors: Vec<(Vec<u8>, NumberFormat)>,
    scales: Vec<(String, Vec<u8>)>,
}

fn read<R: std::io::Read>(
    path: &Path, (mut file, length): (R, u64), expected: &[(String, Vec<usize>)], progress: Progress<'_>,
) -> Result<ReadFile> {
    const PIECE: u64 = 4 << 20;
    let sentence = |error| Error::io(path, &error);
    let mut start = Vec::new();
    let more = |bytes: &mut Vec<u8>, file: &mut R, count| file.take(count).read_to_end(bytes).map_err(sentence);
    more(&mut start, &mut file, header::LENGTH_BYTES as u64 + 1)?;
    let end = header::end(path, &start, length)?;
    let rest = (end - start.len()) as u64;
    more(&mut start, &mut file, rest)?;
    let (places, scales) = header::places(path, &start, length, expected)?;
    let all: Vec<(&str, &TensorPlace)> = expected
        .iter()
        .map(|(name, _)| name.as_str())
        .zip(&places)
        .chain(scales.iter().map(|(name, place)| (name.as_str(), place)))
        .collect();
    let mut read = start.len();
    let mut part = |from: usize, size: usize| {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            return Err(Error::file(path, format!("has {length} bytes, more than there is memory for")));
        }
        let mut left = size as u64;
        while left > 0 {
            let count = more(&mut bytes, &mut file, PIECE.min(left))? as u64;
            if count == 0 {
                break;
            }
            left -= count;
            progress((((from + bytes.len()) as f32) / length.max(1) as f32).min(1.0));
        }
        if bytes.len() == size { Ok(bytes) } else { Err(header::truncated(path, (from + bytes.len()) as u64)) }
    };
    let mut parts = vec![FilePart::Bytes(start)];
    let mut found: Vec<Vec<u8>> = vec![Vec::new(); all.len()];
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|n| (all[*n].1.0.start, all[*n].1.0.end));
    for n in order {
        let (name, (place, kind)) = all[n];
        if place.start < read {
            return Err(Error::tensor(path, name, "lies over another tensor; the file is damaged, so copy it again"));
        }
        if place.start > read {
            parts.push(FilePart::Bytes(part(read, place.start - read)?));
        }
        found[n] = part(place.start, place.len())?;
        // what is not made again bit for bit of the numbers that are kept is kept as it is
        parts.push(if n >= places.len() || *kind == NumberFormat::I8 {
            FilePart::Bytes(found[n].clone())
        } else {
            FilePart::Tensor(name.to_owned(), *kind)
        });
        read = place.end;
    }
    let scales_found = found.split_off(places.len());
    let tensors = found.into_iter().zip(places.iter().map(|(_, kind)| *kind)).collect();
    let scales = scales.iter().map(|(name, _)| name.clone()).zip(scales_found).collect();
    Ok(ReadFile { parts, tensors, scales })
}
