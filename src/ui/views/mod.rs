//! Floor 13: the views, one file each, of the window, and where those of the pages stand.
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
use crate::app::page::Page;
use crate::pages::corpus::view as corpus;
use crate::pages::evaluation::view as evaluation;
use crate::pages::map::view as map;
use crate::pages::phrases::view as phrases;
use crate::pages::sentence::view as sentence;
use crate::pages::steps::view as steps;
use crate::pages::training::view as training;
use crate::pages::window::local::Window;
use crate::pages::window::view::{AnyView, View as _, ViewPlace};
use crate::session::lessons::Lessons;
use crate::widgets::{keep, theme};

/// The views of the pages, from the edges of the window inwards.
const VIEWS: &[(Page, &[&dyn AnyView])] = &[
    (
        Page::Sentence,
        &[
            &sentence::sentences::SentencesView,
            &sentence::inspector::Inspector,
            &sentence::source::SourceView,
            &sentence::picture_bar::PictureBar,
            &sentence::interventions::InterventionsView,
            &sentence::columns::ColumnsView,
            &sentence::figure_sheet::FigureSheet,
            &sentence::what_if::WhatIf,
        ],
    ),
    (Page::Evaluation, &[&evaluation::EvaluationView]),
    (Page::Map, &[&map::MapView]),
    (Page::Phrases, &[&phrases::PhrasesView]),
    (Page::Steps, &[&steps::StepsPageView]),
    (Page::Workbench, &[&corpus::CorpusView]),
];

/// Paints the page that is shown, between the edges of the window.
pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>, lessons: &Lessons) {
    window.local.lit.clear();
    if presentation::is_shown(window) {
        if lessons.open().is_some() {
            lesson::lessons_ui(ui, window, lessons);
        }
        egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| presentation::presentation_ui(ui, window));
        lesson::lights_ui(ui, window);
        return over(ui, window);
    }
    top_bar::top_bar_ui(ui, window);
    status::status_ui(ui, window);
    manual::manual_ui(ui, window);
    lesson::lessons_ui(ui, window, lessons);
    let shown = window.app.view.page();
    views_ui(ui, window, Some(shown), &[ViewPlace::Left, ViewPlace::Bottom]);
    egui::CentralPanel::default().frame(middle(ui)).show(ui, |ui| {
        views_ui(ui, window, Some(shown), &[ViewPlace::Middle]);
    });
    lesson::lights_ui(ui, window);
    over(ui, window);
}

/// The views of a page, or of all, that stand there.
fn views_ui(ui: &mut egui::Ui, window: &mut Window<'_>, of: Option<Page>, places: &[ViewPlace]) {
    for (page, views) in VIEWS.iter().filter(|(page, _)| of.is_none_or(|of| of == *page)) {
        let state = window.pages.get(*page);
        for view in views.iter().filter(|view| places.contains(&view.stands())) {
            view.show(ui, state, window);
        }
    }
}

fn over(ui: &mut egui::Ui, window: &mut Window<'_>) {
    if let Some(figure) = keep::take(ui.ctx()) {
        let name = figure.file();
        window.push(WindowCommand::KeepFigure(figure));
        window.ask(sentence::figure_sheet::PICTURE.then(WindowCommand::SaveFigure).named(name));
    }
    sheets::sheets_ui(ui, window);
    training::NewTrainingView.ui(ui, &window.pages.training, window);
    views_ui(ui, window, None, &[ViewPlace::Over]);
    help::help_ui(ui, window);
    offers::offers_ui(ui, window);
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
