//! What is laid over the heatmap and how its rows and words are chosen: links of the aligner, the reading, pieces; and
//! models that were told.

use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, WindowCommand};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::layout::{Layout, Look};
use interlinear::jobs::live::protocol::{Event, ModelFacts, Pieces};
use interlinear::jobs::queue::head::{HeadLearned, LearnedOfText};
use interlinear::jobs::queue::{Found, JobProgress, QueueNews};
use interlinear::text::links::{Link, Links};
use interlinear::{aligner::bundled::AlignerFile, analysis::row_convention::RowConvention, app::tasks::Effect};
use interlinear::{app::settings::RowSource, pages::sentence::command::HeadCommand, session::state::Session};

use crate::{desk, desk::WindowActions as _};

const LINKS: &str = "Links of the statistical aligner";

fn answer(session: &mut Session, links: &Links) {
    for effect in session.take_effects() {
        if let Effect::Chore(FileJob::Align { number, .. }) = effect {
            session.absorb_file(FileEvent::Aligned { number, links: links.clone() });
        }
    }
}

fn linked() -> Session {
    let mut session = desk::two_models();
    session.apply(SettingsCommand::SetLinks(true));
    let link = |source, target| Link { source, target };
    answer(&mut session, &Links::new(vec![link(0, 0), link(2, 1)], vec![link(1, 2)]));
    session
}

#[test]
fn links_are_switched_by_button_key_and_menu() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_on(LINKS);
    assert!(wires.heard(SettingsCommand::SetLinks(true)));
    assert!(harness.has("Legend of the outlines, links of the statistical aligner"));
    harness.press_with(egui::Modifiers::COMMAND, egui::Key::K);
    assert!(!harness.app().view.settings.links);
    assert!(!harness.has_any("Legend of the outlines, links of the statistical aligner"));
    harness.click_on("View");
    harness.click_containing("Links of the aligner");
    assert!(harness.app().view.settings.links);
}

#[test]
fn linked_cells_say_so_and_the_header_how_many_words_agree() {
    let (mut harness, _) = desk::window(linked());
    harness.assert_has_all(&[
        "la <- the 0.80, linked",
        "chaussure <- red 0.80",
        "chaussure <- shoe 0.07, linked",
        "rouge <- red 0.07, linked in one direction",
    ]);
    let numbers = harness.query_all_by_label_contains("33 % on links").count();
    assert_eq!(numbers, 1, "RNNencdec looks nowhere");
    harness.point_at("rouge <- red 0.07, linked in one direction");
    let tip = "linked in one direction by the statistical aligner";
    assert!(harness.has(tip), "in the tooltip");
}

/// The picture of links had neither the aligner's nor its switch.
#[test]
fn the_picture_of_links_has_those_of_the_aligner_and_their_switch() {
    let mut session = linked();
    session.apply(WindowCommand::SetLayout(Box::new(Layout { look: Look::Links, ..Layout::default() })));
    let (mut harness, wires) = desk::window_of(session, [1440.0, 800.0]);
    let with = |harness: &egui_kittest::Harness<'_, interlinear::ui::App>| {
        harness.query_all_by_label_contains(", 3 of the statistical aligner").count()
    };
    assert_eq!(with(&harness), 1);
    harness.click_on(LINKS);
    assert!(wires.heard(SettingsCommand::SetLinks(false)));
    assert_eq!(with(&harness), 0);
}

#[test]
fn where_no_aligner_comes_with_the_program_the_switch_says_why() {
    let mut session = desk::session("the red shoe");
    let facts = ModelFacts { target_language: "nl".to_owned(), ..desk::facts("Dutch", true) };
    desk::add_translated(&mut session, facts, "the red shoe", &["der rote Schuh"]);
    session.apply(SettingsCommand::SetLinks(true));
    let (mut harness, wires) = desk::window(session);
    assert!(!harness.has_any("Legend of the outlines, links of the statistical aligner"));
    harness.point_at(LINKS);
    let why = "No statistical aligner for en and nl comes with the program; the menu View takes a file of your own";
    assert!(harness.has(why), "in the tooltip");
    harness.click_on(LINKS);
    assert!(!wires.heard(SettingsCommand::SetLinks(false)), "it does nothing");
}

#[test]
fn rows_of_rnnsearch_may_be_read_by_the_word_read() {
    let mut session = desk::session("the red shoe");
    let facts = ModelFacts { input_delay: Some(2), ..desk::facts("RNNsearch", true) };
    desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    let (mut harness, wires) = desk::window(session);
    assert!(harness.has("la <- the 0.80"));
    assert!(!harness.has_any("Rows by each model's own reading"), "no model has another");
    harness.click_on("Rows by input");
    assert!(wires.heard(SettingsCommand::SetReading(Some(RowConvention::Input))));
    harness.assert_has_all(&[
        "la <- shoe 0.80",
        "chaussure <- </s> 0.80",
        "rouge <- red 0.00",
        "Rows of RNNsearch by the word read",
    ]);
}

#[test]
fn two_questions_are_answered_one_after_the_other_and_one_over_the_other() {
    let mut session = desk::session("the red shoe");
    for facts in [ModelFacts { has_head: true, ..desk::facts("RNNsearch", true) }, desk::facts("Other", true)] {
        let has_head = facts.has_head;
        let column = desk::add_column(&mut session, facts);
        let sentence = desk::sentence("the red shoe", &[]);
        let mut events = desk::finished(&session, column, sentence, &["la chaussure rouge"], None);
        if let Some(Event::Finished { result, .. }) = events.last_mut().filter(|_| has_head) {
            let row = |i: usize| (0..4).map(|j| if j + i == 3 { 0.7 } else { 0.1 }).collect();
            result.hypotheses[0].found.head = Some((0..4).map(row).collect());
        }
        desk::absorb(&mut session, events);
    }
    let (mut harness, wires) = desk::window_of(session, [1900.0, 900.0]);
    assert!(harness.has("Where it looked to choose the word"));
    assert_eq!(harness.query_all_by_label("chaussure <- red 0.80").count(), 2);
    harness.click_on("Where the word comes from");
    assert!(wires.heard(SettingsCommand::SetAsked(RowSource { origin: true, both: false })));
    assert_eq!(harness.query_all_by_label("chaussure <- red 0.80").count(), 1, "the other model has no head");
    harness.assert_has_all(&["chaussure <- shoe 0.70", "Rows of RNNsearch by the origin of the word"]);
    harness.click_on("Outline the other of both questions");
    harness.assert_has_all(&[
        "chaussure <- red 0.10, it looked here",
        "Legend of the outlines, the other of both questions",
    ]);
    harness.click_on("Where it looked to choose the word");
    assert!(harness.has("chaussure <- shoe 0.07, it comes from here"));
    let nowhere = || harness.query_all_by_label_contains("la <- </s> ");
    let says = |node: egui_kittest::Node<'_>| {
        node.accesskit_node().label().is_some_and(|said| said.contains("it comes from here"))
    };
    assert!(nowhere().any(says), "</s> is outlined as the words are");
    harness.set_size(egui::vec2(1024.0, 768.0));
    harness.run();
    let more = harness.get_by_label("More").rect();
    assert!(more.right() < 1024.0, "{more:?} is cut");
    harness.set_size(egui::vec2(1900.0, 900.0));
    harness.run();
    harness.point_at("Where the word comes from");
    let note = "It explains the alignment and not the choice";
    assert!(harness.query_all_by_label_contains(note).next().is_some(), "in the tooltip");
    let (harness, _) = desk::window(desk::two_models());
    assert!(!harness.has_any("Where the word comes from"), "no model has a head");
}

#[test]
fn an_alignment_head_is_learned_on_a_sheet() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let click = |harness: &mut egui_kittest::Harness<'_, interlinear::ui::App>, label: &str| {
        harness.click_on(label);
    };
    click(&mut harness, "Menu of RNNencdec");
    click(&mut harness, "Learn an alignment head...");
    let shows = |harness: &egui_kittest::Harness<'_, interlinear::ui::App>, text: &str| {
        harness.query_all_by_label_contains(text).next().is_some()
    };
    assert!(shows(&harness, "An alignment head for RNNencdec") && shows(&harness, "its decoder never sees h_j"));
    for (at, (name, path)) in
        [("Source sentences", "mine.en"), ("Their translations", "mine.fr")].into_iter().enumerate()
    {
        harness.get_by_role_and_label(Role::TextInput, name).focus();
        harness.run();
        harness.get_by_role_and_label(Role::TextInput, name).type_text(path);
        harness.run();
        assert!(wires.heard(HeadCommand::File(at, path.to_owned())), "{name}");
    }
    click(&mut harness, "Learn");
    let column = harness.app().document.columns[0].id;
    assert!(wires.heard(HeadCommand::Learn(column, None)));
    let number = harness.app().tasks.list[0].number;
    let what = "Learning an alignment head for RNNencdec, 1.250 nats a word".to_owned();
    let progress = JobProgress { done: 30, total: 120, what, words_per_second: 900.0 };
    wires.report(&mut harness, number, QueueNews::Progress(progress));
    assert!(shows(&harness, "1.250 nats a word, 25 %, 900 words/s"));
    let model = harness.app().document.columns[0].system.members[0].clone();
    let learned = HeadLearned { path: model.folder.join("alignment.safetensors"), model, pairs: 500, cost: 0.75 };
    wires.report(&mut harness, number, QueueNews::Found(Found::Head(LearnedOfText::Head(learned))));
    assert!(shows(&harness, "Learned from 500 pairs to 0.750 nats a word") && shows(&harness, "This model has one"));
    click(&mut harness, "Close");
    assert!(harness.has("Where the word comes from"), "both questions are there");
    let facts = |at: usize| harness.app().document.columns[at].facts.clone().expect("loaded");
    assert!(facts(0).has_head && !facts(1).has_head);
}

#[test]
fn rows_of_a_model_guided_by_the_word_read_are_read_so_until_one_chooses() {
    let mut session = desk::session("the red shoe");
    let own = ModelFacts { input_delay: Some(2), reading: RowConvention::Input, ..desk::facts("Told", true) };
    let plain = ModelFacts { input_delay: Some(2), ..desk::facts("RNNsearch", true) };
    for facts in [own, plain] {
        desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    }
    let (mut harness, wires) = desk::window_of(session, [1600.0, 800.0]);
    harness.assert_has_all(&["Rows of Told by the word read", "Rows of RNNsearch by the word predicted"]);
    harness.click_on("Rows by predicted");
    assert!(harness.has("Rows of Told by the word predicted"));
    harness.click_on("Rows by each model's own reading");
    assert!(wires.heard(SettingsCommand::SetReading(None)));
    assert!(harness.has("Rows of Told by the word read"));
}

fn pieces() -> Session {
    let mut session = desk::session("the dawn");
    let column = desk::add_column(&mut session, desk::facts("Pieces", true));
    let mut events = desk::finished(&session, column, desk::sentence("the dawn", &[]), &["sun ##rise"], None);
    if let Some(Event::Finished { result, .. }) = events.last_mut() {
        let words = vec!["sunrise".to_owned(), "</s>".to_owned()];
        result.hypotheses[0].pieces = Some(Pieces { source: vec![0..1, 1..2, 2..3], target: vec![0..2, 2..3], words });
    }
    desk::absorb(&mut session, events);
    session
}

#[test]
fn words_are_whole_in_heatmap_and_inspector_until_pieces_are_asked_for() {
    let (mut harness, wires) = desk::window(pieces());
    assert!(harness.has("Alignment of Pieces, 2 target by 3 source words"));
    harness.click_on("sunrise <- the 0.45");
    harness.assert_has_all(&["Candidates for its first piece, sun", "alpha the 0.450"]);
    assert!(harness.query_all_by_label_contains("word 1 of 2 by Pieces").any(|_| true));
    assert!(harness.query_all_by_label_contains("pieces sun ##rise").any(|_| true));
    harness.click_on("Pieces of words");
    assert!(wires.heard(SettingsCommand::SetPieces(true)));
    harness.assert_has_all(&["sun <- the 0.80", "##rise <- dawn 0.80"]);
    harness.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, egui::Key::K);
    assert!(harness.has("sunrise <- the 0.45"));
    let (harness, _) = desk::window(desk::two_models());
    assert!(!harness.has_any("Pieces of words"), "these vocabularies have whole words");
}

#[test]
fn a_model_that_was_told_says_so_over_its_column() {
    let mut session = desk::session("the red shoe");
    let facts = ModelFacts { guided: Some("input".to_owned()), ..desk::facts("RNNsearch", true) };
    desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    let (mut harness, _) = desk::window(session);
    harness.point_at("guided");
    let note = "its attention was trained on word links of a statistical aligner";
    assert!(harness.query_all_by_label_contains(note).next().is_some(), "in the tooltip");
    let (harness, _) = desk::window(desk::two_models());
    assert!(!harness.has_any("guided"));
}

#[test]
fn a_model_is_given_an_aligner_of_its_own() {
    let mut session = desk::two_models();
    let model = session.app().document.columns[1].system.members[0].clone();
    let languages = ("en".to_owned(), "fr".to_owned());
    let own = AlignerFile { path: "m/own.aligner".into(), languages, model: Some(model.clone()) };
    session.absorb_file(FileEvent::Aligner(own.clone()));
    let (mut harness, wires) = desk::window(session);
    harness.click_on_each(&["Menu of RNNsearch", "Aligner for this model..."]);
    harness.get_by_role_and_label(Role::TextInput, "Path").type_text("m/other.aligner");
    harness.run();
    harness.click_on("Choose");
    let path = "m/other.aligner".into();
    assert!(wires.heard(SettingsCommand::OpenAligner { path, model: Some(model) }));
    harness.click_on("Menu of RNNsearch");
    harness.click_containing("Without own.aligner");
    assert!(wires.heard(SettingsCommand::RemoveAligner(own)));
    assert_eq!(harness.app().view.settings.aligner.iter().count(), 0);
}
