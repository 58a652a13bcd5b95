//! The header of a safetensors file: which tensors it has, how they are stored and where. It is checked
//! against the model's configuration and against the size of the file before anything else of the file is read.

use std::{ops::Range, path::Path};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::{Error, Result};

/// Names and shapes of tensors.
pub type Shapes = Vec<(String, Vec<usize>)>;

/// Bytes before the header: its length, a little-endian integer.
pub const LENGTH_BYTES: usize = 8;
/// The longest header that is read, in bytes: room for many times the names of any model here.
pub const HEADER_LIMIT: u64 = 16 << 20;
pub const MOST_NUMBERS: usize = 1 << 30;

/// How the numbers of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFormat {
    F16,
    /// The upper half of single precision; only in models of others.
    Bf16,
    F32,
    /// Whole numbers from -127 to 127, times a number for each row.
    I8,
}

/// Suffix of the name of a tensor's row scales.
pub const SCALE: &str = ".scale";

impl NumberFormat {
    pub(super) fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::F16 => Some(Self::F16),
            Dtype::BF16 => Some(Self::Bf16),
            Dtype::F32 => Some(Self::F32),
            _ => None,
        }
    }

    pub fn size(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
        }
    }
}

/// A tensor's bytes in the file.
pub type TensorPlace = (Range<usize>, NumberFormat);

/// The scales of the rows of a tensor of whole numbers: its name, and where they lie.
pub type ScalePlace = (String, TensorPlace);

/// Where the header ends; `start` has [`LENGTH_BYTES`] and one more byte if the file of `length` bytes is that long.
pub fn end(path: &Path, start: &[u8], length: u64) -> Result<usize> {
    if length == 0 {
        return Err(Error::file(path, "is empty; copy or download it again"));
    }
    let Some((header, _)) = start.split_first_chunk::<LENGTH_BYTES>() else { return Err(foreign(path)) };
    let header = u64::from_le_bytes(*header);
    let end = header.saturating_add(LENGTH_BYTES as u64);
    if header == 0 || start.get(LENGTH_BYTES) != Some(&b'{') {
        return Err(foreign(path));
    }
    // a header that begins as JSON shows that the rest was lost, not that the file is foreign
    if end > length {
        return Err(truncated(path, length));
    }
    if header > HEADER_LIMIT {
        return Err(Error::file(path, format!("has a header of {header} bytes; at most {HEADER_LIMIT} are read")));
    }
    usize::try_from(end).map_err(|_| foreign(path))
}

/// Places of the `expected` tensors and of the scales of whole numbers; `start` reaches to [`end`].
pub fn places(
    path: &Path, start: &[u8], length: u64, expected: &[(String, Vec<usize>)],
) -> Result<(Vec<TensorPlace>, Vec<ScalePlace>)> {
    check_size(path, expected)?;
    let metadata = metadata(path, start, length)?;
    let (mut places, mut scales) = (Vec::with_capacity(expected.len()), Vec::new());
    for (name, shape) in expected {
        let Some(info) = metadata.info(name) else {
            return Err(Error::tensor(path, name, "is missing; this file does not fit its config.json"));
        };
        if info.shape != *shape {
            let message = format!("has the shape {:?} where the config.json asks for {shape:?}", info.shape);
            return Err(Error::tensor(path, name, message));
        }
        let kind = match info.dtype {
            Dtype::I8 => NumberFormat::I8,
            other => NumberFormat::of(other).filter(|kind| *kind != NumberFormat::Bf16).ok_or_else(|| {
                let can = "only F32, F16, and I8 with a scale for each row can be read, so convert the file";
                Error::tensor(path, name, format!("is stored as {other}; {can}"))
            })?,
        };
        let place = |(from, to): (usize, usize)| start.len() + from..start.len() + to;
        places.push((place(info.data_offsets), kind));
        if kind == NumberFormat::I8 {
            let scale = metadata.info(&format!("{name}{SCALE}"));
            let fits = |scale: &&TensorInfo| scale.dtype == Dtype::F32 && shape.len() == 2 && scale.shape == shape[..1];
            let Some(scale) = scale.filter(fits) else {
                let message = format!("is stored as I8, which needs `{name}{SCALE}`: an F32 for each row of a matrix");
                return Err(Error::tensor(path, name, message));
            };
            scales.push((name.clone(), (place(scale.data_offsets), NumberFormat::F32)));
        }
    }
    let names = metadata.offset_keys();
    let is_scale = |name: &str| name.strip_suffix(SCALE).is_some_and(|of| scales.iter().any(|(known, _)| known == of));
    let is_known = |name: &str| is_scale(name) || expected.iter().any(|(known, _)| known == name);
    if let Some(extra) = names.iter().filter(|name| !is_known(name)).min() {
        let message = "is not part of this architecture; the file belongs to another model";
        return Err(Error::tensor(path, extra, message));
    }
    Ok((places, scales))
}

pub fn metadata(path: &Path, start: &[u8], length: u64) -> Result<Metadata> {
    let header = start.get(LENGTH_BYTES..).unwrap_or_default();
    let metadata: Metadata = serde_json::from_slice(header)
        .map_err(|error| Error::file(path, format!("has a damaged header ({error}); copy or download it again")))?;
    if (start.len() + metadata.data_len()) as u64 != length {
        return Err(truncated(path, length));
    }
    Ok(metadata)
}

pub fn note(start: &[u8], key: &str) -> Option<String> {
    let (length, rest) = start.split_first_chunk::<LENGTH_BYTES>()?;
    let header = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let metadata: Metadata = serde_json::from_slice(header).ok()?;
    metadata.metadata().as_ref()?.get(key).cloned()
}

/// A model that no memory holds is refused before room is made for it.
fn check_size(path: &Path, expected: &[(String, Vec<usize>)]) -> Result<()> {
    let count = |shape: &[usize]| shape.iter().fold(1, |product: usize, size| product.saturating_mul(*size));
    let numbers = expected.iter().fold(0, |sum: usize, (_, shape)| sum.saturating_add(count(shape)));
    if numbers <= MOST_NUMBERS {
        return Ok(());
    }
    let message = format!("would hold {numbers} numbers by its config.json; models of at most {MOST_NUMBERS} are read");
    Err(Error::file(path, message))
}

fn foreign(path: &Path) -> Error {
    Error::file(path, "is not a safetensors file; only models in the safetensors format can be read")
}

pub fn truncated(path: &Path, length: u64) -> Error {
    let message =
        format!("is truncated or damaged (it has {length} bytes, not what its header says); copy or download it again");
    Error::file(path, message)
}
