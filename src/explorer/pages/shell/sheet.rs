//! What sheets with a path have in common: a file that is there is not written over unasked.

use std::path::{Path, PathBuf};

use egui::{Id, Margin, Modal, ModalResponse, RichText, Ui, Vec2};

use crate::pages::shell::local::{SharedMemory, Window};
use crate::widgets::theme;

impl SharedMemory {
    /// Whether the file may be written: it does not exist, or the user was already asked. Otherwise asks from now on.
    pub fn may_write(&mut self, path: &str) -> bool {
        let is_asked = self.is_asked(path);
        self.replaces = (!is_asked && Path::new(path).is_file()).then(|| PathBuf::from(path));
        self.replaces.is_none()
    }

    fn is_asked(&self, path: &str) -> bool {
        self.replaces.as_deref() == Some(Path::new(path))
    }
}

/// The path that was typed; in a browser, which has none, the name with which it is saved where nothing was typed.
pub fn typed(window: &Window<'_>, name: &str) -> String {
    let path = window.local.shared.path.trim();
    if path.is_empty() && cfg!(target_family = "wasm") { name.to_owned() } else { path.to_owned() }
}

/// What stands in the field where nothing was typed.
pub fn hint(name: &str) -> String {
    if cfg!(target_family = "wasm") { name.to_owned() } else { tr!("a path, such as {name}", name) }
}

/// Warns that the file would be replaced if [`Sheet`](super::local::Sheet) asks that; returns whether it does.
pub fn replaces_ui(ui: &mut Ui, window: &Window<'_>, path: &str) -> bool {
    let is_asked = window.local.shared.is_asked(path);
    if is_asked {
        let note = tr!("{path} is there already, and would be written over", path);
        ui.label(RichText::new(note).color(theme::tokens(ui).error));
    }
    is_asked
}

/// A sheet over the window, at most `width` points wide; its content gets the size of the window.
pub fn modal<R>(ui: &Ui, name: &str, width: f32, content: impl FnOnce(&mut Ui, Vec2) -> R) -> ModalResponse<R> {
    let frame = theme::card(theme::tokens(ui)).inner_margin(Margin::same(24));
    let room = ui.ctx().content_rect().size();
    Modal::new(Id::unique(name)).frame(frame).show(ui.ctx(), |ui| {
        ui.set_width(width.min(room.x - 80.0));
        content(ui, room)
    })
}
