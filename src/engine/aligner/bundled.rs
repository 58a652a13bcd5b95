//! What comes with the program: an aligner that has learned already, for pairs of languages that the bundled models
//! translate, and a file of the user's in its place. `assets/aligner/README.md` says from which text, and its licences.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{aligner::learned::Learned, decoding::SystemSpec, models::choice::ModelSpec, text::language::primary};

const BUNDLED: &[(&str, &str, &[u8])] = &[
    #[cfg(not(target_family = "wasm"))]
    ("en", "fr", include_bytes!("../../../assets/aligner/en-fr.aligner")),
    #[cfg(not(target_family = "wasm"))]
    ("en", "de", include_bytes!("../../../assets/aligner/en-de.aligner")),
];

/// An aligner file of the user's, which takes the place of what comes with the program for its languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignerFile {
    pub path: PathBuf,
    /// BCP 47 tags of what it has learned; empty where words were split by spaces: then it is for all languages.
    pub languages: (String, String),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelSpec>,
}

impl AlignerFile {
    pub fn open(path: PathBuf) -> Result<Self> {
        let languages = Learned::open(&path)?.languages;
        Ok(Self { path, languages, model: None })
    }

    fn fits(&self, source: &str, target: &str) -> Option<bool> {
        fits(&self.languages, (source, target), is_same)
    }
}

/// Whether what was learned of languages is for the two that are asked, and whether it has them the other way round.
fn fits(
    (first, second): &(String, String), (source, target): (&str, &str), is_it: impl Fn(&str, &str) -> bool,
) -> Option<bool> {
    if (first.is_empty() && second.is_empty()) || (is_it(source, first) && is_it(target, second)) {
        return Some(false);
    }
    (is_it(source, second) && is_it(target, first)).then_some(true)
}

fn is_same(asked: &str, learned: &str) -> bool {
    primary(asked) == primary(learned)
}

fn is_unknown(language: &str) -> bool {
    matches!(language, "" | "und" | "mul")
}

/// The user's files, one for each pair of languages and one for each model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignerFiles(Vec<AlignerFile>);

impl From<Option<AlignerFile>> for AlignerFiles {
    fn from(file: Option<AlignerFile>) -> Self {
        Self(file.into_iter().collect())
    }
}

impl AlignerFiles {
    pub fn iter(&self) -> impl Iterator<Item = &AlignerFile> {
        self.0.iter().rev()
    }

    pub fn add(&mut self, file: AlignerFile) {
        let is_replaced = |other: &AlignerFile| {
            other.model == file.model
                && (file.model.is_some() || other.fits(&file.languages.0, &file.languages.1).is_some())
        };
        self.0.retain(|other| !is_replaced(other));
        self.0.push(file);
    }

    pub fn remove(&mut self, gone: &AlignerFile) {
        self.0.retain(|file| file != gone);
    }

    fn of(&self, source: &str, target: &str) -> Option<&AlignerFile> {
        self.iter().find(|file| file.model.is_none() && file.fits(source, target).is_some())
    }

    /// The file of a model; none of several that translate as one.
    pub fn of_model(&self, system: &SystemSpec) -> Option<&AlignerFile> {
        let model = system.only()?;
        self.0.iter().find(|file| file.model.as_ref() == Some(model))
    }

    pub fn models_mut(&mut self) -> impl Iterator<Item = &mut ModelSpec> {
        self.0.iter_mut().filter_map(|file| file.model.as_mut())
    }

    pub fn has(&self, source: &str, target: &str) -> bool {
        self.of(source, target).is_some() || find(source, target).is_some()
    }
}

/// The aligner of two languages, given by their BCP 47 tags: the file that comes first, else the user's file for them,
/// else what comes with the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignerChoice {
    pub source: String,
    pub target: String,
    pub own: Option<AlignerFile>,
    /// The file of a corpus or of a model. Where it cannot be taken, words are linked without it.
    pub first: Option<PathBuf>,
    /// The languages are only likely: the file that comes first says better which they are.
    pub is_guess: bool,
}

impl AlignerChoice {
    /// Of a source and a target language.
    pub fn new((source, target): (String, String), own: &AlignerFiles) -> Self {
        let own = own.of(&source, &target).cloned();
        Self { source, target, own, ..Self::default() }
    }

    /// Of what a system reads and writes: the file of the corpus comes first, else that of the model.
    pub fn of_system(
        system: &SystemSpec, languages: (String, String), own: &AlignerFiles, corpus: Option<PathBuf>,
    ) -> Self {
        let of_model = || own.of_model(system).map(|file| file.path.clone());
        Self { first: corpus.or_else(of_model), ..Self::new(languages, own) }
    }

    pub fn with(languages: Option<(String, String)>, own: &AlignerFiles, first: Option<PathBuf>) -> Option<Self> {
        let languages = languages.or_else(|| first.is_some().then(Default::default))?;
        Some(Self { first, ..Self::new(languages, own) })
    }

    /// What was learned of them; `None` where nothing was.
    pub fn learned(&self) -> Option<Result<Learned>> {
        if let Some(Ok(first)) = self.first() {
            return Some(Ok(first));
        }
        let fitting = self.own.as_ref().and_then(|own| Some((own, own.fits(&self.source, &self.target)?)));
        let Some((own, is_turned)) = fitting else { return bundled(&self.source, &self.target) };
        let learned = Learned::open(&own.path);
        Some(if is_turned { learned.map(Learned::turned) } else { learned })
    }

    /// The tags by whose rules text is cut into words.
    pub fn tags<'a>(&'a self, learned: &'a Learned) -> (&'a str, &'a str) {
        let tag = |asked: &'a str, known: &'a str| if self.is_open(asked) && !known.is_empty() { known } else { asked };
        (tag(&self.source, &learned.languages.0), tag(&self.target, &learned.languages.1))
    }

    /// Why the file that comes first is not taken, and what to do, as a sentence.
    pub fn trouble(&self) -> Option<String> {
        let why = self.first()?.err()?;
        Some(format!("{why}. Until another aligner is chosen in its place, or none, words are linked without this one"))
    }

    fn first(&self) -> Option<Result<Learned>> {
        let path = self.first.as_deref()?;
        let asked = (self.source.as_str(), self.target.as_str());
        let is_it = |asked: &str, learned: &str| self.is_open(asked) || is_same(asked, learned);
        Some(Learned::open(path).and_then(|learned| match fits(&learned.languages, asked, is_it) {
            Some(true) => Ok(learned.turned()),
            Some(false) => Ok(learned),
            None => {
                let (source, target) = &learned.languages;
                let message =
                    format!("links words of {source} and {target}, and these are {} and {}", self.source, self.target);
                Err(Error::file(path, message))
            }
        }))
    }

    fn is_open(&self, language: &str) -> bool {
        self.is_guess || is_unknown(language)
    }
}

/// What was learned of two languages, given by their BCP 47 tags, in either order; `None` where nothing was.
pub fn bundled(source: &str, target: &str) -> Option<Result<Learned>> {
    let (bytes, is_turned) = find(source, target)?;
    let learned = Learned::from_bytes(Path::new("the bundled aligner"), bytes);
    Some(if is_turned { learned.map(Learned::turned) } else { learned })
}

fn find(source: &str, target: &str) -> Option<(&'static [u8], bool)> {
    let (source, target) = (primary(source), primary(target));
    BUNDLED.iter().find_map(|(first, second, bytes)| match (*first, *second) {
        pair if pair == (source.as_str(), target.as_str()) => Some((*bytes, false)),
        pair if pair == (target.as_str(), source.as_str()) => Some((*bytes, true)),
        _ => None,
    })
}
