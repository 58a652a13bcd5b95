//! The pages of the window without a window: what is ordered, what comes back, what is kept.

use std::path::{Path, PathBuf};
use std::{fs, io::Write as _, sync::Arc, time::Duration};

use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::{command::WindowCommand, files::lists::List, page::Dropped};
use interlinear::figure::geometry::{point, size};
use interlinear::figure::mark::{Across, Down, Mark, TextMark};
use interlinear::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use interlinear::jobs::files::follow::{FollowedFiles as _, Follower, Watch};
use interlinear::pages::corpus::command::{CorpusCommand, LogCommand};
use interlinear::pages::{command::Command, corpus::CORPUS, corpus::logs::LogState, sentence::command::ListCommand};
use interlinear::session::driver::{Driver, OpenWith};
use interlinear::text::links::{Link, read};
use interlinear::{corpus::store::file::Workspace, evaluation::first_set};
use interlinear::{figure::Figure, figure::palette::Rgba, figure::provenance::Provenance, models::choice::ModelSpec};
use interlinear::{
    session::persist::SavedSession, session::state::Session, training::curves, training::curves::Curves,
};

use crate::effects::{Shows as _, chores, followed, opened};
use crate::folder::{Files as _, Folder};
use crate::measured;

const PATIENCE: Duration = Duration::from_secs(30);

fn apply(session: &mut Session, command: impl Into<Command>) {
    let newest = session.app().tasks.newest;
    session.apply(command);
    assert_eq!(session.app().tasks.newest, newest, "only opening a sentence translates");
}

fn session(models: &[&str]) -> Session {
    let models = models.iter().map(|model| ModelSpec::from(*model)).collect();
    Session::start(None, &OpenWith { models, ..OpenWith::default() })
}

#[test]
fn a_page_is_one_folder_and_few_lines() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/explorer/pages");
    let text = |path: &Path| fs::read_to_string(path).expect("a source");
    let names = ["mod map", "pages::map", "MAP,", ".maps", "MapPage", "MapCommand"];
    let tells = |line: &&str| names.iter().any(|name| line.contains(name));
    let of_map = |file: &str| {
        let text = text(&pages.join(file));
        text.split("#[cfg(test)]").next().unwrap_or_default().lines().filter(tells).count()
    };
    let lines = of_map("mod.rs") + of_map("command.rs");
    assert!(lines <= 8, "{lines} lines name page Map outside of its folder");
    for file in fs::read_dir(pages.join("shell")).expect("a folder") {
        let (path, folders) = (file.expect("a file").path(), ["sentence", "map", "steps", "corpus", "training"]);
        let named = folders.iter().find(|folder| text(&path).contains(&format!("pages::{folder}")));
        assert_eq!(named, None, "{}", path.display());
    }
}

#[test]
fn the_set_to_try_is_a_corpus_that_goes_unless_it_is_saved() {
    let folder = Folder::new();
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    let mut session = session(&["m0"]);
    session.apply(CorpusCommand::Fill);
    measured::answer(&mut session, &thread, |page| page.rows.len() == 24);
    let page = session.corpus();
    assert!(page.is_unsaved() && page.kept.workspace.is_none(), "the next start does not know it");
    let unsaved = page.path.clone().expect("a file");
    assert_eq!(page.corpus.golds.len(), 24, "it has links by hand");

    let kept = folder.join("kept.ilws");
    session.apply(CorpusRequest::SaveAs(kept.clone()));
    measured::answer(&mut session, &thread, |page| page.path.as_ref() == Some(&kept));
    let page = session.corpus();
    assert!(!page.is_unsaved() && page.kept.workspace.as_ref() == Some(&kept) && !unsaved.exists());
    session.apply(CorpusRequest::SaveAs(kept.clone()));
    measured::answer(&mut session, &thread, |page| page.message.is_some());
    assert!(session.corpus().message.as_ref().is_some_and(|message| message.contains("is there already")));
}

#[test]
fn the_logs_come_back_at_the_next_start() {
    let mut session = session(&["m0"]);
    session.absorb_file(FileEvent::Logs {
        path: PathBuf::from("runs"),
        found: vec![PathBuf::from("runs/a/training/log.jsonl")],
    });
    let text = serde_json::to_string(&session.saved()).expect("the state can be written");
    // A page that is no longer there is not missed.
    let text = text.replacen('{', "{\"page\":\"evaluation\",\"evaluation\":{\"by_input\":true},", 1);
    let text = text.replacen(",\"page\":\"sentence\"", "", 1);
    let saved: SavedSession = serde_json::from_str(&text).expect("the state can be read");
    let mut again = Session::start(Some(saved), &OpenWith::default());
    assert_eq!(again.corpus().tools.logs.len(), 1);
    assert_eq!(again.corpus().tools.logs[0].name(), "a");
    assert_eq!(followed(&mut again), Some(vec![PathBuf::from("runs/a/training/log.jsonl")]));
    assert_eq!(followed(&mut again), None);
}

#[test]
fn what_is_dropped_without_a_corpus_makes_one() {
    let folder = Folder::new();
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    let mut session = session(&["m0"]);
    session.apply(WindowCommand::ShowPage(CORPUS));
    for (name, text) in [("a.en", "a\nb\n"), ("a.fr", "u\nv\n"), ("b.fr", "w\nx\n")] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        apply(&mut session, WindowCommand::Drop(path.clone()));
        assert_eq!(chores(&mut session), [FileJob::Look { path: path.clone(), on: CORPUS }]);
        session.absorb_file(opened(path.display().to_string(), Dropped::Text, CORPUS));
        measured::answer(&mut session, &thread, |page| page.incoming.last.as_ref().is_some_and(|(of, _)| *of == path));
    }
    let page = session.corpus();
    assert!(page.is_unsaved());
    assert_eq!(page.corpus.references_of(1), ["v", "x"]);
    session.absorb_file(FileEvent::Logs { path: PathBuf::from("empty"), found: Vec::new() });
    assert!(session.app().view.notices.last().is_some_and(|notice| notice.is_error && notice.text.contains("empty")));
}

const LOG: &str = r#"{"update":50,"epoch":0,"loss":6.0,"nll":5.5,"rate":0.001,"words":9,"seconds":3.5}
{"update":100,"epoch":0,"loss":5.0,"nll":4.5,"rate":0.001,"words":18,"seconds":7.0}
{"update":100,"development_nll":4.0,"development_perplexity":54.6,"development_bleu":null,"best":true,"seconds":7.5}
"#;

#[test]
fn a_log_is_read_as_curves_and_a_line_that_is_being_written_is_left_out() {
    let (folder, path) = Folder::and_path("log.jsonl");
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
    let message = Curves::load(&folder).expect_err("it is a folder").to_string();
    assert!(message.contains("folder"), "{message}");
}

#[test]
fn a_very_long_log_is_drawn_with_fewer_points() {
    let (_folder, path) = Folder::and_path("log.jsonl");
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
    let folder = Folder::new();
    let runs: Vec<PathBuf> = ["a", "b"].iter().map(|name| folder.join(name).join("training/log.jsonl")).collect();
    for log in &runs {
        std::fs::create_dir_all(log.parent().expect("it lies in a folder")).expect("it can be made");
        std::fs::write(log, LOG).expect("it can be written");
    }
    assert_eq!(curves::logs(&folder.join("a")), runs[..1]);
    assert_eq!(curves::logs(&folder), runs);
    assert_eq!(curves::logs(&runs[0]), runs[..1]);
    assert!(curves::logs(&folder.join("none")).is_empty());
    for (log, name) in
        [("runs/big/training/log.jsonl", "big"), ("runs/big/log.jsonl", "big"), ("x/other.jsonl", "other")]
    {
        assert_eq!(curves::name(Path::new(log)), name);
    }
}

#[test]
fn a_log_that_grows_is_read_again_and_one_that_does_not_is_left_alone() {
    let (_folder, path) = Folder::and_path("log.jsonl");
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
    let folder = Folder::new();
    let path = folder.put("log.jsonl", LOG);
    let follower = Follower::<Watch>::spawn(Duration::from_millis(5), Arc::new(|| {}));
    follower.follow(vec![path.clone()]);
    let update = |seen: interlinear::jobs::files::follow::FollowEvent| seen.curves.map(|curves| curves.update);
    assert_eq!(follower.news.next_within(PATIENCE).map(update), Some(Ok(100)));
    let mut file = std::fs::File::options().append(true).open(&path).expect("it can be opened");
    file.write_all(b"{\"update\":150,\"nll\":4.0}\n").expect("it can be written");
    assert_eq!(follower.news.next_within(PATIENCE).map(update), Some(Ok(150)));
}

fn opened_with(options: OpenWith) -> (Driver, std::sync::mpsc::Receiver<()>) {
    let (wake, woken) = std::sync::mpsc::channel();
    (Driver::open(options, Arc::new(move || _ = wake.send(()))), woken)
}

fn pump(driver: &mut Driver, woken: &std::sync::mpsc::Receiver<()>, done: impl Fn(&Session) -> bool) {
    while !done(driver.session()) {
        woken.recv_timeout(PATIENCE).expect("something happens");
        driver.pump(Duration::from_millis(50));
    }
}

#[test]
fn a_driver_follows_a_log() {
    let folder = Folder::new();
    let log = folder.put("log.jsonl", LOG);
    let (mut driver, woken) = opened_with(OpenWith::default());
    driver.send(LogCommand::Open(log.clone()));
    pump(&mut driver, &woken, |session| {
        matches!(session.corpus().tools.logs.first().map(|log| &log.state), Some(LogState::Read(_)))
    });
    assert_eq!(driver.session().corpus().tools.logs[0].path, log);
}

#[test]
fn a_kept_picture_is_written_in_the_format_of_its_name() {
    let folder = Folder::new();
    let (mut driver, woken) = opened_with(OpenWith::default());
    let text = TextMark::new("-log p", point(5.0, 5.0), (Across::Left, Down::Top), 12.0, Rgba::TRANSPARENT);
    let figure = Figure { size: size(80.0, 40.0), marks: vec![Mark::Text(text)], provenance: Provenance::default() };
    for (name, start) in [("a.svg", &b"<svg"[..]), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")] {
        let path = folder.join(name);
        driver.send(WindowCommand::KeepFigure(Arc::new(figure.clone())));
        driver.send(WindowCommand::SaveFigure(path.clone()));
        pump(&mut driver, &woken, |_| path.exists());
        let written = std::fs::read(&path).expect("written");
        assert!(written[..60].windows(start.len()).any(|part| part == start), "{name}");
    }
    driver.send(WindowCommand::SaveFigure(folder.join("b.svg")));
    assert!(driver.session().has_error(""), "nothing was kept");
    driver.send(WindowCommand::KeepFigure(Arc::new(figure)));
    driver.send(WindowCommand::SaveFigure(folder.join("c.doc")));
    pump(&mut driver, &woken, |session| session.notifies(".svg"));
}

#[test]
fn the_first_set_is_there_in_two_languages() {
    for is_german in [false, true] {
        let count = |text: &str| text.split(' ').count();
        let mut lines = 0;
        for (source, reference, links) in first_set::lines(is_german) {
            let (t_x, t_y) = (count(source), count(reference));
            let links = read::links_of(links).expect("links");
            assert!(links.is_sure(Link { source: t_x - 1, target: t_y - 1 }), "full stops belong together");
            lines += 1;
        }
        assert_eq!(lines, 24);
    }
}

#[test]
fn word_links_become_the_alignments_by_hand_of_the_list_that_is_shown() {
    let folder = Folder::new();
    let (mut driver, woken) = opened_with(OpenWith::default());
    let files = [
        ("a.en", "the red shoe\na dog\n"),
        ("a.fr", "la chaussure rouge\nun chien\n"),
        ("a.links", "0-0 1-2 2?1\n0-0 1-1\n"),
        ("short.links", "0-0\n"),
    ];
    let path = |name: &str| folder.join(name);
    for (name, text) in files {
        std::fs::write(path(name), text).expect("written");
    }
    let says = |session: &Session, text: &str| session.notifies(text);
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
}

#[test]
fn a_corpus_that_is_named_at_the_start_opens_on_its_page() {
    let (_folder, path) = Folder::and_path("study.ilws");
    drop(Workspace::open(&path).expect("a workspace"));
    let (mut driver, woken) = opened_with(OpenWith { files: vec![path.clone()], ..OpenWith::default() });
    let is_shown =
        |session: &Session| session.app().view.page == CORPUS && session.corpus().path.as_ref() == Some(&path);
    pump(&mut driver, &woken, is_shown);
}
