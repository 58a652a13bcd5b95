//! What links say of words: counts by word and by what stands under it, two kinds of links against each other, and patterns.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::run_in;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let both = |line: &str| format!("{line}\n").repeat(6);
    for (name, text) in [
        ("s.en", both("the red house Is small")),
        ("t.fr", both("la maison rouge est petite")),
        // the adjective crosses its noun, and one article has no word
        ("a.links", both("0-0 1-2 2-1 3-3 4-4")),
        ("b.links", both("1-1 2-2 2-1 3?3 4-4")),
        ("pos", both("DET ADJ NOUN VERB ADJ")),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn concordance(folder: &Path, arguments: &str) -> (i32, String, String) {
    let words: Vec<&str> = std::iter::once("concordance").chain(arguments.split_whitespace()).collect();
    let outcome = run_in(folder, &words, b"");
    (outcome.code, outcome.stdout, outcome.stderr)
}

const TWO: &str = "--source s.en --target t.fr --links a.links --name alpha --target t.fr --links b.links --name gold";

fn objects(folder: &Path, arguments: &str) -> Vec<Value> {
    let (code, found, told) = concordance(folder, &format!("{TWO} {arguments} --format json"));
    assert_eq!(code, 0, "{told}");
    found.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn fertility_bare_words_and_crossings_are_counted_and_compared() {
    let folder = folder();
    let all = objects(folder.path(), "");
    assert_eq!([&all[0]["links"], &all[1]["links"]], ["alpha", "gold"]);
    let number = |object: &Value, name: &str| object[name].as_f64().unwrap_or(f64::NAN);
    let close = |object: &Value, name: &str, wanted: f64| {
        assert!((number(object, name) - wanted).abs() < 1e-9, "{name} of {object} is not {wanted}");
    };
    for (object, wanted) in [(&all[0], [1.0, 0.0, 0.4]), (&all[1], [1.0, 0.2, 0.0])] {
        for (name, wanted) in ["fertility", "unaligned", "crossing"].into_iter().zip(wanted) {
            close(object, name, wanted);
        }
    }
    assert!(all[0]["p_unaligned"].is_null());
    close(&all[1], "p_unaligned", 2.0 / 64.0);
    close(&all[1], "p_crossing", 2.0 / 4096.0);
    let by = objects(folder.path(), "--by word");
    let row = |word: &str, links: &str| {
        by.iter().find(|object| object["word"] == word && object["links"] == links).unwrap_or(&Value::Null)
    };
    close(row("the", "gold"), "unaligned", 1.0);
    assert_eq!([&row("house", "gold")["targets"], &row("is", "alpha")["targets"]], ["maison 6, rouge 6", "est 6"]);
    let by = objects(folder.path(), "--tier pos --by pos");
    let adjectives = by.iter().find(|object| object["word"] == "ADJ").expect("a row");
    assert_eq!((&adjectives["words"], number(adjectives, "crossing")), (&Value::from(12), 0.5));
    assert_eq!(objects(folder.path(), "--by word --least 7").len(), 2, "no word is there so often");
}

#[test]
fn a_pattern_is_looked_for_in_links_of_every_kind() {
    let folder = folder();
    let arguments: Vec<&str> = TWO.split_whitespace().collect();
    let query = |more: &[&str]| {
        let all = [&["concordance"], &arguments[..], more].concat();
        let outcome = run_in(folder.path(), &all, b"");
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    let counts = query(&["--tier", "pos", "--by", "pos", "--query", "ADJ -> _ NOUN -> _ crossing", "--format", "tsv"]);
    let rows: Vec<Vec<&str>> = counts.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[1][..5], ["alpha", "(sentences)", "", "6", "1"]);
    assert_eq!(rows[2][..5], ["alpha", "adj noun", "maison rouge", "6", "1"]);
    assert_eq!(rows[3][..4], ["gold", "(sentences)", "", "0"]);
    let hits = query(&["--query", "house -> _", "--hits", "--format", "tsv"]);
    assert_eq!(hits.lines().nth(1), Some("1\talpha\tthe red\thouse\tIs small\tmaison"));
    assert_eq!(hits.lines().count(), 1 + 6 + 6);
    fs::write(folder.path().join("homes"), "house\nhut\n").expect("written");
    assert_eq!(query(&["--query", "{@homes} -> _", "--hits", "--format", "tsv"]), hits, "a list lies in a file");
    for (arguments, wanted) in [
        ("--source s.en", "there are no links"),
        (
            "--source s.en --target t.fr --links a.links --by lemma",
            "--by: there is no line `lemma` under the words; there are word",
        ),
        ("--source s.en --target t.fr --links a.links --query {", "--query, "),
        ("--source s.en --target t.fr --links a.links --hits", "--query"),
    ] {
        let (code, _, told) = concordance(folder.path(), arguments);
        assert!(code == 2 && told.contains(wanted), "{arguments}: {told}");
    }
}
