//! A translation of the user's own in the window.

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use interlinear::app::{command::SourceCommand, document::table::GIVEN};
use interlinear::{jobs::live::protocol::Event, pages::sentence::command::SelectCommand, ui::App};

use crate::desk;
use crate::desk::WindowActions as _;
use crate::desk::Wires;

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
    assert!(harness.query_by_label("soulier <- red 0.80").is_some(), "its alignment is shown");
    assert!(harness.query_by_label("chaussure <- red 0.80").is_none());

    // a word of the other translation brings its alignment back
    harness.click_on("chaussure probability 0.69");
    assert!(wires.sent.borrow().contains(&SelectCommand::ShowGiven(false).into()));
    assert!(harness.has("chaussure <- red 0.80"));
    assert_eq!(harness.app().view.selection.target, Some(1));
    assert!(harness.query_by_label(GIVEN).is_none());
    assert_eq!(harness.query_all_by_label("Yours, soulier probability 0.26").count(), 2, "both are still there");

    harness.click_on("Take your translation away");
    assert!(harness.query_by_label("Yours, soulier probability 0.26").is_none());
    assert!(harness.query_by_label("Your translation").is_none());
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
