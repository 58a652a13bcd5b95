//! The workbench from outside: files come in from the command line and through the lane, systems run, tables, hits and
//! reports go out, judgements are kept.

use std::time::{Duration, Instant};
use std::{path::Path, sync::Arc};

use interlinear::app::command::WindowCommand;
use interlinear::app::tasks::{Effect, QueueCall};
use interlinear::corpus::{export::out::ExportFormat, import::importer::ImportReport, judgements::judge::Judgement};
use interlinear::corpus::{query::column::TableColumn, store::corpus::CorpusTable, store::file::Workspace};
use interlinear::jobs::corpus::thread::{CorpusNews, CorpusRequest, CorpusThread};
use interlinear::jobs::queue::{JobProgress, QueueEvent, QueueNews as Done, QueueOrder};
use interlinear::{decoding::SystemSpec, import, import::Role, pages::corpus::CORPUS};
use interlinear::{pages::corpus::command::CorpusCommand, session::state::Session, text::links::read::links_of};
use serde_json::Value;

use crate::cli::{json_lines, json_of, ran, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};

const PATIENCE: Duration = Duration::from_mins(1);

const SOURCE: &str = "s2 s3 s4\ns5 s6\n\ns7 s8 s9 s10\n";
const REFERENCE: &str = "t2 t3\nt5\n\nt7 t8 t9\n";
const OTHER: &str = "t2 t3\nt6 t6 t6\n\nt7\n";

fn files() -> Folder {
    Folder::with([("a.en", SOURCE), ("a.fr", REFERENCE), ("b.fr", OTHER), ("a.gold", "0-0 2?1\n0-0\n\n0-0 1-1\n")])
}

fn table(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    lines.map(|line| head.iter().cloned().zip(line).collect()).collect()
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    row.iter().find(|(head, _)| head == name).map_or("(none)", |(_, cell)| cell)
}

#[test]
fn a_workspace_is_filled_run_sorted_and_reported_from_the_command_line() {
    let at = &files();
    let model = &*reference_word("rnnsearch");
    let first = run_in(
        at,
        &[
            "analyse", "--workspace", "w.ilws", "--source", "a.en", "--reference", "a.fr", "--output", "Other=b.fr",
            "--gold", "a.gold", "--model", model, "--beam", "2",
        ],
    )
    .good()
    .stdout;
    let rows = table(&first);
    assert_eq!(rows.len(), 4);
    assert_eq!(
        (cell(&rows[0], "source"), cell(&rows[0], "reference"), cell(&rows[0], "Other")),
        ("s2 s3 s4", "t2 t3", "t2 t3")
    );
    assert_eq!((cell(&rows[1], "length.1"), cell(&rows[1], "repetition.1")), ("3", "0.5"));
    assert!(cell(&rows[0], "bleu.1").starts_with("100"), "{:?}", rows[0]);
    let system = rows[0].iter().map(|(head, _)| head.as_str()).nth(4).expect("a second system").to_owned();
    assert!(cell(&rows[0], "logp.2").parse::<f32>().is_ok_and(|log_p| log_p < 0.0), "{:?}", rows[0]);

    // What was translated is not translated again, and is what translate says.
    let again = run_in(at, &["analyse", "--workspace", "w.ilws", "--model", model, "--beam", "2"]).good().stdout;
    assert_eq!(again, first);
    let lines = run_in(at, &["translate", "--model", model, "--beam", "2", "--format", "jsonl", "a.en"]).good().stdout;
    let best = json_lines(&lines);
    for (row, said) in rows.iter().zip(&best) {
        assert_eq!(cell(row, &system), said["hypotheses"][0]["text"].as_str().unwrap_or_default());
    }

    // The same lines come in as a system of their own, with their alignments.
    at.put("run.jsonl", &lines);
    ran(at, "analyse --workspace w.ilws --import run.jsonl --format none");
    let objects = ran(at, "analyse --workspace w.ilws --format jsonl").stdout;
    let objects = json_lines(&objects);
    assert_eq!(objects.len(), 4, "the lines joined the sentences that are there");
    assert!(objects.iter().filter(|object| object["systems"]["run"]["text"] != "").count() >= 1);
    for (object, said) in objects.iter().zip(&best) {
        let (own, come) = (&object["systems"][system.as_str()], &object["systems"]["run"]);
        if own["text"] == "" {
            continue;
        }
        assert_eq!((&own["text"], &own["links"]), (&come["text"], &come["links"]), "{said}");
        let alpha = |of: &Value| of["alpha"][0][0].as_f64().expect("a number");
        assert!(
            (alpha(own) - alpha(come)).abs() < 1e-3
                && (alpha(own) - said["hypotheses"][0]["alpha"][0][0].as_f64().expect("a number")).abs() < 1e-3
        );
    }

    let shortest = ran(at, "analyse --workspace w.ilws --filter words>0 --sort words --limit 1");
    assert_eq!(cell(&table(&shortest.stdout)[0], "number"), "2");
    run_in(at, &["analyse", "--workspace", "w.ilws", "--model", model, "--force", "--format", "none"]).good();
    let forced = table(&ran(at, "analyse --workspace w.ilws").stdout);
    assert_eq!(cell(&forced[0], &format!("{system}, references").replace(", beam 2", "")), "t2 t3");
    let corpus = CorpusTable::read(&Workspace::open(&at.join("w.ilws")).expect("opened")).expect("read");
    assert_eq!(corpus.languages(), Some(("en".to_owned(), "fr".to_owned())), "those of the model");
    assert!(cell(&forced[0], "aer.4").parse::<f32>().is_ok_and(|aer| (0.0..=1.0).contains(&aer)), "{:?}", forced[0]);

    ran(at, "report --workspace w.ilws --output w.html --filter -words=0");
    let report = at.text("w.html");
    for part in ["3 of 4 sentences", "s7 s8 s9 s10", "<svg", "paired bootstrap", "beam 2"] {
        assert!(report.contains(part), "{part} is missing");
    }
    roxmltree::Document::parse(&report.replace("<!DOCTYPE html>", "").replace("<meta charset=\"utf-8\">", ""))
        .expect("whole");
}

#[test]
fn a_query_finds_words_by_their_links() {
    let at = &Folder::new();
    let lines = [
        ("the red house", "la maison rouge", "0-0 1-2 2-1"),
        ("a red dog runs", "un chien rouge court", "0-0 1-2 2-1 3-3"),
        ("red", "rouge", "0-0"),
    ];
    let mut text = "source\tMine\tMine links\n".to_owned();
    for (source, output, links) in lines {
        text += &format!("{source}\t{output}\t{links}\n");
    }
    at.put("a.tsv", text);
    ran(at, "analyse --workspace w.ilws --import a.tsv --format none");
    let hits = table(
        &run_in(at, &["analyse", "--workspace", "w.ilws", "--query", "red -> rouge _ -> _ crossing"]).good().stdout,
    );
    let hits: Vec<(&str, &str)> = hits.iter().map(|row| (cell(row, "sentence"), cell(row, "hit"))).collect();
    assert_eq!(hits, [("1", "red house"), ("2", "red dog")]);
    run_line(at, "analyse --workspace w.ilws --query {red").refused("--query, column");
}

/// Tokens with spaces between are the same sentence as the text that they were cut from, wherever it stands.
#[test]
fn translations_of_parts_join_the_sentences_that_they_are_of() {
    let at = &Folder::new();
    at.put("a.en", "It\u{2019}s late.\nThe cat sleeps.\nWe don't know, he says.\n");
    ran(at, "analyse --workspace w.ilws --source a.en --format none");
    for (name, lines) in [("one", &["It 's late ."][..]), ("two", &["The cat sleeps .", "We don 't know , he says ."])]
    {
        let line = |source: &&str| {
            let source: Vec<&str> = source.split(' ').chain(["</s>"]).collect();
            let alpha = vec![vec![1.0 / source.len() as f32; source.len()]; 2];
            let best = serde_json::json!({"tokens": ["oui", "</s>"], "text": name, "log_p": -1.0,
                "token_log_p": [-0.5, -0.5], "alpha": alpha, "finished": true});
            serde_json::json!({"source": source, "hypotheses": [best]}).to_string() + "\n"
        };
        at.put(name, lines.iter().map(line).collect::<String>());
        run_in(at, &["analyse", "--workspace", "w.ilws", "--output", &format!("Parts={name}"), "--format", "none"])
            .good();
    }
    let rows = table(&ran(at, "analyse --workspace w.ilws").stdout);
    let said: Vec<&str> = rows.iter().map(|row| cell(row, "Parts")).collect();
    assert_eq!(said, ["one", "two", "two"]);
}

#[test]
fn what_cannot_be_done_is_a_sentence() {
    let at = &files();
    ran(at, "analyse --workspace w.ilws --source a.en --format none");
    for (arguments, says) in [
        (&["analyse", "--workspace", "a.en"][..], "is not a corpus"),
        (&["analyse", "--workspace", "w.ilws", "--filter", "blue<3"], "there is no column `blue`"),
        (&["analyse", "--workspace", "w.ilws", "--sort", "bleu.1"], "there are 0"),
        (&["analyse", "--workspace", "w.ilws", "--source", "none.en"], "none.en"),
        (&["analyse", "--workspace", "w.ilws", "--query", "red"], "--system 1 is not there"),
        (&["report", "--workspace", "none.ilws", "--output", "x.html"], "does not exist"),
    ] {
        run_in(at, arguments).refused(says);
    }
    assert!(!at.join("none.ilws").exists() && !at.join("x.html").exists());
}

fn wait<T>(thread: &CorpusThread, pick: impl Fn(CorpusNews) -> Option<T>) -> T {
    loop {
        let news = thread.news.next_within(PATIENCE).expect("the lane answers");
        if let CorpusNews::Failed(why) = &news {
            panic!("{why}");
        }
        if let Some(found) = pick(news) {
            return found;
        }
    }
}

fn opened(path: &Path) -> CorpusThread {
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    thread.send(CorpusRequest::Open(path.to_owned()));
    wait(&thread, rows);
    thread
}

fn import_all(thread: &CorpusThread, folder: &Path) {
    for (name, role) in [("a.en", Role::Source), ("a.fr", Role::Reference), ("b.fr", Role::Output("Other".to_owned()))]
    {
        let options = import::ImportOptions { role: Some(role), ..import::ImportOptions::default() };
        thread.send(CorpusRequest::Import(folder.join(name), options));
    }
}

fn stars(stars: u8) -> Judgement {
    Judgement { stars, ..Judgement::default() }
}

fn rows(news: CorpusNews) -> Option<Vec<u32>> {
    match news {
        CorpusNews::Rows(rows) => Some(rows.expect("rows").to_vec()),
        _ => None,
    }
}

#[test]
fn the_lane_opens_imports_shows_judges_and_takes_back() {
    let folder = files();
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    thread.send(CorpusRequest::Detail(0));
    assert!(
        matches!(thread.news.next_within(PATIENCE), Some(CorpusNews::Failed(why)) if why.contains("No corpus is open"))
    );
    thread.send(CorpusRequest::Open(folder.join("w.ilws")));
    assert_eq!(wait(&thread, rows), Vec::<u32>::new());
    import_all(&thread, &folder);
    let mut told = Vec::new();
    while told.len() < 3 {
        told.push(wait(&thread, |news| match news {
            CorpusNews::Imported(_, report) => Some(report.summary()),
            _ => None,
        }));
    }
    assert!(
        told[0].contains("4 new sentences") && told[1].contains("references") && told[2].contains("outputs"),
        "{told:?}"
    );
    thread.send(CorpusRequest::Show { filter: "words>1".to_owned(), sorting: "-words".to_owned() });
    assert_eq!(wait(&thread, rows), [3, 0, 1]);
    thread.send(CorpusRequest::Judge(1, "anna".to_owned(), stars(3)));
    let given = |news| match news {
        CorpusNews::Judged(change) => {
            let at = change.first()?;
            Some((at, change.judged[&at].get("anna").map_or(0, |judgement| judgement.stars)))
        }
        _ => None,
    };
    assert_eq!(wait(&thread, given), (1, 3));
    thread.send(CorpusRequest::SetGold(0, "me".to_owned(), links_of("0-0")));
    let gold = |news| match news {
        CorpusNews::Judged(change) => Some(change.golds[&0].is_some()),
        _ => None,
    };
    assert!(wait(&thread, gold));
    thread.send(CorpusRequest::Undo);
    assert!(!wait(&thread, gold));
    thread.send(CorpusRequest::Undo);
    assert_eq!(wait(&thread, given), (1, 0));
    thread.send(CorpusRequest::Redo);
    assert_eq!(wait(&thread, given), (1, 3));
    // What is on the disk outlives the lane.
    drop(thread);
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    thread.send(CorpusRequest::Open(folder.join("w.ilws")));
    let given = |news| match news {
        CorpusNews::Corpus(_, corpus) => Some(corpus.judgements[&1]["anna"].stars),
        _ => None,
    };
    assert_eq!(wait(&thread, given), 3);
}

fn news_of(thread: &CorpusThread, request: CorpusRequest) -> Vec<CorpusNews> {
    thread.send(request);
    thread.send(CorpusRequest::See(Vec::new(), Vec::new()));
    let mut all = Vec::new();
    loop {
        match thread.news.next_within(PATIENCE).expect("the thread answers") {
            CorpusNews::Seen => return all,
            news => all.push(news),
        }
    }
}

#[test]
fn a_star_tells_what_it_changes_and_nothing_else() {
    let folder = files();
    let thread = opened(&folder.join("w.ilws"));
    thread.send(CorpusRequest::Import(folder.join("a.en"), import::ImportOptions::default()));
    while wait(&thread, rows).is_empty() {}
    let show =
        |filter: &str, sorting: &str| CorpusRequest::Show { filter: filter.to_owned(), sorting: sorting.to_owned() };
    for (filter, sorting, follows) in
        [("words>0", "-words", false), ("stars>2", "", true), ("words>0", "-stars", true), ("tag:none", "", true)]
    {
        news_of(&thread, show(filter, sorting));
        for count in [3, 0] {
            let news = news_of(&thread, CorpusRequest::Judge(1, "anna".to_owned(), stars(count)));
            let [CorpusNews::Judged(change), rest @ ..] = &news[..] else { panic!("{filter}: {news:?}") };
            assert_eq!(change.judged.keys().collect::<Vec<_>>(), [&1]);
            assert!(change.golds.is_empty() && change.scheme.is_none());
            let are_rows = matches!(rest, [CorpusNews::Rows(Ok(_))]);
            assert!(if follows { are_rows } else { rest.is_empty() }, "{filter} {sorting}: {rest:?}");
        }
    }
}

#[test]
fn what_is_judged_changes_each_copy_as_reading_anew_would() {
    let folder = files();
    let path = folder.join("w.ilws");
    let thread = opened(&path);
    import_all(&thread, &folder);
    let corpus = |news| match news {
        CorpusNews::Corpus(_, corpus) => Some(corpus),
        _ => None,
    };
    let mut copy = wait(&thread, corpus);
    while copy.systems.first().is_none_or(|column| column.done < 3) {
        copy = wait(&thread, corpus);
    }
    let copy = Arc::make_mut(&mut copy);
    let anna = || "anna".to_owned();
    let tagged = Judgement { tags: ["odd".to_owned()].into(), ..Judgement::default() };
    for request in [
        CorpusRequest::Judge(1, anna(), Judgement { stars: 3, ..tagged.clone() }),
        CorpusRequest::SetGold(0, anna(), links_of("0-0")),
        CorpusRequest::Judge(1, anna(), tagged),
        CorpusRequest::Undo,
        CorpusRequest::Undo,
        CorpusRequest::Undo,
        CorpusRequest::Redo,
    ] {
        for news in news_of(&thread, request.clone()) {
            if let CorpusNews::Judged(change) = news {
                copy.apply(&change);
            }
        }
        let anew = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("read");
        assert_eq!((&copy.judgements, &copy.golds), (&anew.judgements, &anew.golds), "{request:?}");
        assert_eq!((&copy.counts, &copy.scheme), (&anew.counts, &anew.scheme), "{request:?}");
    }
}

#[test]
fn the_copy_of_the_window_reads_no_file() {
    let folder = files();
    ran(&folder, "analyse --workspace w.ilws --source a.en --format none");
    let corpus = CorpusTable::read(&Workspace::open(&folder.join("w.ilws")).expect("it opens")).expect("read");
    let words = TableColumn::named("words", &corpus).expect("a column");
    let window = corpus.without_file();
    let seen = |window: &CorpusTable| (window.sources.get(0).map(str::to_owned), words.value(window, 0).is_nan());
    assert_eq!(seen(&window), (None, true));
    assert!(!window.has_rows(&[0], &[]) && !window.has_rows(&[0], &[words]));
    corpus.read_rows(&[0], &[]);
    assert!(window.has_rows(&[0], &[]) && !window.has_rows(&[0], &[words]));
    corpus.read_rows(&[0], &[words]);
    assert!(window.has_rows(&[0], &[words]));
    assert_eq!(seen(&window), (Some("s2 s3 s4".to_owned()), false));
}

#[test]
fn the_lane_sees_what_others_write() {
    let folder = files();
    let thread = opened(&folder.join("w.ilws"));
    ran(&folder, "analyse --workspace w.ilws --source a.en --output Other=b.fr --format none");
    let seen = |news| match news {
        CorpusNews::Corpus(_, corpus) => Some((corpus.len(), corpus.systems.first().map_or(0, |column| column.done))),
        _ => None,
    };
    while wait(&thread, seen) != (4, 4) {}
}

/// A relative path was kept as it was typed; the next start, in another folder, opened another file.
#[test]
fn a_workspace_is_kept_by_its_whole_path() {
    let mut session = Session::default();
    session.apply(CorpusRequest::Open("somewhere/w.ilws".into()));
    let here = std::env::current_dir().expect("a folder");
    let opens = |effect: &Effect| matches!(effect, Effect::Corpus(CorpusRequest::Open(path)) if *path == here.join("somewhere/w.ilws"));
    assert!(session.take_effects().iter().any(opens));
    let saved = |session: &Session| serde_json::to_value(session.saved()).expect("JSON").to_string();
    assert!(!saved(&session).contains("w.ilws"), "one that cannot be opened takes no other's place");
    let whole = here.join("somewhere/w.ilws");
    session.absorb_corpus(CorpusNews::Corpus(whole.clone(), Arc::default()));
    let saved = saved(&session);
    assert!(saved.contains(whole.to_str().expect("a plain path")), "{saved}");
}

#[test]
fn the_page_asks_for_what_is_done_on_it() {
    let mut session = Session::default();
    let calls = |session: &mut Session| -> Vec<CorpusRequest> {
        let call = |effect| if let Effect::Corpus(call) = effect { Some(call) } else { None };
        session.take_effects().into_iter().filter_map(call).collect()
    };
    session.apply(WindowCommand::ShowPage(CORPUS));
    let folder = files();
    session.apply(CorpusRequest::Open(folder.join("w.ilws")));
    assert!(calls(&mut session).contains(&CorpusRequest::Open(folder.join("w.ilws"))));
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    thread.send(CorpusRequest::Open(folder.join("w.ilws")));
    let options = import::ImportOptions::default();
    thread.send(CorpusRequest::Import(folder.join("a.en"), options));
    while session.corpus().rows.len() < 4 {
        session.absorb_corpus(thread.news.next_within(PATIENCE).expect("the lane answers"));
    }
    for (column, expect) in [("words", ["-words", "words", ""]), ("source", ["source", "-source", ""])] {
        for sorting in expect {
            calls(&mut session);
            session.apply(CorpusCommand::Sort(column.to_owned()));
            let shows = |call| matches!(call, CorpusRequest::Show { sorting: by, .. } if by == sorting);
            assert!(calls(&mut session).into_iter().any(shows), "{sorting}");
        }
    }
    let progress = JobProgress::of_share("Importing a.en", 0.5);
    session.absorb_corpus(CorpusNews::Busy { progress, is_import: true });
    assert!(session.corpus().busy.as_ref().is_some_and(|busy| busy.imports));
    session.apply(CorpusRequest::Stop);
    assert_eq!(calls(&mut session), [CorpusRequest::Stop]);
    session.absorb_corpus(CorpusNews::Idle);
    assert!(session.corpus().busy.is_none());
    session.apply(CorpusCommand::Move(1));
    session.apply(CorpusCommand::Move(2));
    assert_eq!(calls(&mut session), [CorpusRequest::Detail(0), CorpusRequest::Detail(2)]);
    thread.send(CorpusRequest::Detail(2));
    while session.corpus().detail.is_none() {
        session.absorb_corpus(thread.news.next_within(PATIENCE).expect("the lane answers"));
    }
    // After an import the sentence on screen is read again.
    calls(&mut session);
    session.apply(CorpusCommand::Star(4));
    assert_eq!(calls(&mut session), [CorpusRequest::Judge(2, "me".to_owned(), stars(4))]);
    // What comes before the answer builds on what was given.
    session.apply(CorpusCommand::Tag("odd".to_owned()));
    let judgement = Judgement { tags: ["odd".to_owned()].into(), ..stars(4) };
    assert_eq!(calls(&mut session), [CorpusRequest::Judge(2, "me".to_owned(), judgement)]);
    session.apply(CorpusCommand::Link(0, 0));
    session.apply(CorpusCommand::Link(1, 0));
    let drawn = [
        CorpusRequest::SetGold(2, "me".to_owned(), links_of("0-0")),
        CorpusRequest::SetGold(2, "me".to_owned(), links_of("0-0 1-0")),
    ];
    assert_eq!(calls(&mut session), drawn);
    // Of another sentence nothing is taken for that of this one.
    session.apply(CorpusCommand::Select(Some(1)));
    session.apply(CorpusCommand::Star(2));
    assert_eq!(calls(&mut session), [CorpusRequest::Detail(1), CorpusRequest::Judge(1, "me".to_owned(), stars(2))]);

    // A run is an order; what becomes of it is told.
    session.apply(interlinear::pages::sentence::command::ColumnCommand::Add("some/model".into()));
    session.take_effects();
    session.apply(CorpusCommand::Run(false));
    // Or one that is not open.
    let (open, other) = (SystemSpec::from("some/model"), SystemSpec::from("another/model"));
    session.apply(CorpusCommand::RunOne(other.clone(), true));
    let order = |effect| match effect {
        Effect::Job(QueueCall::Submit(_, QueueOrder::Analyse(order))) => Some((order.system, order.forces)),
        _ => None,
    };
    let orders: Vec<(SystemSpec, bool)> = session.take_effects().into_iter().filter_map(order).collect();
    assert_eq!(orders, [(open, false), (other, true)]);
    let number = session.corpus().tasks[0];
    let second = session.corpus().tasks[1];
    session.absorb_job(QueueEvent { number: second, kind: Done::Failed("Gone".to_owned()) });
    session.absorb_job(QueueEvent { number, kind: Done::Failed("No such folder".to_owned()) });
    assert_eq!((session.corpus().message.as_deref(), session.corpus().tasks.len()), (Some("No such folder"), 0));
}

/// All that was said lay in the log beside an open corpus: whoever copied the file had an empty one.
#[test]
fn a_copy_of_an_open_corpus_has_what_was_said() {
    let folder = files();
    let (path, copy) = (folder.join("w.ilws"), folder.join("copy.ilws"));
    let thread = opened(&path);
    thread.send(CorpusRequest::Import(folder.join("a.en"), import::ImportOptions::default()));
    while wait(&thread, rows).is_empty() {}
    news_of(&thread, CorpusRequest::Judge(1, "anna".to_owned(), stars(3)));
    let copied = || {
        std::fs::copy(&path, &copy).expect("copied");
        let judgements = Workspace::open_to_look(&copy).ok()?.judgements().ok()?;
        Some(judgements.get(&1)?.get("anna")?.stars)
    };
    let end = Instant::now() + PATIENCE;
    while copied() != Some(3) {
        assert!(Instant::now() < end, "the copy has no star");
        let _ = thread.news.next_within(Duration::from_millis(100));
    }
}

/// A name that was typed wrongly left an empty file.
#[test]
fn a_corpus_that_is_not_there_is_made_only_where_something_comes_in() {
    let folder = files();
    for arguments in [&["--overview", "length"][..], &[], &["--query", "boat"]] {
        let asked = [&["analyse", "--workspace", "tpyo.ilws"], arguments].concat();
        run_in(&folder, &asked).refused("tpyo.ilws: is not there");
        assert!(!folder.join("tpyo.ilws").exists(), "{asked:?}");
    }
    ran(&folder, "analyse --workspace new.ilws --source a.en --format none");
    assert!(folder.join("new.ilws").exists());
}

#[test]
fn what_people_said_is_in_the_table_that_the_window_saves() {
    let mut session = Session::default();
    for (kind, has) in [(ExportFormat::Tsv, true), (ExportFormat::Report, false)] {
        session.take_effects();
        session.apply(CorpusCommand::Save(kind, "t".into()));
        let effects = session.take_effects();
        let write = |effect: &Effect| {
            if let Effect::Corpus(CorpusRequest::Write(out)) = effect { Some(out.clone()) } else { None }
        };
        let out = effects.iter().find_map(write).expect("it is written");
        for column in [TableColumn::Stars, TableColumn::Marks] {
            assert_eq!(out.columns.contains(&column), has, "{kind:?}");
        }
    }
}

#[test]
fn a_column_of_numbers_falls_at_first_and_the_numbers_of_sentences_rise() {
    let mut session = Session::default();
    for (column, orders) in [
        ("words", ["-words", "words", ""]),
        ("source", ["source", "-source", ""]),
        ("number", ["number", "-number", ""]),
    ] {
        for order in orders {
            session.apply(CorpusCommand::Sort(column.to_owned()));
            assert_eq!(session.corpus().sorting, order);
        }
    }
}

#[test]
fn systems_in_json_lines_say_their_number() {
    let folder = files();
    let asked = ["analyse", "--workspace", "w.ilws", "--source", "a.en", "--output", "Z=b.fr", "--output", "A=a.fr"];
    let printed = run_in(&folder, &[&asked[..], &["--format", "jsonl", "--limit", "1"]].concat()).good().stdout;
    let object = json_of(&printed);
    assert_eq!((&object["systems"]["Z"]["number"], &object["systems"]["A"]["number"]), (&1.into(), &2.into()));
}

/// An empty file imported nothing and said so, as if its lines had been there already.
#[test]
fn an_empty_file_is_called_empty() {
    let folder = Folder::new();
    folder.put("a.en", "");
    let outcome = run_line(&folder, "analyse --workspace w.ilws --source a.en");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("a.en: is empty; choose a file"), "{}", outcome.stderr);
}

#[test]
fn what_a_text_is_stays_as_it_was_chosen() {
    let mut session = Session::default();
    let output = |name: &str| Role::Output(name.to_owned());
    let cases = [
        (Role::Source, (3, 0, 0), Role::Reference),
        (Role::Reference, (0, 3, 0), Role::Reference),
        (Role::Reference, (0, 0, 3), Role::Reference),
        (output("A"), (0, 0, 3), output("")),
        (output("A"), (0, 3, 0), output("A")),
    ];
    for (chosen, (sentences, references, outputs), after) in cases {
        session.apply(CorpusCommand::SetRole(chosen.clone()));
        let report = ImportReport { sentences, references, outputs, ..ImportReport::default() };
        session.absorb_corpus(CorpusNews::Imported("a".into(), Box::new(report)));
        assert_eq!(session.corpus().incoming.role, after, "{chosen:?}");
    }
}
