//! Floor 9: where the models that come with the program lie.

use std::path::{Path, PathBuf};

use crate::models::config::FORMAT;
use crate::models::folder::CONFIG_FILE;
use crate::models::{MODELS, disk};

/// The folder's name wherever it lies.
const FOLDER: &str = "models";

/// The bundled model folders in the order in which their papers were published, then by name; empty when none are
/// found.
///
/// They lie beside the executable or further up from it (`target/release/..`), in the current
/// directory, or where the program was built; the first place that has any counts.
pub fn models() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let executable = std::env::current_exe().ok();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let above = executable.iter().flat_map(|path| path.ancestors().skip(1).take(4));
    let roots = above.chain(here.as_deref()).chain([built]);
    roots.map(|root| models_in(&root.join(FOLDER))).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The model folders directly inside `folder`.
fn models_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut models: Vec<(usize, PathBuf)> = folders.filter_map(|path| Some((rank(&path)?, path))).collect();
    models.sort();
    models.into_iter().map(|(_, path)| path).collect()
}

/// One model of each architecture: what the window shows at its first start.
pub fn opening(models: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let fresh = |path: &&PathBuf| {
        let rank = rank(path);
        let fresh = !seen.contains(&rank);
        seen.push(rank);
        fresh
    };
    models.iter().filter(fresh).cloned().collect()
}

/// Where a folder's architecture stands in [`MODELS`], whose order is that of the papers; `None` for what is no model:
/// another `models` folder may hold configurations of other programs.
fn rank(folder: &Path) -> Option<usize> {
    let config: serde_json::Value =
        serde_json::from_slice(&disk::read(&folder.join(CONFIG_FILE), disk::CONFIG_LIMIT).ok()?).ok()?;
    let place = MODELS.iter().position(|entry| config["architecture"] == entry.name);
    (config["format"] == FORMAT).then(|| place.unwrap_or(MODELS.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_our_own_format_count_and_papers_come_in_their_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, config) in [
            ("a", "{\"format\": \"interlinear\", \"architecture\": \"luong\"}"),
            ("b", "{\"format\": \"interlinear\", \"architecture\": \"luong\"}"),
            ("c", "{\"format\": \"interlinear\", \"architecture\": \"rnnsearch\", \"hidden\": 3}"),
            ("d", "{\"format\": \"interlinear\", \"architecture\": \"rnnencdec\"}"),
            ("e", "{\"format\": \"interlinear\"}"),
            ("other", "{\"format\": \"gguf\"}"),
            ("nothing", "{\"model_type\": \"bert\"}"),
            ("broken", "{"),
        ] {
            std::fs::create_dir(folder.path().join(name)).expect("created");
            std::fs::write(folder.path().join(name).join(CONFIG_FILE), config).expect("written");
        }
        std::fs::create_dir(folder.path().join("empty")).expect("created");
        let folders = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| folder.path().join(name)).collect() };
        let models = models_in(folder.path());
        assert_eq!(models, folders(&["d", "c", "a", "b", "e"]));
        assert_eq!(opening(&models), folders(&["d", "c", "a", "e"]));
        assert!(models_in(&folder.path().join("nowhere")).is_empty());
    }
}
