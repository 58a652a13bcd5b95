//! Floor 11: what the parts of page Evaluation have in common. A leaf.

use egui::{Align, Grid, Layout, Response, RichText, Ui, vec2};

use crate::pages::evaluation::EvaluationPage;
use crate::pages::shell::local::Window;
use crate::widgets::{chart, labels, theme};

/// Widest line of what is said where there is nothing to show, points.
const EMPTY_WIDTH: f32 = 460.0;

/// Widest name of a model in a table, points.
const NAME: f32 = 220.0;

/// What to say, and what to do, where there is nothing to show yet.
pub fn empty_ui(ui: &mut Ui, title: &str, note: &str) {
    let weak = theme::tokens(ui).weak;
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading(title);
        let width = ui.available_width().min(EMPTY_WIDTH);
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical_centered(|ui| ui.add(egui::Label::new(RichText::new(note).color(weak)).wrap()));
        });
    });
}

/// What is to be said before the first results: what comes up here, and what is to be done for it.
pub fn waiting_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &Window<'_>, what: &str) {
    let missing = evaluation.missing(window.app.systems().len());
    match missing {
        _ if evaluation.task.is_some() => {
            empty_ui(
                ui,
                tr!("Measuring"),
                &tr!("{what} when all is measured; how far that is stands at the left.", what),
            );
        }
        Some(missing) => {
            let note = if evaluation.lacks_files() {
                tr!("{missing} at the left, or drop it here. {what} when a test set is evaluated.", missing, what)
            } else {
                tr!("{missing}. {what} when a test set is evaluated.", missing, what)
            };
            empty_ui(ui, tr!("Nothing is measured yet"), &note);
        }
        None => {
            let note = tr!("The files are chosen: press Evaluate at the left. {what}.", what);
            empty_ui(ui, tr!("Ready to measure"), &note);
        }
    }
}

/// A table on a card, which scrolls to the side where it is wider than the page; `below` stands under it.
pub fn table_ui(ui: &mut Ui, name: &str, rows: impl FnOnce(&mut Ui), below: impl FnOnce(&mut Ui)) {
    theme::card(theme::tokens(ui)).show(ui, |ui| {
        ui.take_available_width();
        egui::ScrollArea::horizontal().id_salt(name).auto_shrink([false, true]).show(ui, |ui| {
            Grid::new(name).striped(true).spacing([theme::SPACE_4, theme::SPACE_1]).show(ui, rows);
            // for the bar, which lies over what is there
            ui.add_space(theme::SPACE_2);
        });
        below(ui);
    });
}

/// What is said under a table, small.
pub fn note_ui(ui: &mut Ui, text: &str) {
    let text = RichText::new(text).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak);
    ui.add(egui::Label::new(text).wrap().selectable(true));
}

/// A number stands at the right of its cell, so that digits stand under digits.
pub fn right_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> Response) {
    ui.with_layout(Layout::right_to_left(Align::Center), content);
}

/// A number with so many digits, or a dash where there is none.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "\u{2013}".to_owned(), |value| format!("{value:.digits$}"))
}

/// A model's mark and its name, cut where it is long.
pub fn name_ui(ui: &mut Ui, place: usize, name: &str) {
    ui.horizontal(|ui| {
        chart::mark_ui(ui, place);
        let colour = theme::tokens(ui).text;
        let text = labels::galley(ui.painter(), name, &theme::body(), colour, NAME);
        ui.label(text).on_hover_text(name);
    });
}
