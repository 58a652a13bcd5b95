//! Floor 11: the page Phrases: a phrase table and a model's scores of it, as a scatter and as lists of targets
//! (Cho et al. 2014, figure 3 and tables 2).

mod chart;
pub mod memory;
pub mod scatter;
mod targets;

use std::path::PathBuf;

use egui::{ComboBox, Key, RichText, Ui, UiBuilder, vec2};

use crate::app::document::column::Column;
use crate::lang;
use crate::pages::phrases::PhrasesPage;
use crate::pages::phrases::command::PhrasesCommand;
use crate::pages::phrases::view::memory::PhrasesMemory;
use crate::pages::window::dialogs::{AskedPath, PHRASE_TABLE, Question, Wants};
use crate::pages::window::local::{AnyView, PageView, View, ViewPlace, Window};
use crate::pages::window::task;
use crate::widgets::{labels, theme};

/// Share of the width that the lists take, and their least and greatest width, points.
const LISTS: (f32, f32, f32) = (0.38, 380.0, 640.0);
/// Fields for paths are no wider, points.
const PATH_WIDTH: f32 = 520.0;

/// A small table to try, in the form of Moses.
const EXAMPLE: &str = "\
the old house ||| la vieille maison ||| 0.4 0.1 0.7 0.2
the old house ||| l' ancienne maison ||| 0.3 0.1 0.2 0.1
the red car ||| la voiture rouge ||| 0.5 0.2 0.8 0.3
the red car ||| l' auto rouge ||| 0.2 0.1 0.1 0.1
";

const SCORES: Question = Question::new(
    id!("Export the scores as TSV"),
    id!("Save"),
    Wants::NewFile("phrases.tsv"),
    id!(
        "Source, target and both scores of every pair, separated by tabs; packed where the name ends with .gz or .zst."
    ),
);

/// The page Phrases.
pub struct PhrasesView;

impl PageView for PhrasesPage {
    fn views(&self) -> &'static [&'static dyn AnyView] {
        &[&PhrasesView]
    }

    fn manual(&self) -> Option<&'static str> {
        Some("phrase-tables.md")
    }

    fn opens(&self) -> AskedPath {
        PHRASE_TABLE.then(PhrasesCommand::Open)
    }
}

impl View for PhrasesView {
    type Page = PhrasesPage;

    fn place(&self) -> ViewPlace {
        ViewPlace::Middle
    }

    fn ui(&self, ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
        if phrases.pairs.is_none() {
            empty_ui(ui, phrases, window);
            return;
        }
        // what was typed led here
        window.local.of::<PhrasesMemory>().path.clear();
        ui.horizontal(|ui| bar_ui(ui, phrases, window));
        message_ui(ui, phrases, window);
        task::task_ui(ui, window, phrases.task);
        ui.add_space(theme::SPACE_1);
        let room = ui.available_rect_before_wrap();
        let lists = (room.width() * LISTS.0).clamp(LISTS.1, LISTS.2);
        let (left, right) = room.split_left_right_at_x(room.right() - lists - theme::SPACE_3);
        let right = right.with_min_x(right.left() + theme::SPACE_3);
        ui.scope_builder(UiBuilder::new().max_rect(left), |ui| chart::chart_ui(ui, phrases, window));
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| targets::targets_ui(ui, phrases, window));
    }
}

/// What to do while no table is open.
fn empty_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    let width = ui.available_width().min(PATH_WIDTH + 120.0);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.16);
        ui.set_max_width(width);
        ui.heading(tr!("Phrase tables"));
        ui.label(
            RichText::new(tr!("See how a model scores the phrase pairs of a table, beside the table's own probabilities."))
                .color(t.weak),
        );
        ui.add_space(theme::SPACE_3);
        message_ui(ui, phrases, window);
        if phrases.task.is_some() {
            task::task_ui(ui, window, phrases.task);
            return;
        }
        open_ui(ui, phrases, window);
        ui.add_space(theme::SPACE_3);
        ui.label(RichText::new(tr!("A phrase table has a line for each pair, as Moses writes it. It may be packed with gzip or zstandard, and can also be dropped on the window.")).color(t.weak));
        ui.add(egui::Label::new(egui::RichText::new(EXAMPLE.trim_end()).monospace()).wrap_mode(egui::TextWrapMode::Extend));
        if ui.button(tr!("Copy these lines to try")).on_hover_text(tr!("Paste them into a text file, save it and open it here")).clicked() {
            ui.ctx().copy_text(EXAMPLE.to_owned());
        }
        if phrases.model_of(window.app).is_none() {
            ui.add_space(theme::SPACE_3);
            ui.label(RichText::new(tr!("There is no model to score it. Add one with + Model above.")).color(t.warm));
        }
    });
}

/// The field for a path with its buttons.
fn open_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let last = phrases.path.clone();
    let width = ui.available_width();
    ui.allocate_ui(vec2(width, 0.0), |ui| {
        ui.horizontal(|ui| {
            let label = ui.label(tr!("Path"));
            let room = (ui.available_width() - 170.0).max(120.0);
            let field = egui::TextEdit::singleline(&mut window.local.of::<PhrasesMemory>().path)
                .desired_width(room)
                .hint_text(tr!("a path on this computer"));
            let field = ui.add(field).labelled_by(label.id);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let path = window.local.of::<PhrasesMemory>().path.trim().to_owned();
            let open = ui.add_enabled(!path.is_empty(), egui::Button::new(tr!("Open")));
            if (open.clicked() || entered) && !path.is_empty() {
                window.push(PhrasesCommand::Open(PathBuf::from(path)));
            }
            browse_ui(ui, window);
        });
    });
    if let Some(last) = last {
        let name = last.file_name().unwrap_or(last.as_os_str()).display().to_string();
        if ui.button(tr!("Open {name} again", name)).on_hover_text(last.display().to_string()).clicked() {
            window.push(PhrasesCommand::Open(last));
        }
    }
}

fn browse_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let browse = ui.add_enabled(!window.local.dialogs.is_open(), egui::Button::new(tr!("Browse...")));
    if browse.on_hover_text(tr!("Choose a phrase table")).clicked() {
        window.local.dialogs.ask(PHRASE_TABLE.then(PhrasesCommand::Open));
    }
}

/// Why the last order came to nothing.
fn message_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    if phrases.message.as_ref().is_some_and(|message| labels::failure(ui, message)) {
        window.push(PhrasesCommand::DismissMessage);
    }
}

/// The line at the top: the table, the model, the feature, the files.
fn bar_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let Some(pairs) = phrases.pairs.clone() else { return };
    let t = theme::tokens(ui);
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        if ui.button(tr!("Close")).on_hover_text(tr!("Close this phrase table")).clicked() {
            window.push(PhrasesCommand::Close);
        }
        export_ui(ui, phrases, window);
        if ui.button(tr!("Open...")).on_hover_text(tr!("Open another phrase table")).clicked() {
            window.ask(PHRASE_TABLE.then(PhrasesCommand::Open));
        }
        feature_ui(ui, phrases, window, pairs.features());
        model_ui(ui, phrases, window);
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let name = pairs.path().file_name().unwrap_or(pairs.path().as_os_str()).display().to_string();
            let counts = format!(
                "{}, {}",
                tr!("{n} pair" | "{n} pairs" % pairs.len()),
                tr!("{n} source phrase" | "{n} source phrases" % pairs.sources())
            );
            let counts = if pairs.is_cut() { tr!("the first {counts}", counts) } else { counts };
            let line = egui::text::LayoutJob::default();
            let mut line = line;
            RichText::new(name).size(theme::TEXT_TITLE).color(t.text).append_to(
                &mut line,
                ui.style(),
                egui::FontSelection::Default,
                egui::Align::Center,
            );
            RichText::new(format!("   {counts}")).size(theme::TEXT_SMALL).color(t.weak).append_to(
                &mut line,
                ui.style(),
                egui::FontSelection::Default,
                egui::Align::Center,
            );
            ui.add(egui::Label::new(line).truncate()).on_hover_text(pairs.path().display().to_string());
        });
    });
}

/// Which model scores.
fn model_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let app = window.app;
    let chosen = phrases.model_of(app);
    let name = |column: &Column| column.name();
    let shown = app.document.models().find(|column| Some(column.folder.as_path()) == chosen).map(name);
    let mut folders: Vec<(&std::path::Path, String)> = Vec::new();
    for column in app.document.models() {
        if !folders.iter().any(|(folder, _)| *folder == column.folder) {
            folders.push((&column.folder, column.name()));
        }
    }
    let combo = ComboBox::from_id_salt("phrase_model").width(150.0);
    let combo = combo.selected_text(shown.unwrap_or_else(|| tr!("no model").to_owned())).show_ui(ui, |ui| {
        for (folder, name) in folders {
            let choice = ui.selectable_label(chosen == Some(folder), name);
            if choice.on_hover_text(folder.display().to_string()).clicked() {
                window.push(PhrasesCommand::SetModel(folder.to_path_buf()));
            }
        }
    });
    combo
        .response
        .accessible_name(tr!("Model"))
        .on_hover_text(tr!("The model that scores the pairs; models are added above"));
}

/// Which feature is p(target | source).
fn feature_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>, features: usize) {
    const MOSES: [&str; 4] =
        [id!("p(source | target)"), id!("lexical, inverse"), id!("p(target | source)"), id!("lexical, direct")];
    if features == 0 {
        return;
    }
    let chosen = phrases.feature;
    let name = |n: usize| match MOSES.get(n - 1) {
        Some(meaning) if features >= MOSES.len() => tr!("feature {n}, {meaning}", n, meaning = lang::text(meaning)),
        _ => tr!("feature {n}", n),
    };
    let combo = ComboBox::from_id_salt("phrase_feature").width(150.0).selected_text(name(chosen.max(1)));
    let combo = combo.show_ui(ui, |ui| {
        for n in 1..=features {
            if ui.selectable_label(n == chosen, name(n)).clicked() {
                window.push(PhrasesCommand::SetFeature(n));
            }
        }
    });
    combo
        .response
        .accessible_name(tr!("Feature of the table"))
        .on_hover_text(tr!("The feature that is compared with the model. Moses writes p(source | target), its lexical weight, p(target | source), its lexical weight"));
}

/// Where both scores of all pairs are written.
fn export_ui(ui: &mut Ui, phrases: &PhrasesPage, window: &mut Window<'_>) {
    let export = ui.add_enabled(phrases.chart.is_some(), egui::Button::new(tr!("Export TSV...")));
    if export.on_hover_text(tr!("Write both scores of every pair into a file")).clicked() {
        window.local.shared.path = export_path(phrases, window);
        window.ask(SCORES.then(PhrasesCommand::Export));
    }
}

/// Beside the table, with the model's name.
fn export_path(phrases: &PhrasesPage, window: &Window<'_>) -> String {
    let app = window.app;
    let Some(table) = &phrases.path else { return String::new() };
    let model = phrases.model_of(app).and_then(|folder| folder.file_name()).unwrap_or_default();
    table.with_extension(format!("{}.tsv", model.display())).display().to_string()
}
