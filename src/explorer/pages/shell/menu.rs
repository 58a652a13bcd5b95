//! An act of the table as a line of a menu or a button. A leaf.

use egui::{Button, Response, Ui};

use crate::pages::{shell::act::Act, shell::local::Window};
use crate::widgets::labels;

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

/// A button of a menu; the menu closes when it is clicked.
pub fn entry(ui: &mut Ui, text: &str) -> Response {
    let button = ui.button(text);
    if button.clicked() {
        ui.close();
    }
    button
}

pub fn act_button(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = wanted.key_text(ui.ctx());
    if labels::small_button(ui, name).on_hover_text(key).clicked() {
        window.local.acts.push(wanted);
    }
}
