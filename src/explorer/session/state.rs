//! The state of the explorer, without threads: [`Session::apply`] handles a [`Command`] and records its [`Effect`]s;
//! [`Session::absorb`] and its like handle what comes back. Views read `&Session` and change nothing.

use std::path::{Path, PathBuf};
use std::{borrow::Cow, sync::Arc};

use crate::app::command::{SettingsCommand, TaskCommand, WindowCommand};
use crate::app::document::column::{Column, ColumnState};
use crate::app::document::sentence_state::{SentenceState, cut};
use crate::app::files::work::{FileEvent, FileJob};
use crate::app::layout::Layout;
use crate::app::{
    files::lists::List, open_with::OpenWith, page::SENTENCE, settings::Settings, state::AppState, tasks::Effect,
    tasks::Tasks, view::ViewState,
};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusNews;
use crate::jobs::queue::{QueueEvent, QueueNews};
use crate::jobs::{
    files::follow::FollowEvent, files::inbox::GivenOver, files::texts::FolderTexts, live::protocol::Event,
    steps::StepsEvent,
};
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::CorpusPage;
use crate::pages::sentence::{SentencePage, lists};
use crate::pages::{Pages, page_of_key, taker};
use crate::pages::{map::MapPage, sentence::command::ColumnCommand, steps::StepsPage, training::NewTraining};
use engine::{decoding::SystemSpec, error::Result, models::choice::ModelSpec};

use crate::pages::{command::Command, lesson::LessonCommand};
use crate::session::persist::{SavedFile, SavedSession, is_text};
use crate::session::{lessons::Lessons, lessons::before::Snapshot, link, link::ShownLink, persist};

/// The folder of the user's own lessons, beside that of the models.
const LESSONS: &str = "lessons";

/// The state of the application, changed by commands alone.
pub struct Session {
    app: AppState,
    pub pages: Pages,
    lessons: Lessons,
    home: Option<PathBuf>,
    /// A link was opened, and what it shows was not seen whole yet.
    is_unseen: bool,
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
        let mut saved = saved.unwrap_or_default();
        // What makes no sense was set aside when the file was read.
        let mut pages = Pages::default().restored(std::mem::take(&mut saved.pages)).unwrap_or_default();
        let shows_little = is_first_start && !options.opening.is_empty();
        let layout = if shows_little { Layout::first() } else { std::mem::take(&mut saved.layout) };
        let view = ViewState {
            settings: Settings {
                device: options.device.unwrap_or(saved.settings.device),
                zoom: saved.settings.zoom.clamp(0.5, 3.0),
                site: options.site.clone().or_else(|| saved.settings.site.clone()),
                ..saved.settings.clone()
            },
            drawing: saved.figure.sound(),
            layout: Layout { class: layout.class || options.class, ..layout },
            page: page_of_key(&saved.page).unwrap_or_default(),
            ..ViewState::default()
        };
        let mut app = AppState { view, bundled: options.bundled.clone(), ..AppState::default() };
        app.lists.translated = std::mem::take(&mut saved.translated);
        for file in std::mem::take(&mut saved.files) {
            lists::add_file(&mut app, file.path, file.target, false);
        }
        app.lists.shown = app.lists.existing(persist::list_of(&saved.list));
        let first = app.lists.sentence_of(List::Examples, 0).map(Cow::into_owned);
        let source = saved.source.clone().or_else(|| first.clone()).unwrap_or_default();
        app.document.state = state_of(&saved, source, &mut app.tasks);
        app.document.state.position = (saved.source.is_none() && first.is_some()).then_some(0);
        app.document.state.position = app.document.state.position.or_else(|| app.position_of_source());
        if !app.document.state.interventions.is_empty() {
            app.notify(
                tr!("What was set by hand the last time is still in force; the line Interventions says what, and takes it away"),
                false,
            );
        }
        if let Some(path) = options.source.clone() {
            // What is named is to be seen.
            app.show_page(SENTENCE);
            lists::add_file(&mut app, path, options.target.clone(), true);
        }
        let columns: Vec<SystemSpec> = if options.models.is_empty() {
            saved.columns.unwrap_or_else(|| options.opening.iter().map(SystemSpec::from).collect())
        } else {
            options.models.iter().map(SystemSpec::from).collect()
        };
        for column in columns {
            app.add_column(column);
        }
        pages.each_mut().into_iter().for_each(|page| page.begin(&mut app));
        app.request();
        if let Some(path) = options.interventions.clone() {
            pages.sentence.open_interventions(&mut app, path);
        }
        for path in options.files.iter().cloned() {
            app.tasks.chore(FileJob::Look { path, on: SENTENCE });
        }
        app.revision = u64::from(is_first_start);
        let beside = options.home.as_deref().and_then(std::path::Path::parent);
        let mut lessons = Lessons::new(beside.map(|folder| folder.join(LESSONS)));
        lessons.progress = saved.lessons;
        let mut session = Self { app, pages, lessons, home: options.home.clone(), is_unseen: false };
        if let Some(link) = &options.link {
            session.apply(WindowCommand::OpenLink(link.clone()));
        }
        session
    }

    /// Whether what a link brought is still on its way: it is kept once it was shown.
    pub fn is_unseen(&mut self) -> bool {
        let is_coming = |column: &Column| column.decoding || matches!(column.state, ColumnState::Loading(_));
        self.is_unseen &= self.app.document.columns.iter().any(is_coming);
        self.is_unseen
    }

    /// What is worth keeping. While a lesson is open, that is what it goes back to.
    pub fn saved(&self) -> SavedSession {
        let left = self.lessons.left();
        let Settings { device, reading, ref palette, theme, language, zoom, .. } = self.app.view.settings;
        let shown = left.map_or(&self.app.view.settings, |left| &left.settings).clone();
        let SentenceState { source, search, given, interventions, variants, interlinear, .. } =
            left.map_or(&self.app.document.state, |left| &left.state);
        let layout = self.app.view.layout.clone();
        let layout = match left {
            Some(left) => layout.showing(&left.layout),
            None => layout,
        };
        let mut columns = left.map_or_else(
            || self.app.document.originals().map(|column| column.system.clone()).collect(),
            |left| left.columns.clone(),
        );
        // JSON holds text, so a path that is not text is left out.
        let are_text = |models: &[ModelSpec]| models.iter().all(|model| is_text(&model.folder));
        columns.retain(|column| are_text(&column.members));
        let lists = &self.app.lists;
        SavedSession {
            source: Some(source.clone()),
            given: given.clone(),
            translated: lists.translated.clone(),
            files: lists.files.iter().filter_map(SavedFile::of).collect(),
            columns: Some(columns),
            interventions: interventions.iter().filter(|owned| are_text(&owned.models)).cloned().collect(),
            variants: variants.iter().filter(|variant| are_text(&variant.models)).cloned().collect(),
            interlinear: (**interlinear).clone(),
            list: persist::list_name(lists.shown),
            layout,
            figure: self.app.view.drawing,
            settings: Settings { device, reading, palette: palette.clone(), theme, language, zoom, ..shown },
            search: *search,
            page: left.map_or(self.app.view.page, |left| left.page).0.key.to_owned(),
            lessons: self.lessons.progress.clone(),
            pages: self.pages.saved(),
            ..SavedSession::default()
        }
    }

    /// The site's address and the state as a link. Error: the state is no text.
    pub fn link(&self) -> Result<String> {
        let lesson = self.lessons.open().map(|open| (open.key.clone(), open.page));
        let site = self.app.view.settings.site.as_deref().unwrap_or_default();
        let shown = match lesson {
            // its page shows what it shows
            Some(_) => ShownLink::default(),
            None => self.looked_at(),
        };
        let ShownLink { selected, word, pages, .. } = shown;
        let link = ShownLink { selected, word, pages, ..ShownLink::new(self.saved(), lesson) };
        Ok(format!("{site}{}", link.text()?))
    }

    /// The part of a link that is looked at and not kept.
    fn looked_at(&self) -> ShownLink {
        let (app, selection) = (&self.app, self.app.view.selection);
        let selected = app.document.originals().position(|column| Some(column.id) == selection.column);
        let word = selection.target.filter(|_| selected.is_some());
        ShownLink { selected, word, pages: self.pages.linked(app), ..ShownLink::default() }
    }

    /// Shows what a link shows. A lesson that is open ends first, and undo goes back to the sentence before.
    fn open_link(&mut self, text: &str) {
        let (link, missing) = match ShownLink::read(text) {
            Ok(link) => link.placed(&self.app.bundled, self.home.as_deref()),
            Err(error) => return self.app.notify(error.to_string(), true),
        };
        self.is_unseen = true;
        self.perform(LessonCommand::Close.into());
        let ShownLink { lesson, lesson_page, selected, word, pages, mut state } = link;
        if !missing.is_empty() {
            self.app.notify(tr!("The link shows models that are not here: {}", missing.join(", ")), true);
        }
        if state.columns.as_ref().is_none_or(Vec::is_empty) {
            state.columns = Some(self.app.document.originals().map(|column| column.system.clone()).collect());
        }
        let source = state.source.clone().unwrap_or_else(|| self.app.document.source().to_owned());
        // The lines under words are of a person's own texts, and no link has any.
        let interlinear = Arc::clone(&self.app.document.state.interlinear);
        let sentence = SentenceState { interlinear, ..state_of(&state, source, &mut self.app.tasks) };
        let page = page_of_key(&state.page).unwrap_or_default();
        for command in Snapshot::of_saved(state, sentence, page, selected).restore(&mut self.app) {
            self.perform(command);
        }
        if lesson.is_empty() {
            self.app.view.selection.target = word.filter(|_| self.app.view.selection.column.is_some());
            self.pages.show_linked(pages, &mut self.app);
            self.follow();
        } else {
            self.perform(LessonCommand::Open(lesson).into());
            self.perform(LessonCommand::Turn(lesson_page).into());
        }
    }

    pub fn app(&self) -> &AppState {
        &self.app
    }

    pub fn sentence(&self) -> &SentencePage {
        &self.pages.sentence
    }

    pub fn maps(&self) -> &MapPage {
        &self.pages.maps
    }

    pub fn steps(&self) -> &StepsPage {
        &self.pages.steps
    }

    #[cfg(not(target_family = "wasm"))]
    pub fn corpus(&self) -> &CorpusPage {
        &self.pages.corpus
    }

    pub fn training(&self) -> &NewTraining {
        &self.pages.training
    }

    pub fn lessons(&self) -> &Lessons {
        &self.lessons
    }

    pub fn apply(&mut self, command: impl Into<Command>) {
        self.perform(command.into());
        self.advance();
    }

    fn perform(&mut self, command: Command) {
        let app = &mut self.app;
        match command {
            Command::Source(command) => app.edit(command),
            Command::Sentence(command) => self.pages.sentence.apply(command, app),
            Command::Map(command) => self.pages.maps.apply(command, app),
            Command::Steps(command) => self.pages.steps.apply(command, app),
            #[cfg(not(target_family = "wasm"))]
            Command::Corpus(command) => self.pages.corpus.apply(command, app),
            Command::Training(command) => self.pages.training.apply(command, app),
            Command::Lesson(command) => {
                let commands = self.lessons.apply(command, app, &self.pages.steps);
                for command in commands {
                    self.perform(command);
                }
            }
            Command::Window(WindowCommand::OpenLink(link)) => self.open_link(&link),
            Command::Window(WindowCommand::Open(path) | WindowCommand::Drop(path)) if link_in(&path).is_some() => {
                self.open_link(link_in(&path).unwrap_or_default());
            }
            Command::Window(command) => apply_to_window(command, app),
            Command::Settings(command) => apply_to_settings(command, app),
            Command::Task(TaskCommand::Pause(number, is_paused)) => app.tasks.pause(number, is_paused),
            Command::Task(TaskCommand::Cancel(number)) => {
                if let Some(page) = app.tasks.cancel(number).and_then(|page| self.pages.get_mut(page)) {
                    page.ended(number, None, app);
                }
            }
        }
        self.follow();
    }

    /// What pages wait for follows from what is there now.
    fn follow(&mut self) {
        for page in self.pages.each_mut() {
            page.follow(&mut self.app);
        }
    }

    fn advance(&mut self) {
        loop {
            let commands = self.lessons.advance(&mut self.app, &self.pages.steps);
            self.follow();
            if commands.is_empty() {
                return;
            }
            for command in commands {
                self.perform(command);
            }
        }
    }

    pub fn take_effects(&mut self) -> Vec<Effect> {
        self.app.tasks.take_effects()
    }

    pub fn absorb(&mut self, event: Event) -> bool {
        let changed = self.take_in(event);
        self.follow();
        self.advance();
        changed
    }

    /// An event with an old number changes nothing.
    fn take_in(&mut self, event: Event) -> bool {
        let (number, id) = event.address();
        if number.is_some_and(|number| number != self.app.tasks.newest) {
            return false;
        }
        let Some(at) = self.app.document.place(id) else { return false };
        match event {
            Event::Near { near, .. } => self.pages.sentence.near_found(&mut self.app, id, near),
            event => self.app.absorb(at, event),
        }
    }

    pub fn absorb_steps(&mut self, event: StepsEvent) -> bool {
        self.pages.steps.traced(event.number, event.found, &mut self.app);
        self.advance();
        true
    }

    #[cfg(not(target_family = "wasm"))]
    pub fn absorb_corpus(&mut self, news: CorpusNews) -> bool {
        self.pages.corpus.absorb(news, &mut self.app);
        true
    }

    /// True when anything changed; events of a cancelled order change nothing.
    pub fn absorb_job(&mut self, event: QueueEvent) -> bool {
        let QueueEvent { number, kind } = event;
        let message = match kind {
            QueueNews::Progress(progress) => return self.app.tasks.progressed(number, progress),
            QueueNews::Found(found) => {
                let wanted = self.app.tasks.done(number);
                if let Some(page) = wanted.and_then(|page| self.pages.get_mut(page)) {
                    page.found(number, found, &mut self.app);
                }
                return wanted.is_some();
            }
            QueueNews::Failed(message) => Some(message),
            QueueNews::Cancelled => None,
        };
        let Some(page) = self.app.tasks.done(number) else { return false };
        if let Some(page) = self.pages.get_mut(page) {
            page.ended(number, message, &mut self.app);
        }
        true
    }

    pub fn absorb_seen(&mut self, seen: &FollowEvent) -> bool {
        self.pages.each_mut().into_iter().any(|page| page.seen(seen))
    }

    pub fn absorb_texts(&mut self, texts: &FolderTexts) {
        self.lessons.absorb(texts);
        self.advance();
    }

    /// Opens what a second start of the program was given, and has the window come to the front.
    pub fn receive(&mut self, given: GivenOver) {
        if let Some(path) = given.source {
            self.app.show_page(SENTENCE);
            lists::add_file(&mut self.app, path, given.target, true);
        }
        for path in given.files {
            self.apply(WindowCommand::Open(path));
        }
        if let Some(link) = given.link {
            self.apply(WindowCommand::OpenLink(link));
        }
        for model in given.models {
            self.apply(ColumnCommand::Add(model.into()));
        }
        self.app.view.calls += 1;
    }

    pub fn absorb_file(&mut self, news: FileEvent) {
        let app = &mut self.app;
        match news {
            FileEvent::Opened { path, what, on } => {
                if let Some(page) = self.pages.get_mut(taker(on, what)) {
                    page.dropped(what, path, app);
                }
            }
            FileEvent::Gold { path, list, target, links, note } => {
                lists::gold_read(app, &path, (&list, target), &links, &note);
            }
            FileEvent::Aligned { number, links } => app.aligned(number, links),
            FileEvent::Read { path, lines } => lists::file_read(app, &path, &lines),
            FileEvent::ReadFailed { path, message } => {
                lists::file_failed(app, &path);
                app.notify(message, true);
            }
            FileEvent::Aligner(own) => app.add_aligner(own),
            FileEvent::Logs { .. } | FileEvent::Annotated { .. } => {
                self.pages.each_mut().into_iter().for_each(|page| page.absorb_file(&news, app));
            }
            FileEvent::Painted(pixels) => app.picture_painted(pixels),
            FileEvent::TrainingSaved { path, trouble } => self.pages.training.training_saved(path, trouble),
            FileEvent::Notice { text, is_error } => app.notify(text, is_error),
        }
        self.follow();
    }

    /// Looks through some more of the shown list; false when there was nothing left to do.
    pub fn search_some(&mut self) -> bool {
        self.app.lists.search_some()
    }
}

fn apply_to_window(command: WindowCommand, app: &mut AppState) {
    match command {
        WindowCommand::Open(path) => app.tasks.chore(FileJob::Look { path, on: SENTENCE }),
        WindowCommand::Drop(path) => {
            let on = app.view.page;
            app.tasks.chore(FileJob::Look { path, on });
        }
        WindowCommand::KeepFigure(figure) => app.view.kept_figure = Some(figure),
        WindowCommand::SaveFigure(path) => match app.view.kept_figure.take() {
            Some(figure) => app.tasks.chore(FileJob::WriteFigure { path, figure }),
            None => app.notify(tr!("There is no picture to save"), true),
        },
        WindowCommand::OpenLink(_) => {}
        WindowCommand::LinkCopied => {
            let how = match app.view.settings.site {
                Some(_) => tr!("The link is on the clipboard"),
                None => {
                    tr!(
                        "Copied. Others open it here with File, Open. For a link that can be clicked, serve the explorer to your class (interlinear serve) and name its address: interlinear explore --site ADDRESS"
                    )
                }
            };
            app.notify(how, false);
        }
        WindowCommand::ShowPage(page) => app.show_page(page),
        WindowCommand::DismissNotice(id) => app.view.notices.retain(|notice| notice.id != id),
        WindowCommand::SetLayout(layout) => {
            if app.view.layout != *layout {
                app.view.layout = *layout;
                app.changed();
            }
        }
    }
}

fn apply_to_settings(command: SettingsCommand, app: &mut AppState) {
    let settings = &mut app.view.settings;
    match command {
        SettingsCommand::SetDevice(device) => return app.set_device(device),
        SettingsCommand::SetUnkReplacement(on) => {
            settings.unk_replacement = on;
            app.label_variants();
        }
        SettingsCommand::SetShown(shown) => settings.shown = shown,
        SettingsCommand::SetHeads(kind) => app.view.heads = kind,
        SettingsCommand::SetReading(reading) => {
            settings.reading = reading;
            app.rebuild_all();
        }
        SettingsCommand::SetAsked(asked) => {
            settings.links &= !asked.both;
            settings.asked = asked;
            app.rebuild_all();
        }
        SettingsCommand::SetPieces(on) => {
            settings.pieces = on;
            app.rebuild_all();
            // the words that were marked are other words now
            (app.view.selection.target, app.view.hover) = (None, None);
        }
        SettingsCommand::SetLinks(on) => {
            settings.links = on;
            settings.asked.both &= !on;
            app.ask_all_links();
        }
        SettingsCommand::OpenAligner { path, model } => {
            return app.tasks.chore(FileJob::OpenAligner { path, model });
        }
        SettingsCommand::RemoveAligner(gone) => app.remove_aligner(&gone),
        SettingsCommand::SetPalette(name) => settings.palette = Some(name),
        SettingsCommand::SetTheme(theme) => settings.theme = theme,
        SettingsCommand::SetLanguage(language) => settings.language = language,
        SettingsCommand::SetDrawing(drawing) => app.view.drawing = drawing,
        SettingsCommand::SetZoom(zoom) => {
            if zoom.is_finite() {
                settings.zoom = zoom.clamp(0.5, 3.0);
            }
        }
    }
    app.changed();
}

/// The link that was typed or pasted where a path is asked for.
fn link_in(path: &Path) -> Option<&str> {
    link::found_in(path.to_str()?)
}

fn state_of(saved: &SavedSession, source: String, tasks: &mut Tasks) -> SentenceState {
    let interventions = saved.interventions.iter().filter(|owned| !owned.interventions.is_empty());
    SentenceState {
        position: None,
        source: cut(source).0,
        search: saved.search.sound(),
        given: saved.given.clone().map(|text| cut(text).0),
        interventions: interventions.cloned().collect(),
        variants: saved.variants.iter().filter_map(|one| one.clone().sound(tasks.fresh_id())).collect(),
        interlinear: saved.interlinear.clone().sound().into(),
    }
}
