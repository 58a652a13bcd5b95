//! Several models on the command line (`--ensemble`, and what is said without it), ranking rules, and `sample`.

use std::path::Path;

use interlinear::models::config::Architecture;
use serde_json::Value;

use crate::cli::{feed, json_lines};
use crate::folder::{Files as _, Folder};
use crate::tiny::{TINY, Tiny};

const OTHER: Tiny = Tiny { name: "other", source: &["three", "four"], seed: 2, ..TINY };
const ENCDEC: Tiny = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, seed: 3, ..TINY };
const FOREIGN: Tiny = Tiny { name: "foreign", target: &["un", "deux", "quatre"], ..TINY };
const INPUT: &str = "one two three\n\nfour\nthree one one two\n";

fn models() -> Folder {
    let folder = Folder::new();
    for tiny in [TINY, OTHER, ENCDEC, FOREIGN] {
        tiny.save(&folder);
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let outcome = feed(folder, arguments, INPUT.as_bytes()).quiet();
    json_lines(&outcome.stdout)
}

#[test]
fn several_models_translate_and_score_as_one() {
    let folder = models();
    let one = ["translate", "--format", "jsonl", "--max-length", "6", "--model", "tiny"];
    let alone = run(&folder, &one);
    let twice = run(&folder, &[&one[..], &["--model", "tiny", "--ensemble"]].concat());
    for (alone, twice) in alone.iter().zip(&twice) {
        assert_eq!(alone["source"], twice["source"]);
        assert_eq!(alone["hypotheses"][0]["tokens"], twice["hypotheses"][0]["tokens"]);
    }
    let with = |model: &'static str, extra: &[&'static str]| {
        run(&folder, &[&one[..], &["--model", model, "--ensemble"], extra].concat())
    };
    let mixed = with("encdec", &[]);
    assert_eq!(mixed, with("encdec", &["--batch", "1"]));
    assert_eq!(mixed, with("encdec", &["--alignment-of", "1"]), "the only one that aligns");
    assert_ne!(mixed, with("encdec", &["--ensemble-average", "log-probability"]));
    assert_ne!(with("other", &["--alignment-of", "2"]), with("other", &["--alignment-of", "mean"]));

    // What one translates, `score` finds as probable, and the members' scores average to it.
    let best = &mixed[0]["hypotheses"][0];
    folder.put("s", "one two three\n");
    folder.put("t", format!("{}\n", best["text"].as_str().expect("text")));
    let score = ["score", "--source", "s", "--target", "t", "--pretokenized", "--model", "tiny"];
    let scored = run(&folder, &[&score[..], &["--model", "encdec", "--ensemble"]].concat());
    let number = |value: &Value| value.as_f64().expect("a number");
    if best["finished"] == true {
        assert!((number(&scored[0]["log_p"]) - number(&best["log_p"])).abs() < 1e-4);
    }
    let first = number(&scored[0]["token_log_p"][0]).exp();
    let members = ["tiny", "encdec"].map(|model| {
        let score = ["score", "--source", "s", "--target", "t", "--pretokenized", "--model", model];
        number(&run(&folder, &score)[0]["token_log_p"][0]).exp()
    });
    assert!((first - f64::midpoint(members[0], members[1])).abs() < 1e-5, "{first} is not the mean of {members:?}");
}

#[test]
fn what_cannot_be_an_ensemble_is_said() {
    let folder = models();
    for (arguments, expected) in [
        (&["--model", "tiny", "--model", "other"][..], "--model is there 2 times; add --ensemble"),
        (
            &["--model", "tiny", "--model", "foreign", "--ensemble"],
            "the target word 4 is \"trois\" in tiny, but \"quatre\"",
        ),
        (&["--model", "tiny", "--model", "encdec", "--ensemble", "--alignment-of", "2"], "encdec (rnnencdec) has none"),
        (&["--model", "tiny", "--model", "encdec", "--ensemble", "--alignment-of", "3"], "has only 2"),
        (&["--model", "tiny", "--alignment-of", "1"], "--ensemble"),
        (&["--model", "tiny", "--ensemble", "--alignment-of", "none"], "write mean, or the number of a model"),
        (&["--model", "encdec", "--coverage", "0.2"], "--coverage needs an alignment"),
        (
            &["--model", "encdec", "--model", "encdec", "--ensemble", "--replace-unk"],
            "encdec + encdec (rnnencdec, rnnencdec)",
        ),
        (&["--model", "tiny", "--length-penalty", "0.6"], "write wu:0.6"),
        (&["--model", "tiny", "--length-penalty", "wu:1", "--length-normalization", "1"], "--length-normalization"),
        (&["--model", "tiny", "--coverage=-1"], "write a number such as 0.2"),
    ] {
        feed(&folder, &[&["translate"], arguments].concat(), b"one\n").refused(expected);
    }
}

#[test]
fn length_and_coverage_change_the_ranking_alone() {
    let folder = models();
    let search = ["translate", "--model", "tiny", "--format", "jsonl", "--nbest", "5", "--max-length", "8"];
    let plain = run(&folder, &search);
    let sorted = |records: &[Value]| -> Vec<Vec<String>> {
        let all = records.iter().map(|record| record["hypotheses"].as_array().expect("a list"));
        all.map(|list| {
            let mut list: Vec<String> = list.iter().map(ToString::to_string).collect();
            list.sort();
            list
        })
        .collect()
    };
    let mut moved = false;
    for extra in [&["--length-penalty", "wu:5"][..], &["--coverage", "3"], &["--length-penalty", "power:1"]] {
        let ranked = run(&folder, &[&search[..], extra].concat());
        assert_eq!(sorted(&ranked), sorted(&plain), "{extra:?}");
        moved |= ranked != plain;
    }
    assert!(moved, "no rule changed any order");
    let by_power = run(&folder, &[&search[..], &["--length-penalty", "power:0.7"]].concat());
    assert_eq!(by_power, run(&folder, &[&search[..], &["--length-normalization", "0.7"]].concat()));
}

#[test]
fn samples_are_counted_sorted_and_reproducible() {
    let folder = models();
    let sample = ["sample", "--model", "tiny", "--count", "60", "--seed", "9", "--max-length", "6"];
    let say = |extra: &[&str]| feed(&folder, &[&sample[..], extra].concat(), INPUT.as_bytes()).quiet().stdout;
    let text = say(&[]);
    for extra in [&["--batch", "1"][..], &["--threads", "2"], &["--batch", "3", "--threads", "1"]] {
        assert_eq!(say(extra), text, "{extra:?}");
    }
    assert_ne!(say(&["--temperature", "0.3"]), text);
    let records = run(&folder, &[&sample[..], &["--format", "jsonl"]].concat());
    let mut lines = text.lines();
    for (number, record) in records.iter().enumerate() {
        let samples = record["samples"].as_array().expect("samples");
        let total: u64 = samples.iter().filter_map(|sample| sample["count"].as_u64()).sum();
        assert_eq!(total, if number == 1 { 0 } else { 60 }, "an empty line gives nothing");
        assert!(samples.is_sorted_by(|a, b| a["log_p"].as_f64() >= b["log_p"].as_f64()));
        for sample in samples {
            let text = sample["text"].as_str().expect("text");
            assert_eq!(
                lines.next(),
                Some(format!("{number} ||| {text} ||| {} ||| {}", sample["log_p"], sample["count"]).as_str())
            );
        }
    }
    let best = say(&["--top", "2"]);
    assert_eq!(best.lines().collect::<Vec<_>>()[..2], text.lines().collect::<Vec<_>>()[..2]);
    assert_eq!(best.lines().filter(|line| line.starts_with("0 ||| ")).count(), 2);
    // At no temperature at all it is greedy search, a line for a line.
    let greedy = feed(&folder, &["translate", "--model", "tiny", "--beam", "1"], INPUT.as_bytes()).stdout;
    let cold = feed(&folder, &["sample", "--model", "tiny", "--temperature", "0"], INPUT.as_bytes()).stdout;
    assert_eq!(cold, greedy);
    let both = ["sample", "--model", "tiny", "--model", "encdec", "--ensemble", "--count", "5"];
    assert_eq!(feed(&folder, &both, b"one\n").code, 0);
}
