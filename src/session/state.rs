//! Floor 9: the state of the explorer. Imports the worker and below; no egui, no candle, no thread.
//!
//! Every act of the user is a [`Command`]; [`Session::apply`] changes the state and notes the [`Effect`]s that it has
//! outside. [`Session::absorb`] and its like take in what comes back. Views read `&Session` and change nothing.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::PathBuf;

use crate::analysis::reading::Reading;
use crate::app::document::scene::{Scene, SearchSettings, cut};
use crate::app::document::table::Units;
use crate::app::effect::{Chore, Effect, News};
use crate::app::open_with::OpenWith;
use crate::app::page::Page;
use crate::app::saved::saved_figure::SavedFigure;
use crate::app::saved::saved_interventions::SavedInterventions;
use crate::app::saved::saved_variant::SavedVariant;
use crate::app::settings::{Settings, Shown, Whose};
use crate::app::shared::Shared;
use crate::jobs::corpus::thread::CorpusNews;
use crate::jobs::files::follow::Seen;
use crate::jobs::files::texts::Texts;
use crate::jobs::live::protocol::{EnsembleSpec, Event};
use crate::jobs::queue::{CorpusEvent, Kind};
use crate::jobs::steps::StepsEvent;
use crate::nn::device::DeviceChoice;
use crate::pages::Pages;
use crate::pages::corpus::{Workbench, WorkbenchCommand};
use crate::pages::evaluation::Evaluation;
use crate::pages::evaluation::command::{EvaluationCommand, TestCommand};
use crate::pages::map::Maps;
use crate::pages::phrases::Phrases;
use crate::pages::sentence::command::List;
use crate::pages::shape::PageState as _;
use crate::pages::steps::Steps;
use crate::pages::training::NewTraining;
use crate::session::command::{Command, SettingsCommand, TaskCommand, WindowCommand};
use crate::session::lessons::Lessons;
use crate::session::persist;
use crate::session::persist::{OWN_READING, SavedColumn, SavedFile, SavedSession};

/// The folder of the user's own lessons, beside that of the models.
const LESSONS: &str = "lessons";

/// The state of the application. Read it; change it by commands. What the pages share is read as the session's own.
pub struct Session {
    shared: Shared,
    pages: Pages,
    training: NewTraining,
    lessons: Lessons,
}

impl Deref for Session {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::start(None, &OpenWith::default())
    }
}

impl Session {
    /// A session that goes on where `saved` stopped; what `options` names goes first.
    pub fn start(saved: Option<SavedSession>, options: &OpenWith) -> Self {
        let is_first_start = saved.is_none();
        let saved = saved.unwrap_or_default();
        let mut shared = Shared {
            settings: settings_of(&saved, options.device),
            drawing: saved.figure.drawing(),
            layout: saved.layout,
            kept_figure: None,
            bundled: options.bundled.clone(),
            page: Page::of_key(&saved.page),
            ..Shared::default()
        };
        shared.lists.translated = saved.translated;
        for file in saved.files {
            shared.add_file(file.path, file.target, false);
        }
        shared.lists.shown = shared.lists.existing(persist::list_of(&saved.list));
        let first = shared.lists.sentence_of(List::Examples, 0).map(Cow::into_owned);
        shared.scene = Scene {
            position: (saved.source.is_none() && first.is_some()).then_some(0),
            source: saved.source.or(first).map(|text| cut(text).0).unwrap_or_default(),
            search: SearchSettings {
                beam: saved.beam.clamp(1, 50),
                length_normalization: saved.length_normalization.clamp(0.0, 2.0),
                forbid_unk: saved.forbid_unk,
            },
            given: saved.given.map(|text| cut(text).0),
            interventions: saved.interventions.into_iter().filter_map(SavedInterventions::owned).collect(),
            variants: saved.variants.into_iter().filter_map(|one| one.variant(shared.fresh_id())).collect(),
        };
        shared.scene.position = shared.scene.position.or_else(|| shared.position_of_source());
        if let Some(path) = options.source.clone() {
            shared.add_file(path, options.target.clone(), true);
        }
        let models = |folders: &[PathBuf]| folders.iter().cloned().map(SavedColumn::Model).collect();
        let columns: Vec<SavedColumn> = if options.models.is_empty() {
            saved.columns.unwrap_or_else(|| models(&options.opening))
        } else {
            models(&options.models)
        };
        for column in columns {
            match column {
                SavedColumn::Model(folder) => shared.add_column(folder),
                SavedColumn::Ensemble(saved) => shared.add_ensemble(saved.spec()),
            }
        }
        // What makes no sense was set aside when the file was read.
        let pages = Pages::restored(saved.pages).unwrap_or_default();
        if !pages.evaluation.logs.is_empty() {
            pages.evaluation.follow(&mut shared);
        }
        shared.request();
        if let Some(path) = options.interventions.clone() {
            shared.open_interventions(path);
        }
        shared.begun(is_first_start);
        let beside = options.home.as_deref().and_then(std::path::Path::parent);
        let lessons = Lessons::new(beside.map(|folder| folder.join(LESSONS)));
        Self { shared, pages, training: NewTraining::default(), lessons }
    }

    /// What is worth keeping. While a lesson is open, that is what it goes back to.
    pub fn saved(&self) -> SavedSession {
        let left = self.lessons.left();
        let Settings { device, reading, palette, theme, zoom, .. } = &self.shared.settings;
        let Settings { unk_replacement, shown, pieces, links, .. } =
            left.map_or(&self.shared.settings, |left| &left.settings);
        let Scene { source, search, given, interventions, variants, .. } =
            left.map_or(&self.shared.scene, |left| &left.scene);
        let mut layout = self.shared.layout.clone();
        layout.extend(left.iter().flat_map(|left| &left.layout).map(|(key, value)| ((*key).to_owned(), *value)));
        let shown_columns = || self.shared.columns.iter().filter_map(SavedColumn::of).collect();
        let columns = left.map_or_else(shown_columns, |left| {
            let saved =
                |(folder, ensemble): &(PathBuf, Option<EnsembleSpec>)| SavedColumn::of_parts(folder, ensemble.as_ref());
            left.columns.iter().filter_map(saved).collect()
        });
        let lists = &self.shared.lists;
        SavedSession {
            source: Some(source.clone()),
            given: given.clone(),
            translated: lists.translated.clone(),
            files: lists.files.iter().filter_map(SavedFile::of).collect(),
            columns: Some(columns),
            interventions: interventions.iter().filter_map(SavedInterventions::of).collect(),
            variants: variants.iter().filter_map(SavedVariant::of).collect(),
            list: persist::list_name(lists.shown),
            layout,
            figure: SavedFigure::of(&self.shared.drawing),
            palette: palette.clone(),
            theme: persist::theme_name(*theme).to_owned(),
            zoom: *zoom,
            beam: search.beam,
            length_normalization: search.length_normalization,
            forbid_unk: search.forbid_unk,
            unk_replacement: *unk_replacement,
            device: device.to_string(),
            // what is measured is another one at the next start
            shown: if *shown == Shown::Energies { "energies" } else { "alpha" }.to_owned(),
            rows_by: reading.map_or(OWN_READING, Reading::name).to_owned(),
            units: if *pieces { Units::Pieces } else { Units::Words }.name().to_owned(),
            links: *links,
            page: left.map_or(self.shared.page, |left| left.page).key().to_owned(),
            pages: self.pages.saved(),
            ..SavedSession::default()
        }
    }

    /// The page Evaluation.
    pub fn evaluation(&self) -> &Evaluation {
        &self.pages.evaluation
    }

    /// The page Map.
    pub fn maps(&self) -> &Maps {
        &self.pages.maps
    }

    /// The page Phrases.
    pub fn phrases(&self) -> &Phrases {
        &self.pages.phrases
    }

    /// The page Steps.
    pub fn steps(&self) -> &Steps {
        &self.pages.steps
    }

    /// The page Corpus.
    pub fn workbench(&self) -> &Workbench {
        &self.pages.workbench
    }

    /// The sheet New training.
    pub fn training(&self) -> &NewTraining {
        &self.training
    }

    /// The lessons, and the one that is open.
    pub fn lessons(&self) -> &Lessons {
        &self.lessons
    }

    /// Does what the user asked for.
    pub fn apply(&mut self, command: impl Into<Command>) {
        self.does(command.into());
        self.go_on();
    }

    /// Does one thing.
    fn does(&mut self, command: Command) {
        let shared = &mut self.shared;
        match command {
            Command::Sentence(command) => self.pages.sentence.apply(command, shared),
            Command::Evaluation(command) => self.pages.evaluation.apply(command, shared),
            Command::Map(command) => self.pages.maps.apply(command, shared),
            Command::Phrases(command) => self.pages.phrases.apply(command, shared),
            Command::Steps(command) => self.pages.steps.apply(command, shared),
            Command::Workbench(command) => self.pages.workbench.apply(command, shared),
            Command::Training(command) => self.training.apply(command, shared),
            Command::Lesson(command) => {
                let commands = self.lessons.apply(command, shared, &self.pages.steps);
                for command in commands {
                    self.does(command);
                }
            }
            Command::Window(command) => apply_to_window(command, shared),
            Command::Settings(command) => apply_to_settings(command, shared),
            Command::Task(TaskCommand::Pause(number, is_paused)) => shared.pause(number, is_paused),
            Command::Task(TaskCommand::Cancel(number)) => {
                if let Some(page) = shared.cancel(number) {
                    self.pages.get_mut(page).ended(number, None, shared);
                }
            }
        }
        self.pages.steps.follow(&mut self.shared);
    }

    /// An open lesson goes on as far as it can.
    fn go_on(&mut self) {
        loop {
            let commands = self.lessons.go_on(&mut self.shared, &self.pages.steps);
            if commands.is_empty() {
                return;
            }
            for command in commands {
                self.does(command);
            }
        }
    }

    /// What is to be carried out since the last call, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        self.shared.take_effects()
    }

    /// Takes in an event of the worker; true when anything changed.
    pub fn absorb(&mut self, event: Event) -> bool {
        let changed = self.shared.absorb(event);
        self.pages.steps.follow(&mut self.shared);
        self.go_on();
        changed
    }

    /// Takes in what became of a translation that was taken apart; true when anything changed.
    pub fn absorb_steps(&mut self, event: StepsEvent) -> bool {
        self.pages.steps.found(event.number, event.found, &mut self.shared);
        self.go_on();
        true
    }

    /// Takes in what the lane of the workspace tells; true when anything changed.
    pub fn absorb_corpus_news(&mut self, news: CorpusNews) -> bool {
        self.pages.workbench.hear(news, &mut self.shared);
        true
    }

    /// Takes in an event of the corpus lane; true when anything changed. One of an order that was cancelled changes
    /// nothing.
    pub fn absorb_corpus(&mut self, event: CorpusEvent) -> bool {
        let CorpusEvent { number, kind } = event;
        let Some(at) = self.shared.tasks.iter().position(|task| task.number == number) else { return false };
        let message = match kind {
            Kind::Progress(progress) => {
                self.shared.tasks[at].progress = Some(progress);
                return true;
            }
            Kind::Found(found) => {
                self.shared.tasks.remove(at);
                self.pages.found(number, found, &mut self.shared);
                return true;
            }
            Kind::Failed(message) => Some(message),
            Kind::Cancelled => None,
        };
        let page = self.shared.tasks.remove(at).page;
        self.pages.get_mut(page).ended(number, message, &mut self.shared);
        true
    }

    /// Takes in what a followed training log holds now; true when anything changed.
    pub fn absorb_seen(&mut self, seen: Seen) -> bool {
        self.pages.evaluation.absorb_seen(seen)
    }

    /// Takes in the user's own lessons.
    pub fn absorb_texts(&mut self, texts: &Texts) {
        self.lessons.absorb(texts);
        self.go_on();
    }

    /// Takes in what became of a chore.
    pub fn hear(&mut self, news: News) {
        let shared = &mut self.shared;
        match news {
            News::Opened { path, what, on } => self.pages.get_mut(on.taker(what)).dropped(what, path, shared),
            News::Links { path, on: Page::Evaluation } => {
                self.pages.evaluation.apply(EvaluationCommand::Test(TestCommand::SetGold(Some(path))), shared);
            }
            News::Links { path, on: Page::Workbench } if self.pages.workbench.path.is_some() => {
                self.pages.workbench.apply(WorkbenchCommand::import_gold(path), shared);
            }
            News::Links { path, .. } => shared.open_gold(path),
            News::Gold { path, list, target, links, note } => shared.gold_read(&path, (&list, target), &links, &note),
            News::Logs { path, found } => self.pages.evaluation.open_logs(&path, found, shared),
            News::FirstSet(files) => self.pages.evaluation.take(files, shared),
            News::Aligned { number, links } => shared.aligned(number, links),
            News::Read { path, lines } => shared.file_read(&path, &lines),
            News::ReadFailed { path, message } => {
                shared.file_failed(&path);
                shared.notify(message, true);
            }
            News::Painted(pixels) => shared.picture_painted(pixels),
            News::TrainingSaved { path, trouble } => self.training.told(path, trouble),
            News::Notice { text, is_error } => shared.notify(text, is_error),
        }
    }

    /// Looks through some more of the shown list; false when there was nothing left to do.
    pub fn search_some(&mut self) -> bool {
        self.shared.lists.search_some()
    }
}

fn settings_of(saved: &SavedSession, device: Option<DeviceChoice>) -> Settings {
    Settings {
        unk_replacement: saved.unk_replacement,
        device: device.or_else(|| saved.device.parse().ok()).unwrap_or(DeviceChoice::Auto),
        shown: if saved.shown == "energies" { Shown::Energies } else { Shown::Alpha },
        reading: Reading::from_name(&saved.rows_by),
        pieces: saved.units == Units::Pieces.name(),
        links: saved.links,
        whose: Whose::Given,
        palette: saved.palette.clone(),
        theme: persist::theme_of(&saved.theme),
        zoom: saved.zoom.clamp(0.5, 3.0),
    }
}

fn apply_to_window(command: WindowCommand, shared: &mut Shared) {
    match command {
        WindowCommand::Open(path) => shared.chore(Chore::Look { path, on: Page::Sentence }),
        WindowCommand::Drop(path) => {
            let on = shared.page;
            shared.chore(Chore::Look { path, on });
        }
        WindowCommand::KeepFigure(figure) => shared.kept_figure = Some(figure),
        WindowCommand::SaveFigure(path) => match shared.kept_figure.take() {
            Some(figure) => shared.chore(Chore::WriteFigure { path, figure }),
            None => shared.notify("There is no picture to save", true),
        },
        WindowCommand::ShowPage(page) => shared.show_page(page),
        WindowCommand::DismissNotice(id) => shared.notices.retain(|notice| notice.id != id),
        WindowCommand::SetLayout { key, value } => {
            if value.is_finite() && shared.layout.insert(key, value) != Some(value) {
                shared.changed();
            }
        }
    }
}

fn apply_to_settings(command: SettingsCommand, shared: &mut Shared) {
    let settings = &mut shared.settings;
    match command {
        SettingsCommand::SetDevice(device) => return shared.set_device(device),
        SettingsCommand::SetUnkReplacement(on) => {
            settings.unk_replacement = on;
            shared.tell_variants();
        }
        SettingsCommand::SetShown(shown) => settings.shown = shown,
        SettingsCommand::SetReading(reading) => {
            settings.reading = reading;
            shared.rebuild_all();
        }
        SettingsCommand::SetPieces(on) => {
            settings.pieces = on;
            shared.rebuild_all();
            // the words that were marked are other words now
            (shared.selection.target, shared.hover) = (None, None);
        }
        SettingsCommand::SetLinks(on) => {
            settings.links = on;
            (0..shared.columns.len()).for_each(|at| shared.ask_links(at));
            shared.rebuild_all();
        }
        SettingsCommand::SetPalette(name) => settings.palette = Some(name),
        SettingsCommand::SetTheme(theme) => settings.theme = theme,
        SettingsCommand::SetDrawing(drawing) => shared.drawing = drawing,
        SettingsCommand::SetZoom(zoom) => {
            if zoom.is_finite() {
                settings.zoom = zoom.clamp(0.5, 3.0);
            }
        }
    }
    shared.changed();
}
