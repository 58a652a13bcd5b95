//! Page Map in a link: what is mapped, how, and which point is selected. A map is made anew, for a link holds none.

use serde::{Deserialize, Serialize};

use crate::app::{document::column::ColumnState, state::AppState};
use crate::pages::map::MapToMake;
use crate::pages::map::command::{Colour, PointChoice};
use crate::pages::map::{COUNTS, MAP, MapPage, Method, PERPLEXITIES};
use engine::models::choice::ModelSpec;

/// What a link and what is kept between starts have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct MapSettings {
    choice: String,
    count: usize,
    method: String,
    perplexity: f32,
    by_length: bool,
    typed: String,
}

impl Default for MapSettings {
    fn default() -> Self {
        MapPage::default().settings()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Saved {
    model: Option<ModelSpec>,
    #[serde(flatten)]
    settings: MapSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct MapLink {
    model: String,
    #[serde(flatten)]
    settings: MapSettings,
    search: String,
    is_made: bool,
    point: Option<(String, usize)>,
}

impl Default for MapLink {
    fn default() -> Self {
        MapPage::default().to_link(&AppState::default())
    }
}

impl MapPage {
    pub(super) fn kept(&self) -> Saved {
        Saved {
            // A path that is not text cannot be kept in a text file.
            model: self.model.clone().filter(|model| model.folder.to_str().is_some()),
            settings: self.settings(),
        }
    }

    pub(super) fn restored(saved: Saved) -> Self {
        Self { model: saved.model, ..Self::with(saved.settings) }
    }

    fn settings(&self) -> MapSettings {
        MapSettings {
            choice: self.choice.key().to_owned(),
            count: self.count,
            method: self.method.entry().name.to_owned(),
            perplexity: self.perplexity,
            by_length: self.colour == Colour::Length,
            typed: self.typed.clone(),
        }
    }

    /// A page with these settings; those that do not exist are as at first.
    fn with(settings: MapSettings) -> Self {
        let first = Self::default();
        Self {
            choice: PointChoice::of_key(&settings.choice).unwrap_or(first.choice),
            count: settings.count.clamp(COUNTS.0, COUNTS.1),
            method: Method::from_name(&settings.method).unwrap_or(first.method),
            perplexity: settings.perplexity.clamp(PERPLEXITIES.0, PERPLEXITIES.1),
            colour: if settings.by_length { Colour::Length } else { Colour::Rank },
            typed: settings.typed,
            ..first
        }
    }

    pub(super) fn to_link(&self, app: &AppState) -> MapLink {
        let is_chosen = |model: &&ModelSpec| app.document.models().any(|column| column.system.only() == Some(*model));
        let model = self.model.as_ref().filter(is_chosen).map(ModelSpec::name);
        let has_lines = self.choice == PointChoice::List;
        let to_make = self.to_make.as_ref();
        let selected = self.selected.and_then(|at| self.point(at)).map(|point| (point.text.clone(), point.number));
        let mut settings = self.settings();
        if self.choice != PointChoice::Typed {
            settings.typed.clear();
        }
        MapLink {
            model: model.unwrap_or_default(),
            settings,
            search: self.search.clone(),
            // the lines of a list are not told
            is_made: !has_lines && (self.chart.is_some() || self.task.is_some() || to_make.is_some()),
            point: to_make.and_then(|to_make| to_make.point.clone()).or(selected).filter(|_| !has_lines),
        }
    }

    pub(super) fn take_link(&mut self, link: MapLink, app: &mut AppState) {
        if let Some(task) = self.task.take() {
            app.tasks.cancel(task);
        }
        let model = app.document.models().map(|column| &column.system).find(|system| system.name() == link.model);
        *self = Self {
            model: model.and_then(|system| system.only()).cloned(),
            search: link.search,
            to_make: link.is_made.then_some(MapToMake { is_ordered: false, point: link.point }),
            ..Self::with(link.settings)
        };
        app.changed();
    }

    pub(super) fn make_linked(&mut self, app: &mut AppState) {
        let is_open = self.to_make.as_ref().is_some_and(|to_make| !to_make.is_ordered);
        if !is_open || app.view.page != MAP {
            return;
        }
        let model = self.model_of(app);
        let is_ready =
            app.document.models().any(|column| column.system.only() == model && column.state == ColumnState::Ready);
        if is_ready {
            self.compute(app);
            self.to_make.iter_mut().for_each(|to_make| to_make.is_ordered = true);
        }
    }
}
