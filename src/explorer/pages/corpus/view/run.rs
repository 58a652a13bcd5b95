//! Page Corpus, the menu of what runs over the workspace: which models, and with which interventions.

use egui::{RichText, Ui};

use crate::app::{command::SettingsCommand, document::column::file_name, settings::RowSource};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{corpus::CorpusPage, corpus::command::CorpusCommand, shell::local::Window, shell::menu};
use crate::{jobs::corpus::thread::CorpusRequest, widgets::theme};
use engine::decoding::SystemSpec;

const RUN_WITH: Question = Question::new(
    id!("Run with interventions"),
    id!("Run"),
    Wants::File(&["json", "jsonl"]),
    id!(
        "A file as page Sentence saves it: one object for all sentences, or a line for each. Sentences that it does not fit are left out and told."
    ),
);

const MODELS_HEIGHT: f32 = 360.0;

pub fn run_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.menu_button(tr!("Run"), |ui| {
        let note = tr!("Every sentence that a model has not been asked about; typing goes first, and a run goes on where it stopped");
        ui.menu_button(tr!("Translate with"), |ui| models_ui(ui, window, false)).response.on_hover_text(note);
        let note = tr!("Each reference is forced, so that alignments by hand can be compared");
        ui.menu_button(tr!("Align the references with"), |ui| models_ui(ui, window, true)).response.on_hover_text(note);
        let asked = window.app.view.settings.asked;
        let mut origin = asked.origin;
        let note = tr!("Keeps where words come from as the alignment of models that have an alignment head; such a run is a system of its own. \
                    Else alpha is kept, where the model looked. It is the question that page Sentence answers, too");
        window.push_if(ui.checkbox(&mut origin, tr!("By alignment heads")).on_hover_text(note).changed(), SettingsCommand::SetAsked(RowSource { origin, ..asked }));
        ui.menu_button(tr!("With interventions"), |ui| {
            let set = ui.button(tr!("What is set on page Sentence"));
            if set.on_hover_text(tr!("Masks, words, rows and temperature, for every sentence; a system of its own")).clicked() {
                window.push(CorpusCommand::RunSet);
                ui.close();
            }
            window.ask_on(&menu::entry(ui, tr!("Of a file...")), RUN_WITH, CorpusCommand::RunWith);
        });
        let systems = page.corpus.systems.clone();
        if !systems.is_empty() {
            ui.separator();
            ui.menu_button(tr!("Remove"), |ui| {
                for column in &systems {
                    ui.menu_button(&column.system.name, |ui| {
                        let text = tr!("Yes, remove it and {n} output" | "Yes, remove it and {n} outputs" % column.done);
                        window.push_on(&menu::entry(ui, &text).on_hover_text(tr!("This cannot be undone")), CorpusRequest::Remove(column.system.id));
                    });
                }
            });
        }
    });
}

fn models_ui(ui: &mut Ui, window: &mut Window<'_>, forces: bool) {
    let mut open: Vec<(SystemSpec, String)> = Vec::new();
    for column in &window.app.document.columns {
        if !open.iter().any(|(other, _)| *other == column.system) {
            open.push((column.system.clone(), column.model()));
        }
    }
    let all = egui::Button::new(tr!("All models above"));
    if ui.add_enabled(!open.is_empty(), all).clicked() {
        window.push(CorpusCommand::Run(forces));
        ui.close();
    }
    ui.separator();
    let mut others: Vec<(SystemSpec, String)> =
        window.local.bundled.iter().map(|model| ((&model.folder).into(), file_name(&model.folder))).collect();
    others.retain(|(system, _)| !open.iter().any(|(other, _)| other == system));
    // More than have room scroll.
    let area = egui::ScrollArea::vertical().id_salt("models");
    area.max_height(MODELS_HEIGHT).min_scrolled_height(MODELS_HEIGHT).show(ui, |ui| {
        let one = |ui: &mut Ui, window: &mut Window<'_>, (system, name): (SystemSpec, String)| {
            let button = ui.button(&name).on_hover_text(system.to_string());
            let act = if forces { tr!("Align the references") } else { tr!("Translate") };
            if button.accessible_name(tr!("{act} with {name}", act, name)).clicked() {
                window.push(CorpusCommand::RunOne(system, forces));
                ui.close();
            }
        };
        for model in open {
            one(ui, window, model);
        }
        if !others.is_empty() {
            ui.label(RichText::new(tr!("Not open")).size(theme::TEXT_SMALL).weak());
        }
        for model in others {
            one(ui, window, model);
        }
    });
    ui.separator();
    if ui.button(tr!("Another model folder...")).clicked() {
        let title =
            if forces { tr!("Align the references with a model") } else { tr!("Translate the corpus with a model") };
        let note = tr!(
            "A model is a folder with config.json, model.safetensors and two tokenizers, or one of another toolkit. It runs without being opened on page Sentence."
        );
        let question = Question::new(title, tr!("Run"), Wants::Folder, note);
        window.ask(question.then(move |path| CorpusCommand::RunOne(path.into(), forces)));
        ui.close();
    }
}
