//! What if: variants of the sentence and of its search beside the original.

use std::sync::Arc;

use interlinear::app::command::{SettingsCommand, SourceCommand};
use interlinear::app::document::{column::Column, rewording::WordEdit, sentence_state::SearchSettings};
use interlinear::app::files::{drawing::Drawing, export, export::AlignmentFormat, picture::FigureRequest};
use interlinear::jobs::live::protocol::{ColumnId, ColumnSpec, Event, ModelFacts, Near, Request};
use interlinear::pages::sentence::command::{
    BesideSettings, ColumnCommand, InterveneCommand, RowEdit, SearchCommand, VariantCommand,
};
use interlinear::session::persist::{SavedSession, load_or_set_aside};
use interlinear::session::{driver::OpenWith, state::Session};
use interlinear::{decoding::SearchOptions, interventions::Word, pages::command::Command};

use crate::cli::{json_of, reference};
use crate::effects::{Shows as _, act, facts, with_models};
use crate::session::{hypothesis_with, sentence, told};
use crate::worker::{request, serve_all, store, story};
use crate::{folder::Folder, forever, models::FOLDERS};

// The worker.

fn best(events: &[Event], of: ColumnId) -> Vec<u32> {
    let result = events.iter().find_map(|event| match event {
        Event::Finished { column, result, .. } if *column == of => Some(result),
        Event::Failed { message, .. } | Event::LoadFailed { message, .. } => panic!("{message}"),
        _ => None,
    });
    result.expect("it is translated").hypotheses[0].found.tokens.clone()
}

#[test]
fn a_variant_is_what_a_plain_request_of_its_text_and_settings_gives() {
    for name in FOLDERS {
        let folder = reference(name);
        let mut wanted = request(1, "s9 s31 s17 s4", &[folder.clone(), folder.clone(), folder.clone()]);
        wanted.columns[1].source = Some("s9 s17 s31 s4".to_owned());
        wanted.columns[2].source = Some("s9 s4".to_owned());
        wanted.columns[2].options.beam = 1;
        let mut store = store();
        let events = serve_all(&wanted, &mut store, &forever());
        assert_eq!(store.models(), 1, "{name}: its weights are there once");
        for (column, text, beam) in [(1, "s9 s31 s17 s4", None), (2, "s9 s17 s31 s4", None), (3, "s9 s4", Some(1))] {
            let mut plain = request(1, text, std::slice::from_ref(&folder));
            let options = &mut plain.columns[0].options;
            *options = SearchOptions { beam: beam.unwrap_or(options.beam), ..options.clone() };
            let alone = serve_all(&plain, &mut self::store(), &forever());
            assert_eq!(best(&events, column), best(&alone, 1), "{name}, column {column}");
            let read = events.iter().find_map(|event| match event {
                Event::Started { column: of, source, .. } if *of == column => Some(source.text.as_str()),
                _ => None,
            });
            assert_eq!(read, Some(text), "{name}");
        }
    }
}

#[test]
fn a_blank_sentence_does_not_hold_up_a_variant() {
    let mut wanted = request(1, " ", &[reference("rnnsearch"), reference("rnnsearch")]);
    wanted.columns[1].source = Some("s9".to_owned());
    let events = serve_all(&wanted, &mut store(), &forever());
    assert_eq!(story(&events, 1), ["loading", "loaded"]);
    assert_eq!(story(&events, 2).last(), Some(&"finished"));
}

#[test]
fn neighbours_are_words_that_can_be_typed() {
    let near = |word: &str, ensemble: bool| {
        let mut wanted = request(1, "s9", &[reference("rnnsearch")]);
        if ensemble {
            let system = &mut wanted.columns[0].system;
            system.members.push(system.members[0].clone());
        }
        wanted.near = Some(Near { column: 1, word: word.to_owned() });
        let events = serve_all(&wanted, &mut store(), &forever());
        let told = |event| if let Event::Near { near, .. } = event { Some(near) } else { None };
        events.into_iter().find_map(told).expect("an answer")
    };
    let words = near("s9", false).expect("it is known");
    assert_eq!(words.len(), 8);
    assert!(words.is_sorted_by(|a, b| a.1 >= b.1), "nearest first: {words:?}");
    assert!(words.iter().all(|(word, _)| word.starts_with('s') && word != "s9"), "{words:?}");
    for (word, ensemble, says) in
        [("unheard", false, "does not know"), ("s9 s4", false, "several"), ("s9", true, "type")]
    {
        let message = near(word, ensemble).expect_err("there is no such row");
        assert!(message.contains(says), "{message}");
    }
}

// The session.

fn answer_one(session: &mut Session, request: &Request, spec: &ColumnSpec, words: &str, shift: bool) {
    let source = sentence(spec.source_in(request));
    let t_x = source.len();
    let at = |i: usize| if shift { 0 } else { i.min(t_x - 1) };
    let best = hypothesis_with(words, t_x, |i, j| if j == at(i) { 1.0 } else { 0.0 });
    for event in told(request.number, spec.column, source, best) {
        session.absorb(event);
    }
}

fn answer(session: &mut Session, request: &Request) {
    for spec in request.columns.iter().filter(|spec| spec.decode) {
        let words = spec.source_in(request).to_uppercase() + " </s>";
        answer_one(session, request, spec, &words, false);
    }
}

fn translated(columns: usize) -> Session {
    let mut session = with_models(columns, |n| ModelFacts { name: format!("m{n}"), ..facts() });
    let request = act(&mut session, SourceCommand::Replace("the old red shoe".to_owned())).expect("a request");
    answer(&mut session, &request);
    session
}

fn change(session: &mut Session, at: usize, j: usize, edit: WordEdit) -> Request {
    let column = session.nth(at).id;
    let request = act(session, VariantCommand::Word { column, j, edit }).expect("a request");
    answer(session, &request);
    request
}

fn names(session: &Session) -> Vec<String> {
    session.app().document.columns.iter().map(Column::name).collect()
}

fn replace(word: &str) -> WordEdit {
    WordEdit::Replace(word.to_owned())
}

fn beside(session: &Session, at: usize, search: SearchSettings) -> VariantCommand {
    let column = session.nth(at);
    let replaces = session.app().replaces(column);
    VariantCommand::Beside(column.id, BesideSettings { search, replaces, has_interventions: true })
}

#[test]
fn variants_stand_behind_their_original_and_ask_for_their_own_text() {
    let mut session = translated(2);
    let request = change(&mut session, 0, 2, replace("blue"));
    assert_eq!(names(&session), ["m0", "m0, \"blue\" for \"red\"", "m1"]);
    let sources: Vec<Option<&str>> = request.columns.iter().map(|spec| spec.source.as_deref()).collect();
    assert_eq!(sources, [None, Some("the old blue shoe"), None]);
    let decodes: Vec<bool> = request.columns.iter().map(|spec| spec.decode).collect();
    assert_eq!(decodes, [false, true, false], "the others stand as they are");
    change(&mut session, 0, 1, WordEdit::Drop);
    assert_eq!(names(&session)[2], "m0, without \"old\"", "a further one from the original");
    change(&mut session, 2, 0, WordEdit::Swap);
    assert_eq!(names(&session)[2], "m0, without \"the old\", with \"the\"", "a variant is changed in its place");
    assert_eq!(session.app().document.state.variants[1].source.as_deref(), Some("red the shoe"));
    assert_eq!(session.app().document.models().count(), 2, "other pages know the models once");
    assert_eq!(session.saved().columns.expect("columns").len(), 2);
}

#[test]
fn undo_and_redo_take_variants_back_and_bring_them_again() {
    let mut session = translated(1);
    change(&mut session, 0, 2, replace("blue"));
    change(&mut session, 1, 3, replace("boot"));
    assert_eq!(names(&session).len(), 2);
    for (command, wanted) in [
        (SourceCommand::Undo, "m0, \"blue\" for \"red\""),
        (SourceCommand::Undo, "m0"),
        (SourceCommand::Redo, "m0, \"blue\" for \"red\""),
        (SourceCommand::Redo, "m0, \"blue boot\" for \"red shoe\""),
    ] {
        act(&mut session, command);
        assert_eq!(names(&session).last().map(String::as_str), Some(wanted));
    }
    let close: fn(ColumnId) -> Command = |column| VariantCommand::Close(column).into();
    let remove: fn(ColumnId) -> Command = |column| ColumnCommand::Remove(column).into();
    for close in [close, remove] {
        let column = session.nth(1).id;
        act(&mut session, close(column));
        assert_eq!(session.app().document.columns.len(), 1);
        act(&mut session, SourceCommand::Undo);
        assert_eq!(session.app().document.columns.len(), 2);
    }
}

#[test]
fn a_variant_is_compared_with_its_original_in_words_and_rows() {
    let mut session = translated(1);
    let column = session.nth(0).id;
    let edit = replace("blue");
    let request = act(&mut session, VariantCommand::Word { column, j: 2, edit }).expect("a request");
    assert!(session.nth(1).difference.comparison.is_none(), "nothing is there yet");
    answer_one(&mut session, &request, &request.columns[1], "THE OLD BLUE SHOE </s>", true);
    let variant = session.nth(1);
    let comparison = variant.difference.comparison.as_ref().expect("both are there");
    assert_eq!(comparison.changed_sources, [false, false, true, false, false]);
    assert_eq!(comparison.changed_targets, [false, false, true, false, false]);
    let differs: Vec<bool> = variant.table.as_ref().expect("a table").target.iter().map(|word| word.differs).collect();
    assert_eq!(differs, comparison.changed_targets);
    let moved: Vec<[usize; 3]> = comparison.moved.iter().map(|one| [one.i, one.before, one.now]).collect();
    assert_eq!(moved, [[1, 1, 0], [3, 3, 0]]);
    let two_of_three = std::f64::consts::LN_2 * 2.0 / 3.0;
    assert!((comparison.divergence.expect("rows") - two_of_three).abs() < 1e-6);
    let own = session.nth(0).table.as_ref().expect("a table");
    assert!(own.target.iter().all(|word| !word.differs) && session.nth(0).difference.comparison.is_none());
}

#[test]
fn one_model_with_several_settings_side_by_side() {
    let mut session = translated(1);
    let usual = session.app().document.state.search;
    let greedy = SearchSettings { beam: 1, forbid_unk: true, ..usual };
    let command = beside(&session, 0, greedy);
    let request = act(&mut session, command.clone()).expect("a request");
    let options: Vec<(usize, bool)> =
        request.columns.iter().map(|spec| (spec.options.beam, spec.options.forbid_unk)).collect();
    assert_eq!(options, [(usual.beam, false), (1, true)]);
    assert_eq!(names(&session)[1], "m0, beam 1, never [UNK]");
    answer(&mut session, &request);
    act(&mut session, command);
    assert_eq!(
        (session.app().document.columns.len(), session.app().view.notices.len()),
        (2, 1),
        "the same is not opened again"
    );

    // what is left as it is follows the window
    let request = act(&mut session, SearchCommand::SetLengthNormalization(0.6)).expect("a request");
    assert!(request.columns.iter().all(|spec| spec.decode));
    act(&mut session, SearchCommand::SetBeam(1));
    assert_eq!(names(&session)[1], "m0, never [UNK]", "what is no longer other is not said");

    let column = session.app().document.columns[0].id;
    let settings =
        BesideSettings { search: session.app().document.state.search, replaces: true, has_interventions: true };
    act(&mut session, VariantCommand::Beside(column, settings));
    let shown: Vec<bool> = session.app().document.columns.iter().map(|column| session.app().replaces(column)).collect();
    assert_eq!(shown, [false, false, true]);
    act(&mut session, SettingsCommand::SetUnkReplacement(true));
    assert_eq!(names(&session)[2], "m0, as the original");
}

#[test]
fn interventions_of_a_variant_are_its_own() {
    let mut session = translated(1);
    let column = session.nth(0).id;
    let request = act(&mut session, InterveneCommand::Force { column, i: 1, word: Word::Entry("X".to_owned()) });
    answer(&mut session, &request.expect("a request"));
    let without =
        BesideSettings { search: session.app().document.state.search, replaces: false, has_interventions: false };
    let request = act(&mut session, VariantCommand::Beside(column, without)).expect("a request");
    assert!(!request.columns[0].interventions.is_empty() && request.columns[1].interventions.is_empty());
    assert_eq!(names(&session)[1], "m0, without interventions");
    answer(&mut session, &request);

    // acting on the variant leaves the original as it is
    let variant = session.nth(1).id;
    let before = Arc::clone(&session.app().document.state.interventions);
    let row = InterveneCommand::Row { column: variant, i: 0, edit: RowEdit::Uniform };
    let request = act(&mut session, row).expect("a request");
    assert_eq!((request.columns[0].interventions.pin.len(), request.columns[1].interventions.pin.len()), (0, 1));
    assert_eq!(session.app().document.state.interventions, before);
    answer(&mut session, &request);

    // another text keeps nothing of what belongs to words
    let request = change(&mut session, 1, 2, replace("blue"));
    assert!(request.columns[1].interventions.is_empty() && request.columns[1].source.is_some());
    act(&mut session, InterveneCommand::TakeAll);
    assert!(
        session.app().document.state.interventions.is_empty()
            && session.app().document.state.variants[0].interventions.is_none()
    );
}

#[test]
fn typing_elsewhere_carries_variants_along_and_another_text_closes_them() {
    let mut session = translated(1);
    change(&mut session, 0, 2, replace("blue"));
    let command = beside(&session, 0, SearchSettings { beam: 1, ..session.app().document.state.search });
    act(&mut session, command);
    let request = act(&mut session, SourceCommand::Edit("the old red shoes".to_owned())).expect("a request");
    let sources: Vec<&str> = request.columns.iter().map(|spec| spec.source_in(&request)).collect();
    assert_eq!(sources, ["the old red shoes", "the old blue shoes", "the old red shoes"]);
    act(&mut session, SourceCommand::Edit("the old redd shoes".to_owned()));
    assert_eq!(names(&session), ["m0", "m0, beam 1"], "it was typed in the word that the variant replaces");
    assert_eq!(session.app().view.notices.len(), 1);
    act(&mut session, SourceCommand::Undo);
    assert_eq!(names(&session).len(), 3);
    act(&mut session, SourceCommand::Replace("a dog".to_owned()));
    assert_eq!(names(&session), ["m0", "m0, beam 1"]);
    act(&mut session, SourceCommand::Undo);
    assert_eq!(names(&session).len(), 3);
}

#[test]
fn a_variant_becomes_the_sentence() {
    let mut session = translated(1);
    change(&mut session, 0, 2, replace("blue"));
    change(&mut session, 0, 1, WordEdit::Drop);
    let column = session.nth(1).id;
    let request = act(&mut session, VariantCommand::Adopt(column)).expect("a request");
    assert_eq!((request.source.as_str(), request.columns.len()), ("the old blue shoe", 2));
    assert_eq!(names(&session)[1], "m0, \"red\" for \"old blue\"", "the other is told beside the new sentence");
    act(&mut session, SourceCommand::Undo);
    assert_eq!((session.source(), session.app().document.columns.len()), ("the old red shoe", 3));
}

#[test]
fn variants_are_saved_with_the_sentence_and_stay_with_their_model() {
    let (_folder, path) = Folder::and_path("state.json");
    let mut session = translated(2);
    change(&mut session, 0, 2, replace("blue"));
    let search = SearchSettings { beam: 2, length_normalization: 0.5, forbid_unk: true, allow_unk: false };
    let column = session.app().document.columns[2].id;
    act(
        &mut session,
        VariantCommand::Beside(column, BesideSettings { search, replaces: true, has_interventions: true }),
    );
    let before = names(&session);
    session.saved().save(&path).expect("saved");
    let state = load_or_set_aside(&path).state.expect("a state");
    let again = Session::start(Some(state.clone()), &OpenWith::default());
    assert_eq!(again.app().document.columns.len(), 4);
    let told = |session: &Session| -> Vec<Option<String>> {
        session
            .app()
            .document
            .columns
            .iter()
            .map(|column| column.difference.label.as_ref().map(|told| told.text()))
            .collect()
    };
    assert_eq!(told(&again), told(&session), "{before:?}");
    let kept = |state: &SavedSession| serde_json::to_value(&state.variants).expect("plain values");
    assert_eq!(kept(&again.saved()), kept(&state));

    // a model that is removed takes its variants from the screen and brings them back with it
    let original = session.nth(0).id;
    act(&mut session, ColumnCommand::Remove(original));
    assert_eq!(session.app().document.columns.len(), 2);
    act(&mut session, ColumnCommand::Add("models/m0".into()));
    assert_eq!(session.app().document.columns.len(), 4);
    let mut lost = session.saved();
    lost.source = Some("x".repeat(200_000));
    lost.save(&path).expect("saved");
    assert!(load_or_set_aside(&path).state.expect("a state").variants.is_empty(), "their text is not there any more");
}

#[test]
fn files_name_the_variant() {
    let mut session = translated(1);
    change(&mut session, 0, 2, replace("blue"));
    let (original, variant) = (session.nth(0), session.nth(1));
    let text = |column, format| export::text(column, &session.app().view.settings, format).expect("a file");
    let said = "\"blue\" for \"red\"";
    assert!(text(variant, AlignmentFormat::Tsv).contains("variant"), "{}", text(variant, AlignmentFormat::Tsv));
    assert!(text(original, AlignmentFormat::Tsv).starts_with("target\tlog_p\tthe"));
    let json = json_of(&text(variant, AlignmentFormat::Json));
    assert_eq!(json["variant"]["differs"], serde_json::json!([said]));
    assert_eq!(json["variant"]["of"], "the old red shoe");
    assert_eq!(json["variant"]["divergence"], 0.0);
    assert!(!text(original, AlignmentFormat::Json).contains("variant"));
    assert!(export::note(variant, AlignmentFormat::Pharaoh).expect("a note").contains(said));
    assert!(export::note(original, AlignmentFormat::Pharaoh).is_none());
    for kind in ["heatmap", "links", "beam"] {
        let drawing = Drawing::new(kind, false);
        let picture = export::picture(
            variant,
            &session.app().document.state.search,
            &session.app().view.settings,
            &drawing,
            None,
        );
        let svg = FigureRequest::from(picture.expect("a picture")).bytes(std::path::Path::new("a.svg")).expect("drawn");
        let svg = String::from_utf8(svg).expect("text");
        assert!(svg.contains("variant: &quot;blue&quot;") || svg.contains("variant: \"blue\""), "{kind}: {svg:.400}");
        assert!(svg.contains("the old red shoe"), "{kind} has the original in its provenance");
    }
}

#[test]
fn what_makes_no_variant_is_said() {
    let mut session = translated(1);
    let column = session.nth(0).id;
    for (j, edit) in [(4, WordEdit::Drop), (2, replace("red")), (9, WordEdit::Drop), (3, WordEdit::Swap)] {
        assert!(act(&mut session, VariantCommand::Word { column, j, edit: edit.clone() }).is_none(), "{edit:?}");
    }
    assert_eq!(session.app().view.notices.len(), 1);
    assert!(act(&mut session, VariantCommand::Text { column, text: "  ".to_owned() }).is_none());
    for n in 0..14 {
        act(&mut session, VariantCommand::Text { column, text: format!("the shoe {n}") });
    }
    assert_eq!(
        (session.app().document.columns.len(), session.app().view.notices.len()),
        (13, 2),
        "there is an end of variants"
    );
}

#[test]
fn neighbours_are_asked_for_once_and_forgotten() {
    let mut session = translated(1);
    let column = session.nth(0).id;
    let request = act(&mut session, VariantCommand::Near(Some((column, 2)))).expect("a request");
    assert_eq!(request.near, Some(Near { column, word: "red".to_owned() }));
    assert!(request.columns.iter().all(|spec| !spec.decode));
    let near = Ok(vec![("blue".to_owned(), 0.5)]);
    assert!(session.absorb(Event::Near { number: request.number, column, near: near.clone() }));
    assert_eq!(session.sentence().near.as_ref().expect("asked for").found, Some(near));
    let request = act(&mut session, SourceCommand::Edit("the old red shoes".to_owned())).expect("a request");
    assert_eq!(request.near, None);
    act(&mut session, VariantCommand::Near(None));
    assert!(session.sentence().near.is_none());
}

#[test]
fn a_caption_names_the_beam_of_a_variant_once() {
    let mut session = translated(1);
    let search = SearchSettings { beam: 1, ..session.app().document.state.search };
    let command = beside(&session, 0, search);
    let request = act(&mut session, command).expect("a request");
    answer(&mut session, &request);
    let variant = session.nth(1);
    let drawing = Drawing { has_caption: true, ..Drawing::default() };
    let picture = export::picture(variant, &search, &session.app().view.settings, &drawing, None).expect("a picture");
    let svg = String::from_utf8(FigureRequest::from(picture).bytes(std::path::Path::new("a.svg")).expect("drawn"))
        .expect("text");
    assert!(svg.contains("variant: beam 1, hypothesis 1") && !svg.contains("beam 1, beam 1"), "{svg:.600}");
}
