//! Floor 6: the folder of a run: one run at a time works in it, and what killed ones left half-written goes.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of checkpoint and log.
pub fn training_folder(output: &Path) -> PathBuf {
    output.join("training")
}

/// The checkpoint's file.
pub fn checkpoint_file(output: &Path) -> PathBuf {
    training_folder(output).join("checkpoint.safetensors")
}

/// While it lives no other run works in the folder. The system lets go of it however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the folder for this process and removes the temporary files of killed runs.
///
/// # Errors
/// A sentence that names the process which works in it already.
pub fn lock(output: &Path) -> Result<Lock> {
    let folder = training_folder(output);
    std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, &e))?;
    let path = folder.join("lock");
    let failed = |error: std::io::Error| Error::io(&path, &error);
    // a link could lead anywhere
    if std::fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_symlink()) {
        std::fs::remove_file(&path).map_err(failed)?;
    }
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(taken(output, &mut file)),
        // a disk of another machine may know no locks; then the user must know what runs
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    file.set_len(0).map_err(failed)?;
    writeln!(file, "process {}", std::process::id()).map_err(failed)?;
    clean(output);
    clean(&folder);
    Ok(Lock { _file: file })
}

fn taken(output: &Path, file: &mut File) -> Error {
    let mut who = String::new();
    // where a locked file cannot be read the sentence does without
    let _ = file.take(100).read_to_string(&mut who);
    let who = if who.trim().is_empty() { String::new() } else { format!(" ({})", who.trim()) };
    Error::file(
        output,
        format!("is where another training is at work{who}; wait for its end, or choose another `output`"),
    )
}

/// Removes what a killed process was writing. Other programs' files are left alone, and so is what cannot be removed.
fn clean(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_ours = name.strip_prefix(".interlinear-").is_some_and(|rest| rest.strip_suffix(".tmp").is_some());
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
