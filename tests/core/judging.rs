//! What people say of sentences: it goes out and comes in, and two annotators are compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlinear::analysis::alignment::Alignment;
use interlinear::corpus::export::out::{ExportFormat, LinkRule, Out};
use interlinear::corpus::judgements::agreement::{Aspect, compare};
use interlinear::corpus::judgements::judge::{ErrorMark, Judgement, Judges};
use interlinear::corpus::judgements::scheme::{ErrorScheme, Renamed, Severity};
use interlinear::corpus::query::{column::TableColumn, filter::Filter, table::rows};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout};
use interlinear::corpus::{export::out, judgements::judgement_io, measures::score::score, measures::table::Measuring};
use interlinear::{corpus::store::write::NewSentence, import, text::links::read::links_of};

use crate::cli::{json_of, run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::forever;

const PAIRS: &[(&str, &str, &str)] = &[
    ("a red boat", "un bateau rouge", "un rouge bateau"),
    ("the old mill turns", "le vieux moulin tourne", "le moulin tourne"),
    ("rain again", "encore la pluie", "la pluie la pluie"),
    ("it\u{2019}s late", "il est tard", "il est tard"),
];

fn filled(path: &Path, pairs: &[(&str, &str, &str)]) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a workspace");
    let origin = workspace.add_origin("pairs", "").expect("an origin");
    let sentence = |pair: &(&str, &str, &str)| NewSentence {
        source: pair.0.to_owned(),
        reference: Some(pair.1.to_owned()),
        ..NewSentence::default()
    };
    workspace.add_sentences(origin, &pairs.iter().map(sentence).collect::<Vec<_>>()).expect("sentences");
    let system = workspace.add_system("Mill", &StoredAbout::default()).expect("a system");
    let output = |text: &str| SystemOutput { text: text.to_owned(), ..SystemOutput::default() };
    let outputs: Vec<_> = pairs.iter().enumerate().map(|(at, pair)| (at, output(pair.2))).collect();
    workspace.add_outputs(system.id, &outputs, &mut Measuring::default()).expect("outputs");
    workspace
}

fn mark(target: (usize, usize), category: &str, severity: &str) -> ErrorMark {
    ErrorMark {
        system: "Mill".to_owned(),
        target,
        category: category.to_owned(),
        severity: severity.to_owned(),
        ..ErrorMark::default()
    }
}

fn said(stars: u8, tags: &[&str], note: &str, marks: Vec<ErrorMark>, links: &str) -> Judgement {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    Judgement { stars, tags, note: note.to_owned(), marks, links: links.to_owned(), ..Judgement::default() }
}

pub fn out(path: impl Into<PathBuf>, kind: ExportFormat, rows: impl IntoIterator<Item = u32>) -> Out {
    Out {
        link_tokens: false,
        path: path.into(),
        kind,
        rows: Arc::new(rows.into_iter().collect()),
        columns: Vec::new(),
        chosen: String::new(),
        pictures: 100,
        aligner: None,
        title: String::new(),
    }
}

pub fn bytes(workspace: &Workspace, out: &Out) -> Vec<u8> {
    let mut bytes = Vec::new();
    out::to(&mut bytes, out, &CorpusTable::read(workspace).expect("a corpus"), workspace).expect("written");
    bytes
}

fn written(workspace: &Workspace, kind: ExportFormat) -> String {
    let count = workspace.len().expect("a count") as u32;
    String::from_utf8(bytes(workspace, &out("out", kind, 0..count))).expect("UTF-8")
}

fn judged(path: &Path) -> Workspace {
    let mut workspace = filled(path, PAIRS);
    let (style, added) = ("style", "accuracy/addition");
    for (annotator, all) in [
        (
            "anna",
            [
                said(1, &["idiom"], "", vec![mark((1, 3), style, "minor")], "0-0 1-2 2-1"),
                said(2, &["idiom"], "", vec![], ""),
                said(3, &[], "", vec![mark((2, 4), added, "major")], "0-0"),
                said(3, &["odd"], "", vec![], ""),
            ],
        ),
        (
            "bob",
            [
                said(1, &[], "", vec![mark((1, 2), style, "major")], "0-0 1?2 2-2"),
                said(3, &["idiom"], "", vec![mark((1, 1), "accuracy/omission", "major")], ""),
                said(3, &["idiom"], "", vec![mark((2, 4), added, "major")], ""),
                said(2, &["odd"], "a note is no difference", vec![], ""),
            ],
        ),
    ] {
        for (at, mut judgement) in all.into_iter().enumerate() {
            if judgement.marks.is_empty() {
                judgement.turn_no_errors("Mill".to_owned());
            }
            workspace.judge(at, annotator, &judgement).expect("judged");
        }
    }
    workspace
}

#[test]
fn a_translation_that_one_of_two_did_not_judge_is_neither_agreed_nor_differed_upon() {
    let (_folder, mut workspace) = Folder::of(|folder| judged(&folder.join("a.ilws")));
    let of_words = |workspace: &Workspace| {
        let corpus = CorpusTable::read(workspace).expect("a corpus");
        let found = compare(&corpus, ("anna", "bob"), &[0, 1, 2, 3]).expect("compared");
        let line = found.lines.iter().find(|line| line.name == "words marked").expect("a line");
        let differs = |at: usize| found.differing.iter().any(|(of, all)| *of == at && all.contains(&Aspect::Marks));
        (line.kappa.expect("a table").items, differs(0), differs(1))
    };
    assert_eq!(of_words(&workspace), (13, true, true));
    // Bob keeps his stars of the first sentence and says nothing of its errors.
    workspace.judge(0, "bob", &said(1, &[], "", vec![], "0-0 1?2 2-2")).expect("judged");
    let (words, first, second) = of_words(&workspace);
    assert!(words < 13 && !first && second, "{words}");
}

#[test]
fn two_annotators_are_compared_as_counted_by_hand() {
    let (_folder, workspace) = Folder::of(|folder| judged(&folder.join("a.ilws")));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let found = compare(&corpus, ("anna", "bob"), &[0, 1, 2, 3]).expect("compared");
    assert_eq!(found.both, 4);
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9);
    for (name, items, agreed, kappa) in [
        ("stars", 4, 2, 0.2),
        ("tags", 8, 6, 7.0 / 15.0),
        ("tag idiom", 4, 2, 0.0),
        ("tag odd", 4, 4, 1.0),
        ("words marked", 13, 11, 46.0 / 72.0),
        ("kind of each word", 13, 11, 56.0 / 82.0),
        ("severity of each word", 13, 10, 41.0 / 80.0),
        ("links by hand", 9, 6, 12.0 / 39.0),
    ] {
        let line = found.lines.iter().find(|line| line.name == name).expect(name);
        let of = line.kappa.expect(name);
        assert_eq!((of.items, of.agreed), (items, agreed), "{name}");
        assert!(near(of.kappa, kappa), "{name}: {:?}", of.kappa);
    }
    let more = |at: usize, name: &str| {
        found.lines[at].more.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
    };
    assert!(near(more(0, "linear kappa"), 3.0 / 7.0) && near(more(0, "quadratic kappa"), 7.0 / 11.0));
    assert!(near(more(found.lines.len() - 1, "F1 of links"), 2.0 / 3.0));
    let (stars, tags, marks, links) = (Aspect::Stars, Aspect::Tags, Aspect::Marks, Aspect::Links);
    let differing = [(0, vec![tags, marks, links]), (1, vec![stars, marks]), (2, vec![tags]), (3, vec![stars])];
    assert_eq!(found.differing, differing);
    for (filter, expect) in [
        ("differs:anna,bob", &[0, 1, 2, 3][..]),
        ("differs:bob,anna,stars", &[1, 3]),
        ("differs:anna,bob,marks", &[0, 1]),
        ("differs:\"anna, bob, links\"", &[0]),
        ("-differs:anna,bob,tags", &[1, 3]),
    ] {
        let filter_of = Filter::new(filter, &corpus).expect(filter);
        assert_eq!(rows(&corpus, &filter_of, None), expect, "{filter}");
    }
    for (filter, says) in [
        ("differs:anna", "names one annotator"),
        ("differs:anna,cleo", "nobody named `cleo` has judged anything; these did: anna, bob"),
        ("differs:anna,bob,notes", "none of stars, tags, marks, links"),
    ] {
        let error = Filter::new(filter, &corpus).expect_err(filter).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_scheme_weighs_errors_and_its_names_are_those_of_the_marks() {
    let (folder, mut workspace) = Folder::of(|folder| judged(&folder.join("a.ilws")));
    let read = |workspace: &Workspace| CorpusTable::read(workspace).expect("a corpus");
    let corpus = read(&workspace);
    let all = score(&corpus, 0, 0..4, Judges::People);
    assert_eq!((all.judgements, all.words, all.marks, all.weight), (8, 26, 5, 21.0));
    assert_eq!(TableColumn::named("errors.1", &corpus).expect("a column").value(&corpus, 0), 1.0);
    assert_eq!(TableColumn::named("errors", &corpus).expect("a column"), TableColumn::Errors(0));
    assert!(TableColumn::named("errors.1-2", &corpus).is_err() && TableColumn::named("errors.2", &corpus).is_err());

    let core = ErrorScheme::default();
    let mut other = core.clone();
    other.categories[10] = "taste".to_owned();
    other.severities =
        vec![Severity { name: "small".to_owned(), weight: 0.5 }, Severity { name: "major".to_owned(), weight: 2.0 }];
    let renamed = Renamed { kinds: names(&[("style", "taste")]), severities: names(&[("minor", "small")]) };
    workspace.set_scheme(&other, &renamed).expect("a scheme");
    let corpus = read(&workspace);
    assert_eq!(*corpus.scheme, other);
    let mark = &corpus.judgements[&0]["anna"].marks[0];
    assert_eq!((mark.category.as_str(), mark.severity.as_str()), ("taste", "small"));
    assert_eq!(score(&corpus, 0, 0..4, Judges::People).weight, 8.5);
    workspace.undo().expect("an answer").expect("an act");
    assert_eq!(*read(&workspace).scheme, core);
    assert_eq!(read(&workspace).judgements[&0]["anna"].marks[0].category, "style");

    for name in ["scheme.toml", "scheme.json"] {
        let path = folder.join(name);
        other.save(&path).expect("written");
        assert_eq!(ErrorScheme::open(&path).expect("read"), other, "{name}");
    }
    for (text, says) in [
        ("categories = []\nseverities = []", "key `categories` has none"),
        ("categories = [\"a\", \"a\"]\nseverities = []", "has `a` twice"),
        ("categories = [\"a\"]\nseverities = [{ name = \"x\", weight = -1 }]", "must be a number from 0 up"),
        ("categories = 1", "is no scheme of errors"),
    ] {
        let path = folder.put("wrong.toml", text);
        let error = ErrorScheme::open(&path).expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    }
}

fn names(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect()
}

#[test]
fn a_kind_and_a_severity_of_one_name_are_renamed_apart() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws"), PAIRS));
    let both = ErrorScheme {
        categories: ["style", "slip"].map(str::to_owned).to_vec(),
        severities: ["slip", "major"].map(|name| Severity { name: name.to_owned(), weight: 1.0 }).to_vec(),
        exceptions: Vec::new(),
    };
    workspace.set_scheme(&both, &Renamed::default()).expect("a scheme");
    for (renamed, expect) in [
        (Renamed { kinds: names(&[("slip", "order")]), ..Renamed::default() }, ("order", "slip")),
        (Renamed { severities: names(&[("slip", "light")]), ..Renamed::default() }, ("slip", "light")),
        (Renamed { kinds: names(&[("slip", "order")]), severities: names(&[("slip", "light")]) }, ("order", "light")),
    ] {
        workspace.judge(0, "anna", &said(0, &[], "", vec![mark((0, 1), "slip", "slip")], "")).expect("judged");
        let mut scheme = both.clone();
        expect.0.clone_into(&mut scheme.categories[1]);
        expect.1.clone_into(&mut scheme.severities[0].name);
        workspace.set_scheme(&scheme, &renamed).expect("a scheme");
        let mark = &workspace.judgements().expect("judgements")[&0]["anna"].marks[0];
        assert_eq!((mark.category.as_str(), mark.severity.as_str()), expect);
    }
}

#[test]
fn a_translation_that_nobody_judged_has_no_score() {
    let (folder, path) = Folder::and_path("a.ilws");
    let mut workspace = filled(&path, PAIRS);
    let other = workspace.add_system("Brook", &StoredAbout::default()).expect("a system");
    let output = |text: &str| SystemOutput { text: text.to_owned(), ..SystemOutput::default() };
    let outputs: Vec<_> = PAIRS.iter().enumerate().map(|(at, pair)| (at, output(pair.1))).collect();
    workspace.add_outputs(other.id, &outputs, &mut Measuring::default()).expect("outputs");
    // Mill alone is marked; a sentence with stars alone says nothing of errors.
    workspace.judge(0, "anna", &said(2, &[], "", vec![mark((1, 3), "style", "minor")], "")).expect("judged");
    workspace.judge(1, "anna", &said(4, &[], "", Vec::new(), "")).expect("judged");
    let value = |workspace: &Workspace, name: &str, at: usize| {
        let corpus = CorpusTable::read(workspace).expect("a corpus");
        let value = TableColumn::named(name, &corpus).expect(name).value(&corpus, at);
        (!value.is_nan()).then_some(value)
    };
    for (name, at, expect) in [("errors.1", 0, Some(1.0 / 3.0)), ("errors.2", 0, None), ("errors.1", 1, None)] {
        assert_eq!(value(&workspace, name, at), expect, "{name} of {at}");
    }
    let report = written(&workspace, ExportFormat::Report);
    assert!(report.contains("<tr><td>Mill</td><td>people</td><td>1</td><td>1</td><td>3</td><td>1</td>"), "{report}");
    let none =
        "<tr><td>Brook</td><td>people</td><td>0</td><td>0</td><td>0</td><td>0</td><td>0.0000</td><td>none judged</td>";
    assert!(report.contains(none), "{report}");

    // It can be said that a translation has none; each annotator for himself.
    let mut none = said(0, &[], "", Vec::new(), "");
    none.turn_no_errors("Brook".to_owned());
    workspace.judge(0, "bob", &none).expect("judged");
    assert_eq!((value(&workspace, "errors.2", 0), value(&workspace, "errors.1", 0)), (Some(0.0), Some(1.0 / 3.0)));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert_eq!(rows(&corpus, &Filter::new("errors.2=0", &corpus).expect("a filter"), None), [0]);
    let brook = score(&corpus, 1, 0..4, Judges::People);
    assert_eq!((brook.judgements, brook.words, brook.marks, brook.per_word()), (1, 3, 0, Some(0.0)));
    let report = written(&workspace, ExportFormat::Report);
    let clean = "<tr><td>Brook</td><td>people</td><td>1</td><td>1</td><td>3</td><td>0</td>";
    assert!(report.contains("no errors in Brook") && report.contains(clean), "{report}");

    // It goes out and comes in with the marks, in both notations, and one undo takes it back.
    for (kind, name) in [(ExportFormat::Judgements, "j.jsonl"), (ExportFormat::JudgementTable, "j.tsv")] {
        let file = folder.join(name);
        std::fs::write(&file, written(&workspace, kind)).expect("written");
        let mut second = filled(&folder.join(format!("{name}.ilws")), PAIRS);
        let report = judgement_io::import(&mut second, &file, None, &forever());
        let report = report.expect(name);
        assert_eq!(report.warned, 0, "{name}: {:?}", report.warnings);
        assert!(report.facts.iter().any(|fact| fact.contains("wait until they come: Brook")), "{:?}", report.facts);
        assert_eq!(second.judgements().expect("read"), workspace.judgements().expect("read"), "{name}");
        second.undo().expect("an answer").expect("an act");
        assert!(second.judgements().expect("read").is_empty(), "{name}");
    }
    workspace.undo().expect("an answer").expect("an act");
    assert_eq!(value(&workspace, "errors.2", 0), None);

    // Marks and a word that there are none: the marks count.
    let mut both = none.clone();
    both.mark(ErrorMark { system: "Brook".to_owned(), ..mark((0, 1), "style", "minor") });
    assert!(both.no_errors.is_empty());
    both.turn_no_errors("Brook".to_owned());
    assert!(both.no_errors.is_empty(), "where errors are marked it cannot be said");
    let file = folder.join("both.jsonl");
    let line = "{\"sentence\":1,\"by\":{\"cleo\":{\"no_errors\":[\"Mill\",\"Brook\"],\"marks\":[{\"system\":\"Mill\",\
                \"target\":[0,1],\"category\":\"style\",\"severity\":\"minor\"}]}}}\n";
    std::fs::write(&file, line).expect("written");
    judgement_io::import(&mut workspace, &file, None, &forever()).expect("report");
    let cleo = &workspace.judgements().expect("read")[&0]["cleo"];
    assert_eq!(cleo.no_errors.iter().collect::<Vec<_>>(), ["Brook"]);
}

#[test]
fn a_table_of_judgements_says_yes_or_no_of_errors() {
    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws"), PAIRS));
    let file = folder.join("j.tsv");
    let rows = "sentence\tannotator\tsystem\tno_errors\n1\tbob\tMill\tYes\n2\tbob\tMill\tno\n3\tbob\tMill\tperhaps\n";
    std::fs::write(&file, rows).expect("written");
    let report = judgement_io::import(&mut workspace, &file, None, &forever());
    let report = report.expect("report");
    assert!(report.warnings[0].contains("line 4: `perhaps` is neither yes nor no"), "{:?}", report.warnings);
    let said = workspace.judgements().expect("read");
    assert!(said[&0]["bob"].no_errors.contains("Mill"));
    assert!(
        [1, 2].iter().all(|at| said.get(at).and_then(|by| by.get("bob")).is_none_or(|one| one.no_errors.is_empty()))
    );
}

#[test]
fn alignments_go_out_as_arrays_tables_and_links_of_rows_and_columns() {
    use std::io::Read as _;

    let folder = Folder::new();
    let pairs = [PAIRS[0], ("a summer", "un \u{e9}t\u{e9}", "un \u{e9}t\u{e9}")];
    let mut workspace = filled(&folder.join("a.ilws"), &pairs);
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    // Row 0 and column 0 agree; row 1 prefers source 0, whose best is target 0; column 1's best is target 1.
    let alpha = Alignment::from_rows(&[[0.75, 0.125, 0.125], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]);
    let output = SystemOutput {
        text: "un \u{e9}t\u{e9}".to_owned(),
        source: words("a summer </s>"),
        target: words("un \u{e9}t\u{e9} </s>"),
        alpha: Some(alpha),
        ..SystemOutput::default()
    };
    let system = workspace.add_system("Soft", &StoredAbout::default()).expect("a system");
    workspace.add_outputs(system.id, &[(1, output)], &mut Measuring::default()).expect("an output");
    for (how, expect) in [
        (LinkRule::Greatest, "0-0 0-1"),
        (LinkRule::Above(25), "0-0 0-1 1-1"),
        (LinkRule::Symmetrised(0), "0-0"),
        (LinkRule::Symmetrised(4), "0-0 0-1 1-1"),
    ] {
        let text =
            String::from_utf8(bytes(&workspace, &out("out", ExportFormat::Pharaoh(1, how), [1, 0]))).expect("UTF-8");
        assert_eq!(text.lines().next(), Some(expect), "{how:?}");
    }
    let zip = bytes(&workspace, &out("out", ExportFormat::Arrays, [1, 0]));
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip)).expect("a zip");
    let mut array = |name: &str| {
        let mut bytes = Vec::new();
        zip.by_name(name).expect(name).read_to_end(&mut bytes).expect("bytes");
        let length = usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
        assert_eq!((10 + length) % 64, 0, "{name}");
        (String::from_utf8_lossy(&bytes[10..10 + length]).trim().to_owned(), bytes[10 + length..].to_vec())
    };
    let (head, numbers) = array("2.2.alpha.npy");
    assert_eq!(head, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }");
    assert_eq!((numbers.len(), &numbers[4 * 8..]), (36, &0.75_f32.to_le_bytes()[..]));
    let (head, letters) = array("2.2.target.npy");
    assert_eq!(head, "{'descr': '<U4', 'fortran_order': False, 'shape': (3,), }");
    assert_eq!((letters.len(), &letters[16..20]), (48, &0xe9_u32.to_le_bytes()[..]));

    let tables = folder.join("tables");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    out::write(&out(&tables, ExportFormat::Matrices, 0..2), &corpus, &workspace).expect("written");
    let table = tables.text("sentence-000002.2.tsv");
    assert_eq!(table.lines().nth(1), Some("un\t0.75\t0.125\t0.125"), "{table}");
    assert_eq!(std::fs::read_dir(&tables).expect("a folder").count(), 1);
}

#[test]
fn judging_goes_through_the_command_line() {
    let folder = Folder::new();
    let at = &folder;
    let ran = |arguments: &[&str]| run_in(at, arguments).good();
    drop(judged(&at.join("a.ilws")));
    drop(filled(&at.join("b.ilws"), PAIRS));
    for format in ["judgements", "judgement-table"] {
        let lines = ran(&["analyse", "--workspace", "a.ilws", "--format", format]).stdout;
        at.put(format, lines);
    }
    let told = ran(&["analyse", "--workspace", "b.ilws", "--judgements", "judgements", "--format", "none"]).stderr;
    assert!(told.contains("Imported") && told.contains("8 judgements"), "{told}");
    let again = ["analyse", "--workspace", "b.ilws", "--import", "judgement-table", "--format", "judgement-table"];
    assert_eq!(ran(&again).stdout, at.text("judgement-table"));
    let text = ran(&["analyse", "--workspace", "b.ilws", "--agreement", "anna", "bob"]).stdout;
    for line in
        ["stars\tsentences\t4\t2\t0.2000\tlinear kappa 0.4286, quadratic kappa 0.6364", "2\tstars, marks\tthe old"]
    {
        assert!(text.contains(line), "{text}");
    }
    let json = ran(&["analyse", "--workspace", "b.ilws", "--agreement", "anna", "bob", "--format", "jsonl"]).stdout;
    let json = json_of(&json);
    assert_eq!((json["both"].as_u64(), json["differing"][1]["differs"][0].as_str()), (Some(4), Some("stars")));
    let scheme = ran(&["analyse", "--workspace", "b.ilws", "--format", "scheme"]).stdout;
    at.put("s.toml", scheme.replace("weight = 5.0", "weight = 7.5"));
    let table =
        ran(&["analyse", "--workspace", "b.ilws", "--scheme", "s.toml", "--columns", "errors.1", "--limit", "1"])
            .stdout;
    assert!(table.lines().nth(1).is_some_and(|row| row.contains(&format!("\t{}\t", 8.5_f32 / 6.0))), "{table}");
    ran(&["report", "--workspace", "b.ilws", "--output", "r.html"]);
    let report = at.text("r.html");
    assert!(report.contains("weight per word") && report.contains("major 7.5"));
    run_line(at, "analyse --workspace b.ilws --format matrices").refused("need a folder");
    run_line(at, "analyse --workspace b.ilws --agreement anna cleo").refused("nobody named `cleo`");
}

#[test]
fn judgements_go_out_and_come_in_by_the_texts_and_one_undo_takes_them_back() {
    let (folder, mut first) = Folder::of(|folder| filled(&folder.join("a.ilws"), PAIRS));
    let omission =
        ErrorMark { source: (1, 2), note: "le mot".to_owned(), ..mark((1, 1), "accuracy/omission", "major") };
    let marks = vec![mark((1, 3), "style", "minor"), omission];
    first.judge(0, "anna", &said(2, &["colour", "order | odd"], "-il\tfaut", Vec::new(), "0-0 1?2")).expect("judged");
    first.judge(1, "anna", &said(0, &[], "", marks.clone(), "")).expect("judged");
    first.judge(1, "bob k", &said(4, &[], "bon", Vec::new(), "")).expect("judged");
    first.judge(3, "bob k", &said(5, &["easy"], "", Vec::new(), "")).expect("judged");
    first.judge_all(&[], &[(2, links_of("0-0").expect("links"))]).expect("gold");
    let expect = first.judgements().expect("judgements");

    // Another workspace has them in another order, and one sentence is written otherwise.
    let others =
        [("new here", "nouveau", "neuf"), ("it's  late", PAIRS[3].1, PAIRS[3].2), PAIRS[1], PAIRS[0], PAIRS[2]];
    for (kind, name) in [(ExportFormat::Judgements, "j.jsonl"), (ExportFormat::JudgementTable, "j.tsv")] {
        let file = folder.join(name);
        std::fs::write(&file, written(&first, kind)).expect("written");
        assert_eq!(import::guess(&file).expect("a kind")[0].0.name, "judgements", "{name}");
        let mut second = filled(&folder.join(format!("{name}.ilws")), &others);
        second.judge(2, "anna", &said(1, &["before"], "", Vec::new(), "")).expect("judged");
        let before = second.judgements().expect("judgements");
        let report = judgement_io::import(&mut second, &file, None, &forever());
        let report = report.expect(name);
        assert_eq!((report.judgements, report.warned), (4, 0), "{name}: {:?}", report.warnings);
        let found = second.judgements().expect("judgements");
        for (from, to) in [(0, 3), (1, 2), (3, 1)] {
            let mut expect = (*expect[&from]).clone();
            if kind == ExportFormat::JudgementTable {
                // A bar stands between tags.
                if let Some(anna) = expect.get_mut("anna").filter(|_| from == 0) {
                    anna.tags = ["colour", "order", "odd"].map(str::to_owned).into();
                }
            }
            assert_eq!(*found[&to], expect, "{name}: sentence {to}");
        }
        assert_eq!(second.gold(3).expect("gold"), links_of("0-0 1?2"));
        let undone = second.undo().expect("an answer").expect("an act");
        assert_eq!(undone.judged.first(), Some(&1));
        assert_eq!(second.judgements().expect("judgements"), before, "{name}");
        assert_eq!(second.gold(3).expect("gold"), None);
        second.redo().expect("an answer").expect("an act");
        assert_eq!(second.judgements().expect("judgements"), found, "{name}");
    }
}

#[test]
fn lines_of_judgements_that_make_no_sense_are_told_with_their_numbers() {
    let folder = Folder::new();
    for (name, text, judgements, says) in [
        (
            "a.jsonl",
            "{\"sentence\": 1, \"by\": {\"anna\": {\"stars\": 3}}}\n{\"sentence\": 9, \"by\": {\"anna\": {\"stars\": 3}}}\n\
             {\"source\": \"nowhere\", \"by\": {\"anna\": {}}}\nrain\n\
             {\"source\": \"rain again\", \"by\": {\"anna\": {\"stars\": 9, \"links\": \"0-7\", \"note\": \"kept\"}}}\n",
            2,
            &[
                "line 2: names no sentence from 1 to 4",
                "line 3: is of no sentence",
                "line 4: is no judgement",
                "line 5: has no number of stars",
                "line 5: has links beyond the 2 and 3 words",
            ][..],
        ),
        (
            "b.tsv",
            "sentence\tannotator\tstars\tsystem\twords\tcategory\tseverity\n1\tbob\t2\tMill\t2-3\tstyle\tminor\n\
             x\tbob\t1\n2\t\t1\n2\tbob\tmany\n3\tbob\t1\tMill\t4-5\tstyle\tminor\n3\tbob\t\tMill\tnine\tstyle\tminor\n",
            3,
            &[
                "line 3: `x` is no number",
                "line 4: names no annotator",
                "line 5: has no number of stars",
                "line 6: marks words 4-5 of Mill, which has 4",
                "line 7: `nine` are no words",
            ],
        ),
    ] {
        let mut workspace = filled(&folder.join(format!("{name}.ilws")), PAIRS);
        let file = folder.join(name);
        std::fs::write(&file, text).expect("written");
        let report = judgement_io::import(&mut workspace, &file, None, &forever());
        let report = report.expect(name);
        assert_eq!((report.judgements, report.warned), (judgements, says.len()), "{name}: {:?}", report.warnings);
        for (warning, says) in report.warnings.iter().zip(says) {
            assert!(warning.contains(says), "{warning}\n{says}");
        }
    }
}

#[test]
fn a_table_changes_only_the_columns_that_it_has() {
    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws"), PAIRS));
    workspace.judge(0, "bob", &said(2, &["kept"], "kept", Vec::new(), "")).expect("judged");
    let file = folder.put("bob.stars.tsv", "source\tannotator\tstars\nrain again\tme\t4\na red boat\tme\t5\n");
    let report = judgement_io::import(&mut workspace, &file, None, &forever());
    assert!(report.expect("report").facts.iter().any(|fact| fact.contains("kept as by \"bob\"")));
    let all = workspace.judgements().expect("judgements");
    assert_eq!(all[&0]["bob"], said(5, &["kept"], "kept", Vec::new(), ""));
    assert_eq!(all[&2]["bob"].stars, 4);
    let other = "sentence\tannotator\tsystem\twords\tcategory\tseverity\n1\tbob\tNobody\t1\tstyle\tdire\n";
    folder.put("o.tsv", other);
    let path = folder.join("o.tsv");
    let report = judgement_io::import(&mut workspace, &path, None, &forever());
    let facts = report.expect("report").facts.join(" ");
    assert!(facts.contains("lacks dire.") && facts.contains("systems that are not here wait until they come: Nobody."));
    judgement_io::import(&mut workspace, &file, Some("cleo"), &forever()).expect("report");
    assert_eq!(workspace.judgements().expect("judgements")[&0]["cleo"].stars, 5);
}

#[test]
fn judgements_of_no_sentence_are_told_and_left_out() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut workspace = filled(&path, PAIRS);
    workspace.judge(0, "anna", &said(3, &[], "", Vec::new(), "")).expect("judged");
    let other = rusqlite::Connection::open(&path).expect("a database");
    other
        .execute_batch(
            "INSERT INTO judgement VALUES (0, 'anna', '{}'), (-7, 'bob', '{}'); INSERT INTO gold VALUES (0, '0-0')",
        )
        .expect("damaged");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert!(
        corpus.damages.iter().any(|why| why.contains("3 of its judgements are of no sentence")),
        "{:?}",
        corpus.damages
    );
    assert_eq!((corpus.judgements.len(), corpus.judgements[&0]["anna"].stars, corpus.golds.len()), (1, 3, 0));
}

#[test]
fn marks_that_are_set_apart_go_out_and_come_in() {
    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("w.ilws"), PAIRS));
    workspace.judge(0, "anna", &said(2, &[], "", vec![mark((1, 3), "style", "minor")], "")).expect("judged");
    let other = SystemOutput { text: "un".to_owned(), ..SystemOutput::default() };
    let system = workspace.systems().expect("systems")[0].id;
    workspace.add_outputs(system, &[(0, other)], &mut Measuring::default()).expect("outputs");
    let apart = workspace.judgements().expect("judgements")[&0]["anna"].clone();
    assert!(apart.marks.is_empty() && apart.stale.len() == 1, "{apart:?}");
    let path = folder.put("j.tsv", written(&workspace, ExportFormat::JudgementTable));
    for mut back in [filled(&folder.join("v.ilws"), PAIRS), workspace] {
        let report = judgement_io::import(&mut back, &path, None, &forever()).expect("in");
        assert!(report.warnings.is_empty(), "{report:?}");
        assert_eq!(back.judgements().expect("judgements")[&0]["anna"], apart);
    }
}
