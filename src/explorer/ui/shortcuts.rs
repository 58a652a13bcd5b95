//! The keyboard: which acts of the table were pressed.

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::pages::shell::local::{cell_id, given_id};
use crate::ui::act::{bindings, works_on};
use crate::{app::page::Page, pages::shell::act::Act};

pub const PAGING: [KeyboardShortcut; 2] =
    [KeyboardShortcut::new(Modifiers::NONE, Key::PageDown), KeyboardShortcut::new(Modifiers::NONE, Key::PageUp)];

/// Acts whose keys were pressed since the last frame. It consumes the keys; text fields other than `source` keep undo.
pub fn pressed(ctx: &egui::Context, source: egui::Id, page: Page, in_lesson: bool) -> Vec<Act> {
    let typing = ctx.text_edit_focused();
    let focused = ctx.memory(egui::Memory::focused);
    let cell = ctx.data(|data| data.get_temp::<egui::Id>(cell_id()));
    let elsewhere = typing && ![Some(source), Some(given_id()), cell].contains(&focused);
    // An open menu closes with Escape by itself.
    let in_menu = egui::Popup::is_any_open(ctx);
    let mut acts = Vec::new();
    ctx.input_mut(|input| {
        // egui's matching ignores an extra Shift or Alt, so Ctrl+Shift+O has to be looked for before Ctrl+O.
        for has_more in [true, false] {
            for binding in bindings() {
                let is_fields_own = elsewhere && matches!(binding.act, Act::Undo | Act::Redo);
                let is_menus_own = in_menu && binding.act == Act::Escape;
                if is_fields_own || is_menus_own || !works_on(binding, page) || typing && !binding.while_typing {
                    continue;
                }
                let is_lessons_own = |key: &KeyboardShortcut| in_lesson && PAGING.contains(key);
                let own = binding.keys.iter().filter(|key| !is_lessons_own(key));
                for key in own.filter(|key| (key.modifiers.shift || key.modifiers.alt) == has_more) {
                    let presses = input.count_and_consume_key(key.modifiers, key.logical_key);
                    acts.extend(std::iter::repeat_n(binding.act, presses));
                }
            }
        }
    });
    acts
}
