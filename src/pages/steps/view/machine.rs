//! Floor 11: the machine: its boxes can be pointed at, opened, and reached by the keyboard.

use egui::accesskit::Role;
use egui::{Id, Rect, Sense, Ui, WidgetInfo};

use crate::app::lights::HighlightPart;
use crate::figure::equation::spoken;
use crate::figure::machine::{MachineDrawing, places};
use crate::jobs::steps::StepTrace;
use crate::models::anatomy::MachineStage;
use crate::pages::steps::StepsPage;
use crate::pages::steps::command::StepsCommand;
use crate::pages::steps::picture::held;
use crate::pages::window::local::Window;
use crate::widgets::marks::WholeLetters;
use crate::widgets::{marks, theme};

/// Lower than this it scrolls, points.
const LEAST_HEIGHT: f32 = 250.0;

/// Paints the machine into all the room there is.
pub fn machine_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, apart: &StepTrace) {
    let room = ui.available_size();
    if room.y >= LEAST_HEIGHT {
        drawing_ui(ui, steps, window, apart, room);
        return;
    }
    egui::ScrollArea::vertical().id_salt("machine").show(ui, |ui| {
        drawing_ui(ui, steps, window, apart, egui::vec2(ui.available_width(), LEAST_HEIGHT));
    });
}

fn drawing_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, apart: &StepTrace, room: egui::Vec2) {
    let (_, rect) = ui.allocate_space(room);
    let machine = &apart.machine;
    let area = rect.into();
    let (mut over, mut opened) = (None, None);
    for (stage, place) in machine.stages.iter().zip(places(machine, &area)) {
        let response = ui.interact(Rect::from(place), Id::unique(("machine", stage.key)), Sense::click());
        let is_open = steps.open.as_deref() == Some(stage.key);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_open, label(stage)));
        if response.hovered() || response.has_focus() {
            over = Some(stage.key);
        }
        if response.clicked() {
            opened = Some((!is_open).then(|| stage.key.to_owned()));
        }
        response.on_hover_text(stage.about);
    }
    let hidden = steps.hidden(steps.i);
    let drawing = MachineDrawing {
        machine,
        held: machine.stages.iter().map(|stage| held(apart, steps.i, hidden, stage)).collect(),
        is_done: machine.stages.iter().map(|stage| steps.is_done(stage.key)).collect(),
        is_first: steps.i == 0,
        lit: steps.current().or(steps.open.as_deref()),
        over,
        palette: theme::palette(ui),
        measure: &WholeLetters(ui),
    };
    marks::paint(ui.painter(), drawing.marks(&area));
    window.part(ui, HighlightPart::Machine, "", rect);
    for (stage, place) in machine.stages.iter().zip(places(machine, &area)) {
        window.part(ui, HighlightPart::Box, stage.key, Rect::from(place));
    }
    if let Some(key) = opened {
        window.push(StepsCommand::Open(key));
    }
}

/// What a screen reader says of a box.
fn label(stage: &MachineStage) -> String {
    format!("{}, {}", stage.title, spoken(stage.symbol))
}
