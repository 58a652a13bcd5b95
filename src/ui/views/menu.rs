//! Floor 13: an act of the table as a line of a menu or a button. A leaf.

use egui::{Button, Ui};

use crate::ui::act::Act;
use crate::ui::local::Window;
use crate::ui::{act, shortcuts};

/// A menu's line for an act of the table, with its key.
pub fn act_item(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = shortcuts::text(ui.ctx(), wanted);
    if ui.add(Button::new(name).shortcut_text(key)).clicked() {
        let commands = act::perform(wanted, window.session, window.local);
        window.commands.extend(commands);
    }
}

/// A small button for an act of the table; the tooltip has its key.
pub fn act_button(ui: &mut Ui, window: &mut Window<'_>, name: &str, wanted: Act) {
    let key = shortcuts::text(ui.ctx(), wanted);
    if ui.small_button(name).on_hover_text(key).clicked() {
        let commands = act::perform(wanted, window.session, window.local);
        window.commands.extend(commands);
    }
}
