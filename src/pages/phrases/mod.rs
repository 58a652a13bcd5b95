//! Floor 11: the page Phrases: a phrase table, its scores by the models of the columns, the top targets of a source
//! phrase, and what comes of its orders. Nothing long is done here: reading, scoring and comparing are orders.

pub mod command;
#[cfg(feature = "gui")]
pub mod view;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::phrases::best;
use crate::app::document::column::ColumnState;
use crate::app::page::{Dropped, Page, PageInfo};
use crate::app::state::AppState;
use crate::jobs::queue::Found;
use crate::jobs::queue::QueueOrder;
use crate::jobs::queue::phrases::{PhraseOrder as Job, PhraseScores, Scored};
use crate::pages::shape::{AnyPage, PageState};
use crate::text::phrases::DIRECT;
use crate::text::readable::unescaped;

pub use crate::analysis::phrases::PhraseChart;
pub use crate::jobs::queue::phrases::{DrawnPhrases, SAMPLES, Samples};
pub use crate::pages::phrases::command::PhrasesCommand;
pub use crate::text::pairs::Pairs;

/// Targets in each of the two lists of a source phrase.
pub const TOP: usize = 12;
/// Source phrases offered while one is typed.
pub const SUGGESTED: usize = 10;

/// Phrase tables.
pub const PHRASES: Page = Page::new(&PageInfo {
    key: "phrases",
    name: id!("Phrases"),
    title: id!("Page Phrases"),
    saved_as: "phrases",
    digit: 4,
    takes: &[Dropped::PhraseTable, Dropped::Text],
    keeps_work: false,
    has_only_models: false,
});

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhrasesPage {
    /// The number of the order under way.
    pub task: Option<u64>,
    /// Why the last order came to nothing, as a sentence.
    pub message: Option<String>,
    /// The table that was opened last, perhaps at the start before.
    pub path: Option<PathBuf>,
    /// The table, once read.
    pub pairs: Option<Arc<Pairs>>,
    /// Which of its features is p(target | source), counted from 1.
    pub feature: usize,
    /// The scores by model folder.
    pub scores: BTreeMap<PathBuf, Arc<[f32]>>,
    /// The scatter of the chosen model's scores; `None` while there is none.
    pub chart: Option<Arc<PhraseChart>>,
    /// The source phrase as typed.
    pub typed: String,
    /// The source phrase that it is, by its number in the table.
    pub source: Option<usize>,
    /// Source phrases that it may become; those with most targets while nothing is typed.
    pub suggested: Vec<usize>,
    /// The best pairs of the source phrase by the model's score; empty without scores.
    pub by_model: Vec<usize>,
    /// The best pairs of the source phrase by the table's own.
    pub by_table: Vec<usize>,
    /// What is looked for in all pairs.
    pub search: String,
    /// The pairs that hold it, rising.
    pub found: Arc<Vec<u32>>,
    /// The chosen pair.
    pub selected: Option<usize>,
    /// What was drawn last; see [`PhrasesPage::samples`].
    drawn: Option<Samples>,
    /// The order of samples under way.
    pub sampling: Option<u64>,
    /// The chosen model folder; see [`PhrasesPage::model_of`].
    model: Option<PathBuf>,
    /// Which scores and feature the chart is of.
    charted: Option<(PathBuf, usize)>,
    /// Grows with every chart and every search: what is drawn is made anew.
    revision: u64,
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    /// The table that was open; it is offered, not read again.
    table: Option<PathBuf>,
}

impl PhrasesPage {
    /// Changes when the points of the scatter, or which of them are found, have changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the chosen source phrase has scores by the model in question.
    pub fn log_p(&self, model: &Path, pair: usize) -> Option<f32> {
        self.scores.get(model)?.get(pair).copied()
    }

    /// The number of the table for a pair.
    pub fn table_score(&self, pair: usize) -> Option<f32> {
        self.pairs.as_ref()?.feature(pair, self.feature)
    }

    fn forget_table(&mut self) {
        let (path, message, revision) = (self.path.take(), self.message.take(), self.revision + 1);
        *self = Self { path, message, revision, model: self.model.take(), ..Self::default() };
    }

    /// The feature that a table is opened with: Moses' direct probability, or the only one of a short table.
    fn first_feature(pairs: &Pairs) -> usize {
        if pairs.features() >= DIRECT { DIRECT } else { 1 }
    }

    fn find(&mut self, text: String) {
        self.search = text;
        self.found = Arc::new(self.pairs.as_ref().map_or_else(Vec::new, |pairs| pairs.search(self.search.trim())));
        self.revision += 1;
    }

    /// Finds the source phrase that was typed, or what it may become.
    fn look_up(&mut self, typed: String) {
        self.typed = typed;
        let Some(pairs) = &self.pairs else { return };
        let phrase = self.typed.split_whitespace().collect::<Vec<_>>().join(" ");
        self.suggested = if phrase.is_empty() { pairs.largest(SUGGESTED) } else { pairs.suggest(&phrase, SUGGESTED) };
        let exact = |source: &&usize| unescaped(pairs.source_phrase(**source)) == phrase;
        self.source = pairs.find_source(&phrase).or_else(|| self.suggested.iter().find(exact).copied());
        if self.source != self.selected.map(|pair| pairs.source_of(pair)) {
            self.selected = None;
        }
    }

    fn pick(&mut self, source: usize) {
        let Some(pairs) = &self.pairs else { return };
        if source < pairs.sources() {
            self.typed = pairs.source_phrase(source).to_owned();
            self.source = Some(source);
            self.suggested.clear();
            self.selected = self.selected.filter(|pair| pairs.source_of(*pair) == source);
        }
    }
}

crate::page_commands!(PhrasesPage: PhrasesCommand);

impl PageState for PhrasesPage {
    const PAGE: Page = PHRASES;
    type Command = PhrasesCommand;

    fn apply(&mut self, command: PhrasesCommand, app: &mut AppState) {
        match command {
            PhrasesCommand::DismissMessage => self.message = None,
            PhrasesCommand::Open(path) => self.open(path, app),
            PhrasesCommand::Close => {
                self.stop(app);
                self.forget_table();
                self.path = None;
                app.changed();
            }
            PhrasesCommand::Score => self.score(app),
            PhrasesCommand::SetModel(folder) => {
                self.model = Some(folder);
                self.score(app);
            }
            PhrasesCommand::SetFeature(feature) => self.set_feature(feature, app),
            PhrasesCommand::TypeSource(text) => self.look_up(text),
            PhrasesCommand::PickSource(source) => self.pick(source),
            PhrasesCommand::Search(text) => self.find(text),
            PhrasesCommand::Select(pair) => {
                let pairs = self.pairs.clone();
                self.selected = pair.filter(|pair| pairs.as_ref().is_some_and(|pairs| *pair < pairs.len()));
                if let (Some(pair), Some(pairs)) = (self.selected, pairs) {
                    self.pick(pairs.source_of(pair));
                }
            }
            PhrasesCommand::Sample => self.sample(app),
            PhrasesCommand::Export(path) => self.export(path, app),
        }
        self.rank_targets(app);
    }
}

impl AnyPage for PhrasesPage {
    fn found(&mut self, number: u64, found: Found, app: &mut AppState) {
        let Found::Phrases(found) = found else { return };
        match found {
            Scored::Written(path) => return app.notify(tr!("Saved {}", path.display()), false),
            Scored::Sampled(samples) => {
                if self.sampling == Some(number) {
                    self.sampling = None;
                    self.drawn = Some(samples);
                }
                return;
            }
            Scored::Read(_) | Scored::Compared(..) if self.task != Some(number) => return,
            Scored::Read(pairs) => {
                self.task = None;
                self.feature = Self::first_feature(&pairs);
                self.suggested = pairs.largest(SUGGESTED);
                self.pairs = Some(pairs);
                self.score(app);
            }
            Scored::Compared(scores, feature, chart) => {
                self.task = None;
                let is_wanted = self.model_of(app) == Some(scores.model.as_path()) && feature == self.feature;
                // Those of models without a column go: each is as long as the table.
                self.scores.retain(|model, _| app.document.models().any(|column| column.folder == *model));
                self.scores.insert(scores.model.clone(), scores.log_p);
                if is_wanted {
                    self.charted = Some((scores.model, feature));
                    self.chart = Some(chart);
                    self.revision += 1;
                } else {
                    self.score(app);
                }
            }
        }
        self.rank_targets(app);
    }

    fn ended(&mut self, number: u64, message: Option<String>, app: &mut AppState) {
        self.sampling = self.sampling.filter(|sampling| *sampling != number);
        if self.task == Some(number) {
            self.task = None;
            self.message = message;
        } else if let Some(message) = message {
            app.notify(message, true);
        }
    }

    /// A text that is dropped here is meant to be a table; what is wrong with it is said on the page.
    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Text | Dropped::PhraseTable => {
                app.show_page(PHRASES);
                self.open(path, app);
            }
            // Other pages take these.
            Dropped::Model
            | Dropped::Logs
            | Dropped::Interventions
            | Dropped::Workspace
            | Dropped::Links
            | Dropped::Annotated => {}
        }
    }

    fn saved(&self) -> Value {
        // JSON holds text, so a path that is not text cannot be kept.
        let table = self.path.clone().filter(|path| path.to_str().is_some());
        serde_json::to_value(Saved { table }).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        let Saved { table } = serde_json::from_value(saved)?;
        self.path = table;
        Ok(())
    }
}

impl PhrasesPage {
    /// The model that scores the table: the chosen one while it has a column, else that of the selected column, else
    /// of the first; none that failed.
    pub fn model_of<'a>(&self, app: &'a AppState) -> Option<&'a Path> {
        let usable = || app.document.models().filter(|column| !matches!(column.state, ColumnState::Failed(_)));
        let chosen = usable().find(|column| Some(&column.folder) == self.model.as_ref());
        let selected = || usable().find(|column| Some(column.id) == app.view.selection.column);
        chosen.or_else(selected).or_else(|| usable().next()).map(|column| column.folder.as_path())
    }

    /// Whether the table is there and its scores by the chosen model are neither shown nor being made.
    pub fn wants_scores(&self, app: &AppState) -> bool {
        let is_shown = self.charted.as_ref().is_some_and(|(model, _)| Some(model.as_path()) == self.model_of(app));
        self.pairs.is_some() && self.task.is_none() && !is_shown
    }

    /// The samples of the shown source phrase by the chosen model.
    pub fn samples(&self, app: &AppState) -> Option<&Samples> {
        let source = self.pairs.as_ref()?.source_phrase(self.source?);
        let of_this =
            |samples: &&Samples| samples.source == source && Some(samples.model.as_path()) == self.model_of(app);
        self.drawn.as_ref().filter(of_this)
    }

    /// Reads a table; what was open goes.
    fn open(&mut self, path: PathBuf, app: &mut AppState) {
        self.stop(app);
        self.forget_table();
        self.message = None;
        self.path = Some(path.clone());
        app.changed();
        self.order(Job::Read { table: path }, app);
    }

    fn stop(&mut self, app: &mut AppState) {
        for number in [self.task.take(), self.sampling.take()].into_iter().flatten() {
            app.tasks.cancel(number);
        }
    }

    fn order(&mut self, job: Job, app: &mut AppState) {
        self.message = None;
        self.task = Some(app.tasks.order(PHRASES, QueueOrder::Phrases(job)));
    }

    fn set_feature(&mut self, feature: usize, app: &mut AppState) {
        let most = self.pairs.as_ref().map_or(0, |pairs| pairs.features());
        if (1..=most).contains(&feature) && feature != self.feature {
            self.feature = feature;
            if self.task.is_none() {
                self.score(app);
            }
        }
    }

    /// Makes sure that the chosen model's scores are there and compared with the chosen feature.
    fn score(&mut self, app: &mut AppState) {
        let (Some(pairs), Some(model)) = (self.pairs.clone(), self.model_of(app).map(Path::to_path_buf)) else {
            return;
        };
        let feature = self.feature;
        self.stop(app);
        if self.charted.as_ref().is_some_and(|(folder, n)| *folder == model && *n == feature) {
            return;
        }
        self.chart = None;
        self.charted = None;
        self.revision += 1;
        let job = match self.scores.get(&model).cloned() {
            Some(log_p) => Job::Compare(PhraseScores { model, pairs, log_p }, feature),
            None => Job::Score { model, device: app.view.settings.device, pairs, feature },
        };
        self.order(job, app);
    }

    fn sample(&mut self, app: &mut AppState) {
        let model = self.model_of(app).map(Path::to_path_buf);
        let source = self.pairs.as_ref().zip(self.source);
        let source = source.map(|(pairs, source)| pairs.source_phrase(source).to_owned());
        let (Some(model), Some(source), None) = (model, source, self.sampling) else { return };
        let seed = self.samples(app).map_or(1, |samples| samples.seed + 1);
        let job = Job::Sample { model, device: app.view.settings.device, source, seed };
        self.sampling = Some(app.tasks.order(PHRASES, QueueOrder::Phrases(job)));
    }

    fn export(&mut self, path: PathBuf, app: &mut AppState) {
        let model = self.model_of(app).map(Path::to_path_buf);
        let scores = model.as_ref().and_then(|model| self.scores.get(model));
        let (Some(pairs), Some(model), Some(log_p)) = (&self.pairs, &model, scores) else {
            app.notify(tr!("There is nothing to export yet, because no table is scored"), true);
            return;
        };
        let scores = PhraseScores { model: model.clone(), pairs: Arc::clone(pairs), log_p: Arc::clone(log_p) };
        let job = Job::Export { path, scores, feature: self.feature };
        app.tasks.order(PHRASES, QueueOrder::Phrases(job));
    }

    /// The best targets of the source phrase, by both scores.
    fn rank_targets(&mut self, app: &AppState) {
        (self.by_model, self.by_table) = (Vec::new(), Vec::new());
        let (Some(pairs), Some(source)) = (&self.pairs, self.source) else { return };
        let of_source = pairs.of_source(source);
        let top = |value: &dyn Fn(usize) -> Option<f32>| -> Vec<usize> {
            let values: Vec<f64> =
                of_source.iter().map(|pair| value(*pair as usize).map_or(f64::NAN, f64::from)).collect();
            best(&values, TOP).into_iter().map(|at| of_source[at] as usize).collect()
        };
        let by_table = top(&|pair| pairs.feature(pair, self.feature));
        let scores = self.model_of(app).and_then(|model| self.scores.get(model));
        let by_model = scores.map_or_else(Vec::new, |scores| top(&|pair| scores.get(pair).copied()));
        (self.by_model, self.by_table) = (by_model, by_table);
    }
}
