//! Floor 10: words with horizontal bars, for the candidates of a position.

use egui::accesskit::Role;
use egui::{Sense, Ui, WidgetInfo, vec2};

use crate::figure;
use crate::figure::label;
use crate::widgets::marks::Letters;
use crate::widgets::{marks, theme};

/// A row's height, points.
pub const ROW: f32 = 19.0;

/// One bar.
pub struct Bar {
    /// In front of the bar.
    pub text: String,
    /// 0..1.
    pub share: f32,
    /// Behind the bar.
    pub number: String,
    /// What a screen reader says.
    pub label: String,
    /// Drawn in the accent colour.
    pub is_marked: bool,
}

/// Paints the bars one under the other; answers with the one that was clicked. `hint` says what a click does.
pub fn bars(ui: &mut Ui, bars: &[Bar], hint: &str) -> Option<usize> {
    let palette = theme::palette(ui);
    let texts = bars.iter().map(|bar| bar.text.as_str().into());
    let names = label::widest(&Letters(ui), texts).min(ui.available_width() * 0.4) + theme::SPACE_2;
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
        let figure = figure::bars::BarMark { text, share: bar.share, number, is_marked: bar.is_marked };
        marks::paint(ui.painter(), figure.marks(&rect.into(), names, palette));
    }
    clicked
}
