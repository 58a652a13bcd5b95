//! Floor 9: where the models that come with the program lie.

use std::path::Path;
use std::path::PathBuf;

/// The folder's name wherever it lies.
const FOLDER: &str = "models";

/// The bundled model folders, sorted by name; empty when none are found.
///
/// They lie beside the current directory's files, beside the executable or further up from it
/// (`target/release/..`), or where the program was built.
pub fn models() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let executable = std::env::current_exe().ok();
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let above = executable.iter().flat_map(|path| path.ancestors().skip(1).take(4));
    let roots = here.iter().map(PathBuf::as_path).chain(above).chain([built]);
    roots.map(|root| models_in(&root.join(FOLDER))).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The model folders directly inside `folder`.
fn models_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut models: Vec<PathBuf> = folders.filter(|path| path.join("config.json").is_file()).collect();
    // Cho's model comes before Bahdanau's, in the order in which they were published.
    models.sort();
    models
}
