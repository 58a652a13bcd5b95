//! Floor 11: an act of the table as a line of a menu or a button. A leaf.

use egui::{Button, Ui};

use crate::pages::window::act::Act;
use crate::pages::window::local::Window;
use crate::pages::window::shortcuts;

/// A menu's line for an act of the table, with its key. The menu goes, but for what is done several times in a row.
pub fn act_item(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = shortcuts::text(ui.ctx(), wanted);
    if ui.add(Button::new(name).shortcut_text(key)).clicked() {
        wanted.perform(window);
        if !matches!(wanted, Act::ZoomIn | Act::ZoomOut) {
            ui.close();
        }
    }
}

/// A small button for an act of the table; the tooltip has its key.
pub fn act_button(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = shortcuts::text(ui.ctx(), wanted);
    if ui.small_button(name).on_hover_text(key).clicked() {
        wanted.perform(window);
    }
}
