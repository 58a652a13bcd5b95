//! The line at the bottom: what is going on, how fast, with which model; and what went wrong.

use std::time::Duration;

use egui::{Align2, Area, Id, Order, Panel, Pos2, RichText, Ui, vec2};

use crate::app::{command::WindowCommand, document::column::ColumnState, page::SENTENCE, state::AppState};
use crate::pages::{sentence::view::facts, shell::local::Window, shell::task};
use crate::widgets::{labels, theme};

const NOTICE_SECONDS: f64 = 8.0;
const NOTICE_WIDTH: f32 = 640.0;
const DISMISS: f32 = 76.0;

pub fn status_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    if theme::is_squat(ui) && window.app.view.page == SENTENCE {
        let foot = ui.ctx().content_rect().center_bottom();
        return notices_ui(ui, window, foot);
    }
    let panel = Panel::bottom("status").frame(theme::panel(t).inner_margin(egui::Margin::symmetric(12, 4)));
    let shown = panel.show(ui, |ui| {
        ui.horizontal(|ui| {
            let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
            ui.label(small(activity(window.app)));
            if window.app.document.words_per_second > 0.0 {
                ui.label(
                    small(tr!("{} words/s", format_args!("{:.0}", window.app.document.words_per_second))).color(t.weak),
                );
            }
            if let Some(task) = window.app.tasks.list.first() {
                ui.label(small(task::line(task)).color(t.accent));
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if let Some(facts) = window.app.selected_column().and_then(|column| column.facts.as_ref()) {
                    ui.add(egui::Label::new(small(facts::line(facts)).color(t.weak)).truncate());
                }
            });
        });
    });
    notices_ui(ui, window, shown.response.rect.center_top());
}

pub fn activity(app: &AppState) -> String {
    let count = app.document.columns.len();
    let loading = app.document.columns.iter().filter(|column| matches!(column.state, ColumnState::Loading(_))).count();
    let decoding = app.document.decoding();
    if count == 0 {
        tr!("No model is open").to_owned()
    } else if loading > 0 {
        tr!("Loading {n} model" | "Loading {n} models" % loading)
    } else if decoding > 0 {
        if app.document.columns.iter().any(|column| column.variant.is_some()) {
            tr!(
                "Translating with {decoding} of {n} column" | "Translating with {decoding} of {n} columns" % count,
                decoding
            )
        } else {
            tr!(
                "Translating with {decoding} of {n} model" | "Translating with {decoding} of {n} models" % count,
                decoding
            )
        }
    } else {
        tr!("Ready").to_owned()
    }
}

/// Removes notices of success shown long enough; returns the seconds until the next one goes (`now` in seconds).
pub fn forget_old(window: &mut Window<'_>, now: f64) -> Option<f64> {
    let notices = &window.app.view.notices;
    window.local.notices.retain(|id, _| notices.iter().any(|notice| notice.id == *id));
    let mut next: Option<f64> = None;
    for notice in notices.iter().filter(|notice| !notice.is_error) {
        let left = window.local.notices.entry(notice.id).or_insert(now).max(0.0) + NOTICE_SECONDS - now;
        if left <= 0.0 {
            window.push(WindowCommand::DismissNotice(notice.id));
        } else {
            next = Some(next.map_or(left, |next| next.min(left)));
        }
    }
    next
}

fn notices_ui(ui: &Ui, window: &mut Window<'_>, foot: Pos2) {
    if let Some(left) = forget_old(window, ui.input(|input| input.time)) {
        ui.ctx().request_repaint_after(Duration::from_secs_f64(left));
    }
    if window.app.view.notices.is_empty() {
        return;
    }
    let width = (ui.ctx().content_rect().width() - 2.0 * theme::SPACE_5).clamp(0.0, NOTICE_WIDTH);
    let area = Area::new(Id::unique("notices")).order(Order::Foreground).pivot(Align2::CENTER_BOTTOM);
    area.fixed_pos(foot - vec2(0.0, theme::SPACE_2)).default_width(width).show(ui.ctx(), |ui| {
        ui.set_width(width);
        list_ui(ui, window);
    });
}

fn list_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    let app = window.app;
    // The newest few; older ones come up when these are dismissed.
    for notice in app.view.notices.iter().rev().take(3) {
        let (fill, text) = if notice.is_error { (t.error_soft, t.error) } else { (t.raised, t.text) };
        let frame =
            egui::Frame::new().fill(fill).stroke(egui::Stroke::new(1.0, t.line)).shadow(ui.visuals().popup_shadow);
        let frame = frame.corner_radius(egui::CornerRadius::same(theme::RADIUS));
        frame.inner_margin(egui::Margin::symmetric(12, 6)).show(ui, |ui| {
            ui.horizontal(|ui| {
                let room = (ui.available_width() - DISMISS).max(0.0);
                ui.vertical(|ui| {
                    ui.set_width(room);
                    ui.add(egui::Label::new(RichText::new(&notice.text).color(text)).wrap());
                });
                window.push_if(
                    labels::small_button(ui, tr!("Dismiss")).clicked(),
                    WindowCommand::DismissNotice(notice.id),
                );
            });
        });
    }
}
