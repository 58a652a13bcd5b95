//! What the explorer is opened with. A leaf.

use std::path::PathBuf;

use engine::{models::choice::ModelSpec, nn::device::DeviceChoice};

pub use engine::models::choice::Installed;

/// All models of a pair of languages, in the order of installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguagePair<'a> {
    pub languages: &'a (String, String),
    pub models: Vec<&'a Installed>,
}

impl<'a> LanguagePair<'a> {
    pub fn all(models: &'a [Installed]) -> Vec<Self> {
        let mut pairs: Vec<Self> = Vec::new();
        for model in models {
            match pairs.iter_mut().find(|pair| *pair.languages == model.languages) {
                Some(pair) => pair.models.push(model),
                None => pairs.push(Self { languages: &model.languages, models: vec![model] }),
            }
        }
        pairs
    }

    /// The best model, and all that lie beside it: copies of a training lie in a folder of their own.
    pub fn best(&self) -> Option<(&'a Installed, Vec<&'a Installed>)> {
        let best = *self.models.iter().rev().max_by_key(|model| model.state)?;
        let lies_beside = |model: &&&Installed| model.folder.parent() == best.folder.parent();
        Some((best, self.models.iter().filter(lies_beside).copied().collect()))
    }
}

/// Options of the start.
#[derive(Clone, Debug, Default)]
pub struct OpenWith {
    /// Where the state is kept between starts; `None`: nowhere.
    pub saved: Option<PathBuf>,
    /// The text of a saved state where there are no files; one that cannot be read is as none.
    pub kept: Option<String>,
    /// Models asked for; they replace the columns of the saved state.
    pub models: Vec<ModelSpec>,
    pub bundled: Vec<Installed>,
    /// Those of them that are shown when there is nothing else.
    pub opening: Vec<PathBuf>,
    /// Where this user keeps models.
    pub home: Option<PathBuf>,
    /// A text file to open as the list.
    pub source: Option<PathBuf>,
    /// Its translation, line by line.
    pub target: Option<PathBuf>,
    /// Files that say themselves what they are, opened as if they were dropped on the window.
    pub files: Vec<PathBuf>,
    /// A file with a sentence and what is set in it.
    pub interventions: Option<PathBuf>,
    pub link: Option<String>,
    /// In the mode for a class.
    pub class: bool,
    /// The address that links begin with; `None`: as saved.
    pub site: Option<String>,
    /// Where to compute; `None`: as saved, else `auto`.
    pub device: Option<DeviceChoice>,
    /// CPU threads for all columns together; `None`: all cores.
    pub threads: Option<usize>,
}
