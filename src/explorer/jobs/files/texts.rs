//! The texts of a folder, read again when one of them is saved.

use std::path::{Path, PathBuf};

use crate::jobs::files::follow::{FileLook, FollowedFiles, look};
use crate::jobs::thread::caught;
use engine::error::Error;

const ENDING: &str = "toml";
/// A longer text is none that a person wrote for this.
const LONGEST_BYTES: u64 = 1 << 20;
const MOST_FILES: usize = 200;

/// All texts of a folder as they stand now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FolderTexts {
    /// In the order of their names: what is in them, or why they cannot be read, as a sentence.
    pub files: Vec<(PathBuf, Result<String, String>)>,
}

/// What the files of folders looked like.
#[derive(Debug, Default)]
pub struct Folders {
    seen: Option<Vec<(PathBuf, FileLook)>>,
}

impl FollowedFiles for Folders {
    type Seen = FolderTexts;

    fn look(&mut self, paths: &[PathBuf]) -> Vec<FolderTexts> {
        let now: Vec<(PathBuf, FileLook)> = paths.iter().flat_map(|folder| files(folder)).collect();
        if self.seen.as_ref() == Some(&now) {
            return Vec::new();
        }
        // The looks were taken before reading: a change in between is seen the next time.
        let files = now.iter().map(|(path, look)| (path.clone(), read(path, *look))).collect();
        self.seen = Some(now);
        vec![FolderTexts { files }]
    }
}

/// The texts of a folder; a folder that is not there has none.
fn files(folder: &Path) -> Vec<(PathBuf, FileLook)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_text = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|end| end == ENDING);
    let mut paths: Vec<PathBuf> = paths.filter(is_text).collect();
    paths.sort();
    paths.truncate(MOST_FILES);
    paths.into_iter().map(|path| (path.clone(), look(&path))).collect()
}

fn read(path: &Path, look: FileLook) -> Result<String, String> {
    if look.is_some_and(|(bytes, _)| bytes > LONGEST_BYTES) {
        return Err(Error::file(path, "is longer than 1 MiB; a lesson is a few pages of text").to_string());
    }
    let text = caught(|| std::fs::read_to_string(path).map_err(|error| Error::io(path, &error).to_string()));
    text.unwrap_or_else(|words| Err(format!("{}: {words}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_again_only_when_one_has_changed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let paths = [folder.path().to_path_buf()];
        let mut folders = Folders::default();
        assert_eq!(folders.look(&paths), [FolderTexts::default()]);
        assert!(folders.look(&paths).is_empty());
        std::fs::write(folder.path().join("b.toml"), "two").expect("written");
        std::fs::write(folder.path().join("notes.txt"), "no").expect("written");
        let changed = folders.look(&paths);
        assert_eq!(changed[0].files, [(folder.path().join("b.toml"), Ok("two".to_owned()))]);
        std::fs::write(folder.path().join("b.toml"), "longer").expect("written");
        std::fs::write(folder.path().join("a.toml"), [0xff, 0xfe]).expect("written");
        let changed = folders.look(&paths);
        assert!(changed[0].files[0].1.as_ref().is_err_and(|words| words.contains("a.toml")), "{changed:?}");
        assert_eq!(changed[0].files[1].1, Ok("longer".to_owned()));
        assert!(folders.look(&paths).is_empty());
        assert_eq!(Folders::default().look(&[folder.path().join("nowhere")]), [FolderTexts::default()]);
    }
}
