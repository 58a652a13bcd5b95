//! Runs that break: killed while they write, on a full disk, twice in one folder. Nothing is lost, nothing left over.

use std::{fs, path::Path};

use interlinear::training::{RunOptions, trainer::TrainingReport};

use super::runs::{assert_same_files, timeless_log};
use super::{Toy, on, resumed};

const CHECKPOINT: &str = "out/training/checkpoint.safetensors";

fn left_over(toy: &Toy) -> Vec<String> {
    let names = |folder: &str| fs::read_dir(toy.path(folder)).into_iter().flatten().flatten();
    let names = names("out").chain(names("out/training")).map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".interlinear-")).collect()
}

const EARLY: &[(&str, &str)] =
    &[("measure_every = 7", "measure_every = 3"), ("checkpoint_every = 4", "checkpoint_every = 1000")];

#[test]
fn a_disk_that_fills_behind_the_first_best_model_leaves_a_run_to_go_on_with() {
    let (through, broken) = (Toy::new(EARLY), Toy::new(EARLY));
    through.train_through("toy.toml", &on(1));
    let (here, away) = (broken.path("out/training"), broken.path("out/away"));
    // no checkpoint can be written where there is no folder
    let failed = broken.train("toy.toml", &on(1), &mut |report| {
        if matches!(report, TrainingReport::Measure(_)) && here.exists() {
            fs::rename(&here, &away).expect("moved");
        }
        false
    });
    assert!(failed.is_err_and(|error| error.is_users()), "the checkpoint cannot be written");
    assert!(broken.path("out/model.safetensors").exists(), "there is a first best model");
    fs::rename(&away, &here).expect("moved back");
    broken.train_through("toy.toml", &resumed(1));
    assert_same_files(&broken, &through, "gone on with after a full disk");
}

#[cfg(unix)]
fn run_limited(folder: &Path, kib: usize, killed: bool) -> bool {
    let ignore = if killed { "" } else { "trap '' XFSZ; " };
    let script = format!("{ignore}ulimit -f {kib}; exec \"$0\" train toy.toml --threads 1");
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_interlinear")]).current_dir(folder);
    command.output().expect("bash").status.success()
}

#[cfg(unix)]
#[test]
fn a_run_whose_disk_fills_or_that_is_killed_at_any_write_goes_on() {
    let through = Toy::new(&[]);
    through.train_through("toy.toml", &on(1));
    let largest = through.read(CHECKPOINT).len() / 1024 + 1;
    for kib in (0..=largest).filter(|kib| *kib < 6 || kib % 4 == 0) {
        for killed in [false, true] {
            let what = format!("{kib} KiB a file, killed {killed}");
            let toy = Toy::new(&[]);
            if run_limited(&toy.folder, kib, killed) {
                assert!(kib >= largest - 1, "{what}: nothing was in the way");
                continue;
            }
            assert!(killed || left_over(&toy).is_empty(), "{what}: {:?}", left_over(&toy));
            let options = if toy.path(CHECKPOINT).exists() { resumed(1) } else { on(1) };
            toy.train("toy.toml", &options, &mut |_| false).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(timeless_log(&toy), timeless_log(&through), "{what}");
            assert!(toy.read("out/model.safetensors") == through.read("out/model.safetensors"), "{what}");
            assert!(left_over(&toy).is_empty(), "{what}: {:?}", left_over(&toy));
        }
    }
}

#[test]
fn a_log_that_ends_in_half_of_a_line_is_gone_on_with() {
    let through = Toy::new(&[]);
    through.train_through("toy.toml", &on(1));
    let line = "{\"update\":15,\"epoch\":1,\"loss\":0.5,\"nll\":\"\u{e9}\"}\n".as_bytes();
    let toy = Toy::new(&[]);
    let stop = |report: &TrainingReport| matches!(report, TrainingReport::Line(line) if line.update == 10);
    toy.train("toy.toml", &on(1), &mut |report| stop(report)).expect("stopped");
    let (log, checkpoint) = (toy.read("out/training/log.jsonl"), toy.read(CHECKPOINT));
    let model = fs::read(toy.path("out/model.safetensors")).ok();
    // The last cut is in the middle of a letter.
    for cut in [1, 9, 20, line.len() - 4] {
        toy.write("out/training/log.jsonl", &[&log, &line[..cut]].concat());
        toy.write(CHECKPOINT, &checkpoint);
        if let Some(model) = &model {
            toy.write("out/model.safetensors", model);
        }
        toy.train_through("toy.toml", &resumed(1));
        assert_same_files(&toy, &through, &format!("cut behind {cut} bytes"));
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_command_left_beside_its_output_goes_when_the_output_is_written_again() {
    let toy = Toy::new(&[]);
    let dictionary = |limit: &str| {
        let files = "--source train.en --target train.fr --output words.tsv --minimum 1";
        let script = format!("{limit}exec \"$0\" dictionary --statistical {files} --threads 1");
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_interlinear")]).current_dir(&toy.folder);
        command.output().expect("bash").status.success()
    };
    let ours = || {
        let names = fs::read_dir(&toy.folder).expect("a folder").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".interlinear-")).count()
    };
    toy.write(".interlinear-notes.tmp", b"of somebody else");
    assert!(!dictionary("ulimit -f 0; "), "nothing was in the way");
    assert_eq!((ours(), toy.path("words.tsv").exists()), (2, false), "it was killed between making and renaming");
    assert!(dictionary(""));
    assert_eq!((ours(), toy.path("words.tsv").exists()), (1, true));
}

#[test]
fn what_a_killed_run_was_writing_goes_at_the_next_start() {
    let toy = Toy::new(&[("updates = 22", "updates = 2")]);
    toy.train_through("toy.toml", &on(1));
    let files = ["out/.interlinear-abc.tmp", "out/training/.interlinear-def.tmp"];
    let foreign = ["out/.interlinear-notes", "out/training/other.tmp"];
    files.iter().chain(&foreign).for_each(|file| toy.write(file, b"half"));
    toy.train_through("toy.toml", &resumed(1));
    assert_eq!(files.map(|file| toy.path(file).exists()), [false; 2]);
    assert_eq!(foreign.map(|file| toy.path(file).exists()), [true; 2], "other files stay");
}

#[test]
fn two_trainings_in_one_folder_are_not_allowed() {
    let toy = Toy::new(&[]);
    let mut said = Vec::new();
    toy.train("toy.toml", &on(1), &mut |report| {
        if matches!(report, TrainingReport::Started { .. }) {
            for options in [resumed(1), on(1)] {
                let second = toy.train("toy.toml", &options, &mut |_| false);
                said.push(second.expect_err("the folder is taken").to_string());
            }
        }
        false
    })
    .expect("trained");
    let who = format!("process {}", std::process::id());
    assert!(said.len() == 2 && said.iter().all(|s| s.contains("another training") && s.contains(&who)), "{said:?}");
    toy.train_through("toy.toml", &resumed(1));
}

#[cfg(unix)]
#[test]
fn links_in_a_training_folder_are_not_written_through() {
    let toy = Toy::new(&[("updates = 22", "updates = 2")]);
    toy.train_through("toy.toml", &on(1));
    for name in ["checkpoint.safetensors", "log.jsonl", "lock"] {
        let (file, elsewhere) = (toy.path(&format!("out/training/{name}")), toy.path(name));
        fs::rename(&file, &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, &file).expect("linked");
    }
    let before = ["checkpoint.safetensors", "log.jsonl", "lock"].map(|name| toy.read(name));
    toy.configure("toy.toml", &[("updates = 22", "updates = 6")]);
    toy.train_through("toy.toml", &resumed(1));
    let after = ["checkpoint.safetensors", "log.jsonl", "lock"].map(|name| toy.read(name));
    assert!(before == after, "what the links lead to is as it was");
    assert!(!toy.path("out/training/log.jsonl").is_symlink());
}

#[test]
fn a_model_that_does_not_fit_is_refused_before_memory_is_taken() {
    let refused = |changes: &[(&str, &str)], memory: Option<u64>| {
        let toy = Toy::new(changes);
        let error = toy.train("toy.toml", &RunOptions { memory, ..on(1) }, &mut |_| false).expect_err("too large");
        assert!(error.is_users() && !toy.path("out").exists(), "{error}");
        error.to_string()
    };
    let sentence = refused(&[("hidden = 6", "hidden = 100000")], Some(16 << 30));
    assert!(sentence.contains("GiB") && sentence.contains("this machine has 16 GiB"), "{sentence}");
    let sentence = refused(&[("hidden = 6", "hidden = 9000000")], None);
    assert!(sentence.contains("does not give so much") && sentence.contains("[model]"), "{sentence}");
    refused(&[], Some(1000));
    for (change, name) in [
        (("hidden = 6", "hidden = 20000000"), "model.hidden"),
        (("embedding = 5", "embedding = 4611686018427387904"), "model.embedding"),
        (("target = \"train.fr\" ", "target = \"train.fr\", repeat = 1000000000 "), "repeat"),
    ] {
        let sentence = refused(&[change], None);
        assert!(sentence.contains(name), "{sentence}");
    }
}
