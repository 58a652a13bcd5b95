//! Floor 3: weights, read from and written to safetensors files.
//!
//! A file is read into one buffer and widened from there straight into `f32` rows: no memory
//! mapping, no `unsafe`, one copy. Everything that is wrong with a file is a sentence that names it.

use std::collections::BTreeMap;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

use candle_core::Device;
use candle_core::Tensor;
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use rayon::prelude::*;
use safetensors::Dtype;
use safetensors::SafeTensorError;
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use crate::error::Error;
use crate::error::Result;
use crate::text::lines::write_atomic;

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    path: PathBuf,
    arrays: BTreeMap<String, Array>,
}

impl Weights {
    /// No weights yet.
    #[must_use]
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
        Self::from_bytes(path, &buffer, expected)
    }

    /// As [`Weights::load`], from the bytes of the file; `path` is only named in errors.
    ///
    /// # Errors
    /// As [`Weights::load`].
    pub fn from_bytes(path: &Path, buffer: &[u8], expected: &[(String, Vec<usize>)]) -> Result<Self> {
        let file =
            SafeTensors::deserialize(buffer).map_err(|error| Error::file(path, what_is_wrong(buffer, &error)))?;
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
        if let Some(extra) =
            file.names().into_iter().filter(|name| !expected.iter().any(|(known, _)| known == name)).min()
        {
            return Err(Error::tensor(
                path,
                extra,
                "is not part of this architecture; the file belongs to another model",
            ));
        }
        let arrays = views
            .into_iter()
            .map(|(name, view)| Ok((name.clone(), widen(path, name, &view)?)))
            .collect::<Result<_>>()?;
        Ok(Self { path: path.into(), arrays })
    }

    /// Writes a safetensors file, as `f16` if `half`: under a temporary name in the same folder,
    /// synchronised, then renamed, so that no reader ever sees half a file.
    ///
    /// # Errors
    /// When the file cannot be written, or a number does not fit `f16`.
    pub fn save(&self, path: &Path, half: bool) -> Result<()> {
        let (size, dtype) = if half { (2, "F16") } else { (4, "F32") };
        if half
            && let Some((name, _)) =
                self.iter().find(|(_, array)| array.data.iter().any(|x| !f16::from_f32(*x).is_finite()))
        {
            return Err(Error::tensor(path, name, "holds a number too large for f16; write f32 instead"));
        }
        let header = self.header(size, dtype);
        write_atomic(path, |out| {
            out.write_all(&(header.len() as u64).to_le_bytes())?;
            out.write_all(header.as_bytes())?;
            for array in self.arrays.values() {
                write_numbers(out, &array.data, half)?;
            }
            Ok(())
        })
    }

    /// The JSON header: a line of names, types, shapes and places, padded to 8 bytes.
    fn header(&self, size: usize, dtype: &str) -> String {
        let mut map = serde_json::Map::new();
        let mut offset = 0;
        for (name, array) in &self.arrays {
            let end = offset + array.data.len() * size;
            map.insert(
                name.clone(),
                serde_json::json!({"dtype": dtype, "shape": array.shape, "data_offsets": [offset, end]}),
            );
            offset = end;
        }
        let text = serde_json::Value::Object(map).to_string();
        let padded = text.len().next_multiple_of(8);
        format!("{text:<padded$}")
    }

    /// The array of that name.
    ///
    /// # Errors
    /// When there is none; the sentence names the tensor.
    pub fn get(&self, name: &str) -> Result<&Array> {
        self.arrays.get(name).ok_or_else(|| Error::tensor(&self.path, name, "is missing"))
    }

    /// Puts an array in the place of that name.
    pub fn insert(&mut self, name: impl Into<String>, array: Array) {
        self.arrays.insert(name.into(), array);
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// Names and arrays, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// Names and arrays to be changed in place, sorted by name.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Array)> {
        self.arrays.iter_mut().map(|(name, array)| (name.as_str(), array))
    }

    /// How many numbers there are in all.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.arrays.values().map(|array| array.data.len()).sum()
    }

    /// A copy of the array of that name as a tensor on `device`.
    ///
    /// # Errors
    /// When there is none, or the device refuses.
    pub fn tensor(&self, name: &str, device: &Device) -> Result<Tensor> {
        let array = self.get(name)?;
        Ok(Tensor::from_slice(&array.data, array.shape.as_slice(), device)?)
    }
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

/// The numbers of a view as `f32`, all finite.
fn widen(path: &Path, name: &str, view: &TensorView<'_>) -> Result<Array> {
    let block = match view.dtype() {
        Dtype::F32 => widen_f32,
        Dtype::F16 => widen_f16,
        other => {
            return Err(Error::tensor(
                path,
                name,
                format!("is stored as {other}; only F32 and F16 can be read, so convert the file"),
            ));
        }
    };
    let size = view.dtype().bitsize() / 8;
    let mut data = vec![0.0; view.data().len() / size];
    let finite = data
        .par_chunks_mut(BLOCK)
        .zip(view.data().par_chunks(BLOCK * size))
        .map(|(numbers, bytes)| {
            block(numbers, bytes);
            numbers.iter().fold(true, |finite, number| finite & number.is_finite())
        })
        .reduce(|| true, |a, b| a & b);
    if finite {
        Ok(Array { shape: view.shape().to_vec(), data })
    } else {
        Err(Error::tensor(
            path,
            name,
            "holds a number that is not finite (NaN or infinity); the file is damaged or its training diverged",
        ))
    }
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
