//! Floor 9: what the explorer is opened with. A leaf.

use std::path::PathBuf;

use crate::nn::device::DeviceChoice;

/// A model that is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    pub folder: PathBuf,
    /// BCP 47 tags of what it reads and writes; empty where that is not known before it is read.
    pub languages: (String, String),
}

impl From<PathBuf> for Installed {
    fn from(folder: PathBuf) -> Self {
        Self { folder, ..Self::default() }
    }
}

/// What to open with.
#[derive(Clone, Debug, Default)]
pub struct OpenWith {
    /// Where the state is kept between starts; `None`: nowhere.
    pub saved: Option<PathBuf>,
    /// Model folders asked for; they replace the columns of the saved state.
    pub models: Vec<PathBuf>,
    /// Models that come with the program.
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
    /// A link, which is shown first.
    pub link: Option<String>,
    /// The address that links begin with; `None`: as saved.
    pub site: Option<String>,
    /// Where to compute; `None`: as saved, else `auto`.
    pub device: Option<DeviceChoice>,
    /// CPU threads for all columns together; `None`: all cores.
    pub threads: Option<usize>,
}
