//! Lessons: guided pages that use the program itself. Which one is open, how far it has come, and what was
//! answered. A page is a list of parts; what it does comes about one thing after the other, as soon as it can.

pub mod before;
pub mod doing;
pub mod handout;
pub mod progress;
pub mod script;
pub mod shelf;
pub mod spoken;
pub mod things;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::{path::PathBuf, sync::Arc};

use crate::app::files::work::{FileJob, FileWork};
use crate::app::lights::{Highlight, Lights};
use crate::app::{
    document::column::Column, files::drawing::Drawing, files::export, layout::Look, page::SENTENCE,
    settings::LIGHT_PALETTE, state::AppState, tasks::Effect, view::Selection,
};
use crate::jobs::files::texts::FolderTexts;
use crate::pages::{command::Command, lesson::LessonCommand, steps::STEPS, steps::StepsPage, steps::picture::figure};
use crate::session::lessons::doing::{StepBaseline, StepOutcome, is_apart, settled};
use crate::session::lessons::handout::{OnPaper, Paper};
use crate::session::lessons::progress::{Answers, Progress};
use crate::session::lessons::script::{Ask, LessonChoice, Script, ScriptPage, ScriptPart, Wait, last_of_each};
use crate::session::lessons::shelf::{LessonFile, bundled};
use crate::session::{lessons::before::Snapshot, lessons::things::LessonAct, lessons::things::LessonAction};
use engine::lang;
use figure::palette::ColourMap;

/// All lessons, and the open one.
#[derive(Default)]
pub struct Lessons {
    pub is_shown: bool,
    /// Where the user's own lessons lie; `None`: nowhere.
    pub folder: Option<PathBuf>,
    /// How far each lesson was read, by its key.
    pub progress: BTreeMap<String, Progress>,
    own: Vec<LessonFile>,
    open: Option<Running>,
    left: Option<Snapshot>,
    /// The step that was shown before, until the machine is there again.
    after: Option<LessonAction>,
}

/// How the questions of a lesson were answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LessonOutcome {
    pub asked: usize,
    /// Questions answered rightly.
    pub right: usize,
    pub at_once: usize,
}

/// A lesson that is open.
#[derive(Clone, Debug, Default)]
pub struct Running {
    pub key: String,
    pub script: Arc<Script>,
    /// The page, from 0.
    pub page: usize,
    /// What was chosen, by page and question.
    pub answers: BTreeMap<(usize, usize), usize>,
    pub typed: BTreeMap<(usize, usize), String>,
    /// Whether the reader found a typed answer right.
    pub marked: BTreeMap<(usize, usize), bool>,
    pub missed: BTreeMap<(usize, usize), usize>,
    /// Pages whose answers are shown.
    pub revealed: BTreeSet<usize>,
    /// What was done, by page and part, with the sentence of that time. On a page that is turned back to it is done again,
    /// unless only the reader can do it.
    done: BTreeMap<(usize, usize), String>,
    /// What was passed over, by page and part.
    pub passed: BTreeSet<(usize, usize)>,
    pub lights: Vec<Highlight>,
    /// What the page speaks of and is not so with these models, as sentences.
    pub troubles: Vec<String>,
    /// The part that is waited at; behind the last: none is.
    at: usize,
    /// What is still to be brought about, in this order.
    todo: VecDeque<LessonAction>,
    /// What was so when it was first waited.
    before: Option<StepBaseline>,
    /// What pages showed that were seen, and behind what they wait for.
    pictures: BTreeMap<(usize, bool), OnPaper<Paper>>,
}

impl Running {
    fn begin(key: String, script: Arc<Script>, answers: &Answers) -> Self {
        let mut running = Self {
            key,
            script,
            answers: answers.chosen.iter().copied().collect(),
            typed: answers.typed.iter().cloned().collect(),
            marked: answers.marked.iter().copied().collect(),
            ..Self::default()
        };
        running.turn_to(0);
        running
    }

    pub fn shown(&self) -> &ScriptPage {
        &self.script.pages[self.page.min(self.script.pages.len() - 1)]
    }

    /// The parts that have come so far, what is waited for among them.
    pub fn parts(&self) -> &[ScriptPart] {
        let parts = &self.shown().parts;
        &parts[..parts.len().min(self.at + 1)]
    }

    pub fn waits(&self) -> Option<&Wait> {
        match self.shown().parts.get(self.at) {
            Some(ScriptPart::Wait(wait)) => Some(wait),
            _ => None,
        }
    }

    /// Whether everything so far has come about.
    pub fn is_ready(&self) -> bool {
        self.todo.is_empty()
    }

    pub fn is_last(&self) -> bool {
        self.page + 1 >= self.script.pages.len() && self.waits().is_none()
    }

    fn is_kept(&self, known: &Progress) -> bool {
        let Answers { chosen, typed, marked } = &known.answers;
        let page = known.page == self.page && (known.is_done || !self.is_last());
        page && chosen.iter().map(|(place, choice)| (place, choice)).eq(&self.answers)
            && typed.iter().map(|(place, words)| (place, words)).eq(&self.typed)
            && marked.iter().map(|(place, is_right)| (place, is_right)).eq(&self.marked)
    }

    /// Whether a question was answered rightly; `None`: not at all, or the reader has not yet said so.
    pub fn is_right(&self, place: (usize, usize), ask: &Ask) -> Option<bool> {
        match self.answers.get(&place) {
            Some(n) => ask.choices.get(*n).map(LessonChoice::is_right),
            None => self.marked.get(&place).copied(),
        }
    }

    pub fn outcome(&self) -> LessonOutcome {
        let mut outcome = LessonOutcome::default();
        for (page, at, ask) in self.script.asks() {
            let is_right = self.is_right((page, at), ask) == Some(true);
            outcome.asked += 1;
            outcome.right += usize::from(is_right);
            outcome.at_once += usize::from(is_right && !self.missed.contains_key(&(page, at)));
        }
        outcome
    }

    fn answered(&mut self, at: usize) {
        let place = (self.page, at);
        let Some(ScriptPart::Ask(ask)) = self.shown().parts.get(at) else { return };
        if self.is_right(place, ask) == Some(false) {
            *self.missed.entry(place).or_default() += 1;
        }
    }

    /// To a page from its top, as if all before it had been read.
    fn turn_to(&mut self, page: usize) {
        self.page = page.min(self.script.pages.len().saturating_sub(1));
        self.passed.retain(|(page, _)| *page < self.page);
        self.todo =
            [LessonAction::ForbidUnk(false), LessonAction::Given(None), LessonAction::FIRST, LessonAction::Word(None)]
                .into();
        self.todo.extend(LessonAction::AT_FIRST.iter().cloned().chain(self.script.things_before(self.page)));
        self.begin_page();
    }

    /// To the next page. What readers have typed and chosen stays, but the window shows again what the lesson speaks of.
    fn turn(&mut self) {
        self.page += 1;
        let before = self.script.things_before(self.page).into_iter().filter(LessonAction::is_of_the_window);
        self.todo.extend(last_of_each(LessonAction::AT_FIRST.iter().cloned().chain(before)));
        self.begin_page();
    }

    /// The same lesson in other words: page, answers and what was seen stay.
    fn speak(&mut self, script: Arc<Script>) {
        let parts = |script: &Script| script.pages.iter().map(|page| page.parts.len()).collect::<Vec<_>>();
        if parts(&script) == parts(&self.script) {
            self.script = script;
        }
    }

    fn begin_page(&mut self) {
        self.lights.clear();
        self.troubles.clear();
        self.at = 0;
        self.run_on();
    }

    fn run_on(&mut self) {
        self.before = None;
        let script = Arc::clone(&self.script);
        let Some(page) = script.pages.get(self.page) else { return };
        for part in page.parts.iter().skip(self.at) {
            match part {
                ScriptPart::Do(things) => self.todo.extend(things.iter().cloned()),
                ScriptPart::Light(lights) => self.lights.clone_from(lights),
                ScriptPart::Wait(wait) => match (self.done.get(&(self.page, self.at)), &wait.thing) {
                    (None, _) => return,
                    (Some(own), LessonAction::Act(LessonAct::AnotherSentence)) => {
                        self.todo.push_back(LessonAction::Sentence(own.clone()));
                    }
                    (Some(_), thing) if thing.can_be_done() => self.todo.push_back(thing.clone()),
                    (Some(_), _) => return,
                },
                ScriptPart::Text(_) | ScriptPart::Ask(..) => {}
            }
            self.at += 1;
        }
    }

    /// On behind what was waited for; where nothing follows, to the next page.
    fn pass(&mut self) {
        self.at += 1;
        if self.at >= self.shown().parts.len() && self.page + 1 < self.script.pages.len() {
            self.turn();
        } else {
            self.run_on();
        }
    }

    fn next(&mut self) {
        if let Some(wait) = self.waits().cloned() {
            // what follows speaks of it as done
            self.todo.extend(Some(wait.thing).filter(LessonAction::can_be_done));
            self.passed.insert((self.page, self.at));
            self.pass();
        } else if self.page + 1 < self.script.pages.len() {
            self.turn();
        }
    }

    fn act(&mut self, app: &mut AppState, steps: &StepsPage) -> Vec<Command> {
        while let Some(thing) = self.todo.front() {
            // setting it again would also clear what was clicked
            if thing.is_of_the_window() && thing.holds(&StepBaseline::default(), app, steps) {
                self.todo.pop_front();
                continue;
            }
            let commands = match thing.now(app, steps) {
                StepOutcome::Do(commands) => commands,
                StepOutcome::Columns(systems) => {
                    app.put_columns(systems);
                    app.view.selection =
                        Selection { column: app.document.columns.first().map(|column| column.id), target: None };
                    Vec::new()
                }
                StepOutcome::NotYet => return Vec::new(),
                StepOutcome::Never(why) => {
                    self.troubles.push(why);
                    Vec::new()
                }
            };
            self.todo.pop_front();
            if !commands.is_empty() {
                return commands;
            }
        }
        Vec::new()
    }

    /// Goes on where what is waited for is so; true when it did.
    fn watch(&mut self, app: &AppState, steps: &StepsPage) -> bool {
        if !self.is_ready() {
            return false;
        }
        let Some(thing) = self.waits().map(|wait| wait.thing.clone()) else { return false };
        let before = self.before.get_or_insert_with(|| StepBaseline::of(app, steps));
        let holds = thing.holds(before, app, steps);
        if holds {
            self.done.insert((self.page, self.at), app.document.source().to_owned());
            self.pass();
        }
        holds
    }

    /// Keeps the page's picture for handouts, before its first wait and after it.
    fn keep_picture(&mut self, app: &AppState, steps: &StepsPage) {
        let page = self.shown();
        let is_wait = |part: &ScriptPart| matches!(part, ScriptPart::Wait(_));
        let is_done = page.parts.iter().take(self.at).any(is_wait);
        let key = (self.page, is_done);
        let is_wanted = !is_done || self.waits().is_none() && page.can_be_shown_done();
        if !is_wanted || self.pictures.contains_key(&key) || !self.is_ready() {
            return;
        }
        let shown = match app.view.page {
            SENTENCE if settled(app) => Some(of_columns(app)),
            STEPS if is_apart(app, steps) => of_steps(steps),
            _ => None,
        };
        self.pictures.extend(shown.map(|shown| (key, shown)));
    }
}

fn of_steps(steps: &StepsPage) -> Option<OnPaper<Paper>> {
    let trace = steps.trace.as_ref()?;
    let lit = steps.current().or(steps.open.as_deref());
    let picture = match steps.whole().filter(|guessing| !guessing.is_revealed) {
        Some(_) => Paper::Grid(trace.source.tokens.clone(), trace.target_words()),
        None => Paper::Machine(Arc::new(figure(trace, steps.i, steps.hidden(steps.i), lit))),
    };
    let said = vec![(lang::text(THE_SENTENCE).to_owned(), trace.source.text.clone())];
    Some(OnPaper { said, pictures: vec![picture] })
}

pub const THE_SENTENCE: &str = id!("The sentence");

/// What all columns say, and the picture of the selected one, or of the first that aligns.
fn of_columns(app: &AppState) -> OnPaper<Paper> {
    let columns = &app.document.columns;
    let words = |column: &Column| Some((column.name(), column.table.as_ref()?.text.clone()));
    let mut said = vec![(lang::text(THE_SENTENCE).to_owned(), app.document.source().to_owned())];
    said.extend(columns.iter().filter_map(words));
    let aligns = |column: &&Column| column.table.as_ref().is_some_and(|table| table.alpha.is_some());
    let column = app.selected_column().filter(aligns).or_else(|| columns.iter().find(aligns));
    // light, as paper is, and as the page shows it
    let map = Some(ColourMap::on(LIGHT_PALETTE));
    let has_links = app.view.layout.look == Look::Links;
    let kind = if has_links { "links" } else { "heatmap" };
    let drawing = Drawing { has_caption: true, map, ..Drawing::new(kind, false) };
    let search = &app.document.state.search;
    let picture = |column| lang::in_english(|| export::picture(column, search, &app.view.settings, &drawing, None));
    let picture = column.and_then(picture).map(|picture| Paper::Column(Box::new(picture.into())));
    OnPaper { said, pictures: picture.into_iter().collect() }
}

impl Lessons {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// All lessons: those that come with the program, then the user's own.
    pub fn shelf(&self) -> impl Iterator<Item = &LessonFile> {
        bundled().iter().chain(&self.own)
    }

    pub fn after(&self, key: &str) -> Option<&LessonFile> {
        self.shelf().skip_while(|kept| kept.key != key).skip(1).find(|kept| kept.script.is_some())
    }

    pub fn open(&self) -> Option<&Running> {
        self.open.as_ref().filter(|_| self.is_shown)
    }

    /// The window as it was before the lesson that is open.
    pub(super) fn left(&self) -> Option<&Snapshot> {
        self.left.as_ref()
    }

    pub fn lights(&self) -> Lights {
        let none = Lights { is_shown: self.is_shown, ..Lights::default() };
        self.open().map_or(none, |open| Lights {
            is_shown: true,
            page: (open.key.clone(), open.page),
            parts: open.lights.clone(),
            is_ready: open.is_ready(),
        })
    }

    /// Does what the user asked for; some is done by the commands that come back.
    pub(super) fn apply(&mut self, command: LessonCommand, app: &mut AppState, steps: &StepsPage) -> Vec<Command> {
        match command {
            LessonCommand::Show(on) => self.show(on, app),
            LessonCommand::Open(key) => {
                self.show(true, app);
                self.begin(&key, app, steps);
            }
            LessonCommand::Close => {
                self.keep_progress(app);
                self.forget_answers();
                self.open = None;
                let Some(left) = self.left.take() else { return Vec::new() };
                self.after = left.step();
                return left.restore(app);
            }
            LessonCommand::Print(path) => self.print(path, app),
            LessonCommand::Translate => {
                let key = self.open.as_ref().map(|open| open.key.clone());
                let script =
                    self.shelf().find(|kept| Some(&kept.key) == key.as_ref()).and_then(|kept| kept.script.clone());
                if let (Some(open), Some(script)) = (&mut self.open, script) {
                    open.speak(script);
                }
            }
            LessonCommand::Next => self.turn(Running::next),
            LessonCommand::Turn(page) => self.turn(|open| open.turn_to(page)),
            LessonCommand::Back => self.turn(|open| open.turn_to(open.page.saturating_sub(1))),
            LessonCommand::Answer(ask, choice) => self.turn(|open| {
                open.answers.insert((open.page, ask), choice);
                open.answered(ask);
            }),
            LessonCommand::Say(ask, words) => self.turn(|open| {
                open.marked.remove(&(open.page, ask));
                open.typed.insert((open.page, ask), words);
            }),
            LessonCommand::Mark(ask, is_right) => self.turn(|open| {
                open.marked.insert((open.page, ask), is_right);
                open.answered(ask);
            }),
            LessonCommand::Reveal => self.turn(|open| _ = open.revealed.insert(open.page)),
        }
        self.keep_progress(app);
        Vec::new()
    }

    fn keep_progress(&mut self, app: &mut AppState) {
        let Some(open) = &self.open else { return };
        if self.progress.get(&open.key).is_some_and(|known| open.is_kept(known)) {
            return;
        }
        let known = self.progress.entry(open.key.clone()).or_default();
        let answers = Answers {
            chosen: open.answers.iter().map(|(place, choice)| (*place, *choice)).collect(),
            typed: open.typed.iter().map(|(place, words)| (*place, words.clone())).collect(),
            marked: open.marked.iter().map(|(place, is_right)| (*place, *is_right)).collect(),
        };
        let now = Progress { page: open.page, is_done: known.is_done || open.is_last(), answers };
        if *known != now {
            *known = now;
            app.changed();
        }
    }

    /// A lesson that was read to its end begins without answers the next time.
    fn forget_answers(&mut self) {
        if let Some(progress) = self.open.as_ref().and_then(|open| self.progress.get_mut(&open.key))
            && progress.is_done
        {
            progress.answers = Answers::default();
        }
    }

    fn turn(&mut self, to: impl FnOnce(&mut Running)) {
        if let Some(open) = &mut self.open {
            to(open);
        }
    }

    fn show(&mut self, on: bool, app: &mut AppState) {
        self.is_shown = on;
        let folders = self.folder.iter().filter(|_| on).cloned().collect();
        app.tasks.push(Effect::FollowTexts(folders));
    }

    fn begin(&mut self, key: &str, app: &mut AppState, steps: &StepsPage) {
        let Some(script) = self.shelf().find(|kept| kept.key == key).and_then(|kept| kept.script.clone()) else {
            return app.notify(tr!("There is no lesson {key} that can be read", key), true);
        };
        self.after = None;
        self.left.get_or_insert_with(|| Snapshot::of(app, steps));
        self.forget_answers();
        let answers = self.progress.get(key).map(|progress| progress.answers.clone()).unwrap_or_default();
        self.open = Some(Running::begin(key.to_owned(), script, &answers));
    }

    fn print(&self, path: PathBuf, app: &mut AppState) {
        let Some(open) = &self.open else {
            return app.notify(tr!("Open a lesson first; that is what is printed"), true);
        };
        let path = if path.extension().is_some() { path } else { path.with_extension("html") };
        let mut shown: Vec<(usize, OnPaper<Paper>)> = Vec::new();
        for ((page, is_done), picture) in &open.pictures {
            // what came of a task is not what the class finds first
            if *is_done && !open.pictures.contains_key(&(*page, false)) {
                shown.push((*page, OnPaper { said: Vec::new(), pictures: Vec::new() }));
            }
            shown.push((*page, picture.clone()));
        }
        shown.dedup();
        let script = Arc::clone(&open.script);
        let write = move || handout::write(&path, &script, shown.clone());
        app.tasks.chore(FileJob::Work(FileWork(Arc::new(write))));
    }

    /// Goes on by itself: brings about what can be, and passes what was done. Empty: there is nothing to do now.
    pub(super) fn advance(&mut self, app: &mut AppState, steps: &StepsPage) -> Vec<Command> {
        self.keep_progress(app);
        let Some(open) = self.open.as_mut().filter(|_| self.is_shown) else { return self.go_back(app, steps) };
        loop {
            let commands = open.act(app, steps);
            if !commands.is_empty() {
                return commands;
            }
            if !open.watch(app, steps) {
                open.keep_picture(app, steps);
                return commands;
            }
        }
    }

    /// To the step that was shown before the lesson, once the machine is there.
    fn go_back(&mut self, app: &AppState, steps: &StepsPage) -> Vec<Command> {
        match self.after.as_ref().map(|step| step.now(app, steps)) {
            None | Some(StepOutcome::NotYet) => Vec::new(),
            Some(now) => {
                self.after = None;
                if let StepOutcome::Do(commands) = now { commands } else { Vec::new() }
            }
        }
    }

    /// Updates the user's lessons. An unreadable one stays as it was; the open one restarts its page.
    pub(super) fn absorb(&mut self, found: &FolderTexts) {
        let before = std::mem::take(&mut self.own);
        for (path, text) in &found.files {
            let old = before.iter().find(|kept| kept.file.as_ref() == Some(path));
            self.own.push(shelf::own(path, text.as_deref().map_err(String::as_str), old));
        }
        let Some(open) = &mut self.open else { return };
        let script = self.own.iter().find(|kept| kept.key == open.key).and_then(|kept| kept.script.clone());
        if let Some(script) = script.filter(|script| *script != open.script) {
            open.script = script;
            open.pictures.clear();
            open.done.clear();
            open.turn_to(open.page);
        }
    }
}
