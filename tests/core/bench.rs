//! `interlinear bench` in its quick form, run as users run it: every section, every key, and programs to compare with.

use serde_json::Value;

use crate::cli::{Outcome, reference, run_in};

/// A peer that decodes in no time, where it is called as it must be.
const PEER: &str = r#"f() { test -f "$1/config.json" && test -f "$1/target.tokenizer.json" && test $(wc -l < "$2") -eq 3 &&
test "$3 $4 ${5%%=*} ${6%%=*}" = "5 20 batch threads" && echo '{"words_per_s": 2.0, "median_s": 0.5, "first": [99999], "score": -1.5}'; }; f"#;
/// A peer that trains in no time, but no model of Luong's.
const TRAIN_PEER: &str =
    r#"f() { test "$1" != luong && test "${2%%=*} ${6%%=*}" = "threads V" && echo '{"words_per_second": 3.0}'; }; f"#;

fn bench(arguments: &[&str]) -> (tempfile::TempDir, Outcome) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let model = reference("rnnsearch");
    let model = model.to_str().expect("a plain path");
    let quick = ["bench", "--quick", "--repeat", "1", "--json", "out.json", "--model", model];
    let outcome = run_in(folder.path(), &[&quick, arguments].concat(), b"");
    (folder, outcome)
}

fn record(arguments: &[&str]) -> (Value, String) {
    let (folder, outcome) = bench(arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    let record = std::fs::read_to_string(folder.path().join("out.json")).expect("written");
    (serde_json::from_str(&record).expect("JSON"), outcome.stdout)
}

/// Keys that every row of a section has, with numbers above 0.
const ROWS: &[(&str, &[&str])] = &[
    ("opening", &["lines", "bytes", "first_millis", "whole_millis", "search_millis"]),
    ("startup", &["load_millis", "first_translation_millis", "process_millis"]),
    ("decode", &["sentence_millis", "sentence_millis_p95", "words_per_s", "readable_millis", "of_bound_f32"]),
    ("corpora", &["words_per_s", "words_per_s_least", "share_of_f32_peak", "bound_f32_words_per_s", "batch"]),
    ("training", &["target_words_per_s", "least", "most", "share_of_f32_peak"]),
    ("heatmap", &["frame_millis", "p99", "triangles", "words"]),
    ("tree", &["frame_millis", "p99", "triangles", "nodes", "beam", "words"]),
];

#[test]
fn every_section_is_measured_and_recorded() {
    let (record, printed) = record(&["--markdown", "out.md"]);
    for (section, keys) in ROWS {
        if matches!(*section, "heatmap" | "tree") && !cfg!(feature = "gui") {
            continue;
        }
        let rows = record[section].as_array().unwrap_or_else(|| panic!("{section} has no rows: {record}"));
        assert!(!rows.is_empty() && printed.contains(&format!("\n{section}\n")), "{section}");
        for (row, key) in rows.iter().flat_map(|row| keys.iter().map(move |key| (row, *key))) {
            assert!(row[key].as_f64().is_some_and(|figure| figure > 0.0), "{section}: {key} of {row}");
        }
    }
    let machine = &record["machine"];
    for key in ["memory_gb_per_s", "cache_gb_per_s", "f32_gflops"] {
        assert!(machine["rates"][0][key].as_f64().is_some_and(|rate| rate > 0.0), "{machine}");
    }
    assert!(machine["cpu"].is_string() && machine["level"].is_string() && record["window"].is_null());
    for row in record["decode"].as_array().into_iter().chain(record["corpora"].as_array()).flatten() {
        assert_eq!(row["apart"]["same_words"], true, "{row}");
        assert_eq!(row["apart"]["within_tolerance"], true, "{row}");
        assert!(row["bound_f32"].is_null() || row["bound_f32"]["millis"].as_f64().is_some_and(|bound| bound > 0.0));
    }
    let architectures = |section: &str| {
        let rows = record[section].as_array().into_iter().flatten();
        rows.map(|row| row["architecture"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for section in ["decode", "corpora", "training"] {
        for architecture in ["rnnencdec", "rnnsearch", "luong"] {
            assert!(architectures(section).iter().any(|name| name == architecture), "{section} of {architecture}");
        }
    }
}

#[test]
fn peers_run_beside_decoding_and_training() {
    let sections = ["--section", "decode", "--section", "corpora", "--section", "training"];
    let peers = ["--peer", PEER, "--train-peer", TRAIN_PEER, "--markdown", "out.md"];
    let (folder, outcome) = bench(&[&sections[..], &peers].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let record: Value = serde_json::from_str(&read("out.json")).expect("JSON");
    for row in record["decode"].as_array().into_iter().flatten() {
        let millis = row["sentence_millis"].as_f64().expect("a figure");
        assert!((row["peer_ratio"].as_f64().expect("a ratio") - 500.0 / millis).abs() < 1e-6, "{row}");
        // no model says its word
        assert_eq!(row["peer"]["apart"]["same_words"], false);
        assert_eq!(row["peer"]["words_per_s"], 2.0);
    }
    for row in record["corpora"].as_array().into_iter().flatten() {
        assert!(
            (row["peer_ratio"].as_f64().expect("a ratio") - row["words_per_s"].as_f64().expect("one") / 2.0).abs()
                < 1e-6
        );
    }
    for row in record["training"].as_array().into_iter().flatten() {
        assert_eq!(row["peer_target_words_per_s"].is_null(), row["architecture"] == "luong", "{row}");
    }
    assert!(outcome.stdout.contains("printed no figures (exit status: 1)"), "{}", outcome.stdout);
    assert!(record.get("startup").is_none() && record.get("machine").is_none());
    let markdown = read("out.md");
    assert!(markdown.contains("### decode") && markdown.contains("| peer ms |"), "{markdown}");
}

#[test]
fn the_readable_form_is_measured_like_a_graphics_card_is() {
    let (record, _) = record(&["--section", "decode", "--section", "corpora", "--engine", "plain"]);
    for row in record["decode"].as_array().into_iter().chain(record["corpora"].as_array()).flatten() {
        assert_eq!((&row["engine"], &row["apart"]["same_words"]), (&"readable".into(), &true.into()), "{row}");
    }
}

#[test]
fn a_peer_that_never_prints_figures_is_an_error() {
    for (option, section) in [("--peer", "decode"), ("--peer", "corpora"), ("--train-peer", "training")] {
        let (_, outcome) = bench(&["--section", section, option, "false"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("the peer printed no figures for any model"), "{}", outcome.stderr);
        assert!(outcome.stdout.contains("the peer printed no figures (exit status: 1)"), "{}", outcome.stdout);
    }
}
