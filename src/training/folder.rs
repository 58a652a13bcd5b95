//! The folder of a run: one run at a time works in it, and what killed ones left half-written goes.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use engine::error::{Error, Result};
use engine::text::write::remove_left_over;

/// The folder of checkpoint and log.
pub fn training_folder(output: &Path) -> PathBuf {
    output.join("training")
}

pub fn checkpoint_file(output: &Path) -> PathBuf {
    training_folder(output).join("checkpoint.safetensors")
}

/// Takes the folder for this process and removes the temporary files of killed runs. While the file that it gives is
/// open no other run works in the folder; the system lets go of it however the process ends.
pub fn lock(output: &Path) -> Result<File> {
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
    remove_left_over(output);
    remove_left_over(&folder);
    Ok(file)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{log::Log, optimizer::OptimizerMemory, state::Checkpoint};
    use engine::models::{Model, checkpoint::Weights, config::Config, shapes};
    use engine::nn::device::Device;
    use engine::text::{tokenizer::Tokenizer, write::faults};

    /// Writes over `path` by `save`, failing and killed at every call; each time the next run starts, and then `holds`
    /// looks whether the file says what it said before or what it was to say.
    fn survives(output: &Path, path: &Path, mut save: impl FnMut() -> Result<()>, mut holds: impl FnMut(bool) -> bool) {
        let before = std::fs::read(path).expect("it is there");
        faults::at_every_call(
            4,
            || {
                std::fs::write(path, &before).expect("a temporary folder");
                save()
            },
            |what, failed, _| {
                let what = format!("{}, {what}", path.display());
                assert!(!failed || std::fs::read(path).is_ok_and(|bytes| bytes == before), "{what}: not as it was");
                lock(output).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(holds(!failed), "{what}: lost");
                for folder in [output, &training_folder(output)] {
                    assert_eq!(faults::left_over(folder), [""; 0], "{what}");
                }
            },
        );
    }

    #[test]
    fn a_run_killed_at_any_call_of_writing_its_checkpoint_or_log_loses_nothing_and_leaves_nothing_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path();
        drop(lock(output).expect("it is free"));
        let state = |value: f32| {
            let numbers = vec![value; 9000];
            let memory = OptimizerMemory { first: numbers.clone(), second: numbers.clone() };
            Checkpoint { weights: numbers, memory, ..Checkpoint::default() }
        };
        let (path, old, new) = (checkpoint_file(output), state(1.0), state(2.0));
        old.save(&path).expect("a temporary folder");
        let holds =
            |is_new| Checkpoint::load(&path, 9000).is_ok_and(|found| found == *if is_new { &new } else { &old });
        survives(output, &path, || new.save(&path), holds);

        let path = training_folder(output).join("log.jsonl");
        let lines: String = (1..=3000).map(|update| format!("{{\"update\":{update}}}\n")).collect();
        std::fs::write(&path, &lines).expect("a temporary folder");
        let holds = |is_new| {
            let text = std::fs::read_to_string(&path).expect("it is there");
            lines.starts_with(&text) && text.lines().count() == if is_new { 2000 } else { 3000 }
        };
        survives(output, &path, || Log::open(&path, 2000).map(drop), holds);
    }

    #[test]
    fn a_run_killed_at_any_call_of_writing_its_model_leaves_the_one_before() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path();
        drop(lock(output).expect("it is free"));
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/rnnencdec");
        let Model { config, weights: old, source, target, .. } =
            Model::load(&reference, &Device::cpu()).expect("the fixture is sound");
        let path = |name: &str| output.join(name);
        let file = path("model.safetensors");
        old.save(&file, false).expect("a temporary folder");
        let mut new = (*old).clone();
        new.iter_mut().for_each(|(_, array)| array.data.iter_mut().for_each(|x| *x += 1.0));
        let holds = |is_new| {
            let wanted = if is_new { &new } else { &*old };
            Weights::load(&file, &shapes(&config)).is_ok_and(|found| found.iter().eq(wanted.iter()))
        };
        survives(output, &file, || new.save(&file, false), holds);

        let file = path("config.json");
        let renamed = Config { name: "another".to_owned(), ..config.clone() };
        config.save(&file).expect("a temporary folder");
        let holds = |is_new| Config::load(&file).is_ok_and(|found| found == *if is_new { &renamed } else { &config });
        survives(output, &file, || renamed.save(&file), holds);

        let file = path("source.tokenizer.json");
        source.save(&file).expect("a temporary folder");
        let words = |tokenizer: &Tokenizer| (0..9).map(|id| tokenizer.token(id).map(str::to_owned)).collect::<Vec<_>>();
        let holds = |is_new| {
            let found = Tokenizer::from_file(&file).expect("a tokenizer");
            words(&found) == words(if is_new { &target } else { &source })
        };
        survives(output, &file, || target.save(&file), holds);
    }
}
