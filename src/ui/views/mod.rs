//! Floor 10: the views, one file each, in the table [`VIEWS`]. A view reads the session and pushes commands.
//!
//! The edges of the window belong to every page, what stands between them to one page.

pub mod alignment;
pub mod beam;
pub mod change;
pub mod changes;
pub mod column;
pub mod columns;
pub mod context;
pub mod ensemble;
pub mod evaluation;
pub mod facts;
pub mod figure_sheet;
pub mod help;
pub mod inspector;
pub mod interventions;
pub mod lesson;
pub mod links;
pub mod manual;
pub mod map;
pub mod map_settings;
pub mod map_side;
pub mod measured;
pub mod menu;
pub mod new_training;
pub mod offers;
pub mod output;
pub mod phrases;
pub mod picture_bar;
pub mod presentation;
pub mod rows;
pub mod sentences;
pub mod settings;
pub mod sheets;
pub mod source;
pub mod status;
pub mod steps;
pub mod tabs;
pub mod task;
pub mod top_bar;
pub mod tree;
pub mod variant;
pub mod view;
pub mod what_if;
pub mod workbench;

use crate::session::command::WindowCommand;
use crate::ui::dialogs::Question;
use crate::ui::local::{Sheet, Window};
use crate::ui::theme;
use crate::ui::views::view::{Place, View};
use crate::ui::widgets::keep;

/// Every view, from the edges of the window inwards.
pub const VIEWS: &[&dyn View] = &[
    &top_bar::TopBar,
    &status::Status,
    &manual::Manual,
    &lesson::Lessons,
    &sentences::Sentences,
    &inspector::Inspector,
    &source::Source,
    &picture_bar::PictureBar,
    &interventions::Interventions,
    &columns::Columns,
    &evaluation::Evaluation,
    &map::Map,
    &phrases::Phrases,
    &steps::Steps,
    &workbench::Workbench,
    &sheets::Sheets,
    &new_training::NewTraining,
    &figure_sheet::FigureSheet,
    &what_if::WhatIf,
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
    for view in views().filter(|view| !view.place().is_middle() && view.place() != Place::Over) {
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
        window.local.dialogs.picture = figure.file();
        window.push(WindowCommand::KeepFigure(figure));
        window.local.sheet = Sheet::Ask(Question::Figure);
    }
    for view in VIEWS.iter().filter(|view| view.place() == Place::Over) {
        view.ui(ui, window);
    }
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}
