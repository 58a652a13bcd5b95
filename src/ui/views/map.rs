//! Floor 9: the page Map: words and phrases in the plane.

use egui::RichText;
use egui::Ui;

use crate::session::Page;
use crate::ui::local::Screen;
use crate::ui::theme;
use crate::ui::views::Place;
use crate::ui::views::View;
use crate::ui::views::task;

/// The page Map.
pub struct Map;

impl View for Map {
    fn name(&self) -> &'static str {
        "Page Map"
    }

    fn place(&self) -> Place {
        Place::Page(Page::Map)
    }

    fn ui(&self, ui: &mut Ui, screen: &mut Screen<'_>) {
        task::task_ui(ui, screen, screen.session.maps.task);
        let weak = theme::tokens(ui).weak;
        ui.vertical_centered(|ui| {
            ui.add_space(ui.available_height() * 0.3);
            ui.heading("Map");
            ui.label(RichText::new("Nothing here yet").color(weak));
        });
    }
}
