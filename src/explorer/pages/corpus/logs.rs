//! Page Corpus, training logs that are followed while they grow.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::{files::work::FileJob, state::AppState, tasks::Effect};
use crate::jobs::files::follow::FollowEvent;
use crate::pages::{corpus::CorpusPage, corpus::command::LogCommand, corpus::views::ExploreView};
use training::curves;
use training::curves::Curves;

/// Most logs at a time; more curves than these cannot be told apart.
pub const MOST_LOGS: usize = 8;

/// A training log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFile {
    pub path: PathBuf,
    pub state: LogState,
}

/// What is known of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogState {
    RowConvention,
    Read(Arc<Curves>),
    Failed(String),
}

impl LogFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, state: LogState::RowConvention }
    }

    pub fn name(&self) -> String {
        curves::name(&self.path)
    }

    pub fn curves(&self) -> Option<&Curves> {
        match &self.state {
            LogState::Read(curves) => Some(curves),
            LogState::RowConvention | LogState::Failed(_) => None,
        }
    }
}

impl CorpusPage {
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

/// Updates a log; true when anything changed. A log that becomes unreadable keeps its curves.
pub(super) fn absorb(logs: &mut [LogFile], seen: FollowEvent) -> bool {
    let Some(log) = logs.iter_mut().find(|log| log.path == seen.path) else { return false };
    match (seen.curves, &log.state) {
        (Ok(curves), _) => log.state = LogState::Read(curves),
        (Err(_), LogState::Read(_)) => return false,
        (Err(message), LogState::RowConvention | LogState::Failed(_)) => log.state = LogState::Failed(message),
    }
    true
}
