//! Floor 9: where the models that come with the program lie.

use std::path::Path;
use std::path::PathBuf;

use crate::models::config::FORMAT;
use crate::models::folder::CONFIG_FILE;

/// The folder's name wherever it lies.
const FOLDER: &str = "models";

/// The bundled model folders, sorted by name; empty when none are found.
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
    let mut models: Vec<PathBuf> = folders.filter(|path| is_model(path)).collect();
    // Cho's model comes before Bahdanau's, in the order in which they were published.
    models.sort();
    models
}

/// Somebody else's `models` folder may hold configurations of anything.
fn is_model(folder: &Path) -> bool {
    let config = std::fs::read(folder.join(CONFIG_FILE)).unwrap_or_default();
    serde_json::from_slice::<serde_json::Value>(&config).is_ok_and(|config| config["format"] == FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_our_own_format_count() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, config) in [
            ("b", "{\"format\": \"interlinear\"}"),
            ("a", "{\"format\": \"interlinear\", \"hidden\": 3}"),
            ("other", "{\"format\": \"gguf\"}"),
            ("nothing", "{\"model_type\": \"bert\"}"),
            ("broken", "{"),
        ] {
            std::fs::create_dir(folder.path().join(name)).expect("created");
            std::fs::write(folder.path().join(name).join(CONFIG_FILE), config).expect("written");
        }
        std::fs::create_dir(folder.path().join("empty")).expect("created");
        assert_eq!(models_in(folder.path()), ["a", "b"].map(|name| folder.path().join(name)));
        assert!(models_in(&folder.path().join("nowhere")).is_empty());
    }
}
