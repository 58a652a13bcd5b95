//! Floor 13: the views, one file each, in the table [`VIEWS`]. A view reads the session and pushes commands.
//!
//! The edges of the window belong to every page, what stands between them to one page.

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
use crate::pages::sentence::view::figure_sheet;
use crate::pages::window::local::Window;
use crate::pages::window::view::{View, ViewPlace};
use crate::session::lessons::Lessons;
use crate::widgets::{keep, theme};

/// Every view, from the edges of the window inwards.
pub const VIEWS: &[&dyn View] = &[
    &top_bar::TopBar,
    &status::Status,
    &manual::Manual,
    &crate::pages::sentence::view::sentences::SentencesView,
    &crate::pages::sentence::view::inspector::Inspector,
    &crate::pages::sentence::view::source::SourceView,
    &crate::pages::sentence::view::picture_bar::PictureBar,
    &crate::pages::sentence::view::interventions::InterventionsView,
    &crate::pages::sentence::view::columns::ColumnsView,
    &crate::pages::evaluation::view::EvaluationView,
    &crate::pages::map::view::MapView,
    &crate::pages::phrases::view::PhrasesView,
    &crate::pages::steps::view::StepsPageView,
    &crate::pages::corpus::view::CorpusView,
    &sheets::Sheets,
    &crate::pages::training::view::NewTrainingView,
    &crate::pages::sentence::view::figure_sheet::FigureSheet,
    &crate::pages::sentence::view::what_if::WhatIf,
    &help::Help,
    &offers::Offers,
];

/// Paints the views of the page that is shown.
pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>, lessons: &Lessons) {
    window.local.lit.clear();
    if presentation::is_shown(window) {
        egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| presentation::presentation_ui(ui, window));
        return over(ui, window);
    }
    let page = window.app.view.page();
    let views = || VIEWS.iter().filter(|view| view.place().page().is_none_or(|own| own == page));
    for view in views().filter(|view| !view.place().is_middle() && view.place() != ViewPlace::Over) {
        view.ui(ui, window);
        if view.place() == ViewPlace::Right {
            lesson::lessons_ui(ui, window, lessons);
        }
    }
    egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| {
        for view in views().filter(|view| view.place().is_middle()) {
            view.ui(ui, window);
        }
    });
    lesson::lights_ui(ui, window);
    over(ui, window);
}

fn over(ui: &mut egui::Ui, window: &mut Window<'_>) {
    if let Some(figure) = keep::take(ui.ctx()) {
        let name = figure.file();
        window.push(WindowCommand::KeepFigure(figure));
        window.ask(figure_sheet::PICTURE.then(WindowCommand::SaveFigure).named(name));
    }
    for view in VIEWS.iter().filter(|view| view.place() == ViewPlace::Over) {
        view.ui(ui, window);
    }
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
