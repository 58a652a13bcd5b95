//! The page Steps: the model as a machine through which the sentence flows, one decoder step after the other.

mod beam;
mod guess;
mod machine;
pub mod memory;
mod player;
mod rows;
mod stage;
mod together;
mod worked;

use egui::{Label, Panel, Rect, RichText, ScrollArea, Ui, UiBuilder};

use crate::pages::shell::local::{PageView, Window};
use crate::pages::{
    shell::source, steps::StepsPage, steps::command::StepsCommand, steps::view::memory::StepsMemory,
    steps::view::memory::StepsView,
};
use crate::{app::lights::HighlightPart, jobs::steps::StepTrace, widgets, widgets::theme};
use engine::models::anatomy::MachineStage;

impl PageView for StepsPage {
    fn middle_ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        page_ui(ui, self, window, false);
    }

    fn manual(&self) -> Option<&'static str> {
        Some("steps.md")
    }

    fn escape(&self, window: &mut Window<'_>) {
        window.push(StepsCommand::Open(None));
    }

    fn presents(&self) -> bool {
        true
    }

    fn present_ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        page_ui(ui, self, window, true);
    }
}

/// Below this width the open box covers the machine, points.
const NARROW: f32 = 760.0;
const SIDE: f32 = 400.0;
const SIDE_SHARE: f32 = 0.36;
/// The share of an open box in a low window, where its numbers and what made one are next to each other.
const WIDE_SHARE: f32 = 0.46;
/// Below this height an open box is alone next to the machine, points.
const LOW: f32 = 560.0;
/// A part with less height than this scrolls with the page, points.
const LEAST: f32 = 260.0;
const GAP: f32 = 6.0;

/// The page. A presentation leaves out the settings. A page with too little room scrolls.
pub fn page_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, presents: bool) {
    player::keys(ui, steps, window);
    player::tick(ui, steps, window);
    let room = ui.available_height();
    ScrollArea::vertical().id_salt("steps page").auto_shrink(false).show(ui, |ui| {
        let top = ui.cursor().top();
        above_ui(ui, steps, window, presents);
        let height = (room - (ui.cursor().top() - top)).floor().max(LEAST);
        let rest = Rect::from_min_size(ui.cursor().min, egui::vec2(ui.available_width(), height));
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
            match &steps.trace {
                Some(trace) => below_ui(ui, steps, window, trace),
                None => empty_ui(ui, steps, window),
            }
            ui.expand_to_include_rect(rest);
        });
    });
}

fn above_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, presents: bool) {
    if !presents {
        let card = theme::card(theme::tokens(ui)).inner_margin(egui::Margin::symmetric(12, 6));
        let shown = card.show(ui, |ui| {
            ui.take_available_width();
            source::editor_ui(ui, window);
        });
        window.part(ui, HighlightPart::Source, "", shown.response.rect);
        ui.add_space(theme::SPACE_1);
        part_ui(ui, window, HighlightPart::Choices, |ui, window| player::choices_ui(ui, steps, window));
    }
    message_ui(ui, steps);
    let Some(trace) = &steps.trace else { return };
    if steps.is_old(window.app) {
        ui.set_opacity(theme::STALE_OPACITY);
    }
    part_ui(ui, window, HighlightPart::Words, |ui, window| player::words_ui(ui, steps, window, trace));
    part_ui(ui, window, HighlightPart::Player, |ui, window| {
        ui.horizontal_wrapped(|ui| {
            let is_narrow = ui.available_width() < NARROW;
            player::player_ui(ui, steps, window, trace, presents);
            let is_first = steps.whole().is_some_and(|guessing| !guessing.is_revealed);
            if is_narrow && !is_first {
                views_ui(ui, steps, window, trace);
            }
            if presents {
                player::name_ui(ui, steps, trace);
            }
        });
    });
    story_ui(ui, steps, presents);
    guess::guess_ui(ui, steps, window, trace);
    together::together_ui(ui, steps, window, trace);
}

fn below_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    if together::whole_ui(ui, steps, window, trace) {
        return;
    }
    let is_first = steps.whole().is_some_and(|guessing| !guessing.is_revealed);
    let has_room = steps.open.is_none() && !steps.has_beam;
    if steps.whole().is_some() && has_room && (is_first || ui.available_width() >= NARROW) {
        rows::rows_ui(ui, steps, window, trace);
    } else if ui.available_width() < NARROW {
        one_ui(ui, steps, window, trace);
    } else {
        all_ui(ui, steps, window, trace);
    }
}

fn one_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    if steps.open.is_some() {
        stage::stage_ui(ui, steps, window, trace);
        return;
    }
    match view(steps, window, trace) {
        StepsView::Machine => machine::machine_ui(ui, steps, window, trace),
        StepsView::Rows => rows::rows_ui(ui, steps, window, trace),
        StepsView::Beam => beam::beam_ui(ui, steps, window, trace),
    }
}

fn views(steps: &StepsPage, trace: &StepTrace) -> Vec<(StepsView, &'static str, HighlightPart)> {
    let mut views = vec![(StepsView::Machine, tr!("Machine"), HighlightPart::Machine)];
    if trace.aligns {
        views.push((StepsView::Rows, tr!("Rows"), HighlightPart::Rows));
    }
    if steps.has_beam {
        views.push((StepsView::Beam, tr!("Beam of the step"), HighlightPart::Beam));
    }
    views
}

fn view(steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) -> StepsView {
    let views = views(steps, trace);
    for (view, _, lit) in &views {
        if window.lights.lights(*lit, "") && window.is_lit_anew(*lit, "the part itself") {
            window.local.of::<StepsMemory>().view = *view;
        }
    }
    // a box that is framed is in the machine
    let is_box = |stage: &MachineStage| window.lights.lights(HighlightPart::Box, stage.key);
    if trace.machine.stages.iter().any(is_box) && window.is_lit_anew(HighlightPart::Box, "the part itself") {
        window.local.of::<StepsMemory>().view = StepsView::Machine;
    }
    let chosen = window.local.of::<StepsMemory>().view;
    if views.iter().any(|(view, ..)| *view == chosen) { chosen } else { StepsView::Machine }
}

fn views_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let (views, chosen) = (views(steps, trace), view(steps, window, trace));
    if views.len() < 2 {
        return;
    }
    for (view, name, _) in views {
        if ui.selectable_label(view == chosen, name).clicked() {
            window.local.of::<StepsMemory>().view = view;
            // An open box would stand in its place.
            window.push(StepsCommand::Open(None));
        }
    }
}

fn all_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let (is_open, has_beam) = (steps.open.is_some(), steps.has_beam);
    if is_open || has_beam || trace.aligns {
        let is_wide = is_open && ui.available_height() < LOW;
        let (id, first) = if is_wide {
            ("steps_side_of_a_box", WIDE_SHARE * ui.available_width())
        } else {
            ("steps_side", SIDE.min(SIDE_SHARE * ui.available_width()))
        };
        let side = Panel::right(id).resizable(true).default_size(first).size_range(240.0..=760.0);
        let frame = egui::Frame::new().inner_margin(egui::Margin { left: 12, right: 0, top: 0, bottom: 0 });
        let side = side.frame(frame).show_separator_line(false);
        let content = |ui: &mut Ui| {
            let rooms = rooms(ui.available_rect_before_wrap(), trace.aligns, has_beam, is_open);
            for (n, (part, room)) in [rows::rows_ui, beam::beam_ui, stage::stage_ui].into_iter().zip(rooms).enumerate()
            {
                let Some(room) = room else { continue };
                let builder = UiBuilder::new().id_salt(("steps side", n)).max_rect(room);
                part(&mut ui.new_child(builder), steps, window, trace);
            }
            ui.expand_to_include_rect(ui.max_rect());
        };
        widgets::sized(ui, (id, tr!("Steps")), |ui| side.show(ui, content));
    }
    machine::machine_ui(ui, steps, window, trace);
}

/// Rectangles of the rows, the beam and the open box below each other. If too low, the open box is alone.
fn rooms(rect: Rect, has_rows: bool, has_beam: bool, is_open: bool) -> [Option<Rect>; 3] {
    let is_low = is_open && rect.height() < LOW;
    let shares = [
        if has_rows && !is_low { if has_beam { 0.32 } else { 0.42 } } else { 0.0 },
        if has_beam && !is_low { 0.22 } else { 0.0 },
        if is_open { 0.58 } else { 0.0 },
    ];
    let whole: f32 = shares.iter().sum();
    let mut top = rect.top();
    shares.map(|share| {
        let height = rect.height() * share / whole.max(f32::MIN_POSITIVE);
        let room = Rect::from_x_y_ranges(rect.x_range(), top..=top + (height - GAP).max(0.0));
        top += height;
        (share > 0.0).then_some(room)
    })
}

fn part_ui(ui: &mut Ui, window: &mut Window<'_>, lit: HighlightPart, paint: impl FnOnce(&mut Ui, &mut Window<'_>)) {
    let shown = ui.scope(|ui| paint(ui, window));
    window.part(ui, lit, "", shown.response.rect);
}

fn story_ui(ui: &mut Ui, steps: &StepsPage, presents: bool) {
    let Some(story) = steps.story() else { return };
    // a low projector keeps its room for the machine
    let size = match (presents, theme::is_squat(ui)) {
        (true, true) => egui::TextStyle::Body.resolve(ui.style()).size,
        (true, false) => theme::TEXT_TITLE,
        (false, _) => theme::TEXT_SENTENCE,
    };
    ui.add_space(theme::SPACE_1);
    ui.add(Label::new(RichText::new(story).size(size)).wrap());
    ui.add_space(theme::SPACE_1);
}

fn message_ui(ui: &mut Ui, steps: &StepsPage) {
    let Some(message) = &steps.message else { return };
    let t = theme::tokens(ui);
    let frame = egui::Frame::new().fill(t.error_soft).corner_radius(theme::RADIUS).inner_margin(egui::Margin::same(8));
    frame.show(ui, |ui| ui.add(Label::new(RichText::new(message).color(t.error)).wrap()));
}

fn empty_ui(ui: &mut Ui, steps: &StepsPage, window: &Window<'_>) {
    let app = window.app;
    let column = steps.column(app);
    let note = match column {
        None => tr!("There is no model yet. Add one with + Model above; of an ensemble nothing can be taken apart."),
        Some(_) if app.document.source().trim().is_empty() => {
            tr!("Type a sentence above, and the model shows how it translates it.")
        }
        Some(_) if steps.message.is_some() => "",
        Some(_) => tr!("The machine appears here as soon as the sentence is translated."),
    };
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading(tr!("A model, step by step"));
        ui.label(RichText::new(note).color(theme::tokens(ui).weak));
    });
}
