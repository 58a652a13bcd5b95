//! The view of the sheet New training, with equations and papers of what is chosen.

use std::path::PathBuf;

use egui::{ComboBox, RichText, TextEdit, Ui};

use crate::pages::shell::dialogs::{AskedPath, Question, TEXTS, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::training as new_training;
use crate::pages::training::command::{Field, TrainingCommand};
use crate::pages::{shell::sheet, training::NewTraining};
use crate::widgets::{labels, theme};
use engine::attention::{AttentionKind, KINDS, scores};
use engine::lang;
use engine::models::TRAINED;
use training::recipe;
use training::recipe::{RECIPES, SIZES};

const WIDTH: f32 = 780.0;
const FIXED: f32 = 260.0;
const BROWSE: f32 = 92.0;

pub fn new_training_ui(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>) {
    if window.local.shared.sheet != Sheet::Training {
        return;
    }
    let response = sheet::modal(ui, "training_sheet", WIDTH, |ui, room| {
        let closes = ui.horizontal(|ui| {
            ui.heading(tr!("New training"));
            let right = egui::Layout::right_to_left(egui::Align::Center);
            ui.with_layout(right, |ui| ui.button(tr!("Close")).clicked()).inner
        });
        let area = egui::ScrollArea::vertical().max_height(room.y - FIXED).auto_shrink([false, true]);
        area.show(ui, |ui| sheet_ui(ui, training, window));
        ui.separator();
        save_ui(ui, training, window);
        closes.inner
    });
    if response.inner || response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

type Line = (&'static str, String);

pub const CONFIGURATION: Question =
    Question::new(id!("Save the configuration"), id!("Choose"), Wants::NewFile("train.toml"), "");

fn question(field: Field) -> Question {
    let (title, wants) = match field {
        Field::Vocabulary => (tr!("A model whose vocabularies are taken"), Wants::Folder),
        Field::Output => (tr!("Folder of the new model"), Wants::Folder),
        _ => (tr!("Text for training"), Wants::File(TEXTS)),
    };
    Question::new(title, tr!("Choose"), wants, "")
}

fn sheet_ui(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>) {
    let grid = egui::Grid::new("training").num_columns(2).spacing([theme::SPACE_4, theme::SPACE_2]);
    grid.show(ui, |ui| {
        model_ui(ui, training, window);
        row(
            ui,
            training,
            window,
            tr!("Sizes"),
            Field::Sizes,
            &SIZES.iter().map(|e| (e.name, lang::text(e.about).to_owned())).collect::<Vec<_>>(),
        );
        let recipes: Vec<Line> = RECIPES.iter().map(|entry| (entry.name, lang::text(entry.about).to_owned())).collect();
        row(ui, training, window, tr!("Recipe"), Field::Recipe, &recipes);
    });
    explanation_ui(ui, training);
    ui.separator();
    let grid = egui::Grid::new("training_data").num_columns(2).spacing([theme::SPACE_4, theme::SPACE_2]);
    grid.show(ui, |ui| {
        ui.label(tr!("Languages"));
        ui.horizontal(|ui| {
            text(ui, training, window, tr!("Source language"), Field::SourceLanguage, 64.0);
            ui.label(tr!("to"));
            text(ui, training, window, tr!("Target language"), Field::TargetLanguage, 64.0);
        });
        ui.end_row();
        for (name, field) in [
            (tr!("Training text, source"), Field::TrainSource),
            (tr!("Training text, target"), Field::TrainTarget),
            (tr!("Development text, source"), Field::DevelopmentSource),
            (tr!("Development text, target"), Field::DevelopmentTarget),
            (tr!("Vocabularies of the model"), Field::Vocabulary),
            (tr!("Folder of the new model"), Field::Output),
        ] {
            ui.label(name);
            ui.horizontal(|ui| {
                text(ui, training, window, name, field, ui.available_width() - BROWSE);
                let set = move |path: PathBuf| TrainingCommand::Set(field, path.to_string_lossy().into_owned());
                browse(ui, window, name, question(field).then(set));
            });
            ui.end_row();
        }
        ui.label(tr!("Name"));
        text(ui, training, window, tr!("Name of the new model"), Field::Name, 240.0);
        ui.end_row();
    });
}

fn model_ui(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>) {
    let plan = &training.plan;
    let chooses = plan.chooses_attention();
    let kind = plan.attention.as_deref().and_then(AttentionKind::from_name);
    let models: Vec<Line> = TRAINED.iter().map(|entry| (entry.name, entry.citation.to_owned())).collect();
    row(ui, training, window, tr!("Architecture"), Field::Architecture, &models);
    if !chooses {
        return;
    }
    let kinds: Vec<Line> = KINDS.iter().map(|entry| (entry.name, lang::text(entry.explanation).to_owned())).collect();
    row(ui, training, window, tr!("Looks at"), Field::Attention, &kinds);
    if kind == Some(AttentionKind::None) {
        return;
    }
    let allowed = scores("luong").filter(|score| kind.is_none_or(|kind| kind.allows(score)));
    let table: Vec<Line> = allowed.map(|entry| (entry.name, entry.equation.to_owned())).collect();
    row(ui, training, window, tr!("Score"), Field::Score, &table);
}

fn row(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>, name: &str, field: Field, table: &[Line]) {
    let chosen = new_training::text(&training.plan, field);
    ui.label(name);
    let combo = ComboBox::from_id_salt(("training", name)).width(180.0).selected_text(&chosen).show_ui(ui, |ui| {
        for (entry, about) in table {
            if labels::choice(ui, *entry == chosen, *entry, about) {
                window.push(TrainingCommand::Set(field, (*entry).to_owned()));
            }
        }
    });
    combo.response.accessible_name(name);
    ui.end_row();
}

fn explanation_ui(ui: &mut Ui, training: &NewTraining) {
    let t = theme::tokens(ui);
    let lines = training.plan.explanation();
    let (lines, colour) = match lines {
        Ok(lines) => (lines, t.weak),
        Err(error) => (vec![error.to_string()], t.error),
    };
    ui.add_space(theme::SPACE_1);
    for line in lines {
        ui.add(egui::Label::new(RichText::new(line).size(theme::TEXT_SMALL).color(colour)).wrap());
    }
}

fn text(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>, name: &str, field: Field, width: f32) {
    let mut text = new_training::text(&training.plan, field);
    let hint = if field == Field::Vocabulary { tr!("none; words are counted") } else { "" };
    let response = ui.add(TextEdit::singleline(&mut text).desired_width(width).hint_text(hint));
    window.push_if(response.accessible_name(name).changed(), TrainingCommand::Set(field, text));
}

fn browse(ui: &mut Ui, window: &mut Window<'_>, name: &str, asked: AskedPath) {
    let button = ui.add_enabled(!window.local.dialogs.is_open(), egui::Button::new(tr!("Browse...")));
    if button.accessible_name(tr!("Browse for {name}", name)).clicked() {
        window.local.dialogs.ask(asked);
    }
}

fn save_ui(ui: &mut Ui, training: &NewTraining, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    window.local.dialogs.missing_ui(ui);
    ui.horizontal(|ui| {
        ui.label(tr!("Configuration file"));
        let field = TextEdit::singleline(&mut window.local.training_path).hint_text("train.toml");
        let width = ui.available_width() - 2.0 * BROWSE;
        ui.add(field.desired_width(width)).accessible_name(tr!("Configuration file"));
        browse(ui, window, tr!("the configuration file"), CONFIGURATION.then(TrainingCommand::Save));
        let path = window.local.training_path.trim().to_owned();
        let is_clicked = ui.add_enabled(!path.is_empty(), egui::Button::new(tr!("Save"))).clicked();
        window.push_if(is_clicked, TrainingCommand::Save(PathBuf::from(path)));
    });
    let sheet = training;
    if let Some(message) = &sheet.message {
        ui.add(egui::Label::new(RichText::new(message).color(t.error)).wrap());
    }
    if let Some(path) = &sheet.saved {
        let command = recipe::command(path);
        ui.horizontal(|ui| {
            ui.label(tr!("Saved. Train with"));
            ui.add(egui::Label::new(RichText::new(&command).monospace()).selectable(true).truncate());
            if ui.button(tr!("Copy")).clicked() {
                ui.ctx().copy_text(command.clone());
            }
        });
    }
}
