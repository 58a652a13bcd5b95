//! Floor 8: training logs that are followed while they grow.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::session::Session;
use crate::training::curves;
use crate::training::curves::Curves;
use crate::worker::follow::Seen;

/// Most logs at a time; more curves than these cannot be told apart.
pub const MOST_LOGS: usize = 8;

/// A training log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is known of it.
    pub state: LogState,
}

/// What is known of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogState {
    /// Not yet read.
    Reading,
    /// Its curves so far.
    Read(Arc<Curves>),
    /// Why it cannot be read, as a sentence.
    Failed(String),
}

impl LogFile {
    /// Not yet read.
    pub fn new(path: PathBuf) -> Self {
        Self { path, state: LogState::Reading }
    }

    /// What to call the run.
    pub fn name(&self) -> String {
        curves::name(&self.path)
    }

    /// Its curves, once read.
    pub fn curves(&self) -> Option<&Curves> {
        match &self.state {
            LogState::Read(curves) => Some(curves),
            LogState::Reading | LogState::Failed(_) => None,
        }
    }
}

impl Session {
    /// Logs were found where the user said.
    pub(in crate::session) fn open_logs(&mut self, path: &Path, found: Vec<PathBuf>) {
        if found.is_empty() {
            self.notify(format!("{} holds no training log; choose the folder of a run", path.display()), true);
            return;
        }
        let logs = &mut self.evaluation.logs;
        let mut left_out = 0;
        for path in found {
            if logs.iter().any(|log| log.path == path) {
                continue;
            }
            if logs.len() < MOST_LOGS {
                logs.push(LogFile::new(path));
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            self.notify(format!("Only {MOST_LOGS} logs are shown at a time; {left_out} are left out"), false);
        }
        self.follow_logs();
    }

    pub(in crate::session) fn close_log(&mut self, at: usize) {
        if at < self.evaluation.logs.len() {
            self.evaluation.logs.remove(at);
            self.follow_logs();
        }
    }

    fn follow_logs(&mut self) {
        self.revision += 1;
        self.follows_others = true;
    }

    /// The files to follow, when they are others than at the last call.
    pub fn take_followed(&mut self) -> Option<Vec<PathBuf>> {
        let is_new = std::mem::take(&mut self.follows_others);
        is_new.then(|| self.evaluation.logs.iter().map(|log| log.path.clone()).collect())
    }

    /// Takes in what a followed log holds now; true when anything changed. A log that can be read no more keeps its
    /// curves.
    pub fn absorb_seen(&mut self, seen: Seen) -> bool {
        let Some(log) = self.evaluation.logs.iter_mut().find(|log| log.path == seen.path) else { return false };
        match (seen.curves, &log.state) {
            (Ok(curves), _) => log.state = LogState::Read(curves),
            (Err(_), LogState::Read(_)) => return false,
            (Err(message), _) => log.state = LogState::Failed(message),
        }
        true
    }
}
