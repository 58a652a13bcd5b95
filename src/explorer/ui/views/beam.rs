//! The width of the beam: in the bar at the top, on a phone in a menu.

use egui::{RichText, Ui};

use crate::pages::{sentence::command::SearchCommand, shell::local::Window};
use crate::{app::lights::HighlightPart, widgets::theme};

/// A screen reader reads typed letters already.
const PHONE: f32 = 560.0;

pub fn is_phone(ui: &Ui) -> bool {
    ui.ctx().content_rect().width() < PHONE
}

pub fn beam_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut beam = window.app.document.state.search.beam;
    let value = ui.add(egui::DragValue::new(&mut beam).range(1..=50).speed(0.1));
    let label = ui.label(RichText::new(tr!("Beam")).color(theme::tokens(ui).weak));
    let value = value
        .labelled_by(label.id)
        .on_hover_text(tr!("How many unfinished translations the search keeps at each step; 1 is greedy"));
    window.part(ui, HighlightPart::BeamSize, "", value.rect.union(label.rect));
    if value.changed() {
        window.push(SearchCommand::SetBeam(beam));
    }
}
