//! What the pages of the explorer share. It knows no page and no egui.

pub mod catalogue;
pub mod command;
pub mod document;
pub mod files;
pub mod layout;
pub mod lights;
pub mod open_with;
pub mod page;
pub mod settings;
pub mod state;
pub mod tasks;
pub mod view;
