//! Floor 9: the page Phrases: phrase tables.

use egui::RichText;
use egui::Ui;

use crate::session::Page;
use crate::ui::local::Screen;
use crate::ui::theme;
use crate::ui::views::Place;
use crate::ui::views::View;
use crate::ui::views::task;

/// The page Phrases.
pub struct Phrases;

impl View for Phrases {
    fn name(&self) -> &'static str {
        "Page Phrases"
    }

    fn place(&self) -> Place {
        Place::Page(Page::Phrases)
    }

    fn ui(&self, ui: &mut Ui, screen: &mut Screen<'_>) {
        task::task_ui(ui, screen, screen.session.phrases.task);
        let weak = theme::tokens(ui).weak;
        ui.vertical_centered(|ui| {
            ui.add_space(ui.available_height() * 0.3);
            ui.heading("Phrases");
            ui.label(RichText::new("Nothing here yet").color(weak));
        });
    }
}
