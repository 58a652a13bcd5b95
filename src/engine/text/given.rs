//! Files that a person gave to the page of a browser. It has no disk, so they are held in memory, by paths that
//! nothing else has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<PathBuf, Arc<[u8]>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where files that are given next lie: a folder that no others have.
pub fn fresh_folder() -> PathBuf {
    let files = files();
    let is_taken = |folder: &PathBuf| files.keys().any(|path| path.starts_with(folder));
    (1..).map(|n| Path::new("given").join(n.to_string())).find(|folder| !is_taken(folder)).unwrap_or_default()
}

pub fn put(path: PathBuf, bytes: Vec<u8>) {
    files().insert(path, bytes.into());
}

pub fn get(path: &Path) -> Option<Arc<[u8]>> {
    files().get(path).cloned()
}

pub fn inside(folder: &Path) -> Vec<(String, Arc<[u8]>)> {
    let name = |path: &PathBuf| Some(path.strip_prefix(folder).ok()?.to_string_lossy().into_owned());
    files().iter().filter_map(|(path, bytes)| Some((name(path)?, Arc::clone(bytes)))).collect()
}
