//! Several references of a sentence, what is never replaced without being asked, and tables of judgements of the WMT.

use std::{fs, path::Path};

use interlinear::corpus::import::aligned::{fates, word_fates};
use interlinear::corpus::judgements::judge::{ErrorMark, Judgement};
use interlinear::corpus::measures::scores::{ComparedScores, SystemScores};
use interlinear::corpus::query::{column::TableColumn, filter::Filter, table::rows};
use interlinear::corpus::store::read::{FORCED, StoredAbout};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, rules::SideRules};
use interlinear::text::{cut::WordRule, links::read::links_of};
use interlinear::{analysis::bleu::BleuSettings, corpus::measures::aggregate, corpus::measures::table::Measuring};

use crate::cli::{json_of, ran, run_line};
use crate::folder::{Files as _, Folder};

const SOURCE: &str = "the red boat sails\nthe old mill turns\nrain again\n";
const FIRST: &str = "le bateau rouge navigue\nle vieux moulin tourne\nencore la pluie\n";
const SECOND: &str = "le bateau rouge vogue\nle moulin ancien tourne\n\n";
const SAID: &str = "le bateau rouge vogue au loin\nle vieux moulin tourne\nla pluie encore\n";

fn written(files: &[(&str, &str)]) -> Folder {
    Folder::with(files.iter().copied())
}

fn read(folder: &Path) -> (Workspace, CorpusTable) {
    let workspace = Workspace::open_existing(&folder.join("w.ilws")).expect("it opens");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    (workspace, corpus)
}

fn several() -> Folder {
    let folder = written(&[("s", SOURCE), ("r1", FIRST), ("r2", SECOND), ("o", SAID)]);
    let line = "analyse --workspace w.ilws --source s --reference r1 --reference r2 --output S=o --format none";
    ran(&folder, line);
    folder
}

#[test]
fn scores_are_over_all_references_of_a_sentence() {
    let folder = several();
    let (workspace, corpus) = read(&folder);
    let lines: Vec<Vec<&str>> = [FIRST, SECOND, SAID].iter().map(|text| text.lines().collect()).collect();
    let mut sums = SystemScores::default();
    for (at, said) in lines[2].iter().enumerate() {
        let references: Vec<&str> = lines[..2].iter().map(|lines| lines[at]).filter(|text| !text.is_empty()).collect();
        assert_eq!(corpus.references_of(at), references, "a blank line is no reference");
        assert_eq!(workspace.sentence(at).expect("read").expect("a sentence").references(), references);
        let scores = ComparedScores::of(said, &references, &BleuSettings::default());
        let value = |name: &str| TableColumn::named(name, &corpus).expect(name).value(&corpus, at);
        assert_eq!(value("bleu.1"), scores.bleu.sentence() as f32);
        assert_eq!(value("chrf.1"), scores.chrf.score() as f32);
        sums += SystemScores::of(Some(scores));
    }
    let found = aggregate::scores(&corpus, 0, &[0, 1, 2]);
    assert_eq!((found.bleu(), found.chrf()), (sums.bleu(), sums.chrf()));
    // Of the first alone it is another.
    let one = ComparedScores::of(lines[2][0], &[lines[0][0]], &BleuSettings::default());
    assert!(TableColumn::named("bleu.1", &corpus).expect("a column").value(&corpus, 0) > one.bleu.sentence() as f32);
    let bleu = sums.bleu().expect("a score");
    let table = ran(&folder, "analyse --workspace w.ilws --overview length").stdout;
    assert!(table.contains(&format!("{bleu:.2}")), "{bleu}: {table}");
    let filter = Filter::new("reference:vogue", &corpus).expect("a condition");
    assert_eq!(rows(&corpus, &filter, None), [0], "any of them is looked through");
    ran(&folder, "report --workspace w.ilws --output r.html");
    let report = folder.text("r.html");
    for text in
        ["<dt>Reference 2</dt>", "le moulin ancien tourne", "sentences have 2 references. BLEU, chrF2", "nrefs:var"]
    {
        assert!(report.contains(text), "{text}");
    }
}

#[test]
fn all_references_go_out_and_come_in_again() {
    let at = &several();
    let table = ran(at, "analyse --workspace w.ilws").stdout;
    let heads: Vec<&str> = table.lines().next().expect("a head").split('\t').take(5).collect();
    assert_eq!(heads, ["number", "source", "reference", "reference_2", "S"]);
    at.put("t.tsv", &table);
    ran(at, "analyse --workspace v.ilws --import t.tsv --format none").reports("3 new sentences, 3 outputs");
    let again = ran(at, "analyse --workspace v.ilws").stdout;
    assert_eq!(again, table);
    let lines = ran(at, "analyse --workspace w.ilws --format jsonl --limit 1").stdout;
    let object = json_of(&lines);
    assert_eq!(object["reference"], "le bateau rouge navigue");
    assert_eq!(object["references"], serde_json::json!(["le bateau rouge navigue", "le bateau rouge vogue"]));
}

#[test]
fn a_further_file_is_a_further_reference_and_replaces_nothing() {
    let at = &several();
    let told = ran(at, "analyse --workspace w.ilws --reference r2 --reference r1 --format none").stderr;
    assert_eq!(told.matches("Imported nothing").count(), 2, "{told}");
    for n in 3..=16 {
        at.put("r", format!("phrase {n}\nune {n}\ndeux {n}\n"));
        ran(at, "analyse --workspace w.ilws --reference r --format none")
            .reports("Imported 3 references. ")
            .reports(&format!("Kept as reference {n}."));
    }
    at.put("r", "one\ntoo\nmany\n");
    run_line(at, "analyse --workspace w.ilws --reference r").refused("keeps 16");
    let (workspace, corpus) = read(at);
    assert_eq!((workspace.references().expect("a count"), corpus.references_of(0).len()), (16, 16));
    assert_eq!(corpus.references.get(0), Some("le bateau rouge navigue"));
    assert_eq!(corpus.further[14].get(2), Some("deux 16"));
    // The longest column lies beside columns of numbers.
    assert_eq!(TableColumn::named("words", &corpus).expect("a column").value(&corpus, 0), 4.0);
}

#[test]
fn what_differs_is_told_and_goes_in_only_when_that_is_asked_for() {
    let at = &several();
    at.put("o", SAID.replace("au loin", "ici"));
    at.put("g", "0-0\n1-1\n\n");
    at.put("h", "0-0\n1-2\n\n");
    ran(at, "analyse --workspace w.ilws --gold g --format none");
    let line = "analyse --workspace w.ilws --output S=o --gold h --format none";
    let told = ran(at, line).stderr;
    for text in ["1 outputs of S would replace others, which stay", "1 alignments by hand would", "with --replace"] {
        assert!(told.contains(text), "{text}: {told}");
    }
    let (workspace, corpus) = read(at);
    assert_eq!(corpus.systems[0].texts.get(0), Some("le bateau rouge vogue au loin"));
    assert_eq!(workspace.gold(1).expect("read").expect("links").all()[0].0.target, 1);
    let told = ran(at, &format!("{line} --replace")).stderr;
    assert!(told.contains("Imported 1 output.") && !told.contains("would"), "{told}");
    let (workspace, corpus) = read(at);
    assert_eq!(corpus.systems[0].texts.get(0), Some("le bateau rouge vogue ici"));
    assert_eq!(workspace.gold(1).expect("read").expect("links").all()[0].0.target, 2);
    // A reference that was corrected takes the place of the one that has the most of its lines.
    at.put("r", SECOND.replace("ancien", "antique"));
    ran(at, "analyse --workspace w.ilws --reference r --replace --format none")
        .reports("Imported 1 reference;")
        .reports("Kept as reference 2.");
    let (_, corpus) = read(at);
    assert_eq!(corpus.references_of(1), ["le vieux moulin tourne", "le moulin antique tourne"]);
}

#[test]
fn a_line_that_differs_far_behind_is_kept_and_told() {
    let lines = |word: &str, last: &str| {
        (0..1100).map(|n| format!("{} {n}\n", if n == 1050 { last } else { word })).collect::<String>()
    };
    let folder = written(&[("s", &lines("word", "word")), ("r", &lines("mot", "mot")), ("c", &lines("mot", "autre"))]);
    let at = &folder;
    ran(at, "analyse --workspace w.ilws --source s --reference r --format none");
    ran(at, "analyse --workspace w.ilws --reference c --format none")
        .reports("Imported nothing; 1 texts of reference 1 would replace others, which stay");
    assert_eq!(read(at).1.references_of(1050), ["mot 1050"]);
    ran(at, "analyse --workspace w.ilws --reference c --replace --format none");
    assert_eq!(read(at).1.references_of(1050), ["autre 1050"]);
}

#[test]
fn links_and_forced_outputs_belong_to_the_first_reference() {
    let folder = written(&[("s", SOURCE), ("r1", FIRST), ("r2", SECOND), ("g", "0-0\n1-1\n9-9\n")]);
    let at = &folder;
    ran(at, "analyse --workspace w.ilws --source s --reference r1 --gold g --format none")
        .reports("g, line 3: has links beyond the 2 and 3");
    let (mut workspace, corpus) = read(at);
    assert_eq!(corpus.golds.iter().copied().collect::<Vec<_>>(), [0, 1], "only those within their words");
    let about = StoredAbout { ranking: FORCED.to_owned(), ..StoredAbout::default() };
    let forced = workspace.add_system("Forced", &about).expect("a system");
    let output = |text: &str| SystemOutput { text: text.to_owned(), ..SystemOutput::default() };
    let said: Vec<_> = FIRST.lines().enumerate().map(|(at, text)| (at, output(text))).collect();
    workspace.add_outputs(forced.id, &said, &mut Measuring::default()).expect("outputs");
    drop((workspace, corpus));
    ran(at, "analyse --workspace w.ilws --reference r2 --format none");
    let (_, corpus) = read(at);
    assert_eq!(corpus.systems[0].done, 3, "a further reference leaves what was forced");
    let bleu = TableColumn::named("bleu.1", &corpus).expect("a column");
    assert!(bleu.value(&corpus, 0).is_nan(), "and it is not compared with itself");
}

#[test]
fn too_few_lines_are_told() {
    let folder = written(&[("s", "a\nb\nc\nd\ne\n"), ("r", "u\nv\nw\n"), ("o", "u\nv\nw\nx\ny\n")]);
    let told = ran(&folder, "analyse --workspace w --source s --reference r --output O=o --format none").stderr;
    assert!(told.contains("r, line 3: is the last one, but there are 5 sentences; the last 2 get nothing"), "{told}");
    assert!(!told.contains("o, line"), "{told}");
}

const MQM: &str = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity
A\td1\t1\t1\tanna\tthe red boat sails\tle <v>bateau</v> bleu navigue\tAccuracy/Mistranslation\tMajor
A\td1\t1\t1\tanna\tthe red boat sails\tle bateau bl<v>eu navigue</v>\tFluency/Grammar\tminor
A\td1\t1\t1\tbob\tthe red boat sails\tle bateau bleu navigue\tNo-error\tno-error
B\td1\t1\t1\tanna\tthe <v>red</v> boat sails\tle bateau navigue\tAccuracy/Omission\tmajor
A\td1\t2\t2\tanna\train again\tencore la pluie\tNo-error\tno-error
B\td1\t2\t2\tbob\train again
";

#[test]
fn judgements_of_the_wmt_are_judgements_and_never_references() {
    let folder = written(&[("s", SOURCE), ("r", FIRST), ("m.tsv", MQM), ("o", "x y z\nb\nc\n")]);
    let at = &folder;
    ran(at, "analyse --workspace w.ilws --source s --reference r --format none");
    let told = ran(at, "analyse --workspace w.ilws --import m.tsv --format none").stderr;
    assert!(told.contains("Imported 3 outputs, 3 judgements; 1 line has a fault") && told.contains("(MQM)"), "{told}");
    assert!(told.contains("m.tsv, line 7: has 6 cells and no `target`, which is column 7"), "{told}");
    let (workspace, corpus) = read(at);
    let names: Vec<&str> = corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
    assert_eq!((names, corpus.len()), (vec!["A", "B"], 3));
    assert_eq!(corpus.references_of(0), ["le bateau rouge navigue"], "the references stay");
    assert_eq!(corpus.systems[0].texts.get(0), Some("le bateau bleu navigue"), "without the tags");
    assert_eq!(corpus.systems[0].texts.get(2), Some("encore la pluie"), "sentences are joined by their texts");
    let mark = |system: &str, target, source, category: &str, severity: &str| ErrorMark {
        system: system.to_owned(),
        target,
        letters: None,
        source,
        spans: None,
        category: category.to_owned(),
        severity: severity.to_owned(),
        note: String::new(),
    };
    let by = workspace.judgements_of(0).expect("read");
    let expect = [
        mark("A", (1, 2), (0, 0), "Accuracy/Mistranslation", "major"),
        // The tags stand within words: it is of these letters.
        ErrorMark { letters: Some((2, 12)), ..mark("A", (2, 4), (0, 0), "Fluency/Grammar", "minor") },
        mark("B", (3, 3), (1, 2), "Accuracy/Omission", "major"),
    ];
    assert_eq!(by["anna"].marks, expect);
    assert!(
        by["bob"].no_errors.contains("A") && workspace.judgements_of(2).expect("read")["anna"].no_errors.contains("A")
    );
    drop(workspace);
    // In a workspace of its own; again it changes nothing.
    ran(at, "analyse --workspace new --import m.tsv --import m.tsv --format none")
        .reports("Imported 2 new sentences, 3 outputs, 3 judgements");
    // What a system says otherwise stays, and is not marked.
    ran(at, "analyse --workspace v --source s --output A=o --format none");
    let refused = run_line(at, "analyse --workspace v --import m.tsv --format none");
    let told = &refused.stderr;
    assert!(refused.code == 2 && told.contains("2 outputs of A would replace others, which stay"), "{told}");
    assert!(told.contains("m.tsv, line 2: judges another translation of A than that of the corpus"), "{told}");
    assert!(told.contains("5 of 6 rows cannot be used, so none is"), "{told}");
    ran(at, "analyse --workspace v --import m.tsv --replace --format none").reports("Imported 3 outputs, 3 judgements");
}

#[test]
fn marks_of_words_that_are_gone_are_kept_apart() {
    let at = &several();
    let (mut workspace, _) = read(at);
    let mark =
        |target| ErrorMark { system: "S".to_owned(), target, category: "style".to_owned(), ..ErrorMark::default() };
    let judgement = Judgement { marks: vec![mark((4, 6)), mark((1, 2)), mark((5, 6))], ..Judgement::default() };
    workspace.judge(0, "anna", &judgement).expect("judged");
    let clean = Judgement { no_errors: ["S".to_owned()].into(), ..Judgement::default() };
    workspace.judge(1, "anna", &clean).expect("judged");
    drop(workspace);
    at.put("o", "le bateau rouge\nle moulin\nla pluie encore\n");
    ran(at, "analyse --workspace w.ilws --output S=o --replace --format none")
        .reports("3 marks of errors are set apart, for their words were replaced");
    let (mut workspace, corpus) = read(at);
    let judged = &workspace.judgements_of(0).expect("read")["anna"];
    assert_eq!(judged.marks, [mark((1, 2))], "a mark whose words stand there stays");
    let words: Vec<&str> = judged.stale.iter().map(|stale| stale.words.as_str()).collect();
    assert_eq!(words, ["au loin", "loin"]);
    let judged = &workspace.judgements_of(1).expect("read")["anna"];
    assert!(judged.no_errors.is_empty() && judged.stale[0].words == "le vieux moulin tourne", "{judged:?}");
    assert_eq!(TableColumn::named("marks", &corpus).expect("a column").value(&corpus, 0), 1.0);
    assert_eq!(workspace.undo().expect("read"), None, "marks do not come back on other words");
    let lines = ran(at, "analyse --workspace w.ilws --format judgements").stdout;
    at.put("j", &lines);
    ran(at, "analyse --workspace w.ilws --judgements j --format none");
    assert_eq!(read(at).0.judgements_of(0).expect("read")["anna"].stale.len(), 2, "they go out and come in");
}

#[test]
fn judgements_of_a_named_file_need_no_column_of_annotators() {
    let at = &several();
    at.put("j.tsv", "sentence\tstars\n1\t4\n");
    ran(at, "analyse --workspace w.ilws --judgements anna=j.tsv --format none").reports("Imported 1 judgement");
    assert_eq!(read(at).0.judgements_of(0).expect("read")["anna"].stars, 4);
    run_line(at, "analyse --workspace w.ilws --judgements j.tsv").refused("`annotator` (unless");
}

#[test]
fn a_workspace_where_nothing_may_be_written_opens_to_be_looked_at() {
    let folder = several();
    let path = folder.join("w.ilws");
    let before = fs::read(&path).expect("read");
    let mut workspace = Workspace::open_to_look(&path).expect("it opens");
    assert!(workspace.is_fixed() && !path.with_extension("ilws-wal").exists());
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert_eq!((corpus.len(), corpus.sources.get(1)), (3, Some("the old mill turns")));
    assert!(workspace.output(1, 0).expect("read").is_some());
    let why =
        workspace.judge(0, "anna", &Judgement { stars: 3, ..Judgement::default() }).expect_err("it is not written");
    assert!(why.to_string().contains("may only be read"), "{why}");
    drop((corpus, workspace));
    assert_eq!(fs::read(&path).expect("read"), before);
    fs::write(path.with_extension("ilws-wal"), "log").expect("written");
    let why = Workspace::open_to_look(&path).err().expect("others were writing").to_string();
    assert!(why.contains("a log beside it"), "{why}");
}

#[test]
fn a_source_word_goes_wrong_only_where_every_reference_says_otherwise() {
    let links = |text: &str| links_of(text).expect("links").all().into_iter().map(|(link, _)| link).collect::<Vec<_>>();
    let said = |text: &str| SystemOutput {
        text: text.to_owned(),
        links: Some(links("0-0 1-2 2-1 3-3")),
        ..SystemOutput::default()
    };
    let (source, gold) = ("the red boat sails", links("0-0 1-2 2-1 3-3"));
    let wrong = |references: &[&str], output: &str| -> Vec<String> {
        let fates = fates(
            source,
            WordRule::Tokens,
            &word_fates((source, SideRules::default()), references, &gold, &said(output)),
        );
        fates.into_iter().filter(|(_, fate)| fate.is_wrong()).map(|(word, _)| word).collect()
    };
    let (first, second) = ("le bateau rouge navigue", "le bateau rouge vogue");
    assert_eq!(wrong(&[first], "le bateau rouge vogue"), ["sails"]);
    assert!(wrong(&[first, second], "le bateau rouge vogue").is_empty());
    assert!(wrong(&[first, second], first).is_empty());
    assert_eq!(wrong(&[first, second], "le bateau vert flotte"), ["red", "sails"]);
    // A word that a reference has once is right once.
    assert_eq!(wrong(&[first, second], "le le rouge vogue"), ["boat"]);
}
