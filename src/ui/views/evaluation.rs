//! Floor 9: the page Evaluation: measures models on a test set.

use egui::RichText;
use egui::Ui;

use crate::session::Page;
use crate::ui::local::Screen;
use crate::ui::theme;
use crate::ui::views::Place;
use crate::ui::views::View;
use crate::ui::views::task;

/// The page Evaluation.
pub struct Evaluation;

impl View for Evaluation {
    fn name(&self) -> &'static str {
        "Page Evaluation"
    }

    fn place(&self) -> Place {
        Place::Page(Page::Evaluation)
    }

    fn ui(&self, ui: &mut Ui, screen: &mut Screen<'_>) {
        task::task_ui(ui, screen, screen.session.evaluation.task);
        let weak = theme::tokens(ui).weak;
        ui.vertical_centered(|ui| {
            ui.add_space(ui.available_height() * 0.3);
            ui.heading("Evaluation");
            ui.label(RichText::new("Nothing here yet").color(weak));
        });
    }
}
