//! Opening the files of a model folder. A folder may come from anybody: what is no plain file could block or
//! never end, and what is far too large for its kind is not read.

use std::io::Read as _;
use std::{fs::File, path::Path};

use crate::error::{Error, Result};

pub const CONFIG_FILE: &str = "config.json";
pub const WEIGHTS_FILE: &str = "model.safetensors";
pub const SOURCE_FILE: &str = "source.tokenizer.json";
pub const TARGET_FILE: &str = "target.tokenizer.json";
pub const CARD_FILE: &str = "README.md";

/// The largest files of each kind, in bytes.
pub const CONFIG_LIMIT: u64 = 1 << 20;
pub const TOKENIZER_LIMIT: u64 = 256 << 20;

pub const CARD_LIMIT: u64 = 1 << 20;

/// The size of a plain file of at most `limit` bytes; nothing is opened.
pub fn check(path: &Path, limit: u64) -> Result<u64> {
    let metadata = std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
    if !metadata.is_file() {
        return Err(Error::file(path, "is not a plain file; put the file itself in its place"));
    }
    if metadata.len() > limit {
        let message = format!("has {} bytes, but such a file has at most {limit}", metadata.len());
        return Err(Error::file(path, message));
    }
    Ok(metadata.len())
}

pub fn open(path: &Path) -> Result<(File, u64)> {
    let length = check(path, u64::MAX)?;
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    Ok((file, length))
}

pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let length = check(path, limit)?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    file.take(length).read_to_end(&mut bytes).map_err(|error| Error::io(path, &error))?;
    Ok(bytes)
}
