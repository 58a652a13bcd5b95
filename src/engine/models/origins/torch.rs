//! What torch saves: a zip with a pickle and an entry for the numbers of each tensor, or, before version 1.6, pickles
//! and numbers behind them. Tensors, dictionaries and attributes alone are read; the rest is refused by name.

use std::{collections::BTreeMap, io::Cursor, ops::Range, path::Path};

use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result};
use crate::models::origins::pickled::{PickleReader, PickleResult, Pickled};
use crate::models::origins::tensors::{ForeignFormat, ForeignTensor, ForeignTensors};
use crate::models::{disk, header::NumberFormat, origins::pickle};

const MOST_ENTRIES: usize = 1 << 15;
/// The longest pickle: names and shapes of all tensors, and in checkpoints of OpenNMT-py how often each word was seen.
const MOST_PICKLE: usize = 256 << 20;
const PICKLE: &str = "data.pkl";

/// The magic number of files from before torch 1.6, as a pickle.
const OLD: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// What is read of a checkpoint, and the names and places of its tensors.
type Selection<T> = (T, Vec<(String, usize)>);

pub fn open(path: &Path) -> Result<ForeignTensors> {
    let all = |reading: &PickleReader<'_>| Ok(((), reading.dictionary(reading.result())?));
    checkpoint(path, all).map(|((), tensors)| tensors)
}

pub fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK") || bytes.starts_with(&OLD[..8])
}

pub fn checkpoint<T>(
    path: &Path, select: impl FnOnce(&PickleReader<'_>) -> PickleResult<Selection<T>>,
) -> Result<(T, ForeignTensors)> {
    let bytes = disk::read(path, u64::MAX)?;
    let wrong = |message: String| Error::file(path, format!("has a {PICKLE} that {message}"));
    let (reading, places) = if bytes.starts_with(OLD) { old(path, &bytes)? } else { zipped(path, &bytes)? };
    let (found, selected) = select(&reading).map_err(wrong)?;
    let mut tensors = BTreeMap::new();
    for (name, value) in selected {
        let tensor = tensor(&reading, value, &places).map_err(|message| Error::tensor(path, &name, message))?;
        tensors.insert(name, tensor);
    }
    Ok((found, ForeignTensors::new(path, bytes, tensors)?))
}

type Opened<'a> = (PickleReader<'a>, BTreeMap<String, Range<usize>>);

fn zipped<'a>(path: &Path, bytes: &'a [u8]) -> Result<Opened<'a>> {
    if !bytes.starts_with(b"PK") {
        let message = "is no file that torch has saved; copy it again, or use model.safetensors";
        return Err(Error::file(path, message));
    }
    let places = entries(path, bytes)?;
    let Some(root) = places.keys().find_map(|name| name.strip_suffix(PICKLE)).map(str::to_owned) else {
        return Err(Error::file(path, format!("has no {PICKLE} in it; it was not saved by torch")));
    };
    if let Some(order) = places.get(&format!("{root}byteorder")).filter(|place| &bytes[(*place).clone()] != b"little") {
        let order = String::from_utf8_lossy(&bytes[order.start..order.end.min(order.start + 20)]).into_owned();
        return Err(Error::file(path, format!("has the byte order `{order}`; only `little` is read")));
    }
    let place = places[&format!("{root}{PICKLE}")].clone();
    if place.len() > MOST_PICKLE {
        let message = format!("has a {PICKLE} of {} bytes; at most {MOST_PICKLE} are read", place.len());
        return Err(Error::file(path, message));
    }
    let wrong = |message: String| Error::file(path, format!("has a {PICKLE} that {message}"));
    let reading = pickle::read(&bytes[place]).map_err(wrong)?;
    let numbers = format!("{root}data/");
    let keyed = |(name, place): (String, Range<usize>)| Some((name.strip_prefix(&numbers)?.to_owned(), place));
    Ok((reading, places.into_iter().filter_map(keyed).collect()))
}

/// Before torch 1.6: pickles of a number, a version, a machine, what was saved and the storages' keys, then these.
fn old<'a>(path: &Path, bytes: &'a [u8]) -> Result<Opened<'a>> {
    let wrong = |message: String| Error::file(path, format!("has a pickle that {message}"));
    let mut rest = &bytes[OLD.len()..];
    for _ in 0..2 {
        rest = pickle::first(rest).map_err(wrong)?.1;
    }
    let (reading, rest) = pickle::first(rest).map_err(wrong)?;
    let (keys, mut rest) = pickle::first(rest).map_err(wrong)?;
    let damaged = || Error::file(path, "is damaged behind its pickles; copy it again");
    let sizes = reading.storage_sizes();
    let mut places = BTreeMap::new();
    for key in keys.list(keys.result()).ok_or_else(damaged)? {
        let key = keys.text(*key).ok_or_else(damaged)?;
        let (count, behind) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok();
        let size = count.zip(sizes.get(key)).and_then(|(count, size)| count.checked_mul(*size)).ok_or_else(damaged)?;
        let start = bytes.len() - behind.len();
        rest = behind.get(size..).ok_or_else(damaged)?;
        places.insert(key.to_owned(), start..start + size);
    }
    Ok((reading, places))
}

fn entries(path: &Path, bytes: &[u8]) -> Result<BTreeMap<String, Range<usize>>> {
    let wrong = |error: &dyn std::fmt::Display| Error::file(path, format!("is a damaged zip ({error}); copy it again"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| wrong(&error))?;
    if archive.len() > MOST_ENTRIES {
        let message = format!("has {} entries; at most {MOST_ENTRIES} are read", archive.len());
        return Err(Error::file(path, message));
    }
    let mut places = BTreeMap::new();
    for n in 0..archive.len() {
        let entry = archive.by_index_raw(n).map_err(|error| wrong(&error))?;
        let name = entry.name().map_err(|error| wrong(&error))?.into_owned();
        if entry.compression() != CompressionMethod::Stored || entry.encrypted() {
            return Err(Error::file(
                path,
                format!("has a packed or secret entry `{name}`; torch stores them as they are"),
            ));
        }
        let start = entry.data_start().and_then(|start| usize::try_from(start).ok());
        let end = start.zip(usize::try_from(entry.size()).ok()).and_then(|(start, size)| start.checked_add(size));
        let (Some(start), Some(end)) = (start, end.filter(|end| *end <= bytes.len())) else {
            return Err(wrong(&format!("entry `{name}` does not lie in it")));
        };
        places.insert(name, start..end);
    }
    Ok(places)
}

fn tensor(
    reading: &PickleReader<'_>, value: usize, places: &BTreeMap<String, Range<usize>>,
) -> std::result::Result<ForeignTensor, String> {
    let unknown = || "is not a tensor as torch stores them".to_owned();
    let call = |value: usize| match reading.value(value) {
        Pickled::Call(class, arguments) => Some((reading.class(*class)?, reading.list(*arguments)?)),
        _ => None,
    };
    let (mut class, mut arguments) = call(value).ok_or_else(unknown)?;
    if class == "torch._utils._rebuild_parameter" {
        (class, arguments) = arguments.first().copied().and_then(call).ok_or_else(unknown)?;
    }
    let [storage, offset, shape, strides, ..] = arguments else { return Err(unknown()) };
    let Pickled::Stored(storage) = reading.value(*storage) else { return Err(unknown()) };
    let Some([_, kind, key, _, count, ..]) = reading.list(*storage) else { return Err(unknown()) };
    if class != "torch._utils._rebuild_tensor_v2" {
        return Err(unknown());
    }
    let kind = reading.class(*kind).ok_or_else(unknown)?;
    let format = match kind {
        "torch.FloatStorage" => NumberFormat::F32,
        "torch.HalfStorage" => NumberFormat::F16,
        "torch.BFloat16Storage" => NumberFormat::Bf16,
        _ => return Err(format!("is stored as {kind}; FloatStorage, HalfStorage and BFloat16Storage can be read")),
    };
    let sizes = |value: usize| -> Option<Vec<usize>> {
        reading.list(value)?.iter().map(|size| reading.number(*size)).collect()
    };
    let (shape, strides) = sizes(*shape).zip(sizes(*strides)).ok_or_else(unknown)?;
    let mut row = 1_usize;
    for (size, stride) in shape.iter().zip(&strides).rev() {
        if *size > 1 && *stride != row {
            return Err(format!("is stored with the steps {strides:?}; only tensors that lie row by row are read"));
        }
        row = row.saturating_mul(*size);
    }
    let key = reading.text(*key).ok_or_else(unknown)?;
    let Some(place) = places.get(key) else {
        return Err(format!("has its numbers in an entry `{key}` that is not in the zip"));
    };
    let (offset, count) = reading.number(*offset).zip(reading.number(*count)).ok_or_else(unknown)?;
    let end = offset.checked_add(row).filter(|end| *end <= count && count.saturating_mul(format.size()) <= place.len());
    let Some(end) = end.filter(|_| shape.len() == strides.len()) else {
        return Err(format!("of the shape {shape:?} does not lie in the {} bytes of its entry `{key}`", place.len()));
    };
    let place = place.start + offset * format.size()..place.start + end * format.size();
    Ok(ForeignTensor { shape, place, format: ForeignFormat::Float(format) })
}
