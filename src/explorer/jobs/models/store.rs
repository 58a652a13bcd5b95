//! The models of the columns, and what was last reported to each column.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::jobs::live::protocol::{ColumnId, ColumnSpec, Request, SystemKey};
use crate::jobs::models::cache::{Key, Library, ModelCache, ReadProgress, Reader};
use crate::jobs::{models::loaded::LoadedModel, thread::lock};
use engine::nn::device::{Device, DeviceChoice};
use engine::{decoding::SystemSpec, models::Model, ticket::CancellationToken};

/// Two rows of a column are sent no closer than this; a frame of the window is four times as long.
const ROW_EVERY: Duration = Duration::from_millis(4);

/// What a column last reported of its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Loading,
    Loaded,
    Failed,
}

/// The last reports to a column.
#[derive(Debug)]
struct StoreReport {
    key: SystemKey,
    outcome: Outcome,
    fingerprint: bool,
}

/// The live models and what was reported of them to the columns.
pub struct Store {
    cache: Arc<ModelCache>,
    reports: Mutex<HashMap<ColumnId, StoreReport>>,
    ensembles: Mutex<HashMap<SystemKey, Arc<LoadedModel>>>,
    pub(crate) threads: usize,
    pub(crate) row_every: Duration,
}

impl Store {
    pub fn new(threads: usize) -> Self {
        Self {
            cache: Arc::default(),
            reports: Mutex::default(),
            ensembles: Mutex::default(),
            threads: threads.max(1),
            row_every: ROW_EVERY,
        }
    }

    /// Sends every row of a short sentence, however fast they come.
    pub fn with_every_row(mut self) -> Self {
        self.row_every = Duration::ZERO;
        self
    }

    /// Reads models in another way, which has stalled when it tells nothing for so long. For an empty store.
    pub fn with_reader(mut self, reader: Reader, stalled: Duration) -> Self {
        self.cache = Arc::new(ModelCache::with_reader(reader, stalled));
        self
    }

    /// Puts a model in that was read elsewhere, as if its folder had been read for `device`.
    pub fn insert(&mut self, model: Model, device: DeviceChoice) {
        let model = LoadedModel::new(model, &Device::cpu(), String::new());
        self.cache.insert(((&model.model().folder).into(), device), model);
    }

    #[cfg(target_family = "wasm")]
    pub fn put(&self, key: Key, model: Model) {
        let card = model.card();
        self.cache.put(key, LoadedModel::new(model, &Device::cpu(), card));
    }

    #[cfg(target_family = "wasm")]
    pub fn knows(&self, key: &Key) -> bool {
        self.cache.knows(key)
    }

    pub fn models(&self) -> usize {
        self.cache.len()
    }

    pub fn library(&self) -> Library {
        Library::of(Arc::clone(&self.cache), self.threads)
    }

    /// Forgets unused models and reads missing ones; a failed one only for a column that has no report of it.
    pub(crate) fn arrange(&mut self, request: &Request) {
        lock(&self.ensembles).retain(|key, _| request.columns.iter().any(|spec| spec.key() == *key));
        let mut reports = lock(&self.reports);
        reports.retain(|column, _| request.columns.iter().any(|spec| spec.column == *column));
        let is_new = |spec: &&ColumnSpec| reports.get(&spec.column).is_none_or(|reports| reports.key != spec.key());
        let new: HashSet<Key> = request.columns.iter().filter(is_new).flat_map(ColumnSpec::keys).collect();
        let wanted = request.columns.iter().flat_map(ColumnSpec::keys).collect();
        self.cache.prepare(wanted, |key| new.contains(key));
    }

    /// Waits for a model, or for all of an ensemble; `None` once the ticket is stale.
    pub(crate) fn wait(
        &self, system: &SystemKey, ticket: &CancellationToken, on_progress: &mut dyn FnMut(ReadProgress),
    ) -> Option<std::result::Result<Arc<LoadedModel>, String>> {
        let (SystemSpec { members: models, mixing }, device) = system;
        let share = 1.0 / models.len() as f32;
        let mut members = Vec::with_capacity(models.len());
        for (n, model) in models.iter().enumerate() {
            let mut part = |progress| match progress {
                ReadProgress::Read(fraction) => on_progress(ReadProgress::Read((n as f32 + fraction) * share)),
                ReadProgress::Stalled => on_progress(progress),
            };
            match self.cache.wait(&(model.clone(), *device), ticket, &mut part)? {
                Ok(member) => members.push(member),
                Err(message) => return Some(Err(message)),
            }
        }
        if !system.0.is_ensemble() {
            return members.pop().map(Ok);
        }
        let mut ensembles = lock(&self.ensembles);
        if let Some(known) = ensembles.get(system) {
            return Some(Ok(Arc::clone(known)));
        }
        Some(match LoadedModel::ensemble(&members, *mixing) {
            Ok(made) => Ok(Arc::clone(ensembles.entry(system.clone()).or_insert(Arc::new(made)))),
            Err(error) => Err(error.to_string()),
        })
    }

    pub(crate) fn has_failed(&self, spec: &ColumnSpec) -> bool {
        spec.keys().any(|key| self.cache.has_failed(&key))
    }

    /// Notes a report to a column; false when it is the same as the last one.
    pub(crate) fn must_report(&self, spec: &ColumnSpec, outcome: Outcome) -> bool {
        let key = spec.key();
        let mut reports = lock(&self.reports);
        if reports.get(&spec.column).is_some_and(|reports| reports.key == key && reports.outcome == outcome) {
            return false;
        }
        reports.insert(spec.column, StoreReport { key, outcome, fingerprint: false });
        true
    }

    /// Whether a column has its model's facts but not yet the fingerprint.
    pub(crate) fn owes_fingerprint(&self, spec: &ColumnSpec) -> bool {
        lock(&self.reports).get(&spec.column).is_some_and(|reports| !reports.fingerprint)
    }

    pub(crate) fn mark_fingerprint_sent(&self, spec: &ColumnSpec) {
        if let Some(reports) = lock(&self.reports).get_mut(&spec.column) {
            reports.fingerprint = true;
        }
    }
}
