//! Floor 8: the page Map: its state, its commands, and what comes of its orders.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::Session;
use crate::session::driver::Chore;
use crate::session::pages::Page;
use crate::worker::corpus::Order;
use crate::worker::corpus::maps::{Map, Mapped, What};

pub use crate::analysis::map::{METHODS, Method};
pub use crate::analysis::neighbours::Neighbour;
pub use crate::models::representations::Side;
pub use crate::worker::corpus::maps::{Chart, Kind, Point};

/// Neighbours that are listed.
pub const NEIGHBOURS: usize = 25;
/// Fewest and most points of a map.
pub const COUNTS: (usize, usize) = (10, 20_000);
/// Least and greatest perplexity.
pub const PERPLEXITIES: (f32, f32) = (2.0, 100.0);

/// What is to be mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The most frequent source words.
    #[default]
    SourceWords,
    /// The most frequent target words.
    TargetWords,
    /// The sentences of the shown list.
    List,
    /// The lines typed on the page.
    Typed,
    /// The annotations of the sentence on screen.
    Annotations,
}

impl Choice {
    /// Every choice: itself, its key in the saved state, its name, and what it is.
    pub const ALL: [(Self, &'static str, &'static str, &'static str); 5] = [
        (
            Self::SourceWords,
            "source",
            "Source words",
            "The most frequent words that are read, by their rows of the embedding matrix",
        ),
        (
            Self::TargetWords,
            "target",
            "Target words",
            "The most frequent words that are written, by their rows of the embedding matrix",
        ),
        (
            Self::List,
            "list",
            "Phrases of the list",
            "The lines of the list on page Sentence, by the context c, or by the mean of their annotations h_j",
        ),
        (Self::Typed, "typed", "Typed phrases", "Lines typed or pasted here, by c or the mean of h_j"),
        (
            Self::Annotations,
            "annotations",
            "Words in their sentence",
            "The annotations h_j of the sentence on page Sentence (Bahdanau et al. 2015, equation 7)",
        ),
    ];

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        Self::ALL.iter().find(|entry| entry.0 == self).unwrap_or(&Self::ALL[0])
    }

    /// Its name in menus.
    pub fn name(self) -> &'static str {
        self.entry().2
    }

    /// Whether it can be said how many.
    pub fn is_counted(self) -> bool {
        matches!(self, Self::SourceWords | Self::TargetWords | Self::List)
    }
}

/// What the colours of the points mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// The rank in the vocabulary, or the place in the list or the sentence.
    #[default]
    Rank,
    /// Letters of a word, words of a phrase.
    Length,
}

/// A table to be saved or copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The neighbours of the selected point.
    Neighbours,
    /// All points with their places.
    Points,
}

/// What the page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Maps {
    /// The order under way; [`Session::task`] says how far it is.
    pub task: Option<u64>,
    /// Why the last order came to nothing, as a sentence.
    pub message: Option<String>,
    /// The model folder; the first column's where it is none of the columns'.
    pub model: Option<PathBuf>,
    /// What is to be mapped.
    pub choice: Choice,
    /// At most so many points.
    pub count: usize,
    /// How.
    pub method: Method,
    /// About how many neighbours count for a point, for t-SNE.
    pub perplexity: f32,
    /// What the colours mean.
    pub colour: Colour,
    /// The typed lines.
    pub typed: String,
    /// What is drawn.
    pub chart: Option<Arc<Chart>>,
    /// What is looked for, letter case aside.
    pub search: String,
    /// The points that it is found in, whole words first; positions in [`Chart::points`].
    pub matches: Vec<usize>,
    /// The selected point.
    pub selected: Option<usize>,
    /// What lies nearest to it, nearest first.
    pub neighbours: Vec<Neighbour>,
}

impl Default for Maps {
    fn default() -> Self {
        Self {
            task: None,
            message: None,
            model: None,
            choice: Choice::default(),
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
        }
    }
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Which model, by its folder.
    SetModel(PathBuf),
    /// What is to be mapped.
    SetChoice(Choice),
    /// At most so many points.
    SetCount(usize),
    /// How.
    SetMethod(Method),
    /// About how many neighbours count for a point.
    SetPerplexity(f32),
    /// What the colours mean.
    SetColour(Colour),
    /// The lines that are typed.
    SetTyped(String),
    /// Makes the map; the one under way is dropped.
    Compute,
    /// Looks for this among the points.
    Search(String),
    /// Selects the next match, or an earlier one.
    MoveMatch(isize),
    /// Selects a point, by its position in [`Chart::points`].
    Select(Option<usize>),
    /// Writes a table of tab-separated values.
    Save(Table, PathBuf),
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    model: Option<PathBuf>,
    choice: String,
    count: Option<usize>,
    method: String,
    perplexity: Option<f32>,
    by_length: bool,
    typed: String,
}

impl Maps {
    /// The page as it was saved.
    pub(super) fn of(saved: Saved) -> Self {
        let first = Self::default();
        let choice = Choice::ALL.iter().find(|entry| entry.1 == saved.choice).map_or(first.choice, |entry| entry.0);
        let perplexity = saved.perplexity.filter(|perplexity| perplexity.is_finite()).unwrap_or(first.perplexity);
        Self {
            model: saved.model,
            choice,
            count: saved.count.unwrap_or(first.count).clamp(COUNTS.0, COUNTS.1),
            method: Method::from_name(&saved.method).unwrap_or(first.method),
            perplexity: perplexity.clamp(PERPLEXITIES.0, PERPLEXITIES.1),
            colour: if saved.by_length { Colour::Length } else { Colour::Rank },
            typed: saved.typed,
            ..first
        }
    }

    /// What is worth keeping.
    pub(super) fn saved(&self) -> Saved {
        Saved {
            // a path that is no text cannot be kept in a text file
            model: self.model.clone().filter(|path| path.to_str().is_some()),
            choice: self.choice.entry().1.to_owned(),
            count: Some(self.count),
            method: self.method.entry().name.to_owned(),
            perplexity: Some(self.perplexity),
            by_length: self.colour == Colour::Length,
            typed: self.typed.clone(),
        }
    }

    /// A point of the map.
    pub fn point(&self, at: usize) -> Option<&Point> {
        self.chart.as_ref()?.points.get(at)
    }

    /// Whether a point is drawn, and not only known.
    pub fn is_drawn(&self, at: usize) -> bool {
        self.chart.as_ref().is_some_and(|chart| at < chart.layout.places.len())
    }

    /// A table as tab-separated values; `None` while there is nothing to tell.
    pub fn tsv(&self, table: Table) -> Option<String> {
        let chart = self.chart.as_ref()?;
        let number = match chart.kind {
            Kind::SourceWords | Kind::TargetWords => "id",
            Kind::Phrases => "line",
            Kind::Annotations => "position",
        };
        let mut text = String::new();
        match table {
            Table::Neighbours => {
                let query = cell(&chart.points.get(self.selected?)?.text);
                let _ = writeln!(text, "query\tneighbour\tcosine\t{number}");
                for near in &self.neighbours {
                    let point = chart.points.get(near.index)?;
                    let _ = writeln!(text, "{query}\t{}\t{}\t{}", cell(&point.text), near.cosine, point.number);
                }
            }
            Table::Points => {
                let _ = writeln!(text, "x\ty\t{number}\tlength\ttext");
                for ([x, y], point) in chart.layout.places.iter().zip(&chart.points) {
                    let _ = writeln!(text, "{x}\t{y}\t{}\t{}\t{}", point.number, point.length, cell(&point.text));
                }
            }
        }
        Some(text)
    }

    fn select(&mut self, at: Option<usize>) {
        let Some(chart) = self.chart.clone() else { return };
        self.selected = at.filter(|at| *at < chart.points.len());
        self.neighbours = self.selected.map_or_else(Vec::new, |at| chart.space.nearest_to(at, NEIGHBOURS));
    }

    fn look(&mut self) {
        self.matches.clear();
        let needle = self.search.trim().to_lowercase();
        let Some(chart) = self.chart.as_ref().filter(|_| !needle.is_empty()) else { return };
        let mut parts = Vec::new();
        for (at, point) in chart.points.iter().enumerate() {
            let text = point.text.to_lowercase();
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
}

/// A text as a cell of a table: a tab in it would shift the columns.
fn cell(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl Session {
    /// Does what the user asked for.
    pub(super) fn apply_to_maps(&mut self, command: Command) {
        let before = self.maps.saved();
        let maps = &mut self.maps;
        match command {
            Command::DismissMessage => maps.message = None,
            Command::SetModel(folder) => maps.model = Some(folder),
            Command::SetChoice(choice) => maps.choice = choice,
            Command::SetCount(count) => maps.count = count.clamp(COUNTS.0, COUNTS.1),
            Command::SetMethod(method) => maps.method = method,
            Command::SetPerplexity(perplexity) if perplexity.is_finite() => {
                maps.perplexity = perplexity.clamp(PERPLEXITIES.0, PERPLEXITIES.1);
            }
            Command::SetPerplexity(_) => {}
            Command::SetColour(colour) => maps.colour = colour,
            Command::SetTyped(text) => maps.typed = text,
            Command::Compute => self.compute_map(),
            Command::Search(text) => {
                maps.search = text;
                maps.look();
            }
            Command::MoveMatch(by) => maps.move_match(by),
            Command::Select(at) => maps.select(at),
            Command::Save(table, path) => {
                if let Some(text) = self.maps.tsv(table) {
                    self.chores.push(Chore::Write { path, text });
                }
            }
        }
        if self.maps.saved() != before {
            self.revision += 1;
        }
    }

    /// The model that is mapped: the chosen one while it is a column's, else the selected column's, else the first.
    pub fn mapped_model(&self) -> Option<&PathBuf> {
        let chosen = self.models().find(|column| Some(&column.folder) == self.maps.model.as_ref());
        let selected = || self.models().find(|column| Some(column.id) == self.selection.column);
        chosen.or_else(selected).or_else(|| self.models().next()).map(|column| &column.folder)
    }

    fn compute_map(&mut self) {
        let Some(model) = self.mapped_model().cloned() else {
            self.maps.message = Some("There is no model to map; add one on page Sentence".to_owned());
            return;
        };
        if let Some(task) = self.maps.task {
            self.cancel_task(task);
        }
        self.maps.message = None;
        let order = Map {
            model,
            device: self.settings.device,
            what: self.what_is_mapped(),
            method: self.maps.method,
            perplexity: self.maps.perplexity,
        };
        self.maps.task = Some(self.order(Page::Map, Order::Map(order)));
    }

    fn what_is_mapped(&self) -> What {
        let count = self.maps.count;
        match self.maps.choice {
            Choice::SourceWords => What::Words { side: Side::Source, count },
            Choice::TargetWords => What::Words { side: Side::Target, count },
            Choice::List => {
                let line = |at: usize| self.list_sentence(at).map(|text| (at + 1, text.into_owned()));
                let lines = (0..self.list_len()).filter_map(line).filter(|(_, text)| !text.trim().is_empty());
                What::Phrases { lines: lines.take(count).collect() }
            }
            Choice::Typed => {
                let lines = self.maps.typed.lines().enumerate().map(|(at, text)| (at + 1, text.to_owned()));
                What::Phrases { lines: lines.filter(|(_, text)| !text.trim().is_empty()).take(COUNTS.1).collect() }
            }
            Choice::Annotations => What::Annotations { text: self.source.clone() },
        }
    }

    /// An order is done. What was selected or looked for stays so where the new map knows it.
    pub(super) fn mapped(&mut self, number: u64, found: Mapped) {
        if self.maps.task != Some(number) {
            return;
        }
        let maps = &mut self.maps;
        maps.task = None;
        let before = maps.selected.and_then(|at| maps.point(at)).map(|point| point.text.clone());
        maps.selected = None;
        maps.neighbours.clear();
        maps.chart = Some(found.chart);
        maps.look();
        let again = before.and_then(|text| {
            maps.chart.as_ref().and_then(|chart| chart.points.iter().position(|point| point.text == text))
        });
        maps.select(again);
    }

    /// Nothing came of an order: it failed, for the reason given, or was cancelled.
    pub(super) fn map_ended(&mut self, number: u64, message: Option<String>) {
        if self.maps.task == Some(number) {
            self.maps.task = None;
            self.maps.message = message;
        }
    }
}
