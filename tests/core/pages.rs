//! The pages of the window without a window: what is ordered, what comes back, what is kept.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlinear::app::command::{TaskCommand, WindowCommand};
use interlinear::app::effect::{FileEvent, FileJob, QueueCall};
use interlinear::app::files::lists::List;
use interlinear::app::page::Dropped;
use interlinear::corpus::overview::evaluated::EvaluationRecord;
use interlinear::corpus::overview::test_set::{TestSet, Unk};
use interlinear::corpus::query::column::TableColumn;
use interlinear::corpus::store::corpus::CorpusTable;
use interlinear::corpus::store::file::Workspace;
use interlinear::decoding::SystemSpec;
use interlinear::decoding::ensemble::Mixing;
use interlinear::evaluation::first_set;
use interlinear::figure::Figure;
use interlinear::figure::geometry::{point, size};
use interlinear::figure::mark::{Across, Down, Mark, TextMark};
use interlinear::figure::palette::Rgba;
use interlinear::figure::provenance::Provenance;
use interlinear::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use interlinear::jobs::files::follow::{Follower, Watch};
use interlinear::jobs::queue::evaluate::Evaluate;
use interlinear::jobs::queue::{Found, JobProgress, QueueEvent, QueueNews, QueueOrder};
use interlinear::models::choice::ModelSpec;
use interlinear::pages::command::Command;
use interlinear::pages::corpus::CORPUS;
use interlinear::pages::evaluation::EVALUATION;
use interlinear::pages::evaluation::command::{EvaluationCommand, TestCommand};
use interlinear::pages::evaluation::{FiguresFormat, LogState};
use interlinear::pages::sentence::command::{ColumnCommand, ListCommand, SearchCommand};
use interlinear::session::driver::{Driver, OpenWith};
use interlinear::session::persist::SavedSession;
use interlinear::session::state::Session;
use interlinear::text::links::{Link, read};
use interlinear::training::curves;
use interlinear::training::curves::Curves;

use crate::effects::{chores, followed, lane_calls, opened};
use crate::measured;

const PATIENCE: Duration = Duration::from_secs(30);

fn apply(session: &mut Session, command: impl Into<Command>) {
    let newest = session.app().tasks.newest();
    session.apply(command);
    assert_eq!(session.app().tasks.newest(), newest, "only opening a sentence translates");
}

fn session(models: &[&str]) -> Session {
    let models = models.iter().map(|model| ModelSpec::from(*model)).collect();
    Session::start(None, &OpenWith { models, ..OpenWith::default() })
}

/// A session whose test set is chosen.
fn ready(models: &[&str]) -> Session {
    let mut session = session(models);
    apply(&mut session, TestCommand::SetSource(Some(PathBuf::from("test.en"))));
    apply(&mut session, TestCommand::AddReference(PathBuf::from("test.fr")));
    session
}

/// Starts a run; its number and order.
fn run(session: &mut Session) -> (u64, Evaluate) {
    apply(session, EvaluationCommand::Run);
    match lane_calls(session).as_slice() {
        [QueueCall::Submit(number, QueueOrder::Evaluate(order))] => (*number, order.clone()),
        other => panic!("{other:?}"),
    }
}

fn found(session: &mut Session, number: u64, kind: QueueNews) -> bool {
    session.absorb_corpus(QueueEvent { number, kind })
}

#[test]
fn what_is_missing_for_a_run_is_said() {
    let mut session = session(&["m0"]);
    for (command, missing) in [
        (None, "Choose a file of source sentences"),
        (Some(TestCommand::SetSource(Some(PathBuf::from("a")))), "Choose a file of their translations"),
    ] {
        if let Some(command) = command {
            apply(&mut session, command);
        }
        apply(&mut session, EvaluationCommand::Run);
        assert_eq!(session.evaluation().message.as_deref(), Some(missing));
        assert!(lane_calls(&mut session).is_empty());
    }
    let column = session.app().document.columns()[0].id;
    session.apply(ColumnCommand::Remove(column));
    apply(&mut session, TestCommand::AddReference(PathBuf::from("b")));
    apply(&mut session, EvaluationCommand::Run);
    assert_eq!(session.evaluation().message.as_deref(), Some("Add a model"));
    apply(&mut session, EvaluationCommand::DismissMessage);
    assert_eq!(session.evaluation().message, None);
}

#[test]
fn a_run_measures_each_model_once_with_the_search_of_the_window() {
    let mut session = ready(&["m0", "m1", "m0"]);
    session.apply(SearchCommand::SetBeam(7));
    let (number, order) = run(&mut session);
    assert_eq!(order.systems, [PathBuf::from("m0").into(), PathBuf::from("m1").into()]);
    assert_eq!((order.search.beam, order.search.trace, order.search.candidates), (7, false, 0));
    assert_eq!(order.unk, [Unk::Allowed]);
    apply(&mut session, EvaluationCommand::Run);
    assert!(lane_calls(&mut session).is_empty(), "one run at a time");
    session.apply(TaskCommand::Cancel(number));
    assert_eq!(lane_calls(&mut session), [QueueCall::Cancel(number)]);
    apply(&mut session, EvaluationCommand::SetAlsoWithoutUnk(true));
    let (number, order) = run(&mut session);
    assert_eq!(order.unk, [Unk::Allowed, Unk::Forbidden]);
    session.apply(TaskCommand::Cancel(number));
    lane_calls(&mut session);
    session.apply(SearchCommand::SetForbidUnk(true));
    assert_eq!(run(&mut session).1.unk, [Unk::Forbidden]);
}

#[test]
fn an_ensemble_of_the_window_is_measured_as_a_system_of_its_own() {
    let mut session = ready(&["m0"]);
    let members = vec!["m0".into(), "m1".into()];
    let spec = SystemSpec { members, mixing: Mixing::default() };
    session.apply(ColumnCommand::Add(spec.clone()));
    let order = run(&mut session).1;
    assert_eq!(order.systems, ["m0".into(), spec]);
}

#[test]
fn progress_pause_and_failure_are_the_pages_own_and_results_stay_until_replaced() {
    let mut session = ready(&["m0"]);
    let (number, _) = run(&mut session);
    let progress = JobProgress { done: 3, total: 10, what: "Translating".to_owned(), words_per_second: 5.0 };
    assert!(found(&mut session, number, QueueNews::Progress(progress.clone())));
    assert_eq!(session.app().tasks.task(number).and_then(|task| task.progress.clone()), Some(progress));
    session.apply(TaskCommand::Pause(number, true));
    assert_eq!(lane_calls(&mut session), [QueueCall::Pause(number, true)]);
    assert!(session.app().tasks.task(number).is_some_and(|task| task.is_paused));
    let results = measured::two_models();
    assert!(found(&mut session, number, QueueNews::Found(Found::Evaluated(results.clone()))));
    assert_eq!((session.evaluation().task, session.app().tasks.list().len()), (None, 0));
    assert_eq!(session.evaluation().results.as_deref(), Some(&results));

    let (second, _) = run(&mut session);
    assert!(!found(&mut session, number, QueueNews::Failed("late".to_owned())), "it is done");
    assert!(found(&mut session, second, QueueNews::Failed("test.en does not exist".to_owned())));
    assert_eq!(session.evaluation().message.as_deref(), Some("test.en does not exist"));
    assert!(session.evaluation().results.is_some(), "a failure takes nothing away");
    let (third, _) = run(&mut session);
    assert_eq!(session.evaluation().message, None);
    session.apply(TaskCommand::Cancel(third));
    assert!(session.evaluation().task.is_none());
    assert!(!found(&mut session, third, QueueNews::Found(Found::Evaluated(results))), "it was cancelled");
}

fn with_results() -> Session {
    let mut session = ready(&["m0", "m1"]);
    let (number, _) = run(&mut session);
    found(&mut session, number, QueueNews::Found(Found::Evaluated(measured::two_models())));
    session
}

#[test]
fn the_sentences_are_a_corpus_that_goes_unless_it_is_saved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    let mut session = with_results();
    session.apply(EvaluationCommand::ShowSentences);
    measured::answer(&mut session, &thread, |page| page.rows.len() == 4);
    assert_eq!(session.app().view.page(), CORPUS);
    let page = session.corpus();
    let names: Vec<&str> = page.corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
    assert_eq!(names, ["RNNencdec", "RNNsearch", "RNNencdec, references", "RNNsearch, references"]);
    assert!(page.is_unsaved() && page.kept.workspace.is_none(), "the next start does not know it");
    let unsaved = page.path.clone().expect("a file");

    let kept = folder.path().join("kept.ilws");
    session.apply(CorpusRequest::SaveAs(kept.clone()));
    measured::answer(&mut session, &thread, |page| page.path.as_ref() == Some(&kept));
    let page = session.corpus();
    assert!(!page.is_unsaved() && page.kept.workspace.as_ref() == Some(&kept) && !unsaved.exists());
    session.apply(EvaluationCommand::ShowSentences);
    assert_eq!(session.corpus().path.as_ref(), Some(&kept), "it is there already");
    session.apply(CorpusRequest::SaveAs(kept.clone()));
    measured::answer(&mut session, &thread, |page| page.message.is_some());
    assert!(session.corpus().message.as_ref().is_some_and(|message| message.contains("is there already")));

    let workspace = Workspace::open_existing(&kept).expect("a workspace");
    let corpus = CorpusTable::read(&workspace).expect("read");
    let results = measured::two_models();
    for (name, of) in [
        ("bleu.2", (|record| record.translations[0].counts.bleu.sentence()) as fn(&EvaluationRecord) -> f64),
        ("chrf.2", |record| record.translations[0].counts.chrf.score()),
        ("logp.4", |record| -record.nll),
    ] {
        let column = TableColumn::named(name, &corpus).expect("a column");
        for (at, record) in results.models[1].records.iter().enumerate() {
            assert!((f64::from(column.value(&corpus, at)) - of(record)).abs() < 1e-4, "{name} of sentence {at}");
        }
    }
}

#[test]
fn figures_are_written_as_tsv_and_json() {
    let mut session = with_results();
    let path = PathBuf::from("out.tsv");
    let mut written = |format| {
        apply(&mut session, EvaluationCommand::Export { format, path: path.clone() });
        match chores(&mut session).pop() {
            Some(FileJob::Write { text, .. }) => text,
            other => panic!("{other:?}"),
        }
    };
    let tsv = written(FiguresFormat::Tsv);
    let lines: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{tsv}");
    assert_eq!(lines[1][..4], ["RNNencdec", "all", "allowed", "all"]);
    let json: serde_json::Value = serde_json::from_str(&written(FiguresFormat::Json)).expect("it is JSON");
    assert_eq!(json["models"][1]["name"], "RNNsearch");
    assert_eq!(json["models"][1]["rows"][0]["sentences"], 4);
    assert_eq!(json["comparisons"][0]["second"], "RNNsearch");
    assert!(json["models"][1]["alignment"]["rows"][0]["aer"].as_f64().is_some_and(|aer| (aer - 0.2).abs() < 1e-9));

    let mut empty = ready(&["m0"]);
    chores(&mut empty);
    apply(&mut empty, EvaluationCommand::Export { format: FiguresFormat::Tsv, path });
    assert!(chores(&mut empty).is_empty() && empty.app().view.notices().len() == 1);
}

#[test]
fn the_test_set_and_the_logs_come_back_at_the_next_start() {
    let mut session = ready(&["m0"]);
    apply(&mut session, TestCommand::AddReference(PathBuf::from("test.2.fr")));
    apply(&mut session, TestCommand::SetGold(Some(PathBuf::from("gold"))));
    apply(&mut session, TestCommand::SetPretokenized(true));
    session
        .hear(FileEvent::Logs { path: PathBuf::from("runs"), found: vec![PathBuf::from("runs/a/training/log.jsonl")] });
    let text = serde_json::to_string(&session.saved()).expect("the state can be written");
    let saved: SavedSession = serde_json::from_str(&text).expect("the state can be read");
    let mut again = Session::start(Some(saved), &OpenWith::default());
    assert_eq!(again.evaluation().test, session.evaluation().test);
    assert_eq!(again.evaluation().logs.len(), 1);
    assert_eq!(again.evaluation().logs[0].name(), "a");
    assert_eq!(followed(&mut again), Some(vec![PathBuf::from("runs/a/training/log.jsonl")]));
    assert_eq!(followed(&mut again), None);
}

#[test]
fn what_is_dropped_on_the_page_finds_its_place() {
    let mut session = session(&["m0"]);
    session.apply(WindowCommand::ShowPage(EVALUATION));
    for name in ["a.en", "a.fr", "b.fr"] {
        apply(&mut session, WindowCommand::Drop(PathBuf::from(name)));
        let on = EVALUATION;
        assert_eq!(chores(&mut session), [FileJob::Look { path: PathBuf::from(name), on }]);
        session.hear(opened(name, Dropped::Text, on));
        assert!(chores(&mut session).contains(&FileJob::Check(PathBuf::from(name))));
    }
    assert_eq!(session.evaluation().test.source.as_deref(), Some(Path::new("a.en")));
    assert_eq!(session.evaluation().test.references, [PathBuf::from("a.fr"), PathBuf::from("b.fr")]);
    session.hear(FileEvent::Logs { path: PathBuf::from("empty"), found: Vec::new() });
    assert!(session.app().view.notices().last().is_some_and(|notice| notice.is_error && notice.text.contains("empty")));
}

const LOG: &str = r#"{"update":50,"epoch":0,"loss":6.0,"nll":5.5,"rate":0.001,"words":9,"seconds":3.5}
{"update":100,"epoch":0,"loss":5.0,"nll":4.5,"rate":0.001,"words":18,"seconds":7.0}
{"update":100,"development_nll":4.0,"development_perplexity":54.6,"development_bleu":null,"best":true,"seconds":7.5}
"#;

#[test]
fn a_log_is_read_as_curves_and_a_line_that_is_being_written_is_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.jsonl");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("it can be written");
        Curves::load(&path)
    };
    let curves = read(&format!("{LOG}{{\"update\":150,\"nll\":3.")).expect("it is a log");
    assert_eq!((curves.training_nll.len(), curves.development_nll.len(), curves.development_bleu.len()), (2, 1, 0));
    assert_eq!((curves.update, curves.seconds), (100, 7.5));
    assert_eq!(curves.best().map(|best| (best.update, best.value)), Some((100, 4.0)));
    assert_eq!(read("").expect("a run that has just begun"), Curves::default());
    let message = read("no log\n").expect_err("it is none").to_string();
    assert!(message.contains("log.jsonl"), "{message}");
    let message = Curves::load(folder.path()).expect_err("it is a folder").to_string();
    assert!(message.contains("folder"), "{message}");
}

#[test]
fn a_very_long_log_is_drawn_with_fewer_points() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.jsonl");
    let text: String = (1..=50_000).map(|n| format!("{{\"update\":{n},\"nll\":2.0,\"rate\":0.5}}\n")).collect();
    std::fs::write(&path, text).expect("it can be written");
    let curves = Curves::load(&path).expect("it is a log");
    assert!((500..=2000).contains(&curves.training_nll.len()), "{}", curves.training_nll.len());
    assert!(curves.training_nll.iter().all(|point| point.value == 2.0));
    assert!(curves.training_nll.is_sorted_by(|a, b| a.update < b.update));
    assert_eq!(curves.update, 50_000);
}

#[test]
fn logs_are_found_in_a_run_and_in_a_folder_of_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runs: Vec<PathBuf> =
        ["a", "b"].iter().map(|name| folder.path().join(name).join("training/log.jsonl")).collect();
    for log in &runs {
        std::fs::create_dir_all(log.parent().expect("it lies in a folder")).expect("it can be made");
        std::fs::write(log, LOG).expect("it can be written");
    }
    assert_eq!(curves::logs(&folder.path().join("a")), runs[..1]);
    assert_eq!(curves::logs(folder.path()), runs);
    assert_eq!(curves::logs(&runs[0]), runs[..1]);
    assert!(curves::logs(&folder.path().join("none")).is_empty());
    for (log, name) in
        [("runs/big/training/log.jsonl", "big"), ("runs/big/log.jsonl", "big"), ("x/other.jsonl", "other")]
    {
        assert_eq!(curves::name(Path::new(log)), name);
    }
}

#[test]
fn a_log_that_grows_is_read_again_and_one_that_does_not_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.jsonl");
    let paths = [path.clone()];
    let mut watch = Watch::default();
    let seen = watch.look(&paths);
    assert!(seen[0].curves.is_err(), "it is not there yet");
    assert!(watch.look(&paths).is_empty());
    std::fs::write(&path, LOG).expect("it can be written");
    let seen = watch.look(&paths);
    assert_eq!(seen[0].curves.as_ref().map(|curves| curves.update), Ok(100));
    assert!(watch.look(&paths).is_empty());
    let mut file = std::fs::File::options().append(true).open(&path).expect("it can be opened");
    file.write_all(b"{\"update\":150,\"nll\":4.0}\n").expect("it can be written");
    assert_eq!(watch.look(&paths)[0].curves.as_ref().map(|curves| curves.update), Ok(150));
}

#[test]
fn the_follower_tells_of_a_log_while_it_grows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, LOG).expect("it can be written");
    let follower = Follower::<Watch>::spawn(Duration::from_millis(5), Arc::new(|| {}));
    follower.follow(vec![path.clone()]);
    let update = |seen: interlinear::jobs::files::follow::FollowEvent| seen.curves.map(|curves| curves.update);
    assert_eq!(follower.news.next_within(PATIENCE).map(update), Some(Ok(100)));
    let mut file = std::fs::File::options().append(true).open(&path).expect("it can be opened");
    file.write_all(b"{\"update\":150,\"nll\":4.0}\n").expect("it can be written");
    assert_eq!(follower.news.next_within(PATIENCE).map(update), Some(Ok(150)));
}

/// Pumps until `done` says so.
fn pump(driver: &mut Driver, woken: &std::sync::mpsc::Receiver<()>, done: impl Fn(&Session) -> bool) {
    while !done(driver.session()) {
        woken.recv_timeout(PATIENCE).expect("something happens");
        driver.pump(Duration::from_millis(50));
    }
}

/// A copy of a model that says it translates the other way.
fn turned(model: &Path, copy: &Path) -> PathBuf {
    std::fs::create_dir_all(copy).expect("it can be made");
    for name in ["model.safetensors", "source.tokenizer.json", "target.tokenizer.json"] {
        std::fs::copy(model.join(name), copy.join(name)).expect("it can be copied");
    }
    let text = std::fs::read_to_string(model.join("config.json")).expect("it can be read");
    let mut config: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let (from, to) = (config["source_language"].clone(), config["target_language"].clone());
    (config["source_language"], config["target_language"]) = (to, from);
    config["name"] = "the other way".into();
    std::fs::write(copy.join("config.json"), config.to_string()).expect("it can be written");
    copy.to_owned()
}

#[test]
fn a_driver_measures_models_on_files_and_follows_a_log() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        path
    };
    let (source, reference) = (write("a.en", "s9 s31\ns17 s9 s31\n"), write("a.fr", "t4 t5\nt6\n"));
    let gold = write("gold", "1-1 2-2\n1-1\n");
    let log = write("log.jsonl", LOG);
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference").join(name);
    let models =
        vec![fixture("rnnsearch"), fixture("rnnencdec"), turned(&fixture("rnnsearch"), &folder.path().join("b"))];
    let (wake, woken) = std::sync::mpsc::channel();
    let options = OpenWith {
        models: models.iter().map(Into::into).collect(),
        device: Some(interlinear::nn::device::DeviceChoice::Cpu),
        ..OpenWith::default()
    };
    let wake = Arc::new(move || {
        let _ = wake.send(());
    });
    let mut driver = Driver::open(options, wake);
    driver.send(EvaluationCommand::OpenLogs(log.clone()));
    pump(&mut driver, &woken, |session| {
        matches!(session.evaluation().logs.first().map(|log| &log.state), Some(LogState::Read(_)))
    });
    assert_eq!(driver.session().evaluation().logs[0].path, log);

    driver.send(TestCommand::SetSource(Some(source)));
    driver.send(TestCommand::AddReference(reference));
    driver.send(TestCommand::SetGold(Some(gold)));
    driver.send(EvaluationCommand::Run);
    pump(&mut driver, &woken, |session| session.evaluation().task.is_none());
    let page = &driver.session().evaluation();
    assert_eq!(page.message, None);
    let results = page.results.as_ref().expect("it was measured");
    assert_eq!(results.models.len(), 2, "the third translates the other way");
    let first = results.models[0].aligned().expect("it aligns");
    assert_eq!(first.reverse.as_deref(), Some("the other way"));
    assert!(results.models.iter().all(|measured| measured.records.len() == 2));
    assert_eq!(results.comparisons.len(), 1);
    for direction in ["forward", "reverse", "intersection", "union", "grow-diag-final-and"] {
        assert!(first.rows.iter().any(|row| row.direction.name() == direction), "{direction} is missing");
    }
    assert!(matches!(&results.models[1].alignment, Some(Err(message)) if message.contains("no alignment")));
    assert!(results.gold.is_some());

    driver.send(TestCommand::SetSource(Some(folder.path().join("missing.en"))));
    driver.send(EvaluationCommand::Run);
    pump(&mut driver, &woken, |session| session.evaluation().task.is_none());
    let message = driver.session().evaluation().message.clone().expect("the file is missing");
    assert!(message.contains("missing.en"), "{message}");
}

#[test]
fn a_kept_picture_is_written_in_the_format_of_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (wake, woken) = std::sync::mpsc::channel();
    let wake = Arc::new(move || {
        let _ = wake.send(());
    });
    let mut driver = Driver::open(OpenWith::default(), wake);
    let text = TextMark::new("-log p", point(5.0, 5.0), (Across::Left, Down::Top), 12.0, Rgba::TRANSPARENT);
    let figure = Figure { size: size(80.0, 40.0), marks: vec![Mark::Text(text)], provenance: Provenance::default() };
    for (name, start) in [("a.svg", &b"<svg"[..]), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")] {
        let path = folder.path().join(name);
        driver.send(WindowCommand::KeepFigure(Arc::new(figure.clone())));
        driver.send(WindowCommand::SaveFigure(path.clone()));
        pump(&mut driver, &woken, |_| path.exists());
        let written = std::fs::read(&path).expect("written");
        assert!(written[..60].windows(start.len()).any(|part| part == start), "{name}");
    }
    driver.send(WindowCommand::SaveFigure(folder.path().join("b.svg")));
    assert!(driver.session().app().view.notices().iter().any(|notice| notice.is_error), "nothing was kept");
    driver.send(WindowCommand::KeepFigure(Arc::new(figure)));
    driver.send(WindowCommand::SaveFigure(folder.path().join("c.doc")));
    pump(&mut driver, &woken, |session| session.app().view.notices().iter().any(|notice| notice.text.contains(".svg")));
}

#[test]
fn the_first_test_set_is_put_into_a_folder_and_taken() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (wake, woken) = std::sync::mpsc::channel();
    let wake = Arc::new(move || {
        let _ = wake.send(());
    });
    let mut driver = Driver::open(OpenWith::default(), wake);
    driver.send(EvaluationCommand::TakeFirstSet(folder.path().join("first-set")));
    pump(&mut driver, &woken, |session| session.evaluation().test.gold.is_some());
    let test = &driver.session().evaluation().test;
    assert!(test.is_pretokenized && test.source.as_ref().is_some_and(|path| path.exists()));
    let read = TestSet::read(test.source.as_ref().expect("a source"), &test.references, true).expect("it can be read");
    assert_eq!(read.len(), 24);
    let lengths: Vec<(usize, usize)> =
        read.pairs.iter().map(|pair| (pair.source.split(' ').count(), pair.first().split(' ').count())).collect();
    let gold = test.gold.as_ref().expect("alignments");
    let links = read::read(gold, &lengths, &read::LinkLayout::default()).expect("links of these sentences");
    assert_eq!(links.pairs.len(), 24);
}

#[test]
fn the_first_test_set_is_there_in_two_languages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (is_german, name) in [(false, "first.fr"), (true, "first.de")] {
        let files = first_set::put(folder.path(), is_german).expect("they are written");
        assert!(files.reference.ends_with(name), "{files:?}");
        let text = |path: &Path| fs::read_to_string(path).expect("it is there");
        let (source, target) = (text(&files.source), text(&files.reference));
        let count = |text: &str| text.lines().map(|line| line.split(' ').count()).collect::<Vec<_>>();
        let lengths: Vec<(usize, usize)> = count(&source).into_iter().zip(count(&target)).collect();
        let links = read::read(&files.gold, &lengths, &read::LinkLayout::default()).expect("links of these sentences");
        assert_eq!((links.pairs.len(), lengths.len()), (24, 24));
        for (links, (t_x, t_y)) in links.pairs.iter().zip(lengths) {
            assert!(links.is_sure(Link { source: t_x - 1, target: t_y - 1 }), "full stops belong together");
        }
    }
}

#[test]
fn word_links_become_the_alignments_by_hand_of_the_list_that_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (wake, woken) = std::sync::mpsc::channel();
    let wake = Arc::new(move || {
        let _ = wake.send(());
    });
    let mut driver = Driver::open(OpenWith::default(), wake);
    let files = [
        ("a.en", "the red shoe\na dog\n"),
        ("a.fr", "la chaussure rouge\nun chien\n"),
        ("a.links", "0-0 1-2 2?1\n0-0 1-1\n"),
        ("short.links", "0-0\n"),
    ];
    let path = |name: &str| folder.path().join(name);
    for (name, text) in files {
        std::fs::write(path(name), text).expect("written");
    }
    let says =
        |session: &Session, text: &str| session.app().view.notices().iter().any(|notice| notice.text.contains(text));
    for (name, what) in [
        ("a.links", "open that text first"),
        ("a.en", ""),
        ("a.links", "open the translation of a.en first, a file of 2 lines too"),
        ("a.fr", ""),
        ("short.links", "short.links: has 1 lines, but the corpus has 2 sentence pairs"),
    ] {
        driver.send(WindowCommand::Open(path(name)));
        let is_read = |session: &Session| {
            session.app().lists.files.last().is_some_and(|file| file.path == path(name) && file.is_whole())
        };
        pump(&mut driver, &woken, |session| if what.is_empty() { is_read(session) } else { says(session, what) });
        driver.send(ListCommand::Show(List::File(0)));
    }
    assert!(driver.session().app().gold().is_none());
    driver.send(ListCommand::Pick(0));
    driver.send(WindowCommand::Open(path("a.links")));
    pump(&mut driver, &woken, |session| session.app().gold().is_some());
    let gold = driver.session().app().gold().expect("it is there");
    assert_eq!((gold.source.as_str(), gold.reference.as_str()), ("the red shoe", "la chaussure rouge"));
    assert_eq!((gold.links.sure().len(), gold.links.possible().len()), (2, 1));
    assert!(says(driver.session(), "a.links is the alignment by hand of a.en and a.fr, 2 lines"));
    driver.send(ListCommand::Move(1));
    assert_eq!(driver.session().app().gold().expect("that of the next line").reference, "un chien");
    driver.send(WindowCommand::ShowPage(EVALUATION));
    driver.send(WindowCommand::Drop(path("a.links")));
    pump(&mut driver, &woken, |session| session.evaluation().test.gold == Some(path("a.links")));
}

#[test]
fn a_corpus_that_is_named_at_the_start_opens_on_its_page() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("study.ilws");
    drop(Workspace::open(&path).expect("a workspace"));
    let (wake, woken) = std::sync::mpsc::channel();
    let wake = Arc::new(move || {
        let _ = wake.send(());
    });
    let mut driver = Driver::open(OpenWith { files: vec![path.clone()], ..OpenWith::default() }, wake);
    let is_shown =
        |session: &Session| session.app().view.page() == CORPUS && session.corpus().path.as_ref() == Some(&path);
    pump(&mut driver, &woken, is_shown);
}
