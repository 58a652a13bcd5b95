//! `.npz` archives of numpy, as Marian and Nematus write weights: a zip of `NAME.npy`. Arrays are read on request,
//! Python objects never; sizes are bound by the bytes of the file and by the numbers that a model may have.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs::File};

use half::f16;
use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::models::origins::marian::MarianTensors;
use crate::models::origins::pack::{ALWAYS, MOST_GROWTH};
use crate::models::{checkpoint::Array, disk, header::MOST_NUMBERS};

pub const MAGIC: &[u8] = b"\x93NUMPY";
const MOST_HEADER: u64 = 1 << 16;
const MOST_ARRAYS: usize = 1 << 14;

/// The number of some bytes, the least first.
pub type ReadNumber = fn(&[u8]) -> f32;

const NUMBERS: &[(&str, usize, ReadNumber)] = &[
    ("f2", 2, |bytes| f16::from_le_bytes(array(bytes)).to_f32()),
    ("f4", 4, |bytes| f32::from_le_bytes(array(bytes))),
    ("f8", 8, |bytes| f64::from_le_bytes(array(bytes)) as f32),
    ("i1", 1, |bytes| f32::from(i8::from_le_bytes(array(bytes)))),
    ("u1", 1, |bytes| f32::from(u8::from_le_bytes(array(bytes)))),
    ("i4", 4, |bytes| i32::from_le_bytes(array(bytes)) as f32),
    ("i8", 8, |bytes| i64::from_le_bytes(array(bytes)) as f32),
];

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyHeader {
    /// The kind of its numbers and their bytes, such as `f4`; `O` are objects of Python.
    pub kind: String,
    pub is_big_endian: bool,
    pub by_columns: bool,
    pub shape: Vec<usize>,
}

impl NumpyHeader {
    pub fn read(path: &Path, input: &mut dyn Read) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::file(path, format!("ends within its header ({error}) and is no array of numpy"))
        };
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(failed)?;
        if !start.starts_with(MAGIC) {
            return Err(Error::file(path, "is no array of numpy: it does not begin with its mark"));
        }
        let mut size = [0; 4];
        let bytes = if start[6] == 1 { 2 } else { 4 };
        input.read_exact(&mut size[..bytes]).map_err(failed)?;
        let mut header = Vec::new();
        input.take(u64::from(u32::from_le_bytes(size)).min(MOST_HEADER)).read_to_end(&mut header).map_err(failed)?;
        let header = String::from_utf8_lossy(&header);
        let entry = |key: &str| {
            let message = || format!("has no `{key}` in its header and is no array of numpy");
            entry(&header, key).ok_or_else(|| Error::file(path, message()))
        };
        let written = entry("descr")?.trim_matches(['\'', '"']);
        let shape = entry("shape")?;
        let shape = self::shape(shape).ok_or_else(|| Error::file(path, format!("has no shape but `{shape:.40}`")))?;
        Ok(Self {
            kind: written.trim_start_matches(['<', '>', '=', '|']).to_owned(),
            is_big_endian: written.starts_with('>'),
            by_columns: entry("fortran_order")? == "True",
            shape,
        })
    }

    /// Bytes of a number and how it is read; `None` if its kind is unknown.
    pub fn number(&self) -> Option<(usize, ReadNumber)> {
        NUMBERS.iter().find(|(kind, ..)| *kind == self.kind).map(|(_, size, number)| (*size, *number))
    }

    fn count(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, size| product.saturating_mul(*size))
    }
}

fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(&format!("'{key}':"))?.1.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    inner.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().ok()).collect()
}

/// An archive that is open.
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    members: BTreeMap<String, (usize, NumpyHeader)>,
}

impl Npz {
    /// Opens an archive and reads the headers; what is no array of numbers, such as a Python object, is skipped.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, length) = disk::open(path)?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| {
            Error::file(path, format!("is no archive of numpy, or damaged ({error}); copy or download it again"))
        })?;
        if archive.len() > MOST_ARRAYS {
            let message = format!("holds {} arrays; at most {MOST_ARRAYS} are read", archive.len());
            return Err(Error::file(path, message));
        }
        let mut open = Self { path: path.into(), archive, members: BTreeMap::new() };
        let mut bytes: u64 = 0;
        for place in 0..open.archive.len() {
            let mut member = open.archive.by_index(place).map_err(|error| damaged(path, &error))?;
            let name = member.name().map_err(|error| damaged(path, &error))?.into_owned();
            let Some(name) = name.strip_suffix(".npy") else { continue };
            if member.is_symlink() {
                return Err(Error::tensor(path, name, "is a link in the archive, which is not followed"));
            }
            let header = NumpyHeader::read(path, &mut member)
                .map_err(|_| Error::tensor(path, name, "is no array of numpy; copy or download the file again"))?;
            let Some((size, _)) = header.number() else { continue };
            // what the archive says of its length: the numbers, and a header before them
            let (said, own) = (member.size(), (header.count() as u64).saturating_mul(size as u64));
            if said < own || said > own.saturating_add(MOST_HEADER + 12) {
                let message = format!("takes {said} bytes, but has {own} by its shape {:?}", header.shape);
                return Err(Error::tensor(path, name, message));
            }
            bytes = bytes.saturating_add(own);
            if bytes > length.saturating_mul(MOST_GROWTH).saturating_add(ALWAYS) || header.count() > MOST_NUMBERS {
                let message = format!("of the shape {:?} has more numbers than such a file can hold", header.shape);
                return Err(Error::tensor(path, name, message));
            }
            open.members.insert(name.to_owned(), (place, header));
        }
        Ok(open)
    }

    /// An array of bytes as text, up to the first NUL.
    pub fn text(&mut self, name: &str) -> Result<Option<String>> {
        if !self.members.contains_key(name) {
            return Ok(None);
        }
        let (mut bytes, _) = self.bytes(name)?;
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
        let no_text = |_| Error::tensor(&self.path, name, "is no text in UTF-8; the file is damaged");
        String::from_utf8(bytes).map(Some).map_err(no_text)
    }

    fn bytes(&mut self, name: &str) -> Result<(Vec<u8>, NumpyHeader)> {
        let refuse = |message: String| Error::tensor(&self.path, name, message);
        let Some((place, header)) = self.members.get(name).cloned() else {
            return Err(refuse("is missing; this file is of another architecture, or damaged".into()));
        };
        let cut = |error: &dyn std::fmt::Display| refuse(format!("is cut short or damaged ({error}); copy it again"));
        let mut member = self.archive.by_index(place).map_err(|error| cut(&error))?;
        NumpyHeader::read(&self.path, &mut member)?;
        let size = header.number().map_or(1, |(size, _)| size).saturating_mul(header.count());
        let mut bytes = Vec::new();
        (&mut member).take(size as u64).read_to_end(&mut bytes).map_err(|error| cut(&error))?;
        if bytes.len() != size {
            return Err(cut(&format!("{} bytes of {size}", bytes.len())));
        }
        Ok((bytes, header))
    }
}

impl MarianTensors for Npz {
    fn names(&self) -> Vec<String> {
        self.members.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.members.get(name).map(|(_, header)| header.shape.clone())
    }

    fn array(&mut self, name: &str) -> Result<Array> {
        let (bytes, header) = self.bytes(name)?;
        let (size, number) = header.number().unwrap_or((1, |_| 0.0));
        let read = |bytes: &[u8]| if header.is_big_endian { turned(bytes, number) } else { number(bytes) };
        let data: Vec<f32> = bytes.chunks_exact(size).map(read).collect();
        let refuse = |message: &str| Error::tensor(&self.path, name, message);
        if data.iter().any(|number| !number.is_finite()) {
            return Err(refuse("holds a number that is not finite; the file is damaged or its training diverged"));
        }
        let array = Array { shape: header.shape, data };
        match (header.by_columns, array.shape.as_slice()) {
            (false, _) | (true, [] | [_]) => Ok(array),
            (true, [rows, columns]) => Ok(Array { shape: vec![*columns, *rows], data: array.data }.transposed()),
            (true, _) => Err(refuse("is stored column by column; save it with `numpy.ascontiguousarray`")),
        }
    }
}

fn turned(bytes: &[u8], number: ReadNumber) -> f32 {
    let mut turned = [0; 8];
    let turned = &mut turned[..bytes.len()];
    turned.copy_from_slice(bytes);
    turned.reverse();
    number(turned)
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::file(path, format!("is a damaged archive ({error}); copy or download it again"))
}
