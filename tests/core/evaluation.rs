//! Models on test sets: what is counted and kept, what stops a run, and the commands `evaluate` and `align`.

use std::fs;
use std::path::Path;

use interlinear::analysis::bootstrap::PairedTests;
use interlinear::analysis::{bleu, chrf};
use interlinear::corpus::overview::evaluate;
use interlinear::corpus::overview::evaluated::Evaluated;
use interlinear::corpus::overview::test_set::{
    EvaluationListener, EvaluationOptions, EvaluationStage, Set, TestSet, Unk,
};
use interlinear::error::{Error, Result};
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::Device;
use interlinear::text::reader::LineReader;
use interlinear::ticket::{CancellationToken, Generation};
use serde_json::Value;

use crate::cli::{reference, run_in};
use crate::tiny::TINY;

fn lines(name: &str, text: &str) -> LineReader {
    LineReader::new(Path::new(name), Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))
}

fn test_set(source: &str, references: &[&str]) -> Result<TestSet> {
    let readers = references.iter().enumerate().map(|(n, text)| lines(&format!("reference {}", n + 1), text));
    TestSet::from_lines(lines("source", source), readers.collect(), true)
}

fn model(name: &str) -> Model {
    Model::load(&reference(name), &Device::cpu()).expect("a sound model")
}

fn run(
    model: &Model,
    set: &TestSet,
    options: &EvaluationOptions,
    ticket: &CancellationToken,
    hear: &mut EvaluationListener<'_>,
) -> Result<Evaluated> {
    let mut stepper = model.stepper(Kernels::Fused, 1)?;
    let measured = evaluate::run(model, stepper.as_mut(), set, options, ticket, hear)?;
    Ok(Evaluated::of(set.clone(), options, vec![measured]))
}

/// Some sentences of the reference models' words; `x` is a word that they do not know.
const SOURCE: &str = "s2 s3 s4\ns5 x\ns6 s7 s8 s9\n";
const TARGET: &str = "t2 t3\nt4\nt5 x t7\n";

#[test]
fn a_test_set_is_read_line_by_line() {
    let set = test_set("a\nb\n", &["c\nd\n", "e\r\nf"]).expect("equal files");
    assert_eq!((set.len(), set.pairs[1].references().collect::<Vec<_>>()), (2, vec!["d", "f"]));
    let cases: &[(&str, &[&str], &str)] = &[
        ("a\nb\n", &["c\n"], "reference 1: ends after line 1, but source goes on"),
        ("a\n", &["c\nd\n"], "source: ends after line 1, but reference 1 goes on"),
        ("a\n", &["c\n", "d\ne\n"], "source: ends after line 1, but reference 2 goes on"),
        ("", &[""], "source: has no lines"),
        ("a\n", &[], "at least one file of references"),
    ];
    for (source, references, sentence) in cases {
        let error = test_set(source, references).expect_err("it is no test set").to_string();
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn every_sentence_is_kept_with_its_figures() {
    let model = model("rnnsearch");
    let set = test_set(SOURCE, &[TARGET, "t2 t3\nt9\nt5\n"]).expect("equal files");
    let options =
        EvaluationOptions { unk: vec![Unk::Allowed, Unk::Forbidden], batch: 2, ..EvaluationOptions::default() };
    let mut heard = Vec::new();
    let mut hear = |stage, sentences, _| heard.extend(vec![stage; sentences]);
    let evaluated = run(&model, &set, &options, &CancellationToken::forever(), &mut hear).expect("it runs");
    let report = &evaluated.models[0];
    let stages = [
        EvaluationStage::Scoring,
        EvaluationStage::Translating(Unk::Allowed),
        EvaluationStage::Translating(Unk::Forbidden),
    ];
    assert_eq!(heard, stages.map(|stage| [stage; 3]).concat());
    let unknown: Vec<(bool, bool)> = report.records.iter().map(|r| (r.source_unk, r.reference_unk)).collect();
    assert_eq!(unknown, [(false, false), (true, false), (false, true)]);
    assert!(report.records.iter().all(|record| !record.translations[1].has_unk));
    // All and without UNK, both ways, and the one bucket of each.
    assert_eq!(evaluated.scores.iter().map(|of| of.of(0).count()).collect::<Vec<_>>(), [2; 4]);
    let of =
        |set, unk| evaluated.scores.iter().find(|of| (of.set, of.unk) == (set, unk)).expect("scores").all.scores[0];
    for (at, unk) in [Unk::Allowed, Unk::Forbidden].into_iter().enumerate() {
        let row = of(Set::All, unk);
        let counts: bleu::BleuCounts = report.records.iter().map(|record| &record.translations[at].counts.bleu).sum();
        let chrf: chrf::ChrfCounts = report.records.iter().map(|record| &record.translations[at].counts.chrf).sum();
        assert_eq!((row.bleu(), row.chrf()), (Some(counts.bleu().score), Some(chrf.score())));
        assert_eq!((row.sentences, row.words), (3, 9));
        let known = of(Set::WithoutUnk, unk);
        assert_eq!((known.sentences, known.nll), (1, report.records[0].nll));
    }
    let [bleu, ..] = evaluated.signatures();
    assert!(bleu.starts_with("nrefs:2|case:mixed|eff:no|tok:13a"), "{bleu}");
    assert!(report.seconds.is_none() && report.sentences_per_second.is_none());
    // A model is exactly as good as itself.
    let tests = PairedTests { bootstrap: 50, randomisation: 20, seed: 7 };
    let mut evaluated = evaluated;
    evaluated.compare(&[(0, 0)], tests, &mut |_| Ok(())).expect("nobody ends it");
    let compared: Vec<_> = evaluated.comparisons.iter().flat_map(|against| against.by.named()).collect();
    assert_eq!(compared.len(), 6);
    for (score, paired) in compared {
        assert!(paired.difference.value == 0.0 && paired.second_wins == 0.0 && paired.ties == 1.0, "{score}");
        assert_eq!(paired.p_texts(), ["too few", "too few", "", ""], "three sentences");
    }
}

#[test]
fn batches_change_nothing_and_no_translations_means_no_bleu() {
    let model = model("rnnencdec");
    let set = test_set(SOURCE, &[TARGET]).expect("equal files");
    let with = |batch| {
        let options = EvaluationOptions { batch, ..EvaluationOptions::default() };
        run(&model, &set, &options, &CancellationToken::forever(), &mut |_, _, _| {}).expect("it runs")
    };
    let (one, many) = (with(1), with(16));
    for (one, many) in one.models[0].records.iter().zip(&many.models[0].records) {
        assert!((one.nll - many.nll).abs() < 1e-4 && one.translations[0].text == many.translations[0].text);
    }
    let options = EvaluationOptions { unk: Vec::new(), ..EvaluationOptions::default() };
    let silent = run(&model, &set, &options, &CancellationToken::forever(), &mut |_, _, _| {}).expect("it runs");
    let [row, other] = [&silent, &many].map(|evaluated| evaluated.scores[0].all.scores[0]);
    assert!(row.bleu().is_none() && row.chrf().is_none() && (row.nll - other.nll).abs() < 1e-3);
}

#[test]
fn a_run_stops_when_its_ticket_is_stale() {
    let model = model("rnnsearch");
    let set = test_set(SOURCE, &[TARGET]).expect("equal files");
    let counter = Generation::new();
    let ticket = counter.next();
    let mut heard = 0;
    let options = EvaluationOptions { batch: 1, ..EvaluationOptions::default() };
    let stopped = run(&model, &set, &options, &ticket, &mut |_, _, _| {
        heard += 1;
        counter.cancel();
    });
    assert!(matches!(stopped, Err(Error::Stale)) && heard == 1, "{heard}");
}

/// A folder with the reference model turned: it translates what the other one produces.
fn turned(folder: &Path) {
    let (from, to) = (reference("rnnsearch"), folder.join("turned"));
    fs::create_dir(&to).expect("created");
    let copy = |name: &str, other: &str| fs::copy(from.join(name), to.join(other)).map(|_| ()).expect("copied");
    copy("model.safetensors", "model.safetensors");
    copy("source.tokenizer.json", "target.tokenizer.json");
    copy("target.tokenizer.json", "source.tokenizer.json");
    let config = fs::read_to_string(from.join("config.json")).expect("read");
    let config = config.replace("\"en\"", "\"xx\"").replace("\"fr\"", "\"en\"").replace("\"xx\"", "\"fr\"");
    fs::write(to.join("config.json"), config).expect("written");
}

/// `command` on the sentences above, with a reference model.
fn command(folder: &Path, command: &str, name: &str, extra: &[&str]) -> crate::cli::Outcome {
    fs::write(folder.join("source"), SOURCE).expect("written");
    fs::write(folder.join("target"), TARGET).expect("written");
    let model = reference(name);
    let model = model.to_str().expect("a plain path");
    let files = ["--source", "source", "--target", "target", "--model", model, "--pretokenized"];
    run_in(folder, &[&[command], &files[..], extra].concat(), b"")
}

fn rows(outcome: &crate::cli::Outcome) -> Vec<Value> {
    let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    report["models"][0]["alignment"]["rows"].as_array().expect("rows").clone()
}

#[test]
fn a_models_own_links_have_an_error_rate_of_0() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for format in ["pharaoh", "naacl"] {
        let links = command(folder.path(), "align", "rnnsearch", &["--format", format]);
        assert_eq!((links.code, links.stderr.as_str()), (0, ""));
        // The target has 2, 1 and 3 words, and each has its link.
        assert_eq!(
            links.stdout.split_whitespace().filter(|word| word.contains('-')).count()
                + links.stdout.matches('S').count(),
            6
        );
        fs::write(folder.path().join("gold"), &links.stdout).expect("written");
        let extra = ["--gold", "gold", "--threshold", "0.000001", "--format", "json", "--unk", "none"];
        let found = command(folder.path(), "evaluate", "rnnsearch", &extra);
        assert!(found.code == 0 && found.stderr.contains("Words counted from"), "{}", found.stderr);
        let rows = rows(&found);
        assert_eq!(
            (&rows[0]["aer"], &rows[0]["links"], &rows[0]["reading"]),
            (&0.0.into(), &6.into(), &"predicted".into())
        );
        // Every source word is above so low a threshold: 3 x 2 + 2 x 1 + 4 x 3 links, of which 6 are right.
        assert_eq!((&rows[1]["links"], &rows[1]["recall"]), (&20.into(), &1.0.into()));
        assert!((rows[1]["precision"].as_f64().expect("a number") - 0.3).abs() < 1e-9);
    }
}

#[test]
fn two_directions_are_put_together() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    turned(folder.path());
    let links = |extra: &[&str]| {
        let outcome = command(folder.path(), "align", "rnnsearch", extra);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{extra:?}");
        outcome.stdout
    };
    let both = |way| links(&["--reverse-model", "turned", "--symmetrize", way]);
    let count = |text: &str| text.split_whitespace().count();
    let (forward, intersection, union) = (links(&[]), both("intersection"), both("union"));
    // The reverse model gives each of the 9 source words its link.
    assert_eq!(count(&intersection) + count(&union), 6 + 9);
    assert!(intersection.split_whitespace().all(|link| forward.contains(link)));
    let grown = count(&both("grow-diag-final-and"));
    assert!((count(&intersection)..=count(&union)).contains(&grown));
    fs::write(folder.path().join("gold"), &union).expect("written");
    let extra = ["--gold", "gold", "--reverse-model", "turned", "--format", "json", "--unk", "none"];
    let rows = rows(&command(folder.path(), "evaluate", "rnnsearch", &extra));
    let row = |name: &str| rows.iter().find(|row| row["direction"] == name).expect("the direction is there");
    assert_eq!((&row("union")["aer"], &row("reverse")["links"]), (&0.0.into(), &9.into()));
    assert_eq!(row("grow-diag-final-and")["links"], grown);
    let same = command(
        folder.path(),
        "align",
        "rnnsearch",
        &["--reverse-model", reference("rnnsearch").to_str().expect("plain")],
    );
    assert!(same.code == 2 && same.stderr.contains("wants the opposite direction"), "{}", same.stderr);
}

#[test]
fn rows_of_states_that_read_words_have_two_readings() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("gold"), "0-0\n0-0\n0-0\n").expect("written");
    let extra = ["--gold", "gold", "--gold-order", "source", "--gold-base", "0", "--format", "json", "--unk", "none"];
    for (name, readings) in [
        ("luong-global-dot", &["predicted", "input"][..]),
        ("luong-local-p-general", &["predicted", "input"]),
        ("luong-global-location", &["predicted"]),
        ("rnnsearch", &["predicted", "input"]),
    ] {
        // Rows of words read are told on request.
        for (asked, readings) in [(&["--by-input"][..], readings), (&[], &["predicted"])] {
            let outcome = command(folder.path(), "evaluate", name, &[&extra[..], asked].concat());
            let rows = rows(&outcome);
            assert_eq!(rows.iter().filter_map(|row| row["reading"].as_str()).collect::<Vec<_>>(), readings, "{name}");
        }
    }
    // RNNsearch has read a word two rows later; the last word has its row after `</s>`
    let read = command(folder.path(), "align", "rnnsearch", &["--reading", "input"]);
    assert_eq!((read.code, read.stdout.split_whitespace().count()), (0, 6), "{}", read.stderr);
    let input = command(folder.path(), "align", "luong-global-location", &["--reading", "input"]);
    assert!(input.code == 2 && input.stderr.contains("leave out --reading input"), "{}", input.stderr);
    let none = command(folder.path(), "align", "rnnencdec", &[]);
    assert!(none.code == 2 && none.stderr.contains("has no alignment"), "{}", none.stderr);
}

#[test]
fn evaluate_writes_every_sentence_and_compares_models() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("second"), "t2\nt3\nt4\n").expect("written");
    let (second, third) = (reference("luong-none"), reference("rnnencdec"));
    let extra = [
        "--target",
        "second",
        "--model",
        second.to_str().expect("plain"),
        "--model",
        third.to_str().expect("plain"),
        "--unk",
        "both",
        "--paired-bs",
        "20",
        "--paired-ar",
        "50",
        "--buckets",
        "2,3",
        "--output",
        "out",
        "--tokenize",
        "none",
    ];
    let outcome = command(folder.path(), "evaluate", "rnnsearch", &extra);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    for part in [
        "without UNK, UNK forbidden",
        "nrefs:2|case:mixed|eff:no|tok:none",
        "p bs",
        "p ar",
        "too few: fewer than 30 sentences have no p",
        "4+",
        "chrF2",
        "TER nrefs:2|case:lc",
    ] {
        assert!(outcome.stdout.contains(part), "{part} is not in\n{}", outcome.stdout);
    }
    let out = folder.path().join("out");
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("it was written");
    let report: Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert_eq!(report["models"][1]["against_first"].as_array().map(Vec::len), Some(2));
    let tests = read("bootstrap.tsv");
    assert_eq!(tests.lines().count(), 1 + 2 * 2 * 3);
    let head: Vec<&str> = tests.lines().next().expect("a head").split('\t').collect();
    for line in tests.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let p = ["p_value", "p_ar"].map(|name| cells[head.iter().position(|head| *head == name).expect(name)]);
        assert_eq!(p, ["too few"; 2], "three sentences: {tests}");
    }
    assert_eq!(report["models"][1]["against_first"][0]["ter"]["p_value"], Value::Null);
    let name = report["models"][0]["name"].as_str().expect("a name");
    let table = read(&format!("{name}.sentences.tsv"));
    let columns: Vec<usize> = table.lines().map(|line| line.split('\t').count()).collect();
    assert_eq!(columns, [18; 4], "{table}");
    let records = read(&format!("{name}.sentences.jsonl"));
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let nll: f64 = records.iter().filter_map(|record| record["nll"].as_f64()).sum();
    assert!((nll - report["models"][0]["rows"][0]["nll"].as_f64().expect("a number")).abs() < 1e-9);
    assert_eq!(read(&format!("{name}.txt")).lines().next(), records[0]["translations"][0]["text"].as_str());
}

#[test]
fn unknown_words_give_way_as_they_do_in_translate() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = "Foo one\nfoo bar\ntwo\n";
    for (name, text) in [("source", input), ("target", "un\ndeux\ntrois\n"), ("known", "foo\tbaz\t1\n")] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    TINY.unknowing().save(folder.path());
    let search = ["--model", "tiny", "--beam", "1", "--max-length", "8", "--pretokenized"];
    let told = |arguments: &[&str], stdin: &str| {
        let outcome = run_in(folder.path(), arguments, stdin.as_bytes());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
        outcome.stdout
    };
    for extra in [&[][..], &["--replace-unk"], &["--replace-unk", "--dictionary", "known"]] {
        let wanted = told(&[&["translate"], &search[..], extra].concat(), input);
        let files = ["--source", "source", "--target", "target", "--output", "out"];
        told(&[&["evaluate"], &search[..], &files, extra].concat(), "");
        assert_eq!(fs::read_to_string(folder.path().join("out/tiny.txt")).expect("written"), wanted, "{extra:?}");
        let records = fs::read_to_string(folder.path().join("out/tiny.sentences.jsonl")).expect("written");
        assert!(records.contains("\"has_unk\":true"), "the model knows no word: {records}");
    }
    for flags in [&["--replace-unk"][..], &["--coverage", "0.2"]] {
        let none = command(folder.path(), "evaluate", "rnnencdec", flags);
        assert!(
            none.code == 2 && none.stderr.contains(flags[0]) && none.stderr.contains("rnnencdec"),
            "{}",
            none.stderr
        );
    }
}
