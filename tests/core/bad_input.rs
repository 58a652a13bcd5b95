//! Whatever a user can get wrong ends in one sentence that names it, with exit code 2, and the rest keeps working.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{Outcome, REFERENCES, feed, reference, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::models::each_fault;

pub fn copy_of(model: &str, folder: &Path) -> PathBuf {
    let copy = folder.join("model");
    fs::create_dir(&copy).expect("created");
    for entry in fs::read_dir(reference(model)).expect("the fixture is there") {
        let path = entry.expect("an entry").path();
        copy.put(path.file_name().expect("a name"), fs::read(&path).expect("read"));
    }
    copy
}

fn assert_told(outcome: &Outcome, code: i32, names: &[&str], case: &str) {
    assert_eq!(outcome.code, code, "{case}: {}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("panicked") && !outcome.stderr.contains("internal error"),
        "{case}: {}",
        outcome.stderr
    );
    assert!(
        !outcome.stderr.is_empty() && outcome.stderr.lines().all(|line| line.starts_with("interlinear: ")),
        "{case}: {}",
        outcome.stderr
    );
    for name in names {
        assert!(outcome.stderr.contains(name), "{case}: no {name} in {}", outcome.stderr);
    }
}

pub fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("text");
    assert!(text.contains(from), "{from} in {text}");
    fs::write(path, text.replace(from, to)).expect("written");
}

type NoModel = (&'static str, fn(&Path), &'static str);

const NO_MODELS: &[NoModel] = &[
    ("no folder", |_| {}, "model"),
    ("a file instead", |m| fs::write(m, "x").expect("written"), "model"),
    ("an empty folder", |m| fs::create_dir(m).expect("created"), "config.json"),
];

fn assert_refused(folder: &Path, names: &[&str], case: &str) {
    for arguments in [&["translate", "--model", "model"][..], &["inspect", "model"]] {
        let outcome = feed(folder, arguments, b"s2 s3\n");
        assert_told(&outcome, 2, names, case);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.lines().count()), ("", 1), "{case}: {}", outcome.stderr);
    }
}

#[test]
fn every_fault_of_a_model_folder_is_named() {
    each_fault(|model, file, says| {
        assert_refused(model.parent().expect("a folder"), &[file, says], says);
    });
    for (case, make, name) in NO_MODELS {
        let folder = Folder::new();
        make(&folder.join("model"));
        assert_refused(&folder, &["model", name], case);
    }
}

#[test]
fn a_rank_that_is_not_there_is_named() {
    let folder = Folder::new();
    let model = copy_of("rnnencdec", &folder);
    replace(&model.join("config.json"), "\"maxout\"", "\"output_rank\": 3, \"maxout\"");
    assert_told(&run_line(&folder, "inspect model"), 2, &["model.safetensors", "readout.G"], "rank");
}

fn translate(model: &str, extra: &[&str], stdin: &[u8]) -> Outcome {
    let folder = Folder::new();
    let path = reference(model);
    let arguments =
        [&["translate", "--max-length", "9", "--model", path.to_str().expect("a plain path")], extra].concat();
    feed(&folder, &arguments, stdin)
}

#[test]
fn any_text_is_translated_or_refused_by_line() {
    let words = |count: usize| vec!["s2"; count].join(" ");
    let megabyte = "a b ".repeat(250_000);
    // The text, and whether a model reads it.
    let cases: &[(&str, String, bool)] = &[
        ("1 word", words(1), true),
        ("1,000 words", words(1000), true),
        ("1,001 words", words(1001), false),
        ("a megabyte", megabyte.clone(), false),
        ("a megabyte without a space", "x".repeat(1 << 20), false),
        ("control characters", "s2 \u{1}\u{7f}\u{1b}[31m \u{0} s3\u{b}\u{c}".into(), true),
        ("emoji", "👩‍👩‍👧‍👦 s2 🇫🇷 👍🏽".into(), true),
        ("Arabic", "مرحبا بالعالم s2".into(), true),
        ("combining marks", "e\u{301}\u{302}\u{303}".repeat(100), true),
        ("invisible", "\u{200b}\u{feff}\u{2060}".into(), true),
        ("the names of specials", "</s> [UNK] <pad> s2 </s>".into(), true),
    ];
    for (model, _) in REFERENCES {
        for (case, text, readable) in cases {
            let outcome = translate(model, &["--beam", "2"], format!("s3\n{text}\ns3\n").as_bytes());
            let lines: Vec<&str> = outcome.stdout.split('\n').collect();
            assert_eq!(lines.len(), 4, "{model}, {case}: {:?}", outcome.stdout);
            assert_eq!(lines[0], lines[2], "{model}, {case}: the neighbours are translated alike");
            if *readable {
                assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{model}, {case}");
            } else {
                assert_eq!(lines[1], "", "{case}");
                assert_told(&outcome, 2, &["standard input, line 2", "1 line"], case);
            }
        }
    }
}

#[test]
fn nothing_and_empty_lines_give_nothing() {
    for (stdin, stdout) in [("\n", "\n"), (" \t \n\n", "\n\n")] {
        let outcome = translate("rnnsearch", &[], stdin.as_bytes());
        assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, stdout, ""), "{stdin:?}");
    }
}

#[test]
fn text_that_is_not_utf8_is_named_by_line_after_what_came_before() {
    let outcome = translate("rnnsearch", &[], b"s2\ns3\ncaf\xe9\ns4\n");
    assert_told(&outcome, 2, &["standard input, line 3", "UTF-8"], "latin 1");
    assert_eq!(outcome.stdout.lines().count(), 2, "{}", outcome.stdout);
}

#[test]
fn files_that_do_not_fit_are_named() {
    let folder = Folder::new();
    let write = |name: &str, bytes: &[u8]| folder.put(name, bytes);
    write("three", b"s2\ns3\ns4\n");
    write("two", b"t2\nt3\n");
    write("latin1", b"caf\xe9\nt3\nt4\n");
    write("empty", b"");
    write("cut.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb");
    write("cut.zst", b"\x28\xb5\x2f\xfd\x04");
    fs::create_dir(folder.join("folder")).expect("created");
    let model = &*reference_word("rnnsearch");
    let cases: &[(&[&str], &[&str])] = &[
        (&["translate", "nowhere"], &["nowhere", "does not exist"]),
        (&["translate", "folder"], &["folder"]),
        (&["translate", "cut.gz"], &["cut.gz"]),
        (&["translate", "cut.zst"], &["cut.zst"]),
        (&["translate", "latin1"], &["latin1, line 1"]),
        (&["score", "--source", "three", "--target", "two"], &["two", "line 2", "three"]),
        (&["score", "--source", "two", "--target", "three"], &["two", "line 2", "three"]),
        (&["score", "--source", "three", "--target", "latin1"], &["latin1, line 1"]),
        (&["score", "--source", "three", "--target", "nowhere"], &["nowhere"]),
        (&["evaluate", "--source", "two", "--target", "two", "--bootstrap", "9"], &["--paired-bs", "--model"]),
        (&["evaluate", "--source", "two", "--target", "two", "--paired-ar", "9"], &["--paired-ar", "--model"]),
        (&["evaluate", "--source", "three", "--target", "two"], &["two", "line 2"]),
        (&["evaluate", "--source", "empty", "--target", "empty"], &["empty"]),
        (&["bench", "--quick", "--json", "no/where.json"], &["no: is a folder that does not exist"]),
    ];
    for (arguments, names) in cases {
        let outcome = run_in(&folder, &[arguments, &["--model", model][..]].concat());
        assert_told(&outcome, 2, names, &format!("{arguments:?}"));
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused_in_a_sentence() {
    let model = &*reference_word("rnnencdec");
    let cases: &[(&[&str], &[&str])] = &[
        (&["frobnicate"], &["frobnicate"]),
        (&["ablate"], &["--model"]),
        (&["translate", "--model", model, "--frob"], &["--frob"]),
        (&["translate", "--model", model, "--beam", "0"], &["--beam", "0"]),
        (&["translate", "--model", model, "--beam", "many"], &["--beam", "many"]),
        (&["translate", "--model", model, "--threads", "0"], &["--threads", "0"]),
        (&["translate", "--model", model, "--batch", "-1"], &["-1"]),
        (&["translate", "--model", model, "--length-normalization", "NaN"], &["--length-normalization", "NaN"]),
        (&["translate", "--model", model, "--length-normalization", "-1"], &["--length-normalization", "-1"]),
        (&["map", "--model", model, "--method", "pca", "--perplexity", "9"], &["--perplexity", "tsne", "pca"]),
        (&["neighbours", "--model", model, "s3 s4"], &["\"s3 s4\"", "--phrases"]),
        (&["translate", "--model", model, "--format", "xml"], &["--format", "xml"]),
        (&["translate", "--model", model, "--nbest", "6"], &["--nbest 6", "--beam 5"]),
        (&["translate", "--model", model, "--format", "pharaoh"], &["--format pharaoh", "rnnencdec"]),
        (&["translate", "--model", model, "--replace-unk"], &["--replace-unk", "rnnencdec"]),
        (&["translate", "--model", model, "--device", "gpu"], &["--device", "gpu"]),
        (&["score", "--model", model], &["--source", "--target"]),
        (&["evaluate", "--model", model], &["--source", "--target"]),
        (&["inspect"], &["DIR"]),
        (&["inspect", "nowhere"], &["nowhere"]),
        (&["bench", "--repeat", "0"], &["--repeat", "0"]),
        (&["explore", "--model", "nowhere"], &["nowhere"]),
        (&["explore", "--source", "nowhere.txt"], &["nowhere.txt"]),
        (&["explore", "--target", "x"], &["--source"]),
    ];
    let folder = Folder::new();
    for (arguments, names) in cases {
        let outcome = run_in(&folder, arguments);
        assert_told(&outcome, 2, names, &format!("{arguments:?}"));
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.lines().count()), ("", 1), "{arguments:?}");
    }
}

#[test]
fn a_device_that_is_not_there_is_named() {
    for device in ["cuda", "cuda:7", "metal"] {
        if cfg!(any(feature = "cuda", feature = "metal")) && device != "cuda:7" {
            continue;
        }
        let word = if device == "metal" { "metal" } else { "cuda" };
        assert_told(&translate("rnnsearch", &["--device", device], b"s2\n"), 2, &[word], device);
    }
    let outcome = translate("rnnsearch", &["--device", "auto"], b"s2\n");
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 1), "{}", outcome.stderr);
}

/// `/dev/full` is a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_nothing_panics() {
    let folder = Folder::new();
    folder.put("source", "s2 s3\n".repeat(50));
    folder.put("target", "t2 t3\n".repeat(50));
    let model = &*reference_word("rnnsearch");
    let files = ["--source", "source", "--target", "target", "--model", model];
    let cases: [Vec<&str>; 5] = [
        vec!["translate", "--model", model, "source"],
        [&["score"], &files[..]].concat(),
        [&["evaluate"], &files[..]].concat(),
        vec!["inspect", model],
        vec!["--help"],
    ];
    for arguments in cases {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_interlinear"))
            .args(&arguments)
            .current_dir(&folder)
            .stdout(full)
            .output()
            .expect("the program ends");
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        let (code, arguments) = (done.status.code().unwrap_or(-1), arguments.join(" "));
        let outcome = Outcome { arguments, code, stdout: String::new(), stderr };
        assert_told(&outcome, 2, &["standard output", "disk is full"], &outcome.arguments);
    }
}
