//! The window from the keyboard.

use std::path::PathBuf;
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use interlinear::session::{Command, Page, Theme};
use interlinear::ui::views::source;

use crate::desk;

/// Presses a key in the window on two models; answers with what was sent.
fn press(modifiers: Modifiers, key: Key) -> Vec<Command> {
    let (mut harness, wires) = desk::window(desk::two_models());
    wires.sent.borrow_mut().clear();
    harness.key_press_modifiers(modifiers, key);
    harness.run();
    let sent = wires.sent.borrow();
    sent.iter().filter(|command| !matches!(command, Command::Hover(_))).cloned().collect()
}

#[test]
fn keys_send_their_commands() {
    let (ctrl, alt, none) = (Modifiers::COMMAND, Modifiers::ALT, Modifiers::NONE);
    for (modifiers, key, wanted) in [
        (ctrl, Key::Z, Command::Undo),
        (ctrl, Key::Y, Command::Redo),
        (ctrl, Key::T, Command::SetTheme(Theme::Light)),
        (ctrl, Key::Plus, Command::SetZoom(1.1)),
        (ctrl, Key::Minus, Command::SetZoom(0.9)),
        (ctrl, Key::Num0, Command::SetZoom(1.0)),
        (ctrl, Key::ArrowDown, Command::MoveSentence(1)),
        (none, Key::PageUp, Command::MoveSentence(-1)),
        (ctrl, Key::Period, Command::Stop),
        (ctrl, Key::Num1, Command::ShowPage(Page::Sentence)),
        (ctrl, Key::Num2, Command::ShowPage(Page::Evaluation)),
        (ctrl, Key::Num3, Command::ShowPage(Page::Map)),
        (ctrl, Key::Num4, Command::ShowPage(Page::Phrases)),
        (alt, Key::ArrowDown, Command::MoveTarget(1)),
        (alt, Key::ArrowUp, Command::MoveTarget(-1)),
        (alt, Key::ArrowRight, Command::MoveColumnSelection(1)),
        (none, Key::CloseBracket, Command::MoveHypothesis(1)),
        (none, Key::OpenBracket, Command::MoveHypothesis(-1)),
        (ctrl, Key::P, Command::SetPalette("Print".to_owned())),
        (ctrl, Key::CloseBracket, Command::SetBeam(6)),
        (none, Key::Escape, Command::Deselect),
        (none, Key::Num0, Command::SetLayout { key: "cell".to_owned(), value: -1.0 }),
    ] {
        let sent = press(modifiers, key);
        assert!(sent.contains(&wanted), "{modifiers:?} {key:?} sent {sent:?}");
    }
    assert!(press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z).contains(&Command::Redo));
    assert!(!press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z).contains(&Command::Undo));
}

#[test]
fn brackets_are_letters_while_typing() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").focus();
    harness.run();
    harness.key_press(Key::CloseBracket);
    harness.run();
    assert!(!wires.sent.borrow().iter().any(|command| matches!(command, Command::MoveHypothesis(_))));
}

#[test]
fn ctrl_l_goes_to_the_source_and_f6_round_the_panels() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::L);
    harness.run();
    assert_eq!(harness.ctx.memory(egui::Memory::focused), Some(source::editor_id()));
    let mut seen = Vec::new();
    for _ in 0..5 {
        harness.key_press(Key::F6);
        harness.run();
        seen.push(harness.ctx.memory(egui::Memory::focused));
    }
    assert!(seen.iter().all(Option::is_some), "{seen:?}");
    let mut different = seen.clone();
    different.dedup();
    assert_eq!(different.len(), 5, "{seen:?}");
    harness.key_press_modifiers(Modifiers::SHIFT, Key::F6);
    harness.run();
    assert_eq!(harness.ctx.memory(egui::Memory::focused), seen[3]);
}

#[test]
fn arrows_move_through_the_heatmap_and_its_numbers_are_marked() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let column = harness.state().session().columns[1].id;
    harness.state_mut().send(Command::SelectTarget { column, i: 0 });
    harness.get_by_role(Role::Grid).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert!(wires.sent.borrow().contains(&Command::MoveTarget(1)));
    assert_eq!(harness.state().session().hover.and_then(|hover| hover.j), Some(0));
}

#[test]
fn arrows_move_through_the_list() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.get_by_label("List of sentences, arrows move through it").focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(wires.sent.borrow().contains(&Command::MoveSentence(1)));
}

#[test]
fn help_lists_every_shortcut_and_closes_again() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.key_press(Key::F1);
    harness.run();
    for binding in interlinear::ui::shortcuts::BINDINGS {
        assert!(harness.query_all_by_label(binding.name).next().is_some(), "{} is missing", binding.name);
    }
    harness.key_press(Key::Escape);
    harness.run();
    assert!(harness.query_by_label("Shortcuts and explanations").is_none());
}

#[test]
fn ctrl_shift_o_asks_for_a_model_by_path() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    harness.run();
    harness.get_by_label("Path").type_text("models/third");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert!(wires.sent.borrow().contains(&Command::AddColumn(PathBuf::from("models/third"))));
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("not read by the window".to_owned())
    }
}

#[test]
fn what_is_dropped_is_opened() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let path = PathBuf::from("dropped.txt");
    harness.input_mut().dropped_files.push(Arc::new(Dropped(path.clone())));
    harness.run();
    assert!(wires.sent.borrow().contains(&Command::Open(path)));
}

#[test]
fn on_other_pages_no_key_changes_the_sentence_unseen() {
    let (mut harness, wires) = desk::window(desk::two_models());
    for page in &Page::ALL[1..] {
        harness.state_mut().send(Command::ShowPage(*page));
        harness.run();
        wires.sent.borrow_mut().clear();
        for (modifiers, key) in
            [(Modifiers::COMMAND, Key::Z), (Modifiers::NONE, Key::PageDown), (Modifiers::COMMAND, Key::CloseBracket)]
        {
            harness.key_press_modifiers(modifiers, key);
        }
        harness.run();
        let sent = wires.sent.borrow();
        let sent: Vec<&Command> = sent.iter().filter(|command| !matches!(command, Command::Hover(_))).collect();
        assert!(sent.is_empty(), "{page:?} sent {sent:?}");
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::L);
    harness.run();
    assert_eq!(harness.state().session().page, Page::Sentence);
    assert_eq!(harness.ctx.memory(egui::Memory::focused), Some(source::editor_id()));
}
