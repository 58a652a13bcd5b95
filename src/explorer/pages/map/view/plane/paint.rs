//! The words of the plane: sizes of labels, what is said of a point, the tooltip.

use std::sync::Arc;

use egui::{Color32, Rect, Response, RichText, Stroke, StrokeKind, Ui};

use crate::pages::map::{PointKind, VectorMap};
use crate::widgets::{bidi, labels, theme};
use figure::plane::WIDEST;

pub fn label_width(ui: &Ui, text: &str) -> f32 {
    labels::galley(ui.painter(), text, &theme::small(), Color32::PLACEHOLDER, WIDEST).size().x
}

pub fn focus(ui: &Ui, view: Rect) {
    let stroke = Stroke::new(2.0, theme::tokens(ui).accent);
    ui.painter().rect_stroke(view, theme::RADIUS, stroke, StrokeKind::Inside);
}

/// A point in a line, such as `house, rank 120`.
pub fn describe(chart: &VectorMap, at: usize) -> String {
    let Some(point) = chart.points.get(at) else { return String::new() };
    match chart.kind {
        PointKind::SourceWords | PointKind::TargetWords => tr!("{}, rank {}", point.text, at + 1),
        PointKind::Phrases => tr!("{}, line {}", point.text, point.number),
        PointKind::Annotations => tr!("{}, position {}", point.text, point.number),
    }
}

pub fn facts(chart: &VectorMap, at: usize) -> String {
    let Some(point) = chart.points.get(at) else { return String::new() };
    match chart.kind {
        PointKind::SourceWords | PointKind::TargetWords => {
            tr!("id {}, rank {}, {n} letter" | "id {}, rank {}, {n} letters" % point.length, point.number, at + 1)
        }
        PointKind::Phrases => tr!("line {}, {n} word" | "line {}, {n} words" % point.length, point.number),
        PointKind::Annotations => {
            tr!("position {}, {n} letter" | "position {}, {n} letters" % point.length, point.number)
        }
    }
}

pub fn tooltip(response: &Response, chart: &Arc<VectorMap>, at: usize) {
    let Some(point) = chart.points.get(at) else { return };
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(360.0);
        ui.label(RichText::new(bidi::visual(&point.text)).size(theme::TEXT_TITLE));
        ui.label(RichText::new(facts(chart, at)).color(theme::tokens(ui).weak));
    });
}
