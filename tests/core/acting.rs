//! Acting on the decoder: what a session asks for, what the worker makes of it, and what comes back marked.

use std::{path::Path, sync::Arc};

use interlinear::app::document::tree::{DrawnTree, SearchTree, ShownTree, TreeTrace};
use interlinear::app::files::{drawing::Drawing, export, export::AlignmentFormat, picture::FigureRequest};
use interlinear::app::{command::SourceCommand, document::column::Column, document::hand::TakenAway};
use interlinear::decoding::{Hypothesis, NodeFate, SearchOptions, Specials, decode, force};
use interlinear::interventions::{
    Applied, Forbid, Force, Intervening, Intervention, Interventions, Pin, Place, Said, SetAlpha, Word,
};
use interlinear::jobs::live::protocol::{ColumnId, ColumnResult, Event, HypothesisView, Request, UntouchedTranslation};
use interlinear::models::{Kernels, Model};
use interlinear::pages::sentence::command::{InterveneCommand, RowEdit, SearchCommand};
use interlinear::session::{driver::OpenWith, persist::load_or_set_aside, state::Session};
use interlinear::{figure::palette::Palette, figure::tree::NodeState, nn::device::Device};
use interlinear::{text::cut::WordRule, text::pieces::PieceMarks};

use crate::cli::{json_of, reference};
use crate::effects::{Shows as _, act, facts, node, with_models};
use crate::session::{hypothesis_with, sentence, told};
use crate::worker::{request, serve_all, store, story};
use crate::{folder::Folder, forever, models::FOLDERS};

const SOURCE: &str = "s9 s31 s17 s4";
const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };

fn entry(word: &str) -> Word {
    Word::Entry(word.to_owned())
}

fn start(i: usize, word: &str, is_forced: bool) -> Force {
    Force { i, word: entry(word), held: !is_forced }
}

fn weights(set: &Interventions, n: usize) -> Vec<f32> {
    match &set.pin[n].alpha {
        SetAlpha::Weights(weights) => weights.clone(),
        other => panic!("{other:?}"),
    }
}

fn served(
    folder: &Path, interventions: &Interventions,
) -> (ColumnResult, Option<UntouchedTranslation>, Vec<&'static str>) {
    let mut wanted = request(1, SOURCE, &[folder.to_path_buf()]);
    wanted.columns[0].interventions = Arc::new(interventions.clone());
    let events = serve_all(&wanted, &mut store(), &forever());
    let (mut result, mut untouched) = (ColumnResult::default(), None);
    let story = story(&events, 1);
    for event in events {
        match event {
            Event::Finished { result: found, .. } => result = found,
            Event::Untouched { untouched: found, .. } => untouched = Some(found),
            Event::Failed { message, .. } | Event::LoadFailed { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
    (result, untouched, story)
}

fn begun(best: &HypothesisView) -> String {
    let word = best.candidates[0].iter().map(|(word, _)| word).find(|word| *word != "</s>");
    word.expect("another word").clone()
}

fn ids(model: &Model, text: &str) -> Vec<u32> {
    model.source.encode(text).ids
}

#[test]
fn an_untouched_request_is_served_as_ever() {
    let (result, untouched, story) = served(&reference("rnnsearch"), &Interventions::default());
    assert!(untouched.is_none());
    assert_eq!(story, ["loading", "loaded", "started", "row", "finished"]);
    assert!(result.hypotheses.iter().all(|one| *one.touched == Applied::default()));
}

#[test]
fn a_forced_word_is_said_by_every_model_after_the_words_that_are_held() {
    for name in FOLDERS {
        let (plain, ..) = served(&reference(name), &Interventions::default());
        let best = &plain.hypotheses[0];
        let first = begun(best);
        let held = Interventions { force: vec![start(0, &first, false)], ..Interventions::default() };
        let (second, ..) = served(&reference(name), &held);
        // another candidate of the second word
        let second = &second.hypotheses[0];
        let other = second.candidates[1].iter().map(|(word, _)| word).find(|word| **word != second.tokens[1]);
        let other = other.expect("another candidate").clone();
        let words = vec![start(0, &first, false), start(1, &other, true)];
        let (forced, untouched, story) =
            served(&reference(name), &Interventions { force: words, ..Interventions::default() });
        assert_eq!(story[story.len() - 2..], ["finished", "untouched"], "{name}");
        let model = Model::load(reference(name), &Device::cpu()).expect("the fixture loads");
        for hypothesis in &forced.hypotheses {
            assert_eq!(hypothesis.tokens[..2], [first.clone(), other.clone()], "{name}");
            let said: Vec<Said> = (0..3).map(|i| hypothesis.touched.said(i)).collect();
            assert_eq!(said, [Said::Held, Said::Forced, Said::Free]);
            // whoever chose the words, they have the probability that the model gives them
            let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
            let pair: (&[u32], &[u32]) = (&ids(&model, SOURCE), &hypothesis.found.tokens);
            let score = force(&mut *stepper, &[pair], &forever()).expect("scored").remove(0);
            assert!((score.log_p - hypothesis.found.log_p).abs() < 1e-3, "{name}");
            let (set, free) = hypothesis.touched.parts(&hypothesis.found.token_log_p);
            assert!((set - score.token_log_p[..2].iter().sum::<f32>()).abs() < 1e-3, "{name}");
            assert!((set + free - hypothesis.found.log_p).abs() < 1e-4, "{name}");
            assert!(hypothesis.candidates[1].len() == 3, "a forced word has candidates too");
        }
        let untouched = untouched.expect("what the model does by itself");
        assert_eq!(untouched.best.tokens, best.tokens, "{name}");
        assert!(untouched.shifts.iter().all(|shift| shift.divergence < 1e-6), "{name}: the same alpha");
    }
}

#[test]
fn a_pinned_row_is_looked_at_and_the_shift_is_what_the_definitions_say() {
    for name in FOLDERS {
        let (plain, ..) = served(&reference(name), &Interventions::default());
        let t_x = 5;
        let alpha = vec![0.0, 0.0, 0.0, 1.0, 0.0];
        let wanted = Interventions {
            force: vec![start(0, &begun(&plain.hypotheses[0]), false)],
            pin: vec![Pin { i: 1, alpha: SetAlpha::Weights(alpha.clone()) }],
            mask: vec![Place::Bytes(0..2)],
            temperature: Some(2.0),
            ..Interventions::default()
        };
        let (result, untouched, _) = served(&reference(name), &wanted);
        let best = &result.hypotheses[0];
        let Some(rows) = &best.found.alpha else {
            assert_eq!(best.touched.notes.len(), 1, "{name} says that it has no alignment");
            continue;
        };
        assert_eq!(rows[1], alpha, "{name}");
        assert!(rows.iter().enumerate().all(|(i, row)| i == 1 || row[0] == 0.0), "{name}: the first word is masked");
        assert_eq!((best.touched.pinned(), best.touched.masked()), (vec![1], vec![0]));

        let model = Model::load(reference(name), &Device::cpu()).expect("the fixture loads");
        let source = ids(&model, SOURCE);
        assert_eq!(source.len(), t_x);
        let list: Arc<[Intervention]> = Arc::from([
            Intervention::Force { i: 0, token: best.found.tokens[0] },
            Intervention::Pin { i: 1, alpha: alpha.clone() },
            Intervention::Mask { j: 0 },
            Intervention::Temperature(2.0),
        ]);
        let options = SearchOptions { trace: true, candidates: 3, max_length: Some(8), ..SearchOptions::default() };
        let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
        let mut changed = Intervening::new(&mut *stepper, vec![Arc::clone(&list)]);
        let direct = decode(&mut changed, SPECIALS, &[&source], &options, &forever(), &mut |_, _| ());
        assert_eq!(direct.expect("decoded")[0].hypotheses[0].tokens, best.found.tokens, "{name}");

        let pair: (&[u32], &[u32]) = (&source, &best.found.tokens);
        let score = force(&mut *stepper, &[pair], &forever()).expect("scored").remove(0);
        let untouched = untouched.expect("what the model does by itself");
        assert_eq!(untouched.best.tokens, plain.hypotheses[0].tokens, "{name}");
        assert_eq!(untouched.shifts.len(), best.found.tokens.len());
        for (i, shift) in untouched.shifts.iter().enumerate() {
            assert!((shift.log_p - score.token_log_p[i]).abs() < 1e-3, "{name}, word {i}");
            assert!((0.0..=1.0).contains(&shift.divergence) && shift.before.len() == 3 && shift.after.len() == 3);
        }
        assert!(untouched.shifts.iter().any(|shift| shift.divergence > 0.0), "{name}: it says other words");
    }
}

#[test]
fn forbidden_words_are_not_said_unless_they_are_forced() {
    let folder = reference("rnnsearch");
    let (plain, ..) = served(&folder, &Interventions::default());
    let words = &plain.hypotheses[0].tokens;
    let everywhere = Forbid { i: None, word: entry(&words[0]) };
    let (result, ..) = served(&folder, &Interventions { forbid: vec![everywhere.clone()], ..Interventions::default() });
    assert!(result.hypotheses.iter().all(|one| !one.tokens.contains(&words[0])));
    assert!(!result.hypotheses[0].touched.is_untouched());
    let force = vec![start(0, &words[0], true)];
    let (result, ..) = served(&folder, &Interventions { force, forbid: vec![everywhere], ..Interventions::default() });
    assert!(result.hypotheses.iter().all(|one| one.tokens[0] == words[0] && !one.tokens[1..].contains(&words[0])));
}

#[test]
fn what_a_model_cannot_do_is_left_out_with_a_sentence() {
    let unheard = Interventions {
        force: vec![Force { i: 0, word: Word::Typed("unheard".to_owned()), held: false }],
        forbid: vec![Forbid { i: None, word: entry("unheard") }],
        pin: vec![Pin { i: 0, alpha: SetAlpha::Weights(vec![1.0]) }],
        ..Interventions::default()
    };
    let (result, untouched, _) = served(&reference("rnnsearch"), &unheard);
    let notes = &result.hypotheses[0].touched.notes;
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].contains("unheard") && notes[2].contains("the source has 5 words"), "{notes:?}");
    assert!(untouched.is_none(), "nothing was changed");
}

// The session.

fn finished(request: &Request, column: ColumnId, words: &str) -> [Event; 2] {
    let source = sentence(&request.source);
    let t_x = source.len();
    let set = &request.columns.iter().find(|spec| spec.column == column).expect("it is asked for").interventions;
    let touched = Applied { form: (**set).clone(), notes: Vec::new() };
    let best = hypothesis_with(words, t_x, |i, j| if i == j { 0.5 } else { 0.5 / (t_x - 1) as f32 });
    told(request.number, column, source, HypothesisView { touched: Arc::new(touched), ..best })
}

pub fn acted_on(columns: usize) -> (Session, Vec<ColumnId>) {
    let mut session = with_models(columns, |_| facts());
    let ids = session.ids();
    let request = act(&mut session, SourceCommand::Replace("the red shoe".to_owned())).expect("a request");
    answer(&mut session, &request, "la chaussure rouge </s>");
    (session, ids)
}

pub fn answer(session: &mut Session, request: &Request, words: &str) {
    for spec in request.columns.iter().filter(|spec| spec.decode) {
        for event in finished(request, spec.column, words) {
            session.absorb(event);
        }
    }
}

fn column(session: &Session, id: ColumnId) -> &Column {
    session.app().document.column(id).expect("the column")
}

pub fn asked(request: &Request, column: ColumnId) -> Interventions {
    let spec = request.columns.iter().find(|spec| spec.column == column).expect("it is asked for");
    (*spec.interventions).clone()
}

fn force_word(column: ColumnId, i: usize, word: &str) -> InterveneCommand {
    InterveneCommand::Force { column, i, word: entry(word) }
}

#[test]
fn forcing_a_word_holds_those_before_it_and_undo_takes_it_back() {
    let (mut session, ids) = acted_on(2);
    let request = act(&mut session, force_word(ids[0], 1, "botte")).expect("a request");
    assert_eq!(asked(&request, ids[0]).force, [start(0, "la", false), start(1, "botte", true)]);
    assert!(asked(&request, ids[1]).is_empty());
    let decoded: Vec<bool> = request.columns.iter().map(|spec| spec.decode).collect();
    assert_eq!(decoded, [true, false], "the other column has nothing to do");
    answer(&mut session, &request, "la botte rouge </s>");
    let table = column(&session, ids[0]).table.clone().expect("a table");
    let said: Vec<Said> = table.target.iter().map(|word| word.said).collect();
    assert_eq!(said, [Said::Held, Said::Forced, Said::Free, Said::Free]);
    assert_eq!(table.log_p_parts, Some((-1.0, -1.0)));

    // a further word keeps the first one forced
    let request = act(&mut session, force_word(ids[0], 3, "fine")).expect("a request");
    let prefix = [start(0, "la", false), start(1, "botte", true), start(2, "rouge", false), start(3, "fine", true)];
    assert_eq!(asked(&request, ids[0]).force, prefix);
    let take = |at| InterveneCommand::Take { column: ids[0], what: TakenAway::Word(at) };
    let request = act(&mut session, take(3)).expect("a request");
    assert_eq!(asked(&request, ids[0]).force, prefix[..2], "held words go with what needed them");
    let request = act(&mut session, SourceCommand::Undo).expect("a request");
    assert_eq!(asked(&request, ids[0]).force, prefix);
    let request = act(&mut session, take(1)).expect("a request");
    assert!(asked(&request, ids[0]).is_empty(), "what followed from a forced word goes with it");
    for expected in [4, 2, 0] {
        let request = act(&mut session, SourceCommand::Undo).expect("a request");
        assert_eq!(asked(&request, ids[0]).force.len(), expected);
    }
    let request = act(&mut session, SourceCommand::Redo).expect("a request");
    assert_eq!(asked(&request, ids[0]).force, prefix[..2]);
}

#[test]
fn another_text_keeps_only_what_holds_for_every_word() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    let never = Forbid { i: None, word: entry("rouge") };
    act(&mut session, InterveneCommand::Ban { column: id, i: None, word: entry("rouge"), in_all: false });
    act(&mut session, InterveneCommand::Temperature { column: id, temperature: 2.0, goes_on: false });
    act(&mut session, InterveneCommand::Mask { column: id, j: 1, is_masked: true, in_all: false });
    let request = act(&mut session, force_word(id, 1, "botte")).expect("a request");
    let whole = asked(&request, id);
    assert_eq!((&whole.mask, &whole.forbid), (&vec![Place::Bytes(4..7)], &vec![never.clone()]));
    let request = act(&mut session, SourceCommand::Edit("the red shoes".to_owned())).expect("a request");
    let left = Interventions { forbid: vec![never], temperature: Some(2.0), ..Interventions::default() };
    assert_eq!(asked(&request, id), left);
    assert_eq!(session.app().view.notices.len(), 1);
    let request = act(&mut session, SourceCommand::Undo).expect("a request");
    assert_eq!((request.source.as_str(), asked(&request, id)), ("the red shoe", whole));
    let request = act(&mut session, InterveneCommand::TakeAll).expect("a request");
    assert!(asked(&request, id).is_empty());
    assert!(!request.columns[0].decode, "the result of this very text is on screen");
    assert!(act(&mut session, InterveneCommand::TakeAll).is_none());
}

#[test]
fn a_row_is_set_held_and_dragged_as_one_step() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    let weight =
        |weight, goes_on| InterveneCommand::Weight { column: id, i: 2, j: 0, weight, renormalise: true, goes_on };
    act(&mut session, weight(0.2, false));
    act(&mut session, weight(0.4, true));
    let request = act(&mut session, weight(0.7, true)).expect("a request");
    let set = asked(&request, id);
    assert_eq!(set.force, [start(0, "la", false), start(1, "chaussure", false)]);
    let alpha = weights(&set, 0);
    assert!(set.pin.len() == 1 && set.pin[0].i == 2);
    assert!((alpha[0] - 0.7).abs() < 1e-6 && (alpha.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{alpha:?}");
    assert!((alpha[2] / alpha[1] - 3.0).abs() < 1e-4, "the others keep their proportions: {alpha:?}");
    answer(&mut session, &request, "la chaussure rouge </s>");
    let table = column(&session, id).table.clone().expect("a table");
    assert!(table.target[2].is_pinned && !table.target[1].is_pinned);

    // an earlier row goes on from there
    let request = act(&mut session, InterveneCommand::Row { column: id, i: 1, edit: RowEdit::OneHot(0) });
    let set = asked(&request.expect("a request"), id);
    assert_eq!((set.force.len(), set.pin.iter().map(|pin| pin.i).collect::<Vec<_>>()), (1, vec![1, 2]));
    assert_eq!(weights(&set, 0), [1.0, 0.0, 0.0, 0.0]);
    act(&mut session, InterveneCommand::Row { column: id, i: 1, edit: RowEdit::Free });
    let request = act(&mut session, InterveneCommand::Take { column: id, what: TakenAway::Pin(2) }).expect("a request");
    assert!(asked(&request, id).is_empty(), "nothing is held for nothing");

    for _ in 0..3 {
        act(&mut session, SourceCommand::Undo);
    }
    let request = act(&mut session, SourceCommand::Undo).expect("a request");
    assert!(asked(&request, id).is_empty(), "the drag was one step");
}

#[test]
fn a_word_that_was_just_forced_is_not_lost_by_a_row_that_is_set_before_the_answer() {
    let (mut session, ids) = acted_on(1);
    act(&mut session, force_word(ids[0], 1, "botte"));
    let request = act(&mut session, InterveneCommand::Row { column: ids[0], i: 2, edit: RowEdit::Uniform });
    let prefix = asked(&request.expect("a request"), ids[0]).force;
    assert_eq!(prefix, [start(0, "la", false), start(1, "botte", true)]);
    assert!(act(&mut session, force_word(ids[0], 3, "x")).is_none(), "nobody knows the word before it yet");
    assert_eq!(session.app().view.notices.len(), 1);
}

#[test]
fn rows_are_made_of_other_rows() {
    let (mut session, ids) = acted_on(2);
    let id = ids[0];
    let mut row = |edit| {
        let request = act(&mut session, InterveneCommand::Row { column: id, i: 0, edit }).expect("a request");
        let set = asked(&request, id);
        act(&mut session, SourceCommand::Undo);
        weights(&set, 0)
    };
    assert_eq!(row(RowEdit::Uniform), [0.25; 4]);
    assert_eq!(row(RowEdit::Reversed)[3], 0.5);
    assert_eq!(row(RowEdit::Like(ids[1]))[0], 0.5);
    let permuted = row(RowEdit::Permuted(7));
    assert_eq!(permuted, row(RowEdit::Permuted(7)));
    assert!((permuted.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert!(act(&mut session, InterveneCommand::Row { column: id, i: 0, edit: RowEdit::Links }).is_none());
    assert_eq!(session.app().view.notices.len(), 1, "the links are not shown, and a sentence says so");
}

/// The row of whatever stood at the same place was taken, which the hover did not show.
#[test]
fn there_is_no_row_like_that_of_a_word_which_the_other_column_does_not_say() {
    let (mut session, ids) = acted_on(2);
    let request = act(&mut session, force_word(ids[1], 1, "botte")).expect("a request");
    answer(&mut session, &request, "la botte rouge </s>");
    let like = |i| InterveneCommand::Row { column: ids[0], i, edit: RowEdit::Like(ids[1]) };
    assert!(act(&mut session, like(1)).is_none(), "it says no chaussure");
    let notices = &session.app().view.notices;
    assert!(notices.iter().any(|notice| notice.text == "The other column does not say this word"));
    assert!(act(&mut session, like(0)).is_some(), "both say la");
}

/// 10,000 bytes were the most, though a source may have 100,000.
#[test]
fn a_translation_that_is_forced_may_be_as_long_as_a_source() {
    let (mut session, ids) = acted_on(1);
    let text = "shoes ".repeat(5_000);
    let request = act(&mut session, InterveneCommand::Whole { column: ids[0], text }).expect("a request");
    assert!(!asked(&request, ids[0]).is_empty());
}

#[test]
fn masks_and_bans_may_hold_in_all_columns() {
    let (mut session, ids) = acted_on(2);
    let mask = |j, is_masked, in_all| InterveneCommand::Mask { column: ids[1], j, is_masked, in_all };
    act(&mut session, mask(3, true, true));
    let request = act(&mut session, mask(1, true, false)).expect("a request");
    let masks = asked(&request, ids[0]).mask;
    assert_eq!(masks, [Place::Bytes(12..12)], "`</s>`");
    assert_eq!(asked(&request, ids[1]).mask, [Place::Bytes(4..7), Place::Bytes(12..12)]);
    let request = act(&mut session, mask(3, false, true)).expect("a request");
    assert!(asked(&request, ids[0]).is_empty());
    let ban = InterveneCommand::Ban { column: ids[0], i: None, word: Word::Typed("rouge".to_owned()), in_all: true };
    let request = act(&mut session, ban).expect("a request");
    assert!(ids.iter().all(|id| asked(&request, *id).forbid.len() == 1));
    // in place of a word, behind those before it
    let ban = InterveneCommand::Ban { column: ids[0], i: Some(2), word: entry("rouge"), in_all: false };
    let request = act(&mut session, ban).expect("a request");
    let set = asked(&request, ids[0]);
    assert_eq!((set.force.len(), set.forbid[1].i), (2, Some(2)));
}

#[test]
fn interventions_come_back_with_the_saved_state() {
    let (mut session, ids) = acted_on(1);
    act(&mut session, force_word(ids[0], 1, "botte"));
    act(&mut session, InterveneCommand::Row { column: ids[0], i: 2, edit: RowEdit::Uniform });
    act(&mut session, InterveneCommand::Mask { column: ids[0], j: 1, is_masked: true, in_all: false });
    act(
        &mut session,
        InterveneCommand::Ban { column: ids[0], i: None, word: Word::Typed("x".to_owned()), in_all: true },
    );
    act(&mut session, InterveneCommand::Temperature { column: ids[0], temperature: 0.5, goes_on: false });
    let (_folder, path) = Folder::and_path("state.json");
    session.saved().save(&path).expect("saved");
    let found = load_or_set_aside(&path);
    assert_eq!(found.trouble, None);
    let again = Session::start(found.state, &OpenWith::default());
    assert_eq!(again.app().document.state.interventions, session.app().document.state.interventions);
    assert!(!again.app().document.state.interventions.is_empty());
    // without its text nothing is left of them
    let mut lost = session.saved();
    lost.source = Some("x".repeat(200_000));
    lost.save(&path).expect("saved");
    let state = load_or_set_aside(&path).state.expect("a state");
    assert!(state.interventions.is_empty());
}

#[test]
fn files_say_what_was_set_and_by_whom_each_word_was_chosen() {
    let (mut session, ids) = acted_on(1);
    let plain =
        export::text(column(&session, ids[0]), &session.app().view.settings, AlignmentFormat::Tsv).expect("a table");
    assert!(plain.starts_with("target\tlog_p\tthe\t"), "{plain}");
    let json = export::json_line(column(&session, ids[0]));
    assert!(!json.contains("interventions") && !json.contains("forced"), "{json}");

    act(&mut session, force_word(ids[0], 1, "botte"));
    let request = act(&mut session, InterveneCommand::Row { column: ids[0], i: 2, edit: RowEdit::Uniform });
    answer(&mut session, &request.expect("a request"), "la botte rouge </s>");
    let shown = column(&session, ids[0]);
    let tsv = export::text(shown, &session.app().view.settings, AlignmentFormat::Tsv).expect("a table");
    let heads: Vec<&str> = tsv.lines().map(|line| line.split("\t0").next().unwrap_or(line)).collect();
    assert!(heads[0].starts_with("target\tlog_p\tword\trow\tthe"), "{tsv}");
    let by: Vec<Vec<&str>> = tsv.lines().skip(1).map(|line| line.split('\t').skip(2).take(2).collect()).collect();
    assert_eq!(by, [["held", "model"], ["forced", "model"], ["free", "set"], ["free", "model"]]);
    let json = json_of(&export::json_line(shown));
    let said = "Set by hand: word 2 is \"botte\"; alpha of word 3 is set; 1 word before is held";
    let set = serde_json::json!({"version": 1, "pin": [{"row": 3, "alpha": {"weights": [0.25, 0.25, 0.25, 0.25]}}],
        "force": [{"position": 1, "word": "la", "held": true}, {"position": 2, "word": "botte"}]});
    assert_eq!(json["interventions"], set);
    let hypothesis = &json["hypotheses"][0];
    assert_eq!(hypothesis["forced"], serde_json::json!([true, true, false, false]));
    assert_eq!(hypothesis["pinned"], serde_json::json!([false, false, true, false]));
    assert_eq!((&hypothesis["log_p_forced"], &hypothesis["log_p_free"]), (&(-1.0).into(), &(-1.0).into()));
    let note = export::note(shown, AlignmentFormat::Pharaoh).expect("a note");
    assert!(note.ends_with(said), "{note}");

    let picture = |kind| {
        let drawing = Drawing::new(kind, false);
        let picture =
            export::picture(shown, &session.app().document.state.search, &session.app().view.settings, &drawing, None);
        let bytes = FigureRequest::from(picture.expect("a picture")).bytes(Path::new("a.svg")).expect("drawn");
        String::from_utf8(bytes).expect("text")
    };
    assert!(
        export::beam_tsv(shown).starts_with(
            "rank\tlog_p\tranked_by\tlog_p_per_word\tlog_p_per_token\tlog_p_set\tlog_p_free\ttranslation\n"
        )
    );
    assert!(
        export::source_tsv(shown.table.as_deref().expect("a table"), interlinear::app::settings::Shown::Alpha, 0)
            .starts_with("target\tword\trow\tthe\n")
    );
    for kind in ["heatmap", "links", "beam"] {
        let svg = picture(kind);
        assert!(svg.contains("Set by hand") && svg.contains("log p of free words"), "{kind}");
        let set = Palette::of(false).set.channels();
        let colour = format!("#{:02x}{:02x}{:02x}", set[0], set[1], set[2]);
        assert!(svg.to_lowercase().contains(&colour), "{kind} has no mark of what was set");
    }
}

#[test]
fn what_the_model_does_by_itself_stays_beside_the_column() {
    let (mut session, ids) = acted_on(1);
    let request = act(&mut session, force_word(ids[0], 1, "botte")).expect("a request");
    answer(&mut session, &request, "la botte rouge </s>");
    let untouched = UntouchedTranslation::default();
    assert!(session.absorb(Event::Untouched { number: request.number, column: ids[0], untouched }));
    assert!(column(&session, ids[0]).baseline.untouched.is_some() && !column(&session, ids[0]).set.is_empty());
    let request = act(&mut session, InterveneCommand::TakeAll).expect("a request");
    answer(&mut session, &request, "la chaussure rouge </s>");
    assert!(column(&session, ids[0]).baseline.untouched.is_none() && column(&session, ids[0]).set.is_empty());
}

#[test]
fn the_search_is_a_tree_that_says_why_branches_ended() {
    let mut wanted = request(1, SOURCE, &[reference("rnnsearch")]);
    wanted.columns[0].options.beam = 3;
    let events = serve_all(&wanted, &mut store(), &forever());
    let options = OpenWith { models: vec![reference("rnnsearch").into()], ..OpenWith::default() };
    let mut session = Session::start(None, &options);
    act(&mut session, SearchCommand::SetBeam(3));
    let request = act(&mut session, SourceCommand::Replace(SOURCE.to_owned())).expect("a request");
    let id = session.nth(0).id;
    for event in events {
        let event = match event {
            Event::Loaded { facts, .. } => Event::Loaded { column: id, facts },
            Event::Started { source, context, .. } => {
                Event::Started { number: request.number, column: id, source, context }
            }
            Event::Finished { result, .. } => Event::Finished { number: request.number, column: id, result },
            _ => continue,
        };
        session.absorb(event);
    }
    let shown = column(&session, id);
    let tree = SearchTree::of(shown).expect("a tree");
    assert_eq!(tree.nodes.len(), shown.result.nodes.len());
    let nodes = &tree.nodes;
    let kept = |step: usize| nodes.iter().filter(|node| node.step == step && node.is_kept).count();
    let ended =
        |step: usize| nodes.iter().filter(|node| node.step == step && node.state == NodeState::Finished).count();
    let mut room = 3;
    for step in 0..tree.steps {
        assert_eq!(kept(step), room, "step {step}");
        room -= ended(step);
    }
    // the shown hypothesis is on the first line
    let best: Vec<&str> = nodes.iter().filter(|node| node.is_best).map(|node| node.text.as_str()).collect();
    assert_eq!(best, shown.hypotheses[0].tokens);
    let last = nodes.iter().rposition(|node| node.is_best).expect("a best node");
    assert_eq!(tree.words(last), shown.hypotheses[0].tokens);
    for (at, node) in nodes.iter().enumerate() {
        let reason = tree.reason(at);
        let start = match node.state {
            NodeState::Inner | NodeState::Pruned if node.is_kept => "Kept",
            NodeState::Inner | NodeState::Pruned => "Pruned, since the beam was full",
            NodeState::Finished => "Finished",
            NodeState::Cut => "Cut",
        };
        assert!(reason.starts_with(start), "{reason}");
        assert!(node.children.iter().all(|child| nodes[*child].parent == Some(at)));
        assert!(node.children.windows(2).all(|two| {
            let (a, b) = (&nodes[two[0]], &nodes[two[1]]);
            a.is_best || a.state != NodeState::Pruned && b.state == NodeState::Pruned || a.total >= b.total
        }));
    }
    // grown by one step it has the first words that were kept; whole and with what was pruned it has all nodes
    let drawn = |steps, pruned| tree.shown(&ShownTree { steps, pruned, ..ShownTree::default() });
    let first = drawn(1, false).nodes;
    assert_eq!(first.len(), kept(0));
    assert!(first.iter().all(|node| node.parent.is_none() && node.hidden == 0));
    let all = drawn(tree.steps, true);
    assert_eq!(all.nodes.len(), nodes.len());
    let last = |place: usize| all.id(place).expect("every node is drawn");
    for (place, node) in all.nodes.iter().enumerate() {
        assert_eq!((all.place(last(place)), all.part_of(last(place))), (Some(place), vec![last(place)]));
        assert!(node.parent.is_none_or(|parent| parent < place && nodes[last(place)].parent == Some(last(parent))));
        assert_eq!(node.step, nodes[last(place)].step);
    }
    let few = drawn(tree.steps, false).nodes;
    let hidden: usize = few.iter().map(|node| node.hidden).sum();
    assert!(hidden > 0 && few.iter().all(|node| node.state != NodeState::Pruned));

    // a branch that was pruned is gone on with
    let pruned = nodes.iter().rposition(|node| !node.is_kept).expect("one that was pruned");
    let follow = InterveneCommand::Follow { column: id, tokens: tree.words(pruned) };
    let asked = asked(&act(&mut session, follow).expect("a request"), id);
    let words: Vec<String> = asked.force.iter().map(|start| start.word.text().to_owned()).collect();
    assert_eq!(words, tree.words(pruned));
    assert!(asked.force.iter().enumerate().all(|(at, start)| start.held != (at + 1 == words.len())));
}

#[test]
fn pieces_of_a_word_with_no_branch_between_are_one_node() {
    // `▁la ▁chau ssure </s>`, with `ssette` beside `ssure` and `▁le` beside `▁la`, all kept, and a pruned `▁un`
    let words = ["</s>", "\u{2581}la", "\u{2581}chau", "ssure", "ssette", "\u{2581}le", "\u{2581}un", "d", "ie"];
    let node = |id, parent, step, token, log_p, fate| node(id, (parent, step), token, [log_p, -(id as f32)], fate);
    let nodes = [
        node(0, None, 0, 1, -0.1, NodeFate::Alive),
        node(1, None, 0, 5, -0.2, NodeFate::Alive),
        node(2, None, 0, 6, -9.0, NodeFate::Pruned),
        node(3, Some(0), 1, 2, -0.1, NodeFate::Alive),
        node(4, Some(1), 1, 7, -0.5, NodeFate::Alive),
        node(5, Some(3), 2, 3, -0.2, NodeFate::Alive),
        node(6, Some(3), 2, 4, -0.3, NodeFate::Alive),
        node(7, Some(4), 2, 8, -0.4, NodeFate::Alive),
        node(8, Some(5), 3, 0, -0.1, NodeFate::Finished),
        node(9, Some(6), 3, 0, -0.1, NodeFate::Finished),
        node(10, Some(7), 3, 0, -0.1, NodeFate::Finished),
    ];
    let trace = TreeTrace {
        nodes: &nodes,
        beam: 3,
        word: &|id| words[id as usize].to_owned(),
        marks: PieceMarks::Starts("\u{2581}".to_owned()),
        best: &[1, 2, 3, 0],
        said: &|step| if step == 2 { Said::Forced } else { Said::Free },
    };
    let tree = SearchTree::read(&trace).expect("nodes");
    let drawn = |shown: ShownTree| tree.shown(&ShownTree { steps: 4, ..shown });
    let texts =
        |drawn: &DrawnTree| drawn.nodes.iter().map(|node| (node.step, node.text.to_string())).collect::<Vec<_>>();
    let line = |all: &[(usize, &str)]| all.iter().map(|(at, text)| (*at, (*text).to_owned())).collect::<Vec<_>>();
    let words = drawn(ShownTree::default());
    // `chau` branches, `le d ie` does not
    assert_eq!(
        texts(&words),
        line(&[
            (0, "la"),
            (1, "chau\u{2026}"),
            (2, "\u{2026}ssure"),
            (3, "</s>"),
            (2, "\u{2026}ssette"),
            (3, "</s>"),
            (0, "ledie"),
            (1, "</s>")
        ])
    );
    let word = &words.nodes[6];
    assert_eq!((words.part_of(4), words.id(6), words.place(4)), (vec![1, 4, 7], Some(7), Some(6)));
    assert!((word.log_p + 1.1).abs() < 1e-6 && word.said == Said::Forced, "{word:?}");
    assert_eq!(tree.words(7), ["\u{2581}le", "d", "ie"]);
    // a closed branch ends its word
    let closed = drawn(ShownTree { collapsed: [4].into(), ..ShownTree::default() });
    assert_eq!((closed.nodes[6].text.as_ref(), closed.nodes[6].hidden), ("led", 1));
    // the switch for pieces has them apart, and so have the marks of the vocabulary
    let pieces = drawn(ShownTree { pieces: true, pruned: true, ..ShownTree::default() });
    assert_eq!(pieces.nodes.len(), nodes.len());
    assert!(pieces.parts.iter().all(|part| part.len() == 1));
    assert!(pieces.nodes.iter().any(|node| node.text == "\u{2581}un" && node.state == NodeState::Pruned));
}

/// Each elided clitic was punished: the longer of two sentences of seven tokens had one word less between its spaces.
#[test]
fn log_p_per_word_does_not_depend_on_elision() {
    let one = |text: &str, log_p: f32| {
        let view = HypothesisView {
            found: Hypothesis { log_p, token_log_p: vec![log_p / 7.0; 7], ..Hypothesis::default() },
            text: text.to_owned(),
            rules: [WordRule::Tokens, WordRule::Eliding],
            ..HypothesisView::default()
        };
        HypothesisView { found: Hypothesis { finished: true, ..view.found }, ..view }.mean_log_p()
    };
    let [elided, whole] = [one("Je ne l'connais pas.", -4.29), one("Je ne le sais pas.", -4.47)];
    assert_eq!((elided, whole), ([-4.29 / 7.0; 2], [-4.47 / 7.0; 2]));
    assert_eq!(HypothesisView::default().mean_log_p(), [0.0; 2]);
}
