//! Floor 7: the models in memory, each read once however many columns use it, in a thread of its own.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::decoding::Specials;
use crate::decoding::ensemble::{Ensemble, Mixing};
use crate::error::{Error, Result};
use crate::models::folder::card;
use crate::models::{Kernels, Model, Stepper};
use crate::nn::device::{Device, DeviceChoice, pick};
use crate::text::sentence::Sentence;
use crate::text::tokenizer::{Encode as _, Tokenizers};
use crate::ticket::Ticket;
use crate::worker::protocol::{ColumnId, ColumnSpec, Member, ModelFacts, Request};
use crate::worker::serve::panic_sentence;

/// Two rows of a column are sent no closer than this; a frame of the window is four times as long.
const ROW_EVERY: Duration = Duration::from_millis(4);
/// How often a wait for a model looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A model folder on a device.
pub(super) type Key = (PathBuf, DeviceChoice);

/// What a column translates with: a model, or several as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    /// Never empty.
    pub(super) keys: Vec<Key>,
    /// How they become one, where they are an ensemble.
    pub(super) mixing: Option<Mixing>,
}

impl Unit {
    pub(super) fn of(spec: &ColumnSpec) -> Self {
        match &spec.ensemble {
            None => Self { keys: vec![(spec.folder.clone(), spec.device)], mixing: None },
            Some(ensemble) => Self {
                keys: ensemble.members.iter().map(|folder| (folder.clone(), spec.device)).collect(),
                mixing: Some(ensemble.mixing),
            },
        }
    }
}

/// The models in memory and what the columns know of them.
pub struct Engine {
    shelf: Arc<Shelf>,
    readers: Vec<JoinHandle<()>>,
    told: Mutex<HashMap<ColumnId, Told>>,
    /// Ensembles of models on the shelf.
    ensembles: Mutex<HashMap<Unit, Arc<Shelved>>>,
    pub(super) threads: usize,
    pub(super) row_every: Duration,
}

/// What a column was last told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    /// The facts of one model, or of an ensemble mixed so.
    mixing: Option<Mixing>,
    /// The fingerprint as well.
    fingerprint: bool,
}

/// A model that is ready, and the stepper that was made of it last where making one is dear.
pub(super) struct Shelved {
    /// Of an ensemble the member whose words are the columns of the alignment.
    pub(super) model: Model,
    ensemble: Option<Ensemble>,
    pub(super) facts: ModelFacts,
    stepper: Mutex<Option<(Kernels, Box<dyn Stepper>)>>,
}

enum Slot {
    Reading(f32),
    Ready(Arc<Shelved>),
    Failed(String),
}

#[derive(Default)]
struct Shelf {
    slots: Mutex<HashMap<Key, Slot>>,
    /// What the corpus lane uses now; it stays although no column wants it.
    borrowed: Mutex<HashSet<Key>>,
    /// What the columns want.
    wanted: Mutex<HashSet<Key>>,
    changed: Condvar,
    /// Those of the models, shared where their files are the same.
    tokenizers: Tokenizers,
}

/// The engine's models, for work that is not a column's.
#[derive(Clone)]
pub struct Library {
    shelf: Arc<Shelf>,
    /// The cores that such work may use.
    pub threads: usize,
}

impl Engine {
    /// An engine without models that may use so many cores.
    pub fn new(threads: usize) -> Self {
        Self {
            shelf: Arc::default(),
            readers: Vec::new(),
            told: Mutex::default(),
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

    /// Puts a model in that was read elsewhere, as if its folder had been read for `device`.
    pub fn insert(&mut self, model: Model, device: DeviceChoice) {
        let shelved = Shelved::new(model, &Device::cpu(), String::new());
        let key = (shelved.model.folder.clone(), device);
        lock(&self.shelf.wanted).insert(key.clone());
        self.shelf.lock().insert(key, Slot::Ready(Arc::new(shelved)));
    }

    /// How many models are in memory or being read.
    pub fn models(&self) -> usize {
        self.shelf.lock().values().filter(|slot| !matches!(slot, Slot::Failed(_))).count()
    }

    /// The models for other work, which shares them.
    pub fn library(&self) -> Library {
        Library { shelf: Arc::clone(&self.shelf), threads: self.threads }
    }

    /// Forgets models that no column wants and starts to read those that are missing. A failed one
    /// is tried again only for a column that has not been told yet.
    pub(super) fn arrange(&mut self, request: &Request) {
        let units: HashSet<Unit> = request.columns.iter().map(Unit::of).collect();
        lock(&self.ensembles).retain(|unit, _| units.contains(unit));
        let wanted: HashSet<Key> = units.into_iter().flat_map(|unit| unit.keys).collect();
        let columns: HashSet<ColumnId> = request.columns.iter().map(|spec| spec.column).collect();
        let mut told = lock(&self.told);
        told.retain(|column, _| columns.contains(column));
        let mut slots = self.shelf.lock();
        lock(&self.shelf.wanted).clone_from(&wanted);
        slots.retain(|key, _| wanted.contains(key) || lock(&self.shelf.borrowed).contains(key));
        self.readers.retain(|reader| !reader.is_finished());
        for key in wanted {
            let uses = |spec: &&ColumnSpec| Unit::of(spec).keys.contains(&key);
            let users: Vec<ColumnId> = request.columns.iter().filter(uses).map(|spec| spec.column).collect();
            let needed = match slots.get(&key) {
                None => true,
                Some(Slot::Failed(_)) => users.iter().any(|column| !told.contains_key(column)),
                Some(Slot::Reading(_) | Slot::Ready(_)) => false,
            };
            if !needed {
                continue;
            }
            told.retain(|column, _| !users.contains(column));
            slots.insert(key.clone(), Slot::Reading(0.0));
            let (shelf, job) = (Arc::clone(&self.shelf), key.clone());
            let reader =
                std::thread::Builder::new().name("interlinear-model".to_owned()).spawn(move || read_onto(&shelf, &job));
            match reader {
                Ok(reader) => self.readers.push(reader),
                Err(error) => {
                    let message = format!("The system gave no thread to read the model with ({error}).");
                    slots.insert(key, Slot::Failed(message));
                }
            }
        }
    }

    /// Waits for a model, or for all of an ensemble; `None` once the ticket is stale. `progress` hears how far it is.
    pub(super) fn wait(
        &self,
        unit: &Unit,
        ticket: &Ticket,
        progress: &mut dyn FnMut(f32),
    ) -> Option<std::result::Result<Arc<Shelved>, String>> {
        let share = 1.0 / unit.keys.len() as f32;
        let mut members = Vec::with_capacity(unit.keys.len());
        for (n, key) in unit.keys.iter().enumerate() {
            match self.shelf.wait(key, ticket, &mut |fraction| progress((n as f32 + fraction) * share))? {
                Ok(member) => members.push(member),
                Err(message) => return Some(Err(message)),
            }
        }
        let Some(mixing) = unit.mixing else { return members.pop().map(Ok) };
        let mut ensembles = lock(&self.ensembles);
        if let Some(known) = ensembles.get(unit) {
            return Some(Ok(Arc::clone(known)));
        }
        Some(match Shelved::ensemble(&members, mixing) {
            Ok(made) => Ok(Arc::clone(ensembles.entry(unit.clone()).or_insert(Arc::new(made)))),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Whether a model could not be read.
    pub(super) fn has_failed(&self, unit: &Unit) -> bool {
        let slots = self.shelf.lock();
        unit.keys.iter().any(|key| matches!(slots.get(key), Some(Slot::Failed(_))))
    }

    /// True the first time that it is asked for a column, and again when its ensemble is mixed in another way.
    pub(super) fn must_tell(&self, spec: &ColumnSpec) -> bool {
        let mixing = spec.ensemble.as_ref().map(|ensemble| ensemble.mixing);
        let mut told = lock(&self.told);
        if told.get(&spec.column).is_some_and(|told| told.mixing == mixing) {
            return false;
        }
        told.insert(spec.column, Told { mixing, fingerprint: false });
        true
    }

    /// Whether a column was told of its model and not yet the fingerprint.
    pub(super) fn owes_fingerprint(&self, spec: &ColumnSpec) -> bool {
        lock(&self.told).get(&spec.column).is_some_and(|told| !told.fingerprint)
    }

    /// The fingerprint is told.
    pub(super) fn fingerprint_told(&self, spec: &ColumnSpec) {
        if let Some(told) = lock(&self.told).get_mut(&spec.column) {
            told.fingerprint = true;
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for reader in self.readers.drain(..) {
            // What a reader had to say lies on the shelf.
            let _ = reader.join();
        }
    }
}

impl Library {
    /// A library of its own, without models.
    pub fn new(threads: usize) -> Self {
        Engine::new(threads).library()
    }

    /// The model of this folder: the one in memory, or the one that is being read, or read here. It stays on the
    /// shelf until [`Library::release`]. A failed one is tried again.
    pub(super) fn borrow(&self, key: &Key, ticket: &Ticket) -> Result<Arc<Shelved>> {
        let mut slots = self.shelf.lock();
        lock(&self.shelf.borrowed).insert(key.clone());
        let is_missing = matches!(slots.get(key), None | Some(Slot::Failed(_)));
        if is_missing {
            slots.insert(key.clone(), Slot::Reading(0.0));
        }
        drop(slots);
        if is_missing {
            read_onto(&self.shelf, key);
        }
        match self.shelf.wait(key, ticket, &mut |_| ()) {
            None => Err(Error::Stale),
            Some(Ok(shelved)) => Ok(shelved),
            Some(Err(message)) => Err(Error::Input(message)),
        }
    }

    /// What was borrowed and no column wants goes.
    pub(super) fn release(&self) {
        let mut slots = self.shelf.lock();
        let borrowed = std::mem::take(&mut *lock(&self.shelf.borrowed));
        let wanted = lock(&self.shelf.wanted);
        slots.retain(|key, _| wanted.contains(key) || !borrowed.contains(key));
    }
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        lock(&self.slots)
    }

    /// As [`Engine::wait`].
    fn wait(
        &self,
        key: &Key,
        ticket: &Ticket,
        progress: &mut dyn FnMut(f32),
    ) -> Option<std::result::Result<Arc<Shelved>, String>> {
        let mut slots = self.lock();
        let mut last = -1.0;
        loop {
            let fraction = match slots.get(key) {
                Some(Slot::Ready(shelved)) => return Some(Ok(Arc::clone(shelved))),
                Some(Slot::Failed(message)) => return Some(Err(message.clone())),
                Some(Slot::Reading(fraction)) => *fraction,
                None => return None,
            };
            if ticket.is_stale() {
                return None;
            }
            if fraction != last {
                last = fraction;
                drop(slots);
                progress(fraction);
                slots = self.lock();
                continue;
            }
            slots = self.changed.wait_timeout(slots, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sets the slot, unless nobody wants it any more.
    fn set(&self, key: &Key, slot: Slot) {
        if let Some(old) = self.lock().get_mut(key) {
            *old = slot;
        }
        self.changed.notify_all();
    }
}

impl Shelved {
    fn new(model: Model, device: &Device, card: String) -> Self {
        let config = &model.config;
        let facts = ModelFacts {
            name: config.name.clone(),
            architecture: config.architecture.name().to_owned(),
            citation: config.architecture.entry().citation.to_owned(),
            source_language: config.source_language.clone(),
            target_language: config.target_language.clone(),
            parameters: model.parameters(),
            source_vocabulary: config.source_vocabulary,
            target_vocabulary: config.target_vocabulary,
            hidden: config.hidden,
            eos: config.eos,
            unk: config.unk,
            has_alignment: config.aligns(),
            attention: config.attention(),
            window: config.window(),
            has_two_readings: config.has_two_readings(),
            device: device.name.clone(),
            notice: device.notice.clone(),
            digest: String::new(),
            card,
            members: Vec::new(),
        };
        Self { model, ensemble: None, facts, stepper: Mutex::new(None) }
    }

    /// Models that translate as one.
    fn ensemble(members: &[Arc<Self>], mixing: Mixing) -> Result<Self> {
        let models = members.iter().map(|member| member.model.clone()).collect();
        let ensemble = Ensemble::new(models, mixing)?;
        let model = ensemble.lead().clone();
        let lead = members.iter().find(|member| member.model.folder == model.folder).unwrap_or(&members[0]);
        let facts = |n: &usize| &members[*n].facts;
        let shown = ensemble.shown();
        let only = if let [n] = shown { Some(facts(n)) } else { None };
        let facts = ModelFacts {
            name: ensemble.name(),
            architecture: "ensemble".to_owned(),
            citation: format!("The mean {} of {} models at every word", mixing.average, members.len()),
            parameters: members.iter().map(|member| member.facts.parameters).sum(),
            has_alignment: ensemble.aligns(),
            attention: only
                .map_or_else(|| ensemble.aligns().then(|| "mean".to_owned()), |facts| facts.attention.clone()),
            window: only.and_then(|facts| facts.window),
            has_two_readings: !shown.is_empty() && shown.iter().all(|n| facts(n).has_two_readings),
            notice: None,
            card: String::new(),
            members: members
                .iter()
                .map(|member| Member { name: member.facts.name.clone(), has_alignment: member.facts.has_alignment })
                .collect(),
            ..lead.facts.clone()
        };
        Ok(Self { model, ensemble: Some(ensemble), facts, stepper: Mutex::new(None) })
    }

    /// A text as the model reads it; an ensemble's ids stand for what all members read.
    pub(super) fn encode(&self, text: &str) -> Sentence {
        self.ensemble.as_ref().map_or_else(|| self.model.source.encode(text), |ensemble| ensemble.encode(text))
    }

    fn make_stepper(&self, kernels: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        self.ensemble
            .as_ref()
            .map_or_else(|| self.model.stepper(kernels, threads), |ensemble| ensemble.stepper(kernels, threads))
    }

    /// SHA-256 of the weights, of an ensemble those of all members; takes a moment at the first call, and is `None` when
    /// `goes_on` is false meanwhile.
    pub(super) fn digest_while(&self, goes_on: &dyn Fn() -> bool) -> Option<String> {
        let members = self.ensemble.as_ref().map_or(std::slice::from_ref(&self.model), Ensemble::members);
        let digests = members.iter().map(|member| member.digest_while(goes_on)).collect::<Option<Vec<_>>>()?;
        Some(digests.join(" "))
    }

    pub(super) fn specials(&self) -> Specials {
        Specials { eos: self.facts.eos, unk: self.facts.unk }
    }

    /// Runs `work` with a stepper of this kind. Fused ones share the packed weights and are made anew; plain ones
    /// hold a copy of all weights on their device, so the last one is used again. It is away while `work` runs,
    /// so that a panic loses it instead of leaving it half changed.
    pub(super) fn with_stepper<T>(
        &self,
        kernels: Kernels,
        threads: usize,
        work: impl FnOnce(&mut dyn Stepper) -> Result<T>,
    ) -> Result<T> {
        if kernels == Kernels::Fused && self.model.device.is_cpu() {
            return work(&mut *self.make_stepper(kernels, threads)?);
        }
        let kept = lock(&self.stepper).take().filter(|(kind, _)| *kind == kernels);
        let mut stepper = match kept {
            Some((_, stepper)) => stepper,
            None => self.make_stepper(kernels, threads)?,
        };
        let outcome = work(&mut *stepper);
        *lock(&self.stepper) = Some((kernels, stepper));
        outcome
    }
}

/// The state behind these locks is whole between any two statements, so a panic elsewhere does no harm.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_onto(shelf: &Shelf, key: &Key) {
    let mut progress = |fraction| shelf.set(key, Slot::Reading(fraction));
    let slot = match catch_unwind(AssertUnwindSafe(|| read(key, &shelf.tokenizers, &mut progress))) {
        Ok(Ok(shelved)) => Slot::Ready(Arc::new(shelved)),
        Ok(Err(error)) => Slot::Failed(error.to_string()),
        Err(panic) => Slot::Failed(panic_sentence(&*panic)),
    };
    shelf.set(key, slot);
}

fn read((folder, choice): &Key, known: &Tokenizers, progress: &mut (dyn FnMut(f32) + Send)) -> Result<Shelved> {
    let device = pick(*choice)?;
    let model = Model::load_with(folder, &device, known, progress)?;
    Ok(Shelved::new(model, &device, card(folder)))
}
