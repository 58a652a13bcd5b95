//! Floor 10: what the parts of page Evaluation have in common. A leaf.

use egui::{RichText, Ui, vec2};

use crate::ui::theme;
use crate::ui::widgets::{chart, labels};

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
