//! Scores that others gave, such as COMET: they come in, are columns like the measures made here, and leave with their outputs.

use std::fs;

use interlinear::corpus::overview::compute::{CountedThing, OverviewOptions};
use interlinear::corpus::overview::tables::overview;
use interlinear::corpus::query::table::{Sorting, rows};
use interlinear::corpus::query::{column::TableColumn, expensive::FilterResources, filter::Filter};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, kinds::all_columns};

use crate::cli::{json_of, ran, run_in, run_line};
use crate::folder::{Files as _, Folder};

const TABLE: &str = "source\treference\tmine\ttheirs\tCOMET.mine\tCOMET.2\tyear\n\
                     the red boat\tle bateau rouge\tle bateau rouge\tle bateau\t0.9\t0.5\t1998\n\
                     the old mill\tle vieux moulin\tle vieux moulin\tun moulin\t0.8\t0.6\t1999\n\
                     rain again\tencore la pluie\tla pluie\tencore\t\t0.7\t2000\n";

fn scored() -> (Folder, Workspace, CorpusTable) {
    let folder = Folder::new();
    folder.put("t.tsv", TABLE);
    let line = format!("analyse --workspace w.ilws --import {}/t.tsv --format none", folder.display());
    ran(&folder, &line).reports("6 outputs, 5 scores");
    let workspace = Workspace::open_existing(&folder.join("w.ilws")).expect("it opens");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    (folder, workspace, corpus)
}

#[track_caller]
fn values(corpus: &CorpusTable, name: &str) -> Vec<Option<f32>> {
    let column = TableColumn::named(name, corpus).expect(name);
    (0..corpus.len()).map(|at| Some(column.value(corpus, at)).filter(|value| !value.is_nan())).collect()
}

#[test]
fn a_table_brings_scores_by_the_names_of_its_columns() {
    let (folder, _workspace, corpus) = scored();
    assert_eq!(corpus.systems.len(), 2, "numbers are no system");
    assert_eq!(values(&corpus, "comet.1"), [Some(0.9), Some(0.8), None]);
    assert_eq!(values(&corpus, "comet.2"), [Some(0.5), Some(0.6), Some(0.7)]);
    let difference = TableColumn::named("comet.1-2", &corpus).expect("a column");
    assert_eq!((difference.name(&corpus), difference.title(&corpus)), ("comet.1-2".into(), "COMET 1\u{2212}2".into()));
    let shown = |filter: &str, sort: &str| {
        let filter = Filter::new(filter, &corpus).expect(filter);
        rows(&corpus, &filter, Some(&Sorting::named(sort, &corpus).expect(sort)))
    };
    assert_eq!(shown("comet.2>=0.6", "-comet.2"), [2, 1]);
    assert_eq!(shown("comet.1=0.85..", "comet.1"), [0]);
    // What leaves as a table comes in again.
    let table = ran(&folder, "analyse --workspace w.ilws").stdout;
    folder.put("again.tsv", &table);
    ran(&folder, "analyse --workspace v.ilws --import again.tsv --format none");
    let again = ran(&folder, "analyse --workspace v.ilws").stdout;
    let numbers = |table: &str| -> Vec<String> {
        let mut lines = table.lines();
        let head: Vec<&str> = lines.next().expect("a head").split('\t').collect();
        let at = head.iter().position(|name| *name == "comet.1").expect("a column");
        lines.map(|line| line.split('\t').nth(at).expect("a cell").to_owned()).collect()
    };
    assert_eq!(numbers(&again), numbers(&table));
    let json = ran(&folder, "analyse --workspace w.ilws --format jsonl --limit 1").stdout;
    assert!(json.contains("\"comet\":0.5"), "{json}");
    ran(&folder, "report --workspace w.ilws --output r.html --title Trial");
    let report = folder.text("r.html");
    let scores =
        "<th>System</th><th>sentences</th><th>BLEU</th><th>chrF2</th><th>TER</th><th>BP</th><th>ref. ratio</th></tr>";
    for text in [scores, "<td>COMET</td><td>0.850</td>", "<h1>Trial</h1>", "file t.tsv", "tok:13a"] {
        assert!(report.contains(text), "{text}");
    }
    assert!(!report.contains(&folder.display().to_string()), "a folder of this computer");
}

#[test]
fn a_text_brings_a_score_a_line_and_a_table_that_is_open_hears_of_it() {
    let (folder, workspace, mut corpus) = scored();
    folder.put_all([("da", "71\n\n64.5\n"), ("words", "71\nfine\n3\n"), ("few", "1\n")]);
    ran(&folder, "analyse --workspace w.ilws --scores DA.theirs=da --format none");
    corpus.refresh(&workspace).expect("read again");
    assert_eq!(values(&corpus, "da.2"), [Some(71.0), None, Some(64.5)]);
    assert_eq!(values(&corpus, "da.1"), [None, None, None]);
    assert_eq!(values(&corpus, "comet.1"), [Some(0.9), Some(0.8), None]);
    ran(&folder, "analyse --workspace w.ilws --scores DA.1=words --format none")
        .reports("2 scores")
        .reports("words, line 2")
        .reports("`fine`");
    let line = ["analyse", "--workspace", "w.ilws", "--scores", "DA.5=few", "--format", "none"];
    let refused = run_in(&folder, &line);
    let sentence = "`DA.5` names no score of a system; write its name, a point, and a system: COMET.1 is of the first; there are 2: \
                    mine, theirs";
    assert!(refused.code != 0 && refused.stderr.contains(sentence), "{}", refused.stderr);
    // Later ones take the place of those before.
    corpus.refresh(&workspace).expect("read again");
    assert_eq!(values(&corpus, "da.1"), [Some(71.0), None, Some(3.0)]);
}

#[test]
fn another_output_has_no_score_yet() {
    let (folder, workspace, mut corpus) = scored();
    folder.put("mine", "le bateau rouge\nle moulin\nla pluie\n");
    ran(&folder, "analyse --workspace w.ilws --output mine=mine --replace --format none");
    corpus.refresh(&workspace).expect("read again");
    assert_eq!(values(&corpus, "comet.1"), [Some(0.9), None, None], "the text of the second is another");
}

#[test]
fn two_systems_are_compared_by_the_scores_of_others() {
    let (folder, workspace, corpus) = scored();
    let options = OverviewOptions { only: vec![CountedThing::Scores], pair: (0, 1), most: 100 };
    let counted =
        overview(&corpus, &workspace, &[2, 1, 0], &options, &mut FilterResources::default()).expect("an overview");
    let scores: Vec<_> = counted.of_pair().collect();
    let [(tested, paired)] = scores.as_slice() else { panic!("{scores:?}") };
    assert_eq!((tested.name, paired.sentences), ("COMET", 2), "where both have one");
    let means = [paired.first.value, paired.second.value, paired.difference.value];
    for (mean, wanted) in means.into_iter().zip([0.85, 0.55, -0.3]) {
        assert!((mean - wanted).abs() < 1e-6, "{mean} {wanted}");
    }
    assert_eq!(paired.p_texts(), ["too few", "too few", "", ""]);
    let table = ran(&folder, "analyse --workspace w.ilws --overview scores").stdout;
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("COMET\tmine\ttheirs\t2\t+0.3000\t")), "{table}");
}

#[test]
fn a_table_of_numbers_alone_is_scores_and_no_sentences() {
    let (folder, workspace, mut corpus) = scored();
    let (path, rows) = (folder.join("alone.tsv"), |row: &str| format!("{row}\n").repeat(3));
    for (head, row, wanted) in [
        ("COMET.1\tCOMET.2", "0.25\t0.5", "Imported 6 scores"),
        ("DA.1", "71", "Imported 3 scores"),
        ("DA.mine\tDA.theirs", "71\t64.5", "Imported 6 scores"),
        ("difficulty\tCOMET.1", "3\t0.75", "Imported 3 scores, 3 numbers of sentences"),
    ] {
        fs::write(&path, format!("{head}\n{}", rows(row))).expect("written");
        ran(&folder, "analyse --workspace w.ilws --import alone.tsv --format none").reports(wanted);
    }
    for (name, text, wanted) in [("one.csv", "DA.2\n1\n2\n3\n", 3), ("hole.tsv", "DA.2\n64.5\n\n64.5\n", 2)] {
        folder.put(name, text);
        let told = ran(&folder, &format!("analyse --workspace w.ilws --import {name} --format none")).stderr;
        assert!(told.contains(&format!("Imported {wanted} scores")) && !told.contains("fault"), "{told}");
    }
    fs::write(&path, format!("DA.theirs\tDA.nobody\n{}", rows("1\t2"))).expect("written");
    let refused = run_line(&folder, "analyse --workspace w.ilws --import alone.tsv");
    assert!(
        refused.code != 0 && refused.stderr.contains("`DA.nobody` names no score of a system"),
        "{}",
        refused.stderr
    );
    corpus.refresh(&workspace).expect("read again");
    assert_eq!((corpus.len(), corpus.systems.len()), (3, 2));
    assert_eq!(
        (values(&corpus, "comet.1"), values(&corpus, "da.2")),
        (vec![Some(0.75); 3], vec![Some(64.5), Some(2.0), Some(64.5)])
    );
}

#[test]
fn a_number_of_no_system_is_one_of_the_sentence() {
    let (folder, workspace, mut corpus) = scored();
    assert_eq!(values(&corpus, "year"), [Some(1998.0), Some(1999.0), Some(2000.0)]);
    let column = TableColumn::named("year", &corpus).expect("a column");
    assert!(all_columns(&corpus).contains(&column));
    assert_eq!((column.title(&corpus), column.text(&corpus, 1998.0)), ("year".to_owned(), "1998".to_owned()));
    let filter = Filter::new("year=1998..1999", &corpus).expect("a condition");
    assert_eq!(rows(&corpus, &filter, Some(&Sorting::named("-year", &corpus).expect("a column"))), [1, 0]);
    let json = ran(&folder, "analyse --workspace w.ilws --format jsonl --limit 1").stdout;
    assert!(json.contains("\"measures\":{\"year\":1998.0}"), "{json}");
    // words among which one is a number are no numbers
    let topics = "source\ttopic\nthe red boat\tlaw\nthe old mill\t1984\nrain again\t\n";
    folder.put("topics.tsv", topics);
    let told = ran(&folder, "analyse --workspace w.ilws --import topics.tsv --format none").stderr;
    assert!(!told.contains("numbers of sentences") && !told.contains("fault"), "{told}");
    // a table that is open hears of another; what is made here, differences and documents are none
    let more = "source\tdifficulty of it\tdoc\twords\tcomet.1-2\tBLEU\nthe red boat\t0.5\t7\t9\t1\t2\n\
                the old mill\thard\t8\t9\t1\t2\nrain again\t-2\t9\t9\t1\t2\n";
    folder.put("more.tsv", more.replace("hard", ""));
    let told = ran(&folder, "analyse --workspace w.ilws --import more.tsv --format none").stderr;
    assert!(told.contains("Imported 2 numbers of sentences") && !told.contains("fault"), "{told}");
    assert!(
        told.contains("The numbers of column `BLEU` are left out") && told.matches("left out").count() == 1,
        "{told}"
    );
    corpus.refresh(&workspace).expect("read again");
    assert_eq!(values(&corpus, "difficulty_of_it"), [Some(0.5), None, Some(-2.0)]);
    assert_eq!((values(&corpus, "year")[2], values(&corpus, "comet.2")[2]), (Some(2000.0), Some(0.7)));
    let table = ran(&folder, "analyse --workspace w.ilws --sort -difficulty_of_it").stdout;
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("1\tthe red boat")), "{table}");
    folder.put("again.tsv", &table);
    ran(&folder, "analyse --workspace v.ilws --import again.tsv --format none");
    let again = ran(&folder, "analyse --workspace v.ilws --sort -difficulty_of_it").stdout;
    let head = |table: &str| table.lines().next().map(str::to_owned);
    assert_eq!(head(&again), head(&table));
    let again = CorpusTable::read(&Workspace::open_existing(&folder.join("v.ilws")).expect("it opens"));
    assert_eq!(values(&again.expect("a corpus"), "difficulty_of_it"), [Some(0.5), Some(-2.0), None]);
}

#[test]
fn every_two_systems_are_compared_and_ranked() {
    let folder = Folder::new();
    let nouns = ["boat", "mill", "rain", "clock", "heron", "ferry"];
    let lines = |of: &dyn Fn(usize) -> String| (0..36).map(|n| of(n) + "\n").collect::<String>();
    let reference = |n: usize| format!("the {} {} stands by the {} for a while", nouns[n % 6], n, nouns[n / 6]);
    folder.put_all([
        ("source", lines(&|n| format!("source {n}"))),
        ("reference", lines(&reference)),
        ("one", lines(&|n| if n % 9 == 0 { "the boat".to_owned() } else { reference(n) })),
        ("other", lines(&|n| if n % 9 == 1 { "the mill".to_owned() } else { reference(n) })),
        ("bad", lines(&|n| format!("stands the {n} by a while {}", nouns[n % 6]))),
    ]);
    let first = "--source source --reference reference --output one=one --output other=other";
    ran(&folder, &format!("analyse --workspace w.ilws {first} --format none"));
    let table = |what: &str| ran(&folder, &format!("analyse --workspace w.ilws --overview {what}")).stdout;
    let cells = |table: &str, row: usize| -> std::collections::BTreeMap<String, String> {
        let [head, row] = [0, row].map(|n| table.lines().nth(n).expect("a line").split('\t').map(str::to_owned));
        head.zip(row).collect()
    };
    let alone = table("pair");
    assert_eq!(alone.lines().count(), 4, "BLEU, chrF2 and TER: {alone}");
    assert_eq!(cells(&alone, 1)["Holm"], "", "one pair alone needs no correction: {alone}");
    ran(&folder, "analyse --workspace w.ilws --output bad=bad --format none");
    let matrix = table("matrix");
    assert_eq!(matrix.lines().count(), 1 + 3 * 3, "{matrix}");
    let clear = cells(&matrix, 2);
    assert_eq!((clear["first"].as_str(), clear["second"].as_str(), clear["sentences"].as_str()), ("one", "bad", "36"));
    assert_eq!(
        (clear["p --paired-ar"].as_str(), clear["Holm --paired-ar"].as_str()),
        ("< 0.0001", "< 0.0003"),
        "{matrix}"
    );
    assert!(cells(&matrix, 1)["Holm"].parse::<f64>().is_ok_and(|p| p > 0.2), "{matrix}");
    let ranked = table("ranks");
    assert!(ranked.lines().nth(3).is_some_and(|row| row.starts_with("BLEU\t2\tbad\t")), "{ranked}");
    assert!(ranked.lines().nth(9).is_some_and(|row| row.starts_with("TER\t2\tbad\t")), "lower is better: {ranked}");
    let rows = ran(&folder, "analyse --workspace w.ilws --overview matrix --format jsonl").stdout;
    let row = json_of(rows.lines().nth(1).expect("a row"));
    assert_eq!((&row["score"], &row["second"], row["sentences"].as_f64()), (&"BLEU".into(), &"bad".into(), Some(36.0)));
    assert!(row["p --paired-ar"].as_f64().is_some_and(|p| p <= 0.0001), "{row}");
    ran(&folder, "report --workspace w.ilws --output r.html");
    let report = folder.text("r.html");
    assert!(report.contains("<td>3. bad</td>") && report.contains("Holm &lt; 0.0003)"), "{report}");
    assert!(report.contains("it is 0 if no output has four tokens"), "{report}");
    // Too few of them.
    let few = ran(&folder, "analyse --workspace w.ilws --overview matrix --limit 29").stdout;
    assert!(few.lines().skip(1).take(9).all(|row| row.ends_with("\ttoo few\ttoo few\t\t")), "{few}");
    let few = ran(&folder, "analyse --workspace w.ilws --overview ranks --limit 29").stdout;
    assert!(few.contains("\nBLEU\t\tother\t"), "no ranks without p: {few}");
}
