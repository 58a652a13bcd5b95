//! Page Corpus, what needs no corpus: minimal pairs that models are asked about, and training logs.

use std::path::{Path, PathBuf};

use crate::app::{files::work::FileJob, state::AppState, tasks::Effect};
use crate::pages::corpus::command::{ContrastCommand, LogCommand};
use crate::pages::corpus::logs::{MOST_LOGS, add};
use crate::pages::corpus::{CORPUS, CorpusPage};
use crate::{jobs::queue::QueueOrder, pages::corpus::views::ExploreView};

impl CorpusPage {
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
        let left_out = add(&mut self.tools.logs, found);
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
