//! The application without a window: commands go in, made-up events go in, state is looked at.

mod regressions;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use interlinear::{app::layout::Layout, app::page::SENTENCE, session::driver::OpenWith};

use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::document::column::{Column, ColumnState};
use interlinear::app::files::lists::{List, MAX_TRANSLATED};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::{files::export, files::export::AlignmentFormat, settings::Theme, view::Hover};
use interlinear::decoding::ensemble::{AlignmentOf, Average, Mixing};
use interlinear::decoding::{Hypothesis, SystemSpec};
use interlinear::jobs::live::protocol::{ColumnId, ColumnResult, Event, HypothesisView, ModelFacts, Request};
use interlinear::pages::sentence::command::{ColumnCommand, ListCommand, SearchCommand, SelectCommand};
use interlinear::pages::training::command::{Field, TrainingCommand};
use interlinear::session::persist::{FoundState, SavedSession, load_or_set_aside};
use interlinear::{analysis::row_convention::RowConvention, app::document::table::LEFT_OUT};
use interlinear::{nn::device::DeviceChoice, pages::PAGES, pages::command::Command, pages::training as new_training};
use interlinear::{session::driver::Driver, session::state::Session, text::lines::TextFile, text::sentence::Sentence};

use crate::cli::{json_of, reference};
use crate::effects::{Shows as _, act, chores, facts, text_opened, with_models};
use crate::folder::{Files as _, Folder};

const PATIENCE: Duration = Duration::from_secs(20);

fn session(columns: usize) -> Session {
    let mut session = with_models(columns, |_| facts());
    session.apply(SourceCommand::Replace(String::new()));
    session
}

fn one() -> (Session, ColumnId) {
    let session = session(1);
    let id = session.nth(0).id;
    (session, id)
}

fn edit(session: &mut Session, text: &str) -> Request {
    act(session, SourceCommand::Edit(text.to_owned())).expect("an edit calls for a request")
}

pub fn sentence(text: &str) -> Sentence {
    let mut sentence = Sentence { text: text.to_owned(), ..Sentence::default() };
    let mut at = 0;
    for word in text.split(' ') {
        sentence.tokens.push(word.to_owned());
        sentence.spans.push(at..at + word.len());
        sentence.ids.push(if word.starts_with('?') { 1 } else { 5 });
        at += word.len() + 1;
    }
    sentence.tokens.push("</s>".to_owned());
    sentence.spans.push(text.len()..text.len());
    sentence.ids.push(0);
    sentence
}

fn hypothesis(text: &str, t_x: usize) -> HypothesisView {
    hypothesis_with(text, t_x, |i, j| if i == j { 0.75 } else { 0.25 })
}

pub fn hypothesis_with(text: &str, t_x: usize, alpha: impl Fn(usize, usize) -> f32) -> HypothesisView {
    let tokens: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let alpha = (0..tokens.len()).map(|i| (0..t_x).map(|j| alpha(i, j)).collect()).collect();
    HypothesisView {
        found: Hypothesis {
            tokens: vec![5; tokens.len()],
            token_log_p: vec![-0.5; tokens.len()],
            log_p: -1.0,
            finished: text.ends_with("</s>"),
            alpha: Some(alpha),
            ..Hypothesis::default()
        },
        is_unk: tokens.iter().map(|word| word == "[UNK]").collect(),
        text: text.replace(" </s>", ""),
        replaced: vec![None; tokens.len()],
        tokens,
        ..HypothesisView::default()
    }
}

pub fn told(number: u64, column: ColumnId, source: Sentence, best: HypothesisView) -> [Event; 2] {
    let result = ColumnResult { hypotheses: vec![best], ..ColumnResult::default() };
    [Event::Started { number, column, source, context: None }, Event::Finished { number, column, result }]
}

fn started(request: &Request, column: ColumnId) -> Event {
    Event::Started { number: request.number, column, source: sentence(&request.source), context: None }
}

fn expanded(request: &Request, column: ColumnId, words: &str) -> Event {
    let t_x = sentence(&request.source).len();
    Event::Expanded { number: request.number, column, best: hypothesis(words, t_x) }
}

fn finished(request: &Request, column: ColumnId, beam: &[&str]) -> Event {
    let t_x = sentence(&request.source).len();
    let hypotheses = beam.iter().map(|words| hypothesis(words, t_x)).collect();
    Event::Finished {
        number: request.number,
        column,
        result: ColumnResult { hypotheses, words_per_second: 100.0, ..ColumnResult::default() },
    }
}

fn translate(session: &mut Session, request: &Request, outputs: &[&str]) {
    for (id, output) in session.ids().into_iter().zip(outputs) {
        session.absorb(started(request, id));
        session.absorb(finished(request, id, &[output]));
    }
}

fn words(column: &Column) -> String {
    let table = column.table.as_ref().map_or(&[][..], |table| &table.target);
    table.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_edit_is_a_request_with_a_greater_number() {
    let mut session = session(2);
    let mut last = 0;
    for text in ["a", "a b", "a b c"] {
        let request = edit(&mut session, text);
        assert!(request.number > last);
        assert_eq!(request.source, text);
        assert_eq!(request.columns.iter().map(|spec| spec.column).collect::<Vec<_>>(), session.ids());
        assert!(request.columns.iter().all(|spec| spec.decode && spec.options.trace && spec.options.candidates == 10));
        last = request.number;
    }
    assert_eq!(act(&mut session, SourceCommand::Edit("a b c".to_owned())), None, "the same text asks for nothing");
}

#[test]
fn events_with_an_old_number_change_nothing() {
    let (mut session, id) = one();
    let old = edit(&mut session, "a");
    let new = edit(&mut session, "a b");
    for event in [started(&old, id), expanded(&old, id, "x"), finished(&old, id, &["x </s>"])] {
        assert!(!session.absorb(event));
    }
    assert!(session.nth(0).table.is_none());
    assert!(session.nth(0).decoding);
    assert!(!session.absorb(started(&new, id + 100)), "nor do events of columns that are gone");
    assert!(session.absorb(started(&new, id)));
}

#[test]
fn the_old_table_stays_dimmed_until_the_first_new_row() {
    let (mut session, id) = one();
    let first = edit(&mut session, "a");
    translate(&mut session, &first, &["x </s>"]);
    assert!(!session.nth(0).stale);

    let second = edit(&mut session, "a b");
    assert!(session.nth(0).stale);
    session.absorb(started(&second, id));
    assert_eq!((words(session.nth(0)).as_str(), session.nth(0).stale), ("x </s>", true));
    assert_eq!(session.nth(0).source.text, "a", "the source words along the top belong to the table");
    session.absorb(expanded(&second, id, "y"));
    assert_eq!((words(session.nth(0)).as_str(), session.nth(0).stale), ("y", false));
    assert_eq!(session.nth(0).source.text, "a b");
    session.absorb(finished(&second, id, &["y z </s>"]));
    assert_eq!((words(session.nth(0)).as_str(), session.nth(0).decoding), ("y z </s>", false));
}

#[test]
fn a_failure_leaves_the_last_good_table() {
    let (mut session, id) = one();
    let first = edit(&mut session, "a");
    translate(&mut session, &first, &["x </s>"]);
    let second = edit(&mut session, "a b");
    session.absorb(Event::Failed { number: second.number, column: id, message: "No.".to_owned() });
    let column = session.nth(0);
    assert_eq!((words(column).as_str(), column.stale, column.decoding), ("x </s>", true, false));
    assert_eq!(column.message.as_deref(), Some("No."));
}

#[test]
fn a_model_that_cannot_be_loaded_shows_no_old_picture() {
    let mut session = session(2);
    let first = edit(&mut session, "a");
    translate(&mut session, &first, &["x </s>", "x </s>"]);
    session.apply(SelectCommand::Target { column: session.ids()[0], i: 0 });
    session.apply(SettingsCommand::SetDevice(DeviceChoice::Cuda(97)));
    let id = session.ids()[0];
    session.absorb(Event::LoadFailed { column: id, message: "No.".to_owned() });
    for text in ["a b", "a b c"] {
        let column = session.nth(0);
        assert_eq!((&column.state, column.stale), (&ColumnState::Failed("No.".to_owned()), false));
        assert!(column.table.is_none() && !column.decoding && session.app().selected_word().is_none());
        edit(&mut session, text);
    }
}

#[test]
fn an_empty_source_shows_nothing_and_decodes_nothing() {
    let mut session = session(1);
    let request = edit(&mut session, "a");
    translate(&mut session, &request, &["x </s>"]);
    let request = edit(&mut session, "  ");
    assert!(!request.columns[0].decode);
    assert!(session.nth(0).table.is_none());
    assert!(!session.nth(0).decoding && !session.nth(0).stale);
}

#[test]
fn undo_goes_back_to_the_sentence_before() {
    let mut session = session(0);
    // it begins empty, which is no sentence to go back to
    let (before, first) = ("One goes home.", "The cat sleeps.");
    session.apply(SourceCommand::Replace(before.to_owned()));
    session.apply(SourceCommand::Replace(first.to_owned()));
    for text in ["W", "Wh", "Why", "Why ", "Why n", "Why not", "Why not ", "Why not go"] {
        session.apply(SourceCommand::Edit(text.to_owned()));
    }
    session.apply(SourceCommand::UndoSentence);
    assert_eq!(session.source(), first);
    session.apply(SourceCommand::UndoSentence);
    assert_eq!(session.source(), before);
    session.apply(SourceCommand::Redo);
    assert_eq!(session.source(), first);
    session.apply(SourceCommand::Redo);
    assert_eq!(session.source(), "W", "redo goes step by step");
}

#[test]
fn undo_takes_back_a_word_and_redo_brings_it_again() {
    // (what is typed in order, what undo shows one after the other)
    let cases: &[(&[&str], &[&str])] = &[
        (&["t", "th", "the"], &[""]),
        (&["t", "th", "th ", "th c", "th ca"], &["th ", ""]),
        (&["ab", "abc", "ab", "a"], &["abc", ""]),
        (&["a", "a pasted text"], &["a", ""]),
        (&["é", "éé", "éé ü"], &["éé", ""]),
        (&["b", "ab"], &["b", ""]),
        (&["aa", "aaa", "aaaa"], &[""]),
    ];
    for (typed, undone) in cases {
        let mut session = session(0);
        for text in *typed {
            session.apply(SourceCommand::Edit((*text).to_owned()));
        }
        for text in *undone {
            session.apply(SourceCommand::Undo);
            assert_eq!(session.source(), *text, "after {typed:?}");
        }
        for _ in *undone {
            session.apply(SourceCommand::Redo);
        }
        assert_eq!(session.source(), *typed.last().expect("not empty"));
        assert!(!session.app().document.history.can_redo());
    }
}

#[test]
fn columns_come_go_and_move_without_decoding_the_others_again() {
    let mut session = session(2);
    let request = edit(&mut session, "a");
    translate(&mut session, &request, &["x </s>", "y </s>"]);
    let before = session.ids();

    let request = act(&mut session, ColumnCommand::Add("models/m0".into())).expect("a new column asks");
    assert_eq!(request.columns.iter().map(|spec| spec.decode).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(session.app().document.columns.iter().map(|column| column.stale).collect::<Vec<_>>(), [false; 3]);
    let third = session.ids()[2];
    assert!(!before.contains(&third));

    assert_eq!(act(&mut session, ColumnCommand::Move { column: third, to: 0 }), None);
    assert_eq!(session.ids(), [third, before[0], before[1]]);
    session.apply(ColumnCommand::Move { column: third, to: 99 });
    assert_eq!(session.ids(), [before[0], before[1], third]);

    let request = act(&mut session, ColumnCommand::Remove(before[0])).expect("a model may be forgotten");
    assert_eq!(request.columns.len(), 2);
    let request = act(&mut session, ColumnCommand::Reload(third)).expect("a reload asks");
    assert_ne!(request.columns[1].column, third);
    assert_eq!(act(&mut session, ColumnCommand::Reload(third)), None, "it has another name now");
}

#[test]
fn settings_that_matter_to_the_search_ask_again_and_are_clamped() {
    let mut session = session(1);
    let request = edit(&mut session, "a");
    translate(&mut session, &request, &["x </s>"]);
    let request = act(&mut session, SearchCommand::SetBeam(1000)).expect("another beam asks");
    assert_eq!((request.columns[0].options.beam, request.columns[0].decode), (50, true));
    assert_eq!(act(&mut session, SearchCommand::SetBeam(50)), None);
    assert_eq!(act(&mut session, SearchCommand::SetLengthNormalization(f32::NAN)), None);
    assert_eq!(act(&mut session, SettingsCommand::SetPalette("print".to_owned())), None, "a palette is only paint");
    let request = act(&mut session, SettingsCommand::SetDevice(DeviceChoice::Cpu)).expect("another device asks");
    assert_eq!(request.columns[0].device, DeviceChoice::Cpu);
    assert!(matches!(session.nth(0).state, ColumnState::Loading(_)));
}

#[test]
fn each_hypothesis_shows_its_own_alignment() {
    let (mut session, id) = one();
    let request = edit(&mut session, "a b");
    session.absorb(started(&request, id));
    session.absorb(finished(&request, id, &["x </s>", "y z </s>"]));
    session.apply(SelectCommand::Target { column: id, i: 1 });
    session.apply(SelectCommand::MoveHypothesis(1));
    let table = session.nth(0).table.clone().expect("a table");
    assert_eq!((table.hypothesis, table.target.len(), words(session.nth(0)).as_str()), (1, 3, "y z </s>"));
    let alpha = table.alpha.as_ref().expect("this model aligns");
    assert_eq!(
        (alpha.rows(), alpha.columns(), alpha.get(1, 1), alpha.get(1, 0), alpha.get(1, 3)),
        (3, 3, Some(0.75), Some(0.25), None)
    );
    assert!(table.source[2].is_eos && !table.source[0].is_eos);
    session.apply(SelectCommand::Hypothesis { column: id, hypothesis: 7 });
    assert_eq!(session.nth(0).hypothesis, 1, "there is no eighth");
}

#[test]
fn selection_moves_word_by_word_and_stops_at_the_ends() {
    let mut session = session(2);
    let request = edit(&mut session, "a b");
    translate(&mut session, &request, &["x y </s>", "x </s>"]);
    for (by, expect) in [(1, 0), (1, 1), (5, 2), (-1, 1), (-9, 0)] {
        session.apply(SelectCommand::MoveTarget(by));
        assert_eq!(session.app().view.selection.target, Some(expect));
    }
    session.apply(SelectCommand::MoveColumn(1));
    assert_eq!(session.app().view.selection.column, Some(session.ids()[1]));
    let (column, i, word) = session.app().selected_word().expect("a word is selected");
    assert_eq!((column.id, i, word.text.as_str()), (session.ids()[1], 0, "x"));
    let hover = Hover { column: session.ids()[0], i: Some(1), j: Some(0) };
    session.apply(SelectCommand::Hover(Some(hover)));
    assert_eq!(session.app().view.hover, Some(hover));
    session.apply(ColumnCommand::Remove(session.ids()[0]));
    assert_eq!(session.app().view.hover, None);
}

#[test]
fn words_that_outputs_do_not_share_are_marked() {
    let cases = [
        (
            "le chat noir </s>",
            "le chien noir </s>",
            [false, true, false, false].as_slice(),
            [false, true, false, false].as_slice(),
        ),
        ("a b </s>", "a b </s>", &[false; 3], &[false; 3]),
        ("a b </s>", "b a </s>", &[true, false, false], &[false, true, false]),
        ("a </s>", "a a a </s>", &[false, false], &[false, true, true, false]),
    ];
    for (first, second, expect_first, expect_second) in cases {
        let mut session = session(2);
        let request = edit(&mut session, "s");
        translate(&mut session, &request, &[first, second]);
        let marks = |n: usize| -> Vec<bool> {
            session
                .nth(n)
                .table
                .as_ref()
                .map_or_else(Vec::new, |table| table.target.iter().map(|word| word.differs).collect())
        };
        assert_eq!(
            marks(0).iter().filter(|mark| **mark).count(),
            expect_first.iter().filter(|mark| **mark).count(),
            "{first} | {second}"
        );
        assert_eq!(
            marks(1).iter().filter(|mark| **mark).count(),
            expect_second.iter().filter(|mark| **mark).count(),
            "{first} | {second}"
        );
        if first != "a b </s>" && first != "a </s>" {
            assert_eq!((marks(0).as_slice(), marks(1).as_slice()), (expect_first, expect_second));
        }
    }
}

#[test]
fn of_three_outputs_a_word_of_two_is_marked() {
    let mut session = session(3);
    let request = edit(&mut session, "s");
    translate(&mut session, &request, &["ils disent </s>", "ils disaient </s>", "elles disent </s>"]);
    for column in &session.app().document.columns {
        let table = column.table.as_ref().expect("a translation");
        let marks: Vec<bool> = table.target.iter().map(|word| word.differs).collect();
        assert_eq!(marks, [true, true, false], "{:?}", table.target);
    }
}

#[test]
fn a_first_column_without_a_translation_is_passed_over() {
    let marks = |session: &Session, n: usize| -> Vec<bool> {
        session.nth(n).table.as_ref().map_or_else(Vec::new, |t| t.target.iter().map(|word| word.differs).collect())
    };
    let outputs = ["x x </s>", "le chat </s>", "le chien </s>"];
    let failures: [fn(&Request, ColumnId) -> Event; 2] = [
        |_, column| Event::LoadFailed { column, message: "No.".to_owned() },
        |request, column| Event::Failed { number: request.number, column, message: "No.".to_owned() },
    ];
    for failure in failures {
        let mut session = session(3);
        let request = edit(&mut session, "s");
        translate(&mut session, &request, &outputs);
        assert_eq!(marks(&session, 1), [true, true, false]);
        let request = edit(&mut session, "t");
        let ids = session.ids();
        for (&id, output) in ids.iter().zip(outputs).skip(1) {
            session.absorb(started(&request, id));
            session.absorb(finished(&request, id, &[output]));
        }
        assert_eq!(marks(&session, 1), [false; 3], "the first column is still at work");
        session.absorb(failure(&request, ids[0]));
        assert_eq!((marks(&session, 1), marks(&session, 2)), (vec![false, true, false], vec![false, true, false]));
    }
}

#[test]
fn examples_are_many_grouped_and_open_the_window() {
    let session = Session::start(None, &OpenWith::default());
    assert!(session.app().lists.len_of(List::Examples) >= 30);
    assert!(
        session.app().lists.examples.len() >= 5
            && session.app().lists.examples.iter().all(|group| !group.name.is_empty() && !group.shows.is_empty())
    );
    let positions: Vec<usize> = session
        .app()
        .lists
        .examples
        .iter()
        .flat_map(|group| &group.sentences)
        .map(|example| example.position)
        .collect();
    assert_eq!(positions, (0..positions.len()).collect::<Vec<_>>());
    assert_eq!(session.source(), session.app().lists.examples[0].sentences[0].text);
    assert_eq!(session.app().document.state.position, Some(0));
}

fn text_of(lines: &str) -> Arc<TextFile> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), lines).expect("written");
    Arc::new(TextFile::open(file.path()).expect("it opens"))
}

fn with_file(lines: &str) -> Session {
    let mut session = session(0);
    let path = Path::new("list.txt");
    session.absorb_file(text_opened(path));
    assert_eq!(session.app().lists.shown, List::File(0));
    let lines = text_of(lines);
    session.absorb_file(FileEvent::Read { path: path.into(), lines });
    session
}

#[test]
fn arrow_keys_move_through_an_opened_list() {
    let mut session = with_file("one\ntwo\r\nthree");
    assert_eq!((session.source(), session.app().document.state.position), ("one", Some(0)));
    for (by, expect) in [(1, "two"), (1, "three"), (1, "three"), (-5, "one")] {
        session.apply(ListCommand::Move(by));
        assert_eq!(session.source(), expect);
    }
    session.apply(ListCommand::Last);
    assert_eq!(session.source(), "three");
    session.apply(SourceCommand::Undo);
    assert_eq!((session.source(), session.app().document.state.position), ("one", Some(0)));
}

#[test]
fn search_finds_letter_case_aside_and_arrows_move_through_matches() {
    let cases = [("CAT", vec![0, 2]), ("é", vec![3]), ("É", vec![3]), ("zzz", vec![]), (" a", vec![1])];
    for (needle, expect) in cases {
        let mut session = with_file("A cat\nis a dog\nthe Cats\nété\n");
        session.apply(ListCommand::Search(needle.to_owned()));
        while session.search_some() {}
        assert_eq!(session.app().lists.search.matches, expect, "{needle}");
        assert_eq!(session.app().lists.visible_len(), expect.len());
    }
    let mut session = with_file("A cat\nis a dog\nthe Cats\nété\n");
    session.apply(ListCommand::Pick(1));
    session.apply(ListCommand::Search("cat".to_owned()));
    session.apply(ListCommand::Move(1));
    assert_eq!(session.source(), "the Cats");
    session.apply(ListCommand::Move(-1));
    assert_eq!(
        (
            session.source(),
            session.app().document.state.position.and_then(|at| session.app().lists.visible_position(at))
        ),
        ("A cat", Some(0))
    );
    session.apply(ListCommand::Search(String::new()));
    assert_eq!(session.app().lists.visible_len(), 4);
}

#[test]
fn a_file_that_cannot_be_read_is_a_notice_and_no_list() {
    let mut session = session(0);
    session.absorb_file(text_opened("missing.txt"));
    session.absorb_file(FileEvent::ReadFailed {
        path: "missing.txt".into(),
        message: "missing.txt: does not exist".to_owned(),
    });
    assert!(session.app().lists.files.is_empty());
    assert_eq!(session.app().lists.shown, List::Examples);
    assert!(session.has_error("missing.txt"));
    let id = session.app().view.notices[0].id;
    session.apply(WindowCommand::DismissNotice(id));
    assert!(session.app().view.notices.is_empty());
}

#[test]
fn typing_leaves_one_entry_in_the_history() {
    let mut session = session(1);
    for text in ["a", "a b", "a b c"] {
        let request = edit(&mut session, text);
        translate(&mut session, &request, &["x </s>"]);
    }
    assert_eq!(session.app().lists.translated, ["a b c"]);
    let request = act(&mut session, SourceCommand::Replace("other".to_owned())).expect("asks");
    translate(&mut session, &request, &["x </s>"]);
    assert_eq!(session.app().lists.translated, ["a b c", "other"]);
    let request = edit(&mut session, "other one");
    translate(&mut session, &request, &["x </s>"]);
    assert_eq!(session.app().lists.translated, ["a b c", "other", "other one"]);
    assert_eq!(session.app().lists.sentence_of(List::History, 0).as_deref(), Some("other one"));
    for n in 0..MAX_TRANSLATED + 10 {
        let request = act(&mut session, SourceCommand::Replace(format!("sentence {n}"))).expect("asks");
        translate(&mut session, &request, &["x </s>"]);
    }
    assert_eq!(session.app().lists.translated.len(), MAX_TRANSLATED);
}

#[test]
fn the_shown_alignment_is_written_as_tsv_json_and_pharaoh() {
    let mut session = session(1);
    let request = edit(&mut session, "a ?b");
    translate(&mut session, &request, &["x y </s>"]);
    let column = session.nth(0);
    let text =
        |format| export::text(column, &session.app().view.settings, format).expect("there is something to write");
    assert_eq!(text(AlignmentFormat::Pharaoh), "0-0 1-1\n");
    let tsv = text(AlignmentFormat::Tsv);
    let mut lines = tsv.lines();
    assert_eq!(lines.next(), Some("target\tlog_p\ta\t?b\t</s>"));
    assert_eq!(lines.next(), Some("x\t-0.5\t0.75\t0.25\t0.25"));
    let json = json_of(&text(AlignmentFormat::Json));
    assert_eq!(json["source"], serde_json::json!(["a", "?b", "</s>"]));
    assert_eq!(json["hypotheses"][0]["tokens"][1], "y");
    assert_eq!(json["hypotheses"][0]["alpha"][0][0], 0.75);
    assert!(session.nth(0).table.as_ref().is_some_and(|table| table.source[1].is_unk));
}

#[test]
fn a_model_without_alignment_has_none_anywhere() {
    let (mut session, id) = one();
    let request = edit(&mut session, "a");
    session.absorb(started(&request, id));
    let mut best = hypothesis("x </s>", 2);
    best.found.alpha = None;
    let result = ColumnResult { hypotheses: vec![best], context: Some(vec![0.5]), ..ColumnResult::default() };
    session.absorb(Event::Finished { number: request.number, column: id, result });
    let column = session.nth(0);
    assert!(column.table.as_ref().is_some_and(|table| table.alpha.is_none()));
    assert_eq!(column.result.context, Some(vec![0.5]));
    assert_eq!(export::text(column, &session.app().view.settings, AlignmentFormat::Pharaoh), None);
    assert!(
        export::text(column, &session.app().view.settings, AlignmentFormat::Json)
            .is_some_and(|json| json.contains("\"alpha\":null"))
    );
    session.apply(ColumnCommand::Export { column: id, format: AlignmentFormat::Pharaoh, path: "x".into() });
    assert!(session.notifies("alignment"));
}

#[test]
fn an_alignment_that_was_left_out_is_not_taken_for_none() {
    let (mut session, id) = one();
    let request = edit(&mut session, "a");
    session.absorb(started(&request, id));
    let mut second = hypothesis("y </s>", 2);
    (second.found.alpha, second.found.left_out) = (None, true);
    let result = ColumnResult { hypotheses: vec![hypothesis("x </s>", 2), second], ..ColumnResult::default() };
    session.absorb(Event::Finished { number: request.number, column: id, result });
    let left_out = |session: &Session| session.nth(0).table.as_ref().map(|table| table.left_out);
    assert_eq!(left_out(&session), Some(false));
    session.apply(SelectCommand::Hypothesis { column: id, hypothesis: 1 });
    assert_eq!(left_out(&session), Some(true));
    session.apply(ColumnCommand::Export { column: id, format: AlignmentFormat::Pharaoh, path: "x".into() });
    assert!(session.app().view.notices.iter().any(|notice| notice.text == LEFT_OUT));
}

#[test]
fn the_state_comes_back_as_it_was() {
    let (_folder, path) = Folder::and_path("deeper/state.json");
    let mut session = session(2);
    edit(&mut session, "Grüße, 世界");
    for command in [
        Command::from(SearchCommand::SetBeam(12)),
        SearchCommand::SetLengthNormalization(0.5).into(),
        SettingsCommand::SetPalette("print".to_owned()).into(),
        SettingsCommand::SetTheme(Theme::Dark).into(),
        SettingsCommand::SetZoom(1.5).into(),
        SettingsCommand::SetUnkReplacement(true).into(),
        SettingsCommand::SetDevice(DeviceChoice::Cpu).into(),
        WindowCommand::SetLayout(Box::new(Layout { lesson_width: Some(240.0), ..Layout::default() })).into(),
    ] {
        session.apply(command);
    }
    session.absorb_file(text_opened("list.txt"));
    let saved = session.saved();
    saved.save(&path).expect("it can be saved");
    let found = load_or_set_aside(&path);
    assert_eq!(found, FoundState { state: Some(saved.clone()), ..FoundState::default() });
    let mut again = Session::start(found.state, &OpenWith::default());
    assert_eq!(again.saved(), saved);
    assert_eq!(&again.app().view.settings, &session.app().view.settings);
    assert_eq!(chores(&mut again).len(), 1, "the opened file is read again");
}

#[test]
fn a_damaged_state_is_set_aside_with_a_sentence() {
    for bytes in ["{ not json", "", "[1]", "{\"version\": \"one\"}", "{\"beam\": \"many\"}"] {
        let (folder, path) = Folder::and_path("state.json");
        for n in 1..=2 {
            std::fs::write(&path, bytes).expect("a file");
            let found = load_or_set_aside(&path);
            assert_eq!((found.state, found.is_left_alone), (None, false));
            let trouble = found.trouble.unwrap_or_default();
            assert!(trouble.contains("state.json") && trouble.contains("set aside"), "{bytes}");
            assert!(!path.exists());
            assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), n, "nothing is lost");
        }
    }
    assert_eq!(load_or_set_aside(Path::new("no/such/state.json")), FoundState::default());
}

#[test]
fn a_state_of_a_newer_program_is_left_alone() {
    let (folder, newer) = Folder::and_path("newer.json");
    let bytes = "{\"version\": 99, \"beam\": {\"least\": 3}}";
    std::fs::write(&newer, bytes).expect("a file");
    // Unreadable for any other reason than damage: here because it is a folder.
    let unreadable = folder.join("unreadable.json");
    std::fs::create_dir(&unreadable).expect("a folder");
    for path in [&newer, &unreadable] {
        let mut opened = open(OpenWith { saved: Some(path.clone()), ..OpenWith::default() });
        let told = |session: &Session| session.has_error("left as it is");
        assert!(told(opened.driver.session()));
        opened.driver.send(SourceCommand::Edit("a".to_owned()));
        drop(opened);
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 2, "nothing is renamed or added");
    }
    assert_eq!(std::fs::read_to_string(&newer).ok().as_deref(), Some(bytes));
}

/// As it was written when file and session had types of their own.
#[test]
fn a_saved_state_is_written_with_the_keys_that_it_had() {
    let text = r#"{
        "version": 1, "source": "the red shoe", "given": "le soulier", "translated": ["a"],
        "files": [{"path": "/no/list.en", "target": null}],
        "columns": ["/no/model", {"members": ["/no/a", "/no/b"], "average": "log-probability", "alignment": "2"}],
        "interventions": [{"models": ["/no/model"], "set": {"version": 1, "temperature": 0.5}}],
        "variants": [{"models": ["/no/model"], "source": null, "beam": 7, "length_normalization": null, "forbid_unk": null,
            "unk_replacement": true, "interventions": {"models": [], "set": {"version": 1}}}],
        "list": "history", "layout": {"solo": true},
        "figure": {"kind": "links", "format": "pdf", "width_mm": 80.0, "dpi": 600.0, "palette": null, "dark": true,
            "legend": false, "caption": true},
        "palette": "viridis", "theme": "dark", "zoom": 1.5, "beam": 9, "length_normalization": 0.5, "forbid_unk": true,
        "unk_replacement": true, "device": "cuda:1", "shown": "energies", "rows_by": "input", "pieces": true,
        "links": true, "page": "steps"
    }"#;
    let before = json_of(text);
    let state: SavedSession = serde_json::from_str(text).expect("a state");
    let session = Session::start(Some(state), &OpenWith::default());
    let after = serde_json::to_value(session.saved()).expect("JSON");
    for (key, value) in before.as_object().expect("an object") {
        assert_eq!(after[key], *value, "{key}");
    }
    let odd = r#"{"theme": "mauve", "device": "abacus", "figure": {"kind": "pie", "dpi": 1e9, "palette": "mud"}, "unheard_of": 3}"#;
    let session = Session::start(serde_json::from_str(odd).ok(), &OpenWith::default());
    let (settings, drawing) = (&session.app().view.settings, session.app().view.drawing);
    assert_eq!((settings.theme, settings.device, drawing.kind), (Theme::System, DeviceChoice::Auto, "heatmap"));
    assert!(drawing.page.dpi == 2400.0 && drawing.has_legend && drawing.threshold > 0.0);
}

#[test]
fn a_poorer_or_richer_state_opens() {
    let state: SavedSession =
        serde_json::from_str("{\"source\": \"a\", \"unheard_of\": 3}").expect("unknown keys are ignored");
    let session = Session::start(Some(state), &OpenWith { opening: vec!["models/b".into()], ..OpenWith::default() });
    assert_eq!(
        (session.source(), session.app().document.columns.len(), session.app().document.state.search.beam),
        ("a", 1, 5)
    );
}

#[test]
fn settings_in_a_saved_state_are_clamped() {
    let state: SavedSession =
        serde_json::from_str("{\"beam\": 0, \"zoom\": 1e9, \"list\": \"file 9\"}").expect("a state");
    let session = Session::start(Some(state), &OpenWith::default());
    assert_eq!((session.app().document.state.search.beam, session.app().lists.shown), (1, List::Examples));
    assert!(session.app().view.settings.zoom <= 3.0);
}

struct Opened {
    driver: Driver,
    woken: std::sync::mpsc::Receiver<()>,
}

fn open(options: OpenWith) -> Opened {
    let (sender, woken): (Sender<()>, _) = channel();
    let wake = Arc::new(move || _ = sender.send(()));
    Opened { driver: Driver::open(options, wake), woken }
}

impl Opened {
    fn until(&mut self, done: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        self.driver.pump(Duration::from_millis(8));
        while !done(self.driver.session()) {
            let left = deadline.saturating_duration_since(Instant::now());
            self.woken.recv_timeout(left).expect("the driver wakes before the patience ends");
            self.driver.pump(Duration::from_millis(8));
        }
    }
}

#[test]
fn a_driver_translates_saves_and_comes_back() {
    let (_folder, saved) = Folder::and_path("state.json");
    let options = OpenWith {
        saved: Some(saved.clone()),
        opening: vec![reference("rnnsearch"), reference("rnnencdec")],
        ..OpenWith::default()
    };
    let mut opened = open(options.clone());
    let first = opened.driver.session().app().view.layout.clone();
    assert_eq!(first, Layout::first(), "the first start shows little");
    opened.driver.send(WindowCommand::SetLayout(Box::new(Layout { class: true, ..first.clone() })));
    let first = Layout { class: true, ..first };
    opened.driver.send(SourceCommand::Edit("s9 s31 s17".to_owned()));
    opened.until(|session| {
        session.app().document.columns.iter().all(|column| column.table.is_some() && !column.decoding)
    });
    let columns = &opened.driver.session().app().document.columns;
    assert!(columns[0].table.as_ref().is_some_and(|table| table.alpha.is_some() && table.source.len() == 4));
    assert!(columns[1].table.as_ref().is_some_and(|table| table.alpha.is_none()));
    assert!(columns[1].result.context.is_some());
    drop(opened);
    assert!(saved.exists(), "leaving saves at once");
    let again = open(options);
    assert_eq!(again.driver.session().source(), "s9 s31 s17");
    assert_eq!(again.driver.session().app().document.columns.len(), 2);
    assert!(!again.driver.session().app().document.history.can_undo());
    assert_eq!(again.driver.session().app().view.layout, first, "and stays as it was left");
}

#[test]
fn stopping_leaves_the_picture_and_asks_for_the_models_alone() {
    let mut session = session(2);
    let request = edit(&mut session, "a b");
    translate(&mut session, &request, &["x y </s>", "x z </s>"]);
    let request = edit(&mut session, "a b c");
    let [one, two] = session.ids()[..] else { panic!("two columns") };
    session.absorb(started(&request, one));
    let stopped = act(&mut session, SourceCommand::Stop).expect("the models are still wanted");
    assert!(stopped.number > request.number && stopped.columns.len() == 2);
    assert!(stopped.columns.iter().all(|spec| !spec.decode));
    assert!(!session.absorb(finished(&request, two, &["new </s>"])), "what was under way is old");
    for (column, shown) in session.app().document.columns.iter().zip(["x y </s>", "x z </s>"]) {
        assert_eq!((words(column).as_str(), column.stale, column.decoding), (shown, true, false));
    }
    let again = act(&mut session, SourceCommand::Edit("a b c d".to_owned())).expect("a request");
    assert!(again.columns.iter().all(|spec| spec.decode));
}

#[test]
fn models_that_were_being_read_when_all_was_stopped_are_there_afterwards() {
    for _ in 0..5 {
        let models = vec![reference("rnnsearch").into(), reference("rnnencdec").into(), "no/such/model".into()];
        let mut opened = open(OpenWith { models, ..OpenWith::default() });
        opened.driver.send(SourceCommand::Stop);
        let told = |column: &Column| !matches!(column.state, ColumnState::Loading(_));
        opened.until(|session| session.app().document.columns.iter().all(told));
        assert_eq!(opened.driver.session().app().document.decoding(), 0);
    }
}

#[test]
fn a_driver_opens_what_is_dropped() {
    let folder = Folder::new();
    let list = folder.put("list.txt", "\u{feff}s2 s3\r\ns4\r\n");
    let latin = folder.put("latin.txt", b"caf\xe9\n");
    let mut opened = open(OpenWith::default());
    opened.driver.send(WindowCommand::Open(list.clone()));
    opened.until(|session| session.source() == "s2 s3");
    assert_eq!(opened.driver.session().app().lists.len(), 2);
    opened.driver.send(WindowCommand::Open(latin));
    opened.until(|session| session.has_error("latin.txt"));
    opened.driver.send(WindowCommand::Open(reference("rnnsearch")));
    opened.until(|session| session.app().document.columns.iter().any(|column| column.state == ColumnState::Ready));
    opened.driver.send(WindowCommand::Open(reference("rnnsearch").join("config.json")));
    opened.until(|session| session.app().document.columns.len() == 2);
    opened.driver.send(WindowCommand::Open(folder.to_path_buf()));
    opened.until(|session| {
        session.app().document.columns.get(2).is_some_and(|column| matches!(column.state, ColumnState::Failed(_)))
    });
    let column = opened.driver.session().nth(0).id;
    opened.until(|session| session.nth(0).table.is_some() && session.app().document.decoding() == 0);
    let path = folder.join("out.tsv");
    opened.driver.send(ColumnCommand::Export { column, format: AlignmentFormat::Tsv, path: path.clone() });
    opened.until(|session| session.notifies("out.tsv"));
    assert!(std::fs::read_to_string(path).is_ok_and(|text| text.starts_with("target (predicted)\t")));
}

#[test]
fn a_list_and_its_translation_open_together() {
    let folder = Folder::new();
    let (source, target) = (folder.join("a.en"), folder.join("a.fr"));
    std::fs::write(&source, "one\ntwo\n").expect("a file");
    std::fs::write(&target, "un\ndeux\n").expect("a file");
    let mut opened = open(OpenWith { source: Some(source), target: Some(target), ..OpenWith::default() });
    opened.until(|session| session.source() == "one" && session.app().lists.files[0].target.is_some());
    assert_eq!(opened.driver.session().app().reference().as_deref(), Some("un"));
    opened.driver.send(ListCommand::Move(1));
    assert_eq!(opened.driver.session().app().reference().as_deref(), Some("deux"));
}

#[test]
fn a_translation_that_is_no_text_further_down_is_not_shown() {
    let folder = Folder::new();
    let (source, target) = (folder.join("a.en"), folder.join("a.fr"));
    std::fs::write(&source, "one\ntwo\n").expect("a file");
    let mut bytes = b"un\n".repeat(100_000);
    bytes.push(0xff);
    std::fs::write(&target, bytes).expect("a file");
    let mut opened = open(OpenWith { source: Some(source), target: Some(target), ..OpenWith::default() });
    opened.until(|session| session.source() == "one" && session.has_error(""));
    assert_eq!(opened.driver.session().app().reference(), None, "its beginning was there already");
}

#[test]
fn a_state_that_cannot_be_written_is_a_notice() {
    let folder = Folder::new();
    let blocked = folder.put("file", "");
    let mut opened = open(OpenWith { saved: Some(blocked.join("state.json")), ..OpenWith::default() });
    opened.driver.send(SourceCommand::Edit("a".to_owned()));
    opened.until(|session| session.has_error(""));
    assert_eq!(opened.driver.session().source(), "a");
}

#[test]
fn the_page_is_kept_between_starts() {
    let mut session = session(1);
    assert_eq!(session.app().view.page, SENTENCE);
    for page in PAGES.iter().copied() {
        session.apply(WindowCommand::ShowPage(page));
        let text = serde_json::to_string(&session.saved()).expect("the state can be written");
        let saved: SavedSession = serde_json::from_str(&text).expect("the state can be read");
        assert_eq!(Session::start(Some(saved), &OpenWith::default()).app().view.page, page);
    }
    let saved = SavedSession { page: "no such page".to_owned(), ..SavedSession::default() };
    assert_eq!(Session::start(Some(saved), &OpenWith::default()).app().view.page, SENTENCE);
}

#[test]
fn rows_belong_to_the_word_predicted_or_read_and_files_say_which() {
    let (mut session, id) = one();
    let choice = ModelFacts { input_delay: Some(1), has_alignment: true, window: Some(2), ..ModelFacts::default() };
    session.absorb(Event::Loaded { column: id, facts: choice });
    let request = edit(&mut session, "a b");
    session.absorb(started(&request, id));
    let mut best = hypothesis("x y </s>", 3);
    best.found.energies = best.found.alpha.clone();
    best.found.p_t = Some(vec![0.5, 1.5, 2.5]);
    let result = ColumnResult { hypotheses: vec![best], ..ColumnResult::default() };
    session.absorb(Event::Finished { number: request.number, column: id, result });
    let row = |session: &Session, i: usize| {
        session.nth(0).table.as_ref().and_then(|table| table.alpha.as_ref()).map(|alpha| alpha.row(i).to_vec())
    };
    let saved = |session: &Session, format| session.written(0, format).expect("something");
    assert_eq!(row(&session, 0), Some(vec![0.75, 0.25, 0.25]));
    assert!(saved(&session, AlignmentFormat::Tsv).starts_with("target (predicted)\tlog_p\t"));
    assert_eq!(saved(&session, AlignmentFormat::Pharaoh), "0-0 1-1\n");

    session.apply(SettingsCommand::SetReading(Some(RowConvention::Input)));
    assert_eq!(row(&session, 0), Some(vec![0.25, 0.75, 0.25]), "x was read before y was predicted");
    assert_eq!(row(&session, 2), Some(vec![0.0; 3]), "nothing was predicted after </s>");
    let table = session.nth(0).table.as_deref().expect("a table");
    let p_t = table.p_t.as_ref().expect("local attention");
    assert!(p_t[..2] == [1.5, 2.5] && p_t[2].is_nan());
    assert!(table.energies.as_ref().is_some_and(|energies| energies.row(2).iter().all(|e| e.is_nan())));
    assert!(saved(&session, AlignmentFormat::Tsv).starts_with("target (input)\tlog_p\t"));
    assert_eq!(saved(&session, AlignmentFormat::Pharaoh), "1-0 0-1\n");
    let json = json_of(&saved(&session, AlignmentFormat::Json));
    assert_eq!(json["reading"], "input");
    assert_eq!(json["hypotheses"][0]["alpha"][0][1], 0.75);
    assert_eq!(json["hypotheses"][0]["p_t"], serde_json::json!([1.5, 2.5, null]));
    assert!(export::note(session.nth(0), AlignmentFormat::Pharaoh).is_some_and(|note| note.contains("input")));
    assert_eq!(session.saved().settings.reading, Some(RowConvention::Input));
}

#[test]
fn an_ensemble_is_a_column_and_comes_back() {
    let (_folder, path) = Folder::and_path("state.json");
    let mut session = session(1);
    session.apply(SourceCommand::Replace("a".to_owned()));
    let spec = |mixing| SystemSpec { members: vec!["models/m0".into(), "models/m1".into()], mixing };
    let request = act(&mut session, ColumnCommand::Add(spec(Mixing::default()))).expect("a new column asks");
    assert_eq!(request.columns[1].system, spec(Mixing::default()));
    let id = session.ids()[1];
    assert_eq!(session.nth(1).name(), "m0 + m1");
    assert_eq!(session.app().document.models().count(), 1, "pages that measure models leave ensembles out");
    session.absorb(Event::Loaded { column: id, facts: ModelFacts { has_alignment: true, ..ModelFacts::default() } });
    translate(&mut session, &request, &["x </s>", "x </s>"]);

    let mixing = Mixing { average: Average::LogProbability, alignment: AlignmentOf::Member(1) };
    let request = act(&mut session, ColumnCommand::SetMixing { column: id, mixing }).expect("asks");
    assert_eq!(request.columns.iter().map(|spec| spec.decode).collect::<Vec<_>>(), [false, true]);
    assert_eq!(act(&mut session, ColumnCommand::SetMixing { column: id, mixing }), None, "nothing new");
    session.apply(ColumnCommand::Reload(id));
    assert_eq!(session.nth(1).system, spec(mixing));

    session.saved().save(&path).expect("written");
    let again = Session::start(load_or_set_aside(&path).state, &OpenWith::default());
    assert_eq!(again.nth(1).system, spec(mixing));
    assert_eq!(again.nth(0).system, session.nth(0).system);
}

#[test]
fn undo_marks_the_line_of_the_list_again() {
    let mut session = session(0);
    session.apply(ListCommand::Pick(2));
    let text = session.source().to_owned();
    session.apply(ListCommand::Pick(3));
    edit(&mut session, "my own");
    assert_eq!(session.app().document.state.position, None);
    session.apply(SourceCommand::Undo);
    assert_eq!(session.app().document.state.position, Some(3));
    session.apply(SourceCommand::Undo);
    assert_eq!((session.source(), session.app().document.state.position), (text.as_str(), Some(2)));
    session.apply(SourceCommand::Redo);
    assert_eq!(session.app().document.state.position, Some(3));
    session.apply(ListCommand::Show(List::History));
    session.apply(SourceCommand::Undo);
    assert_eq!(session.app().document.state.position, None, "the line of one list is not that of another");
}

#[test]
fn a_file_that_is_not_there_leaves_the_list_as_it_was() {
    let mut session = session(0);
    let here = PathBuf::from("here.txt");
    session.absorb_file(text_opened(here.clone()));
    let lines = text_of("one\ntwo\nthree one\n");
    session.absorb_file(FileEvent::Read { path: here, lines });
    session.apply(ListCommand::Pick(2));
    session.apply(ListCommand::Search("one".to_owned()));
    let missing = PathBuf::from("missing.txt");
    session.absorb_file(text_opened(missing.clone()));
    assert_eq!(session.app().lists.shown, List::File(1));
    session.absorb_file(FileEvent::ReadFailed { path: missing, message: "missing.txt: does not exist".to_owned() });
    assert_eq!((session.app().lists.shown, session.app().document.state.position), (List::File(0), Some(2)));
    assert_eq!(session.app().lists.search.matches, [0, 2]);
}

#[test]
fn a_folder_that_is_there_is_kept_with_its_whole_path() {
    let mut session = session(0);
    for folder in ["tests/fixtures/reference/rnnsearch", "no/such/model"] {
        session.apply(ColumnCommand::Add(folder.into()));
    }
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference/rnnsearch");
    assert_eq!(session.nth(0).system, whole.into());
    assert_eq!(session.nth(1).system, "no/such/model".into(), "as it was typed, for the sentence about it");
}

#[test]
fn a_new_training_is_planned_and_written() {
    let mut session = session(0);
    let set = |session: &mut Session, field, text: &str| {
        session.apply(Command::Training(TrainingCommand::Set(field, text.to_owned())));
    };
    set(&mut session, Field::Architecture, "luong");
    assert_eq!(new_training::text(&session.training().plan, Field::Attention), "global");
    set(&mut session, Field::Score, "location");
    set(&mut session, Field::Attention, "local-p");
    assert_eq!(new_training::text(&session.training().plan, Field::Score), "general", "location has no window");
    assert!(session.training().plan.compose().is_ok());
    set(&mut session, Field::Architecture, "rnnsearch");
    assert!(session.training().plan.attention.is_none() && session.training().plan.compose().is_ok());
    session.apply(Command::Training(TrainingCommand::Save("x/train.toml".into())));
    let chores = chores(&mut session);
    assert!(matches!(&chores[..], [FileJob::SaveTraining { path, .. }] if path == Path::new("x/train.toml")));
    session.absorb_file(FileEvent::TrainingSaved { path: "x/train.toml".into(), trouble: Some("no".to_owned()) });
    assert_eq!((session.training().saved.as_deref(), session.training().message.as_deref()), (None, Some("no")));
    session.absorb_file(FileEvent::TrainingSaved { path: "x/train.toml".into(), trouble: None });
    assert_eq!(session.training().saved.as_deref(), Some(Path::new("x/train.toml")));
}
