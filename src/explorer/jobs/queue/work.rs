//! The interface of long work: what it is given, how it reports progress and how it lets the live lane go first.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::jobs::models::cache::{Library, ModelGuard};
use crate::jobs::{gate::ForegroundGate, models::loaded::LoadedModel};
use engine::clock::Instant;
#[cfg(not(target_family = "wasm"))]
use engine::decoding::SystemSpec;
use engine::{error::Result, models::choice::ModelSpec, nn::device::DeviceChoice, ticket::CancellationToken};

/// Shortest time between two reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// A long job. It calls [`PausePoint::pause_point`] between pieces of at most a few hundred milliseconds.
pub trait Job: Send + 'static {
    type Found: Send + 'static;

    /// Error: [`Error::Stale`] if cancelled; any other is shown to the user.
    fn run(self, work: &Work<'_>) -> Result<Self::Found>;
}

/// How far long work is, of the queue or of the corpus thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobProgress {
    pub done: usize,
    /// 0 while it is not known.
    pub total: usize,
    /// What is being done, such as `Translating with RNNsearch`.
    pub what: String,
    /// 0 where words are not counted.
    pub words_per_second: f32,
}

impl JobProgress {
    /// Work that is known by its share alone, from 0 to 1.
    pub fn of_share(what: impl Into<String>, share: f32) -> Self {
        let total = 1000;
        Self { what: what.into(), done: (share * total as f32) as usize, total, ..Self::default() }
    }

    /// How far it is, from 0 to 1; 0 while that is not known.
    pub fn share(&self) -> f32 {
        self.done as f32 / self.total.max(1) as f32
    }
}

/// Pauses or cancels an order.
pub struct PausePoint {
    pub(crate) ticket: CancellationToken,
    pub(crate) is_paused: Arc<AtomicBool>,
    pub(crate) gate: Arc<ForegroundGate>,
    pub(crate) waited: AtomicU64,
}

impl PausePoint {
    pub(crate) fn new(ticket: CancellationToken, is_paused: Arc<AtomicBool>, gate: Arc<ForegroundGate>) -> Self {
        Self { ticket, is_paused, gate, waited: AtomicU64::new(0) }
    }

    /// Waits while live work runs or the order is paused, at the cost of a few atomic reads. Error: cancelled.
    pub fn pause_point(&self) -> Result<()> {
        self.ticket.check()?;
        let may_go_on = || self.gate.is_open() && !self.is_paused.load(Ordering::Acquire);
        if !may_go_on() {
            let start = Instant::now();
            self.gate.wait_until(|| self.ticket.is_stale() || may_go_on());
            self.waited.fetch_add(start.elapsed().as_micros() as u64, Ordering::AcqRel);
        }
        self.ticket.check()
    }
}

/// The environment of a job.
pub struct Work<'a> {
    /// Stale once the order is cancelled.
    pub ticket: CancellationToken,
    pub breath: PausePoint,
    pub(crate) library: &'a Library,
    notify: &'a dyn Fn(JobProgress),
    last: Cell<Option<Instant>>,
    start: Instant,
    guards: RefCell<Vec<ModelGuard>>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(breath: PausePoint, library: &'a Library, notify: &'a dyn Fn(JobProgress)) -> Self {
        let (last, start) = (Cell::new(None), Instant::now());
        Self { ticket: breath.ticket.clone(), breath, library, notify, last, start, guards: RefCell::default() }
    }

    /// As [`PausePoint::pause_point`].
    pub fn pause_point(&self) -> Result<()> {
        self.breath.pause_point()
    }

    /// Seconds of work so far, without the time that it waited.
    pub fn seconds(&self) -> f32 {
        let waited = Duration::from_micros(self.breath.waited.load(Ordering::Acquire));
        self.start.elapsed().saturating_sub(waited).as_secs_f32()
    }

    /// Reports progress, at most once in a short while; the first and the last report are always sent.
    pub fn notify(&self, progress: JobProgress) {
        let is_due = self.last.get().is_none_or(|last| last.elapsed() >= PROGRESS_EVERY);
        if is_due || progress.done == progress.total {
            self.last.set(Some(Instant::now()));
            (self.notify)(progress);
        }
    }

    /// Reports what it is doing, without counts.
    pub fn say(&self, what: String) {
        self.notify(JobProgress { what, ..JobProgress::default() });
    }

    /// The live model, else one read here and kept for the order. Error: about the folder, or [`Error::Stale`].
    pub(crate) fn model(&self, model: &ModelSpec, device: DeviceChoice) -> Result<Arc<LoadedModel>> {
        self.pause_point()?;
        let (guard, model) = self.library.borrow(&(model.clone(), device), &self.ticket)?;
        self.guards.borrow_mut().push(guard);
        Ok(model)
    }

    /// A model, or an ensemble of models that others may share.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn system(&self, system: &SystemSpec, device: DeviceChoice) -> Result<Arc<LoadedModel>> {
        let mut members = Vec::with_capacity(system.members.len());
        for model in &system.members {
            self.say(tr!("Loading {}", model.name()));
            members.push(self.model(model, device)?);
        }
        match members.as_slice() {
            [model] => Ok(Arc::clone(model)),
            _ => LoadedModel::ensemble(&members, system.mixing).map(Arc::new),
        }
    }
}
