//! The views of the window. Its edges belong to every page, the middle to the page that is shown.

pub mod help;
pub mod lesson;
pub mod manual;
pub mod offers;
pub mod presentation;
pub mod settings;
pub mod sheets;
pub mod status;
pub mod top_bar;

use egui::{Button, Rect, RichText, Ui, UiBuilder, pos2, vec2};

use crate::app::page::{Page, SENTENCE};
use crate::pages::training::view as training;
use crate::pages::{
    lesson::LessonCommand, sentence::view::figure_sheet::PICTURE, shell::act::Act, shell::local::Window, shell::menu,
};
use crate::widgets::{keep, theme};
use crate::{app::command::WindowCommand, session::state::Session};
use engine::lang;

pub fn show(ui: &mut egui::Ui, window: &mut Window<'_>, session: &Session) {
    let (lessons, page) = (session.lessons(), session.pages.get(window.app.view.page));
    window.local.lit.clear();
    if presentation::is_shown(window, page) {
        if lessons.open().is_some() || !window.local.presents {
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
        first_ui(ui, room, window);
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
    sheets::copy_ui(ui, window);
    training::new_training_ui(ui, session.training(), window);
    session.pages.each().into_iter().for_each(|page| page.over_ui(ui, window));
    help::help_ui(ui, window);
    offers::offers_ui(ui, window);
}

fn middle(ui: &egui::Ui) -> egui::Frame {
    let margin = if theme::is_squat(ui) { theme::SPACE_1 } else { theme::SPACE_3 };
    egui::Frame::new().inner_margin(egui::Margin::same(margin as i8))
}

const OFFERED: &[(&str, &str, Page)] = &[
    #[cfg(not(target_family = "wasm"))]
    (
        id!("Open a corpus"),
        id!("Thousands of sentences, several systems beside each other"),
        crate::pages::corpus::CORPUS,
    ),
];

const WIDTH: f32 = 560.0;
const DOWN: f32 = 0.6;

/// Pages that are suggested over the empty `room`, so that nothing moves when a sentence is typed.
fn first_ui(ui: &mut Ui, room: Rect, window: &mut Window<'_>) {
    let document = &window.app.document;
    let is_empty = document.source().trim().is_empty() || document.columns.is_empty();
    if window.app.view.page != SENTENCE || !is_empty {
        return;
    }
    let place = Rect::from_min_size(
        pos2((room.center().x - WIDTH / 2.0).max(room.left() + theme::SPACE_3), room.top() + DOWN * room.height()),
        vec2(WIDTH.min(room.width() - 2.0 * theme::SPACE_3), 0.3 * room.height()),
    );
    ui.scope_builder(UiBuilder::new().id_salt("first").max_rect(place), |ui| {
        theme::card(theme::tokens(ui)).inner_margin(egui::Margin::same(12)).show(ui, |ui| offers_ui(ui, window));
    });
}

fn offers_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(tr!("Begin with")).color(theme::tokens(ui).weak));
        if !window.lights.is_shown
            && big(ui, tr!("Lessons"), tr!("Guided pages of ten minutes that use the program itself"))
        {
            window.push(LessonCommand::Show(true));
        }
        if window.app.document.columns.is_empty() {
            menu::act_button(ui, window, tr!("Add a model..."), Act::AddModel);
        }
        if big(ui, tr!("Type a sentence"), tr!("The models translate it while you type")) {
            window.local.acts.push(Act::FocusSource);
        }
        for (name, about, page) in OFFERED {
            if big(ui, lang::text(name), lang::text(about)) {
                window.push(WindowCommand::ShowPage(*page));
            }
        }
    });
}

fn big(ui: &mut Ui, name: &str, about: &str) -> bool {
    ui.add(Button::new(RichText::new(name).size(theme::TEXT_OUTPUT))).on_hover_text(about).clicked()
}
