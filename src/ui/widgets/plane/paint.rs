//! Floor 9: the plane as pixels: points, rings around what is marked, labels, the tooltip.

use std::sync::Arc;

use egui::{Color32, Pos2, Rect, Response, RichText, Shape, Stroke, StrokeKind, Ui};

use crate::session::maps::{Chart, Kind};
use crate::ui::widgets::labels;
use crate::ui::widgets::labels::plural;
use crate::ui::widgets::plane::Plane;
use crate::ui::widgets::plane::layout::Labels;
use crate::ui::{bidi, theme};

/// Widest label, points.
const WIDEST: f32 = 190.0;
/// Opacity of points that are not looked for.
const ASIDE: f32 = 0.25;

/// Height of a label.
pub fn label_height(ui: &Ui) -> f32 {
    ui.ctx().fonts_mut(|fonts| fonts.row_height(&theme::small()))
}

/// Width of a label.
pub fn label_width(ui: &Ui, text: &str) -> f32 {
    labels::galley(ui.painter(), text, &theme::small(), Color32::PLACEHOLDER, WIDEST).size().x
}

/// Points, rings and labels.
pub fn plane(
    ui: &Ui,
    plane: &Plane<'_>,
    view: Rect,
    feet: &[Pos2],
    placed: &Labels,
    under: Option<usize>,
    closeness: f32,
) {
    let t = theme::tokens(ui);
    let painter = ui.painter().with_clip_rect(view);
    painter.rect(view, theme::RADIUS, t.panel, Stroke::new(1.0, t.line), StrokeKind::Inside);
    let dark = ui.visuals().dark_mode;
    let radius = radius(feet.len(), closeness);
    let is_special = |at: usize| plane.selected == Some(at) || plane.near.contains(&at);
    let mut stands_out = vec![plane.matches.is_empty() && plane.selected.is_none(); feet.len()];
    for at in plane.matches.iter().chain(plane.near).chain(&plane.selected) {
        if let Some(flag) = stands_out.get_mut(*at) {
            *flag = true;
        }
    }
    let near = view.expand(radius);
    let dot = |at: usize| {
        let colour = theme::point(dark, (plane.shade)(at));
        let colour = if stands_out[at] { colour } else { colour.gamma_multiply(ASIDE) };
        Shape::circle_filled(feet[at], radius, colour)
    };
    let in_view = || (0..feet.len()).filter(|at| near.contains(feet[*at]));
    // What stands out is painted over what does not.
    painter.extend(in_view().filter(|at| !stands_out[*at]).map(dot));
    painter.extend(in_view().filter(|at| stands_out[*at]).map(dot));
    for at in in_view().filter(|at| is_special(*at)) {
        painter.circle_stroke(feet[at], radius + 2.5, Stroke::new(1.5, t.accent));
    }
    for at in [under, plane.selected].into_iter().flatten().filter(|at| *at < feet.len()) {
        painter.circle_stroke(feet[at], radius + 4.0, Stroke::new(2.0, t.mark));
    }
    for &(at, rect) in &placed.placed {
        let is_strong = is_special(at) || under == Some(at);
        let colour = match stands_out.get(at) {
            _ if is_strong => t.accent,
            Some(true) => t.text,
            _ => t.weak.gamma_multiply(0.6),
        };
        // A little of the ground behind the letters keeps them apart from the points.
        painter.rect_filled(rect.expand(1.0), 2.0, t.panel.gamma_multiply(0.72));
        let galley = labels::galley(&painter, &plane.chart.points[at].text, &theme::small(), colour, WIDEST);
        painter.galley(rect.min, galley, colour);
    }
}

/// The frame while the plane has the keyboard.
pub fn focus(ui: &Ui, view: Rect) {
    let stroke = Stroke::new(2.0, theme::tokens(ui).accent);
    ui.painter().rect_stroke(view, theme::RADIUS, stroke, StrokeKind::Inside);
}

/// Many points are small ones; coming closer makes them larger.
fn radius(count: usize, closeness: f32) -> f32 {
    let first = if count > 2_000 {
        2.2
    } else if count > 300 {
        3.0
    } else {
        4.0
    };
    (first * closeness.max(1.0).powf(0.25)).min(6.0)
}

/// A point in a line, such as `house, rank 120`.
pub fn describe(chart: &Chart, at: usize) -> String {
    let Some(point) = chart.points.get(at) else { return String::new() };
    match chart.kind {
        Kind::SourceWords | Kind::TargetWords => format!("{}, rank {}", point.text, at + 1),
        Kind::Phrases => format!("{}, line {}", point.text, point.number),
        Kind::Annotations => format!("{}, position {}", point.text, point.number),
    }
}

/// What is known of a point besides its text.
pub fn facts(chart: &Chart, at: usize) -> String {
    let Some(point) = chart.points.get(at) else { return String::new() };
    match chart.kind {
        Kind::SourceWords | Kind::TargetWords => {
            format!("id {}, rank {}, {}", point.number, at + 1, plural(point.length, "letter"))
        }
        Kind::Phrases => format!("line {}, {}", point.number, plural(point.length, "word")),
        Kind::Annotations => format!("position {}, {}", point.number, plural(point.length, "letter")),
    }
}

/// A point's text and facts beside the mouse.
pub fn tooltip(response: &Response, chart: &Arc<Chart>, at: usize) {
    let Some(point) = chart.points.get(at) else { return };
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.set_max_width(360.0);
        ui.label(RichText::new(bidi::visual(&point.text)).size(theme::TEXT_TITLE));
        ui.label(RichText::new(facts(chart, at)).color(theme::tokens(ui).weak));
    });
}
