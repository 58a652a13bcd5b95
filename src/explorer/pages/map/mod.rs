//! The page Map: its state, its commands, and what comes of its orders.

pub mod command;
mod linked;
#[cfg(feature = "gui")]
pub mod view;

use std::sync::Arc;

use serde_json::Value;

use crate::app::page::{Page, PageInfo};
use crate::app::{files::work::FileJob, state::AppState};
use crate::jobs::queue::maps::{MapOrder, What};
use crate::jobs::{queue::Found, queue::QueueOrder};
use crate::pages::{shape::PageState, shape::changed_fields};
use engine::models::choice::ModelSpec;
use engine::text::{tsv, tsv::TsvCell, words::folded};

pub use crate::jobs::queue::maps::{MapPoint, PointKind, VectorMap};
pub use crate::pages::map::command::{Colour, MapCommand, MapTable, PointChoice};
pub use engine::analysis::map::{METHODS, Method};
pub use engine::{analysis::neighbours::Neighbour, models::representations::VocabularySide};

pub const NEIGHBOURS: usize = 25;
pub const COUNTS: (usize, usize) = (10, 20_000);
pub const PERPLEXITIES: (f32, f32) = (2.0, 100.0);

/// Words and phrases in the plane.
pub const MAP: Page = Page::new(&PageInfo {
    key: "map",
    name: id!("Map"),
    title: id!("Page Map"),
    saved_as: "maps",
    digit: 4,
    takes: &[],
    has_only_models: false,
});

/// The state of the Map page.
#[derive(Clone, Debug, PartialEq)]
pub struct MapPage {
    pub task: Option<u64>,
    pub message: Option<String>,
    /// The model folder. The page falls back to the first column's model where no column has this one.
    pub model: Option<ModelSpec>,
    pub choice: PointChoice,
    pub count: usize,
    pub method: Method,
    pub perplexity: f32,
    pub colour: Colour,
    pub typed: String,
    pub chart: Option<Arc<VectorMap>>,
    pub search: String,
    /// Positions in [`VectorMap::points`], matches of the full text first.
    pub matches: Vec<usize>,
    pub selected: Option<usize>,
    pub neighbours: Vec<Neighbour>,
    to_make: Option<MapToMake>,
}

impl Default for MapPage {
    fn default() -> Self {
        Self {
            task: None,
            message: None,
            model: None,
            choice: PointChoice::default(),
            count: 1000,
            method: Method::Tsne,
            perplexity: 30.0,
            colour: Colour::default(),
            typed: String::new(),
            chart: None,
            search: String::new(),
            matches: Vec::new(),
            selected: None,
            neighbours: Vec::new(),
            to_make: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MapToMake {
    pub(super) is_ordered: bool,
    pub(super) point: Option<(String, usize)>,
}

impl MapPage {
    pub fn point(&self, at: usize) -> Option<&MapPoint> {
        self.chart.as_ref()?.points.get(at)
    }

    fn place_of(&self, is_wanted: impl Fn(&MapPoint) -> bool) -> Option<usize> {
        self.chart.as_ref()?.points.iter().position(is_wanted)
    }

    /// Whether a point is drawn; others are only listed.
    pub fn is_drawn(&self, at: usize) -> bool {
        self.chart.as_ref().is_some_and(|chart| at < chart.layout.places.len())
    }

    /// A table as tab-separated values; `None` while it is empty.
    pub fn tsv(&self, table: MapTable) -> Option<String> {
        let chart = self.chart.as_ref()?;
        let number = match chart.kind {
            PointKind::SourceWords | PointKind::TargetWords => "id",
            PointKind::Phrases => "line",
            PointKind::Annotations => "position",
        };
        let mut rows: Vec<Vec<TsvCell>> = Vec::new();
        match table {
            MapTable::Neighbours => {
                let query = &chart.points.get(self.selected?)?.text;
                rows.push(["query", "neighbour", "cosine", number].map(TsvCell::from).into());
                for near in &self.neighbours {
                    let point = chart.points.get(near.index)?;
                    let numbers = [TsvCell::plain(&near.cosine), TsvCell::plain(&point.number)];
                    rows.push([query.into(), (&point.text).into()].into_iter().chain(numbers).collect());
                }
            }
            MapTable::Points => {
                rows.push(["x", "y", number, "length", "text"].map(TsvCell::from).into());
                for ([x, y], point) in chart.layout.places.iter().zip(&chart.points) {
                    let numbers = [TsvCell::plain(x), TsvCell::plain(y), TsvCell::plain(&point.number)];
                    let rest = [TsvCell::plain(&point.length), (&point.text).into()];
                    rows.push(numbers.into_iter().chain(rest).collect());
                }
            }
        }
        Some(tsv::rows(rows))
    }

    fn select(&mut self, at: Option<usize>) {
        let Some(chart) = self.chart.clone() else { return };
        self.selected = at.filter(|at| *at < chart.points.len());
        self.neighbours = self.selected.map_or_else(Vec::new, |at| chart.space.nearest_to(at, NEIGHBOURS));
    }

    fn look(&mut self) {
        self.matches.clear();
        let needle = folded(self.search.trim());
        let Some(chart) = self.chart.as_ref().filter(|_| !needle.is_empty()) else { return };
        let mut parts = Vec::new();
        for (at, point) in chart.points.iter().enumerate() {
            let text = folded(&point.text);
            if text == needle {
                self.matches.push(at);
            } else if text.contains(&needle) {
                parts.push(at);
            }
        }
        self.matches.append(&mut parts);
    }

    fn move_match(&mut self, by: isize) {
        let count = self.matches.len() as isize;
        if count == 0 {
            return;
        }
        let at = self.selected.and_then(|selected| self.matches.iter().position(|found| *found == selected));
        let next = at.map_or(if by > 0 { 0 } else { count - 1 }, |at| (at as isize + by).rem_euclid(count));
        self.select(Some(self.matches[next as usize]));
    }

    pub fn apply(&mut self, command: MapCommand, app: &mut AppState) {
        let before = self.kept();
        match command {
            MapCommand::DismissMessage => self.message = None,
            MapCommand::SetModel(model) => self.model = Some(model),
            MapCommand::SetChoice(choice) => self.choice = choice,
            MapCommand::SetCount(count) => self.count = count.clamp(COUNTS.0, COUNTS.1),
            MapCommand::SetMethod(method) => self.method = method,
            MapCommand::SetPerplexity(perplexity) => {
                if perplexity.is_finite() {
                    self.perplexity = perplexity.clamp(PERPLEXITIES.0, PERPLEXITIES.1);
                }
            }
            MapCommand::SetColour(colour) => self.colour = colour,
            MapCommand::SetTyped(text) => self.typed = text,
            MapCommand::Compute => self.compute(app),
            MapCommand::Find { model, choice, word } => {
                let is_there = self.chart.is_some() && self.choice == choice && self.model_of(app) == Some(&model);
                (self.model, self.choice, self.search) = (Some(model), choice, word);
                if !is_there {
                    self.compute(app);
                }
                self.look();
                self.move_match(1);
            }
            MapCommand::Search(text) => {
                self.search = text;
                self.look();
            }
            MapCommand::MoveMatch(by) => self.move_match(by),
            MapCommand::Select(at) => self.select(at),
            MapCommand::Save(table, path) => {
                if let Some(text) = self.tsv(table) {
                    app.tasks.chore(FileJob::Write { path, text });
                }
            }
        }
        if self.kept() != before {
            app.changed();
        }
    }
}

impl PageState for MapPage {
    fn page(&self) -> Page {
        MAP
    }

    fn follow(&mut self, app: &mut AppState) {
        self.make_linked(app);
    }

    fn found(&mut self, number: u64, found: Found, _app: &mut AppState) {
        let Found::Mapped(chart) = found else { return };
        if self.task != Some(number) {
            return;
        }
        self.task = None;
        let before = self.selected.and_then(|at| self.point(at)).map(|point| point.text.clone());
        self.selected = None;
        self.neighbours.clear();
        self.chart = Some(chart);
        self.look();
        let again = before.and_then(|text| self.place_of(|point| point.text == text));
        let wanted = self.to_make.take().and_then(|to_make| to_make.point);
        let linked = wanted.and_then(|(text, number)| {
            self.place_of(|point| point.text == text && point.number == number)
                .or_else(|| self.place_of(|point| point.text == text))
        });
        self.select(linked.or(again));
    }

    fn ended(&mut self, number: u64, message: Option<String>, _app: &mut AppState) {
        if self.task == Some(number) {
            (self.task, self.to_make) = (None, None);
            self.message = message;
        }
    }

    fn saved(&self) -> Value {
        serde_json::to_value(self.kept()).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        *self = Self::restored(serde_json::from_value(saved)?);
        Ok(())
    }

    fn linked(&self, app: &AppState) -> Value {
        changed_fields(&self.to_link(app))
    }

    fn show_linked(&mut self, link: Value, app: &mut AppState) {
        self.take_link(serde_json::from_value(link).unwrap_or_default(), app);
    }
}

impl MapPage {
    /// The chosen model if a column shows it, else that of the selected column, else the first.
    pub fn model_of<'a>(&self, app: &'a AppState) -> Option<&'a ModelSpec> {
        let is_chosen = |column: &&crate::app::document::column::Column| {
            self.model.is_some() && column.system.only() == self.model.as_ref()
        };
        let chosen = app.document.models().find(is_chosen);
        let selected = || app.document.models().find(|column| Some(column.id) == app.view.selection.column);
        chosen.or_else(selected).or_else(|| app.document.models().next()).and_then(|column| column.system.only())
    }

    fn compute(&mut self, app: &mut AppState) {
        let Some(model) = self.model_of(app).cloned() else {
            self.message = Some(tr!("There is no model to map; add one on page Sentence").to_owned());
            return;
        };
        if let Some(task) = self.task.take() {
            app.tasks.cancel(task);
        }
        self.message = None;
        let order = MapOrder {
            model,
            device: app.view.settings.device,
            what: self.what(app),
            method: self.method,
            perplexity: self.perplexity,
        };
        self.task = Some(app.tasks.order(MAP, QueueOrder::Map(order)));
    }

    fn what(&self, app: &AppState) -> What {
        let count = self.count;
        match self.choice {
            PointChoice::SourceWords => What::Words { side: VocabularySide::Source, count },
            PointChoice::TargetWords => What::Words { side: VocabularySide::Target, count },
            PointChoice::List => {
                let lists = &app.lists;
                let line = |at: usize| lists.sentence(at).map(|text| (at + 1, text.into_owned()));
                let lines = (0..lists.len()).filter_map(line).filter(|(_, text)| !text.trim().is_empty());
                What::Phrases { lines: lines.take(count).collect() }
            }
            PointChoice::Typed => {
                let lines = self.typed.lines().enumerate().map(|(at, text)| (at + 1, text.to_owned()));
                What::Phrases { lines: lines.filter(|(_, text)| !text.trim().is_empty()).take(COUNTS.1).collect() }
            }
            PointChoice::Annotations => What::Annotations { text: app.document.state.source.clone() },
        }
    }
}
