//! The work under way: its numbers, what the driver is to carry out, and what is waited for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::{files::work::FileJob, page::Page};
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
use crate::jobs::live::protocol::{Near, Request};
use crate::jobs::queue::{JobProgress, QueueOrder};
use crate::jobs::steps::StepsRequest;

/// Ordered work that is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub number: u64,
    pub page: Page,
    /// How far it is; `None` while it waits for its turn.
    pub progress: Option<JobProgress>,
    pub is_paused: bool,
    /// What it has done so far is kept when it is cancelled.
    pub keeps_work: bool,
}

/// The work under way.
#[derive(Default)]
pub struct Tasks {
    pub list: Vec<Task>,
    effects: Vec<Effect>,
    next_id: u64,
    /// Number of the newest request; events with any other change nothing.
    pub newest: u64,
    pub(crate) near: Option<Near>,
}

impl Tasks {
    pub fn task(&self, number: u64) -> Option<&Task> {
        self.list.iter().find(|task| task.number == number)
    }

    pub(crate) fn fresh_request(&mut self) -> u64 {
        self.newest += 1;
        self.newest
    }

    pub(crate) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Has this done off the window's thread.
    pub(crate) fn chore(&mut self, chore: FileJob) {
        self.push(Effect::Chore(chore));
    }

    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Has this done in the corpus lane; answers with its number.
    pub(crate) fn order(&mut self, page: Page, order: QueueOrder) -> u64 {
        let number = self.fresh_id();
        let keeps_work = order.keeps_work();
        self.list.push(Task { number, page, progress: None, is_paused: false, keeps_work });
        self.push(Effect::Job(QueueCall::Submit(number, order)));
        number
    }

    /// Ends an order that is not done, and answers with whose it was; nothing more is heard of it.
    pub(crate) fn cancel(&mut self, number: u64) -> Option<Page> {
        let page = self.done(number)?;
        self.push(Effect::Job(QueueCall::Cancel(number)));
        Some(page)
    }

    /// An order is done; answers with whose it was.
    pub(crate) fn done(&mut self, number: u64) -> Option<Page> {
        let at = self.list.iter().position(|task| task.number == number)?;
        Some(self.list.remove(at).page)
    }

    /// An order has come so far; false where it was cancelled.
    pub(crate) fn progressed(&mut self, number: u64, progress: JobProgress) -> bool {
        let task = self.list.iter_mut().find(|task| task.number == number);
        task.map(|task| task.progress = Some(progress)).is_some()
    }

    pub(crate) fn pause(&mut self, number: u64, is_paused: bool) {
        let Some(task) = self.list.iter_mut().find(|task| task.number == number) else { return };
        task.is_paused = is_paused;
        self.push(Effect::Job(QueueCall::Pause(number, is_paused)));
    }
}

/// Work that the driver carries out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Translate this and drop older requests.
    Decode(Request),
    Job(QueueCall),
    TakeApart {
        number: u64,
        request: Box<StepsRequest>,
    },
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusRequest),
    Chore(FileJob),
    /// Follow these training logs and no others.
    Follow(Vec<PathBuf>),
    FollowTexts(Vec<PathBuf>),
}

/// A command to the job queue.
#[expect(clippy::large_enum_variant, reason = "an order is sent once and kept by no one here")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueCall {
    Submit(u64, QueueOrder),
    Cancel(u64),
    Pause(u64, bool),
}
