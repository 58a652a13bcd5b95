//! Page Corpus, two documents that become pairs of sentences: their files, the beads, and what is done with one.

use egui::{Button, Label, RichText, ScrollArea, Ui, UiBuilder};

use crate::app::document::column::file_name;
use crate::pages::shell::dialogs::{Question, WORKSPACE, Wants};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::documents::DocumentCommand, shell::local::Window,
    shell::menu, shell::task,
};
use crate::widgets::grid::{GridLook, GridTitle, grid_ui};
use crate::widgets::{bidi, labels, theme};
use engine::lang;
use import::documents::beads::BeadEdit;

const ENDINGS: &[&str] = &["txt", "docx", "html", "htm", "xhtml"];
const FILES: [Question; 2] = [
    Question::new(id!("A document"), id!("Choose"), Wants::File(ENDINGS), ABOUT),
    Question::new(id!("Its translation"), id!("Choose"), Wants::File(ENDINGS), ABOUT),
];
const ABOUT: &str =
    id!("Plain text, DOCX or HTML. It is cut into sentences, which are aligned by their lengths and words.");
const OPEN: Question = Question::new(
    id!("Open a table of beads"),
    id!("Open"),
    Wants::File(&["tsv", "csv"]),
    id!("As this sheet or interlinear documents wrote it."),
);
const SAVE: Question = Question::new(
    id!("Save the beads as TSV"),
    id!("Save"),
    Wants::NewFile("pairs.tsv"),
    id!("A row for each bead; this sheet and interlinear documents --pairs read it again."),
);
const PUT: Question =
    Question::new(id!("Make a corpus of the pairs"), id!("Make"), Wants::NewFile("corpus.ilws"), WORKSPACE.note);

const EDITS: [(&str, BeadEdit); 7] = [
    (id!("Join with the next"), BeadEdit::Join),
    (id!("Split"), BeadEdit::Split),
    (id!("Remove"), BeadEdit::Remove),
    (id!("First source sentence up"), BeadEdit::Up(0)),
    (id!("Last source sentence down"), BeadEdit::Down(0)),
    (id!("First target sentence up"), BeadEdit::Up(1)),
    (id!("Last target sentence down"), BeadEdit::Down(1)),
];
/// Share of the height of the chosen bead.
const CHOSEN: f32 = 0.32;

const TITLES: &[GridTitle] = &[
    ("number", id!("no."), id!("In the order of the documents")),
    ("bead", id!("Bead"), id!("How many sentences of each document it joins")),
    (
        "score",
        id!("Score"),
        id!(
            "How much more probable the words are as translations of each other than by themselves, in nats a word; doubtful below 0"
        ),
    ),
    ("source", id!("Source"), ""),
    ("target", id!("Target"), ""),
];

pub fn offer_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let note = tr!("A document and its translation become aligned sentences");
    window.push_on(&menu::entry(ui, tr!("From two documents...")).on_hover_text(note), DocumentCommand::Show(true));
}

pub fn documents_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let sheet = &page.tools.documents;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(tr!("From documents to pairs")).size(theme::TEXT_TITLE));
        for (side, question) in FILES.into_iter().enumerate() {
            let name = sheet.files[side]
                .as_ref()
                .map_or_else(|| lang::text(question.title).to_owned(), |path| file_name(path));
            let button = ui.button(format!("{name}...")).on_hover_text(lang::text(ABOUT));
            if button.accessible_name(format!("{}...", lang::text(question.title))).clicked() {
                window.ask(question.then(move |path| DocumentCommand::Choose(side, path)));
            }
        }
        let (is_there, is_open) = (!sheet.beads.rows.is_empty(), page.path.is_some());
        let mut button = |text: &str, is_enabled: bool| ui.add_enabled(is_enabled, Button::new(text));
        window.ask_on(&button(tr!("Open a table..."), true), OPEN, DocumentCommand::Open);
        window.ask_on(&button(tr!("Save as TSV..."), is_there), SAVE, DocumentCommand::Save);
        let put = if is_open { tr!("Put into the corpus") } else { tr!("Make a corpus...") };
        let put =
            button(put, is_there).on_hover_text(tr!("The pairs with text on both sides, the target as the reference"));
        if put.clicked() && is_open {
            window.push(DocumentCommand::Put(None));
        } else if put.clicked() {
            window.ask(PUT.then(|path| DocumentCommand::Put(Some(path))));
        }
        window.push_on(&button(tr!("Undo"), sheet.beads.is_edited()), DocumentCommand::Undo);
        window.push_on(&button(tr!("Back to the corpus"), true), DocumentCommand::Show(false));
    });
    task::task_ui(ui, window, sheet.task);
    let is_dismissed = page.message.as_ref().is_some_and(|message| labels::failure(ui, message));
    window.push_if(is_dismissed, CorpusCommand::DismissMessage);
    if sheet.beads.rows.is_empty() {
        labels::note(
            ui,
            tr!(
                "Choose a document and its translation; their sentences are aligned, and the beads can be edited here."
            ),
        );
        return;
    }
    let room = ui.available_rect_before_wrap();
    let (list, chosen) = room.split_top_bottom_at_fraction(1.0 - CHOSEN);
    ui.scope_builder(UiBuilder::new().max_rect(list), |ui| {
        let label = tr!("{n} bead" | "{n} beads" % sheet.beads.rows.len());
        labels::caption(ui, &label);
        let look = GridLook { id: "beads", label: &label, titles: TITLES, selected: sheet.selected };
        if let Some(pick) = grid_ui(ui, &sheet.table, &look) {
            window.push(DocumentCommand::Select(pick.row));
        }
    });
    let below = UiBuilder::new().max_rect(chosen.with_min_y(chosen.top() + theme::SPACE_2));
    ui.scope_builder(below, |ui| bead_ui(ui, page, window));
}

fn bead_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let sheet = &page.tools.documents;
    let Some(row) = sheet.selected.and_then(|at| sheet.beads.rows.get(at)) else {
        labels::note(ui, tr!("Choose a bead to join, split or move its sentences."));
        return;
    };
    ui.horizontal_wrapped(|ui| {
        for (name, edit) in EDITS {
            window.push_on(&ui.button(lang::text(name)), DocumentCommand::Edit(edit));
        }
    });
    ScrollArea::vertical().id_salt("bead").auto_shrink(false).show(ui, |ui| {
        ui.columns_const(|columns: &mut [Ui; 2]| {
            for (ui, side) in columns.iter_mut().zip(&row.sides) {
                for sentence in side {
                    ui.add(Label::new(bidi::visual(sentence).into_owned()).wrap());
                }
            }
        });
    });
}
