//! The command line, run as users run it: the real program in a fresh directory, judged by its
//! exit code, its output, and what it says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlinear::decoding::{SearchOptions, Specials};
use interlinear::models::{Kernels, Model, shapes};
use interlinear::{decoding, models::checkpoint::Weights, models::config::Config, nn::device::Device};
use serde_json::Value;

use crate::folder::{Files as _, Folder};
use crate::{bad_input, forever};

pub const REFERENCES: &[(&str, bool)] = &[
    ("rnnsearch", true),
    ("rnnencdec", false),
    ("rnnencdec-rank", false),
    ("luong-none", false),
    ("luong-global-location", true),
    ("luong-local-p-general", true),
];

pub fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference").join(name)
}

/// Its folder as a word of a command line.
pub fn reference_word(name: &str) -> String {
    reference(name).display().to_string()
}

pub struct Outcome {
    /// What it was started with.
    pub arguments: String,
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    #[track_caller]
    pub fn good(self) -> Self {
        assert_eq!(self.code, 0, "{}: {}", self.arguments, self.stderr);
        self
    }

    /// It went well, and there was nothing to report.
    #[track_caller]
    pub fn quiet(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.arguments);
        self
    }

    /// It went well, and a sentence has these words.
    #[track_caller]
    pub fn reports(self, what: &str) -> Self {
        let Self { arguments, code, stderr, .. } = &self;
        assert!(*code == 0 && stderr.contains(what), "{arguments}: {code}, not `{what}`: {stderr}");
        self
    }

    /// With a sentence that has these words.
    #[track_caller]
    pub fn refused(self, why: &str) -> Self {
        let Self { arguments, code, stderr, .. } = &self;
        assert!(*code == 2 && stderr.contains(why), "{arguments}: {code}, not `{why}`: {stderr}");
        self
    }
}

pub fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_interlinear"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder)
        .env("HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo built the program")
}

pub fn run_in(folder: &Path, arguments: &[&str]) -> Outcome {
    feed(folder, arguments, b"")
}

/// It has to go well.
#[track_caller]
pub fn ran(folder: &Path, line: &str) -> Outcome {
    run_line(folder, line).good()
}

pub fn run_line(folder: &Path, line: &str) -> Outcome {
    run_in(folder, &line.split_whitespace().collect::<Vec<_>>())
}

#[track_caller]
pub fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[track_caller]
pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(json_of).collect()
}

pub fn feed(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Outcome {
    let mut child = spawn(folder, arguments);
    let mut pipe = child.stdin.take().expect("stdin is piped");
    let stdin = stdin.to_vec();
    // A program that refuses its arguments does not read: a closed pipe is no fault here.
    let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let done = child.wait_with_output().expect("the program ends");
    feeder.join().expect("the feeder does not panic");
    Outcome {
        arguments: arguments.join(" "),
        code: done.status.code().unwrap_or(-1),
        stdout: String::from_utf8(done.stdout).expect("results are UTF-8"),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

fn run(arguments: &[&str], stdin: &str) -> String {
    let folder = Folder::new();
    feed(&folder, arguments, stdin.as_bytes()).quiet().stdout
}

fn run_model(command: &str, model: &str, arguments: &[&str], stdin: &str) -> String {
    let model = reference(model);
    let all = [&[command, "--model", model.to_str().expect("a plain path")], arguments].concat();
    run(&all, stdin)
}

fn expected(model: &str, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(reference(model).join("expected.jsonl")).expect("the fixture is there");
    json_lines(&text).into_iter().filter(|record| record["kind"] == kind).collect()
}

fn line(record: &Value, side: &str) -> String {
    let words: Vec<&str> = record[side].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    words[..words.len() - 1].join(" ")
}

fn close(found: &Value, expected: &Value, at: &str) {
    match (found, expected) {
        (Value::Number(found), Value::Number(number)) => {
            let (found, number) = (found.as_f64().expect("f64"), number.as_f64().expect("f64"));
            assert!((found - number).abs() < 1e-4, "{at}: {found} instead of {number}");
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{at}: {found:?} instead of {expected:?}");
            found.iter().zip(expected).enumerate().for_each(|(i, (f, e))| close(f, e, &format!("{at}[{i}]")));
        }
        (Value::Object(_), Value::Object(expected)) => {
            expected.iter().for_each(|(key, expected)| close(&found[key], expected, &format!("{at}.{key}")));
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}

#[test]
fn translate_gives_the_reference_beams() {
    for (model, _) in REFERENCES {
        for beam in ["1", "4"] {
            let wanted: Vec<Value> =
                expected(model, "beam").into_iter().filter(|r| r["beam"].as_u64() == beam.parse().ok()).collect();
            let input: Vec<String> = wanted.iter().map(|record| line(record, "source")).collect();
            let arguments =
                ["--pretokenized", "--format", "jsonl", "--beam", beam, "--nbest", beam, "--max-length", "15"];
            let found = json_lines(&run_model("translate", model, &arguments, &input.join("\n")));
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(&wanted) {
                let at = format!("{model}, beam {beam}, {}", line(wanted, "source"));
                close(&found["source"], &wanted["source"], &at);
                close(&found["hypotheses"], &wanted["hypotheses"], &at);
                let text = line(&found["hypotheses"][0], "tokens");
                if found["hypotheses"][0]["finished"] == true {
                    assert_eq!(found["hypotheses"][0]["text"], text.as_str(), "{at}");
                }
            }
        }
    }
}

#[test]
fn score_gives_the_reference_probabilities() {
    for (model, _) in REFERENCES {
        let folder = Folder::new();
        let wanted = expected(model, "score");
        for side in ["source", "target"] {
            let lines: Vec<String> = wanted.iter().map(|record| line(record, side) + "\n").collect();
            folder.put(side, lines.concat());
        }
        let path = reference(model);
        for extra in [&[][..], &["--batch", "1"], &["--engine", "plain"], &["--threads", "2", "--device", "cpu"]] {
            let arguments = ["score", "--source", "source", "--target", "target", "--pretokenized", "--model"];
            let arguments = [&arguments[..], &[path.to_str().expect("a plain path")], extra].concat();
            let outcome = run_in(&folder, &arguments).quiet();
            let found = json_lines(&outcome.stdout);
            assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(&wanted) {
                let mut wanted = wanted.clone();
                wanted.as_object_mut().expect("an object").remove("kind");
                close(found, &wanted, model);
                let mut keys: Vec<&String> = wanted.as_object().expect("an object").keys().collect();
                let p_t = "p_t".to_owned();
                keys.extend(model.contains("local").then_some(&p_t));
                let means = ["log_p_per_token", "log_p_per_word"].map(str::to_owned);
                keys.extend(&means);
                keys.sort();
                assert_eq!(found.as_object().expect("an object").keys().collect::<Vec<_>>(), keys, "{model}");
            }
        }
    }
}

fn mixed_lines() -> String {
    let mut text = String::new();
    for i in 0..40_usize {
        let words = (0..(i * 7) % 13).map(|j| format!("s{}", 2 + (i * 5 + j * 3) % 31));
        text += &(words.collect::<Vec<_>>().join(" ") + "\n");
    }
    text + "\nnobody knows\n"
}

#[test]
fn order_is_kept_and_empty_lines_keep_their_place() {
    for (model, _) in REFERENCES {
        let input = mixed_lines();
        let arguments = |extra: &[&'static str]| [&["--beam", "3", "--max-length", "9"], extra].concat();
        let whole = run_model("translate", model, &arguments(&[]), &input);
        assert_eq!(whole.lines().count(), input.lines().count());
        for (source, target) in input.lines().zip(whole.lines()) {
            assert!(!source.is_empty() || target.is_empty(), "{target}");
            // What a line gives does not depend on its neighbours.
            if source.len() % 5 == 1 {
                assert_eq!(run_model("translate", model, &arguments(&[]), source), format!("{target}\n"));
            }
        }
        for extra in [&["--batch", "1"][..], &["--batch", "64"], &["--threads", "2"], &["--engine", "plain"]] {
            assert_eq!(run_model("translate", model, &arguments(extra), &input), whole, "{model} {extra:?}");
        }
        let mut empty = json_lines(&run_model("translate", model, &["--format", "jsonl"], "\n \n"));
        let first = empty[0].as_object_mut().expect("an object");
        assert!(first.remove("provenance").is_some_and(|said| said["command"] == "translate"));
        for record in &empty {
            assert_eq!(record.to_string(), r#"{"hypotheses":[],"source":["</s>"]}"#);
        }
        assert_eq!(empty.len(), 2);
    }
}

#[test]
fn files_are_read_packed_or_not_and_stdin_by_default() {
    let folder = Folder::new();
    let input = mixed_lines();
    folder.put("plain.txt", "\u{feff}".to_owned() + &input.replace('\n', "\r\n"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(input.as_bytes()).expect("packed");
    folder.put("packed.gz", packed.finish().expect("packed"));
    let packed = zstd::encode_all(input.as_bytes(), 1).expect("packed");
    folder.put("packed.zst", packed);
    let model = &*reference_word("rnnsearch");
    let from_stdin = run(&["translate", "--model", model], &input);
    for file in ["plain.txt", "packed.gz", "packed.zst"] {
        let outcome = run_in(&folder, &["translate", "--model", model, file]).quiet();
        assert_eq!(outcome.stdout, from_stdin, "{file}");
    }
    let dash = run(&["translate", "--model", model, "-"], &input);
    assert_eq!(dash, from_stdin);
}

#[test]
fn nbest_text_is_as_moses_writes_it() {
    let arguments = ["--beam", "4", "--max-length", "15"];
    let input = format!("s3\n\n{}\n", line(&expected("rnnsearch", "beam")[11], "source"));
    let records = json_lines(&run_model(
        "translate",
        "rnnsearch",
        &[&arguments[..], &["--nbest", "4", "--format", "jsonl"]].concat(),
        &input,
    ));
    let text = run_model("translate", "rnnsearch", &[&arguments[..], &["--nbest", "4"]].concat(), &input);
    let mut wanted = Vec::new();
    for (number, record) in records.iter().enumerate() {
        for hypothesis in record["hypotheses"].as_array().expect("hypotheses") {
            let text = hypothesis["text"].as_str().expect("text");
            writeln!(wanted, "{number} ||| {text} ||| {}", hypothesis["log_p"]).expect("a string has room");
        }
    }
    let wanted = String::from_utf8(wanted).expect("text");
    assert!(wanted.lines().count() > 4 && wanted.contains("\n2 ||| "), "{wanted}");
    assert_eq!(text, wanted);
}

#[test]
fn pharaoh_links_every_target_word_to_its_best_source_word() {
    let input = mixed_lines();
    let search = ["--beam", "1", "--max-length", "9"];
    let records =
        json_lines(&run_model("translate", "rnnsearch", &[&search[..], &["--format", "jsonl"]].concat(), &input));
    let found = run_model("translate", "rnnsearch", &[&search[..], &["--format", "pharaoh"]].concat(), &input);
    assert_eq!(found.lines().count(), records.len());
    for ((found, record), line) in found.lines().zip(&records).zip(input.lines()) {
        let best = &record["hypotheses"][0];
        let Some(tokens) = best["tokens"].as_array() else {
            assert_eq!(found, "");
            continue;
        };
        let strings = |all: &Value| -> Vec<String> {
            all.as_array().expect("tokens").iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let source =
            among_spaces(&strings(&record["source"])[..record["source"].as_array().expect("x").len() - 1], line);
        let words = tokens.len() - usize::from(best["finished"] == true);
        let target = among_spaces(&strings(&best["tokens"])[..words], best["text"].as_str().expect("a text"));
        let count = |words: &[usize]| words.last().map_or(0, |last| last + 1);
        let mut means = vec![vec![0.0; count(&source)]; count(&target)];
        for (i, word) in target.iter().enumerate() {
            let pieces = target.iter().filter(|other| *other == word).count() as f64;
            for (j, column) in source.iter().enumerate() {
                means[*word][*column] += best["alpha"][i][j].as_f64().expect("a number") / pieces;
            }
        }
        // The first of those that half precision does not tell apart.
        let half = |number: f64| half::f16::from_f64(number);
        let best =
            |row: &Vec<f64>| (0..row.len()).fold(0, |best, i| if half(row[i]) > half(row[best]) { i } else { best });
        let links: Vec<String> = means.iter().enumerate().map(|(j, row)| format!("{}-{j}", best(row))).collect();
        assert_eq!(found, links.join(" "));
    }
}

fn among_spaces(tokens: &[String], text: &str) -> Vec<usize> {
    let mut left: Vec<usize> = text.split_whitespace().map(str::len).collect();
    let mut at = 0;
    let word = |token: &String| {
        while left[at] == 0 {
            at += 1;
        }
        left[at] -= token.len();
        at
    };
    tokens.iter().map(word).collect()
}

#[test]
fn unknown_words_can_be_replaced_or_forbidden() {
    // The fixture never says [UNK] by itself, so a copy of it is made to.
    let folder = Folder::new();
    let copy = bad_input::copy_of("rnnsearch", &folder);
    let config = Config::load(&copy.join("config.json")).expect("the fixture loads");
    let file = copy.join("model.safetensors");
    let mut weights = Weights::load(&file, &shapes(&config)).expect("the fixture loads");
    let mut bias = weights.get("readout.b_w").expect("it has one").clone();
    bias.data[config.unk as usize] += 3.0;
    weights.insert("readout.b_w", bias);
    weights.save(&file, false).expect("saved");

    let input: Vec<String> = (2..33).map(|i| format!("s{i} house{i}\n")).collect();
    let input = input.concat();
    let translate = |extra: &[&str]| {
        let search = ["translate", "--model", "model", "--beam", "1", "--max-length", "6", "--pretokenized"];
        feed(&folder, &[&search[..], extra].concat(), input.as_bytes()).quiet().stdout
    };
    let (shown, replaced, forbidden) = (translate(&[]), translate(&["--replace-unk"]), translate(&["--forbid-unk"]));
    let linked = translate(&["--format", "pharaoh"]);
    assert!(shown.contains("[UNK]") && !replaced.contains("[UNK]") && !forbidden.contains("[UNK]"), "{shown}");
    for (((source, shown), replaced), links) in
        input.lines().zip(shown.lines()).zip(replaced.lines()).zip(linked.lines())
    {
        let source: Vec<&str> = source.split(' ').collect();
        for ((shown, replaced), link) in shown.split(' ').zip(replaced.split(' ')).zip(links.split(' ')) {
            let wanted = if shown == "[UNK]" { source[usize::from(link.starts_with("1-"))] } else { shown };
            assert_eq!(replaced, wanted, "{source:?}");
        }
    }
}

#[test]
fn json_carries_every_bit() {
    let model = Model::load(reference("rnnsearch"), &Device::cpu()).expect("the fixture loads");
    let source = model.source.encode("s9 s31 s31 s17");
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
    let decoded = decoding::decode(
        stepper.as_mut(),
        specials,
        &[&source.ids],
        &SearchOptions::default(),
        &forever(),
        &mut |_, _| {},
    );
    let best = &decoded.expect("decoded")[0].hypotheses[0];
    let record = &json_lines(&run_model(
        "translate",
        "rnnsearch",
        &["--format", "jsonl", "--threads", "1"],
        &source.text,
    ))[0]["hypotheses"][0];
    let bits = |value: &Value| (value.as_f64().expect("a number") as f32).to_bits();
    assert_eq!(bits(&record["log_p"]), best.log_p.to_bits());
    for (i, row) in best.alpha.iter().flatten().enumerate() {
        for (j, alpha) in row.iter().enumerate() {
            assert_eq!(bits(&record["alpha"][i][j]), alpha.to_bits());
        }
    }
}

#[test]
fn each_line_is_answered_before_the_next_is_written() {
    let folder = Folder::new();
    let model = reference("rnnsearch");
    let mut child = spawn(&folder, &["translate", "--model", model.to_str().expect("a plain path")]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    for word in ["s3", "s4", "s5 s6"] {
        writeln!(stdin, "{word}").expect("written");
        let mut answer = String::new();
        stdout.read_line(&mut answer).expect("read");
        assert!(answer.ends_with('\n'), "{answer:?}");
    }
    drop(stdin);
    assert!(child.wait().expect("the program ends").success());
}

fn keep_feeding(child: &mut Child, line: &'static str) -> Arc<AtomicUsize> {
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let written = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&written);
    std::thread::spawn(move || {
        while stdin.write_all(line.as_bytes()).is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    written
}

#[test]
fn endless_input_is_translated_in_windows() {
    let folder = Folder::new();
    let model = &*reference_word("rnnsearch");
    let mut child =
        spawn(&folder, &["translate", "--model", model, "--beam", "1", "--batch", "4", "--format", "jsonl"]);
    // Lines of a kilobyte: the pipe holds few of them.
    let line: &'static str = format!("s3 s4{}\n", " ".repeat(1018)).leak();
    let written = keep_feeding(&mut child, line);
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut answer = String::new();
    for read in 1..=4000 {
        answer.clear();
        stdout.read_line(&mut answer).expect("read");
        assert!(answer.starts_with("{\"source\":[\"s3\",\"s4\""), "{answer}");
        // Two pipes of 64 kB, what is read ahead, and a window.
        let ahead = written.load(Ordering::SeqCst) - read;
        assert!(ahead < 1300, "{ahead} lines were taken in that were not answered yet");
    }
    drop(stdout);
    assert!(child.wait().expect("the program ends").success());
}

#[test]
fn input_without_lines_is_told_and_is_no_error() {
    let folder = Folder::new();
    folder.put("empty", "");
    let model = &*reference_word("rnnsearch");
    for (arguments, name) in [
        (vec!["translate", "--model", model], "standard input has no lines"),
        (vec!["translate", "--model", model, "empty"], "empty has no lines"),
        (vec!["score", "--model", model, "--source", "empty", "--target", "empty"], "empty has no lines"),
    ] {
        let done = run_in(&folder, &arguments);
        assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
        assert!(done.stderr.contains(name) && done.stderr.contains("nothing to"), "{}", done.stderr);
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    folder.put("many", mixed_lines().repeat(100));
    let model = reference("rnnencdec");
    let mut child =
        spawn(&folder, &["translate", "--model", model.to_str().expect("a plain path"), "--format", "jsonl", "many"]);
    drop(child.stdin.take());
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut first = String::new();
    stdout.read_line(&mut first).expect("read");
    drop(stdout);
    let done = child.wait_with_output().expect("the program ends");
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn inspect_tells_what_the_folder_holds() {
    for (name, aligns) in REFERENCES {
        let path = &*reference_word(name);
        let model = Model::load(Path::new(path), &Device::cpu()).expect("the fixture loads");
        let text = run(&["inspect", path], "");
        for fact in
            [model.digest(), model.parameters().to_string(), model.config.name.clone(), "en".into(), "fr".into()]
        {
            assert!(text.contains(&fact), "{fact} in {text}");
        }
        let record = &json_lines(&run(&["inspect", path, "--json", "--tensors"], ""))[0];
        assert_eq!(record["parameters"], model.parameters());
        assert_eq!(record["architecture"], model.config.architecture.name());
        assert_eq!(record["hidden"], model.config.hidden);
        assert_eq!(record["digest"], format!("sha256:{}", model.digest()));
        assert_eq!(model.config.aligns(), *aligns);
        assert_eq!(record.get("alignment").is_some(), model.config.alignment > 0);
        assert_eq!(record.get("attention").is_some(), model.config.luong().is_some());
        let tensors = record["tensors"].as_array().expect("tensors");
        let mut wanted = shapes(&model.config);
        wanted.sort();
        let mut found: Vec<(String, Vec<usize>)> = tensors
            .iter()
            .map(|tensor| {
                let pair = serde_json::json!([tensor["name"], tensor["shape"]]);
                serde_json::from_value(pair).expect("a tensor")
            })
            .collect();
        found.sort();
        assert_eq!(found, wanted);
    }
}

#[test]
fn evaluate_tells_nll_perplexity_and_bleu() {
    let folder = Folder::new();
    let records = expected("rnnsearch", "score");
    let lines = |side: &str| records.iter().map(|record| line(record, side) + "\n").collect::<String>();
    folder.put("source", lines("source"));
    folder.put("target", lines("target"));
    let (search, encdec) = (reference("rnnsearch"), reference("rnnencdec"));
    let models = ["--model", search.to_str().expect("plain"), "--model", encdec.to_str().expect("plain")];
    let files = ["--source", "source", "--target", "target", "--pretokenized"];
    let evaluate =
        |extra: &[&str]| run_in(&folder, &[&["evaluate"], &models[..], &files[..], extra].concat()).quiet().stdout;
    let report = json_of(&evaluate(&["--format", "json"]));
    assert_eq!(report["models"].as_array().map(Vec::len), Some(2));
    assert!(report["bleu_signature"].as_str().is_some_and(|signature| signature.contains("tok:13a")));
    let all = &report["models"][0]["rows"][0];
    let log_p: f64 = records.iter().filter_map(|record| record["log_p"].as_f64()).sum();
    let words: usize = records.iter().filter_map(|record| record["target"].as_array()).map(Vec::len).sum();
    assert!((all["nll"].as_f64().expect("nll") + log_p).abs() < 1e-3, "{all}");
    assert_eq!((&all["sentences"], &all["words"]), (&Value::from(records.len()), &Value::from(words)));
    assert!((all["perplexity"].as_f64().expect("perplexity") - (-log_p / words as f64).exp()).abs() < 1e-3);
    let rows = report["models"][0]["rows"].as_array().expect("rows");
    let buckets: u64 =
        rows.iter().filter(|r| r["set"] == "all" && r["length"] != "all").filter_map(|r| r["sentences"].as_u64()).sum();
    assert_eq!(buckets as usize, records.len());
    let tsv = evaluate(&["--format", "tsv", "--buckets", "none"]);
    assert!(tsv.lines().all(|line| line.split('\t').count() == 20), "{tsv}");
    assert_eq!(tsv.lines().count(), 1 + 2 * 2);
    let table = evaluate(&["--beam", "1"]);
    assert!(table.contains("without UNK") && table.contains("tok:13a") && table.contains("1-10"), "{table}");
}

#[test]
fn bleu_of_chinese_counts_characters_unless_it_is_told_otherwise() {
    let folder = Folder::new();
    for file in std::fs::read_dir(reference("rnnencdec")).expect("a folder").flatten() {
        std::fs::copy(file.path(), folder.join(file.file_name())).expect("copied");
    }
    let path = folder.join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    config["target_language"] = "zh-Hans".into();
    std::fs::write(path, config.to_string()).expect("written");
    folder.put("text", "s2 s3\n");
    for (asked, name) in [(&[][..], "zh"), (&["--tokenize", "char"], "char"), (&["--tokenize", "13a"], "13a")] {
        let files = ["evaluate", "--model", ".", "--source", "text", "--target", "text", "--beam", "1"];
        let outcome = run_in(&folder, &[&files, asked].concat());
        assert!(outcome.stdout.contains(&format!("|tok:{name}|")), "{}{}", outcome.stdout, outcome.stderr);
    }
}

#[test]
fn a_models_own_translations_have_a_bleu_of_100() {
    let folder = Folder::new();
    let source: Vec<String> =
        (0..30).map(|i| format!("s{} s{} s{}\n", 2 + i, 2 + i * 7 % 31, 2 + i * 3 % 31)).collect();
    let source = source.concat();
    // Without a limit greedy translations of this model are long enough to have 4-grams.
    let target = run_model("translate", "rnnencdec", &["--beam", "1"], &source);
    folder.put("source", &source);
    folder.put("target", &target);
    let model = reference("rnnencdec");
    let files = ["--source", "source", "--target", "target", "--format", "json", "--beam", "1"];
    let arguments = [&["evaluate", "--model", model.to_str().expect("plain")], &files[..]].concat();
    let outcome = run_in(&folder, &arguments);
    let report = json_of(&outcome.stdout);
    let bleu = report["models"][0]["rows"][0]["bleu"].as_f64().expect("bleu");
    assert!((bleu - 100.0).abs() < 1e-9, "{bleu}: {}", outcome.stderr);
}

#[test]
fn help_and_version_are_results() {
    let help = run(&["--help"], "");
    for entry in interlinear::cli::COMMANDS {
        assert!(help.contains(entry.name) && help.contains(entry.about), "{}", entry.name);
        let own = run(&[entry.name, "--help"], "");
        assert!(own.contains("Usage: interlinear") && own.contains(entry.name), "{own}");
        // how it is typed, and that it can be typed so
        let examples =
            own.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("interlinear "));
        let mut count = 0;
        for example in examples {
            count += usize::from(example.starts_with(&format!("interlinear {}", entry.name)));
            let words = example.split(['|', '>']).next().unwrap_or_default();
            let (mut said, mut is_quoted) = (vec![String::new()], false);
            for letter in words.trim().chars() {
                match letter {
                    '\'' | '"' => is_quoted = !is_quoted,
                    ' ' if !is_quoted => said.push(String::new()),
                    letter => said.last_mut().expect("a word").push(letter),
                }
            }
            // a model that nobody bundles stands for any folder
            let here =
                |word: String| if word == "opus-mt-en-fr" { env!("CARGO_MANIFEST_DIR").to_owned() } else { word };
            let parsed = interlinear::cli::program().try_get_matches_from(said.into_iter().map(here));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
        assert!(count > 0, "{}: no example in {own}", entry.name);
    }
    assert_eq!(run(&["--version"], ""), format!("interlinear {}\n", env!("CARGO_PKG_VERSION")));
    interlinear::cli::program().debug_assert();
}

fn without_source_eos(model: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let copy = bad_input::copy_of(model, &folder);
    bad_input::replace(&copy.join("config.json"), "\"source_eos\": true", "\"source_eos\": false");
    (folder, copy)
}

#[test]
fn a_model_without_source_eos_reads_none() {
    let device = Device { candle: candle_core::Device::Cpu, name: "cpu".into(), notice: None };
    for (name, _) in REFERENCES {
        let (folder, path) = without_source_eos(name);
        let model = Model::load(&path, &device).expect("a sound model");
        let ids = |words: &[&str]| {
            words.iter().map(|word| model.source.id(word).unwrap_or(model.config.unk)).collect::<Vec<_>>()
        };
        let source = ids(&["s9", "s31", "s17"]);
        assert_eq!(model.source.encode("s9 s31 s17").ids, source);
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
        let options = SearchOptions { max_length: Some(15), ..SearchOptions::default() };
        let decoded = decoding::decode(&mut *stepper, specials, &[&source], &options, &forever(), &mut |_, _| {});
        let decoded = decoded.expect("decoded");
        let target: Vec<u32> =
            ["t18", "t13", "</s>"].iter().map(|word| model.target.id(word).unwrap_or(model.config.unk)).collect();
        let forced = decoding::force(&mut *stepper, &[(&source, &target)], &forever()).expect("scored");

        let model_path = path.to_str().expect("a plain path");
        let arguments = ["translate", "--model", model_path, "--format", "jsonl", "--max-length", "15"];
        let outcome = feed(&folder, &arguments, b"s9 s31 s17\n\n").quiet();
        let found = json_lines(&outcome.stdout);
        assert_eq!(found[0]["source"], serde_json::json!(["s9", "s31", "s17"]));
        close(&found[0]["hypotheses"][0]["log_p"], &decoded[0].hypotheses[0].log_p.into(), name);
        assert_eq!(found[1], serde_json::json!({"source": [], "hypotheses": []}));

        folder.put("s", "s9 s31 s17\n\n");
        folder.put("t", "t18 t13\nt18\n");
        let files = ["--model", model_path, "--source", "s", "--target", "t", "--pretokenized"];
        let outcome = run_in(&folder, &[&["score"], &files[..]].concat()).refused("s, line 2: has no words");
        let found = json_lines(&outcome.stdout);
        close(&found[0]["log_p"], &forced[0].log_p.into(), name);
        assert!(found.len() == 2 && found[1]["log_p"].is_null());
        run_in(&folder, &[&["evaluate"], &files[..]].concat()).refused("s, line 2: has no words");
    }
}

#[test]
fn a_lesson_is_printed_with_the_pictures_of_its_pages() {
    let (folder, installed) = Folder::and_path("interlinear/models");
    std::fs::create_dir_all(&installed).expect("created");
    std::fs::rename(bad_input::copy_of("rnnsearch", &folder), installed.join("tiny")).expect("installed");
    let page = |title: &str, things: &str| {
        format!("[[page]]\nheading = '{title}'\npart = [{{ text = 'Look.' }}, {{ do = {{ {things} }} }}]\n")
    };
    let lesson = "title = 'Mine'\nabout = 'About.'\n".to_owned()
        + &page("Own", "models = ['tiny'], sentence = 's9 s31', beam = 2")
        + &page("Given", "given = 't4 t5'")
        + &page("Tree", "given = 'none', picture = 'tree'")
        + &page("Machine", "page = 'steps', mode = 'greedy'")
        + &page("Missing", "models = ['nobody']");
    folder.put("mine.toml", lesson);
    let done = run_line(&folder, "lesson --print out mine.toml").good();
    assert!(done.stdout.contains("page 5 has no picture: there is no installed model nobody"), "{}", done.stdout);
    let text = folder.text("out/mine.html");
    let pages: Vec<&str> = text.split("<section").skip(1).collect();
    let pictures: Vec<usize> = pages.iter().map(|page| page.matches("<figure><svg").count()).collect();
    assert_eq!(pictures, [1, 1, 1, 1, 0]);
    assert!(pages[0].contains("<dt>The sentence</dt><dd>s9 s31</dd>") && pages[0].matches("<dt>").count() == 2);
    assert!(pages[0].contains("s31") && pages[1].contains(">t5<") && pages[3].contains("Annotations"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn installed_models_are_listed_with_what_is_known_of_them() {
    let folder = Folder::new();
    let text = ran(&folder, "models").stdout;
    let line = |name: &str| text.lines().find(|line| line.starts_with(&format!("{name} "))).expect("it is installed");
    let words: Vec<&str> = line("rnnsearch-guided-en-fr").split("  ").filter(|word| !word.trim().is_empty()).collect();
    assert_eq!(
        words[1..].iter().map(|word| word.trim()).take(3).collect::<Vec<_>>(),
        ["en-fr", "Bahdanau et al. 2015", "51.8"]
    );
    assert!(text.starts_with("name ") && text.lines().next().is_some_and(|head| head.ends_with("MB")), "{text}");
    assert!(line("rnnsearch-small-0200").contains(" - "), "no BLEU is known: {text}");
    let listed = json_lines(&ran(&folder, "models --format json").stdout);
    let guided = listed.iter().find(|one| one["name"] == "rnnsearch-guided-en-fr").expect("it is installed");
    assert_eq!((&guided["languages"], &guided["bleu"]), (&"en-fr".into(), &51.8.into()));
    assert!(guided["mb"].as_f64().is_some_and(|size| size > 1.0), "{guided}");
}

#[test]
fn without_a_model_the_installed_one_is_taken_and_named() {
    let folder = Folder::with([("en", "a house\n"), ("fr", "une maison\n")]);
    let named = "no --model, so the installed rnnsearch-guided-en-fr";
    let translated = run_line(&folder, "translate en").reports(named).stdout;
    assert_eq!(translated, ran(&folder, "translate en --model rnnsearch-guided-en-fr").stdout);
    for line in ["align --source en --target fr", "neighbours house"] {
        assert!(!run_line(&folder, line).reports(named).stdout.is_empty(), "{line}");
    }
    let statistical = run_line(&folder, "align --statistical --source en --target fr").good().stderr;
    assert!(!statistical.contains("no --model"), "{statistical}");
}

#[test]
fn what_is_mistyped_is_answered_with_what_was_meant() {
    let folder = Folder::new();
    for (line, says) in [
        ("translte", "'translte'; did you mean translate? `--help`"),
        ("translate --modle x", "did you mean --model?"),
        ("translate --format jsnl", "did you mean jsonl?"),
        ("nothing-like-it", "'nothing-like-it'; `--help` lists"),
        (
            "translate --model rnsearch-en-fr",
            "rnsearch-en-fr does not exist here or among the installed models; did you mean rnnsearch-en-fr?",
        ),
        (
            "translate --model models/rnnsearch-en-fr",
            "models/rnnsearch-en-fr does not exist; a model of this name is installed, so write rnnsearch-en-fr",
        ),
        ("translate --model models/nobody", "models/nobody: does not exist"),
    ] {
        run_line(&folder, line).refused(says);
    }
}

#[cfg(all(unix, not(target_os = "macos"), feature = "gui"))]
#[test]
fn without_a_display_the_window_says_so_without_a_place_in_the_source() {
    let folder = Folder::new();
    let mut program = Command::new(env!("CARGO_BIN_EXE_interlinear"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        program.env_remove(name);
    }
    let program = program.env("HOME", &*folder).env("XDG_DATA_HOME", &*folder).current_dir(&folder).output();
    let says = String::from_utf8_lossy(&program.expect("it ran").stderr).into_owned();
    assert!(says.contains("the window cannot open: there is no display") && !says.contains(".rs"), "{says}");
}

#[test]
fn the_examples_are_written_once_and_over_no_other_text() {
    let folder = Folder::new();
    for _ in 0..2 {
        assert_eq!(ran(&folder, "examples new/ex").stdout.lines().count(), 6);
    }
    let lines = |name: &str| folder.text(format!("new/ex/{name}")).lines().count();
    assert_eq!(["test.en", "test.fr", "test.links", "text.en", "text.fr"].map(lines), [24; 5]);
    folder.put("new/ex/test.fr", "mine");
    run_line(&folder, "examples new/ex").refused("test.fr: exists and is another text");
    assert_eq!(folder.text("new/ex/test.fr"), "mine");
}

#[test]
fn a_new_configuration_without_an_architecture_is_rnnsearchs() {
    let folder = Folder::new();
    run_line(&folder, "train --new a.toml").reports("no --architecture, so rnnsearch");
    assert!(folder.text("a.toml").contains("architecture = \"rnnsearch\""));
    let named = run_line(&folder, "train --new b.toml --architecture luong").good().stderr;
    assert!(!named.contains("no --architecture"), "{named}");
}

/// Every block of README and the manual that begins with `interlinear examples` runs as it is printed, but on four sentences and
/// with two updates of each training.
#[cfg(unix)]
#[test]
fn the_samples_of_readme_and_the_manual_run() {
    let pages = std::fs::read_dir(root().join("assets/manual")).expect("the manual");
    let pages = pages
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut blocks = Vec::new();
    for page in pages.chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let all = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        let runnable = all.filter(|block| block.starts_with("interlinear examples "));
        blocks.extend(runnable.map(|block| (page.clone(), block.to_owned())));
    }
    assert!(blocks.len() >= 6, "{blocks:?}");
    let program = Path::new(env!("CARGO_BIN_EXE_interlinear")).parent().expect("a folder");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(program.to_path_buf()).chain(std::env::split_paths(&paths));
    let paths = std::env::join_paths(paths).expect("paths");
    let run = |(page, block): &(PathBuf, String)| {
        let folder = Folder::new();
        let short = |line: &str| match line.split_once("train --new ").and_then(|(_, rest)| rest.split(' ').next()) {
            Some(file) => format!("{line}\nsed -i.long 's/^updates = .*/updates = 2/' {file}"),
            None if line.contains("interlinear examples ") => {
                format!("{line}\nfor file in t*; do sed -i.long '5,$d' $file; done")
            }
            None => line.to_owned(),
        };
        let script = block.lines().map(short).collect::<Vec<_>>().join("\n");
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &script]).current_dir(&folder).env("PATH", &paths).env("HOME", &*folder);
        let done = shell.env("INTERLINEAR_MODELS", root().join("models")).output().expect("a shell");
        assert!(done.status.success(), "{}: {}", page.display(), String::from_utf8_lossy(&done.stderr));
    };
    std::thread::scope(|scope| blocks.iter().for_each(|block| drop(scope.spawn(|| run(block)))));
}
