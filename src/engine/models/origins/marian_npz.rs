//! Marian's `.npz`, as OPUS-MT publishes it: in a folder with `decoder.yml`, vocabularies and `.spm`, or the file
//! itself.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::marian;
use crate::models::origins::marian_files::{self, MarianFiles};
use crate::models::origins::marian_options::{MarianOptions, OPTIONS};
use crate::models::origins::{marian_rnn, npz::Npz};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Marian npz",
    about: "models of Marian and OPUS-MT, Transformers and recurrent ones: the unpacked folder of a release, or its .npz \
            beside the vocabularies",
    finds: |path| !files(path).is_empty(),
    read,
};

pub fn open(path: &Path) -> Result<(Npz, MarianOptions)> {
    let mut archive = Npz::open(path)?;
    let text = archive.text(OPTIONS)?.ok_or_else(|| {
        Error::file(path, format!("has no `{OPTIONS}`; it is no model of Marian, or of a version that is not read"))
    })?;
    Ok((archive, MarianOptions::new(path, &text)))
}

fn files(path: &Path) -> Vec<PathBuf> {
    marian_files::model_files(path, "npz", |start| start.starts_with(b"PK"))
}

fn read(path: &Path) -> Result<Foreign> {
    let file = marian_files::chosen(path, files(path))?;
    let (mut archive, options) = open(&file)?;
    if !options.text("type").is_some_and(|kind| marian_rnn::TYPES.contains(&kind)) {
        return marian::read(&file, &mut archive, &options, ENTRY.name);
    }
    let converted = marian_rnn::convert(&file, &mut archive, &options)?;
    marian::named(&file, &MarianFiles::next_to(&file), converted, &options, ENTRY.name)
}
