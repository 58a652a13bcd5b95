//! The views of the window. Its edges belong to every page, the middle to the page that is shown.

pub mod beam;
pub mod first;
pub mod help;
pub mod lesson;
pub mod manual;
pub mod offers;
pub mod presentation;
pub mod settings;
pub mod sheets;
pub mod status;
pub mod tabs;
pub mod top_bar;

use crate::pages::training::view as training;
use crate::pages::{sentence::view::figure_sheet::PICTURE, shell::local::Window};
use crate::widgets::{keep, theme};
use crate::{app::command::WindowCommand, session::state::Session};

pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>, session: &Session) {
    let (lessons, page) = (session.lessons(), session.pages().get(window.app.view.page));
    window.local.lit.clear();
    if presentation::is_shown(window, page) {
        if lessons.open().is_some() {
            lesson::lessons_ui(ui, window, lessons, session.steps());
        }
        let room = egui::CentralPanel::default().frame(middle(ui));
        room.show(ui, |ui| presentation::presentation_ui(ui, window, page));
        lesson::lights_ui(ui, window);
        return over(ui, window, session);
    }
    top_bar::top_bar_ui(ui, window);
    status::status_ui(ui, window);
    manual::manual_ui(ui, window);
    lesson::lessons_ui(ui, window, lessons, session.steps());
    page.edges_ui(ui, window);
    egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| {
        let room = ui.available_rect_before_wrap();
        page.middle_ui(ui, window);
        first::first_ui(ui, room, window);
    });
    lesson::lights_ui(ui, window);
    over(ui, window, session);
}

fn over(ui: &mut egui::Ui, window: &mut Window<'_>, session: &Session) {
    if let Some(figure) = keep::take(ui.ctx()) {
        let name = figure.file();
        window.push(WindowCommand::KeepFigure(figure));
        window.ask(PICTURE.then(WindowCommand::SaveFigure).named(name));
    }
    sheets::sheets_ui(ui, window);
    training::new_training_ui(ui, session.training(), window);
    session.pages().each().into_iter().for_each(|page| page.over_ui(ui, window));
    help::help_ui(ui, window);
    offers::offers_ui(ui, window);
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
