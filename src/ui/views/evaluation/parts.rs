//! Floor 9: what the parts of page Evaluation have in common. A leaf.

use egui::{RichText, Ui, vec2};

use crate::ui::theme;

/// Widest line of what is said where there is nothing to show, points.
const EMPTY_WIDTH: f32 = 460.0;

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
