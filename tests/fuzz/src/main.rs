//! One reader of the table under libFuzzer; `INTERLINEAR_READER` names it.

#![no_main]

#[path = "../../readers/table.rs"]
mod table;

use std::{path::PathBuf, sync::LazyLock};

use libfuzzer_sys::fuzz_target;

struct Target {
    read: fn(&std::path::Path) -> interlinear::error::Result<()>,
    folder: PathBuf,
}

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("INTERLINEAR_READER").unwrap_or_default();
    let names = || table::READERS.iter().map(|reader| reader.name).collect::<Vec<_>>().join(", ");
    let reader = table::READERS.iter().find(|reader| reader.name == name);
    let read = reader.unwrap_or_else(|| panic!("INTERLINEAR_READER must be one of {}", names())).read;
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    Target { read, folder }
});

fuzz_target!(|bytes: &[u8]| {
    let path = TARGET.folder.join("input");
    std::fs::write(&path, bytes).expect("a temporary file");
    let _ = (TARGET.read)(&path);
    // readers may set a damaged file aside
    for entry in std::fs::read_dir(&TARGET.folder).expect("a temporary folder").flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
});
