//! What a second start of the program gives to the window that is open: files in a folder beside its state. No
//! socket, since the program opens no connection of any kind; the lock on the state says whether a window is there.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::jobs::files::follow::FollowedFiles;
use engine::error::{Error, Result};
use engine::models::choice::ModelSpec;
use engine::text::write::{make_private_folder, write_private};

/// A longer one is not of this program.
const LONGEST_BYTES: u64 = 1 << 20;
/// How the names of the files end; others, half written, are left.
const ENDING: &str = "json";

/// What one start was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GivenOver {
    /// Files and folders that say themselves what they are.
    pub files: Vec<PathBuf>,
    pub models: Vec<ModelSpec>,
    pub source: Option<PathBuf>,
    pub target: Option<PathBuf>,
    pub link: Option<String>,
}

impl GivenOver {
    /// Puts it into the inbox of the state at this path and says where; the window takes it from there.
    pub fn send(&self, state: &Path) -> Result<PathBuf> {
        let folder = inbox_of(state);
        make_private_folder(&folder)?;
        // No two processes have the same number at once, and one sends once.
        let path = folder.join(format!("{}.{ENDING}", std::process::id()));
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::Input(format!("what was given cannot be told to the window ({error})")))?;
        write_private(&path, |file| file.write_all(&text))?;
        Ok(path)
    }
}

pub fn inbox_of(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".inbox");
    name.into()
}

/// Reads and removes the files of inboxes.
#[derive(Debug, Default)]
pub struct Inboxes;

impl FollowedFiles for Inboxes {
    type Seen = GivenOver;

    fn look(&mut self, folders: &[PathBuf]) -> Vec<GivenOver> {
        let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
        paths.sort();
        paths.iter().filter_map(|path| take(path)).collect()
    }
}

/// Reads a file and removes it, which tells the other process that it was taken.
fn take(path: &Path) -> Option<GivenOver> {
    let facts = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let bytes = (facts.len() <= LONGEST_BYTES).then(|| std::fs::read(path).ok()).flatten();
    std::fs::remove_file(path).ok()?;
    serde_json::from_slice(&bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_taken_once_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = folder.path().join("session.json");
        let look = || Inboxes.look(&[inbox_of(&state)]);
        assert!(look().is_empty(), "there is no inbox yet");
        let given = GivenOver { files: vec!["a b.ilw".into()], source: Some("é.en".into()), ..GivenOver::default() };
        let path = given.send(&state).expect("sent");
        let beside = |name: &str| path.with_file_name(name);
        std::fs::write(beside("half.tmp"), "{").expect("written");
        std::fs::write(beside("damaged.json"), "[1, ").expect("written");
        std::fs::create_dir(beside("folder.json")).expect("created");
        assert_eq!(look(), [given]);
        assert!(look().is_empty() && !path.exists());
        assert!(beside("half.tmp").exists() && !beside("damaged.json").exists() && beside("folder.json").exists());
    }
}
