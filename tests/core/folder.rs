//! Temporary folders and their files.

use std::ops::Deref;
use std::path::{Path, PathBuf};

/// It goes when it is dropped.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// And the path of a file of it, which is not there yet.
    pub fn and_path(name: &str) -> (Self, PathBuf) {
        Self::of(|folder| folder.join(name))
    }

    /// And what was made in it.
    pub fn of<T>(make: impl FnOnce(&Path) -> T) -> (Self, T) {
        let folder = Self::new();
        let made = make(&folder);
        (folder, made)
    }

    pub fn with<N: AsRef<Path>, T: AsRef<[u8]>>(files: impl IntoIterator<Item = (N, T)>) -> Self {
        let folder = Self::new();
        folder.put_all(files);
        folder
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// Files of a folder, by their names in it.
pub trait Files {
    fn put(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf;
    fn put_all<N: AsRef<Path>, T: AsRef<[u8]>>(&self, files: impl IntoIterator<Item = (N, T)>);
    fn text(&self, name: impl AsRef<Path>) -> String;
}

impl Files for Path {
    fn put(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }

    fn put_all<N: AsRef<Path>, T: AsRef<[u8]>>(&self, files: impl IntoIterator<Item = (N, T)>) {
        files.into_iter().for_each(|(name, bytes)| drop(self.put(name, bytes)));
    }

    #[track_caller]
    fn text(&self, name: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.join(name)).expect("a text")
    }
}
