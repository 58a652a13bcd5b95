//! `neighbours` and `map`, run as users run them.

use interlinear::{models::Model, nn::device::Device};

use crate::cli::{Outcome, feed, json_of, reference};
use crate::folder::Folder;

fn run(command: &str, model: &str, arguments: &[&str], stdin: &str) -> Outcome {
    let folder = reference(model);
    let mut all = vec![command, "--model", folder.to_str().expect("a plain path")];
    all.extend(arguments);
    let fresh = Folder::new();
    feed(&fresh, &all, stdin.as_bytes())
}

fn results(command: &str, model: &str, arguments: &[&str], stdin: &str) -> String {
    run(command, model, arguments, stdin).quiet().stdout
}

fn words(model: &str) -> Vec<String> {
    let model = Model::load(reference(model), &Device::cpu()).expect("the fixture is sound");
    (2..8).filter_map(|id| model.source.token(id)).map(str::to_owned).collect()
}

#[test]
fn neighbours_are_listed_in_three_formats() {
    let words = words("rnnsearch");
    let queries = [words[0].as_str(), words[1].as_str()];
    let text = results("neighbours", "rnnsearch", &["--count", "3", queries[0], queries[1]], "");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[4]), (8, queries[0], queries[1]));
    let tsv = results("neighbours", "rnnsearch", &["--count", "3", "--format", "tsv", queries[0]], "");
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["query", "neighbour", "cosine", "id"]);
    let cosines: Vec<f32> = rows[1..].iter().map(|row| row[2].parse().expect("a number")).collect();
    assert!(cosines.is_sorted_by(|a, b| a >= b) && cosines.len() == 3, "{cosines:?}");
    assert!(rows[1..].iter().all(|row| row[0] == queries[0] && row[1] != queries[0]));
    let json = results("neighbours", "rnnsearch", &["--count", "3", "--format", "json", queries[0]], "");
    let record = json_of(&json);
    assert_eq!((&record["query"], &record["vector"]), (&queries[0].into(), &"source embedding".into()));
    assert_eq!(record["neighbours"][0]["text"], rows[1][1]);
    assert_eq!(record["neighbours"][0]["id"].to_string(), rows[1][3]);
}

#[test]
fn phrases_have_neighbours_too() {
    for (model, vector) in [("rnnsearch", "mean of the annotations h_j"), ("rnnencdec", "context c")] {
        let words = words(model);
        let file = format!("{} {}\n\n{}\n{} {}\n", words[0], words[1], words[2], words[3], words[0]);
        let phrase = format!("{} {}", words[0], words[1]);
        let json = results("neighbours", model, &["--phrases", "-", "--format", "json", &phrase], &file);
        let record = json_of(&json);
        let near = record["neighbours"].as_array().expect("a list");
        assert_eq!((&record["vector"], near.len()), (&vector.into(), 3), "{model}");
        // The phrase itself comes first; empty lines are counted and not looked at.
        assert_eq!((&near[0]["line"], &near[0]["text"]), (&1.into(), &phrase.as_str().into()));
        assert!(near[0]["cosine"].as_f64().is_some_and(|cosine| cosine > 0.9999));
        let mut lines: Vec<u64> = near.iter().filter_map(|near| near["line"].as_u64()).collect();
        lines.sort_unstable();
        assert_eq!(lines, [1, 3, 4]);
    }
}

#[test]
fn maps_are_written_as_tables_and_as_json() {
    let tsv = results("map", "rnnsearch", &["--words", "5", "--side", "target"], "");
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows.len(), rows[0].as_slice()), (6, &["x", "y", "id", "length", "text"][..]));
    assert!(rows[1..].iter().all(|row| row[..2].iter().all(|x| x.parse::<f32>().is_ok_and(f32::is_finite))));
    let words = words("rnnencdec");
    let file = words.join("\n");
    for (method, more) in [("pca", &[][..]), ("tsne", &["--epochs", "60"])] {
        let arguments = [&["-", "--method", method, "--format", "json"], more].concat();
        let json = results("map", "rnnencdec", &arguments, &file);
        assert_eq!(json, results("map", "rnnencdec", &arguments, &file), "the same map again");
        let record = json_of(&json);
        assert_eq!((&record["method"], &record["vector"]), (&method.into(), &"context c".into()));
        assert_eq!(record["points"].as_array().map(Vec::len), Some(words.len()));
        assert_eq!(
            (&record["points"][2]["line"], &record["points"][2]["text"]),
            (&3.into(), &words[2].as_str().into())
        );
        assert_eq!(record["explained"].is_array(), method == "pca");
        assert_eq!(record["perplexity"].is_number(), method == "tsne");
    }
}

#[test]
fn what_cannot_be_looked_at_is_a_sentence() {
    for (command, arguments, stdin, sentence) in [
        ("neighbours", &["qzqz"][..], "", "\"qzqz\" is not among the "),
        ("neighbours", &["--phrases", "-", "a"], "\n \n", "has no line with words"),
        ("neighbours", &["--phrases", "-", " "], "a\n", "\" \" has no words"),
        ("neighbours", &["--phrases", "no/such/file", "a"], "", "no/such/file: does not exist"),
        ("neighbours", &[], "", "WORD"),
        ("map", &["--words", "3", "--method", "tsne"], "", "at least 4 points"),
        ("map", &["-"], "a\n", "at least 2 points"),
        ("map", &["--method", "umap"], "", "possible values: pca, tsne"),
        ("map", &["--perplexity", "0.5"], "", "from 1 to 1000"),
    ] {
        let outcome = run(command, "rnnsearch", arguments, stdin);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(sentence), "{arguments:?}: {}", outcome.stderr);
    }
}
