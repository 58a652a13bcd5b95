//! N-best lists: read as Moses, Marian and this program write them, their oracle, and another order by a score.

use interlinear::corpus::{import::importer::import_file, query::column::TableColumn, store::corpus::CorpusTable};
use interlinear::import::{ImportOptions, OracleBy, Role};
use interlinear::{corpus::store::file::Workspace, import};

use crate::cli::{json_of, run_in};
use crate::folder::{Files as _, Folder};
use crate::forever;

const SOURCE: &str = "the old mill turns\nrain again\nlate\n";
const REFERENCE: &str = "le vieux moulin tourne\nencore la pluie\ntard\n";
const LISTS: &str = "\
0 ||| le moulin tourne ||| LM0= -2 TM0= -1 -2 ||| -3.5
0 ||| le vieux moulin tourne ||| LM0= -3 TM0= -4 -1 ||| -4.5
1 ||| la pluie ||| LM0= -1 TM0= -1 -1 ||| -1.5
1 ||| pluie ||| LM0= -4 TM0= -1 -1 ||| -1.75
1 ||| encore la pluie ||| LM0= -0.5 TM0= -2 -1 ||| -2.5
2 ||| en retard ||| LM0= -1 TM0= -1 -1 ||| -0.5
";

fn written() -> Folder {
    Folder::with([("s.en", SOURCE), ("r.fr", REFERENCE), ("mill.nbest", LISTS)])
}

#[test]
fn candidates_come_with_their_features_and_scores() {
    let folder = written();
    let path = folder.join("mill.nbest");
    let (format, _) = import::guess(&path).expect("a guess")[0];
    assert_eq!(format.name, "nbest");
    let mut file = import::open(&path, &ImportOptions::default()).expect("it opens");
    let (records, warnings) = file.window(10).expect("a window").read();
    assert_eq!((records.len(), warnings.count), (3, 0));
    assert_eq!(records.iter().map(|record| record.outputs.len()).collect::<Vec<_>>(), [2, 3, 1]);
    let candidate = &records[1].outputs[2];
    assert_eq!((candidate.text.as_str(), candidate.score, records[1].sentence), ("encore la pluie", Some(-2.5), 2));
    let features: Vec<(&str, f32)> = candidate.features.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(features, [("LM0", -0.5), ("TM0.1", -2.0), ("TM0.2", -1.0)]);
}

#[test]
fn the_oracle_of_lists_is_a_system_and_its_place_a_column() {
    let folder = written();
    let mut workspace = Workspace::open(&folder.join("w.ilws")).expect("a workspace");
    let roles = [("s.en", Some(Role::Source)), ("r.fr", Some(Role::Reference)), ("mill.nbest", None)];
    for (name, role) in roles {
        let options = ImportOptions { role, oracle: Some(OracleBy::Bleu), ..ImportOptions::default() };
        let path = folder.join(name);
        let report = import_file(&mut workspace, (&path, &options), 1, &forever(), &mut |_| {}).expect("it comes in");
        assert_eq!(report.warned, 0, "{report:?}");
    }
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let names: Vec<&str> = corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
    assert_eq!(names, ["mill", "oracle of mill"]);
    let said = |system: usize, at: usize| corpus.systems[system].texts.get(at);
    assert_eq!([said(0, 0), said(1, 0)], [Some("le moulin tourne"), Some("le vieux moulin tourne")]);
    assert_eq!([said(0, 1), said(1, 1)], [Some("la pluie"), Some("encore la pluie")]);
    assert_eq!([said(0, 2), said(1, 2)], [Some("en retard"), None], "one candidate has no oracle");
    let place = TableColumn::named("oracle_place.1", &corpus).expect("a column");
    assert_eq!([place.value(&corpus, 0), place.value(&corpus, 1)], [2.0, 3.0]);
    assert!(place.value(&corpus, 2).is_nan());
}

#[test]
fn the_first_by_another_score_is_a_system_too() {
    let folder = written();
    let ran = |arguments: &str| {
        let all: Vec<&str> = "analyse --workspace w.ilws".split(' ').chain(arguments.split(' ')).collect();
        run_in(&folder, &all)
    };
    let refused = ran("--source s.en --import mill.nbest --rerank LM1 --format none");
    let why = "mill.nbest, line 1: has no `LM1`; its candidates have LM0, TM0.1, TM0.2";
    assert!(refused.code == 2 && refused.stderr.contains(why), "{}", refused.stderr);
    for arguments in ["--import mill.nbest --rerank LM0", "--import mill.nbest --rerank score --replace"] {
        ran(&format!("{arguments} --format none")).good();
    }
    let corpus = CorpusTable::read(&Workspace::open_existing(&folder.join("w.ilws")).expect("a workspace"));
    let corpus = corpus.expect("a corpus");
    let said: Vec<(&str, Vec<&str>)> = corpus
        .systems
        .iter()
        .map(|column| (column.system.name.as_str(), (0..3).filter_map(|at| column.texts.get(at)).collect()))
        .collect();
    let first = vec!["le moulin tourne", "la pluie", "en retard"];
    let by_lm = vec!["le moulin tourne", "encore la pluie", "en retard"];
    assert_eq!(said, [("mill", first.clone()), ("mill by LM0", by_lm), ("mill by score", first)]);
}

#[test]
fn lists_are_counted_and_put_into_another_order() {
    let folder = written();
    folder.put("qe.txt", "1\n2\n1\n3\n2\n5\n");
    let ran = |arguments: &[&str]| {
        let all = [&["nbest", "--target", "r.fr", "mill.nbest"], arguments].concat();
        run_in(&folder, &all)
    };
    let good = |arguments: &[&str]| ran(arguments).good().stdout;
    let table = good(&["--rerank", "LM0"]);
    assert!(table.starts_with("candidates\tlists\tBLEU\tchrF2\tTER\nfirst\t3\t"), "{table}");
    for line in ["oracle\t3\t", "reranked\t3\t", "\n1\t1\t0.3333\n2\t1\t0.3333\n3\t1\t0.3333\nmean\t2.00\tof 2.00\n"] {
        assert!(table.contains(line), "{line}: {table}");
    }
    assert_eq!(good(&["--format", "first"]), "le moulin tourne\nla pluie\nen retard\n");
    assert_eq!(good(&["--format", "oracle"]), "le vieux moulin tourne\nencore la pluie\nen retard\n");
    for (arguments, second) in [(&["--rerank", "LM0"], "encore la pluie"), (&["--rerank", "TM0.1"], "la pluie")] {
        let lines = good(&[&arguments[..], &["--format", "reranked"]].concat());
        assert_eq!(lines.lines().nth(1), Some(second), "{arguments:?}");
    }
    let lines = good(&["--scores", "qe.txt", "--format", "reranked"]);
    assert_eq!(lines, "le vieux moulin tourne\npluie\nen retard\n");
    let rows = good(&["--format", "tsv", "--by", "bleu"]);
    assert!(rows.contains("\n2\t3\t3\t") && rows.contains("\t100.00\t"), "{rows}");
    let object = json_of(&good(&["--format", "json"]));
    assert_eq!((object["candidates"].as_u64(), object["mean_place"].as_f64()), (Some(6), Some(2.0)));
    folder.put("short.txt", "1\n");
    folder.put("odd.txt", "1\nx\n");
    folder.put("more.txt", "1\n1\n1\n1\n1\n1\n1\n");
    folder.put("one.fr", "un\n");
    for (arguments, why) in [
        (&["--rerank", "LM1"][..], "has no `LM1`; its candidates have LM0, TM0.1, TM0.2"),
        (&["--scores", "short.txt"], "short.txt: has fewer lines than there are candidates"),
        (&["--scores", "more.txt"], "more.txt: has more lines than there are candidates"),
        (&["--scores", "odd.txt"], "which is no number"),
        (&["--format", "reranked"], "needs --rerank or --scores"),
        (&["--target", "one.fr"], "one.fr: has 1 lines, but the n-best lists have sentence 2"),
    ] {
        ran(arguments).refused(why);
    }
}

#[test]
fn documents_and_domains_of_a_table_are_tags_with_scores_of_their_own() {
    let folder = Folder::new();
    let table = "source\treference\tMill\tdoc\tdomain\n\
        the old mill turns\tle vieux moulin tourne\tle vieux moulin tourne\tstory\ttales\n\
        rain again\tencore la pluie\tla pluie\tnews, late\ttales\n\
        late\ttard\ttard\tstory\t\n";
    folder.put("t.tsv", table);
    let arguments = ["analyse", "--workspace", "w.ilws", "--import", "t.tsv", "--overview", "tags"];
    let outcome = run_in(&folder, &arguments).good();
    let rows: Vec<Vec<&str>> = outcome.stdout.lines().map(|line| line.split('\t').collect()).collect();
    let found: Vec<[&str; 3]> = rows[1..].iter().map(|row| [row[0], row[1], row[2]]).collect();
    assert_eq!(found, [["doc:news  late", "Mill", "1"], ["doc:story", "Mill", "2"], ["domain:tales", "Mill", "2"]]);
    let condition = rows.iter().find(|row| row[0] == "doc:story").expect("a row")[7];
    let arguments = ["analyse", "--workspace", "w.ilws", "--filter", condition, "--columns", "words"];
    assert_eq!(run_in(&folder, &arguments).stdout.lines().count(), 3, "{condition}");
}
