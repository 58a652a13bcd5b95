//! Words with horizontal bars, for the candidates of a position.

use egui::accesskit::Role;
use egui::{Sense, Ui, WidgetInfo, vec2};

use crate::widgets::marks::Letters;
use crate::widgets::{marks, theme};
use figure;
use figure::label;

pub const ROW: f32 = 19.0;

/// A bar with its text.
#[derive(Default)]
pub struct Bar {
    pub text: String,
    /// Share of the room for bars; a negative bar goes to the left.
    pub share: f32,
    /// Where 0 is in that room, 0..1.
    pub zero: f32,
    pub number: String,
    pub label: String,
    pub is_marked: bool,
}

/// Paints the bars below each other; returns the one that was clicked. `hint` describes the click.
pub fn bars(ui: &mut Ui, bars: &[Bar], hint: &str) -> Option<usize> {
    let palette = theme::palette(ui);
    let texts = bars.iter().map(|bar| bar.text.as_str().into());
    let names = label::widest(&Letters(ui), texts).min(ui.available_width() * 0.4) + theme::SPACE_2;
    let numbers = bars.iter().map(|bar| bar.number.as_str().into());
    let room = (label::widest(&Letters(ui), numbers) + theme::SPACE_2).min(ui.available_width() * 0.5);
    let mut clicked = None;
    for (n, bar) in bars.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &bar.label));
        if response.clicked() {
            clicked = Some(n);
        }
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect, theme::RADIUS_SMALL, theme::tokens(ui).raised);
        }
        response.on_hover_text(hint);
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let (text, number) = (bar.text.as_str().into(), bar.number.as_str().into());
        let Bar { share, zero, is_marked, .. } = *bar;
        let figure = figure::bars::BarMark { text, share, zero, number, room, is_marked };
        marks::paint(ui.painter(), figure.marks(&rect, names, palette));
    }
    clicked
}
