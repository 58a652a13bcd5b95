//! Page Corpus, what of the overview is a table: source words by part of speech, what people say of each system, and
//! whether metrics say the same.

use std::sync::Arc;

use egui::{RichText, Ui, vec2};

use crate::widgets::grid::{GridLook, GridTitle, grid_ui};
use crate::widgets::{labels, theme};
use corpus::overview::compute::Overview;
use engine::text::cells::CellTable;

const PART_TITLES: &[GridTitle] = &[
    ("part", id!("Part of speech"), id!("As the file in CoNLL-U has it; of a word that it cuts, of the longest piece")),
    ("system", id!("System"), ""),
    ("words", id!("Words"), id!("Source words of the sentences that the system aligns")),
    ("fertility", id!("Fertility"), id!("Links for each word")),
    ("unaligned", id!("Unaligned"), id!("The share of words without a link")),
    ("crossing", id!("Crossing"), id!("The share of words with a link that crosses that of another word")),
    ("judged", id!("Judged"), id!("Words that are linked to a word of the output or of the reference")),
    ("wrong", id!("Wrong"), id!("Those of them of which something is not as in the reference")),
    ("error", id!("Error rate"), id!("The share of the judged words that are wrong")),
    ("precision", id!("Precision"), id!("The share of output words linked to it that the reference has")),
    ("recall", id!("Recall"), id!("The share of words of the reference linked to it that the output has")),
];
/// A line of a table, and the highest that one is, points.
const LINE: (f32, f32) = (22.0, 440.0);

pub fn grids_ui(ui: &mut Ui, overview: &Overview) {
    let parts = (tr!("Source words by part of speech"), tr!("Of the words of a file in CoNLL-U that was imported"));
    let links = tr!("References are linked: {}", overview.linked_by());
    framed(ui, &overview.parts, ("parts", PART_TITLES), parts, &links);
    let judged = (tr!("Errors and ratings of each system"), tr!("What people, and a metric, marked and rated"));
    let mqm =
        tr!("MQM is the mean over sentences of the weights of the errors, the mean over annotators: less is better");
    framed(ui, &overview.judged, ("judged", &[]), judged, mqm);
    let metrics = (tr!("Do metrics and people agree"), tr!("Fewer than 10 sentences or 3 systems are too few to tell"));
    let signs = tr!(
        "Signs are turned so that more is better on both sides; low and high: 95 % of the resamples of the sentences"
    );
    framed(ui, &overview.metrics, ("metrics", &[]), metrics, signs);
}

fn framed(
    ui: &mut Ui,
    table: &Arc<CellTable>,
    (id, titles): (&'static str, &'static [GridTitle]),
    (label, about): (&str, &str),
    note: &str,
) {
    if table.rows.is_empty() {
        return;
    }
    theme::card(theme::tokens(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new(label).strong()).on_hover_text(about);
        let height = (LINE.0 * (table.rows.len() + 2) as f32).min(LINE.1);
        let room = vec2(ui.available_width(), height);
        ui.allocate_ui_with_layout(room, egui::Layout::top_down(egui::Align::Min), |ui| {
            ui.set_max_height(height);
            grid_ui(ui, table, &GridLook { id, label, titles, selected: None });
        });
        labels::note(ui, note);
    });
}
