//! Floor 6: a small test set of our own, to try the page Evaluation with. Its files are those of `assets/first-set`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::text::write::{FolderDraft, write_atomic};

/// A file's name and what it holds.
type SetFile = (&'static str, &'static str);

/// Source, reference and links, with what they hold.
const FRENCH: [SetFile; 3] = [
    ("first.en", include_str!("../../assets/first-set/first.en")),
    ("first.fr", include_str!("../../assets/first-set/first.fr")),
    ("first.links", include_str!("../../assets/first-set/first.links")),
];
/// The same sentences in German, whose verbs go to the end.
const GERMAN: [SetFile; 3] = [
    FRENCH[0],
    ("first.de", include_str!("../../assets/first-set/first.de")),
    ("first.de.links", include_str!("../../assets/first-set/first.de.links")),
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

/// English sentences, their French translations, and the links between both, line by line.
pub fn lines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let [source, reference, links] = FRENCH.map(|(_, text)| text.lines());
    source.zip(reference).zip(links).map(|((source, reference), links)| (source, reference, links))
}

/// Puts the files into this folder, which is made if need be: German ones where that is asked for, else French ones.
pub fn put(folder: &Path, is_german: bool) -> Result<FirstSet> {
    let files = if is_german { GERMAN } else { FRENCH };
    let draft = FolderDraft::new(folder)?;
    for (name, text) in files {
        write_atomic(&draft.path().join(name), |file| file.write_all(text.as_bytes()))?;
    }
    draft.keep()?;
    let [source, reference, gold] = files.map(|(name, _)| folder.join(name));
    Ok(FirstSet { source, reference, gold })
}
