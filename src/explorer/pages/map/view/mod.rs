//! The page Map: words and phrases in the plane (Cho et al. 2014, section 4.4).

pub mod plane;
mod settings;
mod side;

use std::sync::Arc;

use egui::{Id, Panel, RichText, Ui};

use crate::pages::map::{Colour, MapTable, PointChoice, PointKind, VectorMap};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{PageView, Window};
use crate::pages::{
    map::MapPage, map::command::MapCommand, map::view::plane::PlaneMemory, map::view::plane::PlaneWidget, shell::task,
};
use crate::widgets;
use crate::widgets::{labels, theme};
use figure::plane::share;

const BELOW: f32 = 0.4;

/// What the Map page remembers between frames.
#[derive(Default)]
struct MapMemory {
    plane: PlaneMemory,
    begun: bool,
}

impl PageView for MapPage {
    fn middle_ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        map_ui(ui, self, window);
    }

    fn manual(&self) -> Option<&'static str> {
        Some("plane.md")
    }

    fn escape(&self, window: &mut Window<'_>) {
        window.push(MapCommand::Select(None));
    }
}

pub(super) fn map_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    begin(maps, window);
    settings::settings_ui(ui, maps, window);
    task::task_ui(ui, window, maps.task);
    message_ui(ui, maps, window);
    ui.add_space(theme::SPACE_1);
    let (side, left) = if theme::is_slim(ui) {
        (Panel::bottom("map_below").default_size(BELOW * ui.available_height()), 0)
    } else {
        (Panel::right("map_side").default_size(theme::SIDE_WIDTH).size_range(200.0..=520.0), 12)
    };
    let frame = egui::Frame::new().inner_margin(egui::Margin { left, right: 0, top: 0, bottom: 0 });
    let side = side.resizable(true).frame(frame).show_separator_line(false);
    let name = if theme::is_slim(ui) { "map_below" } else { "map_side" };
    widgets::sized(ui, (name, tr!("Map")), |ui| side.show(ui, |ui| side::side_ui(ui, maps, window)));
    let Some(chart) = maps.chart.clone() else {
        empty_ui(ui, maps, window);
        return;
    };
    let below = egui::Frame::new().inner_margin(egui::Margin { left: 0, right: 0, top: 6, bottom: 0 });
    let bottom = Panel::bottom("map_caption").resizable(false).show_separator_line(false).frame(below);
    bottom.show(ui, |ui| bottom_ui(ui, maps, window, &chart));
    plane_ui(ui, maps, window, &chart);
}

fn begin(maps: &MapPage, window: &mut Window<'_>) {
    let app = window.app;
    let mut columns = app.document.models();
    let is_ready = columns.any(|column| {
        column.system.only() == maps.model_of(app) && column.state == crate::app::document::column::ColumnState::Ready
    });
    let is_new = maps.chart.is_none() && maps.task.is_none() && maps.message.is_none();
    if is_ready && is_new && !window.local.of::<MapMemory>().begun {
        window.push(MapCommand::Compute);
    }
    window.local.of::<MapMemory>().begun |= is_ready;
}

fn message_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let is_dismissed = maps.message.as_ref().is_some_and(|message| labels::failure(ui, message));
    window.push_if(is_dismissed, MapCommand::DismissMessage);
}

const PHRASES: &str = "the old house\nthe new house\nthe red house\nthe old car\nthe new car\nthe red car\nan old friend\na new friend\nin the morning\nin the evening\nin the summer\non the table";

fn empty_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let weak = theme::tokens(ui).weak;
    let is_busy = maps.task.is_some();
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading(tr!("Words and phrases in the plane"));
        let note = if is_busy {
            tr!("The map appears here when it is done")
        } else {
            tr!("What a model uses in the same way lies close together. Choose above what to look at and make the map.")
        };
        ui.label(RichText::new(note).color(weak));
        if is_busy {
            return;
        }
        if maps.model_of(window.app).is_none() {
            ui.label(
                RichText::new(tr!("There is no model yet. Add one with + Model above.")).color(theme::tokens(ui).warm),
            );
            return;
        }
        ui.add_space(theme::SPACE_2);
        if ui.button(tr!("Try the most frequent source words")).clicked() {
            window.push(MapCommand::SetChoice(PointChoice::SourceWords));
            window.push(MapCommand::Compute);
        }
        if ui.button(tr!("Try twelve short phrases")).on_hover_text(PHRASES).clicked() {
            window.push(MapCommand::SetChoice(PointChoice::Typed));
            window.push(MapCommand::SetTyped(PHRASES.to_owned()));
            window.push(MapCommand::Compute);
        }
    });
}

fn plane_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>, chart: &Arc<VectorMap>) {
    let near: Vec<usize> =
        maps.neighbours.iter().map(|near| near.index).filter(|at| *at < chart.layout.places.len()).collect();
    let drawn = chart.layout.places.len();
    let is_words = matches!(chart.kind, PointKind::SourceWords | PointKind::TargetWords);
    let (colour, longest) = (maps.colour, settings::longest(chart));
    let shade = |at: usize| match colour {
        Colour::Rank => share(at + 1, drawn, is_words),
        Colour::Length => share(chart.points[at].length, longest, false),
    };
    let name = tr!("Map of {}", side::caption(chart));
    let plane = PlaneWidget {
        id: Id::unique("map_plane"),
        name: &name,
        chart,
        shade: &shade,
        selected: maps.selected,
        near: &near,
        matches: &maps.matches,
    };
    let answer = plane.show(ui, &mut window.local.of::<MapMemory>().plane);
    if let Some(clicked) = answer
        && clicked != maps.selected
    {
        window.push(MapCommand::Select(clicked));
    }
}

const POINTS: Question = Question::new(
    id!("Save the map as TSV"),
    id!("Save"),
    Wants::NewFile("map.tsv"),
    id!("A row for each point with its place, x and y."),
);

/// Below this width the buttons have their own line under the legend, points.
const BOTTOM: f32 = 680.0;

fn bottom_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>, chart: &VectorMap) {
    let weak = theme::tokens(ui).weak;
    ui.add(egui::Label::new(RichText::new(side::caption(chart)).size(theme::TEXT_SMALL).color(weak)).truncate());
    let at_the_end = egui::Layout::right_to_left(egui::Align::Center);
    if ui.available_width() < BOTTOM {
        ui.horizontal_wrapped(|ui| settings::legend_ui(ui, maps, window));
        let size = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(size, at_the_end, |ui| buttons_ui(ui, window));
    } else {
        ui.horizontal(|ui| {
            settings::legend_ui(ui, maps, window);
            ui.with_layout(at_the_end, |ui| buttons_ui(ui, window));
        });
    }
}

fn buttons_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if side::small(ui, tr!("Save map..."), tr!("Save map"), tr!("Save all points with their places as TSV")) {
        window.ask(POINTS.then(|path| MapCommand::Save(MapTable::Points, path)));
    }
    if side::small(ui, tr!("Whole"), tr!("Whole map"), tr!("All points in view (double click or 0)")) {
        window.local.of::<MapMemory>().plane.camera = None;
    }
    for (text, name, factor) in [("+", tr!("Closer"), 1.4), ("\u{2013}", tr!("Farther"), 1.0 / 1.4)] {
        if side::small(ui, text, name, &tr!("{name} (wheel)", name)) {
            window.local.of::<MapMemory>().plane.asked = Some(factor);
        }
    }
}
