//! The picture of a column: its room beside the inspector, and how it is saved.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::{command::SettingsCommand, files::drawing::Drawing, files::export};
use interlinear::figure::sheet::{FigureNeeds, KINDS};
use interlinear::pages::sentence::command::{ColumnCommand, InterlinearCommand, SelectCommand, SentenceCommand};
use interlinear::{app::files::export::AlignmentFormat, figure::formats::FORMATS, figure::page::FigurePage};
use interlinear::{pages::command::Command, session::driver::OpenWith, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

pub fn inspected() -> Session {
    let words: Vec<String> = (0..24).map(|n| format!("word{n}")).collect();
    let text = words.join(" ");
    let mut session = desk::session(&text);
    for name in ["RNNsearch", "Luong", "Another"] {
        let column = desk::add_column(&mut session, desk::facts(name, true));
        let output = words.iter().map(|word| word.replace("word", "mot")).collect::<Vec<_>>().join(" ");
        desk::finish(&mut session, column, &text, &[output.as_str(); 5], None);
    }
    let column = session.app().document.columns[0].id;
    session.apply(SelectCommand::Target { column, i: 6 });
    session
}

fn rows_in_view(harness: &Harness<'_, App>) -> usize {
    let starts = |n: usize| format!("mot{n} <- word");
    (0..24)
        .filter(|n| {
            let mut cells = harness.query_all_by_role(Role::GridCell);
            cells.any(|cell| cell.accesskit_node().label().is_some_and(|label| label.starts_with(&starts(*n))))
        })
        .count()
}

#[test]
fn the_inspector_leaves_the_heatmap_its_room() {
    // size of the window in points, as a zoom leaves it of 1280 by 800
    for (size, rows) in [([1280.0, 800.0], 8), ([1020.0, 640.0], 4), ([853.0, 533.0], 3)] {
        let (harness, _) = desk::window_of(inspected(), size);
        let seen = rows_in_view(&harness);
        assert!(seen >= rows, "{size:?}: {seen} rows");
        assert!(harness.has("Next word"), "{size:?}: the word is still inspected");
    }
}

#[test]
fn the_shown_alignment_is_saved_from_the_menu_of_its_model() {
    let session = desk::two_models();
    let column = session.app().document.columns[1].id;
    for (item, title, format) in [
        ("Save alignment as TSV...", "Save the alignment as TSV", AlignmentFormat::Tsv),
        ("Save alignment as links...", "Save the alignment as links", AlignmentFormat::Pharaoh),
        ("Save translations as JSON...", "Save the translations as JSON", AlignmentFormat::Json),
    ] {
        let (mut harness, wires) = desk::window(desk::two_models());
        harness.click_on("Menu of RNNsearch");
        harness.click_on(item);
        assert!(harness.has(title), "{title}");
        harness.type_into("Path", "some/file");
        harness.click_button("Save");
        let wanted = ColumnCommand::Export { column, format, path: PathBuf::from("some/file") };
        assert!(wires.heard(wanted), "{item}");
    }
}

fn figure_sheet() -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_on("Menu of RNNsearch");
    harness.click_containing("Save a figure...");
    (harness, wires)
}

#[test]
fn a_file_that_is_there_is_not_written_over_unasked() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("mine.svg"), "mine").expect("written");
    let typed = folder.path().join("mine").display().to_string();
    let draws = |wires: &Wires| {
        wires
            .sent
            .borrow()
            .iter()
            .any(|sent| matches!(sent, Command::Sentence(SentenceCommand::Column(ColumnCommand::Draw { .. }))))
    };
    let (mut harness, wires) = figure_sheet();
    harness.type_into("Path", &typed);
    harness.click_button("Save");
    assert!(!draws(&wires) && harness.query_by_label_contains("mine.svg is there already").is_some());
    harness.click_button("Replace it");
    assert!(draws(&wires));

    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_on_each(&["Menu of RNNsearch", "Save alignment as TSV..."]);
    harness.type_into("Path", &format!("{typed}.svg"));
    let exports = || {
        wires
            .sent
            .borrow()
            .iter()
            .any(|sent| matches!(sent, Command::Sentence(SentenceCommand::Column(ColumnCommand::Export { .. }))))
    };
    for (verb, is_sent) in [("Save", false), ("Replace it", true)] {
        harness.click_button(verb);
        assert_eq!(exports(), is_sent, "{verb}");
    }
}

#[test]
fn a_sheet_saves_figures_of_every_kind_and_format() {
    // no search was kept here, and no word is selected
    for kind in KINDS.iter().filter(|kind| matches!(kind.needs, FigureNeeds::Nothing | FigureNeeds::Alignment)) {
        for format in FORMATS {
            let (mut harness, wires) = figure_sheet();
            let column = harness.app().document.columns[1].id;
            for name in [format!("Draw {}", kind.name), format.name.to_uppercase()] {
                harness.click_on(&name);
            }
            harness.type_into("Path", "some/file");
            harness.click_button("Save");
            let path = PathBuf::from("some/file");
            let sent = wires.sent.borrow();
            assert!(
                sent.contains(&ColumnCommand::Draw { column, kind: kind.name, path }.into()),
                "{} {sent:?}",
                kind.name
            );
            let drawing = harness.app().view.drawing;
            assert_eq!((drawing.kind, drawing.format), (kind.name, format.name));
            assert_eq!(drawing.named("some/file".into()), PathBuf::from(format!("some/file.{}", format.name)));
        }
    }
}

#[test]
fn one_figure_has_all_columns_each_with_its_model() {
    let (mut harness, _) = figure_sheet();
    harness.click_on("all beside each other");
    let app = harness.app();
    let (column, drawing) = (app.document.columns[1].id, app.view.drawing);
    assert!(drawing.of_all);
    // RNNencdec has no alignment and is left out of heatmaps
    for (kind, models) in [("beam", 2), ("heatmap", 1)] {
        let figure = export::figure(app, column, &Drawing { kind, ..drawing }).expect("something is translated");
        let svg =
            String::from_utf8(figure.bytes(std::path::Path::new("a.svg")).expect("it can be drawn")).expect("text");
        assert_eq!(
            svg.matches(", beam 5, hypothesis 1, log p ").count(),
            if models > 1 { models } else { 0 },
            "{kind}"
        );
    }
    harness.click_button("Copy");
    assert!(harness.app().view.painted().is_some(), "the whole figure is in the clipboard");
}

#[test]
fn the_sheet_of_figures_remembers_the_last_choice() {
    let (mut harness, wires) = figure_sheet();
    for label in ["as its text needs", "caption", "legend", "dark, as slides"] {
        harness.click_on(label);
    }
    let session = harness.state().session();
    let drawing = session.app().view.drawing;
    assert_eq!((drawing.has_caption, drawing.has_legend, drawing.is_dark), (true, false, true));
    assert_eq!(drawing.page.width_mm, Some(80.0));
    let again = Session::start(Some(session.saved()), &OpenWith::default());
    assert_eq!(again.app().view.drawing, drawing, "at the next start too");
    harness.press(egui::Key::Escape);
    harness.press_with(egui::Modifiers::COMMAND, egui::Key::S);
    assert!(harness.has("Save a figure of RNNencdec"), "a key opens it for the selected column");
    let column = harness.app().document.columns[0].id;
    harness.click_on("Copy");
    let copied = |command: &Command| {
        matches!(command, Command::Sentence(SentenceCommand::Column(ColumnCommand::Copy { column: of, drawing }))
            if *of == column && drawing.kind == "beam")
    };
    assert!(wires.sent.borrow().iter().any(copied), "a model without alignment has its beam");
    assert_eq!(harness.app().view.drawing, drawing, "and the choice that is kept is as it was");
}

/// A long sentence in a narrow column had letters of four points, and nobody was told.
#[test]
fn the_sheet_of_figures_says_that_letters_are_too_small() {
    let (mut harness, _) = figure_sheet();
    let drawing = |width_mm| Drawing { page: FigurePage { width_mm, ..FigurePage::default() }, ..Drawing::default() };
    for (width, is_small) in [(Some(15.0), true), (Some(1500.0), false), (None, false)] {
        harness.send(SettingsCommand::SetDrawing(drawing(width)));
        let told = harness.query_by_label_contains("for 6 points it wants a width of").is_some();
        assert_eq!(told, is_small, "{width:?}");
    }
}

#[test]
fn the_sheet_of_figures_offers_interlinear_text() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (mut harness, wires) = figure_sheet();
    harness.click_on("interlinear text...");
    let typed = folder.path().join("mine.svg");
    harness.type_into("Path", &typed.display().to_string());
    harness.click_button("Save");
    assert!(wires.heard(InterlinearCommand::Save { format: "svg", path: typed }));
}
