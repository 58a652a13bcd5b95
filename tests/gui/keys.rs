//! The window from the keyboard.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::{layout::Layout, open_with::Installed, page::SENTENCE, settings::Theme};
use interlinear::pages::sentence::command::{
    ColumnCommand, ListCommand, SearchCommand, SelectCommand, SentenceCommand,
};
use interlinear::pages::{PAGES, command::Command, corpus::CORPUS, map::MAP, shell::source, steps::STEPS};
use interlinear::ui::{App, spoken::Announcer};

use crate::{desk, desk::WindowActions as _};

fn is_hover(command: &Command) -> bool {
    matches!(command, Command::Sentence(SentenceCommand::Select(SelectCommand::Hover(_))))
}

fn press(modifiers: Modifiers, key: Key) -> Vec<Command> {
    let (mut harness, wires) = desk::window(desk::two_models());
    wires.sent.borrow_mut().clear();
    harness.press_with(modifiers, key);
    let sent = wires.sent.borrow();
    sent.iter().filter(|command| !is_hover(command)).cloned().collect()
}

#[test]
fn translations_are_told_and_what_gets_the_focus_and_is_chosen_but_not_typing() {
    let (mut harness, _) = desk::window(desk::two_models());
    let told = Arc::new(Mutex::new(Vec::<String>::new()));
    let heard = Arc::clone(&told);
    Announcer::install(&harness.ctx, move |text| heard.lock().expect("one thread").push(text.to_owned()));
    let take = || std::mem::take(&mut *told.lock().expect("one thread"));
    harness.run();
    assert_eq!(take(), ["RNNencdec: le rouge soulier. RNNsearch: la chaussure rouge"]);
    for _ in 0..4 {
        harness.press(Key::Tab);
    }
    let names = take();
    assert!(names.len() >= 3 && names.iter().all(|name| name.contains("button") || name.contains(": ")), "{names:?}");
    harness.click_role(Role::Tab, "Page Steps");
    let names = take();
    assert!(names.iter().any(|name| name.starts_with("Page Steps")), "{names:?}");
}

#[test]
fn keys_send_their_commands() {
    let (ctrl, alt, none) = (Modifiers::COMMAND, Modifiers::ALT, Modifiers::NONE);
    for (modifiers, key, wanted) in [
        (ctrl, Key::Z, SourceCommand::Undo.into()),
        (ctrl, Key::Y, SourceCommand::Redo.into()),
        (ctrl, Key::T, SettingsCommand::SetTheme(Theme::Light).into()),
        (ctrl, Key::Plus, SettingsCommand::SetZoom(1.1).into()),
        (ctrl, Key::Minus, SettingsCommand::SetZoom(0.9).into()),
        (ctrl, Key::Num0, SettingsCommand::SetZoom(1.0).into()),
        (ctrl, Key::ArrowDown, ListCommand::Move(1).into()),
        (none, Key::PageUp, ListCommand::Move(-1).into()),
        (ctrl, Key::Period, SourceCommand::Stop.into()),
        (ctrl, Key::Num1, WindowCommand::ShowPage(SENTENCE).into()),
        (ctrl, Key::Num2, WindowCommand::ShowPage(STEPS).into()),
        (ctrl, Key::Num3, WindowCommand::ShowPage(CORPUS).into()),
        (ctrl, Key::Num4, WindowCommand::ShowPage(MAP).into()),
        (alt, Key::ArrowDown, SelectCommand::MoveTarget(1).into()),
        (alt, Key::ArrowUp, SelectCommand::MoveTarget(-1).into()),
        (alt, Key::ArrowRight, SelectCommand::MoveColumn(1).into()),
        (none, Key::CloseBracket, SelectCommand::MoveHypothesis(1).into()),
        (none, Key::OpenBracket, SelectCommand::MoveHypothesis(-1).into()),
        (ctrl, Key::P, SettingsCommand::SetPalette("Print".to_owned()).into()),
        (ctrl, Key::CloseBracket, SearchCommand::SetBeam(6).into()),
        (none, Key::Escape, SelectCommand::Nothing.into()),
        (none, Key::Num0, WindowCommand::SetLayout(Box::new(Layout { cell: -1.0, ..Layout::default() })).into()),
    ] {
        let sent = press(modifiers, key);
        assert!(sent.contains(&wanted), "{modifiers:?} {key:?} sent {sent:?}");
    }
    assert!(press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z).contains(&SourceCommand::Redo.into()));
    assert!(!press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z).contains(&SourceCommand::Undo.into()));
    assert!(press(ctrl | alt, Key::Z).contains(&SourceCommand::UndoSentence.into()));
    assert!(!press(ctrl | alt, Key::Z).contains(&SourceCommand::Undo.into()));
}

#[test]
fn brackets_are_letters_while_typing() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").focus();
    harness.run();
    harness.press(Key::CloseBracket);
    assert!(!wires.sent.borrow().iter().any(|command| matches!(
        command,
        Command::Sentence(SentenceCommand::Select(SelectCommand::MoveHypothesis(_)))
    )));
}

#[test]
fn ctrl_l_goes_to_the_source_and_f6_round_the_panels() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.press_with(Modifiers::COMMAND, Key::L);
    assert_eq!(harness.ctx.memory(egui::Memory::focused), Some(source::editor_id()));
    let mut seen = Vec::new();
    for _ in 0..5 {
        harness.press(Key::F6);
        seen.push(harness.ctx.memory(egui::Memory::focused));
    }
    assert!(seen.iter().all(Option::is_some), "{seen:?}");
    let mut different = seen.clone();
    different.dedup();
    assert_eq!(different.len(), 5, "{seen:?}");
    harness.press_with(Modifiers::SHIFT, Key::F6);
    assert_eq!(harness.ctx.memory(egui::Memory::focused), seen[3]);
}

#[test]
fn arrows_move_through_the_heatmap_and_its_numbers_are_marked() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let column = harness.app().document.columns[1].id;
    harness.state_mut().send(SelectCommand::Target { column, i: 0 });
    harness.get_by_role(Role::Grid).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.press(Key::ArrowRight);
    assert!(wires.heard(SelectCommand::MoveTarget(1)));
    assert_eq!(harness.app().view.hover.and_then(|hover| hover.j), Some(0));
}

#[test]
fn arrows_move_through_the_list() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.focus_on("List of sentences, arrows move through it");
    harness.press(Key::ArrowDown);
    assert!(wires.heard(ListCommand::Move(1)));
}

#[test]
fn help_lists_every_shortcut_and_closes_again() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.press(Key::Questionmark);
    for binding in interlinear::ui::act::bindings() {
        assert!(harness.has_any(binding.name), "{} is missing", binding.name);
    }
    harness.press(Key::Escape);
    assert!(!harness.has_any("Shortcuts and explanations"));
}

#[test]
fn ctrl_shift_o_asks_for_a_model_by_path() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    harness.type_into("Path", "models/third");
    harness.press(Key::Enter);
    assert!(wires.heard(ColumnCommand::Add("models/third".into())));
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
    assert!(wires.heard(WindowCommand::Drop(path)));
}

#[test]
fn on_other_pages_no_key_changes_the_sentence_unseen() {
    let (mut harness, wires) = desk::window(desk::two_models());
    // on the page Steps the sentence is seen
    let others = PAGES[1..].iter().copied().filter(|page| *page != STEPS);
    for page in others {
        harness.send(WindowCommand::ShowPage(page));
        wires.sent.borrow_mut().clear();
        for (modifiers, key) in
            [(Modifiers::COMMAND, Key::Z), (Modifiers::NONE, Key::PageDown), (Modifiers::COMMAND, Key::CloseBracket)]
        {
            harness.key_press_modifiers(modifiers, key);
        }
        harness.run();
        let sent = wires.sent.borrow();
        let sent: Vec<&Command> = sent
            .iter()
            .filter(|command| !is_hover(command))
            // The page Corpus has an undo of its own.
            .filter(|command| !matches!(command, Command::Corpus(_)))
            .collect();
        assert!(sent.is_empty(), "{page:?} sent {sent:?}");
    }
    harness.press_with(Modifiers::COMMAND, Key::L);
    assert_eq!(harness.app().view.page, SENTENCE);
    assert_eq!(harness.ctx.memory(egui::Memory::focused), Some(source::editor_id()));
}

#[test]
fn models_of_another_language_are_offered_for_its_sentences() {
    const BAHDANAU: &str = "Bahdanau et al. 2015";
    const LUONG: &str = "Luong et al. 2015";
    let one = |folder: &str, (source, target): (&str, &str), paper: &str, state: u64| Installed {
        folder: folder.into(),
        languages: (source.to_owned(), target.to_owned()),
        paper: paper.to_owned(),
        state,
        ..Installed::default()
    };
    let bundled = vec![
        one("m/french", ("fr-CA", "en"), LUONG, 2),
        one("m/first", ("de", "en"), "Cho et al. 2014", 0),
        one("m/german", ("de", "en"), BAHDANAU, 5),
        one("m/second", ("de", "en"), BAHDANAU, 3),
        one("m/other", ("en", "de"), LUONG, 2),
        one("m/copies/early", ("de", "en"), BAHDANAU, 1),
    ];
    let (mut harness, _) = desk::window_with(desk::two_models(), [1280.0, 800.0], bundled);
    let note = "This seems to be German; the models read English";
    for (text, is_told) in [
        ("I have bought a new table for the kitchen.", false),
        ("Ich habe gestern einen neuen Tisch gekauft.", true),
        ("Tisch", false),
        ("Ich weiß nicht, wo mein Bruder die Schlüssel hingelegt hat.", true),
    ] {
        harness.send(SourceCommand::Replace(text.to_owned()));
        assert_eq!(harness.has(note), is_told, "{text}");
        assert_eq!(harness.has("Open german"), is_told, "{text}");
        assert!(!harness.has_any("Open french") && !harness.has_any("Open other"));
    }
    let french = "Je ne sais pas où mon frère a mis les clés de la maison.";
    harness.send(SourceCommand::Replace(french.to_owned()));
    for (label, is_told) in [("Open french", true), ("Open german", false), ("All 3 of German to English", false)] {
        assert_eq!(harness.has(label), is_told, "{label}");
    }
    harness.send(SourceCommand::Undo);
    harness.click_on("Open german");
    let columns = |harness: &Harness<'_, App>| {
        let columns = &harness.app().document.columns;
        columns.iter().skip(2).map(|column| column.system.name()).collect::<Vec<_>>()
    };
    assert_eq!(columns(&harness), ["german"], "the largest that aligns");
    harness.click_on("All 3 of German to English");
    assert_eq!(columns(&harness), ["german", "first", "second"], "without copies of a training");
    harness.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    for label in ["French to English", "English to German"] {
        assert!(harness.has(label), "{label}");
    }
    let pair = harness.get_by_label("German to English").rect().top();
    let below = |label: &str| {
        let all = harness.query_all_by_label(label).map(|node| node.rect().center());
        all.filter(|center| center.y > pair).collect::<Vec<_>>()
    };
    for (paper, models) in [("Cho et al. 2014", &["first"][..]), (BAHDANAU, &["german", "second", "early"])] {
        for model in models {
            let own = below(model)[0];
            let is_beside = |paper: &egui::Pos2| (paper.y - own.y).abs() < 4.0 && paper.x > own.x;
            assert!(below(paper).iter().any(is_beside), "{paper} {model}: {own:?}");
        }
    }
}

/// With many models the sheet was taller than the window, its heading and its path out of view.
#[test]
fn the_sheet_of_models_scrolls_in_a_low_window() {
    let bundled = (0..24).map(|n| PathBuf::from(format!("models/model-{n}")).into()).collect();
    let (mut harness, _) = desk::window_with(desk::two_models(), [1280.0, 700.0], bundled);
    harness.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::O);
    for label in ["Add a model", "Path"] {
        let rect = harness.query_all_by_label(label).last().expect(label).rect();
        assert!(rect.top() >= 0.0 && rect.bottom() <= 700.0, "{label}: {rect:?}");
    }
}
