//! Floor 13: the first minute: what one can begin with while there is no sentence, or no model.

use egui::{Button, RichText, Ui};

use crate::app::command::WindowCommand;
use crate::app::page::SENTENCE;
use crate::pages::corpus::CORPUS;
use crate::pages::lesson::LessonCommand;
use crate::pages::window::act::Act;
use crate::pages::window::local::Window;
use crate::pages::window::menu;
use crate::widgets::theme;

/// Paints what is offered, in one line above the page; nothing once there is something to see.
pub fn first_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let document = &window.app.document;
    let is_empty = document.source().trim().is_empty() || document.columns().is_empty();
    if window.app.view.page() != SENTENCE || !is_empty {
        return;
    }
    theme::card(theme::tokens(ui)).inner_margin(egui::Margin::same(8)).show(ui, |ui| {
        ui.take_available_width();
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("Begin with").color(theme::tokens(ui).weak));
            if !window.lights.is_shown && big(ui, "Lessons", "Guided pages of ten minutes that use the program itself")
            {
                window.push(LessonCommand::Show(true));
            }
            if document.columns().is_empty() {
                menu::act_button(ui, window, "Add a model...", Act::AddModel);
            }
            if big(ui, "Type a sentence", "The models translate it while you type") {
                Act::FocusSource.perform(window);
            }
            if big(ui, "Open a corpus", "Thousands of sentences, several systems beside each other") {
                window.push(WindowCommand::ShowPage(CORPUS));
            }
        });
    });
    ui.add_space(theme::SPACE_2);
}

fn big(ui: &mut Ui, name: &str, about: &str) -> bool {
    ui.add(Button::new(RichText::new(name).size(theme::TEXT_OUTPUT))).on_hover_text(about).clicked()
}
