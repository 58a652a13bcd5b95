//! Floor 11: page Evaluation, at the left: the files of the test set, the button that measures, the training logs.

use std::path::Path;

use egui::{Button, RichText, Ui, vec2};

use crate::app::document::column::file_name;
use crate::app::state::AppState;
use crate::lang;
use crate::pages::evaluation::EvaluationPage;
use crate::pages::evaluation::LogState;
use crate::pages::evaluation::command::{EvaluationCommand, TestCommand};
use crate::pages::window::dialogs::{AskedPath, Question, TEXTS, Wants};
use crate::pages::window::local::Window;
use crate::pages::window::task;
use crate::widgets::tokenization::tokenizers_ui;
use crate::widgets::{chart, labels, theme};

/// Room for the button behind a file's name, points.
const REMOVE: f32 = 26.0;

/// Height of a row of buttons, points.
const ROW: f32 = 26.0;

const SOURCE: Question = Question::new(
    id!("Source sentences of a test set"),
    id!("Choose"),
    Wants::File(TEXTS),
    id!("One sentence a line, packed with gzip or zstandard or not."),
);

const REFERENCE: Question = Question::new(
    id!("References of a test set"),
    id!("Choose"),
    Wants::File(TEXTS),
    id!("The translations of the source sentences, line by line. Several files are several references."),
);

const GOLD: Question = Question::new(
    id!("Alignments by hand"),
    id!("Choose"),
    Wants::File(&["txt", "wa", "nonullalign", "align", "pharaoh", "naacl"]),
    id!("For each line the links between words, sure and possible, in the Pharaoh or the NAACL 2003 format."),
);

const LOG: Question = Question::new(
    id!("Open training logs"),
    id!("Open"),
    Wants::File(&["jsonl"]),
    id!("The log.jsonl of a run, the folder of a run, or a folder of several runs. A log is followed while it grows."),
);

/// The test set and the logs.
pub fn setup_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    egui::ScrollArea::vertical().id_salt("setup").auto_shrink([false, false]).show(ui, |ui| {
        theme::card(theme::tokens(ui)).show(ui, |ui| {
            ui.take_available_width();
            test_ui(ui, evaluation, window);
        });
        ui.add_space(theme::SPACE_2);
        theme::card(theme::tokens(ui)).show(ui, |ui| {
            ui.take_available_width();
            logs_ui(ui, evaluation, window);
        });
    });
}

fn test_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let test = &evaluation.test;
    let source = SOURCE.then(|path| TestCommand::SetSource(Some(path)));
    let reference = REFERENCE.then(TestCommand::AddReference);
    let gold = GOLD.then(|path| TestCommand::SetGold(Some(path)));
    ui.heading(tr!("Test set"));
    labels::caption(ui, tr!("Source sentences"));
    match &test.source {
        Some(path) => file_ui(ui, evaluation, window, path, (source, TestCommand::SetSource(None))),
        None => choose_ui(ui, window, tr!("Choose a file..."), source),
    }
    labels::caption(ui, tr!("References"));
    for (at, path) in test.references.iter().enumerate() {
        let other = REFERENCE.then(move |path| TestCommand::SetReference(at, path));
        file_ui(ui, evaluation, window, path, (other, TestCommand::RemoveReference(at)));
    }
    let more = if test.references.is_empty() { tr!("Choose a file...") } else { tr!("One more...") };
    choose_ui(ui, window, more, reference);
    labels::caption(ui, tr!("Alignments by hand, for AER"));
    match &test.gold {
        Some(path) => file_ui(ui, evaluation, window, path, (gold, TestCommand::SetGold(None))),
        None => choose_ui(ui, window, tr!("None"), gold),
    }
    ui.add_space(theme::SPACE_1);
    options_ui(ui, evaluation, window);
    ui.add_space(theme::SPACE_1);
    run_ui(ui, evaluation, window);
}

fn choose_ui(ui: &mut Ui, window: &mut Window<'_>, text: &str, asked: AskedPath) {
    let button = ui.add_sized(vec2(ui.available_width(), ROW), Button::new(text));
    let button = button.on_hover_text(lang::text(asked.question.note));
    if button.accessible_name(lang::text(asked.question.title)).clicked() {
        window.ask(asked);
    }
}

/// A chosen file, and why it cannot be read where that is so: a click chooses another, the cross takes it away.
fn file_ui(
    ui: &mut Ui,
    evaluation: &EvaluationPage,
    window: &mut Window<'_>,
    path: &Path,
    (asked, remove): (AskedPath, TestCommand),
) {
    let t = theme::tokens(ui);
    let name = file_name(path);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        let room = (ui.available_width() - REMOVE - theme::SPACE_1).max(0.0);
        let text = labels::galley(ui.painter(), &name, &theme::body(), t.text, room - 2.0 * theme::SPACE_3);
        let button = ui.add_sized(vec2(room, ROW), Button::new(text)).on_hover_text(path.display().to_string());
        if button.accessible_name(format!("{}, {name}", lang::text(asked.question.title))).clicked() {
            window.local.shared.path = path.display().to_string();
            window.ask(asked);
        }
        let cross = ui.add_sized(vec2(REMOVE, ROW), Button::new(RichText::new("\u{d7}").color(t.weak)).frame(false));
        if cross.on_hover_text(tr!("Take this file away")).accessible_name(tr!("Take {name} away", name)).clicked() {
            window.push(remove);
        }
    });
    if let Some(fault) = evaluation.fault(path) {
        ui.add(egui::Label::new(RichText::new(fault).size(theme::TEXT_SMALL).color(t.error)).wrap());
    }
}

fn options_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let mut on = evaluation.test.is_pretokenized;
    let note = tr!("For test sets that are tokenised already; BLEU then counts these words");
    if ui.checkbox(&mut on, tr!("Words are split by spaces")).on_hover_text(note).changed() {
        window.push(TestCommand::SetPretokenized(on));
    }
    ui.horizontal(|ui| {
        let usual =
            id!("as the language asks for: zh for Chinese, char for Japanese, Thai and their like, 13a for others");
        if let Some(chosen) = tokenizers_ui(ui, evaluation.test.tokenization, Some(usual)) {
            window.push(TestCommand::SetTokenization(chosen));
        }
    });
    if evaluation.test.gold.is_some() {
        let mut on = evaluation.test.by_input;
        let note = tr!("Measures each row of alpha also as that of the word that the decoder had just read");
        if ui.checkbox(&mut on, tr!("Alignments also by input word")).on_hover_text(note).changed() {
            window.push(TestCommand::SetByInput(on));
        }
    }
    let mut on = evaluation.also_without_unk;
    let note = tr!("Translates a second time and never chooses [UNK], as in the last column of Bahdanau's table 1");
    if ui.checkbox(&mut on, tr!("Also without [UNK] in the output")).on_hover_text(note).changed() {
        window.push(EvaluationCommand::SetAlsoWithoutUnk(on));
    }
}

fn run_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let app = window.app;
    if evaluation.task.is_some() {
        task::task_ui(ui, window, evaluation.task);
    } else {
        let (models, ensembles) = systems(app);
        let missing = evaluation.missing(models + ensembles);
        let t = theme::tokens(ui);
        let of_models = tr!("{n} model" | "{n} models" % models);
        let of_ensembles = tr!("{n} ensemble" | "{n} ensembles" % ensembles);
        let what = match (models, ensembles) {
            (_, 0) => of_models,
            (0, _) => of_ensembles,
            _ => format!("{of_models}, {of_ensembles}"),
        };
        let text = RichText::new(tr!("Evaluate {what}", what)).color(t.on_accent);
        let size = vec2(ui.available_width(), ROW + theme::SPACE_1);
        let button =
            ui.add_enabled_ui(missing.is_none(), |ui| ui.add_sized(size, Button::new(text).fill(t.accent))).inner;
        if button.clicked() {
            window.push(EvaluationCommand::Run);
        }
        let note = missing.map_or_else(
            || tr!("Beam {}, in the background; what you type goes first", app.document.scene().search.beam),
            str::to_owned,
        );
        labels::caption(ui, note);
    }
    message_ui(ui, evaluation, window);
}

/// Why the last run came to nothing.
fn message_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    if evaluation.message.as_ref().is_some_and(|message| labels::failure(ui, message)) {
        window.push(EvaluationCommand::DismissMessage);
    }
}

/// Different models of the columns, and different ensembles.
fn systems(app: &AppState) -> (usize, usize) {
    let systems = app.systems();
    let models = systems.iter().filter(|system| !system.is_ensemble()).count();
    (models, systems.len() - models)
}

fn logs_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    ui.heading(tr!("Training logs"));
    let t = theme::tokens(ui);
    let logs = &evaluation.logs;
    for (at, log) in logs.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = theme::SPACE_1;
            ui.set_min_height(ROW);
            chart::mark_ui(ui, at);
            let name = log.name();
            let room = (ui.available_width() - REMOVE - theme::SPACE_1).max(0.0);
            let text = labels::galley(ui.painter(), &name, &theme::body(), t.text, room);
            ui.allocate_ui_with_layout(vec2(room, ROW), egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.set_min_width(room);
                ui.label(text).on_hover_text(log.path.display().to_string());
            });
            let cross = Button::new(RichText::new("\u{d7}").color(t.weak)).frame(false);
            let cross = ui.add_sized(vec2(REMOVE, ROW), cross).on_hover_text(tr!("Close this log"));
            if cross.accessible_name(tr!("Close the log of {name}", name)).clicked() {
                window.push(EvaluationCommand::CloseLog(at));
            }
        });
        let (text, colour) = match &log.state {
            LogState::Reading => (tr!("Reading").to_owned(), t.weak),
            LogState::Failed(message) => (message.clone(), t.error),
            LogState::Read(curves) => (super::training::line(curves), t.weak),
        };
        ui.add(egui::Label::new(RichText::new(text).size(theme::TEXT_SMALL).color(colour)).wrap());
        ui.add_space(theme::SPACE_1);
    }
    choose_ui(ui, window, tr!("Open a run..."), LOG.then(EvaluationCommand::OpenLogs));
}
