//! The file of a workspace: columns that are read late, other windows, its size.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use interlinear::corpus::export::out::{ExportFormat, write};
use interlinear::corpus::import::importer::{ImportReport, import_file};
use interlinear::corpus::query::table::{Sorting, rows};
use interlinear::corpus::store::{file::Workspace, output::SystemOutput, read::StoredAbout, write::NewSentence};
use interlinear::corpus::{judgements::judge::Judgement, measures::table::Measuring};
use interlinear::corpus::{query::column::TableColumn, query::filter::Filter, store::corpus::CorpusTable};
use interlinear::{import, ticket::CancellationToken};

use crate::{counted, folder::Folder, forever, judging::out};

const LONG: usize = 9000;

fn text(n: usize) -> String {
    format!("word{} {} end", n % 7, "more ".repeat(n % 5))
}

fn said(system: usize, n: usize) -> SystemOutput {
    let text = format!("mot{} de {system}", n * 31 % 1000);
    SystemOutput { log_p: Some(-((n * 7919 + system) as f32 % 1000.0)), text, ..SystemOutput::default() }
}

fn long(path: &Path, folds: bool) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a workspace");
    let systems = ["One", "Two"].map(|name| workspace.add_system(name, &StoredAbout::default()).expect("a system").id);
    for first in (0..LONG).step_by(1000) {
        let new = |n: usize| NewSentence {
            source: text(n),
            reference: n.is_multiple_of(3).then(|| format!("ref\n{n}")),
            line: n + 1,
            ..NewSentence::default()
        };
        workspace.add_sentences(1, &(first..first + 1000).map(new).collect::<Vec<_>>()).expect("sentences");
        for (number, system) in systems.iter().enumerate() {
            let places = (first..first + 1000).filter(|n| number == 0 || n / 1000 % 2 == 0);
            let outputs: Vec<_> = places.map(|n| (n, said(number, n))).collect();
            workspace.add_outputs(*system, &outputs, &mut Measuring::default()).expect("outputs");
        }
        if folds && first % 3000 == 0 {
            workspace.fold().expect("folded");
        }
    }
    workspace
}

fn shown(corpus: &CorpusTable) -> Vec<String> {
    let mut shown = Vec::new();
    for at in 0..corpus.len() {
        let mut line = format!("{:?} {:?}", corpus.sources.get(at), corpus.references.get(at));
        line += &format!("{:?}", corpus.numbers.iter().map(|numbers| numbers.get(at)).collect::<Vec<_>>());
        for column in &corpus.systems {
            let numbers: Vec<f32> = column.numbers.iter().map(|numbers| numbers.get(at)).collect();
            line += &format!("{} {} {:?} {numbers:?}", column.system.name, column.done, column.texts.get(at));
        }
        shown.push(line);
    }
    assert_eq!(corpus.take_damages(), Vec::<String>::new());
    shown
}

#[test]
fn columns_that_are_read_late_make_the_same_table() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    let plain = CorpusTable::read(&long(&at("plain"), false)).expect("a corpus");
    let mut workspace = long(&at("folded"), true);
    let half = CorpusTable::read(&workspace).expect("a corpus");
    workspace.fold().expect("folded");
    workspace.fold().expect("nothing is left to fold");
    let whole = CorpusTable::read(&Workspace::open(&at("folded")).expect("it opens")).expect("a corpus");
    assert_eq!((whole.systems[0].done, whole.systems[1].done), (LONG, 5000));
    for (filter, sorting) in [
        ("", "-logp.1-2"),
        ("logp.2<-500", "words"),
        ("word3 -has:2", ""),
        ("reference:/f 3/", "-length.1"),
        ("2:mot77", "number"),
    ] {
        let places = |corpus: &CorpusTable| {
            let filter = Filter::new(filter, corpus).expect(filter);
            let sorting = (!sorting.is_empty()).then(|| Sorting::named(sorting, corpus).expect(sorting));
            rows(corpus, &filter, sorting.as_ref())
        };
        assert!(!places(&plain).is_empty(), "{filter}");
        assert_eq!(places(&plain), places(&half), "{filter}, {sorting}");
        assert_eq!(places(&plain), places(&whole), "{filter}, {sorting}");
    }
    assert_eq!(shown(&plain), shown(&half));
    assert_eq!(shown(&plain), shown(&whole));
    assert!(!whole.read_on(), "everything was read");
}

#[test]
fn other_windows_follow_what_is_folded() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut first = long(&path, true);
    let second = Workspace::open(&path).expect("a second window");
    let mut looked = CorpusTable::read(&second).expect("a corpus");
    looked.read_texts();
    TableColumn::named("logp.1", &looked).expect("a column").value(&looked, LONG - 1);
    let ids: Vec<i64> = first.systems().expect("systems").iter().map(|system| system.id).collect();
    let new = |n: usize| NewSentence { source: format!("new {n}"), line: n, ..NewSentence::default() };
    let acts: [&dyn Fn(&mut Workspace); 6] = [
        &|first| {
            first.add_outputs(ids[1], &[(1500, said(5, 1))], &mut Measuring::default()).expect("outputs");
        },
        &|first| assert_eq!(first.add_sentences(1, &(0..10).map(new).collect::<Vec<_>>()).expect("sentences"), LONG),
        &|first| first.set_references(0, &[(4100, "a new one".to_owned())]).expect("a reference"),
        &|first| drop(first.add_system("Three", &StoredAbout::default()).expect("a system")),
        &|first| {
            let outputs: Vec<_> = (4000..4300).chain(8900..9010).map(|n| (n, said(6, n))).collect();
            first.add_outputs(ids[0], &outputs, &mut Measuring::default()).expect("outputs");
            first.fold().expect("folded");
            first.add_outputs(ids[0], &outputs[..3], &mut Measuring::default()).expect("outputs");
        },
        &|first| first.remove_system(ids[0]).expect("removed"),
    ];
    for (n, act) in acts.iter().enumerate() {
        act(&mut first);
        if n % 2 == 1 {
            first.fold().expect("folded");
        }
        looked.refresh(&second).expect("read");
        assert_eq!(shown(&looked), shown(&CorpusTable::read(&first).expect("a corpus")), "after act {n}");
    }
}

/// What was forced to say a reference says nothing of another one; the table kept its text until the next start.
#[test]
fn a_new_reference_takes_the_forced_one_out_of_the_table() {
    let folder = Folder::new();
    let mut workspace = Workspace::open(&folder.join("a.ilws")).expect("a workspace");
    let new = NewSentence { source: "a".to_owned(), reference: Some("b".to_owned()), ..NewSentence::default() };
    workspace.add_sentences(1, &[new]).expect("a sentence");
    let about = StoredAbout { ranking: interlinear::corpus::store::read::FORCED.to_owned(), ..StoredAbout::default() };
    let id = workspace.add_system("A", &about).expect("a system").id;
    workspace.add_outputs(id, &[(0, said(0, 0))], &mut Measuring::default()).expect("an output");
    workspace.fold().expect("folded");
    let mut corpus = CorpusTable::read(&workspace).expect("a corpus");
    corpus.read_texts();
    assert!(!corpus.systems[0].numbers[0].get(0).is_nan());
    workspace.set_references(0, &[(0, "c".to_owned())]).expect("a reference");
    corpus.refresh(&workspace).expect("read");
    assert_eq!((corpus.systems[0].texts.get(0), corpus.systems[0].done), (None, 0));
    assert!(corpus.systems[0].numbers[0].get(0).is_nan());
    assert_eq!(shown(&corpus), shown(&CorpusTable::read(&workspace).expect("a corpus")));
}

fn json_lines(sentences: std::ops::Range<usize>) -> String {
    sentences.map(|n| json_line(&words(5 + n % 9, n), &words(4 + n % 11, n + 7), n)).collect()
}

fn words(count: usize, n: usize) -> Vec<String> {
    (0..count).map(|k| format!("w{}", (n * 31 + k * 17) % 900)).chain(["</s>".to_owned()]).collect()
}

fn json_line(source: &[String], target: &[String], n: usize) -> String {
    let alpha: Vec<Vec<f32>> =
        (0..target.len()).map(|i| row(i * source.len() / target.len(), source.len(), n)).collect();
    let log_p: Vec<f32> = (0..target.len()).map(|i| -((n * 37 + i * 101) as f32 % 97.0) / 31.0).collect();
    let (text, sum) = (target[..target.len() - 1].join(" "), log_p.iter().sum::<f32>());
    let said = json!({"tokens": target, "text": text, "log_p": sum, "token_log_p": log_p, "alpha": alpha});
    json!({"source": source, "hypotheses": [said]}).to_string() + "\n"
}

fn row(at: usize, columns: usize, n: usize) -> Vec<f32> {
    let noise = |j: usize| ((n * 7919 + at * 104_729 + j * 1_299_709) % 10_007) as f32 / 10_007.0;
    let e: Vec<f32> = (0..columns).map(|j| (5.0 * noise(j) - 2.0 * (j.abs_diff(at) as f32)).exp()).collect();
    let sum: f32 = e.iter().sum();
    e.iter().map(|e| e / sum).collect()
}

fn import(
    workspace: &mut Workspace, path: &Path, threads: usize, ticket: &CancellationToken, hear: &mut dyn FnMut(f32),
) -> ImportReport {
    let options = import::ImportOptions::default();
    import_file(workspace, (path, &options), threads, ticket, hear).expect("it comes in")
}

fn everything(workspace: &Workspace) -> Vec<String> {
    let mut all = shown(&CorpusTable::read(workspace).expect("a corpus"));
    for system in workspace.systems().expect("systems") {
        for at in 0..workspace.len().expect("a count") {
            all.push(format!("{:?}", workspace.output(system.id, at).expect("an answer")));
        }
    }
    all
}

#[test]
fn an_import_is_the_same_on_any_number_of_threads_and_after_it_was_stopped() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    let text = json_lines(0..1300).replacen("\"w31\"", "31", 1);
    std::fs::write(at("a.jsonl"), format!("{text}\n")).expect("written");
    let mut plain = Workspace::open(&at("1.ilws")).expect("a workspace");
    let brought = import(&mut plain, &at("a.jsonl"), 1, &forever(), &mut |_| {});
    assert_eq!(
        (brought.sentences, brought.outputs, brought.warned, brought.is_stopped),
        (1300, 1299, 2, false),
        "{brought:?}"
    );
    assert!(brought.warnings[0].contains("a.jsonl, line 2: is no line"), "{:?}", brought.warnings);
    let expect = everything(&plain);
    let mut threaded = Workspace::open(&at("3.ilws")).expect("a workspace");
    let again = import(&mut threaded, &at("a.jsonl"), 3, &forever(), &mut |_| {});
    assert_eq!(again, brought);
    assert_eq!(everything(&threaded), expect);

    let (counter, ticket) = counted();
    let mut stopped = Workspace::open(&at("stopped.ilws")).expect("a workspace");
    let half = import(&mut stopped, &at("a.jsonl"), 3, &ticket, &mut |_| counter.cancel());
    assert!(half.is_stopped && half.sentences == 1000 && half.summary().contains("What came stays"), "{half:?}");
    let corpus = CorpusTable::read(&stopped).expect("a corpus");
    assert_eq!((corpus.len(), corpus.systems[0].done), (1000, 999), "every sentence that came has its output");
    let rest = import(&mut stopped, &at("a.jsonl"), 2, &forever(), &mut |_| {});
    assert_eq!((rest.sentences, rest.outputs), (300, 1299));
    assert_eq!(everything(&stopped), expect);
}

#[test]
fn a_killed_import_leaves_whole_sentences() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    std::fs::write(at("a.jsonl"), json_lines(0..2100)).expect("written");
    let mut workspace = Workspace::open(&at("a.ilws")).expect("a workspace");
    let mut moment = 0;
    import(&mut workspace, &at("a.jsonl"), 2, &forever(), &mut |_| {
        for end in ["", "-wal"] {
            std::fs::copy(at(&format!("a.ilws{end}")), at(&format!("{moment}.ilws{end}"))).expect("copied");
        }
        moment += 1;
    });
    assert_eq!(moment, 3);
    let expect = everything(&workspace);
    for moment in 0..moment {
        let mut left = Workspace::open(&at(&format!("{moment}.ilws"))).expect("it opens");
        let before = left.len().expect("a count");
        assert_eq!(before, (1000 * (moment + 1)).min(2100));
        import(&mut left, &at("a.jsonl"), 1, &forever(), &mut |_| {});
        assert_eq!(everything(&left), expect, "killed at {before}");
    }
}

#[test]
fn a_workspace_is_little_larger_than_its_alignments() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    let size = |name: &str| std::fs::metadata(at(name)).expect("a file").len() as f64;
    drop(Workspace::open(&at("empty.ilws")).expect("a workspace"));
    let mut workspace = Workspace::open(&at("a.ilws")).expect("a workspace");
    let mut numbers = 0;
    for (system, name) in ["first.jsonl", "second.jsonl"].into_iter().enumerate() {
        let mut text = String::new();
        for n in 0..400 {
            let (source, target) = (words(9 + n % 20, n), words(9 + (n * 7 + system) % 20, n + 7));
            numbers += source.len() * target.len();
            text += &json_line(&source, &target, n);
        }
        std::fs::write(at(name), &text).expect("written");
        import(&mut workspace, &at(name), 1, &forever(), &mut |_| {});
    }
    drop(workspace);
    // What every workspace begins with weighs nothing in a long one.
    let ratio = (size("a.ilws") - size("empty.ilws")) / (2.0 * numbers as f64);
    assert!(ratio < 1.5, "{ratio:.2}");
}

/// The table that *Save* writes comes back as what it was; tags, notes and empty columns of numbers became systems.
#[test]
fn a_saved_table_comes_back_as_what_it_was() {
    let folder = Folder::new();
    let mut workspace = Workspace::open(&folder.join("a.ilws")).expect("a workspace");
    let sentence = |n: usize| NewSentence { source: format!("word{n} word"), line: n + 1, ..NewSentence::default() };
    workspace.add_sentences(1, &(0..30).map(sentence).collect::<Vec<_>>()).expect("sentences");
    for (number, name) in ["One", "Two words"].iter().enumerate() {
        let id = workspace.add_system(name, &StoredAbout::default()).expect("a system").id;
        let said = |n: usize| {
            let said = said(number, n);
            let target = said.text.split(' ').map(str::to_owned).collect();
            (n, SystemOutput { target, ..said })
        };
        let outputs: Vec<_> = (number..30).map(said).collect();
        workspace.add_outputs(id, &outputs, &mut Measuring::default()).expect("outputs");
    }
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
    let anna =
        Judgement { stars: 4, tags: tags(&["idiom", "two words"]), note: "odd".to_owned(), ..Judgement::default() };
    workspace.judge(3, "anna", &anna).expect("judged");
    workspace.judge(3, "ben", &Judgement { note: "rare".to_owned(), ..Judgement::default() }).expect("judged");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let path = folder.join("saved.tsv");
    write(&out(&path, ExportFormat::Tsv, 0..30), &corpus, &workspace).expect("saved");

    let mut back = Workspace::open(&folder.join("b.ilws")).expect("a workspace");
    let brought = import(&mut back, &path, 1, &forever(), &mut |_| {});
    assert_eq!((brought.sentences, brought.outputs, brought.warned), (30, 59, 0), "{brought:?}");
    let came = CorpusTable::read(&back).expect("a corpus");
    assert_eq!(shown(&came), shown(&corpus));
    let expect = Judgement { note: "odd / rare".to_owned(), ..anna };
    assert_eq!(*came.judgements[&3], [("saved".to_owned(), expect)].into());
    assert_eq!(came.judgements.len(), 1);

    // Where it came from it says nothing new.
    import(&mut workspace, &path, 1, &forever(), &mut |_| {});
    let again = CorpusTable::read(&workspace).expect("a corpus");
    assert_eq!((shown(&again), &again.judgements), (shown(&corpus), &corpus.judgements));
}

/// Numbers of a damaged file that could be taken for lengths; they filled the memory.
#[test]
fn odd_numbers_in_a_damaged_file_do_no_harm() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let sentence = NewSentence { source: "a".to_owned(), ..NewSentence::default() };
    workspace.add_sentences(1, &[sentence]).expect("a sentence");
    let mut corpus = CorpusTable::read(&workspace).expect("a corpus");
    let other = Connection::open(&path).expect("a database");
    other
        .execute_batch(
            "INSERT INTO sentence VALUES (9000000000000, 1, 1, NULL, 'far', NULL);
             INSERT INTO numbers(system, measures, first, packed) VALUES (0, 1, 8000000000000000000, x'0000803f0000803f');
             INSERT INTO numbers(system, measures, first, packed, count) VALUES (0, 1, 5, x'', 8000000000000000000);
             INSERT INTO numbers(system, measures, first, packed) VALUES (0, 1, -7, x'0000803f'), (77, 1, 0, x'0000803f');",
        )
        .expect("odd rows");
    corpus.refresh(&workspace).expect("read");
    workspace.fold().expect("folded");
    let anew = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("a corpus");
    for corpus in [corpus, anew] {
        assert!(corpus.len() < 1_000_000, "{}", corpus.len());
        assert_eq!(corpus.sources.get(0), Some("a"));
        assert_eq!(corpus.numbers[0].get(0), 1.0);
    }
}
