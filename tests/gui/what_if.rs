//! What if, from the window: variants of a sentence and of its search as columns beside the original, and a translation of
//! the user's own.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::app::{command::SourceCommand, document::column::Column, document::table::GIVEN};
use interlinear::{jobs::live::protocol::Event, pages::sentence::command::SelectCommand, ui::App};

use crate::desk;
use crate::desk::{WindowActions as _, Wires};

fn menu(harness: &mut Harness<'_, App>, column: &str) {
    harness.click_on(&format!("Menu of {column}"));
}

fn offer(harness: &mut Harness<'_, App>, label: &str, line: &str) {
    harness.open_menu_of(label);
    harness.click_on(line);
}

fn answer(harness: &mut Harness<'_, App>, wires: &Wires, source: &str, output: &str) {
    let session = harness.state().session();
    let events =
        desk::finished(session, session.app().document.columns[2].id, desk::sentence(source, &[]), &[output], None);
    *wires.events.borrow_mut() = events;
    harness.run();
}

fn names(harness: &Harness<'_, App>) -> Vec<String> {
    harness.app().document.columns.iter().map(Column::name).collect()
}

#[test]
fn a_dropped_word_opens_a_column_that_says_what_differs() {
    for size in [[1280.0, 800.0], [1024.0, 768.0]] {
        let (mut harness, wires) = desk::window_of(desk::two_models(), size);
        let column = harness.app().document.columns[1].id;
        harness.send(SelectCommand::Column(column));
        offer(&mut harness, "Source word 2 red", "Drop the source word");
        assert_eq!(names(&harness), ["RNNencdec", "RNNsearch", "RNNsearch, without \"red\""]);
        answer(&mut harness, &wires, "the shoe", "la rouge");
        assert!(harness.has("Variant of RNNsearch: without \"red\""));
        let foot = harness.query_all_by_label_contains("Beside the original, ").next();
        assert!(foot.is_some(), "{size:?}: the foot tells what differs");
        harness.press_with(Modifiers::COMMAND, Key::Z);
        assert_eq!(names(&harness), ["RNNencdec", "RNNsearch"]);
        harness.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
        harness.click_on("Remove RNNsearch, without \"red\"");
        assert_eq!(names(&harness), ["RNNencdec", "RNNsearch"]);
    }
}

#[test]
fn a_word_is_replaced_by_one_that_is_typed_or_by_a_neighbour() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let column = harness.app().document.columns[1].id;
    offer(&mut harness, "chaussure <- red 0.80", "Replace the source word...");
    assert!(harness.has("Looking for its neighbours"));
    let number = harness.app().tasks.newest;
    let near = Ok(vec![("blue".to_owned(), 0.61), ("green".to_owned(), 0.5)]);
    *wires.events.borrow_mut() = vec![Event::Near { number, column, near }];
    harness.run();
    harness.click_on("Replace it by blue, cosine 0.61");
    assert_eq!(names(&harness)[2], "RNNsearch, \"blue\" for \"red\"");
    assert!(harness.state().session().sentence().near.is_none(), "the sheet is closed");

    offer(&mut harness, "chaussure <- red 0.80", "Insert words before it...");
    let field = harness.get_by_role_and_label(Role::TextInput, "Words that are inserted");
    field.type_text("very");
    harness.run();
    harness.click_on("Translate it so");
    assert_eq!(names(&harness)[3], "RNNsearch, with \"very\"");
}

#[test]
fn offers_of_words_are_reached_by_keys() {
    let (mut harness, _) = desk::window(desk::two_models());
    let column = harness.app().document.columns[1].id;
    harness.state_mut().send(SelectCommand::Target { column, i: 0 });
    harness.get_by_role(Role::Grid).focus();
    harness.run();
    for key in [Key::ArrowRight, Key::ArrowRight] {
        harness.press(key);
    }
    harness.press_with(Modifiers::SHIFT, Key::F10);
    harness.click_on("Swap it with the next word");
    assert_eq!(names(&harness)[2], "RNNsearch, \"red\" and \"shoe\" swapped");
}

#[test]
fn the_menu_of_a_column_puts_other_settings_and_words_beside_it() {
    let (mut harness, wires) = desk::window(desk::two_models());
    menu(&mut harness, "RNNsearch");
    harness.click_on_each(&["Beside it with other settings...", "It never chooses [UNK]", "Put it beside"]);
    assert_eq!(names(&harness)[2], "RNNsearch, never [UNK]");
    answer(&mut harness, &wires, "the red shoe", "la chaussure rouge");
    assert!(harness.has("Beside the original, the same words, no row moved, JSD 0.000 nats"));

    menu(&mut harness, "RNNsearch, never [UNK]");
    harness.click_on("Close this variant");
    menu(&mut harness, "RNNsearch");
    harness.click_on("Beside it with other words...");
    let field = harness.get_by_role_and_label(Role::TextInput, "The whole text");
    field.type_text("s");
    harness.run();
    harness.press(Key::Enter);
    assert_eq!(names(&harness).len(), 3, "{:?}", names(&harness));
    offer(&mut harness, "Variant of RNNsearch: \"shoes\" for \"shoe\"", "Make this the sentence");
    assert_eq!((harness.app().document.source(), names(&harness).len()), ("the red shoes", 2));
}

fn given() -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.press_with(Modifiers::COMMAND, Key::G);
    harness.type_into("Your translation", "le soulier");
    assert!(wires.sent.borrow().contains(&SourceCommand::Give(Some("le soulier".to_owned())).into()));
    let session = harness.state().session();
    let events: Vec<Event> = session
        .app()
        .document
        .columns
        .iter()
        .enumerate()
        .map(|(n, column)| {
            let view = desk::hypothesis("le soulier", 4, n == 1, -4.0);
            Event::Given { number: session.app().tasks.newest, column: column.id, given: Ok(Box::new(view)) }
        })
        .collect();
    wires.events.borrow_mut().extend(events);
    harness.run();
    (harness, wires)
}

#[test]
fn every_column_says_what_it_makes_of_the_users_translation() {
    let (mut harness, wires) = given();
    assert_eq!(harness.query_all_by_label("Yours, not the model's   log p -4.00, 2.50 below").count(), 2);
    assert_eq!(harness.query_all_by_label("Its own   log p -1.50").count(), 2);
    assert_eq!(harness.query_all_by_label("Yours, soulier probability 0.26").count(), 2);
    assert_eq!(harness.query_all_by_label(GIVEN).count(), 2, "over both pictures");
    assert!(harness.has("soulier <- red 0.80"), "its alignment is shown");
    assert!(!harness.has_any("chaussure <- red 0.80"));

    // a word of the other translation brings its alignment back
    harness.click_on("chaussure probability 0.69");
    assert!(wires.sent.borrow().contains(&SelectCommand::ShowGiven(false).into()));
    assert!(harness.has("chaussure <- red 0.80"));
    assert_eq!(harness.app().view.selection.target, Some(1));
    assert!(!harness.has_any(GIVEN));
    assert_eq!(harness.query_all_by_label("Yours, soulier probability 0.26").count(), 2, "both are still there");

    harness.click_on("Take your translation away");
    assert!(!harness.has_any("Yours, soulier probability 0.26"));
    assert!(!harness.has_any("Your translation"));
}

#[test]
fn undo_takes_back_what_is_typed_into_the_users_translation() {
    let (mut harness, _) = given();
    harness.press_with(Modifiers::COMMAND, Key::Z);
    assert_ne!(harness.app().document.state.given.as_deref(), Some("le soulier"));
    assert_eq!(harness.app().document.source(), "the red shoe");
}

#[test]
fn a_hypothesis_can_be_scored_by_every_model() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.open_menu_of("Hypothesis 2, log p -2.50, le soulier rouge");
    harness.click_on("Score it in every column");
    assert!(wires.sent.borrow().contains(&SourceCommand::Give(Some("le soulier rouge".to_owned())).into()));
}
