//! An act of the table as a line of a menu or a button. A leaf.

use egui::{Button, Ui};

use crate::pages::shell::act::Act;
use crate::pages::shell::local::Window;

/// A menu's line for an act of the table, with its key. The menu goes, but for what is done several times in a row.
pub fn act_item(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = wanted.key_text(ui.ctx());
    if ui.add(Button::new(name).shortcut_text(key)).clicked() {
        window.local.acts.push(wanted);
        if !matches!(wanted, Act::ZoomIn | Act::ZoomOut) {
            ui.close();
        }
    }
}

/// A small button for an act of the table; the tooltip has its key.
pub fn act_button(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = wanted.key_text(ui.ctx());
    if ui.small_button(name).on_hover_text(key).clicked() {
        window.local.acts.push(wanted);
    }
}
