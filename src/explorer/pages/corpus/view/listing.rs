//! Lists of words and numbers, each row of which leads to its sentences. A leaf.

use egui::accesskit::Role;
use egui::{
    Align2, EventFilter, Id, Key, Modifiers, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

use crate::widgets::theme;

const LINE: f32 = 20.0;
const NUMBER: f32 = 64.0;
const ROWS: usize = 11;

/// A row.
pub struct ListingRow {
    pub text: String,
    /// Behind it, one for each head.
    pub numbers: Vec<String>,
    pub label: String,
    /// What shows its sentences.
    pub condition: String,
}

#[derive(Clone, Copy, Default)]
struct Cursor {
    /// The row that has it, or had it last.
    row: usize,
    first: usize,
}

/// Draws the rows; returns the condition of the clicked one. Arrows, Page Up/Down, Home and End move the focus.
pub fn listing_ui(
    ui: &mut Ui, id: &str, head: &[(&str, &str)], count: usize, row: impl Fn(usize) -> ListingRow,
) -> Option<String> {
    let width = ui.available_width();
    let t = theme::tokens(ui);
    let numbers = head.len().saturating_sub(1) as f32;
    let right = |n: usize| width - NUMBER * (numbers - 1.0 - n as f32) - theme::SPACE_3;
    let (rect, _) = ui.allocate_exact_size(vec2(width, LINE), Sense::hover());
    for (n, (name, about)) in head.iter().enumerate() {
        let (x, align) = if n == 0 { (4.0, Align2::LEFT_CENTER) } else { (right(n - 1), Align2::RIGHT_CENTER) };
        let at = pos2(rect.left() + x, rect.center().y);
        let place = ui.painter().text(at, align, name, theme::small(), t.weak);
        ui.interact(place, ui.scope_id().with((id, "head", n)), Sense::hover()).on_hover_text(*about);
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, t.line));
    let (mut clicked, mut reached) = (None, None);
    let height = LINE * ROWS as f32;
    let list = ui.scope_id().with(id);
    let mut cursor: Cursor = ui.data(|data| data.get_temp(list)).unwrap_or_default();
    let mut area = ScrollArea::vertical().id_salt(id).max_height(height).min_scrolled_height(height);
    if let Some(first) = moved(ui, list, &mut cursor, count) {
        area = area.vertical_scroll_offset(first as f32 * LINE);
    }
    let area = area.auto_shrink([false, true]);
    ui.spacing_mut().item_spacing.y = 0.0;
    let shown = area.show_rows(ui, LINE, count, |ui, range| {
        ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(LINE * 2.0));
        for n in range {
            let row = row(n);
            let (_, rect) = ui.allocate_space(vec2(width - theme::SPACE_1, LINE));
            let response = ui.interact(rect, list.with(n), Sense::click());
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &row.label));
            if response.hovered() || response.has_focus() {
                ui.painter().rect_filled(rect, 0.0, t.raised);
            }
            if response.has_focus() {
                cursor.row = n;
                reached = response.gained_focus().then_some(rect);
                ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.5, t.accent), StrokeKind::Inside);
            }
            let room = right(0) - NUMBER;
            let text = crate::widgets::labels::galley(ui.painter(), &row.text, &theme::small(), t.text, room);
            let place = pos2(rect.left() + 4.0, rect.center().y - text.size().y / 2.0);
            ui.painter().galley(place, text, t.text);
            for (k, number) in row.numbers.iter().enumerate() {
                let at = pos2(rect.left() + right(k), rect.center().y);
                ui.painter().text(at, Align2::RIGHT_CENTER, number, theme::small(), t.text);
            }
            if response.clicked() {
                clicked = Some(row.condition.clone());
            }
            response.on_hover_ui(|ui| {
                ui.label(&row.label);
                ui.label(RichText::new(tr!("Click: {}", row.condition)).size(theme::TEXT_SMALL).weak());
            });
        }
    });
    if let Some(reached) = reached {
        // What is round the list scrolls too.
        ui.scroll_to_rect(reached, None);
    }
    cursor.first = (shown.state.clamped_offset().y / LINE).ceil() as usize;
    ui.data_mut(|data| data.insert_temp(list, cursor));
    clicked
}

/// Gives the keyboard to the row that the keys ask for; then gives the first row that is to be in view.
fn moved(ui: &Ui, list: Id, cursor: &mut Cursor, count: usize) -> Option<usize> {
    let focused = list.with(cursor.row);
    if !ui.memory(|memory| memory.has_focus(focused)) {
        return None;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(focused, filter));
    let by = asked(ui);
    let to = cursor.row.saturating_add_signed(by).min(count.checked_sub(1)?);
    if to == cursor.row {
        return None;
    }
    cursor.row = to;
    ui.memory_mut(|memory| memory.request_focus(list.with(to)));
    Some(cursor.first.clamp((to + 1).saturating_sub(ROWS), to))
}

/// How many rows down the keys ask to go; up is below 0.
fn asked(ui: &Ui) -> isize {
    const FAR: isize = isize::MAX / 2;
    let keys = [
        (Key::ArrowDown, 1),
        (Key::ArrowUp, -1),
        (Key::PageDown, ROWS as isize),
        (Key::PageUp, -(ROWS as isize)),
        (Key::End, FAR),
        (Key::Home, -FAR),
    ];
    ui.input_mut(|input| {
        let mut by: isize = 0;
        for (key, step) in keys {
            for _ in 0..input.count_and_consume_key(Modifiers::NONE, key) {
                by = by.saturating_add(step);
            }
        }
        by
    })
}
