//! Floor 3: `model.bin` of CTranslate2, versions 2 to 6: a version, the name of a model and its revision, variables with
//! their numbers, and other names for some of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::models::header::NumberFormat;
use crate::models::origins::keys::short;
use crate::models::origins::tensors::{ForeignFormat, ForeignTensor, ForeignTensors};

/// The newest version of the container.
const NEWEST: u32 = 6;
/// The newest revision of what a Transformer is called inside.
const NEWEST_REVISION: u32 = 7;
/// The most variables.
const MOST_VARIABLES: u32 = 1 << 15;
/// The models that are translations by a Transformer, and the heads of those that do not say.
const KNOWN: &[(&str, usize)] = &[("TransformerSpec", 8), ("TransformerBase", 8), ("TransformerBig", 16)];
/// The kinds of numbers, by the number of the kind.
const FORMATS: &[ForeignFormat] = &[
    ForeignFormat::Float(NumberFormat::F32),
    ForeignFormat::Whole(1),
    ForeignFormat::Whole(2),
    ForeignFormat::Whole(4),
    ForeignFormat::Float(NumberFormat::F16),
    ForeignFormat::Float(NumberFormat::Bf16),
];

/// Such a file.
#[derive(Debug)]
pub struct ModelBin {
    /// Its variables.
    pub tensors: ForeignTensors,
    /// The heads of every attention where no variable says how many.
    pub heads: usize,
    /// Version and revision, for people.
    pub version: String,
}

/// Whether a file may be one, by its first bytes.
pub fn begins(start: &[u8]) -> bool {
    let Some((version, rest)) = start.split_first_chunk::<4>() else { return false };
    let name = rest.split_first_chunk::<2>().map_or(0, |(size, _)| u16::from_le_bytes(*size));
    (2..=255).contains(&u32::from_le_bytes(*version)) && (2..=64).contains(&name)
}

/// Reads the bytes of the file at `path`.
///
/// # Errors
/// A sentence that names the file and, where it is one variable's fault, that variable.
pub fn read(path: &Path, bytes: Vec<u8>) -> Result<ModelBin> {
    let mut cursor = Cursor { path, bytes: &bytes, at: 0 };
    let version = cursor.number(4)?;
    if !(2..=NEWEST).contains(&version) {
        let message = format!("is of version {version} of CTranslate2's files; versions 2 to {NEWEST} are read");
        return Err(Error::file(path, message));
    }
    let name = cursor.text()?.to_owned();
    let Some((_, heads)) = KNOWN.iter().find(|(known, _)| *known == name) else {
        let message =
            format!("holds a `{}`; of CTranslate2's models TransformerSpec, which translates, is read", short(&name));
        return Err(Error::file(path, message));
    };
    let revision = cursor.number(4)?;
    if !(2..=NEWEST_REVISION).contains(&revision) {
        let message = format!("holds a {name} of revision {revision}; 2 to {NEWEST_REVISION} are read");
        return Err(Error::file(path, message));
    }
    let mut tensors = BTreeMap::new();
    for _ in 0..cursor.count()? {
        let (name, tensor) = cursor.variable(version)?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(Error::tensor(path, name, "is there twice"));
        }
    }
    let aliases = if version >= 3 { cursor.count()? } else { 0 };
    for _ in 0..aliases {
        let (alias, name) = (cursor.text()?.to_owned(), cursor.text()?.to_owned());
        for part in ["", "_scale"] {
            if let Some(tensor) = tensors.get(&format!("{name}{part}")).cloned() {
                tensors.insert(format!("{alias}{part}"), tensor);
            }
        }
    }
    if cursor.at != bytes.len() {
        return Err(cursor.cut("has bytes behind its end"));
    }
    let version = format!("version {version}, {name} revision {revision}");
    Ok(ModelBin { tensors: ForeignTensors::new(path, bytes, tensors)?, heads: *heads, version })
}

struct Cursor<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn cut(&self, what: &str) -> Error {
        Error::file(self.path, format!("{what} (byte {}); it is damaged, so copy it again", self.at))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else { return Err(self.cut("ends too early")) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A number of up to four bytes.
    fn number(&mut self, size: usize) -> Result<u32> {
        Ok(self.take(size)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn count(&mut self) -> Result<u32> {
        let count = self.number(4)?;
        if count > MOST_VARIABLES {
            return Err(self.cut(&format!("would hold {count} variables, more than {MOST_VARIABLES}")));
        }
        Ok(count)
    }

    /// A text: its length with the NUL at its end, and its bytes.
    fn text(&mut self) -> Result<&'a str> {
        let size = self.number(2)? as usize;
        let text = self.take(size)?.strip_suffix(b"\0").and_then(|text| str::from_utf8(text).ok());
        text.ok_or_else(|| self.cut("has a name that is no text"))
    }

    fn variable(&mut self, version: u32) -> Result<(String, ForeignTensor)> {
        let name = self.text()?.to_owned();
        let rank = self.number(1)? as usize;
        let shape = (0..rank).map(|_| Ok(self.number(4)? as usize)).collect::<Result<Vec<_>>>()?;
        let (kind, count) = (self.number(1)? as usize, self.number(4)? as usize);
        // older files say the bytes of a number, and how many numbers there are
        let (format, size) = if version >= 4 {
            (FORMATS.get(kind).copied(), Some(count))
        } else {
            let format = [1, 2, 4].iter().position(|size| *size == kind);
            (format.map(|at| [FORMATS[1], FORMATS[2], FORMATS[0]][at]), count.checked_mul(kind))
        };
        let (Some(format), Some(size)) = (format, size) else {
            return Err(Error::tensor(
                self.path,
                name,
                format!("is of the kind {kind} of numbers, which is not known"),
            ));
        };
        let start = self.at;
        self.take(size)?;
        Ok((name, ForeignTensor { shape, place: start..self.at, format }))
    }
}
