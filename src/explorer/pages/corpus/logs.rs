//! Page Corpus, training logs that are followed while they grow.

use std::{path::PathBuf, sync::Arc};

use crate::jobs::files::follow::FollowEvent;
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
