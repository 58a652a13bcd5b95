//! Floor 9: the views, one file each, in the table [`VIEWS`]. A view reads the session and pushes commands.

pub mod alignment;
pub mod beam;
pub mod column;
pub mod columns;
pub mod context;
pub mod facts;
pub mod help;
pub mod inspector;
pub mod output;
pub mod picture_bar;
pub mod sentences;
pub mod settings;
pub mod sheets;
pub mod source;
pub mod status;
pub mod top_bar;

use crate::ui::local::Screen;

/// Where in the window a view stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the top, across the window.
    Top,
    /// At the bottom, across the window.
    Bottom,
    /// At the left.
    Left,
    /// At the bottom, beside the left.
    BottomInside,
    /// What is left, from top to bottom.
    Middle,
    /// Over everything.
    Over,
}

/// A part of the window.
pub trait View: Sync {
    /// What it is called in tests and for screen readers.
    fn name(&self) -> &'static str;
    /// Where it stands.
    fn place(&self) -> Place;
    /// Paints it and pushes what the user did.
    fn ui(&self, ui: &mut egui::Ui, screen: &mut Screen<'_>);
}

/// Every view, from the edges of the window inwards.
pub const VIEWS: &[&dyn View] = &[
    &top_bar::TopBar,
    &status::Status,
    &sentences::Sentences,
    &inspector::Inspector,
    &source::Source,
    &picture_bar::PictureBar,
    &columns::Columns,
    &sheets::Sheets,
    &help::Help,
];

/// Paints all views.
pub fn show(ui: &mut egui::Ui, screen: &mut Screen<'_>) {
    for view in VIEWS.iter().filter(|view| view.place() != Place::Middle && view.place() != Place::Over) {
        view.ui(ui, screen);
    }
    egui::CentralPanel::default().frame(middle()).show(ui, |ui| {
        for view in VIEWS.iter().filter(|view| view.place() == Place::Middle) {
            view.ui(ui, screen);
        }
    });
    for view in VIEWS.iter().filter(|view| view.place() == Place::Over) {
        view.ui(ui, screen);
    }
}

fn middle() -> egui::Frame {
    egui::Frame::new().inner_margin(egui::Margin::same(crate::ui::theme::SPACE_3 as i8))
}
