//! What the lists have in common: the ground of a row, and the arrow keys that move through the rows. A leaf.

use egui::{Color32, EventFilter, Key, Modifiers, Rect, Response, Stroke, StrokeKind, Ui};

use crate::widgets::theme;

const RING: f32 = 1.5;

/// The background of a row: selected, else `other`, else hovered.
pub fn ground(ui: &Ui, response: &Response, is_chosen: bool, other: Option<Color32>) -> Color32 {
    let t = theme::tokens(ui);
    match other {
        _ if is_chosen => t.accent_soft,
        Some(other) => other,
        None if response.hovered() => t.raised,
        None => Color32::TRANSPARENT,
    }
}

/// Rows that the arrow keys move down; up is negative.
pub fn arrows(ui: &Ui) -> isize {
    ui.input_mut(|input| {
        let mut presses = |key| input.count_and_consume_key(Modifiers::NONE, key) as isize;
        presses(Key::ArrowDown) - presses(Key::ArrowUp)
    })
}

/// As [`arrows`] for a list that has the keyboard.
pub fn keys(ui: &Ui, list: &Response) -> isize {
    if !list.has_focus() {
        return 0;
    }
    let filter = EventFilter { vertical_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(list.id, filter));
    arrows(ui)
}

pub fn ring(ui: &Ui, list: &Response, place: Rect, radius: f32) {
    if list.has_focus() {
        ui.painter().rect_stroke(place, radius, Stroke::new(RING, theme::tokens(ui).accent), StrokeKind::Inside);
    }
}
