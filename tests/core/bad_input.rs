//! Whatever a user can get wrong ends in one sentence that names it, with exit code 2, and the rest keeps working.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::cli::{Outcome, REFERENCES, reference, run_in};

/// A copy of a reference model that a test may spoil.
pub fn copy_of(model: &str, folder: &Path) -> PathBuf {
    let copy = folder.join("model");
    fs::create_dir(&copy).expect("created");
    for entry in fs::read_dir(reference(model)).expect("the fixture is there") {
        let path = entry.expect("an entry").path();
        fs::write(copy.join(path.file_name().expect("a name")), fs::read(&path).expect("read")).expect("written");
    }
    copy
}

/// One sentence for each fault, with the program's name, and none of it a panic.
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

/// Changes a file of a model.
fn change(path: &Path, with: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = fs::read(path).expect("read");
    fs::write(path, with(bytes)).expect("written");
}

pub fn replace(path: &Path, from: &str, to: &str) {
    change(path, |bytes| {
        let text = String::from_utf8(bytes).expect("text");
        assert!(text.contains(from), "{from} in {text}");
        text.replace(from, to).into_bytes()
    });
}

/// Rewrites the weights with one tensor changed; `None` drops it.
fn change_tensor(path: &Path, name: &str, with: impl Fn(Vec<usize>, Vec<f32>) -> Option<(Vec<usize>, Vec<f32>)>) {
    change(path, |bytes| {
        let read = SafeTensors::deserialize(&bytes).expect("the fixture is sound");
        let mut tensors = Vec::new();
        for (key, view) in read.tensors() {
            let data: Vec<f32> =
                view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            let changed =
                if key == name { with(view.shape().to_vec(), data) } else { Some((view.shape().to_vec(), data)) };
            if let Some((shape, data)) = changed {
                tensors.push((key, shape, data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()));
            }
        }
        let views = tensors.iter().map(|(key, shape, bytes)| {
            (key.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).expect("shape and data agree"))
        });
        safetensors::serialize(views, None).expect("serialised")
    });
}

/// What is done to a model folder, and what the sentence must name.
type Spoiling = (&'static str, fn(&Path), &'static [&'static str]);

const SPOILINGS: &[Spoiling] = &[
    ("no folder", |m| fs::remove_dir_all(m).expect("removed"), &["model"]),
    (
        "a file instead",
        |m| {
            fs::remove_dir_all(m).expect("removed");
            fs::write(m, "x").expect("written");
        },
        &["model"],
    ),
    (
        "an empty folder",
        |m| {
            fs::remove_dir_all(m).expect("removed");
            fs::create_dir(m).expect("created");
        },
        &["model", "config.json"],
    ),
    ("no config", |m| fs::remove_file(m.join("config.json")).expect("removed"), &["config.json"]),
    ("an empty config", |m| change(&m.join("config.json"), |_| Vec::new()), &["config.json"]),
    ("a truncated config", |m| change(&m.join("config.json"), |b| b[..b.len() / 2].to_vec()), &["config.json"]),
    ("a config that is not UTF-8", |m| change(&m.join("config.json"), |_| vec![0xff, 0xfe, 0]), &["config.json"]),
    (
        "a config of another program",
        |m| change(&m.join("config.json"), |_| br#"{"model_type": "marian"}"#.to_vec()),
        &["config.json"],
    ),
    (
        "an unknown key",
        |m| replace(&m.join("config.json"), "\"eos\"", "\"dropout\": 0.1, \"eos\""),
        &["config.json", "dropout"],
    ),
    ("a missing key", |m| replace(&m.join("config.json"), "\"hidden\": 6,", ""), &["config.json", "hidden"]),
    ("a size of 0", |m| replace(&m.join("config.json"), "\"hidden\": 6", "\"hidden\": 0"), &["config.json", "hidden"]),
    (
        "a negative size",
        |m| replace(&m.join("config.json"), "\"hidden\": 6", "\"hidden\": -6"),
        &["config.json", "hidden"],
    ),
    (
        "an enormous size",
        |m| replace(&m.join("config.json"), "\"hidden\": 6", "\"hidden\": 4611686018427387904"),
        &["config.json", "hidden"],
    ),
    (
        "another size",
        |m| replace(&m.join("config.json"), "\"hidden\": 6", "\"hidden\": 7"),
        &["model.safetensors", "tensor"],
    ),
    (
        "a later version",
        |m| replace(&m.join("config.json"), "\"version\": 1", "\"version\": 2"),
        &["config.json", "version"],
    ),
    (
        "an unknown architecture",
        |m| replace(&m.join("config.json"), "\"rnnsearch\",\n \"source_v", "\"transformer\",\n \"source_v"),
        &["config.json", "architecture"],
    ),
    (
        "eos outside the vocabulary",
        |m| replace(&m.join("config.json"), "\"eos\": 0", "\"eos\": 33"),
        &["config.json", "eos"],
    ),
    (
        "eos at another word",
        |m| replace(&m.join("config.json"), "\"eos\": 0", "\"eos\": 5"),
        &["tokenizer.json", "eos"],
    ),
    ("no weights", |m| fs::remove_file(m.join("model.safetensors")).expect("removed"), &["model.safetensors"]),
    ("empty weights", |m| change(&m.join("model.safetensors"), |_| Vec::new()), &["model.safetensors"]),
    (
        "truncated weights",
        |m| change(&m.join("model.safetensors"), |b| b[..b.len() - 100].to_vec()),
        &["model.safetensors"],
    ),
    ("a truncated header", |m| change(&m.join("model.safetensors"), |b| b[..40].to_vec()), &["model.safetensors"]),
    (
        "a header of absurd length",
        |m| {
            change(&m.join("model.safetensors"), |mut b| {
                b[..8].fill(0xff);
                b
            });
        },
        &["model.safetensors"],
    ),
    (
        "a pickle instead",
        |m| change(&m.join("model.safetensors"), |_| b"\x80\x02}q\x00X\x05\x00\x00\x00statedict".repeat(50)),
        &["model.safetensors"],
    ),
    (
        "a missing tensor",
        |m| change_tensor(&m.join("model.safetensors"), "decoder.W_s", |_, _| None),
        &["model.safetensors", "decoder.W_s"],
    ),
    (
        "a mis-shaped tensor",
        |m| change_tensor(&m.join("model.safetensors"), "attention.v_a", |s, d| Some((vec![1, s[0]], d))),
        &["model.safetensors", "attention.v_a"],
    ),
    (
        "a NaN weight",
        |m| {
            change_tensor(&m.join("model.safetensors"), "readout.b_w", |s, mut d| {
                d[3] = f32::NAN;
                Some((s, d))
            });
        },
        &["model.safetensors", "readout.b_w"],
    ),
    (
        "an infinite weight",
        |m| {
            change_tensor(&m.join("model.safetensors"), "decoder.U", |s, mut d| {
                d[0] = f32::INFINITY;
                Some((s, d))
            });
        },
        &["model.safetensors", "decoder.U"],
    ),
    (
        "no tokenizer",
        |m| fs::remove_file(m.join("source.tokenizer.json")).expect("removed"),
        &["source.tokenizer.json"],
    ),
    ("an empty tokenizer", |m| change(&m.join("target.tokenizer.json"), |_| Vec::new()), &["target.tokenizer.json"]),
    (
        "a truncated tokenizer",
        |m| change(&m.join("source.tokenizer.json"), |b| b[..b.len() / 2].to_vec()),
        &["source.tokenizer.json"],
    ),
    (
        "a foreign tokenizer",
        |m| change(&m.join("source.tokenizer.json"), |_| b"<sentencepiece>".to_vec()),
        &["source.tokenizer.json"],
    ),
    (
        "a word too few",
        |m| replace(&m.join("target.tokenizer.json"), ", \"t32\": 32", ""),
        &["target.tokenizer.json", "32"],
    ),
    (
        "a word too many",
        |m| replace(&m.join("source.tokenizer.json"), "\"s32\": 32", "\"s32\": 32, \"s33\": 33"),
        &["source.tokenizer.json", "34"],
    ),
    (
        "no unknown word",
        |m| replace(&m.join("source.tokenizer.json"), "\"[UNK]\": 1", "\"x\": 1"),
        &["source.tokenizer.json", "[UNK]"],
    ),
];

#[test]
fn every_fault_of_a_model_folder_is_named() {
    for (case, spoil, names) in SPOILINGS {
        let folder = tempfile::tempdir().expect("a temporary directory");
        spoil(&copy_of("rnnsearch", folder.path()));
        let translate = run_in(folder.path(), &["translate", "--model", "model"], b"s2 s3\n");
        assert_told(&translate, 2, names, case);
        assert_eq!(translate.stdout, "", "{case}");
        assert_eq!(translate.stderr.lines().count(), 1, "{case}: {}", translate.stderr);
        assert_told(&run_in(folder.path(), &["inspect", "model"], b""), 2, names, case);
    }
}

#[test]
fn a_rank_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let model = copy_of("rnnencdec", folder.path());
    replace(&model.join("config.json"), "\"maxout\"", "\"output_rank\": 3, \"maxout\"");
    assert_told(&run_in(folder.path(), &["inspect", "model"], b""), 2, &["model.safetensors", "readout.G"], "rank");
}

/// Runs `translate` on a reference model.
fn translate(model: &str, extra: &[&str], stdin: &[u8]) -> Outcome {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = reference(model);
    let arguments =
        [&["translate", "--max-length", "9", "--model", path.to_str().expect("a plain path")], extra].concat();
    run_in(folder.path(), &arguments, stdin)
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
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    write("three", b"s2\ns3\ns4\n");
    write("two", b"t2\nt3\n");
    write("latin1", b"caf\xe9\nt3\nt4\n");
    write("empty", b"");
    write("cut.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb");
    write("cut.zst", b"\x28\xb5\x2f\xfd\x04");
    fs::create_dir(folder.path().join("folder")).expect("created");
    let model = reference("rnnsearch");
    let model = model.to_str().expect("a plain path");
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
        (&["bench", "--quick", "--json", "no/where.json"], &["no/where.json"]),
    ];
    for (arguments, names) in cases {
        let outcome = run_in(folder.path(), &[arguments, &["--model", model][..]].concat(), b"");
        assert_told(&outcome, 2, names, &format!("{arguments:?}"));
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused_in_a_sentence() {
    let model = reference("rnnencdec");
    let model = model.to_str().expect("a plain path");
    let cases: &[(&[&str], &[&str])] = &[
        (&["frobnicate"], &["frobnicate"]),
        (&["translate"], &["--model"]),
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
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (arguments, names) in cases {
        let outcome = run_in(folder.path(), arguments, b"");
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
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("source"), "s2 s3\n".repeat(50)).expect("written");
    fs::write(folder.path().join("target"), "t2 t3\n".repeat(50)).expect("written");
    let model = reference("rnnsearch");
    let model = model.to_str().expect("a plain path");
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
            .current_dir(folder.path())
            .stdout(full)
            .output()
            .expect("the program ends");
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        let outcome = Outcome { code: done.status.code().unwrap_or(-1), stdout: String::new(), stderr };
        assert_told(&outcome, 2, &["standard output", "disk is full"], &format!("{arguments:?}"));
    }
}
