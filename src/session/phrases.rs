//! Floor 8: the page Phrases: a phrase table, its scores by the models of the columns, the top targets of a source
//! phrase, and what comes of its orders. Nothing long is done here: reading, scoring and comparing are orders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::analysis::phrases::best;
use crate::session::pages::Page;
use crate::session::{ColumnState, Session};
use crate::text::phrases::{DIRECT, unescape};
use crate::worker::corpus::Order;
use crate::worker::corpus::phrases::{Phrases as Job, Scored, Scores};

pub use crate::analysis::phrases::Chart;
pub use crate::text::pairs::Pairs;
pub use crate::worker::corpus::phrases::{Drawn, SAMPLES, Samples};

/// Targets in each of the two lists of a source phrase.
pub const TOP: usize = 12;
/// Source phrases offered while one is typed.
pub const SUGGESTED: usize = 10;

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrases {
    /// The order under way; [`Session::task`] says how far it is.
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
    pub chart: Option<Arc<Chart>>,
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
    /// What was drawn last; see [`Session::phrase_samples`].
    pub samples: Option<Samples>,
    /// The order of samples under way.
    pub sampling: Option<u64>,
    /// The chosen model folder; see [`Session::phrase_model`].
    model: Option<PathBuf>,
    /// Which scores and feature the chart is of.
    charted: Option<(PathBuf, usize)>,
    /// Grows with every chart and every search: what is drawn is made anew.
    revision: u64,
}

/// What the user does on the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Takes the sentence of a failure away.
    DismissMessage,
    /// Reads this phrase table and scores it.
    Open(PathBuf),
    /// Takes the table away.
    Close,
    /// Scores the table with the chosen model, as after it was cancelled.
    Score,
    /// Chooses the model of a column, by its folder.
    SetModel(PathBuf),
    /// Says which feature of the table is p(target | source), counted from 1.
    SetFeature(usize),
    /// Types a source phrase.
    TypeSource(String),
    /// Takes a source phrase, by its number in the table.
    PickSource(usize),
    /// Looks for this in all pairs; empty finds nothing.
    Search(String),
    /// Chooses a pair, by its place in the table.
    Select(Option<usize>),
    /// Draws targets of the source phrase from the model; each time others.
    Sample,
    /// Writes both scores of all pairs as tab-separated values.
    Export(PathBuf),
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// The table that was open; it is offered, not read again.
    pub table: Option<PathBuf>,
}

impl Phrases {
    /// The page as it was saved.
    pub(super) fn of(saved: Saved) -> Self {
        Self { path: saved.table, ..Self::default() }
    }

    /// What is worth keeping.
    pub(super) fn saved(&self) -> Saved {
        // JSON holds text, so a path that is not text cannot be kept.
        Saved { table: self.path.clone().filter(|path| path.to_str().is_some()) }
    }

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
        let exact = |source: &&usize| unescape(pairs.source_phrase(**source)) == phrase;
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

impl Session {
    /// The model that scores the table: the chosen one while it has a column, else that of the selected column, else
    /// of the first; none that failed.
    pub fn phrase_model(&self) -> Option<&Path> {
        let usable = || self.models().filter(|column| !matches!(column.state, ColumnState::Failed(_)));
        let chosen = usable().find(|column| Some(&column.folder) == self.phrases.model.as_ref());
        let selected = || usable().find(|column| Some(column.id) == self.selection.column);
        chosen.or_else(selected).or_else(|| usable().next()).map(|column| column.folder.as_path())
    }

    /// Whether the table is there and its scores by the chosen model are neither shown nor being made.
    pub fn wants_phrase_scores(&self) -> bool {
        let phrases = &self.phrases;
        let is_shown = phrases.charted.as_ref().is_some_and(|(model, _)| Some(model.as_path()) == self.phrase_model());
        phrases.pairs.is_some() && phrases.task.is_none() && !is_shown
    }

    /// Does what the user asked for.
    pub(super) fn apply_to_phrases(&mut self, command: Command) {
        match command {
            Command::DismissMessage => self.phrases.message = None,
            Command::Open(path) => self.open_phrases(path),
            Command::Close => {
                self.stop_phrases();
                self.phrases.forget_table();
                self.phrases.path = None;
                self.revision += 1;
            }
            Command::Score => self.score_phrases(),
            Command::SetModel(folder) => {
                self.phrases.model = Some(folder);
                self.score_phrases();
            }
            Command::SetFeature(feature) => {
                let most = self.phrases.pairs.as_ref().map_or(0, |pairs| pairs.features());
                if (1..=most).contains(&feature) && feature != self.phrases.feature {
                    self.phrases.feature = feature;
                    if self.phrases.task.is_none() {
                        self.score_phrases();
                    }
                }
            }
            Command::TypeSource(text) => self.phrases.look_up(text),
            Command::PickSource(source) => self.phrases.pick(source),
            Command::Search(text) => self.phrases.find(text),
            Command::Select(pair) => {
                let pairs = self.phrases.pairs.clone();
                self.phrases.selected = pair.filter(|pair| pairs.as_ref().is_some_and(|pairs| *pair < pairs.len()));
                if let (Some(pair), Some(pairs)) = (self.phrases.selected, pairs) {
                    self.phrases.pick(pairs.source_of(pair));
                }
            }
            Command::Sample => self.sample_phrase(),
            Command::Export(path) => self.export_phrases(path),
        }
        self.rank_targets();
    }

    /// Reads a table; what was open goes.
    pub(super) fn open_phrases(&mut self, path: PathBuf) {
        self.stop_phrases();
        self.phrases.forget_table();
        self.phrases.message = None;
        self.phrases.path = Some(path.clone());
        self.revision += 1;
        self.order_phrases(Job::Read { table: path });
    }

    fn stop_phrases(&mut self) {
        for number in [self.phrases.task, self.phrases.sampling].into_iter().flatten() {
            self.cancel_task(number);
        }
    }

    fn order_phrases(&mut self, job: Job) {
        self.phrases.message = None;
        self.phrases.task = Some(self.order(Page::Phrases, Order::Phrases(job)));
    }

    /// Sees to it that the chosen model's scores are there and compared with the chosen feature.
    fn score_phrases(&mut self) {
        let (Some(pairs), Some(model)) = (self.phrases.pairs.clone(), self.phrase_model().map(Path::to_path_buf))
        else {
            return;
        };
        let feature = self.phrases.feature;
        if self.phrases.charted.as_ref().is_some_and(|(folder, n)| *folder == model && *n == feature) {
            self.stop_phrases();
            return;
        }
        self.stop_phrases();
        self.phrases.chart = None;
        self.phrases.charted = None;
        self.phrases.revision += 1;
        let job = match self.phrases.scores.get(&model).cloned() {
            Some(log_p) => Job::Compare(Scores { model, pairs, log_p }, feature),
            None => Job::Score { model, device: self.settings.device, pairs, feature },
        };
        self.order_phrases(job);
    }

    /// The samples of the shown source phrase by the chosen model.
    pub fn phrase_samples(&self) -> Option<&Samples> {
        let phrases = &self.phrases;
        let source = phrases.pairs.as_ref()?.source_phrase(phrases.source?);
        let of_this =
            |samples: &&Samples| samples.source == source && Some(samples.model.as_path()) == self.phrase_model();
        phrases.samples.as_ref().filter(of_this)
    }

    fn sample_phrase(&mut self) {
        let model = self.phrase_model().map(Path::to_path_buf);
        let source = self.phrases.pairs.as_ref().zip(self.phrases.source);
        let source = source.map(|(pairs, source)| pairs.source_phrase(source).to_owned());
        let (Some(model), Some(source), None) = (model, source, self.phrases.sampling) else { return };
        let seed = self.phrase_samples().map_or(1, |samples| samples.seed + 1);
        let job = Job::Sample { model, device: self.settings.device, source, seed };
        self.phrases.sampling = Some(self.order(Page::Phrases, Order::Phrases(job)));
    }

    fn export_phrases(&mut self, path: PathBuf) {
        let phrases = &self.phrases;
        let model = self.phrase_model().map(Path::to_path_buf);
        let scores = model.as_ref().and_then(|model| phrases.scores.get(model));
        let (Some(pairs), Some(model), Some(log_p)) = (&phrases.pairs, &model, scores) else {
            self.notify("There is nothing to export yet, because no table is scored", true);
            return;
        };
        let scores = Scores { model: model.clone(), pairs: Arc::clone(pairs), log_p: Arc::clone(log_p) };
        let job = Job::Export { path, scores, feature: phrases.feature };
        self.order(Page::Phrases, Order::Phrases(job));
    }

    /// The best targets of the source phrase, by both scores.
    fn rank_targets(&mut self) {
        let model = self.phrase_model().map(Path::to_path_buf);
        let phrases = &mut self.phrases;
        (phrases.by_model, phrases.by_table) = (Vec::new(), Vec::new());
        let (Some(pairs), Some(source)) = (&phrases.pairs, phrases.source) else { return };
        let of_source = pairs.of_source(source);
        let top = |value: &dyn Fn(usize) -> Option<f32>| -> Vec<usize> {
            let values: Vec<f64> =
                of_source.iter().map(|pair| value(*pair as usize).map_or(f64::NAN, f64::from)).collect();
            best(&values, TOP).into_iter().map(|at| of_source[at] as usize).collect()
        };
        phrases.by_table = top(&|pair| pairs.feature(pair, phrases.feature));
        if let Some(scores) = model.and_then(|model| phrases.scores.get(&model)) {
            phrases.by_model = top(&|pair| scores.get(pair).copied());
        }
    }

    /// An order is done.
    pub(super) fn phrases_scored(&mut self, number: u64, found: Scored) {
        if let Scored::Written(path) = found {
            self.notify(format!("Saved {}", path.display()), false);
            return;
        }
        if let Scored::Sampled(samples) = found {
            if self.phrases.sampling == Some(number) {
                self.phrases.sampling = None;
                self.phrases.samples = Some(samples);
            }
            return;
        }
        if self.phrases.task != Some(number) {
            return;
        }
        self.phrases.task = None;
        match found {
            Scored::Read(pairs) => {
                self.phrases.feature = Phrases::first_feature(&pairs);
                self.phrases.suggested = pairs.largest(SUGGESTED);
                self.phrases.pairs = Some(pairs);
                self.score_phrases();
            }
            Scored::Compared(scores, feature, chart) => {
                let is_wanted = self.phrase_model() == Some(scores.model.as_path()) && feature == self.phrases.feature;
                self.phrases.scores.insert(scores.model.clone(), scores.log_p);
                if is_wanted {
                    self.phrases.charted = Some((scores.model, feature));
                    self.phrases.chart = Some(chart);
                    self.phrases.revision += 1;
                } else {
                    self.score_phrases();
                }
            }
            Scored::Written(_) | Scored::Sampled(_) => {}
        }
        self.rank_targets();
    }

    /// Nothing came of an order: it failed, for the reason given, or was cancelled.
    pub(super) fn phrases_ended(&mut self, number: u64, message: Option<String>) {
        self.phrases.sampling = self.phrases.sampling.filter(|sampling| *sampling != number);
        if self.phrases.task == Some(number) {
            self.phrases.task = None;
            self.phrases.message = message;
        } else if let Some(message) = message {
            self.notify(message, true);
        }
    }
}
