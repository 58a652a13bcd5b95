//! Acting on the decoder from the window: forced words, set rows, and how they are marked and taken away.

use std::sync::Arc;

use egui::{Key, accesskit::Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, SourceCommand};
use interlinear::decoding::{Node, NodeFate};
use interlinear::interventions::{Applied, Forbid, Force, Interventions, Pin, Place, SetAlpha, Word};
use interlinear::jobs::live::protocol::{Event, Shift, UntouchedTranslation};
use interlinear::pages::sentence::command::{
    ColumnCommand, InterveneCommand, RowEdit, SearchCommand, SelectCommand, SentenceCommand,
};
use interlinear::{app::document::hand::TakenAway, pages::command::Command, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

fn selected() -> (Harness<'static, App>, Wires, u64) {
    let mut session = desk::two_models();
    let column = session.app().document.columns[1].id;
    session.apply(SelectCommand::Target { column, i: 1 });
    let (harness, wires) = desk::window(session);
    (harness, wires, column)
}

fn changes(wires: &Wires) -> Vec<InterveneCommand> {
    let sent = wires.sent.borrow();
    let of = |command: &Command| match command {
        Command::Sentence(SentenceCommand::Intervene(command)) => Some(command.clone()),
        _ => None,
    };
    sent.iter().filter_map(of).collect()
}

fn entry(word: &str) -> Word {
    Word::Entry(word.to_owned())
}

#[test]
fn a_click_on_a_candidate_forces_it_and_the_bar_takes_it_away() {
    let (mut harness, wires, column) = selected();
    assert!(!harness.has_any("Interventions"));
    harness.click_on("Candidate autre probability 0.135");
    assert_eq!(changes(&wires), [InterveneCommand::Force { column, i: 1, word: entry("autre") }]);
    harness.assert_has_all(&["Interventions", "1 word before is held"]);
    harness.click_on("Take away in RNNsearch, word 2 is \"autre\"");
    assert_eq!(changes(&wires)[1], InterveneCommand::Take { column, what: TakenAway::Word(1) });
    assert!(!harness.has_any("Interventions"));
    harness.press_with(egui::Modifiers::COMMAND, Key::Z);
    harness.click_on("Take all interventions away");
    assert_eq!(changes(&wires)[2], InterveneCommand::TakeAll);
    assert!(!harness.has_any("Interventions"));
}

#[test]
fn the_menu_of_a_word_forces_any_word_and_forbids_this_one() {
    let (mut harness, wires, column) = selected();
    harness.click_on("Change the word");
    harness.get_by_role_and_label(Role::TextInput, "Any other word, or a whole translation").focus();
    harness.run();
    harness.get_by_role_and_label(Role::TextInput, "Any other word, or a whole translation").type_text("bottes");
    harness.run();
    harness.click_on("Say it here");
    let typed = Word::Typed("bottes".to_owned());
    assert_eq!(changes(&wires), [InterveneCommand::Force { column, i: 1, word: typed }]);

    for (button, wanted) in [
        ("Say autre here", InterveneCommand::Force { column, i: 1, word: entry("autre") }),
        ("Not chaussure here", InterveneCommand::Ban { column, i: Some(1), word: entry("chaussure"), in_all: false }),
        ("Never chaussure", InterveneCommand::Ban { column, i: None, word: entry("chaussure"), in_all: false }),
        (
            "Never chaussure, in every column",
            InterveneCommand::Ban { column, i: None, word: Word::Typed("chaussure".to_owned()), in_all: true },
        ),
    ] {
        harness.click_on("Change the word");
        harness.click_on(button);
        assert_eq!(changes(&wires).last(), Some(&wanted));
    }
    let ban = Forbid { i: None, word: entry("chaussure") };
    harness.click_on("Take away in RNNsearch, never \"chaussure\"");
    let taken = InterveneCommand::Take { column, what: TakenAway::Ban(ban) };
    assert!(changes(&wires).contains(&taken));
}

#[test]
fn the_menu_of_a_row_sets_it_masks_words_and_changes_the_temperature() {
    let (mut harness, wires, column) = selected();
    harness.click_on("Change the row");
    for (button, edit) in [
        ("All weight on shoe", RowEdit::OneHot(2)),
        ("Uniform", RowEdit::Uniform),
        ("Reversed", RowEdit::Reversed),
        ("Permuted", RowEdit::Permuted(0)),
    ] {
        harness.click_on(button);
        assert_eq!(changes(&wires).last(), Some(&InterveneCommand::Row { column, i: 1, edit }));
    }
    harness.click_on("Mask red");
    let mask = InterveneCommand::Mask { column, j: 1, is_masked: true, in_all: false };
    assert_eq!(changes(&wires).last(), Some(&mask));
    assert!(harness.query_by_role_and_label(Role::Slider, "Temperature").is_some());
    assert!(harness.has("Take away in RNNsearch, \"red\" is masked"));
}

#[test]
fn a_cell_of_the_selected_row_is_dragged_and_what_is_dragged_is_one_step() {
    let (mut harness, wires, column) = selected();
    let from = harness.get_by_label("chaussure <- shoe 0.07").rect().center();
    harness.drag_at(from);
    harness.step();
    for by in [10.0, 30.0, 60.0] {
        harness.hover_at(from - egui::vec2(0.0, by));
        harness.step();
    }
    harness.drop_at(from - egui::vec2(0.0, 60.0));
    harness.run();
    let weights: Vec<(f32, bool)> = changes(&wires)
        .iter()
        .map(|command| match command {
            InterveneCommand::Weight { column: of, i: 1, j: 2, weight, renormalise: true, goes_on } => {
                assert_eq!(*of, column);
                (*weight, *goes_on)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(weights.len() > 1 && !weights[0].1 && weights[1..].iter().all(|(_, goes_on)| *goes_on), "{weights:?}");
    let last = weights.last().expect("a weight").0;
    assert!((last - (0.2 / 3.0 + 0.5)).abs() < 0.02, "{weights:?}");
    assert!(harness.app().document.history.can_undo());
    harness.send(SourceCommand::Undo);
    assert!(!harness.has_any("Interventions"));
}

#[test]
fn a_cell_of_another_row_is_not_dragged() {
    let (mut harness, wires, _) = selected();
    let from = harness.get_by_label("rouge <- the 0.07").rect().center();
    harness.drag_at(from);
    harness.step();
    harness.hover_at(from - egui::vec2(0.0, 60.0));
    harness.step();
    harness.drop_at(from - egui::vec2(0.0, 60.0));
    harness.run();
    assert!(changes(&wires).is_empty());
}

#[test]
fn plus_and_minus_change_the_cell_that_the_arrows_marked() {
    let (mut harness, wires, column) = selected();
    harness.get_by_label("chaussure <- red 0.80").click();
    harness.remove_cursor();
    harness.run();
    harness.press(Key::ArrowRight);
    harness.press(Key::ArrowRight);
    for (key, weight) in [(Key::Plus, 0.2 / 3.0 + 0.1), (Key::Minus, 0.0)] {
        harness.press(key);
        match changes(&wires).last() {
            Some(InterveneCommand::Weight { column: of, i: 1, j: 1.., weight: set, .. }) => {
                assert_eq!(*of, column);
                assert!((set - weight).abs() < 1e-4 || *set > 0.5, "{set}");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn touched() -> Session {
    let mut session = desk::two_models();
    let column = session.app().document.columns[1].id;
    session.apply(InterveneCommand::Force { column, i: 1, word: entry("autre") });
    let source = desk::sentence("the red shoe", &[]);
    let force = |i, word: &str, held| Force { i, word: entry(word), held };
    let form = Interventions {
        force: vec![force(0, "la", true), force(1, "autre", false)],
        pin: vec![Pin { i: 2, alpha: SetAlpha::Uniform }],
        mask: vec![Place::Position(0)],
        ..Interventions::default()
    };
    let touched = Applied { form, notes: vec!["The model does not know the word \"x\"".to_owned()] };
    for event in desk::finished(&session, column, source, &["la autre rouge"], None) {
        let event = match event {
            Event::Finished { number, column, mut result } => {
                result.hypotheses[0].touched = Arc::new(touched.clone());
                Event::Finished { number, column, result }
            }
            event => event,
        };
        session.absorb(event);
    }
    let before = vec![("chaussure".to_owned(), -0.5_f32), ("autre".to_owned(), -3.0)];
    let shift = Shift { before, divergence: 0.125, ..Shift::default() };
    let untouched = UntouchedTranslation {
        best: desk::hypothesis("la chaussure rouge", 4, true, -1.0),
        shifts: vec![shift.clone(), shift],
    };
    session.absorb(Event::Untouched { number: session.app().tasks.newest, column, untouched });
    session.apply(SelectCommand::Target { column, i: 1 });
    session
}

#[test]
fn what_was_forced_held_set_and_masked_says_so_everywhere() {
    let (harness, _) = desk::window(touched());
    harness.assert_has_all(&[
        "la probability 0.69, held",
        "autre probability 0.69, forced",
        "rouge probability 0.69, alpha set by hand",
        "autre <- red 0.80, forced",
        "autre <- the 0.07, forced, masked",
        "rouge <- shoe 0.80, alpha set by hand",
        "Hypothesis 1, log p -1.50 (-0.75 held or forced, -0.75 free), la autre rouge",
        "RNNsearch by itself, log p -1.00: la chaussure rouge",
        "The model does not know the word \"x\"",
    ]);
}

#[test]
fn candidates_stand_beside_those_of_the_model_itself() {
    let (mut harness, wires) = desk::window(touched());
    harness.assert_has_all(&[
        "Next-word candidates   0.125 nats from the model's own",
        "Candidate autre probability 0.819",
        "By itself chaussure probability 0.607",
    ]);
    wires.sent.borrow_mut().clear();
    harness.click_on("By itself chaussure probability 0.607");
    let column = harness.app().document.columns[1].id;
    assert_eq!(changes(&wires), [InterveneCommand::Force { column, i: 1, word: entry("chaussure") }]);
}

#[test]
fn energies_are_not_dragged() {
    let (mut harness, wires, _) = selected();
    harness.send(SettingsCommand::SetShown(interlinear::app::settings::Shown::Energies));
    let cell = harness.get_all_by_role(Role::GridCell).nth(5).expect("a cell").rect().center();
    harness.drag_at(cell);
    harness.step();
    harness.hover_at(cell - egui::vec2(0.0, 30.0));
    harness.step();
    harness.drop_at(cell - egui::vec2(0.0, 50.0));
    harness.run();
    assert!(changes(&wires).is_empty());
}

#[test]
fn the_menus_of_the_other_button_act_too() {
    let (mut harness, wires, column) = selected();
    for (label, line, wanted) in [
        (
            "chaussure <- red 0.80",
            "Not this word here",
            InterveneCommand::Ban { column, i: Some(1), word: entry("chaussure"), in_all: false },
        ),
        (
            "rouge <- the 0.07",
            "All weight on this source word",
            InterveneCommand::Row { column, i: 2, edit: RowEdit::OneHot(0) },
        ),
        (
            "rouge <- red 0.07",
            "Mask the source word",
            InterveneCommand::Mask { column, j: 1, is_masked: true, in_all: false },
        ),
    ] {
        harness.open_menu_of(label);
        harness.click_on(line);
        assert_eq!(changes(&wires).last(), Some(&wanted), "{line}");
    }
    harness.open_menu_of("rouge <- the 0.07");
    harness.click_on("Force another word...");
    assert!(harness.has("Say it here"), "the menu of the word is open");
}

fn searched() -> Session {
    let mut session = desk::two_models();
    let column = session.app().document.columns[1].id;
    session.apply(SearchCommand::SetBeam(1));
    session.apply(SourceCommand::Edit("red shoe".to_owned()));
    let node = |id: usize, parent, step, token, log_p: f32, fate| Node {
        id,
        parent,
        step,
        token,
        log_p,
        total: log_p,
        alpha: Some(Arc::from([0.75, 0.25, 0.0])),
        energies: None,
        p_t: None,
        candidates: vec![(2, -0.3), (3, -1.5)],
        fate,
    };
    let nodes = vec![
        node(0, None, 0, 2, -0.3, NodeFate::Alive),
        node(1, None, 0, 3, -1.5, NodeFate::Pruned),
        node(2, None, 0, 4, -9.0, NodeFate::Pruned),
        node(3, Some(0), 1, 5, -0.5, NodeFate::Alive),
        node(4, Some(3), 2, 0, -0.6, NodeFate::Finished),
        node(5, Some(0), 1, 4, -9.0, NodeFate::Pruned),
    ];
    let words = [(0, "</s>"), (2, "la"), (3, "le"), (4, "un"), (5, "chaussure")];
    let source = desk::sentence("red shoe", &[]);
    for event in desk::finished(&session, column, source, &["la chaussure"], None) {
        let event = match event {
            Event::Finished { number, column, mut result } => {
                result.hypotheses[0].found.tokens = vec![2, 5, 0];
                result.nodes.clone_from(&nodes);
                result.words = words.iter().map(|(id, word)| (*id, (*word).to_owned())).collect();
                Event::Finished { number, column, result }
            }
            event => event,
        };
        session.absorb(event);
    }
    session.apply(SelectCommand::Hypothesis { column, hypothesis: 0 });
    session
}

#[test]
fn the_search_is_walked_grown_and_gone_on_with() {
    let (mut harness, wires) = desk::window(searched());
    for _ in 0..2 {
        harness.press_with(egui::Modifiers::COMMAND, Key::J);
    }
    harness.assert_has_all(&[
        "Search of RNNsearch as a tree, 3 nodes shown",
        "Node la, step 1, probability 0.74, of the shown hypothesis",
        "Node </s>, step 3, probability 0.55, finished, of the shown hypothesis",
        "looks at red 0.75, shoe 0.25",
        "candidates la 0.741, le 0.223",
    ]);
    let boxes: Vec<_> = harness.get_all_by_label("Pruned branches").collect();
    boxes.last().expect("the switch").click();
    harness.run();
    assert!(harness.has("Search of RNNsearch as a tree, 6 nodes shown"));
    harness.click_on("Node un, step 2, probability 0.00, pruned");
    assert!(harness.query_all_by_label_contains("Pruned, since the beam was full: log p -9.00").next().is_some());
    harness.press(Key::ArrowLeft);
    harness.press(Key::ArrowRight);
    assert!(harness.has("Kept and continued, log p -0.50"));
    harness.press(Key::ArrowDown);
    harness.press(Key::Enter);
    let column = harness.app().document.columns[1].id;
    let tokens = vec!["la".to_owned(), "un".to_owned()];
    assert_eq!(changes(&wires), [InterveneCommand::Follow { column, tokens }]);
}

fn tree_window() -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = desk::window(searched());
    for _ in 0..2 {
        harness.press_with(egui::Modifiers::COMMAND, Key::J);
    }
    (harness, wires)
}

#[test]
fn the_tree_follows_the_best_as_it_grows() {
    let (mut harness, _) = tree_window();
    let boxes: Vec<_> = harness.get_all_by_label("Follow the best").collect();
    boxes.last().expect("the switch").click();
    harness.run();
    assert!(harness.query_all_by_label_contains("log p -0.60").next().is_some(), "the end is chosen");
    let sliders: Vec<_> = harness.query_all_by_role_and_label(Role::Slider, "steps").collect();
    sliders.last().expect("the slider").focus();
    harness.run();
    harness.press(Key::ArrowLeft);
    assert!(harness.query_all_by_label_contains("log p -0.50").next().is_some(), "the word before it");
}

#[test]
fn every_node_of_the_tree_was_a_stop_of_the_tab_key() {
    let (mut harness, _) = tree_window();
    harness.focus_on("Search of RNNsearch as a tree, 3 nodes shown");
    assert!(harness.get_by_label("Search of RNNsearch as a tree, 3 nodes shown").accesskit_node().is_focused());
    for modifiers in [egui::Modifiers::NONE, egui::Modifiers::SHIFT] {
        harness.focus_on("Search of RNNsearch as a tree, 3 nodes shown");
        harness.press_with(modifiers, Key::Tab);
        let is_inside =
            harness.query_all_by(|node| node.role() == Role::TreeItem && node.is_focused()).next().is_some();
        let tree = harness.get_by_label("Search of RNNsearch as a tree, 3 nodes shown");
        assert!(!is_inside && !tree.accesskit_node().is_focused(), "{modifiers:?}: one key passes over the tree");
    }
}

#[test]
fn the_picture_of_the_menu_is_the_one_that_is_shown() {
    let (mut harness, wires) = tree_window();
    let column = harness.app().document.columns[1].id;
    let copied = |wires: &Wires, kind: &str| {
        wires.sent.borrow().iter().any(|command| {
            matches!(command, Command::Sentence(SentenceCommand::Column(ColumnCommand::Copy { column: of, drawing }))
                if *of == column && drawing.kind == kind)
        })
    };
    harness.open_menu_of("Node la, step 1, probability 0.74, of the shown hypothesis");
    harness.click_on("Copy the picture");
    assert!(copied(&wires, "tree") && !copied(&wires, "heatmap"));
    // the sheet opens on it, and can save the bars of a word once one is selected
    harness.open_menu_of("Search of RNNsearch as a tree, 3 nodes shown");
    harness.click_on("Save a figure...");
    for (label, is_there) in [("Draw tree", true), ("Draw bars", false)] {
        let button = harness.get_by_label(label);
        assert_eq!(!button.accesskit_node().is_disabled(), is_there, "{label}");
    }
    harness.type_into("Path", "some/file");
    harness.click_button("Save");
    let path = std::path::PathBuf::from("some/file");
    assert!(wires.heard(ColumnCommand::Draw { column, kind: "tree", path }));
    assert_eq!(harness.app().view.drawing.kind, "heatmap", "what was chosen before is kept");
}

#[test]
fn a_tree_fits_a_narrow_column() {
    let (mut harness, _) = tree_window();
    harness.set_size(egui::vec2(700.0, 768.0));
    harness.run();
    let beam = harness.get_by_label("Beam of RNNsearch").rect();
    for label in ["Go on from here", "Close branch", "Smaller tree", "Larger tree"] {
        let found: Vec<_> = harness.get_all_by_label(label).map(|node| node.rect()).collect();
        let is_inside = |rect: &egui::Rect| rect.left() >= beam.left() && rect.right() <= beam.right() + 1.0;
        assert!(found.iter().any(is_inside), "{label} at {found:?} is not above {beam}");
    }
    let first = harness.get_by_label("Node la, step 1, probability 0.74, of the shown hypothesis").rect();
    assert!(first.left() >= beam.left() + 2.5, "{first} leaves room for its frame right of {beam}");
    for text in ["looks at red", "candidates la"] {
        let line = harness.get_by_label_contains(text).rect();
        assert!(line.right() <= beam.right() + 1.0, "{line} ends with the column, {beam}");
    }
}

#[test]
fn the_sheet_of_figures_opens_on_the_picture_of_the_screen() {
    let (mut harness, wires) = tree_window();
    let column = harness.app().document.columns[1].id;
    for (kind, keys) in [("tree", 0), ("heatmap", 1), ("links", 1)] {
        for _ in 0..keys {
            harness.press_with(egui::Modifiers::COMMAND, Key::J);
        }
        harness.press_with(egui::Modifiers::COMMAND, Key::S);
        harness.type_into("Path", "some/file");
        harness.click_button("Save");
        let path = std::path::PathBuf::from("some/file");
        assert!(wires.heard(ColumnCommand::Draw { column, kind, path }), "{kind}");
    }
}
