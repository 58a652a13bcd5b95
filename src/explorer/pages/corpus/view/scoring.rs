//! Page Corpus, the overview: what its numbers are made with: the tokenizer of BLEU, frequencies of words, an aligner.

use egui::Ui;

use crate::app::document::column::file_name;
use crate::pages::shell::dialogs::{Question, TEXTS, Wants};
use crate::pages::{corpus::CorpusPage, corpus::views::ExploreCommand, shell::local::Window};
use crate::widgets::{labels, tokenization::tokenizers_ui};
use corpus::overview::compute::Overview;
use engine::lang;

const FREQUENCIES: Question = Question::new(
    id!("Frequencies of words"),
    id!("Choose"),
    Wants::File(TEXTS),
    id!("Lines of a word and its count, or the training text itself, whose words are counted; packed or not."),
);

const ALIGNER: Question = Question::new(
    id!("The aligner of this corpus"),
    id!("Choose"),
    Wants::File(&["aligner"]),
    id!(
        "A file of `interlinear align --statistical --save`. It comes before any other for this corpus: links that judging begins with, conditions, overviews, and what models are measured by from now on. The corpus keeps it."
    ),
);

pub fn from_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.menu_button(tr!("From..."), |ui| {
        if ui.button(tr!("Count the references of this corpus")).clicked() {
            window.push(ExploreCommand::SetFrequencies(None));
            ui.close();
        }
        if ui.button(tr!("Choose a list or a training text...")).clicked() {
            window.ask(FREQUENCIES.then(|path| ExploreCommand::SetFrequencies(Some(path))));
            ui.close();
        }
    });
    ui.menu_button(tr!("Aligner..."), |ui| {
        if ui.button(tr!("The aligner of this corpus...")).on_hover_text(lang::text(ALIGNER.note)).clicked() {
            window.ask(ALIGNER.then(|path| ExploreCommand::SetAligner(Some(path))));
            ui.close();
        }
        if let Some(own) = &page.columns.look.aligner
            && ui.button(tr!("Without {}", file_name(own))).clicked()
        {
            window.push(ExploreCommand::SetAligner(None));
            ui.close();
        }
    });
}

pub fn scoring_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) {
    let chosen = ui.horizontal(|ui| tokenizers_ui(ui, Some(page.corpus.bleu.tokenization), None)).inner;
    if let Some(tokenizer) = chosen.flatten() {
        window.push(ExploreCommand::SetTokenizer(tokenizer));
    }
    overview.notes.iter().for_each(|text| drop(labels::note(ui, text)));
}
