//! `model.bin` of CTranslate2, versions 1 to 6: a version, the name of a model and its revision (from 2 on),
//! variables with their numbers, and other names for some of them (from 3 on).

use std::{collections::BTreeMap, path::Path};

use crate::error::{Error, Result};
use crate::models::origins::tensors::{ForeignFormat, ForeignTensor, ForeignTensors};
use crate::models::{header::NumberFormat, origins::keys::short};

const NEWEST: u32 = 6;
const NEWEST_REVISION: u32 = 7;
const MOST_VARIABLES: u32 = 1 << 15;
/// The models that are translations by a Transformer, and the heads of those that do not say.
const KNOWN: &[(&str, usize)] = &[("TransformerSpec", 8), ("TransformerBase", 8), ("TransformerBig", 16)];
const OTHERS: &[(&str, &str)] = &[
    ("TransformerDecoderSpec", "a language model, which has no source sentence"),
    ("TransformerEncoderSpec", "an encoder without a decoder"),
    ("WhisperSpec", "a model that transcribes speech"),
    ("Wav2Vec2Spec", "an encoder of speech"),
    ("Wav2Vec2BertSpec", "an encoder of speech"),
];
/// In the names of revision 1, which are those of OpenNMT-tf: each part once, in this order.
const OLD_NAMES: &[(&str, &str)] = &[
    ("transformer/", ""),
    (":0", ""),
    ("w_embs", "embeddings/weight"),
    ("kernel", "weight"),
    ("LayerNorm", "layer_norm"),
    ("dense", "projection"),
    ("conv1d_", "linear_"),
    ("conv1d", "linear_0"),
    ("masked_multi_head", "self_attention"),
];
const FORMATS: &[ForeignFormat] = &[
    ForeignFormat::Float(NumberFormat::F32),
    ForeignFormat::Whole(1),
    ForeignFormat::Whole(2),
    ForeignFormat::Whole(4),
    ForeignFormat::Float(NumberFormat::F16),
    ForeignFormat::Float(NumberFormat::Bf16),
];

/// A CTranslate2 `model.bin`.
#[derive(Debug)]
pub struct ModelBin {
    pub tensors: ForeignTensors,
    pub heads: usize,
    pub version: String,
    pub number: u32,
    pub texts: BTreeMap<String, String>,
}

/// How many bytes [`begins`] and [`check`] look at.
pub const START: usize = 128;

pub fn begins(start: &[u8]) -> bool {
    let Some((version, rest)) = start.split_first_chunk::<4>() else { return false };
    let name = |rest: &[u8]| rest.split_first_chunk::<2>().map_or(0, |(size, _)| u16::from_le_bytes(*size));
    match u32::from_le_bytes(*version) {
        // the number of variables, and the name of the first
        1 => {
            let count = rest.split_first_chunk::<4>().map_or(0, |(count, _)| u32::from_le_bytes(*count));
            (1..=MOST_VARIABLES).contains(&count)
                && (2..=256).contains(&name(&rest[4..]))
                && rest.get(6..8).is_some_and(|name| name.iter().all(u8::is_ascii_graphic))
        }
        version => (2..=255).contains(&version) && (2..=64).contains(&name(rest)),
    }
}

/// Refuses a model that does not translate, by its first bytes, before the rest of its folder is read.
pub fn check(path: &Path, start: &[u8]) -> Result<()> {
    Cursor { path, bytes: start, at: 0 }.head().map(|_| ())
}

impl Cursor<'_> {
    fn head(&mut self) -> Result<(u32, String, usize, u32)> {
        let version = self.number(4)?;
        if !(1..=NEWEST).contains(&version) {
            let message = format!("is of version {version} of CTranslate2's files; versions 1 to {NEWEST} are read");
            return Err(Error::file(self.path, message));
        }
        if version == 1 {
            return Ok((version, "Transformer".to_owned(), KNOWN[0].1, 1));
        }
        let name = self.text()?.to_owned();
        let Some((_, heads)) = KNOWN.iter().find(|(known, _)| *known == name) else {
            let what =
                OTHERS.iter().find(|(other, _)| *other == name).map_or(String::new(), |(_, what)| format!(", {what}"));
            let message =
                format!("holds a {}{what}; only models that translate are read (TransformerSpec)", short(&name));
            return Err(Error::file(self.path, message));
        };
        let revision = self.number(4)?;
        if !(1..=NEWEST_REVISION).contains(&revision) {
            let message = format!("holds a {name} of revision {revision}; 1 to {NEWEST_REVISION} are read");
            return Err(Error::file(self.path, message));
        }
        Ok((version, name, *heads, revision))
    }
}

fn renamed(name: &str) -> String {
    let name = OLD_NAMES.iter().fold(name.to_owned(), |name, (old, new)| name.replacen(old, new, 1));
    let attention = if name.contains("encoder") { "self_attention" } else { "attention" };
    name.replacen("multi_head", attention, 1)
}

pub fn read(path: &Path, bytes: Vec<u8>) -> Result<ModelBin> {
    let mut cursor = Cursor { path, bytes: &bytes, at: 0 };
    let (version, name, heads, revision) = cursor.head()?;
    let (mut tensors, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..cursor.count()? {
        let (mut name, tensor) = cursor.variable(version)?;
        if revision == 1 {
            name = renamed(&name);
        }
        if name.ends_with("_token") && tensor.format == FORMATS[1] {
            texts.insert(name, String::from_utf8_lossy(&bytes[tensor.place]).into_owned());
        } else if tensors.insert(name.clone(), tensor).is_some() {
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
    let label = format!("version {version}, {name} revision {revision}");
    Ok(ModelBin { tensors: ForeignTensors::new(path, bytes, tensors)?, heads, version: label, number: version, texts })
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
