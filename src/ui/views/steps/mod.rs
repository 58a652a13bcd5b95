//! Floor 10: the page Steps: the model as a machine through which the sentence flows, one decoder step after the other.

mod machine;
mod player;
mod rows;
mod stage;

use egui::{Label, Panel, RichText, Ui};

use crate::session::Page;
use crate::session::lessons::lights::Lit;
use crate::ui::local::Window;
use crate::ui::theme;
use crate::ui::views::source;
use crate::ui::views::view::{Place, View};

/// The page Steps.
pub struct Steps;

/// Narrower than this the open box covers the machine, points.
const NARROW: f32 = 760.0;
/// Width of what stands beside the machine, points.
const SIDE: f32 = 400.0;
/// Of the height beside the machine, what the heatmap gets while a box is open.
const ROWS_SHARE: f32 = 0.42;

impl View for Steps {
    fn name(&self) -> &'static str {
        "Page Steps"
    }

    fn place(&self) -> Place {
        Place::Page(Page::Steps)
    }

    fn ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        page_ui(ui, window, false);
    }
}

/// The page; in a presentation without what is set before one begins.
pub fn page_ui(ui: &mut Ui, window: &mut Window<'_>, presents: bool) {
    player::keys(ui, window);
    player::tick(ui, window);
    if !presents {
        let card = theme::card(theme::tokens(ui)).inner_margin(egui::Margin::symmetric(12, 6));
        let shown = card.show(ui, |ui| {
            ui.take_available_width();
            source::editor_ui(ui, window);
        });
        window.part(ui, Lit::Source, "", shown.response.rect);
        ui.add_space(theme::SPACE_1);
        part_ui(ui, window, Lit::Choices, player::choices_ui);
    }
    message_ui(ui, window);
    let Some(apart) = window.session.steps().apart.clone() else {
        empty_ui(ui, window);
        return;
    };
    if presents {
        player::name_ui(ui, window, &apart);
    }
    part_ui(ui, window, Lit::Words, |ui, window| player::words_ui(ui, window, &apart));
    part_ui(ui, window, Lit::Player, |ui, window| player::player_ui(ui, window, &apart));
    ui.add_space(theme::SPACE_1);
    let is_open = window.session.steps().open.is_some();
    let is_alone = presents || ui.available_width() < NARROW;
    if is_alone && !is_open && window.session.steps().hides(window.session.steps().i) {
        rows::guess_ui(ui, window, &apart);
    }
    if ui.available_width() < NARROW {
        if is_open {
            stage::stage_ui(ui, window, &apart);
        } else {
            machine::machine_ui(ui, window, &apart);
        }
        return;
    }
    let has_side = is_open || (!presents && apart.aligns);
    if has_side {
        let side = Panel::right("steps_side").resizable(true).default_size(SIDE).size_range(260.0..=760.0);
        let frame = egui::Frame::new().inner_margin(egui::Margin { left: 12, right: 0, top: 0, bottom: 0 });
        side.frame(frame).show_separator_line(false).show(ui, |ui| {
            let height = ui.available_height();
            if is_open && apart.aligns && !presents {
                let top = Panel::top("steps_rows").exact_size(ROWS_SHARE * height).show_separator_line(false);
                top.frame(egui::Frame::new()).show(ui, |ui| rows::rows_ui(ui, window, &apart));
            }
            if is_open { stage::stage_ui(ui, window, &apart) } else { rows::rows_ui(ui, window, &apart) }
        });
    }
    machine::machine_ui(ui, window, &apart);
}

/// A part that a lesson can light.
fn part_ui(ui: &mut Ui, window: &mut Window<'_>, lit: Lit, paint: impl FnOnce(&mut Ui, &mut Window<'_>)) {
    let shown = ui.scope(|ui| paint(ui, window));
    window.part(ui, lit, "", shown.response.rect);
}

fn message_ui(ui: &mut Ui, window: &Window<'_>) {
    let Some(message) = &window.session.steps().message else { return };
    let t = theme::tokens(ui);
    let frame = egui::Frame::new().fill(t.error_soft).corner_radius(theme::RADIUS).inner_margin(egui::Margin::same(8));
    frame.show(ui, |ui| ui.add(Label::new(RichText::new(message).color(t.error)).wrap()));
}

/// What to do while there is nothing to see.
fn empty_ui(ui: &mut Ui, window: &Window<'_>) {
    let session = window.session;
    let column = session.steps().column(session);
    let note = match column {
        None => "There is no model yet. Add one with + Model above; of an ensemble nothing can be taken apart.",
        Some(_) if session.source().trim().is_empty() => {
            "Type a sentence above, and the model shows how it translates it."
        }
        Some(_) if session.steps().message.is_some() => "",
        Some(_) => "The machine appears here as soon as the sentence is translated.",
    };
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading("A model, step by step");
        ui.label(RichText::new(note).color(theme::tokens(ui).weak));
    });
}
