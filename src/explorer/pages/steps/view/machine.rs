//! The machine: its boxes can be pointed at, opened, and reached by the keyboard.

use egui::accesskit::Role;
use egui::{Id, Rect, Sense, Ui, WidgetInfo};

use crate::pages::{
    shell::local::Window, steps::StepsPage, steps::command::StepsCommand, steps::depth::Depth, steps::picture::held,
    steps::view::memory::StepsMemory,
};
use crate::widgets::{marks, theme};
use crate::{app::lights::HighlightPart, jobs::steps::StepTrace, widgets::marks::WholeLetters};
use engine::lang;
use engine::models::anatomy::MachineStage;
use figure::equation::spoken;
use figure::machine::{MachineDrawing, places};

const TRAVEL: f64 = 0.7;

pub fn machine_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let (_, rect) = ui.allocate_space(ui.available_size());
    let machine = &depth(steps, window, trace).drawn(&trace.machine);
    let area = rect;
    let (mut over, mut opened) = (None, None);
    for (stage, place) in machine.stages.iter().zip(places(machine, &area)) {
        let response = ui.interact(place, Id::unique(("machine", stage.key)), Sense::click());
        let is_open = steps.open.as_deref() == Some(stage.key);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_open, label(stage)));
        if response.hovered() || response.has_focus() {
            over = Some(stage.key);
        }
        if response.clicked() {
            opened = Some((!is_open).then(|| stage.key.to_owned()));
        }
        response.on_hover_text(lang::text(stage.about));
    }
    let hidden = steps.hidden(steps.i);
    let drawing = MachineDrawing {
        machine,
        held: machine.stages.iter().map(|stage| held(trace, steps.i, hidden, stage)).collect(),
        is_done: machine.stages.iter().map(|stage| steps.is_done(stage.key)).collect(),
        is_first: steps.i == 0,
        lit: steps.current().or(steps.open.as_deref()),
        over,
        palette: theme::palette(ui),
        measure: &WholeLetters(ui),
    };
    marks::paint(ui.painter(), drawing.marks(&area));
    travel_ui(ui, steps, window, &drawing, rect);
    window.part(ui, HighlightPart::Machine, "", rect);
    for (stage, place) in machine.stages.iter().zip(places(machine, &area)) {
        window.part(ui, HighlightPart::Box, stage.key, place);
    }
    if let Some(key) = opened {
        window.push(StepsCommand::Open(key));
    }
}

fn depth(steps: &StepsPage, window: &Window<'_>, trace: &StepTrace) -> Depth {
    let is_lit = |stage: &&MachineStage| window.lights.lights(HighlightPart::Box, stage.key);
    trace.machine.stages.iter().filter(is_lit).map(|stage| Depth::of(stage.key)).fold(steps.depth, Depth::max)
}

/// Animates the inputs of the current box along the arrows, once each time.
fn travel_ui(ui: &Ui, steps: &StepsPage, window: &mut Window<'_>, drawing: &MachineDrawing<'_>, rect: Rect) {
    let Some(to) = steps.current() else { return };
    let now = ui.input(|input| input.time);
    let memory = window.local.of::<StepsMemory>();
    if memory.travel.is_none_or(|(of, _)| of != (steps.i, to)) {
        memory.travel = Some(((steps.i, to), now));
    }
    let since = memory.travel.map_or(TRAVEL, |(_, began)| now - began);
    if since >= TRAVEL || ui.style().animation_time == 0.0 {
        return;
    }
    let t = theme::tokens(ui);
    let share = (since / TRAVEL) as f32;
    for (from, at) in drawing.on_the_way(&rect, to, share * share * (3.0 - 2.0 * share)) {
        let Some(text) = steps.carried(from) else { continue };
        let letters = ui.painter().layout_no_wrap(text, egui::FontId::proportional(theme::TEXT_BODY), t.text);
        let place = Rect::from_center_size(at, letters.size() + egui::vec2(theme::SPACE_2, 2.0));
        ui.painter().rect_filled(place, theme::RADIUS_SMALL, t.accent_soft);
        ui.painter().galley(place.center() - 0.5 * letters.size(), letters, t.text);
    }
    ui.ctx().request_repaint();
}

fn label(stage: &MachineStage) -> String {
    format!("{}, {}", lang::text(stage.title), spoken(stage.symbol))
}
