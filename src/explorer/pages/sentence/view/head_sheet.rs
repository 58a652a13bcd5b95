//! The sheet that learns an alignment head for a column's model from a text of the user's own.

use std::path::PathBuf;

use egui::{Button, DragValue, Grid, RichText, TextEdit, Ui};

use crate::pages::shell::dialogs::{Question, TEXTS, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{sentence::SentencePage, sentence::command::HeadCommand, shell::task};
use crate::widgets::{labels, theme};
use crate::{app::document::column::Column, pages::shell::sheet, widgets};
use engine::lang;

const WIDTH: f32 = 620.0;
const BROWSE: f32 = 92.0;

pub const TEXT: Question = Question::new(id!("Text to learn from"), id!("Choose"), Wants::File(TEXTS), "");

const ALIGNER: Question = Question::new(
    id!("Keep the aligner in"),
    id!("Learn"),
    Wants::NewFile("own.aligner"),
    id!("The statistical aligner of these languages from then on."),
);

const FILES: [(&str, &str); 3] = [
    (id!("Source sentences"), id!("one sentence a line")),
    (id!("Their translations"), id!("line by line")),
    (id!("Word links"), id!("none; the statistical aligner finds them")),
];

const ABOUT: &str = id!(
    "A decoder looks for the word that it is going to say and does not know it yet. An alignment head is asked afterwards, \
                     once the word has been read: where does it come from? It is learned on the finished model, whose weights \
                     and translations stay as they are, so it explains the alignment and not the choice."
);

pub(super) fn head_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let Sheet::Head(id) = window.local.shared.sheet else { return };
    let Some(column) = window.app.document.column(id) else {
        window.local.shared.sheet = Sheet::None;
        return;
    };
    let response = sheet::modal(ui, "head_sheet", WIDTH, |ui, room| {
        // also the room of an error that is told while the sheet is there
        let most = room.y - 80.0;
        widgets::growing(most).auto_shrink([false, true]).show(ui, |ui| sheet_ui(ui, sentence, window, column)).inner
    });
    if response.inner || response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

fn sheet_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column) -> bool {
    ui.heading(tr!("An alignment head for {}", column.model()));
    labels::note(ui, lang::text(ABOUT));
    let facts = column.facts.as_ref();
    if facts.is_some_and(|facts| !facts.has_alignment) {
        labels::note(ui, tr!("Of this model it is a probe of what the states know: its decoder never sees h_j."));
    }
    if facts.is_some_and(|facts| facts.has_head) {
        labels::note(ui, tr!("This model has one; the new one takes its place."));
    }
    window.local.dialogs.missing_ui(ui);
    ui.add_space(theme::SPACE_2);
    let plan = &sentence.head;
    Grid::new("head").num_columns(2).spacing([theme::SPACE_4, theme::SPACE_2]).show(ui, |ui| {
        for (at, (name, hint)) in FILES.map(|(name, hint)| (lang::text(name), lang::text(hint))).into_iter().enumerate()
        {
            ui.label(name);
            ui.horizontal(|ui| file_ui(ui, window, (at, name, hint), plan.files[at].clone()));
            ui.end_row();
        }
        ui.label(tr!("Passes over the text"));
        let mut passes = plan.passes;
        let field = ui.add(DragValue::new(&mut passes).range(1..=100)).on_hover_text(tr!(
            "What the model says of the text is kept, so that further passes take less time than the first one"
        ));
        window.push_if(field.accessible_name(tr!("Passes over the text")).changed(), HeadCommand::Passes(passes));
        ui.end_row();
    });
    ui.add_space(theme::SPACE_2);
    task::task_ui(ui, window, plan.number);
    let t = theme::tokens(ui);
    if let Some((message, is_error)) = &plan.message {
        let colour = if *is_error { t.error } else { t.weak };
        ui.add(egui::Label::new(RichText::new(message).color(colour)).wrap());
    }
    ui.horizontal(|ui| {
        let can = plan.number.is_none() && plan.files[..2].iter().all(|file| !file.trim().is_empty());
        let learn = ui.add_enabled(can, Button::new(tr!("Learn")));
        let why = tr!("Name a file of sentences and one of their translations first");
        window.push_if(learn.on_disabled_hover_text(why).clicked(), HeadCommand::Learn(column.id, None));
        let about = tr!("Only the statistical aligner, from the text alone: it outlines links and is what judging begins with, whatever the model");
        let aligner = ui.add_enabled(can, Button::new(tr!("Learn an aligner..."))).on_hover_text(about);
        if aligner.on_disabled_hover_text(why).clicked() {
            let id = column.id;
            window.local.dialogs.ask(ALIGNER.then(move |path| HeadCommand::Learn(id, Some(path))));
        }
        ui.button(tr!("Close")).on_hover_text(tr!("What is being learned goes on")).clicked()
    })
    .inner
}

fn file_ui(ui: &mut Ui, window: &mut Window<'_>, (at, name, hint): (usize, &str, &str), mut text: String) {
    let width = ui.available_width() - BROWSE;
    let field = ui.add(TextEdit::singleline(&mut text).desired_width(width).hint_text(hint));
    window.push_if(field.accessible_name(name).changed(), HeadCommand::File(at, text));
    let button = ui.add_enabled(!window.local.dialogs.is_open(), Button::new(tr!("Browse...")));
    if button.accessible_name(tr!("Browse for {name}", name)).clicked() {
        let set = move |path: PathBuf| HeadCommand::File(at, path.to_string_lossy().into_owned());
        window.local.dialogs.ask(TEXT.then(set));
    }
}
