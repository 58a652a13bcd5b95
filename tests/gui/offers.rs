//! What is offered for a word, a cell and a hypothesis, and what lands in the clipboard.

use egui::accesskit::Role;
use egui::{Key, Modifiers, OutputCommand, PointerButton, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::{pages::sentence::command::SelectCommand, ui::App};

use crate::{desk, desk::WindowActions as _};

const CELL: &str = "chaussure <- red 0.80";

fn open(harness: &mut Harness<'_, App>, label: &str) {
    harness.open_menu_of(label);
}

fn copied(harness: &mut Harness<'_, App>) -> Vec<OutputCommand> {
    let mut commands = Vec::new();
    for _ in 0..8 {
        harness.step();
        commands.extend(harness.output().platform_output.commands.iter().cloned());
    }
    commands
}

fn copied_by(harness: &mut Harness<'_, App>, line: &str) -> String {
    harness.get_by_label(line).click();
    let texts = copied(harness).into_iter().filter_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

fn selected_cell(harness: &mut Harness<'_, App>) {
    let column = harness.app().document.columns[1].id;
    harness.state_mut().send(SelectCommand::Target { column, i: 0 });
    harness.get_by_role(Role::Grid).focus();
    harness.run();
    for key in [Key::ArrowDown, Key::ArrowRight, Key::ArrowRight] {
        harness.press(key);
    }
}

#[test]
fn everything_that_is_shown_has_its_offers() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.get_by_label("Beam of RNNsearch");
    for (label, title, lines) in [
        ("Source word 2 red", "Source word 2, red", &["Copy the word", "Neighbours on the map"][..]),
        (CELL, "chaussure and red, 0.800", &["Inspect this word", "Copy the row as TSV", "Only this column"]),
        ("Hypothesis 2, log p -2.50, le soulier rouge", "Hypothesis 2 of RNNsearch", &["Show its alignment"]),
    ] {
        open(&mut harness, label);
        for line in lines.iter().copied().chain([title, "Copy the picture"]) {
            assert!(harness.has_any(line), "{label}: {line} is missing");
        }
        harness.press(Key::Escape);
        assert!(!harness.has_any("Copy the picture"), "{label}: Escape closes the menu");
    }
}

#[test]
fn words_rows_alignments_and_translations_are_copied_as_text() {
    for (label, line, wanted) in [
        ("Source word 2 red", "Copy the word", "red"),
        (CELL, "Copy both words and their number", "chaussure\tred\t0.800"),
        ("Hypothesis 2, log p -2.50, le soulier rouge", "Copy this translation", "le soulier rouge"),
    ] {
        let (mut harness, _) = desk::window(desk::two_models());
        open(&mut harness, label);
        assert_eq!(copied_by(&mut harness, line), wanted, "{label}: {line}");
    }
    let (mut harness, _) = desk::window(desk::two_models());
    open(&mut harness, CELL);
    let row = copied_by(&mut harness, "Copy the row as TSV");
    let lines: Vec<Vec<&str>> = row.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["target", "log_p", "the", "red", "shoe", "</s>"]);
    assert_eq!((lines.len(), lines[1][0], lines[1][3]), (2, "chaussure", "0.8"));
    open(&mut harness, CELL);
    assert_eq!(copied_by(&mut harness, "Copy the alignment as TSV").lines().count(), 5);
    open(&mut harness, "Source word 2 red");
    let gloss = copied_by(&mut harness, "Copy as interlinear text");
    let lines: Vec<&str> = gloss.lines().collect();
    assert!(lines[0].starts_with("(1)  the ") && lines[1].contains("chaussure"), "{gloss}");
    assert!(lines[2].contains("\u{2018}la chaussure rouge\u{2019} (RNNsearch)"), "{gloss}");
    open(&mut harness, "Source word 2 red");
    assert!(
        copied_by(&mut harness, "Copy as interlinear LaTeX (gb4e)")
            .starts_with("\\begin{exe}\n\\ex \\gll the red shoe\\\\\n")
    );
}

#[test]
fn the_picture_is_copied_as_an_image() {
    let (mut harness, _) = desk::window(desk::two_models());
    open(&mut harness, CELL);
    harness.get_by_label("Copy the picture").click();
    let images: Vec<[usize; 2]> = copied(&mut harness)
        .into_iter()
        .filter_map(|command| match command {
            OutputCommand::CopyImage(image) => Some(image.size),
            _ => None,
        })
        .collect();
    assert_eq!(images.len(), 1, "once and not in every frame");
    assert!(images[0][0] > 100 && images[0][1] > 100, "{images:?}");
    assert!(harness.has("The picture is in the clipboard"));
}

#[test]
fn the_menu_of_the_marked_cell_opens_by_keys_and_gives_the_keyboard_back() {
    for (modifiers, key) in [(Modifiers::SHIFT, Key::F10), (Modifiers::NONE, Key::Menu)] {
        let (mut harness, _) = desk::window(desk::two_models());
        selected_cell(&mut harness);
        let focus = harness.ctx.memory(egui::Memory::focused);
        harness.press_with(modifiers, key);
        assert!(harness.has_any("chaussure and red, 0.800"), "{key:?}");
        let line = harness.get_by_label("Inspect this word");
        assert!(line.accesskit_node().is_focused(), "the first line has the keyboard");
        harness.press(Key::Escape);
        assert!(!harness.has_any("Inspect this word"));
        assert_eq!(harness.ctx.memory(egui::Memory::focused), focus, "{key:?}");
    }
}

#[test]
fn a_column_stands_alone_by_its_menu_and_all_come_back() {
    let (mut harness, _) = desk::window(desk::two_models());
    open(&mut harness, CELL);
    harness.click_on("Only this column");
    assert!(harness.has("Column of RNNsearch"));
    open(&mut harness, CELL);
    harness.click_on("All columns");
    assert!(harness.has("Column 1 of RNNencdec"));
}

fn draw(harness: &mut Harness<'_, App>, from: Rect, to: Rect) {
    let button = |pressed, pos| egui::Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    harness.event(egui::Event::PointerMoved(from.center()));
    harness.event(button(true, from.center()));
    harness.run();
    harness.event(egui::Event::PointerMoved(to.center()));
    harness.run();
    harness.event(button(false, to.center()));
    harness.run();
}

#[test]
fn words_that_the_mouse_is_drawn_over_are_copied() {
    let (mut harness, wires) = desk::window_at_start(desk::two_models(), [1280.0, 800.0]);
    let word = |harness: &Harness<'_, App>, text: &str| {
        let label = format!("{text} probability");
        let words = harness.query_all_by_label_contains(&label);
        let rects: Vec<Rect> = words.map(|node| node.rect()).collect();
        rects[rects.len() - 1]
    };
    let (from, to) = (word(&harness, "chaussure"), word(&harness, "rouge"));
    draw(&mut harness, from, to);
    let selects = wires.heard_of("Target");
    assert!(!selects, "drawing is no click");
    harness.event(egui::Event::Copy);
    assert_eq!(copied(&mut harness), [OutputCommand::CopyText("chaussure rouge".to_owned())]);
    harness.press(Key::Escape);
    harness.event(egui::Event::Copy);
    assert_eq!(copied(&mut harness), [], "Escape selects nothing");
}

#[test]
fn a_part_of_a_text_keeps_its_blanks() {
    let part = interlinear::widgets::words::part;
    let words = ["l'", "homme", "rit", "."];
    assert_eq!(part("l'homme rit.", &words, (0, 1)), "l'homme");
    assert_eq!(part("l'homme rit.", &words, (1, 9)), "homme rit.");
    assert_eq!(part("another text", &words, (1, 2)), "homme rit");
}
