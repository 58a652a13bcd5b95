//! Floor 6: a small test set of our own, to try the page Evaluation with. Its files are those of `assets/first-set`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::write::write_atomic;

/// The files with what they hold.
const FILES: [(&str, &str); 3] = [
    ("first.en", include_str!("../../assets/first-set/first.en")),
    ("first.fr", include_str!("../../assets/first-set/first.fr")),
    ("first.links", include_str!("../../assets/first-set/first.links")),
];

/// Where the files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSet {
    /// English sentences, their words split by spaces.
    pub source: PathBuf,
    pub reference: PathBuf,
    /// Word alignments of both by hand.
    pub gold: PathBuf,
}

/// English sentences, their translations, and the links between both, line by line.
pub fn lines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let [source, reference, links] = FILES.map(|(_, text)| text.lines());
    source.zip(reference).zip(links).map(|((source, reference), links)| (source, reference, links))
}

/// Puts the files into this folder, which is made if need be.
pub fn put(folder: &Path) -> Result<FirstSet> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    for (name, text) in FILES {
        write_atomic(&folder.join(name), |file| file.write_all(text.as_bytes()))?;
    }
    let [source, reference, gold] = FILES.map(|(name, _)| folder.join(name));
    Ok(FirstSet { source, reference, gold })
}
