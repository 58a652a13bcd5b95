//! Several models on the command line: `--ensemble`, and what is said without it.

use std::path::Path;

use interlinear::models::config::Architecture;
use serde_json::Value;

use crate::cli::run_in;
use crate::tiny::TINY;
use crate::tiny::Tiny;

const OTHER: Tiny = Tiny { name: "other", source: &["three", "four"], seed: 2, ..TINY };
const ENCDEC: Tiny = Tiny { name: "encdec", architecture: Architecture::RnnEncDec, seed: 3, ..TINY };
const FOREIGN: Tiny = Tiny { name: "foreign", target: &["un", "deux", "quatre"], ..TINY };
const INPUT: &str = "one two three\n\nfour\nthree one one two\n";

fn models() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for tiny in [TINY, OTHER, ENCDEC, FOREIGN] {
        tiny.save(folder.path());
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let outcome = run_in(folder, arguments, INPUT.as_bytes());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
    outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn several_models_translate_and_score_as_one() {
    let folder = models();
    let one = ["translate", "--format", "jsonl", "--max-length", "6", "--model", "tiny"];
    let alone = run(folder.path(), &one);
    let twice = run(folder.path(), &[&one[..], &["--model", "tiny", "--ensemble"]].concat());
    for (alone, twice) in alone.iter().zip(&twice) {
        assert_eq!(alone["source"], twice["source"]);
        assert_eq!(alone["hypotheses"][0]["tokens"], twice["hypotheses"][0]["tokens"]);
    }
    let with = |model: &'static str, extra: &[&'static str]| {
        run(folder.path(), &[&one[..], &["--model", model, "--ensemble"], extra].concat())
    };
    let mixed = with("encdec", &[]);
    assert_eq!(mixed, with("encdec", &["--batch", "1"]));
    assert_eq!(mixed, with("encdec", &["--alignment-of", "1"]), "the only one that aligns");
    assert_ne!(mixed, with("encdec", &["--ensemble-average", "log-probability"]));
    assert_ne!(with("other", &["--alignment-of", "2"]), with("other", &["--alignment-of", "mean"]));

    // What one translates, `score` finds as probable, and the members' scores average to it.
    let best = &mixed[0]["hypotheses"][0];
    std::fs::write(folder.path().join("s"), "one two three\n").expect("written");
    std::fs::write(folder.path().join("t"), format!("{}\n", best["text"].as_str().expect("text"))).expect("written");
    let score = ["score", "--source", "s", "--target", "t", "--pretokenized", "--model", "tiny"];
    let scored = run(folder.path(), &[&score[..], &["--model", "encdec", "--ensemble"]].concat());
    let number = |value: &Value| value.as_f64().expect("a number");
    if best["finished"] == true {
        assert!((number(&scored[0]["log_p"]) - number(&best["log_p"])).abs() < 1e-4);
    }
    let first = number(&scored[0]["token_log_p"][0]).exp();
    let members = ["tiny", "encdec"].map(|model| {
        let score = ["score", "--source", "s", "--target", "t", "--pretokenized", "--model", model];
        number(&run(folder.path(), &score)[0]["token_log_p"][0]).exp()
    });
    assert!((first - (members[0] + members[1]) / 2.0).abs() < 1e-5, "{first} is not the mean of {members:?}");
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
        let outcome = run_in(folder.path(), &[&["translate"], arguments].concat(), b"one\n");
        assert!(outcome.code == 2 && outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn length_and_coverage_change_the_ranking_alone() {
    let folder = models();
    let search = ["translate", "--model", "tiny", "--format", "jsonl", "--nbest", "5", "--max-length", "8"];
    let plain = run(folder.path(), &search);
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
        let ranked = run(folder.path(), &[&search[..], extra].concat());
        assert_eq!(sorted(&ranked), sorted(&plain), "{extra:?}");
        moved |= ranked != plain;
    }
    assert!(moved, "no rule changed any order");
    let by_power = run(folder.path(), &[&search[..], &["--length-penalty", "power:0.7"]].concat());
    assert_eq!(by_power, run(folder.path(), &[&search[..], &["--length-normalization", "0.7"]].concat()));
}
