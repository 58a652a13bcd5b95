//! Packages of Argos Translate (and LibreTranslate): a zip, or the folder that it was unpacked to, with
//! metadata.json, a model of CTranslate2 and a SentencePiece model.

use std::path::Path;

use crate::error::{Error, Result};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::{
    disk, origins::card::ForeignCard, origins::ctranslate, origins::keys::ForeignSettings, origins::pack::FilePack,
    origins::words::languages,
};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Argos",
    about: "an .argosmodel package, or one that was unpacked, as they lie in ~/.local/share/argos-translate/packages",
    finds: |path| {
        let is_package = path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("argosmodel")) && path.is_file();
        is_package || path.join(METADATA).is_file() && path.join(MODEL).join(ctranslate::MODEL_FILE).is_file()
    },
    read,
};

const METADATA: &str = "metadata.json";
const MODEL: &str = "model/";

pub fn read(path: &Path) -> Result<Foreign> {
    let pack = if path.is_dir() { FilePack::folder(path) } else { FilePack::zip(path, METADATA)? };
    let facts = ForeignSettings::read(&pack.path(METADATA), &pack.read(METADATA, disk::CONFIG_LIMIT)?)?;
    if let Some(kind) = facts.text("type").filter(|kind| *kind != "translate") {
        return facts.wrong("type", format!("is {kind}; packages that translate are read"));
    }
    if let Some(prefix) = facts.text("target_prefix") {
        return facts.wrong(
            "target_prefix",
            format!("is {prefix}; models whose translations begin with a given word are not read"),
        );
    }
    if !pack.has(&format!("{MODEL}{}", ctranslate::MODEL_FILE)) {
        return Err(Error::file(path, format!("has no {MODEL}{} in it", ctranslate::MODEL_FILE)));
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut card = ForeignCard {
        languages: languages("", facts.text("from_code"), facts.text("to_code")),
        name,
        ..ForeignCard::default()
    };
    let version = facts.text("package_version").unwrap_or("without a version");
    card.notes.push(format!("A package of Argos Translate, {version}."));
    let mut foreign = ctranslate::read(&pack, MODEL, card)?;
    foreign.file = if path.is_dir() { path.join(MODEL).join(ctranslate::MODEL_FILE) } else { path.into() };
    Ok(foreign)
}
