//! An act of the table as a line of a menu or a button. A leaf.

use egui::{Button, Ui};

use crate::pages::{shell::act::Act, shell::local::Window};

/// A menu entry for an act, with its key. It closes the menu, unless the act is usually repeated.
pub fn act_item(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = wanted.key_text(ui.ctx());
    if ui.add(Button::new(name).shortcut_text(key)).clicked() {
        window.local.acts.push(wanted);
        if !matches!(wanted, Act::ZoomIn | Act::ZoomOut) {
            ui.close();
        }
    }
}

pub fn act_button(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = wanted.key_text(ui.ctx());
    if ui.small_button(name).on_hover_text(key).clicked() {
        window.local.acts.push(wanted);
    }
}
