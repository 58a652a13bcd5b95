//! What once went wrong in the session, a test each.

use std::path::PathBuf;

use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::files::{export::AlignmentFormat, lists::List, work::FileEvent};
use interlinear::jobs::live::protocol::{Event, ModelFacts};
use interlinear::pages::{corpus::command::CorpusCommand, map::MAP, map::MapCommand, sentence::command::ListCommand};
use interlinear::session::persist::{SavedSession, load_or_set_aside};
use interlinear::{analysis::row_convention::RowConvention, app::document::column::ColumnState};
use interlinear::{app::page::SENTENCE, pages::command::Command, pages::corpus::CORPUS};
use interlinear::{session::driver::OpenWith, session::state::Session, text::sentence::MAX_SOURCE_BYTES};

use super::{edit, hypothesis, one, open, session, started, text_of, translate, with_file};
use crate::effects::{Shows as _, act, text_opened};
use crate::folder::{Files as _, Folder};

fn is_cut(session: &Session) -> bool {
    session.has_error("cut")
}

#[test]
fn a_very_long_line_that_is_picked_is_cut_and_said() {
    // The limit falls inside a letter of two bytes.
    let long = format!("a{}", "é".repeat(MAX_SOURCE_BYTES));
    let mut session = with_file(&format!("short\n{long}\n"));
    assert!(!is_cut(&session));
    session.apply(ListCommand::Last);
    assert_eq!(session.source().len(), MAX_SOURCE_BYTES - 1);
    assert!(is_cut(&session));
    for command in [SourceCommand::Replace(long.clone()), SourceCommand::Edit(format!("{long} ."))] {
        let mut session = super::session(0);
        session.apply(command);
        assert_eq!(session.source().len(), MAX_SOURCE_BYTES - 1);
        assert!(is_cut(&session) && session.saved().source.is_some_and(|text| text.len() < MAX_SOURCE_BYTES));
    }
}

#[test]
fn a_saved_state_with_a_very_long_line_is_cut_and_said() {
    let (_folder, path) = Folder::and_path("session.json");
    let long = "word ".repeat(MAX_SOURCE_BYTES);
    let state = SavedSession {
        source: Some(long.clone()),
        translated: vec!["short".to_owned(), long],
        ..SavedSession::default()
    };
    state.save(&path).expect("it can be saved");
    let found = load_or_set_aside(&path);
    assert!(found.trouble.is_some_and(|text| text.contains("session.json") && text.contains("cut")));
    let state = found.state.expect("the rest is as it was");
    assert_eq!(state.source.map(|text| text.len()), Some(MAX_SOURCE_BYTES));
    assert_eq!(state.translated.iter().map(String::len).collect::<Vec<_>>(), [5, MAX_SOURCE_BYTES]);
}

#[test]
fn sentences_typed_over_one_another_are_all_kept() {
    let mut session = session(1);
    let sentences = ["the cat sleeps", "a dog barks", "a dog is here", "no rain", "where", "we sing"];
    for sentence in sentences {
        // Ctrl+L selects the text, and the first letter takes its place.
        for end in 1..=sentence.len() {
            let request = edit(&mut session, &sentence[..end]);
            translate(&mut session, &request, &["x </s>"]);
        }
    }
    assert_eq!(session.app().lists.translated, sentences);
    // A word that is taken back is still the same sentence.
    for text in ["we sin", "we sink", "we sin", "we sing"] {
        let request = edit(&mut session, text);
        translate(&mut session, &request, &["x </s>"]);
    }
    assert_eq!(session.app().lists.translated, sentences);
}

#[test]
fn the_second_window_on_a_state_keeps_nothing_and_says_so() {
    let (_folder, saved) = Folder::and_path("deeper/state.json");
    let options = OpenWith { saved: Some(saved.clone()), ..OpenWith::default() };
    let says = |session: &Session| session.notifies("Another window");
    let mut first = open(options.clone());
    first.driver.send(SourceCommand::Replace("of the first".to_owned()));
    let mut second = open(options.clone());
    assert!(says(second.driver.session()) && !says(first.driver.session()));
    second.driver.send(SourceCommand::Replace("of the second".to_owned()));
    drop(first);
    drop(second);
    let state = load_or_set_aside(&saved).state.expect("the first has saved");
    assert_eq!(state.source.as_deref(), Some("of the first"));
    let third = open(options);
    assert!(!says(third.driver.session()), "the first is gone");
}

#[test]
fn a_model_that_is_ready_does_not_load_again() {
    let (mut session, id) = one();
    assert_eq!(session.nth(0).state, ColumnState::Ready);
    session.absorb(Event::Loading { column: id, fraction: 0.5 });
    assert_eq!(session.nth(0).state, ColumnState::Ready, "a second reader tells late");
    session.absorb(Event::LoadFailed { column: id, message: "no".to_owned() });
    session.absorb(Event::Loading { column: id, fraction: 0.5 });
    assert_eq!(session.nth(0).state, ColumnState::Loading(0.5), "one that failed is tried again");
    session.absorb(Event::Loaded { column: id, facts: ModelFacts::default() });
    assert_eq!(session.nth(0).state, ColumnState::Ready);
}

#[test]
fn an_error_does_not_stay_over_the_result_of_another_text() {
    let (mut session, id) = one();
    let request = edit(&mut session, "a b");
    translate(&mut session, &request, &["x y </s>"]);
    let request = act(&mut session, SourceCommand::Replace("\u{1}".to_owned())).expect("asks");
    let message = "The text has no words that this model could read.".to_owned();
    session.absorb(Event::Failed { number: request.number, column: id, message });
    assert!(session.nth(0).message.is_some());
    let request = act(&mut session, SourceCommand::Undo).expect("asks");
    assert!(!request.columns[0].decode, "the result is still there");
    assert_eq!(session.nth(0).message, None);
}

#[test]
fn a_word_that_looks_nowhere_has_no_link() {
    let (mut session, id) = one();
    session.absorb(Event::Loaded { column: id, facts: ModelFacts { input_delay: Some(1), ..ModelFacts::default() } });
    session.apply(SettingsCommand::SetReading(Some(RowConvention::Input)));
    let request = edit(&mut session, "a b");
    session.absorb(started(&request, id));
    session.absorb(Event::Finished {
        number: request.number,
        column: id,
        result: interlinear::jobs::live::protocol::ColumnResult {
            hypotheses: vec![hypothesis("x y", 3)],
            ..interlinear::jobs::live::protocol::ColumnResult::default()
        },
    });
    // Read by the word read before, the last word has no row.
    let text = session.written(0, AlignmentFormat::Pharaoh).expect("it aligns");
    assert_eq!(text, "1-0\n");
}

#[test]
fn a_bare_config_json_is_the_model_of_this_folder() {
    let mut opened = open(OpenWith::default());
    opened.driver.send(WindowCommand::Open(PathBuf::from("config.json")));
    opened.until(|session| !session.app().document.columns.is_empty());
    let folder = &opened.driver.session().nth(0).system.members[0].folder;
    assert!(folder.is_absolute() && folder.is_dir(), "{}", folder.display());
}

#[test]
fn closing_a_file_moves_the_places_that_other_files_go_back_to() {
    let mut session = with_file("one\ntwo\n");
    let read = |session: &mut Session, name: &str| {
        session.absorb_file(text_opened(name));
        let lines = text_of("three\nfour\n");
        session.absorb_file(FileEvent::Read { path: name.into(), lines });
    };
    read(&mut session, "other.txt");
    session.apply(ListCommand::Pick(1));
    session.absorb_file(text_opened("missing.txt"));
    session.apply(ListCommand::CloseFile(0));
    session.absorb_file(FileEvent::ReadFailed {
        path: "missing.txt".into(),
        message: "missing.txt: does not exist".to_owned(),
    });
    assert_eq!(session.app().lists.files.len(), 1);
    assert_eq!(session.app().lists.shown, List::File(0), "other.txt, where it is now");
    assert_eq!(session.app().lists.sentence(0).as_deref(), Some("three"));
}

#[test]
fn words_of_a_table_are_written_as_they_are() {
    let mut session = session(1);
    let request = edit(&mut session, "=1+1 \" -2");
    translate(&mut session, &request, &["@x +y </s>"]);
    let text = session.written(0, AlignmentFormat::Tsv).expect("there is something");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "target\tlog_p\t=1+1\t\"\"\"\"\t-2\t</s>");
    assert!(lines[1].starts_with("@x\t-0.5\t0.75") && lines[2].starts_with("+y\t-0.5\t"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_state_does_not_hold_up_the_window() {
    let (_folder, pipe) = Folder::and_path("session.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let saved = pipe.clone();
    let (sender, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(Box::new(load_or_set_aside(&saved))));
    let found = *told.recv_timeout(super::PATIENCE).expect("it is not opened");
    assert!(found.is_left_alone && found.trouble.is_some_and(|text| text.contains("pipe")));
    assert!(pipe.exists());
}

#[test]
fn undo_leaves_the_settings_of_the_search() {
    let mut session = session(0);
    edit(&mut session, "a");
    session.apply(interlinear::pages::sentence::command::SearchCommand::SetBeam(9));
    edit(&mut session, "a b c");
    session.apply(SourceCommand::Undo);
    assert_eq!((session.source(), session.app().document.state.search.beam), ("a", 9));
}

#[test]
fn a_page_that_is_not_understood_sets_the_state_aside() {
    let folder = Folder::new();
    let path = folder.put("session.json", "{\"version\": 1, \"maps\": {\"count\": \"many\"}}");
    let found = load_or_set_aside(&path);
    assert!(found.state.is_none() && found.trouble.is_some_and(|text| text.contains("set aside")));
}

#[test]
fn every_page_keeps_its_part_under_its_own_name() {
    let mut session = session(0);
    session.apply(MapCommand::SetCount(77));
    session.apply(Command::from(CorpusCommand::SetAnnotator("anna".to_owned())));
    session.apply(WindowCommand::ShowPage(MAP));
    let value = serde_json::to_value(session.saved()).expect("it is JSON");
    assert_eq!((&value["page"], &value["maps"]["count"]), (&"map".into(), &77.into()));
    assert_eq!(value["workbench"]["annotator"], "anna");
    assert!(value.get("sentence").is_none() && value.get("pages").is_none());
}

/// `explore --source` opened on the page that was shown last, where the file was not seen.
#[test]
fn a_source_that_is_named_is_seen() {
    let saved = || Some(SavedSession { page: "corpus".to_owned(), ..SavedSession::default() });
    let options = OpenWith { source: Some("a.en".into()), ..OpenWith::default() };
    let page = |options: &OpenWith| Session::start(saved(), options).app().view.page;
    assert_eq!((page(&OpenWith::default()), page(&options)), (CORPUS, SENTENCE));
}

/// A word that was forbidden days ago changed the translation of a new text, and only the line above it said so.
#[test]
fn what_is_still_set_from_the_last_time_is_said_at_the_start() {
    let notices = |json: &str| {
        let saved: SavedSession = serde_json::from_str(json).expect("a saved state");
        let session = Session::start(Some(saved), &OpenWith::default());
        session.app().view.notices.iter().filter(|notice| notice.text.contains("still in force")).count()
    };
    let forbidden = r#"{"version": 1, "interventions": [{"models": ["/no/model"], "set": {"version": 1, "forbid": [{"word": "robe"}]}}]}"#;
    assert_eq!((notices(forbidden), notices(r#"{"version": 1}"#)), (1, 0));
}
