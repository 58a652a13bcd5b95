//! Round trips: a translation becomes the sentence of the other direction, and the window before comes back.

use std::path::PathBuf;

use interlinear::app::open_with::Installed;
use interlinear::jobs::live::protocol::{Event, ModelFacts, Request};
use interlinear::pages::sentence::command::{ColumnCommand, SourceCommand};
use interlinear::session::driver::OpenWith;
use interlinear::session::state::Session;

use super::{ids, translate};
use crate::effects::act;

fn installed(folder: &str, from: &str, to: &str) -> Installed {
    Installed { folder: PathBuf::from(folder), languages: (from.to_owned(), to.to_owned()), ..Installed::default() }
}

/// Two models into French and one into German are open; others are installed.
fn session() -> Session {
    let models = ["fr", "fr2", "de"].map(PathBuf::from).to_vec();
    let bundled = vec![installed("fr", "en", "fr"), installed("it-en", "it", "en"), installed("back", "fr-CA", "en")];
    let mut session = Session::start(None, &OpenWith { models, bundled, ..OpenWith::default() });
    for (id, to) in ids(&session).into_iter().zip(["fr", "fr", "de"]) {
        load(&mut session, id, "en", to);
    }
    session
}

fn load(session: &mut Session, column: u64, from: &str, to: &str) {
    let (source_language, target_language) = (from.to_owned(), to.to_owned());
    let facts = ModelFacts { source_language, target_language, has_alignment: true, ..ModelFacts::default() };
    session.absorb(Event::Loaded { column, facts });
}

fn folders(session: &Session) -> Vec<String> {
    session.app().document.columns().iter().map(|column| column.folder.display().to_string()).collect()
}

fn turn(session: &mut Session, at: usize) -> Request {
    let column = ids(session)[at];
    act(session, ColumnCommand::TurnRound(column)).expect("another sentence")
}

#[test]
fn a_translation_goes_there_and_back_and_the_window_returns() {
    let mut session = session();
    let source = |session: &Session| session.app().document.source().to_owned();
    let request = act(&mut session, SourceCommand::Replace("a house".to_owned())).expect("a sentence");
    let [first, _, german] = ids(&session)[..] else { panic!("three columns") };
    assert_eq!(session.app().way_back(first), None, "nothing is translated yet");
    translate(&mut session, &request, &["une maison </s>", "la maison </s>", "ein Haus </s>"]);
    assert_eq!(session.app().way_back(german), None, "no model reads German");
    assert!(!session.app().can_return());

    turn(&mut session, 0);
    assert_eq!((source(&session).as_str(), folders(&session)), ("une maison", vec!["back".to_owned()]));
    let column = ids(&session)[0];
    assert_eq!(session.app().view.selection().column, Some(column));
    load(&mut session, column, "fr", "en");
    let request = act(&mut session, SourceCommand::Edit("une maison".to_owned() + ".")).expect("typed");
    translate(&mut session, &request, &["a house . </s>"]);

    turn(&mut session, 0);
    assert_eq!(
        (source(&session).as_str(), folders(&session)),
        ("a house .", vec!["fr".to_owned()]),
        "where it came from"
    );
    for (wanted, columns) in [("une maison.", &["back"][..]), ("a house", &["fr", "fr2", "de"])] {
        assert!(session.app().can_return());
        session.apply(ColumnCommand::TurnBack);
        assert_eq!(
            (source(&session).as_str(), folders(&session)),
            (wanted, columns.iter().map(ToString::to_string).collect())
        );
    }
    assert!(!session.app().can_return());
    session.apply(SourceCommand::Undo);
    assert_eq!(source(&session), "une maison.", "undo knows the sentences");
}

#[test]
fn columns_that_read_the_language_stay() {
    let mut session = session();
    session.apply(ColumnCommand::Add(PathBuf::from("mine")));
    let mine = *ids(&session).last().expect("it was added");
    load(&mut session, mine, "fr", "en");
    let request = act(&mut session, SourceCommand::Replace("a house".to_owned())).expect("a sentence");
    translate(&mut session, &request, &["une maison </s>", "la maison </s>", "ein Haus </s>", "a house </s>"]);
    turn(&mut session, 1);
    assert_eq!((session.app().document.source(), folders(&session)), ("la maison", vec!["mine".to_owned()]));
    assert_eq!(ids(&session), [mine], "it is not read again");
}
