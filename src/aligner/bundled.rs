//! What comes with the program: an aligner that has learned already, for pairs of languages that the bundled models
//! translate, and a file of the user's in its place. `assets/aligner/README.md` says from which text, and its licences.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::aligner::learned::Learned;
use crate::error::Result;

/// Source and target language, and the file. It is too large for a browser.
const BUNDLED: &[(&str, &str, &[u8])] = &[
    #[cfg(not(target_family = "wasm"))]
    ("en", "fr", include_bytes!("../../assets/aligner/en-fr.aligner")),
];

/// An aligner file of the user's, which takes the place of what comes with the program for its languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignerFile {
    pub path: PathBuf,
    /// BCP 47 tags of what it has learned; empty where words were split by spaces: then it is for all languages.
    pub languages: (String, String),
}

impl AlignerFile {
    /// Reads a file for its languages.
    ///
    /// # Errors
    /// As [`Learned::open`].
    pub fn open(path: PathBuf) -> Result<Self> {
        let languages = Learned::open(&path)?.languages;
        Ok(Self { path, languages })
    }

    /// Whether it is for two languages, and whether it has them the other way round.
    fn fits(&self, source: &str, target: &str) -> Option<bool> {
        let known = (primary(&self.languages.0), primary(&self.languages.1));
        let asked = (primary(source), primary(target));
        if known == (String::new(), String::new()) || known == asked {
            return Some(false);
        }
        (known == (asked.1, asked.0)).then_some(true)
    }
}

/// Whether the user's file is for two languages, or something comes with the program for them.
pub fn is_there(own: Option<&AlignerFile>, source: &str, target: &str) -> bool {
    own.is_some_and(|own| own.fits(source, target).is_some()) || find(source, target).is_some()
}

/// The aligner of two languages, given by their BCP 47 tags: the user's file where it is for them, else what comes with the
/// program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignerChoice {
    pub source: String,
    pub target: String,
    pub own: Option<AlignerFile>,
}

impl AlignerChoice {
    /// Of a source and a target language.
    pub fn new((source, target): (String, String), own: Option<&AlignerFile>) -> Self {
        Self { source, target, own: own.cloned() }
    }

    /// What was learned of them; `None` where nothing was.
    pub fn learned(&self) -> Option<Result<Learned>> {
        let fitting = self.own.as_ref().and_then(|own| Some((own, own.fits(&self.source, &self.target)?)));
        let Some((own, is_turned)) = fitting else { return bundled(&self.source, &self.target) };
        let learned = Learned::open(&own.path);
        Some(if is_turned { learned.map(Learned::turned) } else { learned })
    }
}

/// What was learned of two languages, given by their BCP 47 tags, in either order; `None` where nothing was.
pub fn bundled(source: &str, target: &str) -> Option<Result<Learned>> {
    let (bytes, is_turned) = find(source, target)?;
    let learned = Learned::from_bytes(Path::new("the bundled aligner"), bytes);
    Some(if is_turned { learned.map(Learned::turned) } else { learned })
}

/// The file for two languages, and whether it has them the other way round.
fn find(source: &str, target: &str) -> Option<(&'static [u8], bool)> {
    let (source, target) = (primary(source), primary(target));
    BUNDLED.iter().find_map(|(first, second, bytes)| match (*first, *second) {
        pair if pair == (source.as_str(), target.as_str()) => Some((*bytes, false)),
        pair if pair == (target.as_str(), source.as_str()) => Some((*bytes, true)),
        _ => None,
    })
}

/// The language of a tag without its script and region.
fn primary(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}
