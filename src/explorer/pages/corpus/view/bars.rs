//! Groups of bars, a bar for each system, each of which leads to its sentences. A leaf.

use egui::accesskit::Role;
use egui::{Align2, Rect, RichText, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::widgets::theme;
use figure::axes::ticks;

pub const HEIGHT: f32 = 150.0;
const LINE: f32 = 16.0;
/// A number stands over a bar where it has so much room, points.
const ROOM: f32 = 26.0;
/// Share of a group that is left free.
const GAP: f32 = 0.22;
const AXIS: f32 = 38.0;
const TICKS: usize = 4;

/// A bar.
pub struct GroupBar {
    pub value: f64,
    pub text: String,
    pub label: String,
    /// Of which system, by its place.
    pub series: usize,
    /// What shows its sentences.
    pub condition: String,
}

/// Bars that belong together.
pub struct BarGroup {
    pub name: String,
    /// In order of systems; `None` where there is no number.
    pub bars: Vec<Option<GroupBar>>,
}

/// Draws them over an axis whose numbers `tick` writes with their unit; gives the condition of the one that was clicked.
pub fn bars_ui(ui: &mut Ui, name: &str, tick: &dyn Fn(f64) -> String, groups: &[BarGroup]) -> Option<String> {
    let t = theme::tokens(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let plot =
        Rect::from_min_max(pos2(rect.left() + AXIS, rect.top() + LINE), pos2(rect.right(), rect.bottom() - LINE));
    let values = || groups.iter().flat_map(|group| group.bars.iter().flatten()).map(|bar| bar.value);
    let most = values().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let wide = plot.width() / groups.len().max(1) as f32;
    let mut clicked = None;
    for value in ticks(0.0, most, TICKS) {
        let y = plot.bottom() - (value / most) as f32 * plot.height();
        ui.painter().hline(plot.x_range(), y, Stroke::new(1.0, t.line));
        let at = pos2(plot.left() - 4.0, y);
        ui.painter().text(at, Align2::RIGHT_CENTER, tick(value), theme::small(), t.weak);
    }
    for (n, group) in groups.iter().enumerate() {
        let left = plot.left() + n as f32 * wide;
        let each = wide * (1.0 - GAP) / group.bars.len().max(1) as f32;
        for (k, bar) in group.bars.iter().enumerate() {
            let Some(bar) = bar else { continue };
            let from = left + wide * GAP / 2.0 + k as f32 * each;
            let height = (bar.value / most) as f32 * plot.height();
            let room = Rect::from_min_max(pos2(from, rect.top()), pos2(from + each, plot.bottom()));
            let response = ui.interact(room, ui.scope_id().with((name, n, k)), Sense::click());
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &bar.label));
            if response.hovered() || response.has_focus() {
                ui.painter().rect_filled(room, 0.0, t.raised);
            }
            let painted = Rect::from_min_max(
                pos2(from, plot.bottom() - height.max(1.0)),
                pos2((from + each - 1.0).max(from + 1.0), plot.bottom()),
            );
            ui.painter().rect_filled(painted, 1.0, theme::series(ui, bar.series));
            if each >= ROOM {
                let at = pos2(painted.center().x, painted.top() - 1.0);
                ui.painter().text(at, Align2::CENTER_BOTTOM, &bar.text, theme::small(), t.weak);
            }
            if response.has_focus() {
                ui.painter().rect_stroke(room, 0.0, Stroke::new(1.5, t.accent), StrokeKind::Inside);
            }
            if response.clicked() {
                clicked = Some(bar.condition.clone());
            }
            response.on_hover_ui(|ui| {
                ui.label(&bar.label);
                ui.label(RichText::new(tr!("Click: {}", bar.condition)).size(theme::TEXT_SMALL).weak());
            });
        }
        let at = pos2(left + wide / 2.0, rect.bottom());
        ui.painter().text(at, Align2::CENTER_BOTTOM, &group.name, theme::small(), t.weak);
    }
    clicked
}

pub fn legend_ui<'a>(ui: &mut Ui, names: impl Iterator<Item = &'a str>) {
    for (at, name) in names.enumerate() {
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter().rect_filled(rect, 2.0, theme::series(ui, at));
        ui.label(RichText::new(format!("{}. {name}", at + 1)).size(theme::TEXT_SMALL));
    }
}
