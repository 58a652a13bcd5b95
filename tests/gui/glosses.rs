//! The sentence as interlinear text in the window: its rows, glosses typed by hand, and its files.

use egui::accesskit::Role;
use egui::{Key, Modifiers, OutputCommand};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::document::interlinear::{LinksBy, TextRow};
use interlinear::{app::files::interlinear as shown, pages::sentence::command::InterlinearCommand, ui::App};

use crate::{desk, desk::WindowActions as _};

fn choose(harness: &mut Harness<'_, App>, menu: &str, line: &str) {
    harness.click_on(menu);
    harness.click_on(line);
}

fn gloss(harness: &mut Harness<'_, App>, cell: &str, text: &str) {
    harness.get_by_role_and_label(Role::TextInput, cell).focus();
    harness.run();
    harness.get_by_role_and_label(Role::TextInput, cell).type_text(text);
    harness.run();
}

fn copied(harness: &mut Harness<'_, App>, format: &str) -> String {
    harness.click_on("Copy as");
    harness.get_by_label(&format!("Copy as {format}")).click();
    let mut text = String::new();
    for _ in 0..6 {
        harness.step();
        for command in harness.output().platform_output.commands.iter().cloned() {
            if let OutputCommand::CopyText(copied) = command {
                text = copied;
            }
        }
    }
    text
}

fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    shown::rows(harness.app()).into_iter().map(|row| row.name).collect()
}

#[test]
fn glosses_typed_under_words_are_copied_and_undone() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_button("Interlinear");
    assert_eq!(rows(&harness), ["Sentence", "RNNsearch", "RNNencdec"]);
    assert!(harness.has("3 links between RNNsearch and the row above"));
    choose(&mut harness, "Row Sentence", "Add a line of glosses");
    gloss(&mut harness, "gloss of word 1, the", "DEF");
    gloss(&mut harness, "gloss of word 3, shoe", "shoe.SG");
    let text = copied(&mut harness, "text");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[..3],
        [vec!["(1)", "the", "red", "shoe"], vec!["DEF", "-", "shoe.SG"], vec!["la", "chaussure", "rouge"]]
    );
    assert!(text.ends_with("DEF definite, SG singular\n"), "{text}");
    assert!(
        copied(&mut harness, "langsci").contains("\\glll the red shoe\\\\\n\\textsc{def} {} shoe.\\textsc{sg}\\\\\n")
    );
    assert!(copied(&mut harness, "tikz").contains("{shoe\\\\shoe.\\textsc{sg}\\strut};"));
    assert!(copied(&mut harness, "conllu").contains("1\tthe\t_\t_\t_\t_\t_\t_\t_\tgloss=DEF|RNNsearch=la\n"));
    // a translation with a line is a sentence of its own
    choose(&mut harness, "Row RNNsearch", "Add a transliteration");
    gloss(&mut harness, "transliteration of word 1, la", "lah");
    assert!(copied(&mut harness, "expex").contains("\\gla la chaussure rouge//\n\\glb lah {} {}//\n"));
    for _ in 0..3 {
        harness.press_with(Modifiers::COMMAND, Key::Z);
    }
    let plan = harness.app().document.state.interlinear.clone();
    let words = ["the", "red", "shoe"].map(str::to_owned);
    assert_eq!(
        (plan.tiers.len(), plan.tiers[0].cells(&words)),
        (1, vec!["DEF".to_owned(), String::new(), String::new()])
    );
    let saved = harness.state().session().saved();
    assert_eq!(saved.interlinear.tiers.len(), 1, "it is kept between starts");
}

/// Enter went through all cells at once, and what was typed next was lost.
#[test]
fn a_new_line_takes_the_keyboard_and_enter_goes_to_the_next_word() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_button("Interlinear");
    choose(&mut harness, "Row Sentence", "Add a line of glosses");
    for typed in ["DEF", "red", "shoe"] {
        harness.event(egui::Event::Text(typed.to_owned()));
        harness.run();
        harness.press(Key::Enter);
    }
    let plan = harness.app().document.state.interlinear.clone();
    assert_eq!(plan.tiers[0].cells(&["the", "red", "shoe"].map(str::to_owned)), ["DEF", "red", "shoe"]);
}

#[test]
fn rows_are_moved_left_out_and_linked_otherwise() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_button("Interlinear");
    choose(&mut harness, "Row RNNencdec", "Move it up");
    assert_eq!(rows(&harness), ["Sentence", "RNNencdec", "RNNsearch"]);
    choose(&mut harness, "Row RNNencdec", "Leave it out");
    assert_eq!(rows(&harness), ["Sentence", "RNNsearch"]);
    choose(&mut harness, "Add a row", "Add the row RNNencdec");
    choose(&mut harness, "Row RNNencdec", "Move it down");
    assert_eq!(rows(&harness), ["Sentence", "RNNsearch", "RNNencdec"]);
    harness.send(InterlinearCommand::Threshold(0.9));
    assert!(harness.has("0 links between RNNsearch and the row above"));
    choose(&mut harness, "Row RNNsearch", "Links of the statistical aligner");
    let row = TextRow::Model("RNNsearch".to_owned());
    let by = shown::rows(harness.app()).into_iter().find(|shown| shown.row == row);
    assert_eq!(by.and_then(|row| row.by), Some(LinksBy::Aligner));
}

#[test]
fn a_file_in_conllu_brings_lines_and_its_sentence() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.conllu");
    let line =
        |n: usize, word: &str, lemma: &str, pos: &str| format!("{n}\t{word}\t{lemma}\t{pos}\t_\t_\t0\troot\t_\t_\n");
    let other = format!("{}{}\n", line(1, "Boats", "boat", "NOUN"), line(2, "sink", "sink", "VERB"));
    let same = [line(1, "the", "the", "DET"), line(2, "red", "red", "ADJ"), line(3, "shoe", "shoe", "NOUN")].concat();
    std::fs::write(&path, format!("{other}{same}\n")).expect("a temporary folder");
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_button("Interlinear");
    harness.click_on("Open CoNLL-U...");
    let field = harness.get_by_role_and_label(Role::TextInput, "Path");
    field.type_text(path.to_str().expect("text"));
    harness.run();
    harness.press(Key::Enter);
    let cell = harness.get_by_role_and_label(Role::TextInput, "pos of word 3, shoe");
    assert_eq!(cell.accesskit_node().value().as_deref(), Some("NOUN"));
    assert!(!harness.has_any("head of word 1, the"));
    std::fs::write(&path, other).expect("a temporary folder");
    harness.send(InterlinearCommand::Open(path));
    assert_eq!(harness.app().document.source(), "Boats sink");
    assert!(harness.has("lemma of word 1, Boats"));
}
