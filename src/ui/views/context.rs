//! Floor 9: what a model without alignment has in its place: one context vector, drawn as it is.

use egui::RichText;
use egui::Ui;

use crate::session::Column;
use crate::ui::theme;
use crate::ui::widgets::strip;

/// Most height for the vector, points.
const STRIP_HEIGHT: f32 = 220.0;

/// Paints c and says that there is nothing else.
pub fn context_ui(ui: &mut Ui, column: &Column) {
    let t = theme::tokens(ui);
    egui::ScrollArea::vertical().id_salt("context").auto_shrink(false).show(ui, |ui| {
        ui.label("One vector for the whole sentence");
        ui.add_space(theme::SPACE_1);
        if let Some(c) = column.context.as_deref().filter(|c| !c.is_empty()) {
            strip::strip(ui, "c", c, STRIP_HEIGHT.min(ui.available_height() * 0.6));
            ui.add_space(theme::SPACE_1);
        }
        ui.add(egui::Label::new("Every word reads the same c; this model has no alignment").wrap());
        let note = "c is made once from the last state of the encoder and goes into every step of the decoder (Cho et al. 2014, section 2.2). \
                    Bars up are positive, bars down negative.";
        ui.add(egui::Label::new(RichText::new(note).size(theme::TEXT_SMALL).color(t.weak)).wrap());
    });
}
