//! A translation that the user gives: every model reads it, and it is never taken for the model's own.

use std::sync::Arc;

use interlinear::app::files::{drawing::Drawing, export, export::AlignmentFormat, picture::FigureRequest};
use interlinear::app::{command::SourceCommand, document::table::GIVEN};
use interlinear::decoding::{Hypothesis, force};
use interlinear::interventions::{Interventions, Pin, Place, SetAlpha};
use interlinear::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};
use interlinear::models::{Kernels, Model};
use interlinear::pages::sentence::command::{ColumnCommand, SelectCommand};
use interlinear::{nn::device::Device, session::driver::OpenWith, session::state::Session, text::sentence::Sentence};

use crate::cli::{json_of, reference};
use crate::effects::{Shows as _, act};
use crate::worker::{request, serve_all, store, story};
use crate::{effects::without_models, forever};

fn read(events: Vec<Event>) -> Result<HypothesisView, String> {
    let mut given = events.into_iter().filter_map(|event| match event {
        Event::Given { given, .. } => Some(given.map(|view| *view)),
        _ => None,
    });
    given.next().expect("it was asked for")
}

#[test]
fn every_model_reads_the_given_translation_as_forced_decoding_does() {
    let mut store = store();
    for name in ["rnnsearch", "rnnencdec"] {
        let mut wanted = request(1, "s9 s31", &[reference(name)]);
        wanted.columns[0].given = Some("t4 t7 unheard".to_owned());
        let events = serve_all(&wanted, &mut store, &forever());
        assert!(story(&events, 1).ends_with(&["finished", "given"]), "{name}: {:?}", story(&events, 1));
        let given = read(events).expect("it can be read");

        let model = Model::load(reference(name), &Device::cpu()).expect("the model");
        let ids = |side: &interlinear::text::tokenizer::Tokenizer, text: &str| side.encode(text).ids;
        let (source, target) = (ids(&model.source, "s9 s31"), ids(&model.target, "t4 t7 unheard"));
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let forced = force(&mut *stepper, &[(&source, &target)], &forever()).expect("it is scored");
        assert_eq!((given.found.tokens, given.found.token_log_p), (target, forced[0].token_log_p.clone()), "{name}");
        assert_eq!((given.found.log_p, given.found.alpha), (forced[0].log_p, forced[0].alpha.clone()), "{name}");
        let typed = given.replaced.iter().map(Option::as_deref).collect::<Vec<_>>();
        assert_eq!(typed, [None, None, Some("unheard"), None], "{name}: its own letters, no source word");
        assert!(given.is_unk[2] && given.found.finished && given.text == "t4 t7 unheard", "{name}");
    }
}

/// The model's translation was masked, and the one beside it was not.
#[test]
fn what_is_set_for_all_words_holds_for_the_given_translation_too() {
    let mut store = store();
    let mut given = |set: Interventions| {
        let mut wanted = request(1, "s9 s31", &[reference("rnnsearch")]);
        (wanted.columns[0].decode, wanted.columns[0].given) = (false, Some("t4 t7".to_owned()));
        wanted.columns[0].interventions = Arc::new(set);
        read(serve_all(&wanted, &mut store, &forever())).expect("it can be read")
    };
    let plain = given(Interventions::default());
    let masked = given(Interventions { mask: vec![Place::Bytes(0..2)], ..Interventions::default() });
    let alpha = |view: &HypothesisView| view.found.alpha.clone().expect("it aligns");
    assert!(alpha(&masked).iter().all(|row| row[0] == 0.0) && alpha(&plain).iter().all(|row| row[0] > 0.0));
    assert!((masked.found.log_p - plain.found.log_p).abs() > 1e-4, "{} and {}", masked.found.log_p, plain.found.log_p);
    let row = Pin { i: 0, alpha: SetAlpha::Weights(vec![1.0, 0.0, 0.0]) };
    let pinned = given(Interventions { pin: vec![row], ..Interventions::default() });
    assert_eq!(alpha(&pinned), alpha(&plain), "a row that is set is one of the model's translation");
}

#[test]
fn a_given_translation_alone_is_read_without_another_search_and_what_is_wrong_is_said() {
    let mut store = store();
    let mut wanted = request(1, "s9 s31", &[reference("rnnsearch")]);
    (wanted.columns[0].decode, wanted.columns[0].given) = (false, Some("t4".to_owned()));
    assert_eq!(story(&serve_all(&wanted, &mut store, &forever()), 1), ["loading", "loaded", "given"]);
    wanted.columns[0].given = Some("t4 ".repeat(6_000));
    assert!(read(serve_all(&wanted, &mut store, &forever())).is_err_and(|why| why.contains("words")));
}

fn hypothesis(words: &[&str], log_p: f32) -> HypothesisView {
    let tokens: Vec<String> = words.iter().copied().chain(["</s>"]).map(str::to_owned).collect();
    HypothesisView {
        found: Hypothesis {
            tokens: vec![7; tokens.len()],
            token_log_p: vec![log_p / tokens.len() as f32; tokens.len()],
            alpha: Some(vec![vec![0.7, 0.3]; tokens.len()]),
            energies: Some(vec![vec![0.0, 1.0]; tokens.len()]),
            log_p,
            finished: true,
            ..Hypothesis::default()
        },
        is_unk: vec![false; tokens.len()],
        text: words.join(" "),
        tokens,
        ..HypothesisView::default()
    }
}

fn session() -> (Session, u64) {
    let mut session = without_models("red");
    session.apply(ColumnCommand::Add("model".into()));
    let (column, number) = (session.nth(0).id, session.app().tasks.newest);
    let mut source = Sentence { text: "red".to_owned(), ..Sentence::default() };
    (source.tokens, source.ids, source.spans) = (vec!["red".into(), "</s>".into()], vec![5, 0], vec![0..3, 3..3]);
    session.absorb(Event::Loaded { column, facts: ModelFacts::default() });
    session.absorb(Event::Started { number, column, source, context: None });
    let result = ColumnResult { hypotheses: vec![hypothesis(&["rouge"], -1.0)], ..ColumnResult::default() };
    session.absorb(Event::Finished { number, column, result });
    (session, column)
}

fn give(session: &mut Session, column: u64, text: &str) {
    let wanted = act(session, SourceCommand::Give(Some(text.to_owned()))).expect("it is asked for");
    assert_eq!((wanted.columns[0].decode, wanted.columns[0].given.as_deref()), (false, Some(text)));
    let words: Vec<&str> = text.split(' ').collect();
    let given = Ok(Box::new(hypothesis(&words, -5.0)));
    session.absorb(Event::Given { number: session.app().tasks.newest, column, given });
}

#[test]
fn an_undone_translation_of_ones_own_leaves_the_screen() {
    let (mut session, column) = session();
    session.apply(SourceCommand::Give(Some(String::new())));
    give(&mut session, column, "bordeaux");
    let is_given = |session: &Session| session.nth(0).table.as_ref().is_some_and(|table| table.is_given);
    assert!(is_given(&session));
    for _ in 0..3 {
        if session.app().document.state.given.as_deref() != Some("bordeaux") {
            break;
        }
        session.apply(SourceCommand::Undo);
    }
    assert_ne!(session.app().document.state.given.as_deref(), Some("bordeaux"));
    assert!(!is_given(&session), "the model's own is shown again");
}

#[test]
fn the_given_translation_belongs_to_the_scene() {
    let (mut session, column) = session();
    for text in ["b", "bo", "bordeaux"] {
        give(&mut session, column, text);
    }
    assert_eq!(session.app().document.state.given.as_deref(), Some("bordeaux"));
    // what is on screen is not asked for again
    let wanted = act(&mut session, SelectCommand::MoveTarget(1));
    assert!(wanted.is_none());
    let wanted = act(&mut session, SourceCommand::Stop).expect("a request to rest");
    assert_eq!(wanted.columns[0].given, None);
    assert!(session.nth(0).read().is_some(), "stopping takes nothing away");
    // it comes back with the next start
    let again = Session::start(Some(session.saved()), &OpenWith::default());
    assert_eq!(again.app().document.state.given.as_deref(), Some("bordeaux"));
    session.apply(SourceCommand::Undo);
    assert_ne!(session.app().document.state.given.as_deref(), Some("bordeaux"));
    session.apply(SourceCommand::Redo);
    assert_eq!(session.app().document.state.given.as_deref(), Some("bordeaux"));
    // another sentence has another translation, and undo has both
    session.apply(SourceCommand::Replace("blue".to_owned()));
    assert_eq!(session.app().document.state.given.as_deref(), Some(""));
    assert!(session.nth(0).read().is_none());
    session.apply(SourceCommand::Undo);
    assert_eq!((session.source(), session.app().document.state.given.as_deref()), ("red", Some("bordeaux")));
    session.apply(SourceCommand::Give(None));
    assert!(session.nth(0).both().1.is_none());
}

#[test]
fn what_is_shown_and_written_says_whose_translation_it_is() {
    let (mut session, column) = session();
    give(&mut session, column, "bordeaux");
    let shown = |session: &Session| session.nth(0).table.as_ref().map(|table| (table.is_given, table.log_p));
    assert_eq!(shown(&session), Some((true, -5.0)));
    let text = |session: &Session, format| session.written(0, format).expect("text");
    assert!(text(&session, AlignmentFormat::Tsv).starts_with(&format!("target ({GIVEN})\t")));
    assert!(export::note(session.nth(0), AlignmentFormat::Pharaoh).is_some_and(|note| note.contains(GIVEN)));
    let json = json_of(&text(&session, AlignmentFormat::Json));
    assert_eq!((&json["given"]["of"], &json["given"]["text"]), (&GIVEN.into(), &"bordeaux".into()));
    assert_eq!(json["hypotheses"][0]["text"], "rouge");
    let drawn = |session: &Session, kind| {
        let (column, sentence) = (session.nth(0), &session.app().document.state);
        let drawing = Drawing::new(kind, false);
        let picture = export::picture(column, &sentence.search, &session.app().view.settings, &drawing, None);
        let bytes = FigureRequest::from(picture.expect("a picture")).bytes("a.svg".as_ref()).expect("it is drawn");
        String::from_utf8(bytes).expect("text")
    };
    let svg = drawn(&session, "heatmap");
    assert!(svg.contains("bordeaux") && svg.matches("not the model").count() >= 2, "{svg}");
    assert!(!drawn(&session, "beam").contains("not the model"), "the beam is the model's own");
    session.apply(SelectCommand::ShowGiven(false));
    assert_eq!(shown(&session), Some((false, -1.0)));
    assert!(!drawn(&session, "heatmap").contains("bordeaux"));
    session.apply(SelectCommand::ShowGiven(true));
    session.apply(SelectCommand::Hypothesis { column, hypothesis: 0 });
    assert_eq!(shown(&session), Some((false, -1.0)), "a hypothesis shows its own alignment");
}
