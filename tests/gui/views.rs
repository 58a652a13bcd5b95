//! The window by its labels: what is said, what is pointed at, what is clicked.

use std::path::{Path, PathBuf};

use egui::{Key, accesskit::Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::view::{Hover, Selection};
use interlinear::app::{files::drawing::Drawing, files::export, files::lists::List, tasks::Effect};
use interlinear::app::{files::picture::FigureRequest, layout::Layout, page::Dropped, page::SENTENCE, settings::Shown};
use interlinear::decoding::ensemble::{Average, Mixing};
use interlinear::jobs::live::protocol::{Event, Member, ModelFacts};
use interlinear::pages::sentence::command::{ColumnCommand, ListCommand, SelectCommand};
use interlinear::text::links::{Link, Links};
use interlinear::{decoding::SystemSpec, figure::palette::ColourMap, pages::command::Command, pages::corpus::CORPUS};
use interlinear::{pages::map::MAP, pages::steps::STEPS, pages::training::command::TrainingCommand, ui::App};

use crate::{desk, desk::WindowActions as _};

fn hovered(harness: &Harness<'_, App>) -> Option<Hover> {
    harness.app().view.hover
}

#[test]
fn both_models_their_outputs_and_their_numbers_are_on_screen() {
    let (harness, _) = desk::window(desk::two_models());
    harness.assert_has_all(&[
        "Column 1 of RNNencdec",
        "Column 2 of RNNsearch",
        "Source word 2 red",
        "Beam of RNNsearch",
        "Alignment of RNNsearch, 4 target by 4 source words",
    ]);
    for text in
        ["log p -1.50   3 words   17 ms   400 words/s", "RNNencdec, 11.0 M parameters, cpu", "800 words/s", "Ready"]
    {
        harness.assert_has(text);
    }
}

#[test]
fn every_cell_in_view_has_a_label() {
    let (harness, _) = desk::window(desk::two_models());
    harness.assert_has_all(&["la <- the 0.80", "chaussure <- red 0.80", "rouge <- the 0.07", "</s> <- </s> 0.80"]);
}

#[test]
fn clicking_a_cell_selects_its_target_word_and_opens_the_inspector() {
    let (mut harness, wires, column) = desk::two_models_and(1);
    harness.click_on("chaussure <- red 0.80");
    assert!(wires.heard(SelectCommand::Target { column, i: 1 }));
    assert_eq!(harness.app().view.selection, Selection { column: Some(column), target: Some(1) });
    harness.assert_has_all(&["Candidate autre probability 0.135", "alpha red 0.800"]);
    // 0.8 on one word, 0.2 shared by the three others.
    let nats = -0.8_f32 * 0.8_f32.ln() - 0.2 * (0.2_f32 / 3.0).ln();
    harness.get_by_label(&format!("alpha over the source words   entropy {nats:.2} nats"));
}

#[test]
fn a_screen_reader_can_click_a_cell_too() {
    let (mut harness, wires, column) = desk::two_models_and(1);
    harness.get_by_label("rouge <- the 0.07").click_accesskit();
    harness.run();
    assert!(wires.heard(SelectCommand::Target { column, i: 2 }));
}

#[test]
fn pointing_at_a_cell_marks_its_words_and_says_the_numbers() {
    let (mut harness, _, column) = desk::two_models_and(1);
    harness.point_at("chaussure <- shoe 0.07");
    assert_eq!(hovered(&harness), Some(Hover { column, i: Some(1), j: Some(2) }));
    harness.assert_has_all(&["chaussure <- shoe", "alpha 0.067"]);
    harness.remove_cursor();
    harness.run();
    assert_eq!(hovered(&harness), None);
}

#[test]
fn pointing_at_words_marks_them_everywhere() {
    let session = desk::two_models();
    let (encdec, search) = (session.app().document.columns[0].id, session.app().document.columns[1].id);
    let (mut harness, wires) = desk::window(session);
    harness.point_at("Source word 3 shoe");
    assert_eq!(hovered(&harness).and_then(|hover| hover.j), Some(2));
    harness.point_at("chaussure probability 0.69");
    assert_eq!(hovered(&harness), Some(Hover { column: search, i: Some(1), j: None }));
    harness.click_on("soulier probability 0.69");
    assert!(wires.heard(SelectCommand::Target { column: encdec, i: 2 }));
}

#[test]
fn a_model_without_alignment_says_so_and_has_no_heatmap() {
    let (harness, _) = desk::window(desk::two_models());
    harness.assert_has_all(&[
        "Every word reads the same c; this model has no alignment",
        "Context vector c, 3 numbers from -0.25 to 0.50",
        "c_2 -0.25",
    ]);
    let grids = harness.query_all_by_role(Role::Grid).count();
    assert_eq!(grids, 1, "only RNNsearch has a heatmap");
}

#[test]
fn a_failed_model_is_a_sentence_in_its_column_and_can_be_tried_again() {
    let mut session = desk::two_models();
    let column = desk::add_column(&mut session, desk::facts("broken", true));
    session.absorb(Event::LoadFailed {
        column,
        message: "models/broken/config.json does not exist; check the path".to_owned(),
    });
    let (mut harness, wires) = desk::window_of(session, [1700.0, 900.0]);
    assert!(harness.has("models/broken/config.json does not exist; check the path"));
    harness.click_on("Try again");
    assert!(wires.heard(ColumnCommand::Reload(column)));
}

#[test]
fn loading_shows_how_far_it_is() {
    let mut session = desk::session("");
    session.apply(ColumnCommand::Add("slow".into()));
    let column = session.app().document.columns[0].id;
    session.absorb(Event::Loading { column, fraction: 0.42 });
    let (harness, _) = desk::window(session);
    assert!(harness.has("Loading the model, 42 %"));
}

#[test]
fn typing_sends_the_text_and_rows_appear_as_they_come() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let field = harness.get_by_role_and_label(Role::MultilineTextInput, "Source text");
    field.focus();
    harness.run();
    harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").type_text("x");
    harness.run();
    let text = harness.app().document.source().to_owned();
    assert!(wires.heard(SourceCommand::Edit(text.clone())) && text.contains('x'), "{text}");
    let session = harness.state().session();
    assert!(session.app().document.columns[1].stale, "the old picture waits, dimmed");
    let (number, column) = (session.app().tasks.newest, session.app().document.columns[1].id);
    let source = desk::sentence("a new text", &[]);
    let mut best = desk::hypothesis("un texte", 4, true, -1.0);
    best.found.finished = false;
    wires
        .events
        .borrow_mut()
        .extend([Event::Started { number, column, source, context: None }, Event::Expanded { number, column, best }]);
    harness.run();
    assert!(harness.has("texte <- new 0.80"));
}

#[test]
fn the_beam_shows_each_hypothesis_and_a_click_its_alignment() {
    let (mut harness, wires, column) = desk::two_models_and(1);
    harness.click_on("Hypothesis 2, log p -2.50, le soulier rouge");
    assert!(wires.heard(SelectCommand::Hypothesis { column, hypothesis: 1 }));
    assert!(harness.has("soulier <- red 0.80"));
}

#[test]
fn unknown_words_are_shown_as_they_are_with_what_was_typed() {
    let mut session = desk::session("the zorglub");
    desk::add_finished(&mut session, "RNNsearch", "the zorglub", &["le [UNK]"]);
    let (mut harness, _) = desk::window(session);
    harness.assert_has_all(&["Source word 2 zorglub, not in the vocabulary", "[UNK] (zorglub) <- zorglub [UNK] 0.80"]);
    harness.send(SettingsCommand::SetUnkReplacement(true));
    assert!(harness.has("zorglub [UNK] <- zorglub [UNK] 0.80"));
}

#[test]
fn energies_take_the_place_of_alpha() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_button("energies");
    assert!(wires.heard(SettingsCommand::SetShown(Shown::Energies)));
    assert!(harness.has("la <- the e -0.22"));
}

#[test]
fn two_hundred_words_by_two_hundred_are_drawn_and_scrolled() {
    let text: String = (0..199).map(|n| format!("w{n} ")).collect();
    let mut session = desk::session(text.trim());
    let column = desk::add_finished(&mut session, "RNNsearch", text.trim(), &[text.trim()]);
    let (mut harness, _) = desk::window(session);
    harness.assert_has_all(&["Alignment of RNNsearch, 200 target by 200 source words", "w0 <- w0 0.80"]);
    assert!(!harness.has_any("w199 <- w199 0.80"), "cells out of view have no nodes");
    harness.state_mut().send(WindowCommand::SetLayout(Box::new(Layout { cell: -1.0, ..Layout::default() })));
    harness.send(SelectCommand::Target { column, i: 150 });
    assert!(harness.has("w150 <- w150 0.80"), "the selected row of a whole matrix is readable");
}

#[test]
fn a_million_lines_cost_no_more_than_those_in_view() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("long.txt");
    let text: String = (0..1_000_000).map(|n| format!("line {n}\n")).collect();
    std::fs::write(&path, text).expect("the file is written");
    let mut session = desk::session("");
    session.apply(ListCommand::Show(List::Examples));
    session.absorb_file(FileEvent::Opened { path: path.clone(), what: Dropped::Text, on: SENTENCE });
    let lines = interlinear::text::lines::TextFile::open(&path).expect("the file is read");
    session.absorb_file(FileEvent::Read { path, lines: std::sync::Arc::new(lines) });
    session.apply(ListCommand::Show(List::File(0)));
    let (mut harness, wires) = desk::window(session);
    assert!(harness.has("line 3"));
    assert!(harness.query_all_by_role(Role::ListBoxOption).count() < 60);
    harness.send(ListCommand::Last);
    harness.click_on("line 999998");
    assert!(wires.heard(ListCommand::Pick(999_998)));
}

#[test]
fn the_search_field_searches() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.get_by_role(Role::TextInput).focus();
    harness.run();
    harness.get_by_role(Role::TextInput).type_text("not");
    harness.run();
    assert!(wires.heard(ListCommand::Search("not".to_owned())));
}

#[test]
fn a_megabyte_is_cut_with_a_sentence_and_nothing_panics() {
    let (mut harness, wires) = desk::window(desk::session(""));
    harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").focus();
    harness.run();
    harness.event(egui::Event::Paste("word \u{1F600} ".repeat(100_000)));
    harness.run();
    let longest = wires
        .sent
        .borrow()
        .iter()
        .filter_map(|command| match command {
            Command::Source(SourceCommand::Edit(text)) => Some(text.chars().count()),
            _ => None,
        })
        .max();
    assert_eq!(longest, Some(interlinear::pages::shell::source::MOST_CHARACTERS));
    assert!(harness.query_all_by_label_contains("open a longer text as a file").next().is_some());
}

#[test]
fn control_characters_and_other_scripts_do_no_harm() {
    for text in [
        "\u{0}\u{1b}[31m\u{7f}\u{200f}\u{202e}",
        "مرحبا بالعالم",
        "שלום עולם",
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} 漢字",
        "e\u{301}\u{301}\u{301}",
    ] {
        let mut session = desk::session(text);
        desk::add_finished(&mut session, "RNNsearch", text, &["un deux", text]);
        let (mut harness, _) = desk::window(session);
        harness.run();
        let source = harness.app().document.source();
        assert_eq!(source, text);
    }
}

#[test]
fn right_to_left_words_stand_from_the_right() {
    let mut session = desk::session("שלום עולם");
    desk::add_finished(&mut session, "RNNsearch", "שלום עולם", &["bonjour monde"]);
    let (harness, _) = desk::window(session);
    let place = |label: &str| harness.get_by_label(label).rect();
    assert!(place("Source word 1 שלום").left() > place("Source word 2 עולם").right());
    assert!(place("bonjour probability 0.61").right() < place("monde probability 0.61").left());
}

#[test]
fn models_are_removed_moved_and_added_by_path() {
    let (mut harness, wires, first) = desk::two_models_and(0);
    harness.click_on("Remove RNNencdec");
    assert!(wires.heard(ColumnCommand::Remove(first)));
    harness.click_on("Add a model");
    harness.type_into("Path", "some/folder");
    harness.click_button("Add");
    assert!(wires.heard(ColumnCommand::Add("some/folder".into())));
}

#[test]
fn the_tab_of_a_model_selects_it_and_escape_leaves_it_selected() {
    let (mut harness, _, second) = desk::two_models_and(1);
    harness.click_role(Role::Tab, "RNNsearch");
    let selected = |harness: &Harness<'static, App>| harness.app().view.selection.column;
    assert_eq!(selected(&harness), Some(second));
    assert!(!harness.has_any("Move left"), "no menu opens");
    harness.press(Key::Escape);
    assert_eq!(selected(&harness), Some(second), "what is saved next is of it");
    harness.click_on("Menu of RNNsearch");
    harness.get_by_label("Move left");
}

#[test]
fn a_figure_on_light_ground_has_the_palette_of_the_light_theme() {
    let session = desk::two_models();
    let app = session.app();
    for (is_dark, palette) in [(false, "Print"), (true, "Gray")] {
        let svg = |map: Option<&'static ColourMap>| {
            let drawing = Drawing { map, ..Drawing::new("heatmap", is_dark) };
            let (column, search) = (&app.document.columns[1], &app.document.state.search);
            let picture = export::picture(column, search, &app.view.settings, &drawing, None).expect("a picture");
            FigureRequest::from(picture).bytes(Path::new("figure.svg")).expect("SVG")
        };
        assert!(svg(None) == svg(Some(ColourMap::on(palette))), "{palette}");
    }
}

#[test]
fn a_window_without_models_says_what_to_do() {
    let (harness, _) = desk::window(desk::session("hello"));
    assert!(harness.has_any("No model is open"));
}

#[test]
fn notices_are_sentences_that_can_be_dismissed() {
    let mut session = desk::two_models();
    session.absorb_file(FileEvent::Notice {
        text: "The disk is full; free some space and try again".to_owned(),
        is_error: true,
    });
    let id = session.app().view.notices[0].id;
    let (mut harness, wires) = desk::window(session);
    assert!(harness.has("The disk is full; free some space and try again"));
    harness.click_on("Dismiss");
    assert!(wires.heard(WindowCommand::DismissNotice(id)));
    assert!(!harness.has_any("The disk is full; free some space and try again"));
}

#[test]
fn the_smallest_window_and_many_models_still_work() {
    for size in [[800.0, 500.0], [400.0, 300.0], [2560.0, 1440.0]] {
        let mut copy = desk::two_models();
        for n in 0..4 {
            desk::add_finished(&mut copy, &format!("extra {n}"), "the red shoe", &["la chaussure rouge"]);
        }
        let (mut harness, _) = desk::window_of(copy, size);
        harness.run();
        assert_eq!(harness.app().document.columns.len(), 6);
    }
}

#[test]
fn the_window_rests_when_nothing_happens() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let before = wires.sent.borrow().len();
    let steps = harness.run();
    assert!(steps <= 2, "{steps} frames although nothing happened");
    assert_eq!(wires.sent.borrow().len(), before, "no commands although nothing happened");
    assert!(harness.state().frame_time.is_some());
    assert!(harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").accesskit_node().value().is_some());
}

#[test]
fn no_page_asks_for_frames_once_it_has_settled() {
    for page in [SENTENCE, MAP, STEPS, CORPUS] {
        let (mut harness, _) = desk::window(desk::two_models());
        harness.send(WindowCommand::ShowPage(page));
        if page == SENTENCE {
            harness.click_role(Role::MultilineTextInput, "Source text");
        }
        harness.step();
        let delay = harness.output().viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        assert!(delay.is_some_and(|delay| delay.as_secs() > 60), "{page:?} wants another frame in {delay:?}");
    }
}

#[test]
fn a_column_that_is_selected_comes_into_view() {
    let mut session = desk::two_models();
    for n in 3..=6 {
        desk::add_column(&mut session, desk::facts(&format!("Model {n}"), true));
    }
    let (mut harness, _) = desk::window_of(session, [900.0, 700.0]);
    // below the bar of names: the header of the column itself
    let in_view = |harness: &Harness<'_, App>, name: &str| {
        let mut nodes = harness.query_all_by_label(name).map(|node| node.rect());
        nodes.any(|rect| rect.top() > 100.0 && (0.0..900.0).contains(&rect.left()))
    };
    for (by, name) in [(-1, "RNNencdec"), (1, "Model 6")] {
        for _ in 0..6 {
            harness.state_mut().send(SelectCommand::MoveColumn(by));
        }
        harness.run_steps(4);
        assert!(in_view(&harness, name), "{name} is not in view");
    }
}

#[test]
fn a_tab_shows_its_page_and_nothing_of_the_sentence() {
    let (mut harness, wires) = desk::window(desk::two_models());
    let source = |harness: &Harness<'_, App>| {
        harness.query_by_role_and_label(Role::MultilineTextInput, "Source text").is_some()
            || harness.has("List of sentences, arrows move through it")
    };
    assert!(source(&harness));
    for page in [CORPUS, MAP] {
        harness.click_role(Role::Tab, &format!("Page {}", page.name()));
        assert!(wires.heard(WindowCommand::ShowPage(page)));
        assert!(!source(&harness), "{page:?} shows the sentence");
        assert!(harness.has("Remove RNNsearch"), "the models belong to every page");
    }
    harness.click_role(Role::Tab, "Page Sentence");
    assert!(source(&harness));
}

fn local_model() -> interlinear::session::state::Session {
    let mut session = desk::session("the red shoe");
    let mut facts = desk::facts("Local", true);
    (facts.architecture, facts.attention) = ("luong".to_owned(), Some("local-p general".to_owned()));
    (facts.window, facts.input_delay) = (Some(1), Some(1));
    let column = desk::add_column(&mut session, facts);
    let mut events =
        desk::finished(&session, column, desk::sentence("the red shoe", &[]), &["la chaussure rouge"], None);
    if let Some(Event::Finished { result, .. }) = events.last_mut() {
        result.hypotheses[0].found.p_t = Some(vec![0.2, 1.9, 1.1, 3.6]);
    }
    desk::absorb(&mut session, events);
    session
}

#[test]
fn local_attention_says_where_it_looks_and_its_marks_can_be_hidden() {
    let (mut harness, wires) = desk::window(local_model());
    let cell = "chaussure <- red 0.80, p_t 1.90, window from red to shoe";
    assert!(harness.has(cell));
    assert!(harness.has("Legend of local attention, p_t in its window"));
    harness.point_at(cell);
    assert!(harness.has("p_t 1.90, window from red to shoe"), "in the tooltip");
    harness.click_on("Marks of local attention");
    assert!(wires.heard(WindowCommand::SetLayout(Box::new(Layout { gaze: false, ..Layout::default() }))));
    assert!(harness.has(cell), "what is not drawn is said all the same");
    let (harness, _) = desk::window(desk::two_models());
    assert!(!harness.has_any("Marks of local attention"), "RNNsearch looks everywhere");
}

#[test]
fn rows_are_read_by_the_word_predicted_or_the_word_read() {
    let (mut harness, wires) = desk::window(local_model());
    assert!(harness.has("Rows of Local by the word predicted"));
    harness.click_on_each(&["Rows", "Rows by input"]);
    assert!(
        wires.heard(SettingsCommand::SetReading(Some(interlinear::analysis::row_convention::RowConvention::Input)))
    );
    assert!(harness.has("Rows of Local by the word read"));
    harness.assert_has_all(&["la <- red 0.80, p_t 1.90, window from red to shoe", "</s> <- </s> 0.00"]);
    let (harness, _) = desk::window(desk::two_models());
    assert!(!harness.has_any("Rows by input"), "RNNsearch leaves no choice");
}

#[test]
fn models_at_hand_become_an_ensemble_whose_alignment_is_chosen() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_on("Add a model");
    assert!(harness.get_by_role_and_label(Role::Button, "Add ensemble").accesskit_node().is_disabled());
    for name in ["RNNencdec", "RNNsearch"] {
        harness.click_role(Role::CheckBox, name);
    }
    harness.click_button("Add ensemble");
    let members = vec!["RNNencdec".into(), "RNNsearch".into()];
    assert!(wires.heard(ColumnCommand::Add(SystemSpec { members, mixing: Mixing::default() })));
    let column = harness.app().document.columns[2].id;
    let mut facts = desk::facts("Both", true);
    facts.members = [("RNNencdec", false), ("RNNsearch", true)]
        .map(|(name, has_alignment)| Member { name: name.to_owned(), has_alignment })
        .to_vec();
    wires.events.borrow_mut().push(Event::Loaded { column, facts });
    harness.run();
    harness.click_on("Alignment of Both, shown");
    let choices = |name: &str| harness.query_all_by_role_and_label(Role::Button, name).count();
    assert_eq!((choices("RNNencdec"), choices("RNNsearch")), (0, 1), "one has no alignment to show");
    harness.click_button("mean");
    harness.click_on("What Both averages");
    harness.click_button("mean of log p");
    let mixing = Mixing { average: Average::LogProbability, ..Mixing::default() };
    assert!(wires.heard(ColumnCommand::SetMixing { column, mixing }));
}

#[test]
fn a_new_training_is_chosen_from_the_tables() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, egui::Key::N);
    for (combo, choice) in [("Architecture", "luong"), ("Looks at", "local-p"), ("Score", "dot"), ("Recipe", "adam")] {
        harness.click_role(Role::ComboBox, combo);
        harness.click_button(choice);
    }
    let plan = harness.state().session().training().plan.clone();
    assert_eq!((plan.attention.as_deref(), plan.score.as_deref()), (Some("local-p"), Some("dot")));
    for line in plan.explanation().expect("sound") {
        assert!(harness.has(&line), "{line} is missing");
    }
    harness.click_role(Role::TextInput, "Configuration file");
    harness.get_by_role_and_label(Role::TextInput, "Configuration file").type_text("out/train.toml");
    harness.run();
    harness.click_button("Save");
    assert!(wires.heard(Command::Training(TrainingCommand::Save(PathBuf::from("out/train.toml")))));
}

#[test]
fn what_went_well_is_said_for_a_while_and_trouble_until_it_is_dismissed() {
    let mut session = desk::two_models();
    session.absorb_file(FileEvent::Notice { text: "Saved a.tsv".to_owned(), is_error: false });
    session.absorb_file(FileEvent::Notice { text: "b.tsv does not exist; check the path".to_owned(), is_error: true });
    let (mut harness, _) = desk::window(session);
    let is_there = |harness: &Harness<'_, App>, text: &str| harness.has(text);
    assert!(is_there(&harness, "Saved a.tsv"));
    // a step of the harness is a quarter of a second of the window's clock
    harness.run_steps(40);
    assert!(!is_there(&harness, "Saved a.tsv"));
    assert!(is_there(&harness, "b.tsv does not exist; check the path"));
}

#[test]
fn an_empty_text_shows_no_sentence_about_c() {
    let mut session = desk::two_models();
    session.apply(SourceCommand::Edit(String::new()));
    let (harness, _) = desk::window(session);
    assert!(!harness.has_any("Every word reads the same c; this model has no alignment"));
    assert_eq!(harness.query_all_by_label("Type a sentence above").count(), 2);
}

#[test]
fn with_three_columns_a_name_is_whole_and_the_numbers_give_way() {
    let mut session = desk::two_models();
    desk::add_finished(&mut session, "RNNsearch-50 en-fr", "the red shoe", &["la chaussure rouge"]);
    let (harness, _) = desk::window(session);
    let nodes = harness.query_all_by_label("RNNsearch-50 en-fr").map(|node| node.rect());
    let widest = nodes.filter(|rect| rect.top() > 100.0).map(|rect| rect.width()).fold(0.0, f32::max);
    assert!(widest > 130.0, "{widest}");
}

#[test]
fn the_sheet_of_shortcuts_fits_a_window_of_1280_by_800() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.press(egui::Key::Questionmark);
    let last = harness.get_by_label("The end of the sentence, a word like any other for the models.").rect();
    assert!(last.bottom() < 780.0, "{last:?}");
}

#[test]
fn the_numbers_by_which_columns_are_compared_have_room_beside_their_names() {
    let mut session = desk::session("the red shoe");
    for name in ["RNNsearch reading en-fr", "RNNsearch guided en-fr", "Luong local-p en-fr, the long one"] {
        let guided = Some("input".to_owned()).filter(|_| name.contains("RNN"));
        let facts = ModelFacts { guided, ..desk::facts(name, true) };
        desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    }
    session.apply(SettingsCommand::SetLinks(true));
    for effect in session.take_effects() {
        if let Effect::Chore(FileJob::Align { number, .. }) = effect {
            let all = (0..3).map(|at| Link { source: at, target: at }).collect();
            session.absorb_file(FileEvent::Aligned { number, links: Links::new(all, Vec::new()) });
        }
    }
    let (harness, _) = desk::window_of(session, [1440.0, 900.0]);
    let numbers = harness.query_all_by_label_contains("log p -1.50   100 % on links   3 words").count();
    assert_eq!(numbers, 3);
}

/// A selection of the sentence before was left, as long as it had been, in the next one.
#[test]
fn another_sentence_is_selected_whole_or_not_at_all() {
    let selected = |harness: &Harness<'_, App>| {
        let id = interlinear::pages::shell::source::editor_id();
        let state = egui::text_edit::TextEditState::load(&harness.ctx, id).expect("it was painted");
        let range = state.cursor.char_range().expect("it has a cursor");
        (range.primary, range.secondary)
    };
    let at = egui::text::CCursor::new;
    let (mut harness, _) = desk::window_at_start(desk::two_models(), [1280.0, 800.0]);
    assert_eq!(selected(&harness), (at(12), at(0)));
    for (text, (first, last)) in [("a longer sentence than that", (27, 0)), ("no", (2, 0))] {
        harness.send(SourceCommand::Replace(text.to_owned()));
        assert_eq!(selected(&harness), (at(first), at(last)), "{text}");
    }
    harness.press_with(egui::Modifiers::SHIFT, Key::ArrowLeft);
    assert_eq!(selected(&harness), (at(1), at(0)));
    harness.send(SourceCommand::Replace("the house".to_owned()));
    assert_eq!(selected(&harness), (at(9), at(9)));
}

struct TypedAtOnce(Option<egui::Event>);

impl egui::Plugin for TypedAtOnce {
    fn debug_name(&self) -> &'static str {
        "typed"
    }

    fn input_hook(&mut self, _: &egui::Context, input: &mut egui::RawInput) {
        input.events.extend(self.0.take());
    }
}

#[test]
fn what_is_typed_before_the_first_frame_begins_another_sentence() {
    let rehearsal = desk::rehearsal(desk::two_models());
    let builder = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(30).allow_missing_glyphs();
    let mut harness = builder.build_eframe(|creation| {
        creation.egui_ctx.add_plugin(TypedAtOnce(Some(egui::Event::Text("Yes".to_owned()))));
        App::new(Box::new(rehearsal), &creation.egui_ctx)
    });
    harness.run();
    harness.event(egui::Event::Text(" it".to_owned()));
    harness.run();
    assert_eq!(harness.app().document.source(), "Yes it");
}

/// A text in another script than the model reads was all [UNK], and nothing said why.
#[test]
fn a_text_that_a_model_cannot_read_at_all_gets_a_sentence() {
    let shows = |text: &str, unknown: &[&str]| {
        let mut session = desk::session(text);
        let column = desk::add_column(&mut session, desk::facts("RNNsearch", true));
        let source = desk::sentence(text, unknown);
        let events = desk::finished(&session, column, source, &["la chaussure"], None);
        desk::absorb(&mut session, events);
        let (harness, _) = desk::window(session);
        let unread = harness.has("RNNsearch knows none of these words; it reads English");
        (unread, harness.has("This seems to be German; the models read English"))
    };
    assert_eq!(shows("שלום עולם", &["שלום", "עולם"]), (true, false));
    let german = "Das ist nicht mein Hund";
    assert_eq!(shows(german, &german.split(' ').collect::<Vec<_>>()), (false, true), "one message is enough");
    assert_eq!(shows("the zorglub", &["zorglub"]), (false, false));
}

#[test]
fn without_a_sentence_the_window_offers_what_to_begin_with() {
    let (mut harness, wires) = desk::window(desk::two_models());
    assert!(!harness.has_any("Open a corpus"), "there is a sentence");
    harness.send(SourceCommand::Replace(String::new()));
    harness.click_on("Type a sentence");
    assert!(harness.ctx.memory(egui::Memory::focused).is_some(), "the field has the keyboard");
    harness.click_on("Open a corpus");
    assert!(wires.heard(WindowCommand::ShowPage(interlinear::pages::corpus::CORPUS)));
    harness.send(WindowCommand::ShowPage(SENTENCE));
    let all: Vec<_> = harness.query_all_by_label("Lessons").collect();
    assert_eq!(all.len(), 2, "a button of their own at the top, and here");
    harness.send(SourceCommand::Replace("red".to_owned()));
    assert_eq!(harness.query_all_by_label("Lessons").count(), 1);
}
