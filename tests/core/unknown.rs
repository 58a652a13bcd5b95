//! Unknown words: the dictionary and its file, what stands for `[UNK]`, and the commands that build and use it.

use std::{borrow::Cow, path::Path};

use interlinear::analysis::unknown::{attended, replace};
use interlinear::text::dictionary::{Dictionary, WordCounts};
use interlinear::{analysis::alignment::Alignment, text::sentence::Sentence, text::tokenizer::Tokenizer};
use serde_json::Value;

use crate::cli::{Outcome, feed, json_of, reference, reference_word};
use crate::folder::{Files as _, Folder};
use crate::tiny::TINY;

fn dictionary(text: &str) -> Result<Dictionary, String> {
    let folder = Folder::new();
    let path = folder.put("words.tsv", text);
    Dictionary::open(&path).map_err(|error| error.to_string())
}

#[test]
fn words_are_translated_as_they_are_written_or_with_their_capitals() {
    let words =
        dictionary("thaw\tdégel\t3\nthaw\tfonte\t0.5\nThaw\tDegel\n\nmill\tmoulin de l'eau\t2\nmill\tusine\t2\n");
    let words = words.expect("a sound file");
    for (word, wanted) in [
        ("thaw", Some("dégel")),
        ("Thaw", Some("Degel")),
        ("THAW", Some("DÉGEL")),
        ("mill", Some("moulin de l'eau")),
        ("Mill", Some("Moulin de l'eau")),
        ("MILL", Some("MOULIN DE L'EAU")),
        ("mIll", Some("moulin de l'eau")),
        ("mills", None),
        ("", None),
    ] {
        assert_eq!(words.translate(word).as_deref(), wanted, "{word}");
    }
}

#[test]
fn lines_that_are_no_entries_are_named() {
    for (text, expected) in [
        ("a\tb\t1\nonly\n", "words.tsv, line 2: has 1 columns"),
        ("a\tb\t1\tmore", "line 1: has 4 columns"),
        ("a\tb\n\n\tb\n", "line 3: has an empty word"),
        ("a\t \t2", "line 1: has an empty word"),
        ("a\tb\tmuch", "line 1: has \"much\" for a count"),
        ("a\tb\t-1", "line 1: has \"-1\" for a count"),
        ("a\tb\tNaN", "line 1: has \"NaN\" for a count"),
    ] {
        let error = dictionary(text).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    assert!(dictionary("").expect("nothing is no fault").translate("a").is_none());
}

#[test]
fn the_most_frequent_translation_is_kept() {
    let mut counts = WordCounts::default();
    let links =
        [("b", "y", 2), ("a", "z", 3), ("a", "x", 3), ("a", "w", 1), ("c", "y", 1), ("d\te", "y", 9), ("f", " ", 9)];
    for (source, target, count) in links {
        (0..count).for_each(|_| counts.add(source, target));
    }
    assert_eq!(counts.best(1), [("a", "x", 3), ("b", "y", 2), ("c", "y", 1)]);
    assert_eq!(counts.best(3), [("a", "x", 3)]);
    let (_folder, path) = Folder::and_path("counted");
    counts.save(&path, 2).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("read"), "a\tx\t3\nb\ty\t2\n");
    assert_eq!(Dictionary::open(&path).expect("read").translate("b"), Some(Cow::Borrowed("y")));
}

#[test]
fn a_stand_in_comes_from_the_word_of_greatest_alpha() {
    let model = TINY.model();
    let source: Sentence = model.source.encode("One thaw mill");
    let rows = [[0.2, 0.5, 0.1, 0.2], [0.1, 0.1, 0.2, 0.6], [0.0, 0.0, 0.0, 1.0], [0.9, 0.1, 0.0, 0.0]];
    let alpha = Alignment::from_rows(&rows);
    let places: Vec<_> = (0..5).map(|i| attended(&alpha, i, &source)).collect();
    assert_eq!(places, [Some(1), Some(2), None, Some(0), None], "`</s>` stands for no word");
    let words = dictionary("thaw\tdégel\none\tun\n").expect("sound");
    let unknown = |i| i != 3;
    let shown = ["[UNK]", "[UNK]", "[UNK]", "deux"];
    let with = |dictionary| replace(&shown, unknown, Some(&alpha), &source, dictionary).join(" ");
    assert_eq!(with(Some(&words)), "dégel mill [UNK] deux");
    assert_eq!(with(None), "thaw mill [UNK] deux");
    assert_eq!(replace(&shown, unknown, None, &source, Some(&words)).join(" "), shown.join(" "), "without alignment");
}

fn run(folder: &Path, command: &str, arguments: &[&str], stdin: &str) -> Outcome {
    let model = reference("rnnsearch");
    let all = [&[command, "--model", model.to_str().expect("a plain path")], arguments].concat();
    feed(folder, &all, stdin.as_bytes())
}

#[test]
fn a_dictionary_is_built_from_a_corpus_and_used() {
    let folder = Folder::new();
    let source: String =
        (0..60).map(|i| format!("s{} Foo s{} s{}\n", 2 + i % 31, 2 + i * 7 % 31, 2 + i * 3 % 31)).collect();
    let target: String = (0..60).map(|i| format!("t{} bar t{}\n", 2 + i % 17, 2 + i * 5 % 31)).collect();
    folder.put("source", &source);
    folder.put("target", &target);
    let files = ["--source", "source", "--target", "target"];
    for batch in ["1", "16"] {
        let name = format!("words{batch}");
        let told = run(&folder, "dictionary", &[&files[..], &["--output", &name, "--batch", batch]].concat(), "");
        assert_eq!(told.quiet().stdout, "");
    }
    let built = folder.text("words16");
    assert_eq!(built, folder.text("words1"), "batches change nothing");
    // What `score` tells of alpha, counted here.
    let scored = run(&folder, "score", &files, "").good().stdout;
    let mut counts = WordCounts::default();
    for record in scored.lines().map(json_of) {
        let words = |side: &str| record[side].as_array().expect("words").clone();
        let (source, target) = (words("source"), words("target"));
        for (i, word) in target[..target.len() - 1].iter().enumerate() {
            let row: Vec<f64> =
                record["alpha"][i].as_array().expect("a row").iter().filter_map(Value::as_f64).collect();
            let j = (0..source.len() - 1).fold(0, |best, j| if row[j] > row[best] { j } else { best });
            counts.add(source[j].as_str().expect("a word"), word.as_str().expect("a word"));
        }
    }
    let wanted: String =
        counts.best(2).iter().map(|(source, target, count)| format!("{source}\t{target}\t{count}\n")).collect();
    assert_eq!(built, wanted);

    folder.put("known", "foo\tbaz\t1\n");
    let input = "Foo one\nfoo bar\ntwo\n";
    TINY.unknowing().save(&folder);
    let translate = |extra: &[&str]| {
        let arguments = ["translate", "--model", "tiny", "--beam", "1", "--max-length", "8", "--pretokenized"];
        feed(&folder, &[&arguments[..], extra].concat(), input.as_bytes()).quiet().stdout
    };
    let copied = translate(&["--replace-unk"]);
    let replaced = translate(&["--replace-unk", "--dictionary", "known"]);
    let by_hand: Vec<String> = copied.split(' ').map(|word| word.replace("Foo", "Baz").replace("foo", "baz")).collect();
    assert_eq!(replaced, by_hand.join(" "));
    assert!(replaced.contains("Baz") || replaced.contains("baz"), "{replaced}");
}

#[test]
fn what_a_dictionary_cannot_do_is_said() {
    let folder = Folder::with([("wrong", "a\tb\nc\n"), ("source", "s2\ns3\n"), ("short", "t2\n")]);
    let wrong = ["--replace-unk", "--dictionary", "wrong"];
    run(&folder, "translate", &wrong, "s2\n").refused("wrong, line 2: has 1 columns");
    run(&folder, "translate", &wrong[1..], "s2\n").refused("--replace-unk");
    let files = ["--source", "source", "--target", "short", "--output", "out"];
    run(&folder, "dictionary", &files, "").refused("short: ends after line 1");
    assert!(!folder.join("out").exists());
    let encdec = &*reference_word("rnnencdec");
    for arguments in [
        &["translate", "--model", encdec, "--replace-unk"][..],
        &["dictionary", "--model", encdec, "--source", "source", "--target", "source", "--output", "out"],
    ] {
        feed(&folder, arguments, b"s2\n").refused("rnnencdec (rnnencdec) has none");
    }
}

#[test]
fn tokenizers_and_dictionaries_speak_of_the_same_words() {
    // A word of the dictionary is found under what the tokenizer shows, not under what it looks up.
    let tokenizer = Tokenizer::from_file(&reference("rnnsearch").join("source.tokenizer.json")).expect("the fixture");
    let sentence = tokenizer.encode("Thaw s2");
    let words = dictionary("thaw\tdégel\n").expect("sound");
    assert_eq!(words.translate(&sentence.tokens[0]).as_deref(), Some("Dégel"));
}
