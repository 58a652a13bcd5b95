//! Floor 13: the views, one file each, in the table [`VIEWS`]. A view reads the session and pushes commands.
//!
//! The edges of the window belong to every page, what stands between them to one page.

pub mod corpus;
pub mod evaluation;
pub mod help;
pub mod lesson;
pub mod manual;
pub mod map;
pub mod menu;
pub mod offers;
pub mod phrases;
pub mod presentation;
pub mod sentence;
pub mod settings;
pub mod sheets;
pub mod status;
pub mod steps;
pub mod tabs;
pub mod task;
pub mod top_bar;
pub mod training;
pub mod view;

use crate::app::command::WindowCommand;
use crate::ui::local::Window;
use crate::ui::views::view::{View, ViewPlace};
use crate::widgets::{keep, theme};

/// Every view, from the edges of the window inwards.
pub const VIEWS: &[&dyn View] = &[
    &top_bar::TopBar,
    &status::Status,
    &manual::Manual,
    &lesson::LessonsView,
    &sentence::sentences::SentencesView,
    &sentence::inspector::Inspector,
    &sentence::source::SourceView,
    &sentence::picture_bar::PictureBar,
    &sentence::interventions::InterventionsView,
    &sentence::columns::ColumnsView,
    &evaluation::EvaluationView,
    &map::MapView,
    &phrases::PhrasesView,
    &steps::StepsPageView,
    &corpus::CorpusView,
    &sheets::Sheets,
    &training::NewTrainingView,
    &sentence::figure_sheet::FigureSheet,
    &sentence::what_if::WhatIf,
    &help::Help,
    &offers::Offers,
];

/// Paints the views of the page that is shown.
pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>) {
    window.local.lit.clear();
    if presentation::is_shown(window) {
        egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| presentation::presentation_ui(ui, window));
        return over(ui, window);
    }
    let page = window.session.app().view.page();
    let views = || VIEWS.iter().filter(|view| view.place().page().is_none_or(|own| own == page));
    for view in views().filter(|view| !view.place().is_middle() && view.place() != ViewPlace::Over) {
        view.ui(ui, window);
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
        window.ask(sentence::figure_sheet::PICTURE.then(WindowCommand::SaveFigure).named(name));
    }
    for view in VIEWS.iter().filter(|view| view.place() == ViewPlace::Over) {
        view.ui(ui, window);
    }
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
