//! Page Corpus, what runs behind it: models over the workspace, documents that become pairs, minimal pairs that models
//! are asked about, and training logs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::{files::work::FileJob, state::AppState, tasks::Effect};
use crate::jobs::queue::analyse::{Analyse, PlanSource};
use crate::jobs::{corpus::thread::CorpusRequest, queue::QueueOrder, queue::documents::DocumentsOrder};
use crate::pages::corpus::command::{ContrastCommand, LogCommand};
use crate::pages::corpus::logs::{LogFile, MOST_LOGS};
use crate::pages::corpus::{CORPUS, CorpusPage};
use crate::pages::corpus::{documents::DocumentCommand, views::ExploreView};
use engine::decoding::{SearchOptions, SystemSpec};
use engine::{analysis::row_convention::RowConvention, evaluation::plan::InterventionPlan};

impl CorpusPage {
    pub(super) fn run(&mut self, forces: bool, acting: Option<&PathBuf>, app: &mut AppState) {
        let acts = |system| (system, acting.cloned().map(PlanSource::File));
        let all = app.systems().into_iter().map(acts).collect();
        self.run_all(all, forces, app);
    }

    /// Models with what is set for them.
    pub(super) fn run_set(&mut self, app: &mut AppState) {
        let sentence = &app.document.state;
        let acts = |system: SystemSpec| {
            let set = sentence.set_for(&system.members);
            let acting = InterventionPlan::of("what was set", set.for_every_sentence(&sentence.source));
            (!set.is_empty()).then(|| (system, Some(PlanSource::Set(Box::new(acting)))))
        };
        let all: Vec<_> = app.systems().into_iter().filter_map(acts).collect();
        if all.is_empty() {
            let message = tr!("Nothing is set for a model above; set something on page Sentence, or choose a file");
            self.message = Some(message.to_owned());
            return;
        }
        self.run_all(all, false, app);
    }

    pub(super) fn run_all(&mut self, wanted: Vec<(SystemSpec, Option<PlanSource>)>, forces: bool, app: &mut AppState) {
        let Some(workspace) = self.path.clone() else { return };
        let search = app.document.state.search.options();
        if wanted.is_empty() {
            self.message = Some(tr!("There is no model to run; add one with + Model above").to_owned());
        }
        for (system, acting) in wanted {
            let search = SearchOptions { candidates: 0, trace: false, ..search.clone() };
            let device = app.view.settings.device;
            let aligner = app.view.settings.aligner.clone();
            let reading = app.view.settings.asked.origin.then_some(RowConvention::Head);
            let workspace = workspace.clone();
            let order = Analyse { workspace, system, device, search, forces, acting, aligner, reading };
            self.tasks.push(app.tasks.order(CORPUS, QueueOrder::Analyse(order)));
        }
    }

    pub(super) fn document(&mut self, command: DocumentCommand, app: &mut AppState) {
        let sheet = &mut self.tools.documents;
        match command {
            DocumentCommand::Show(is_open) => sheet.is_open = is_open,
            DocumentCommand::Choose(side, path) => {
                sheet.files[side] = Some(path);
                sheet.table_file = None;
                if let [Some(source), Some(target)] = sheet.files.clone() {
                    self.order_documents(DocumentsOrder::Align([source, target]), app);
                }
            }
            DocumentCommand::Open(path) => {
                (sheet.files, sheet.table_file) = ([None, None], Some(path.clone()));
                self.order_documents(DocumentsOrder::Open(path), app);
            }
            DocumentCommand::Select(at) => sheet.selected = Some(at),
            DocumentCommand::Edit(edit) => sheet.edit(edit),
            DocumentCommand::Undo => sheet.take_back(false),
            DocumentCommand::Redo => sheet.take_back(true),
            DocumentCommand::Save(path) => {
                let text = sheet.text();
                app.tasks.chore(FileJob::Write { path, text });
            }
            DocumentCommand::Put(new) => {
                let (name, pairs) = (sheet.name(), Arc::new(sheet.pairs()));
                sheet.is_open = false;
                if let Some(path) = new {
                    self.open(path, app);
                }
                Self::send(app, CorpusRequest::Add(name, pairs));
            }
        }
    }

    fn order_documents(&mut self, order: DocumentsOrder, app: &mut AppState) {
        self.message = None;
        if let Some(task) = self.tools.documents.task.take() {
            app.tasks.cancel(task);
        }
        self.tools.documents.task = Some(app.tasks.order(CORPUS, QueueOrder::Documents(order)));
    }

    pub(super) fn ask_contrast(&mut self, command: ContrastCommand, app: &mut AppState) {
        let asks = matches!(command, ContrastCommand::Open(_) | ContrastCommand::Again);
        let contrast = &mut self.tools.contrast;
        contrast.apply(command, app);
        if !asks {
            return;
        }
        if let Some(task) = contrast.task.take() {
            app.tasks.cancel(task);
        }
        let order = contrast.order(app.systems(), app.view.settings.device);
        self.message = order.as_ref().err().map(|why| (*why).to_owned());
        contrast.task = order.ok().map(|order| app.tasks.order(CORPUS, QueueOrder::Contrast(order)));
    }

    pub(super) fn change_logs(&mut self, command: LogCommand, app: &mut AppState) {
        match command {
            LogCommand::Open(path) => app.tasks.chore(FileJob::FindLogs(path)),
            LogCommand::Close(at) if at < self.tools.logs.len() => {
                self.tools.logs.remove(at);
                app.changed();
                self.follow_logs(app);
            }
            LogCommand::Close(_) => {}
        }
    }

    pub(super) fn open_logs(&mut self, path: &Path, found: Vec<PathBuf>, app: &mut AppState) {
        if found.is_empty() {
            let text = tr!("{} holds no training log; choose the folder of a run", path.display());
            app.notify(text, true);
            return;
        }
        let mut left_out = 0;
        for path in found {
            if self.tools.logs.iter().any(|log| log.path == path) {
                continue;
            }
            if self.tools.logs.len() < MOST_LOGS {
                self.tools.logs.push(LogFile::new(path));
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            let text = tr!("Only {} logs are shown at a time; {left_out} are left out", MOST_LOGS, left_out);
            app.notify(text, false);
        }
        self.whole.view = ExploreView::Training;
        app.changed();
        self.follow_logs(app);
    }

    pub(super) fn follow_logs(&self, app: &mut AppState) {
        app.tasks.push(Effect::Follow(self.tools.logs.iter().map(|log| log.path.clone()).collect()));
    }
}
