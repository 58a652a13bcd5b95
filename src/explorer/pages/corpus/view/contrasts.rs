//! Page Corpus, the tab of minimal pairs.

use egui::{Button, Label, RichText, Ui};

use crate::app::document::column::file_name;
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{
    corpus::CorpusPage, corpus::command::ContrastCommand, corpus::contrast::ContrastState, shell::local::Window,
    shell::menu, shell::task,
};
use crate::widgets::grid::{GridLook, GridPick, GridTitle, grid_ui};
use crate::widgets::{labels, theme};
use engine::evaluation::contrast::ContrastMeasures;

const OPEN: Question = Question::new(
    id!("Open minimal pairs"),
    id!("Open"),
    Wants::File(&["tsv", "csv", "txt", "gz", "zst"]),
    id!("A table whose first row names the columns source, good, bad and perhaps tag; all open models are asked."),
);
const SAVE: [Question; 2] = [
    Question::new(
        id!("Save the accuracies as TSV"),
        id!("Save"),
        Wants::NewFile("contrast.tsv"),
        id!("As interlinear contrast --format tsv writes them."),
    ),
    Question::new(
        id!("Save the pairs as TSV"),
        id!("Save"),
        Wants::NewFile("pairs.tsv"),
        id!("A row for each pair and model, as interlinear contrast --pairs writes them."),
    ),
];
const ACTS: Question = Question::new(
    id!("Ask with interventions"),
    id!("Open"),
    Wants::File(&["json", "jsonl"]),
    id!(
        "Masks, rows of alpha, a temperature or heads left out, as saved from page Sentence or written by hand: one object for all pairs, or a line for each."
    ),
);
const TITLES: &[GridTitle] = &[
    ("model", id!("Model"), ""),
    ("tag", id!("Tag"), id!("all: of all pairs")),
    ("pairs", id!("Pairs"), id!("That the model reads")),
    ("accuracy", id!("Accuracy"), id!("The share of pairs whose good translation is more probable")),
    ("low", id!("95 % from"), id!("The accuracy lies above this with a confidence of 95 %, by Wilson's score")),
    ("high", id!("95 % to"), id!("The accuracy lies below this with a confidence of 95 %, by Wilson's score")),
    (
        "word_accuracy",
        id!("At the word"),
        id!("The share that is right at the critical word, the first in which both differ"),
    ),
    ("difference", id!("Difference"), id!("log p of the good translation less that of the bad one, in nats")),
    ("word_difference", id!("Word difference"), id!("The same at the critical word, given what stands before it")),
    ("equal", id!("Equal"), id!("Pairs of the same probability, most often since the model reads no difference")),
    ("unknown", id!("Unknown"), id!("Pairs with a critical word that the model does not know")),
    ("p", "p", id!("McNemar's exact test against the first model, over the pairs that both read")),
    ("line", id!("Line"), id!("Of the table")),
    ("log_p_good", id!("log p good"), ""),
    ("log_p_bad", id!("log p bad"), ""),
    ("word_good", id!("Good word"), id!("The critical word")),
    ("word_bad", id!("Bad word"), id!("The critical word")),
    ("word_log_p_good", id!("log p of it, good"), id!("Given what stands before it")),
    ("word_log_p_bad", id!("log p of it, bad"), id!("Given what stands before it")),
    ("changed_accuracy", id!("Changed accuracy"), id!("The accuracy with the interventions")),
    ("difference_change", id!("Change"), id!("By how much the difference grows with the interventions, in nats")),
    ("word_change", id!("Word change"), id!("The same at the critical word")),
    (
        "alpha",
        id!("alpha"),
        id!("Of the source word that the model looks at most where it predicts the good critical word"),
    ),
    (
        "left_out",
        id!("Left out"),
        id!(
            "By how much log p of the good critical word falls where the source word that it looks at is left out of its row of alpha (Serrano and Smith 2019)"
        ),
    ),
    (
        "left_out_word",
        id!("Left out, difference"),
        id!("By how much the word difference falls where that source word is left out"),
    ),
    ("looks_at", id!("Looks at"), id!("The source word of greatest alpha where the good critical word is predicted")),
    ("source", id!("Source"), ""),
    ("good", id!("Good"), ""),
    ("bad", id!("Bad"), ""),
    ("*_low", id!("95 % from"), ""),
    ("*_high", id!("95 % to"), ""),
    ("*_pairs", id!("Pairs"), id!("That have this number")),
];

pub fn contrasts_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let contrast = &page.tools.contrast;
    ui.horizontal_wrapped(|ui| {
        let button = ui.add_enabled(contrast.task.is_none(), Button::new(tr!("Open pairs...")));
        window.ask_on(&button, OPEN, ContrastCommand::Open);
        questions_ui(ui, contrast, window);
        let Some(table) = &contrast.table else { return };
        let again = ui.add_enabled(contrast.task.is_none(), Button::new(tr!("Ask again")));
        window.push_on(&again.on_hover_text(tr!("Asks the models that are open now")), ContrastCommand::Again);
        labels::caption(ui, file_name(table)).on_hover_text(table.display().to_string());
        if contrast.found.is_none() {
            return;
        }
        ui.separator();
        for (shows, name) in [(false, tr!("By tag")), (true, tr!("Every pair"))] {
            let button = ui.selectable_label(contrast.shows_pairs == shows, name);
            window.push_on(&button, ContrastCommand::ShowPairs(shows));
        }
        let button = ui.button(tr!("Save as TSV..."));
        window.ask_on(&button, SAVE[usize::from(contrast.shows_pairs)], ContrastCommand::Save);
    });
    task::task_ui(ui, window, contrast.task);
    let Some(found) = &contrast.found else {
        let note = tr!(
            "Minimal pairs are a source with a good and a bad translation that differ in one place. How often a model holds the good \
                    one for more probable says what it has learned of that place."
        );
        ui.add(Label::new(RichText::new(note).color(theme::tokens(ui).weak)).wrap());
        return;
    };
    for note in &found.notes {
        labels::note(ui, note);
    }
    let (label, id) = if contrast.shows_pairs {
        labels::note(ui, tr!("A click shows a pair on page Sentence."));
        (tr!("Every pair"), "contrast_pairs")
    } else {
        (tr!("By tag"), "contrast_tags")
    };
    let selected = contrast.selected.filter(|_| contrast.shows_pairs);
    let Some(table) = contrast.shown() else { return };
    let chosen = grid_ui(ui, table, &GridLook { id, label, titles: TITLES, selected });
    if let Some(GridPick { row, opens }) = chosen.filter(|_| contrast.shows_pairs) {
        window.push(if opens { ContrastCommand::Show(row) } else { ContrastCommand::Select(row) });
    }
}

fn questions_ui(ui: &mut Ui, contrast: &ContrastState, window: &mut Window<'_>) {
    ui.menu_button(tr!("Also ask"), |ui| {
        let old = contrast.measures;
        let mut measures = old;
        let note = tr!(
            "What the critical word loses where the source word that it looks at most is left out; of models that align"
        );
        ui.checkbox(&mut measures.left_out, tr!("What is left out")).on_hover_text(note);
        if measures != ContrastMeasures::default() || old != measures {
            labels::note(ui, tr!("Each pair takes many times as long."));
        }
        window.push_if(old != measures, ContrastCommand::SetMeasures(measures));
        ui.separator();
        window.ask_on(&menu::entry(ui, tr!("With interventions of a file...")), ACTS, |path| {
            ContrastCommand::SetInterventions(Some(path))
        });
        let Some(file) = &contrast.interventions else { return };
        if ui.button(tr!("Without {}", file_name(file))).on_hover_text(file.display().to_string()).clicked() {
            window.push(ContrastCommand::SetInterventions(None));
        }
    })
    .response
    .on_hover_text(tr!("What every pair is asked beside its probabilities, from the next time on"));
}
