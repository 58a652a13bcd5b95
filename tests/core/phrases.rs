//! Phrase tables: read and written byte for byte, scored as forced decoding scores them, and their top targets.

use std::{io::Write as _, path::Path};

use interlinear::decoding::phrases::{PhraseOptions, ScoredPhrases, score};
use interlinear::models::{Kernels, Model};
use interlinear::text::phrases::{PhraseEntry, PhraseTable, write_packed};
use interlinear::{decoding::force, error::Error, text::readable::unescaped};
use serde_json::Value;

use crate::cli::{Outcome, REFERENCES, feed, json_lines, reference, reference_word, run_in};
use crate::folder::{Files as _, Folder};
use crate::{counted, decoding::fake::Fake, forever, models::load};

const TABLE: &str = "\u{feff}s3 s4 ||| t5 t6 ||| 0.1 0.2 0.3 0.4 ||| 0-0 1-1 ||| 3 4 5\n\
s3 s4 ||| t5 ||| 0.5 1e-3 .25 2.5 ||| ||| 7 7 7 ||| |||\n\
s3 s4 ||| t5 t7 t7 ||| 0.5  0.25 0.01\t1 \r\n\
s9 ||| t2 &amp; t8 ||| 1 1 1 1   |||0-0\n\
s9 ||| t5 t6 ||| 0.5 1 0.125 1 ||| s|||t ||| \t\n\
  never  seen   ||| t5 t6 ||| 0.5 1 0.125 1\n\
s9 ||| t24 t3 ||| 1 1 0.25 1";

fn table(text: &str) -> PhraseTable {
    PhraseTable::new(Path::new("table"), Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))
}

fn run_score(model: &str, text: &[u8], arguments: &[&str]) -> Outcome {
    let folder = Folder::new();
    folder.put("table", text);
    let model = reference(model);
    let all = ["score", "--model", model.to_str().expect("a plain path"), "--phrase-table", "table"];
    run_in(&folder, &[&all, arguments].concat())
}

#[test]
fn lines_are_kept_and_their_fields_found() {
    let entries: Vec<PhraseEntry> = table(TABLE).collect::<Result<_, _>>().expect("it is a table");
    let texts: Vec<(&str, &str)> = entries.iter().map(|entry| (entry.source(), entry.target())).collect();
    assert_eq!(texts[0], ("s3 s4", "t5 t6"));
    assert_eq!(texts[3], ("s9", "t2 &amp; t8"));
    assert_eq!(texts[5], ("never  seen", "t5 t6"));
    assert_eq!(entries[1].features().collect::<Vec<_>>(), [0.5, 0.001, 0.25, 2.5]);
    assert_eq!((entries[2].feature(3), entries[2].feature(5), entries[2].feature(0)), (Some(0.01), None, None));
    assert_eq!(entries.iter().map(PhraseEntry::line).collect::<String>(), TABLE);
    assert_eq!(entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_further_feature_changes_nothing_else() {
    for (line, wanted) in [
        ("a ||| b ||| 1 2 ||| 0-0\n", "a ||| b ||| 1 2 X ||| 0-0\n"),
        ("a ||| b ||| 1 2\r\n", "a ||| b ||| 1 2 X\r\n"),
        ("a ||| b ||| 1  2  |||", "a ||| b ||| 1  2 X  |||"),
        ("a ||| b |||", "a ||| b ||| X"),
        ("a ||| b |||  ||| 0-0\n", "a ||| b ||| X  ||| 0-0\n"),
        ("a|||b|||1|||c", "a|||b|||1 X|||c"),
    ] {
        let entry = PhraseEntry::new(1, line.into()).expect("it has three fields");
        let mut written = Vec::new();
        entry.write_with("X", &mut written).expect("a vector has room");
        assert_eq!(String::from_utf8(written).expect("text"), wanted);
    }
}

#[test]
fn lines_that_are_no_phrase_pairs_are_named() {
    let long = format!("a ||| {} ||| 1\n", "b ".repeat(1 << 20));
    for (text, line, what) in [
        ("a ||| b ||| 1\n\n", 2, "has 1 field of the three"),
        ("a ||| b\n", 1, "has 2 fields of the three"),
        ("a ||| b ||| 1\n ||| b ||| 1\n", 2, "has no source phrase"),
        ("a ||| ||| 1\n", 1, "has no target phrase"),
        ("a ||| b ||| 1 x\n", 1, "has the feature `x`, which is no number"),
        ("a ||| b ||| 1\na ||| c ||| 1 1\n", 2, "has 2 features, but the first line has 1"),
        (&long, 1, "has more than 1048576 bytes"),
    ] {
        let error = table(text).collect::<Result<Vec<_>, _>>().expect_err(what).to_string();
        assert!(error.starts_with(&format!("table, line {line}: {what}")), "{error}");
        assert_eq!(run_score("rnnencdec", text.as_bytes(), &[]).code, 2, "{what}");
    }
    let broken =
        run_score("rnnsearch", b"s2 ||| t2 ||| 1\ns3 ||| \xff ||| 1\n", &[]).refused("table, line 2: is not UTF-8");
    assert_eq!(broken.stdout.lines().count(), 1, "what stands before the broken line is written");
}

#[test]
fn escapes_of_moses_are_undone() {
    assert_eq!(unescaped("l&apos; amp&amp;lt; &#124; &#91;x&#93; &quot;"), "l' amp&lt; | [x] \"");
    assert_eq!(unescaped("plain"), "plain");
}

type Pair = (usize, Vec<u32>);

#[test]
fn words_that_the_model_knows_are_not_cut() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/rnnencdec-en-fr");
    let source = interlinear::text::tokenizer::Tokenizer::from_file(&folder.join("source.tokenizer.json"));
    let source = source.expect("it comes with the program");
    for (phrase, wanted) in [
        ("we can 't", &["we", "can", "'t"][..]),
        ("we can't", &["we", "can", "'t"]),
        ("what 's up?", &["what", "'s", "up", "?"]),
        ("  old   shoes ", &["old", "shoes"]),
        ("", &[]),
    ] {
        let found = source.encode_phrase(phrase, None);
        // The vocabulary's own word, or the unknown one.
        let wanted: Vec<u32> =
            wanted.iter().map(|word| source.id(word).or_else(|| source.id("[UNK]")).expect("it has one")).collect();
        assert_eq!(source.tokens(&found), source.tokens(&wanted), "{phrase}");
    }
    let eos = source.id("</s>").expect("it has one");
    assert_eq!(source.encode_phrase("old", Some(eos)).last(), Some(&eos));
    assert!(!source.encode_phrase("</s>", None).contains(&eos), "what is typed ends nothing");
}

fn pairs() -> (Vec<Vec<u32>>, Vec<Pair>) {
    let sources = vec![vec![3, 4, 0], vec![5, 0], vec![6, 7, 8, 9, 0], vec![2, 0]];
    let mut pairs = Vec::new();
    for i in 0..60_u32 {
        let source = (i * 7 % 4) as usize;
        let length = i * 5 % 6;
        let mut target: Vec<u32> = (0..length).map(|k| 2 + (i / 9 + k * (i % 2)) % 5).collect();
        target.push(0);
        pairs.push((source, target));
    }
    (sources, pairs)
}

#[test]
fn shared_beginnings_score_as_each_pair_alone() {
    let (sources, pairs) = pairs();
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let shared: Vec<(usize, &[u32])> = pairs.iter().map(|(source, target)| (*source, target.as_slice())).collect();
    let alone: Vec<(&[u32], &[u32])> = pairs.iter().map(|(source, target)| (sources[*source], &target[..])).collect();
    let wanted = force(&mut Fake::new(5, 9), &alone, &forever()).expect("forced");
    for batch in [1, 2, 7, 25, 1000] {
        let mut told = Vec::new();
        let mut fake = Fake::new(5, 9);
        let found = score(&mut fake, &sources, &shared, batch, &forever(), &mut |done| {
            told.push(done);
            Ok(())
        })
        .expect("scored");
        assert_eq!(found, wanted.iter().map(|forced| forced.log_p).collect::<Vec<_>>(), "batches of {batch}");
        assert_eq!(told, (1..=pairs.len().div_ceil(batch)).map(|k| (k * batch).min(60)).collect::<Vec<_>>());
        assert_eq!(fake.begun, pairs.len().div_ceil(batch));
    }
    let mut all = Fake::new(5, 9);
    score(&mut all, &sources, &shared, 1000, &forever(), &mut |_| Ok(())).expect("scored");
    assert_eq!(all.sources.len(), 4, "each source is encoded once");
}

#[test]
fn scoring_stops_when_it_is_no_longer_wanted() {
    let (counter, ticket) = counted();
    let mut fake = Fake { cancel: Some((1, counter)), ..Fake::new(5, 9) };
    let refused = score(&mut fake, &[&[3, 0]], &[(0, &[2, 2, 2, 0])], 8, &ticket, &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::Stale)) && fake.steps == 2, "{refused:?}");
}

#[test]
fn every_model_gives_phrases_their_log_p() {
    for (name, _) in REFERENCES {
        let model = load(name);
        let mut stepper = model.stepper(Kernels::Fused, 2).expect("a stepper");
        let entries: Vec<PhraseEntry> = table(TABLE).collect::<Result<_, _>>().expect("it is a table");
        let outcome = run_score(name, TABLE.as_bytes(), &[]).quiet();
        let scored: Vec<PhraseEntry> = table(&outcome.stdout).collect::<Result<_, _>>().expect("it is a table");
        assert_eq!(scored.len(), entries.len());
        for (scored, entry) in scored.iter().zip(&entries) {
            let source = model.source.encode(&unescaped(entry.source())).ids;
            let target = model.target.encode_with(&unescaped(entry.target()), Some(model.config.eos)).ids;
            let forced = force(stepper.as_mut(), &[(&source, &target)], &forever()).expect("forced");
            let log_p = scored.features().last().expect("a feature more");
            assert!((log_p - f64::from(forced[0].log_p)).abs() < 1e-4, "{name}: {log_p} and {}", forced[0].log_p);
            assert_eq!(forced[0].token_log_p.len(), target.len(), "`</s>` counts");
        }
    }
}

#[test]
fn a_table_comes_out_as_it_was_in_its_order_packed_or_not() {
    let folder = Folder::new();
    // Several batches, sources scattered, so that an order lost would show.
    let mut text = String::new();
    for i in 0..900_usize {
        let words = |side: char, count: usize| -> String {
            (0..=count).map(|k| format!("{side}{}", 2 + (i * (k + 3)) % 14)).collect::<Vec<_>>().join(" ")
        };
        text += &format!("{} ||| {} ||| 0.{i} 1 ||| 0-0 ||| {i}\n", words('s', i % 5), words('t', i % 7));
    }
    let model = &*reference_word("rnnencdec");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).expect("packed");
    let files: [(&str, Vec<u8>); 3] = [
        ("plain", text.clone().into()),
        ("in.gz", packed.finish().expect("packed")),
        ("in.zst", zstd::encode_all(text.as_bytes(), 1).expect("packed")),
    ];
    let mut outputs = Vec::new();
    for (name, bytes) in &files {
        folder.put(name, bytes);
        for output in ["out", "out.gz", "out.zst"] {
            let arguments = ["score", "--model", model, "--phrase-table", name, "--output", output];
            let outcome = run_in(&folder, &arguments);
            assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
            let written = std::fs::read(folder.join(output)).expect("it is there");
            let start: &[u8] = if output == "out.gz" {
                &[0x1f, 0x8b]
            } else if output == "out" {
                b"s2"
            } else {
                &[0x28]
            };
            assert!(written.starts_with(start), "{output} is packed as its name says");
            let table = PhraseTable::open(&folder.join(output)).expect("it opens");
            outputs.push(table.map(|entry| entry.expect("a line").line().to_owned()).collect::<String>());
        }
    }
    let piped = feed(&folder, &["score", "--model", model, "--phrase-table", "-"], text.as_bytes());
    outputs.push(piped.stdout);
    assert!(outputs.iter().all(|output| *output == outputs[0]), "every way gives the same");
    for (before, after) in text.lines().zip(outputs[0].lines()) {
        let at = before.match_indices(" ||| ").nth(2).expect("four fields").0;
        let added = after.len() - before.len();
        assert_eq!((&after[..at], &after[at + added..]), (&before[..at], &before[at..]), "only the feature is new");
        assert!(after[at..at + added].starts_with(" -"), "{after}");
    }
    assert_eq!(outputs[0].lines().count(), 900);
    let probabilities = run_score("rnnencdec", TABLE.as_bytes(), &["--feature", "probability", "--batch", "2"]).stdout;
    let logs = run_score("rnnencdec", TABLE.as_bytes(), &[]).stdout;
    for (p, log) in table(&probabilities).zip(table(&logs)) {
        let last = |entry: Result<PhraseEntry, Error>| entry.expect("a line").features().last().expect("a feature");
        let (p, log) = (last(p), last(log));
        assert!((p.ln() - log).abs() < 1e-4, "{p} {log}");
    }
}

#[test]
fn an_output_that_failed_leaves_the_old_file() {
    let folder = Folder::new();
    let path = folder.put("table.gz", "old");
    let failed: Result<(), Error> = write_packed(&path, |file| {
        file.write_all(b"half of a line").map_err(|error| Error::io("x", &error))?;
        Err(Error::Input("a broken line".into()))
    });
    assert_eq!(failed.expect_err("it failed").to_string(), "a broken line");
    assert_eq!(std::fs::read(&path).expect("it is there"), b"old");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "nothing else is left");
}

fn brute_force(model: &Model, source: &str, n: usize, k: usize) -> (Vec<String>, Vec<String>) {
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let mut targets = Vec::new();
    for entry in table(TABLE).map(|entry| entry.expect("a line")).filter(|entry| entry.source() == source) {
        let mut alone = ScoredPhrases::new(model, PhraseOptions::default());
        alone.push(source, entry.target()).expect("it has words");
        let log_p = alone.score(stepper.as_mut(), &forever(), &mut |_| Ok(())).expect("scored")[0];
        targets.push((entry.target().to_owned(), f64::from(log_p), entry.feature(n).expect("a feature")));
    }
    let order = |by: fn(&(String, f64, f64)) -> f64| -> Vec<String> {
        let mut targets = targets.clone();
        targets.sort_by(|a, b| by(b).total_cmp(&by(a)));
        targets.iter().take(k).map(|target| target.0.clone()).collect()
    };
    (order(|target| target.1), order(|target| target.2))
}

#[test]
fn top_targets_are_those_of_all() {
    let model = load("rnnsearch");
    let records = |arguments: &[&str]| -> Vec<Value> {
        let all = [&["--format", "json"], arguments].concat();
        let outcome = run_score("rnnsearch", TABLE.as_bytes(), &all).quiet();
        json_lines(&outcome.stdout)
    };
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().expect("a list").iter().filter_map(|t| t["target"].as_str()).map(str::to_owned).collect()
    };
    for (n, k) in [(3, 2), (1, 9), (3, 1)] {
        let found = records(&["--top", &k.to_string(), "--table-feature", &n.to_string(), "s9", "s3  s4"]);
        assert_eq!(found.len(), 2);
        for (record, source) in found.iter().zip(["s9", "s3 s4"]) {
            assert_eq!((record["source"].as_str(), record["targets"].as_u64()), (Some(source), Some(3)));
            let (by_model, by_table) = brute_force(&model, source, n, k);
            assert_eq!((texts(&record["model"]), texts(&record["table"])), (by_model, by_table), "{source}");
        }
    }
    // Without phrases every run of lines with one source.
    let all = records(&["--top", "1"]);
    let sources: Vec<&str> = all.iter().filter_map(|record| record["source"].as_str()).collect();
    assert_eq!(sources, ["s3 s4", "s9", "never  seen", "s9"]);
}

#[test]
fn top_targets_are_told_in_columns() {
    let text = run_score("rnnencdec", TABLE.as_bytes(), &["--top", "2", "s9"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("s9 (3 targets)", 5), "{text}");
    assert!(
        lines[1].contains("log p of") && lines[1].contains("feature 3") && lines[2].ends_with("1.0000  t2 &amp; t8")
    );
    let folder = Folder::new();
    folder.put("table", TABLE);
    let model = reference("rnnencdec");
    let all =
        ["phrases", "--model", model.to_str().expect("a plain path"), "--phrase-table", "table", "--top", "2", "s9"];
    assert_eq!(run_in(&folder, &all).stdout, text, "a command of its own");
    let tsv = run_score("rnnencdec", TABLE.as_bytes(), &["--top", "2", "--format", "tsv", "s9"]).stdout;
    assert!(tsv.starts_with("source\trank\tmodel_target\tmodel_log_p\t") && tsv.contains("\ns9\t2\t"), "{tsv}");
    assert!(tsv.lines().all(|line| line.split('\t').count() == 8), "{tsv}");
}

#[test]
fn what_is_not_there_is_named() {
    for (arguments, what) in [
        (&["--top", "3", "s9", "house", "red"][..], "table: has no source phrase `house`, `red`"),
        (&["--top", "3", "--table-feature", "5", "s9"], "table, line 4: has no feature 5, only 4"),
        (&["--top", "3", "--output", "x"], "cannot be used with"),
        (&["s9"], "--top"),
        (&["--source", "x"], "cannot be used with"),
        (&["--phrase-table", "nowhere"], "cannot be used multiple times"),
    ] {
        run_score("rnnencdec", TABLE.as_bytes(), arguments).refused(what);
    }
    let folder = Folder::new();
    let model = &*reference_word("rnnencdec");
    for (arguments, what) in [
        (vec!["score", "--model", model, "--phrase-table", "nowhere"], "nowhere: does not exist"),
        (vec!["score", "--model", model, "--phrase-table", "."], ".: is a folder"),
        (vec!["score", "--model", model], "--source <FILE>"),
    ] {
        run_in(&folder, &arguments).refused(what);
    }
}
