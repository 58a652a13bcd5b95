//! The first minute: what one can begin with while there is no sentence, or no model.

use egui::{Button, Rect, RichText, Ui, UiBuilder, pos2, vec2};

use crate::app::page::{Page, SENTENCE};
use crate::pages::{lesson::LessonCommand, shell::act::Act, shell::local::Window, shell::menu};
use crate::{app::command::WindowCommand, widgets::theme};
use engine::lang;

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
pub fn first_ui(ui: &mut Ui, room: Rect, window: &mut Window<'_>) {
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
