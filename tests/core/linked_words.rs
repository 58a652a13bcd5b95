//! What links say of words: counts by word and by what stands under it, two kinds of links against each other, and patterns.

use std::path::Path;

use interlinear::analysis::contrast::minimal::paired_difference;
use interlinear::corpus::query::linked::{LinkChoice, LinkOrigin};
use interlinear::corpus::{store::corpus::CorpusTable, store::file::Workspace, store::read::StoredAbout};
use serde_json::Value;

use crate::cli::{Outcome, json_lines, run_in, run_line};
use crate::folder::{Files as _, Folder};

fn folder() -> Folder {
    folder_of(6)
}

fn folder_of(lines: usize) -> Folder {
    let folder = Folder::new();
    let both = |line: &str| format!("{line}\n").repeat(lines);
    folder.put_all([
        ("s.en", both("the red house Is small")),
        ("t.fr", both("la maison rouge est petite")),
        // the adjective crosses its noun, and one article has no word
        ("a.links", both("0-0 1-2 2-1 3-3 4-4")),
        ("b.links", both("1-1 2-2 2-1 3?3 4-4")),
        ("pos", both("DET ADJ NOUN VERB ADJ")),
    ]);
    folder
}

fn concordance(folder: &Path, arguments: &str) -> Outcome {
    run_line(folder, &format!("concordance {arguments}"))
}

const TWO: &str = "--source s.en --target t.fr --links a.links --name alpha --target t.fr --links b.links --name gold";

fn objects(folder: &Path, arguments: &str) -> Vec<Value> {
    let found = concordance(folder, &format!("{TWO} {arguments} --format json")).good().stdout;
    json_lines(&found)
}

#[test]
fn fertility_bare_words_and_crossings_are_counted_and_compared() {
    let folder = folder();
    let all = objects(&folder, "");
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
    let by = objects(&folder, "--by word");
    let row = |word: &str, links: &str| {
        by.iter().find(|object| object["word"] == word && object["links"] == links).unwrap_or(&Value::Null)
    };
    close(row("the", "gold"), "unaligned", 1.0);
    assert_eq!([&row("house", "gold")["targets"], &row("is", "alpha")["targets"]], ["maison 6, rouge 6", "est 6"]);
    let by = objects(&folder, "--tier pos --by pos");
    let adjectives = by.iter().find(|object| object["word"] == "ADJ").expect("a row");
    assert_eq!((&adjectives["words"], number(adjectives, "crossing")), (&Value::from(12), 0.5));
    assert_eq!(objects(&folder, "--by word --least 7").len(), 2, "no word is there so often");
}

#[test]
fn a_pattern_is_looked_for_in_links_of_every_kind() {
    let folder = folder();
    let arguments: Vec<&str> = TWO.split_whitespace().collect();
    let query = |more: &[&str]| {
        let all = [&["concordance"], &arguments[..], more].concat();
        run_in(&folder, &all).good().stdout
    };
    let counts = query(&["--tier", "pos", "--by", "pos", "--query", "ADJ -> _ NOUN -> _ crossing", "--format", "tsv"]);
    let rows: Vec<Vec<&str>> = counts.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[1][..5], ["alpha", "(sentences)", "", "6", "1"]);
    assert_eq!(rows[2][..5], ["alpha", "adj noun", "maison rouge", "6", "1"]);
    assert_eq!(rows[3][..4], ["gold", "(sentences)", "", "0"]);
    let hits = query(&["--query", "house -> _", "--hits", "--format", "tsv"]);
    assert_eq!(hits.lines().nth(1), Some("1\talpha\tthe red\thouse\tIs small\tmaison"));
    assert_eq!(hits.lines().count(), 1 + 6 + 6);
    folder.put("homes", "house\nhut\n");
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
        concordance(&folder, arguments).refused(wanted);
    }
}

/// Words behind `|` stood among the words that a hit is linked to, whether it is or not.
#[test]
fn linked_is_what_is_linked_and_an_arrow_with_a_stroke_finds_what_is_not() {
    let folder = folder();
    let arguments: Vec<&str> = TWO.split_whitespace().collect();
    let rows = |more: &[&str]| -> Vec<String> {
        let outcome = run_in(&folder, &[&["concordance"], &arguments[..], more, &["--format", "tsv"]].concat()).good();
        outcome.stdout.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(rows(&["--query", "red | petite", "--hits"])[0], "1\talpha\tthe\tred\thouse Is small\trouge");
    for (query, by, wanted) in [
        ("red | petite", "word", ["red\trouge\t6", "red\tmaison\t6"]),
        ("ADJ NOUN | petite", "pos", ["adj noun\tmaison rouge\t6", "adj noun\tmaison rouge\t6"]),
        ("the | la", "word", ["the\tla\t6", "the\t\t6"]),
    ] {
        let counts = rows(&["--tier", "pos", "--by", by, "--query", query]);
        for (row, wanted) in [&counts[1], &counts[3]].into_iter().zip(wanted) {
            assert!(row.contains(wanted), "{query}: {row}");
        }
    }
    let found = |query: &str| {
        let counts = rows(&["--query", query]);
        let of = |name: &str| counts.iter().find(|row| row.starts_with(&format!("{name}\t(sentences)"))).cloned();
        [of("alpha"), of("gold")].map(|row| row.expect("a row").split('\t').nth(3).map(str::to_owned).expect("a count"))
    };
    for (query, wanted) in [
        ("red -/> rouge", ["0", "6"]),
        ("red -/> rouge | rouge", ["0", "6"]),
        ("red -/> pas", ["6", "6"]),
        ("red -/> pas | pas", ["0", "0"]),
        ("the -/> _", ["0", "6"]),
        ("red -> {rouge, maison} -/> rouge", ["0", "6"]),
        ("_ -/>est small", ["0", "0"]),
        ("is -/> {petite, la} small -/> la", ["6", "6"]),
    ] {
        assert_eq!(found(query), wanted, "{query}");
    }
    for (query, wanted) in [
        ("red -/>", "`-/>` leads to a word"),
        ("red | la -/> x", "`-/>` leads from a source word to an output word; write it before `|`"),
        ("red -/> a -/> b", "column 11: `-/>` stands twice behind one word"),
        ("-/> a", "an arrow leads from a source word; there is none before it"),
    ] {
        run_in(&folder, &[&["concordance"], &arguments[..], &[&*format!("--query={query}")]].concat()).refused(wanted);
    }
}

/// Intervals are those of Newcombe 1998, table II, method 10: of pairs where both, the first alone, the second alone and neither has it.
#[test]
fn shares_have_an_interval_and_p_is_neither_of_few_pairs_nor_0() {
    for ([both, own, other, neither], wanted) in [
        ([36, 12, 2, 0], [0.0569, 0.3404]),
        ([18, 12, 2, 18], [0.0562, 0.3290]),
        ([53, 0, 0, 1], [-0.0729, 0.0729]),
        ([0, 30, 0, 0], [0.8395, 1.0]),
    ] {
        let (low, high) = paired_difference(both + own + other + neither, both + own, own, other).expect("pairs");
        assert!((low - wanted[0]).abs() < 1e-4 && (high - wanted[1]).abs() < 1e-4, "{low} {high}");
    }
    assert_eq!(paired_difference(0, 0, 0, 0), None);
    for (lines, query, wanted) in
        [(6, true, "too few"), (20, true, "< 0.0001"), (20, false, "< 0.0001"), (1, false, "too few")]
    {
        let folder = folder_of(lines);
        let query = if query { "--query house->maison" } else { "" };
        let shown = concordance(&folder, &format!("{TWO} {query}")).stdout;
        assert!(shown.contains(wanted) && !shown.contains("0.0000  0.0000"), "{shown}");
        let p = &objects(&folder, query)[usize::from(query.is_empty()) + usize::from(!query.is_empty()) * 2];
        assert!(p["p"].as_f64().or(p["p_crossing"].as_f64()).is_some(), "a file has the number: {p}");
    }
}

/// Intervals are those of scipy 1.17.1: t.interval(0.95, n - 1, mean, sem) over the means of the sentences.
#[test]
fn weights_are_of_output_words_on_the_words_of_a_hit() {
    let folder = Folder::new();
    let lines = [
        r#"{"source": ["not", "now"], "target": ["pas", "Ne"], "alpha": [[0.25, 0.75], [0.5, 0.5]]}"#,
        r#"{"source": ["not"], "target": ["pas", "pas"], "alpha": [[0.25], [0.75]]}"#,
        r#"{"source": ["be", "not"], "target": ["pas"], "alpha": [[0.875, 0.125]]}"#,
    ];
    folder.put("a.jsonl", lines.join("\n"));
    folder.put("plain", "pas\npas\npas\n");
    let analyse = |more: &[&str]| run_in(&folder, &[&["analyse", "--workspace", "w.ilws"], more].concat());
    analyse(&["--import", "a.jsonl", "--format", "none"]);
    let found = analyse(&["--query", "not | {ne, pas}", "--weights", "--format", "jsonl"]).good().stdout;
    let rows = json_lines(&found);
    let row = |word: &str| rows.iter().find(|row| row["word"] == word).unwrap_or(&Value::Null);
    assert_eq!(
        (&row("pas")["sentences"], &row("pas")["pairs"], &row("pas")["low"]),
        (&3.into(), &4.into(), &0.0.into())
    );
    for (name, wanted) in [("weight", 0.291_666_67), ("high", 0.765_989_55)] {
        assert!((row("pas")[name].as_f64().expect("a number") - wanted).abs() < 1e-6, "{name}: {found}");
    }
    assert_eq!((&row("ne")["weight"], &row("ne")["high"]), (&0.5.into(), &Value::Null));
    assert_eq!(row("(all)")["pairs"], 5);
    let table = analyse(&["--query", "not now | {ne, pas}", "--weights"]).stdout;
    assert!(
        table.contains("\tpas\t1\t") && table.starts_with("system\tword\tweight\tlow\thigh\tsentences\tpairs\n"),
        "{table}"
    );
    analyse(&["--query", "not", "--weights"]).refused("Weights need source words, | and output words");

    // Where no links are known nothing is known not to be linked.
    analyse(&["--output", "Plain=plain", "--format", "none"]);
    let found = analyse(&["--query", "not -/> pas", "--system", "2"]).stdout;
    assert_eq!(found.lines().count(), 1, "{found}");
    assert_eq!(analyse(&["--query", "not -/> ne", "--system", "1"]).stdout.lines().count(), 3);
}

#[test]
fn a_threshold_is_named_by_what_it_is_of() {
    let folder = Folder::new();
    let mut workspace = Workspace::open(&folder.join("w.ilws")).expect("a new workspace");
    for reading in ["head", ""] {
        let about = StoredAbout { reading: reading.to_owned(), ..StoredAbout::default() };
        workspace.add_system(&format!("S{reading}"), &about).expect("a system");
    }
    let corpus = CorpusTable::read(&workspace).expect("read");
    let name = |system| LinkChoice { system: Some(system), by: LinkOrigin::Above(20) }.name(&corpus);
    assert_eq!([name(0), name(1)], ["1. Shead, head's weight of at least 0.20", "2. S, alpha of at least 0.20"]);
}
