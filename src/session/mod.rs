//! Floor 8: the application without a window. Imports the worker and below; no egui, no candle, no thread, no clock.
//!
//! Every act of the user is a [`Command`]; [`Session::apply`] answers with the [`Request`] that it calls for.
//! [`Session::absorb`] takes in what the worker tells. Views read `&Session` and change nothing.

mod absorb;
mod apply;
pub mod command;
pub mod driver;
pub mod evaluation;
pub mod export;
pub mod figures;
pub mod history;
pub mod lists;
pub mod maps;
pub mod measure;
pub mod new_training;
pub mod pages;
pub mod persist;
pub mod phrases;
pub mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::decoding::{Ranking, SearchOptions};
use crate::models::Kernels;
use crate::session::persist::SavedColumn;
use crate::text::sentence::Sentence;
use crate::worker::protocol::ColumnSpec;

pub use crate::analysis::reading::{READINGS, Reading};
pub use crate::decoding::ensemble::{AVERAGES, AlignmentOf, Average, Mixing};
pub use crate::nn::device::DeviceChoice;
pub use crate::session::command::{Command, Format, Hover, List, Shown, Theme};
pub use crate::session::driver::Driver;
pub use crate::session::lists::{Example, ExampleGroup, OpenFile, Search};
pub use crate::session::pages::{LaneCall, Page, Task};
pub use crate::session::table::{AlignmentTable, LEFT_OUT, Matrix, SourceWord, TargetWord};
pub use crate::worker::corpus::CorpusEvent;
pub use crate::worker::protocol::{ColumnId, ColumnResult, EnsembleSpec, Event, HypothesisView, ModelFacts, Request};

/// Most sentences kept in the history.
pub const MAX_TRANSLATED: usize = 500;
/// Candidates kept for each word, for the inspector.
pub const CANDIDATES: usize = 10;
/// The palette at first start: black is 0, white is 1, as in Bahdanau's figure 3.
pub const FIRST_PALETTE: &str = "gray";

/// How far a column's model is.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnState {
    /// Being read, from 0 to 1.
    Loading(f32),
    /// Ready.
    Ready,
    /// Not loaded; a sentence that says why.
    Failed(String),
}

/// A column: a model and what it makes of the source.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name for as long as it is on screen.
    pub id: ColumnId,
    /// The model folder; of an ensemble that of its first member.
    pub folder: PathBuf,
    /// What it consists of, where it is an ensemble.
    pub ensemble: Option<EnsembleSpec>,
    /// How far its model is.
    pub state: ColumnState,
    /// What the model is, once loaded.
    pub facts: Option<ModelFacts>,
    /// The source as this model read it, of the shown table.
    pub source: Sentence,
    /// The one context vector c where the model has one (rnnencdec). [n]
    pub context: Option<Vec<f32>>,
    /// The beam, best first; one partial hypothesis while decoding.
    pub hypotheses: Vec<HypothesisView>,
    /// Which hypothesis is shown, from 0.
    pub hypothesis: usize,
    /// What is drawn; `None` before the first row and for an empty source.
    pub table: Option<Arc<AlignmentTable>>,
    /// The whole trace and times, once finished.
    pub result: ColumnResult,
    /// The table belongs to an older text: draw it dimmed.
    pub stale: bool,
    /// Words are still being chosen.
    pub decoding: bool,
    /// Why the present text could not be translated, as a sentence.
    pub message: Option<String>,
    /// Source and context of the request under way, until its first row replaces the table.
    pub(crate) pending: Option<(Sentence, Option<Vec<f32>>)>,
    /// The request whose result is on screen, when it is complete.
    pub(crate) done: Option<(String, Wanted)>,
}

/// What a result depends on besides the text: models, device and search.
pub(crate) type Wanted = (PathBuf, Option<EnsembleSpec>, DeviceChoice, SearchOptions);

/// What the search and the picture are set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// From 1 to 50.
    pub beam: usize,
    /// A of log p / |y|^A, from 0 to 2.
    pub length_normalization: f32,
    /// Never emit `[UNK]`.
    pub forbid_unk: bool,
    /// Show the source word of greatest alpha in place of `[UNK]`.
    pub unk_replacement: bool,
    /// Where models compute.
    pub device: DeviceChoice,
    /// alpha or energies.
    pub shown: Shown,
    /// Which word a row of an alignment belongs to, in models where there is a choice.
    pub reading: Reading,
    /// Colour map, by name.
    pub palette: String,
    /// Light, dark or as the system.
    pub theme: Theme,
    /// Size of everything, from 0.5 to 3.
    pub zoom: f32,
}

/// The selected word and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Which column; `None` when there is none.
    pub column: Option<ColumnId>,
    /// Which target word i, from 0.
    pub target: Option<usize>,
}

/// A sentence for the status line, until dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// For [`Command::DismissNotice`].
    pub id: u64,
    /// What to say.
    pub text: String,
    /// Something went wrong.
    pub is_error: bool,
}

/// The state of the application. Read it; change it by commands.
pub struct Session {
    /// From left to right.
    pub columns: Vec<Column>,
    /// The text being translated.
    pub source: String,
    /// The sentences that come with the program.
    pub examples: Vec<ExampleGroup>,
    /// Opened text files.
    pub files: Vec<OpenFile>,
    /// What was translated before, oldest first; at most [`MAX_TRANSLATED`].
    pub translated: Vec<String>,
    /// The shown list.
    pub list: List,
    /// Where in the shown list the source comes from.
    pub position: Option<usize>,
    /// What is looked for in the shown list.
    pub search: Search,
    /// The selected word and column.
    pub selection: Selection,
    /// Where the mouse is; marked in every column.
    pub hover: Option<Hover>,
    /// How to search and draw.
    pub settings: Settings,
    /// Numbers that the window keeps between starts.
    pub layout: BTreeMap<String, f32>,
    /// Sentences for the status line.
    pub notices: Vec<Notice>,
    /// Words a second of the last finished columns together.
    pub words_per_second: f32,
    /// The page that is shown.
    pub page: Page,
    /// The page Evaluation.
    pub evaluation: evaluation::Evaluation,
    /// The page Map.
    pub maps: maps::Maps,
    /// The page Phrases.
    pub phrases: phrases::Phrases,
    /// The sheet New training.
    pub training: new_training::NewTraining,
    /// Work of the pages that is not done, in the order it was asked for.
    pub tasks: Vec<Task>,
    undo: history::Undo,
    /// Number of the newest request; events with any other change nothing.
    newest: u64,
    next_id: u64,
    /// Changes with everything that is saved.
    revision: u64,
    /// The newest sentence of the history came by typing, so that more typing replaces it.
    typed_on: bool,
    /// The source came by typing.
    typed: bool,
    chores: Vec<driver::Chore>,
    lane_calls: Vec<LaneCall>,
    /// A sentence that a page opens; see [`Session::show_sentence`].
    to_open: Option<String>,
    /// Other logs are to be followed than before.
    follows_others: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            beam: 5,
            length_normalization: 0.0,
            forbid_unk: false,
            unk_replacement: false,
            device: DeviceChoice::Auto,
            shown: Shown::Alpha,
            reading: Reading::default(),
            palette: FIRST_PALETTE.to_owned(),
            theme: Theme::System,
            zoom: 1.0,
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::start(None, &driver::Options::default())
    }
}

impl Session {
    /// A session that goes on where `saved` stopped; what `options` names goes first.
    pub fn start(saved: Option<persist::SavedSession>, options: &driver::Options) -> Self {
        let mut session = Self::blank();
        let first_start = saved.is_none();
        let saved = saved.unwrap_or_default();
        session.settings = Settings {
            beam: saved.beam.clamp(1, 50),
            length_normalization: saved.length_normalization.clamp(0.0, 2.0),
            forbid_unk: saved.forbid_unk,
            unk_replacement: saved.unk_replacement,
            device: options.device.or_else(|| saved.device.parse().ok()).unwrap_or(DeviceChoice::Auto),
            shown: if saved.shown == "energies" { Shown::Energies } else { Shown::Alpha },
            reading: Reading::from_name(&saved.reading).unwrap_or_default(),
            palette: saved.palette.unwrap_or_else(|| FIRST_PALETTE.to_owned()),
            theme: persist::theme_of(&saved.theme),
            zoom: saved.zoom.clamp(0.5, 3.0),
        };
        session.layout = saved.layout;
        session.page = Page::of_key(&saved.page);
        session.evaluation = evaluation::Evaluation::of(saved.evaluation);
        session.follows_others = !session.evaluation.logs.is_empty();
        session.maps = maps::Maps::of(saved.maps);
        session.phrases = phrases::Phrases::of(saved.phrases);
        session.translated = saved.translated;
        for file in saved.files {
            session.add_file(file.path, file.target, false);
        }
        session.list = session.existing(persist::list_of(&saved.list));
        let first = session.list_sentence_of(List::Examples, 0).map(std::borrow::Cow::into_owned);
        session.position = (saved.source.is_none() && first.is_some()).then_some(0);
        session.source = saved.source.or(first).unwrap_or_default();
        if let Some(path) = options.source.clone() {
            session.add_file(path, options.target.clone(), true);
        }
        let models = |folders: &[PathBuf]| folders.iter().cloned().map(SavedColumn::Model).collect();
        let columns: Vec<SavedColumn> = if options.models.is_empty() {
            saved.columns.unwrap_or_else(|| models(&options.opening))
        } else {
            models(&options.models)
        };
        for column in columns {
            match column {
                SavedColumn::Model(folder) => session.add_column(folder),
                SavedColumn::Ensemble(saved) => session.add_ensemble(saved.spec()),
            }
        }
        // The first start is worth keeping too; what was only read back is not written again.
        session.revision = u64::from(first_start);
        session
    }

    fn blank() -> Self {
        Self {
            columns: Vec::new(),
            source: String::new(),
            examples: lists::examples(),
            files: Vec::new(),
            translated: Vec::new(),
            list: List::Examples,
            position: None,
            search: Search::default(),
            selection: Selection::default(),
            hover: None,
            settings: Settings::default(),
            layout: BTreeMap::new(),
            notices: Vec::new(),
            words_per_second: 0.0,
            page: Page::default(),
            evaluation: evaluation::Evaluation::default(),
            maps: maps::Maps::default(),
            phrases: phrases::Phrases::default(),
            training: new_training::NewTraining::default(),
            tasks: Vec::new(),
            undo: history::Undo::default(),
            newest: 0,
            next_id: 0,
            revision: 0,
            typed_on: false,
            typed: false,
            chores: Vec::new(),
            lane_calls: Vec::new(),
            to_open: None,
            follows_others: false,
        }
    }

    /// The column of this name.
    pub fn column(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// The columns that are one model each, without ensembles.
    pub fn models(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.ensemble.is_none())
    }

    /// The selected column, else the first that has a table.
    pub fn selected_column(&self) -> Option<&Column> {
        let selected = self.selection.column.and_then(|id| self.column(id));
        selected.or_else(|| self.columns.iter().find(|column| column.table.is_some())).or(self.columns.first())
    }

    /// The word for the inspector: its column, its position i and itself.
    pub fn selected_word(&self) -> Option<(&Column, usize, &TargetWord)> {
        let column = self.column(self.selection.column?)?;
        let i = self.selection.target?;
        Some((column, i, column.table.as_ref()?.target.get(i)?))
    }

    /// Whether there is an edit to take back.
    pub fn can_undo(&self) -> bool {
        self.undo.can_undo()
    }

    /// Whether there is an edit to do again.
    pub fn can_redo(&self) -> bool {
        self.undo.can_redo()
    }

    /// How many columns are still choosing words.
    pub fn decoding(&self) -> usize {
        self.columns.iter().filter(|column| column.decoding).count()
    }

    /// Grows with every change that is saved.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The number of the newest request.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Adds a sentence to the status line.
    pub fn notify(&mut self, text: impl Into<String>, is_error: bool) {
        let text = text.into();
        // The same trouble told again (a full disk at every save) stays one notice.
        if self.notices.iter().any(|notice| notice.text == text) {
            return;
        }
        let id = self.fresh_id();
        self.notices.push(Notice { id, text, is_error });
        if self.notices.len() > 20 {
            self.notices.remove(0);
        }
    }

    /// The files' work that came up since the last call.
    pub fn take_chores(&mut self) -> Vec<driver::Chore> {
        std::mem::take(&mut self.chores)
    }

    /// All that is wanted now, under a new number; everything older is stale from here on.
    pub fn request(&mut self) -> Request {
        self.request_by(Column::want)
    }

    /// The models are wanted and nothing is to be translated.
    fn request_to_rest(&mut self) -> Request {
        self.request_by(|column, _, _| {
            (column.pending, column.decoding) = (None, false);
            false
        })
    }

    /// `want` prepares a column for the source and says whether it has to be decoded.
    fn request_by(&mut self, want: impl Fn(&mut Column, &str, &Wanted) -> bool) -> Request {
        self.newest += 1;
        let mut columns = Vec::with_capacity(self.columns.len());
        let (source, options, device) = (self.source.clone(), self.search_options(), self.settings.device);
        for column in &mut self.columns {
            let wanted = (column.folder.clone(), column.ensemble.clone(), device, options.clone());
            let decode = want(column, &source, &wanted);
            let (folder, ensemble, device, options) = wanted;
            columns.push(ColumnSpec {
                column: column.id,
                folder,
                ensemble,
                device,
                engine: Kernels::Fused,
                options,
                decode,
            });
        }
        Request { number: self.newest, source, columns }
    }

    fn search_options(&self) -> SearchOptions {
        SearchOptions {
            beam: self.settings.beam,
            ranking: Ranking::power(self.settings.length_normalization),
            forbid_unk: self.settings.forbid_unk,
            candidates: CANDIDATES,
            trace: true,
            ..SearchOptions::default()
        }
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn add_column(&mut self, folder: PathBuf) {
        let id = self.fresh_id();
        self.columns.push(Column::new(id, kept(folder), None));
    }

    /// Two or more models as one; fewer are none.
    fn add_ensemble(&mut self, mut ensemble: EnsembleSpec) {
        ensemble.members = ensemble.members.into_iter().map(kept).collect();
        if let [first, _, ..] = ensemble.members.as_slice() {
            let (id, folder) = (self.fresh_id(), first.clone());
            self.columns.push(Column::new(id, folder, Some(ensemble)));
        }
    }
}

/// A folder as it is kept: one that is there has its whole path, so that the next start, elsewhere, finds it too.
fn kept(folder: PathBuf) -> PathBuf {
    if folder.is_relative() && folder.is_dir() { std::path::absolute(&folder).unwrap_or(folder) } else { folder }
}

impl Column {
    fn new(id: ColumnId, folder: PathBuf, ensemble: Option<EnsembleSpec>) -> Self {
        Self {
            id,
            folder,
            ensemble,
            state: ColumnState::Loading(0.0),
            facts: None,
            source: Sentence::default(),
            context: None,
            hypotheses: Vec::new(),
            hypothesis: 0,
            table: None,
            result: ColumnResult::default(),
            stale: false,
            decoding: false,
            message: None,
            pending: None,
            done: None,
        }
    }

    /// What to call it: the model's name, or the folder's before it is loaded.
    pub fn name(&self) -> String {
        let folders = || match &self.ensemble {
            None => evaluation::file_name(&self.folder),
            Some(ensemble) => {
                let names: Vec<String> = ensemble.members.iter().map(|folder| evaluation::file_name(folder)).collect();
                names.join(" + ")
            }
        };
        self.facts.as_ref().map_or_else(folders, |facts| facts.name.clone())
    }

    /// The shown hypothesis.
    pub fn shown(&self) -> Option<&HypothesisView> {
        self.hypotheses.get(self.hypothesis)
    }

    /// Prepares for a request; true when it has to be decoded.
    fn want(&mut self, source: &str, wanted: &Wanted) -> bool {
        self.pending = None;
        if source.trim().is_empty() {
            self.empty();
            return false;
        }
        let decode = self.done.as_ref().is_none_or(|(text, what)| text != source || what != wanted);
        self.decoding = decode && !matches!(self.state, ColumnState::Failed(_));
        self.stale = decode && self.table.is_some();
        decode
    }

    /// Shows nothing.
    fn empty(&mut self) {
        self.source = Sentence::default();
        self.context = None;
        self.hypotheses.clear();
        self.hypothesis = 0;
        self.table = None;
        self.result = ColumnResult::default();
        (self.stale, self.decoding, self.message, self.done) = (false, false, None, None);
    }
}
