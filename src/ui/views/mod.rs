//! Floor 13: the views, one file each, of the window, and where those of the pages stand.
//!
//! The edges of the window belong to every page, what stands between them to one page.

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

use crate::app::command::WindowCommand;
use crate::app::page::Page;
use crate::pages::sentence::view::figure_sheet::PICTURE;
use crate::pages::training::NewTraining;
use crate::pages::training::view as training;
use crate::pages::window::local::{View as _, ViewPlace, Window};
use crate::session::lessons::Lessons;
use crate::widgets::{keep, theme};

/// Paints the page that is shown, between the edges of the window.
pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>, lessons: &Lessons, plan: &NewTraining) {
    window.local.lit.clear();
    if presentation::is_shown(window) {
        if lessons.open().is_some() {
            lesson::lessons_ui(ui, window, lessons);
        }
        egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| presentation::presentation_ui(ui, window));
        lesson::lights_ui(ui, window);
        return over(ui, window, plan);
    }
    top_bar::top_bar_ui(ui, window);
    status::status_ui(ui, window);
    manual::manual_ui(ui, window);
    lesson::lessons_ui(ui, window, lessons);
    let shown = window.app.view.page();
    views_ui(ui, window, shown, &[ViewPlace::Left, ViewPlace::Bottom]);
    egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| {
        let room = ui.available_rect_before_wrap();
        views_ui(ui, window, shown, &[ViewPlace::Middle]);
        first::first_ui(ui, room, window);
    });
    lesson::lights_ui(ui, window);
    over(ui, window, plan);
}

/// The views of a page that stand there.
fn views_ui(ui: &mut egui::Ui, window: &mut Window<'_>, page: Page, places: &[ViewPlace]) {
    let state = window.pages.get(page);
    for view in state.views().iter().filter(|view| places.contains(&view.stands())) {
        view.show(ui, state, window);
    }
}

fn over(ui: &mut egui::Ui, window: &mut Window<'_>, plan: &NewTraining) {
    if let Some(figure) = keep::take(ui.ctx()) {
        let name = figure.file();
        window.push(WindowCommand::KeepFigure(figure));
        window.ask(PICTURE.then(WindowCommand::SaveFigure).named(name));
    }
    sheets::sheets_ui(ui, window);
    training::NewTrainingView.ui(ui, plan, window);
    for page in window.pages.list() {
        views_ui(ui, window, page, &[ViewPlace::Over]);
    }
    help::help_ui(ui, window);
    offers::offers_ui(ui, window);
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
