//! Floor 11: the page Evaluation: the test set, what models made of it, and learning curves of training runs.

pub mod command;
pub mod contrast;
pub mod logs;
#[cfg(feature = "gui")]
pub mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::bleu::Tokenization;
use crate::app::effect::Effect;
use crate::app::files::work::{FileEvent, FileJob};
use crate::app::page::{Dropped, Page, PageInfo};
use crate::app::state::AppState;
use crate::corpus::overview::evaluated::Evaluated;
use crate::corpus::overview::figures;
use crate::corpus::overview::test_set::Unk;
use crate::decoding::SearchOptions;
use crate::evaluation::first_set::FirstSet;
use crate::jobs::files::follow::FollowEvent;
use crate::jobs::queue::Found;
use crate::jobs::queue::QueueOrder;
use crate::jobs::queue::evaluate::{Evaluate, TestFiles};
use crate::pages::shape::PageState;
use crate::text::language::primary;

pub use crate::pages::evaluation::command::{ContrastCommand, EvaluationCommand, FiguresFormat, TestCommand};
pub use crate::pages::evaluation::contrast::ContrastDesk;
pub use crate::pages::evaluation::logs::{LogFile, LogState};

/// Models measured on a test set, and learning curves.
pub const EVALUATION: Page = Page::new(&PageInfo {
    key: "evaluation",
    name: id!("Evaluation"),
    title: id!("Page Evaluation"),
    saved_as: "evaluation",
    digit: 2,
    takes: &[Dropped::Logs, Dropped::Text, Dropped::Links],
    keeps_work: false,
    has_only_models: false,
});

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluationPage {
    /// What to measure on.
    pub test: TestFiles,
    /// Those of its files that cannot be read, and why.
    pub faults: Vec<(PathBuf, String)>,
    /// Also translate without `[UNK]` in the output.
    pub also_without_unk: bool,
    /// The number of the run under way.
    pub task: Option<u64>,
    /// Why the last run came to nothing, as a sentence.
    pub message: Option<String>,
    /// What the last run that was finished found.
    pub results: Option<Arc<Evaluated>>,
    /// Minimal pairs.
    pub contrast: ContrastDesk,
    /// Training logs that are followed.
    pub logs: Vec<LogFile>,
}

/// What is kept between starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    #[serde(flatten)]
    test: TestFiles,
    /// Also translate without `[UNK]`.
    also_without_unk: bool,
    /// Training logs.
    logs: Vec<PathBuf>,
}

impl EvaluationPage {
    /// Does what the user asked for.
    pub fn apply(&mut self, command: EvaluationCommand, app: &mut AppState) {
        match command {
            EvaluationCommand::Test(command) => {
                change(&mut self.test, command);
                self.check(app);
                app.changed();
            }
            EvaluationCommand::SetAlsoWithoutUnk(on) => {
                self.also_without_unk = on;
                app.changed();
            }
            EvaluationCommand::TakeFirstSet(folder) => {
                let writes = |language| {
                    app.document
                        .columns()
                        .iter()
                        .filter_map(|column| column.facts.as_ref())
                        .any(|facts| primary(&facts.target_language) == language)
                };
                let is_german = writes("de") && !writes("fr");
                app.tasks.chore(FileJob::PutFirstSet { folder, is_german });
            }
            EvaluationCommand::Contrast(command) => {
                let asks = matches!(command, ContrastCommand::Open(_) | ContrastCommand::Again);
                self.contrast.apply(command, app);
                if asks {
                    if let Some(task) = self.contrast.task.take() {
                        app.tasks.cancel(task);
                    }
                    let order = self.contrast.order(app.systems(), app.view.settings.device);
                    self.message = order.as_ref().err().map(|why| (*why).to_owned());
                    let order = order.map(|order| app.tasks.order(EVALUATION, QueueOrder::Contrast(order)));
                    self.contrast.task = order.ok();
                }
            }
            EvaluationCommand::Run => self.run(app),
            EvaluationCommand::DismissMessage => self.message = None,
            // Page Corpus takes them.
            EvaluationCommand::ShowSentences => app.measured.clone_from(&self.results),
            EvaluationCommand::Export { format, path } => match self.results.as_deref() {
                Some(results) => app.tasks.chore(FileJob::Write { path, text: text(results, format) }),
                None => app.notify(tr!("There is nothing to save yet, because nothing is measured"), true),
            },
            EvaluationCommand::OpenLogs(path) => app.tasks.chore(FileJob::FindLogs(path)),
            EvaluationCommand::CloseLog(at) => self.close_log(at, app),
        }
    }
}

impl PageState for EvaluationPage {
    fn page(&self) -> Page {
        EVALUATION
    }

    fn begin(&mut self, app: &mut AppState) {
        self.check(app);
        if !self.logs.is_empty() {
            self.follow_logs(app);
        }
    }

    fn found(&mut self, number: u64, found: Found, _app: &mut AppState) {
        let found = match found {
            Found::Evaluated(found) => found,
            Found::Contrasted(found) => return self.contrast.take(number, found),
            _ => return,
        };
        if self.task == Some(number) {
            self.task = None;
            self.results = Some(Arc::new(found));
        }
    }

    /// What was found before stays.
    fn ended(&mut self, number: u64, message: Option<String>, _app: &mut AppState) {
        if self.task == Some(number) {
            self.task = None;
        } else if self.contrast.task == Some(number) {
            self.contrast.ended();
        } else {
            return;
        }
        self.message = message;
    }

    fn heard(&mut self, news: &FileEvent, app: &mut AppState) {
        match news {
            FileEvent::Logs { path, found } => self.open_logs(path, found.clone(), app),
            FileEvent::FirstSet(files) => self.take(files.clone(), app),
            FileEvent::Faulty { path, message } => self.faulty(path.clone(), message.clone()),
            _ => {}
        }
    }

    fn seen(&mut self, seen: &FollowEvent) -> bool {
        logs::absorb(&mut self.logs, seen.clone())
    }

    /// A text takes the first place that is free.
    fn dropped(&mut self, what: Dropped, path: PathBuf, app: &mut AppState) {
        match what {
            Dropped::Text if self.test.source.is_none() => {
                self.apply(EvaluationCommand::Test(TestCommand::SetSource(Some(path))), app);
            }
            Dropped::Text => self.apply(EvaluationCommand::Test(TestCommand::AddReference(path)), app),
            Dropped::Logs => app.tasks.chore(FileJob::FindLogs(path)),
            Dropped::Links => self.apply(EvaluationCommand::Test(TestCommand::SetGold(Some(path))), app),
            // Other pages take these.
            Dropped::Model | Dropped::Interventions | Dropped::Workspace | Dropped::Annotated => {}
        }
    }

    /// JSON holds text, so a path that is not text is left out.
    fn saved(&self) -> Value {
        let is_text = |path: &PathBuf| path.to_str().is_some();
        let mut test = self.test.clone();
        test.references.retain(is_text);
        for path in [&mut test.source, &mut test.gold] {
            *path = path.take().filter(is_text);
        }
        let logs = self.logs.iter().map(|log| log.path.clone()).filter(is_text).collect();
        serde_json::to_value(Saved { test, also_without_unk: self.also_without_unk, logs }).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        let Saved { test, also_without_unk, logs } = serde_json::from_value(saved)?;
        (self.test, self.also_without_unk) = (test, also_without_unk);
        self.logs = logs.into_iter().map(LogFile::new).collect();
        Ok(())
    }
}

/// The figures in a format.
fn text(results: &Evaluated, format: FiguresFormat) -> String {
    match format {
        FiguresFormat::Tsv => figures::scores(results),
        FiguresFormat::Json => format!("{:#}\n", figures::json_of_all(results)),
    }
}

/// Changes what is measured on.
fn change(test: &mut TestFiles, command: TestCommand) {
    match command {
        TestCommand::SetSource(path) => test.source = path,
        TestCommand::AddReference(path) | TestCommand::SetReference(_, path) if test.references.contains(&path) => {}
        TestCommand::AddReference(path) => test.references.push(path),
        TestCommand::SetReference(at, path) => {
            test.references.iter_mut().skip(at).take(1).for_each(|old| old.clone_from(&path));
        }
        TestCommand::RemoveReference(at) if at < test.references.len() => drop(test.references.remove(at)),
        TestCommand::RemoveReference(_) => {}
        TestCommand::SetGold(path) => test.gold = path,
        TestCommand::SetPretokenized(on) => {
            test.is_pretokenized = on;
            // The usual one for such text; another can be chosen afterwards.
            test.tokenization = on.then_some(Tokenization::None);
        }
        TestCommand::SetByInput(on) => test.by_input = on,
        TestCommand::SetTokenization(tokenization) => test.tokenization = tokenization,
    }
}

impl EvaluationPage {
    /// What is missing before so many systems can be measured, as a sentence.
    pub fn missing(&self, systems: usize) -> Option<&'static str> {
        match (&self.test.source, self.test.references.as_slice(), systems) {
            (None, ..) => Some(tr!("Choose a file of source sentences")),
            (_, [], _) => Some(tr!("Choose a file of their translations")),
            (.., 0) => Some(tr!("Add a model")),
            _ => None,
        }
    }

    /// Whether source sentences or translations are still to be chosen.
    pub fn lacks_files(&self) -> bool {
        self.test.source.is_none() || self.test.references.is_empty()
    }

    /// The files of the test set.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let TestFiles { source, references, gold, .. } = &self.test;
        source.iter().chain(references).chain(gold)
    }

    /// Has the files looked at, so that one that is not there is told at once.
    fn check(&mut self, app: &mut AppState) {
        self.faults.clear();
        for path in self.files() {
            app.tasks.chore(FileJob::Check(path.clone()));
        }
    }

    /// A file that was looked at cannot be read.
    fn faulty(&mut self, path: PathBuf, message: String) {
        if self.files().any(|file| *file == path) && self.fault(&path).is_none() {
            self.faults.push((path, message));
        }
    }

    /// Why a file of the test set cannot be read, if that is so.
    pub fn fault(&self, path: &Path) -> Option<&str> {
        self.faults.iter().find(|(of, _)| of == path).map(|(_, message)| message.as_str())
    }

    fn run(&mut self, app: &mut AppState) {
        if self.task.is_some() {
            return;
        }
        self.check(app);
        let systems = app.systems();
        if let Some(missing) = self.missing(systems.len()) {
            self.message = Some(missing.to_owned());
            return;
        }
        let search = app.document.scene.search;
        let unk = match (search.forbid_unk, self.also_without_unk) {
            (true, _) => vec![Unk::Forbidden],
            (false, true) => vec![Unk::Allowed, Unk::Forbidden],
            (false, false) => vec![Unk::Allowed],
        };
        let order = Evaluate {
            systems,
            device: app.view.settings.device,
            test: self.test.clone(),
            search: SearchOptions { candidates: 0, trace: false, ..search.options() },
            unk,
            aligner: app.view.settings.aligner.clone(),
        };
        self.message = None;
        self.task = Some(app.tasks.order(EVALUATION, QueueOrder::Evaluate(order)));
    }

    /// The files of the first test set are there.
    fn take(&mut self, files: FirstSet, app: &mut AppState) {
        self.test = TestFiles {
            source: Some(files.source),
            references: vec![files.reference],
            gold: Some(files.gold),
            is_pretokenized: true,
            tokenization: Some(Tokenization::None),
            by_input: false,
        };
        app.changed();
    }

    /// Logs were found where the user said.
    fn open_logs(&mut self, path: &Path, found: Vec<PathBuf>, app: &mut AppState) {
        if found.is_empty() {
            let text = tr!("{} holds no training log; choose the folder of a run", path.display());
            app.notify(text, true);
            return;
        }
        let left_out = logs::add(&mut self.logs, found);
        if left_out > 0 {
            let text = tr!("Only {} logs are shown at a time; {left_out} are left out", logs::MOST_LOGS, left_out);
            app.notify(text, false);
        }
        app.changed();
        self.follow_logs(app);
    }

    fn close_log(&mut self, at: usize, app: &mut AppState) {
        if at < self.logs.len() {
            self.logs.remove(at);
            app.changed();
            self.follow_logs(app);
        }
    }

    /// Has these logs followed and no others.
    fn follow_logs(&self, app: &mut AppState) {
        app.tasks.push(Effect::Follow(self.logs.iter().map(|log| log.path.clone()).collect()));
    }
}
