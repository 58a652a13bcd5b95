//! Models on test sets: what is read and counted, and the commands `evaluate` and `align`; a corpus of the same sentences says the same.

use std::{fs, path::Path};

use interlinear::{corpus::overview::test_set::TestSet, error::Result, text::reader::LineReader};
use serde_json::Value;

use crate::cli::{feed, json_lines, json_of, reference, reference_word, run_in};
use crate::folder::{Files as _, Folder};
use crate::tiny::TINY;

fn lines(name: &str, text: &str) -> LineReader {
    LineReader::new(Path::new(name), Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))
}

fn test_set(source: &str, references: &[&str]) -> Result<TestSet> {
    let readers = references.iter().enumerate().map(|(n, text)| lines(&format!("reference {}", n + 1), text));
    TestSet::from_lines(lines("source", source), readers.collect(), true)
}

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
fn batches_change_nothing_and_no_translations_means_no_bleu() {
    let folder = Folder::new();
    let with = |extra: &[&str]| {
        let outcome = command(&folder, "evaluate", "rnnencdec", &[&["--format", "json"], extra].concat());
        let report = json_of(&outcome.stdout);
        report["models"][0]["rows"][0].clone()
    };
    let [one, many, silent] = [&["--batch", "1"][..], &["--batch", "16"], &["--unk", "none"]].map(with);
    let nll = |row: &Value| row["nll"].as_f64().expect("a number");
    assert!((nll(&one) - nll(&many)).abs() < 1e-3 && (nll(&silent) - nll(&many)).abs() < 1e-3);
    assert!(one["bleu"] == many["bleu"] && one["chrf2"] == many["chrf2"] && one["hyp_len"] == many["hyp_len"]);
    assert!(silent["bleu"].is_null() && silent["chrf2"].is_null());
}

#[test]
fn a_corpus_of_the_same_sentences_has_the_same_figures() {
    let folder = Folder::new();
    let (model, links) = (reference("rnnsearch"), "0-0 1-1\n0-0\n0-0 1-1 3-2\n");
    folder.put("gold", links);
    let gold = ["--gold", "gold", "--gold-order", "source", "--gold-base", "0"];
    let threshold = ["--threshold", "0.2", "--format", "json"];
    let extra = [&gold[..], &threshold].concat();
    let outcome = command(&folder, "evaluate", "rnnsearch", &extra);
    let report = json_of(&outcome.stdout);
    let model = model.to_str().expect("a plain path");
    let analyse = |arguments: &[&str]| {
        let outcome = run_in(&folder, &[&["analyse", "--workspace", "c.ilws"], arguments].concat()).good();
        json_lines(&outcome.stdout)
    };
    let files = ["--source", "source", "--reference", "target", "--pretokenized", "--format", "none"];
    analyse(&[&files[..], &gold, &["--model", model]].concat());
    let force = ["--model", model, "--force", "--format", "jsonl"];
    let table = analyse(&[&force[..], &["--overview", "length,likelihood,alignment"]].concat());
    let row = |name: &str, group: (&str, &str), system: &str| {
        let is_it = |row: &&Value| row["table"] == name && row[group.0] == group.1 && row["system"] == system;
        table.iter().find(is_it).unwrap_or_else(|| panic!("{name}, {group:?}, {system}: {table:?}")).clone()
    };
    let (forced, scores) = ("rnnsearch, references", &report["models"][0]["rows"][0]);
    let translated = row("length", ("words", "all"), "rnnsearch");
    let likely = row("likelihood", ("words", "all"), forced);
    let [greatest, above] = ["greatest", "alpha >= 0.2"].map(|links| row("alignment", ("links", links), forced));
    let aligned = &report["models"][0]["alignment"]["rows"];
    for (name, of_corpus, of_command, digits) in [
        ("BLEU", &translated["BLEU"], &scores["bleu"], 2),
        ("chrF2", &translated["chrF2"], &scores["chrf2"], 2),
        ("TER", &translated["TER"], &scores["ter"], 2),
        ("hyp_len", &translated["hyp_len"], &scores["hyp_len"], 0),
        ("words", &likely["words of references"], &scores["words"], 0),
        ("NLL", &likely["NLL"], &scores["nll"], 2),
        ("NLL per word", &likely["NLL per word"], &scores["nll_per_word"], 4),
        ("perplexity", &likely["perplexity"], &scores["perplexity"], 3),
        ("tokens", &likely["tokens"], &scores["tokens"], 0),
        ("NLL per token", &likely["NLL per token"], &scores["nll_per_token"], 4),
        ("AER", &greatest["AER"], &aligned[0]["aer"], 4),
        ("links", &greatest["found"], &aligned[0]["links"], 0),
        ("AER by threshold", &above["AER"], &aligned[1]["aer"], 4),
        ("recall by threshold", &above["recall"], &aligned[1]["recall"], 4),
    ] {
        let [one, other] = [of_corpus, of_command].map(|number| number.as_f64().expect(name));
        assert!((one - other).abs() <= 0.51 * 0.1_f64.powi(digits), "{name}: {one} and {other}");
    }
}

fn turned(folder: &Path) {
    let (from, to) = (reference("rnnsearch"), folder.join("turned"));
    fs::create_dir(&to).expect("created");
    let copy = |name: &str, other: &str| fs::copy(from.join(name), to.join(other)).map(|_| ()).expect("copied");
    copy("model.safetensors", "model.safetensors");
    copy("source.tokenizer.json", "target.tokenizer.json");
    copy("target.tokenizer.json", "source.tokenizer.json");
    let config = from.text("config.json");
    let config = config.replace("\"en\"", "\"xx\"").replace("\"fr\"", "\"en\"").replace("\"xx\"", "\"fr\"");
    to.put("config.json", config);
}

fn command(folder: &Path, command: &str, name: &str, extra: &[&str]) -> crate::cli::Outcome {
    folder.put("source", SOURCE);
    folder.put("target", TARGET);
    let model = &*reference_word(name);
    let files = ["--source", "source", "--target", "target", "--model", model, "--pretokenized"];
    run_in(folder, &[&[command], &files[..], extra].concat())
}

fn rows(outcome: &crate::cli::Outcome) -> Vec<Value> {
    let report = json_of(&outcome.stdout);
    report["models"][0]["alignment"]["rows"].as_array().expect("rows").clone()
}

#[test]
fn a_models_own_links_have_an_error_rate_of_0() {
    let folder = Folder::new();
    for format in ["pharaoh", "naacl"] {
        let links = command(&folder, "align", "rnnsearch", &["--format", format]).quiet();
        // The target has 2, 1 and 3 words, and each has its link.
        assert_eq!(
            links.stdout.split_whitespace().filter(|word| word.contains('-')).count()
                + links.stdout.matches('S').count(),
            6
        );
        folder.put("gold", &links.stdout);
        let extra = ["--gold", "gold", "--threshold", "0.000001", "--format", "json", "--unk", "none"];
        let found = command(&folder, "evaluate", "rnnsearch", &extra);
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
    let folder = Folder::new();
    turned(&folder);
    let links = |extra: &[&str]| command(&folder, "align", "rnnsearch", extra).quiet().stdout;
    let both = |way| links(&["--reverse-model", "turned", "--symmetrize", way]);
    let count = |text: &str| text.split_whitespace().count();
    let (forward, intersection, union) = (links(&[]), both("intersection"), both("union"));
    // The reverse model gives each of the 9 source words its link.
    assert_eq!(count(&intersection) + count(&union), 6 + 9);
    assert!(intersection.split_whitespace().all(|link| forward.contains(link)));
    let grown = count(&both("grow-diag-final-and"));
    assert!((count(&intersection)..=count(&union)).contains(&grown));
    folder.put("gold", &union);
    let extra = ["--gold", "gold", "--reverse-model", "turned", "--format", "json", "--unk", "none"];
    let rows = rows(&command(&folder, "evaluate", "rnnsearch", &extra));
    let row = |name: &str| rows.iter().find(|row| row["direction"] == name).expect("the direction is there");
    assert_eq!((&row("union")["aer"], &row("reverse")["links"]), (&0.0.into(), &9.into()));
    assert_eq!(row("grow-diag-final-and")["links"], grown);
    command(&folder, "align", "rnnsearch", &["--reverse-model", reference("rnnsearch").to_str().expect("plain")])
        .refused("wants the opposite direction");
}

#[test]
fn rows_of_states_that_read_words_have_two_readings() {
    let folder = Folder::new();
    folder.put("gold", "0-0\n0-0\n0-0\n");
    let extra = ["--gold", "gold", "--gold-order", "source", "--gold-base", "0", "--format", "json", "--unk", "none"];
    for (name, readings) in [
        ("luong-global-dot", &["predicted", "input"][..]),
        ("luong-local-p-general", &["predicted", "input"]),
        ("luong-global-location", &["predicted"]),
        ("rnnsearch", &["predicted", "input"]),
    ] {
        // Rows of words read are told on request.
        for (asked, readings) in [(&["--by-input"][..], readings), (&[], &["predicted"])] {
            let outcome = command(&folder, "evaluate", name, &[&extra[..], asked].concat());
            let rows = rows(&outcome);
            assert_eq!(rows.iter().filter_map(|row| row["reading"].as_str()).collect::<Vec<_>>(), readings, "{name}");
        }
    }
    // RNNsearch has read a word two rows later; the last word has its row after `</s>`
    let read = command(&folder, "align", "rnnsearch", &["--reading", "input"]);
    assert_eq!((read.code, read.stdout.split_whitespace().count()), (0, 6), "{}", read.stderr);
    command(&folder, "align", "luong-global-location", &["--reading", "input"]).refused("leave out --reading input");
    command(&folder, "align", "rnnencdec", &[]).refused("has no alignment");
}

#[test]
fn evaluate_writes_every_sentence_and_compares_models() {
    let folder = Folder::new();
    folder.put("second", "t2\nt3\nt4\n");
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
    let outcome = command(&folder, "evaluate", "rnnsearch", &extra).quiet();
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
    let out = folder.join("out");
    let read = |name: &str| out.text(name);
    let report = json_of(&read("report.json"));
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
    let records = json_lines(&records);
    let unknown = |record: &Value| [&record["source_unk"], &record["reference_unk"]].map(serde_json::Value::as_bool);
    let wanted = [(false, false), (true, false), (false, true)].map(|(x, y)| [Some(x), Some(y)]);
    assert_eq!(records.iter().map(unknown).collect::<Vec<_>>(), wanted);
    assert!(records.iter().all(|record| record["translations"][1]["has_unk"] == false), "[UNK] is forbidden there");
    let rows = report["models"][0]["rows"].as_array().expect("rows");
    let known = rows.iter().find(|row| row["set"] == "without UNK").expect("a row");
    assert_eq!((&known["sentences"], &known["nll"]), (&1.into(), &records[0]["nll"]));
    let nll: f64 = records.iter().filter_map(|record| record["nll"].as_f64()).sum();
    assert!((nll - report["models"][0]["rows"][0]["nll"].as_f64().expect("a number")).abs() < 1e-9);
    assert_eq!(read(&format!("{name}.txt")).lines().next(), records[0]["translations"][0]["text"].as_str());
}

#[test]
fn a_model_is_exactly_as_good_as_itself() {
    let folder = Folder::new();
    let model = reference("rnnsearch");
    let same =
        ["--model", model.to_str().expect("plain"), "--paired-bs", "50", "--paired-ar", "20", "--format", "json"];
    let outcome = command(&folder, "evaluate", "rnnsearch", &same);
    let report = json_of(&outcome.stdout);
    let against = &report["models"][1]["against_first"][0];
    for score in ["bleu", "chrf2", "ter"] {
        let paired = &against[score];
        assert!(paired["difference"]["value"] == 0.0 && paired["second_wins"] == 0.0, "{score}: {paired}");
        assert!(paired["p_value"].is_null() && paired["p_ar"].is_null(), "three sentences");
    }
}

#[test]
fn unknown_words_give_way_as_they_do_in_translate() {
    let folder = Folder::new();
    let input = "Foo one\nfoo bar\ntwo\n";
    folder.put_all([("source", input), ("target", "un\ndeux\ntrois\n"), ("known", "foo\tbaz\t1\n")]);
    TINY.unknowing().save(&folder);
    let search = ["--model", "tiny", "--beam", "1", "--max-length", "8", "--pretokenized"];
    let told = |arguments: &[&str], stdin: &str| feed(&folder, arguments, stdin.as_bytes()).quiet().stdout;
    for extra in [&[][..], &["--replace-unk"], &["--replace-unk", "--dictionary", "known"]] {
        let wanted = told(&[&["translate"], &search[..], extra].concat(), input);
        let files = ["--source", "source", "--target", "target", "--output", "out"];
        told(&[&["evaluate"], &search[..], &files, extra].concat(), "");
        assert_eq!(folder.text("out/tiny.txt"), wanted, "{extra:?}");
        let records = folder.text("out/tiny.sentences.jsonl");
        assert!(records.contains("\"has_unk\":true"), "the model knows no word: {records}");
    }
    for flags in [&["--replace-unk"][..], &["--coverage", "0.2"]] {
        command(&folder, "evaluate", "rnnencdec", flags).refused(flags[0]).refused("rnnencdec");
    }
}
