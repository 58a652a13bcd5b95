//! The models in memory by folder and device. Each is read once however many columns use it, in a thread of
//! its own, which is not waited for at the end: a file that does not answer holds up neither the others nor the exit.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{path::Path, time::Duration};

use crate::jobs::models::loaded::LoadedModel;
use crate::jobs::thread::{Patience, Thread, caught, lock};
use engine::error::{Error, Result};
use engine::nn::device::{Device, pick};
use engine::{clock::Instant, models::Model, text::tokenizer::Tokenizers, ticket::CancellationToken};

pub use crate::jobs::live::protocol::Key;

const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A reader without progress for this long is taken as stalled, for example in a file that does not answer.
const STALLED: Duration = Duration::from_secs(2);
/// The weights and two tokenizers are read side by side.
const FILES: usize = 3;

/// Models that are read at the same time, each by its thread and those of its files, so that a dozen lessons that are
/// leafed through start no hundred threads. The others wait, and one that is not wanted any more is never read.
/// A reader that has stalled does not count.
const AT_ONCE: usize = 4;
/// Most reader threads, stalled or abandoned ones included; beyond that nothing more is read.
const MOST_READERS: usize = 2 * AT_ONCE;
/// A stalled reader is given up after so many times [`STALLED`]: on a busy machine one is slow and not dead.
const PATIENCE: u32 = 15;

/// Reads a model folder; tells how far it is, from 0 to 1.
pub type Reader = Arc<dyn Fn(&Path, &Device, &Tokenizers, &mut (dyn FnMut(f32) + Send)) -> Result<Model> + Send + Sync>;

/// What a wait for a model receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReadProgress {
    /// So much of it is read, from 0 to 1.
    Read(f32),
    /// Its reader has not moved for a while; said once.
    Stalled,
}

enum Slot {
    /// Until others are read, in the order of these numbers.
    Waiting(u64),
    Reading(Loading),
    Ready(Arc<LoadedModel>),
    Failed(String),
}

/// A model that a reader is loading. An older reader of the same model may still run; its messages are ignored.
struct Loading {
    reader: u64,
    fraction: f32,
    moved: Instant,
}

#[derive(Default)]
struct Places {
    slots: HashMap<Key, Slot>,
    wanted: HashSet<Key>,
    /// How many have borrowed each; it stays although no column wants it.
    borrowed: HashMap<Key, usize>,
    readers: u64,
    /// Readers whose threads have not ended.
    running: usize,
}

pub(crate) struct ModelCache {
    places: Mutex<Places>,
    changed: Condvar,
    /// Those of the models, shared where their files are the same.
    tokenizers: Tokenizers,
    reader: Reader,
    stalled: Duration,
}

impl Default for ModelCache {
    fn default() -> Self {
        Self {
            places: Mutex::default(),
            changed: Condvar::new(),
            tokenizers: Tokenizers::default(),
            reader: Arc::new(Model::load_with),
            stalled: STALLED,
        }
    }
}

/// The live models, for other work.
#[derive(Clone)]
pub struct Library {
    cache: Arc<ModelCache>,
    pub threads: usize,
}

impl Library {
    pub fn new(threads: usize) -> Self {
        Self::of(Arc::default(), threads)
    }

    pub(crate) fn of(cache: Arc<ModelCache>, threads: usize) -> Self {
        Self { cache, threads: threads.max(1) }
    }

    /// The model, once it is in memory, where it stays until the guard is dropped. A failed one is tried again.
    pub(crate) fn borrow(&self, key: &Key, ticket: &CancellationToken) -> Result<(ModelGuard, Arc<LoadedModel>)> {
        let guard = ModelGuard { cache: Arc::clone(&self.cache), key: key.clone() };
        let mut places = lock(&self.cache.places);
        *places.borrowed.entry(key.clone()).or_default() += 1;
        if matches!(places.slots.get(key), None | Some(Slot::Failed(_))) {
            self.cache.line_up(&mut places, key);
        }
        drop(places);
        match self.cache.wait(key, ticket, &mut |_| ()) {
            None => Err(Error::Stale),
            Some(Ok(model)) => Ok((guard, model)),
            Some(Err(message)) => Err(Error::Input(message)),
        }
    }
}

/// Keeps a borrowed model in memory; dropped, it gives it back.
pub(crate) struct ModelGuard {
    cache: Arc<ModelCache>,
    key: Key,
}

impl Drop for ModelGuard {
    fn drop(&mut self) {
        let mut places = lock(&self.cache.places);
        if let Some(count) = places.borrowed.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                places.borrowed.remove(&self.key);
                places.tidy();
            }
        }
    }
}

impl Places {
    fn is_wanted(&self, key: &Key) -> bool {
        self.wanted.contains(key) || self.borrowed.contains_key(key)
    }

    /// Forgets unused models. One that is being read stays, so that it never has two readers.
    fn tidy(&mut self) {
        let Self { slots, wanted, borrowed, .. } = self;
        slots
            .retain(|key, slot| matches!(slot, Slot::Reading(_)) || wanted.contains(key) || borrowed.contains_key(key));
    }

    /// The loading of this model by this reader, unless it was replaced.
    fn reading(&mut self, key: &Key, reader: u64) -> Option<&mut Loading> {
        match self.slots.get_mut(key) {
            Some(Slot::Reading(reading)) if reading.reader == reader => Some(reading),
            Some(Slot::Waiting(_) | Slot::Reading(_) | Slot::Ready(_) | Slot::Failed(_)) | None => None,
        }
    }

    /// The model that has waited longest, where there is room for one more reader.
    fn next(&self, stalled: Duration) -> Option<(u64, Key)> {
        let moves = |slot: &&Slot| matches!(slot, Slot::Reading(reading) if reading.moved.elapsed() < stalled);
        if self.running >= MOST_READERS || self.slots.values().filter(moves).count() >= AT_ONCE {
            return None;
        }
        let waiting = self.slots.iter().filter_map(|(key, slot)| match slot {
            Slot::Waiting(number) => Some((*number, key)),
            Slot::Reading(_) | Slot::Ready(_) | Slot::Failed(_) => None,
        });
        waiting.min_by_key(|(number, _)| *number).map(|(number, key)| (number, key.clone()))
    }
}

impl ModelCache {
    /// A cache whose models are read by `reader`, which counts as stalled after this long without progress.
    pub(crate) fn with_reader(reader: Reader, stalled: Duration) -> Self {
        Self { reader, stalled, ..Self::default() }
    }

    pub(crate) fn insert(&self, key: Key, model: LoadedModel) {
        let mut places = lock(&self.places);
        places.wanted.insert(key.clone());
        places.slots.insert(key, Slot::Ready(Arc::new(model)));
    }

    /// Puts in a model that was read elsewhere; what columns want stays as it is.
    #[cfg(target_family = "wasm")]
    pub(crate) fn put(&self, key: Key, model: LoadedModel) {
        lock(&self.places).slots.insert(key, Slot::Ready(Arc::new(model)));
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn knows(&self, key: &Key) -> bool {
        lock(&self.places).slots.contains_key(key)
    }

    pub(crate) fn len(&self) -> usize {
        let places = lock(&self.places);
        places.slots.iter().filter(|(key, slot)| !matches!(slot, Slot::Failed(_)) && places.is_wanted(key)).count()
    }

    /// Forgets unused models and reads missing ones, failed ones if `again`; replaces a reader that stalled for long.
    pub(crate) fn prepare(self: &Arc<Self>, wanted: HashSet<Key>, again: impl Fn(&Key) -> bool) {
        let mut places = lock(&self.places);
        let before = std::mem::replace(&mut places.wanted, wanted);
        places.tidy();
        let missing = |key: &&Key| match places.slots.get(*key) {
            None => true,
            Some(Slot::Failed(_)) => again(key),
            Some(Slot::Reading(reading)) => {
                !before.contains(*key) && reading.moved.elapsed() >= PATIENCE * self.stalled
            }
            Some(Slot::Waiting(_) | Slot::Ready(_)) => false,
        };
        let missing: Vec<Key> = places.wanted.iter().filter(missing).cloned().collect();
        for key in &missing {
            self.line_up(&mut places, key);
        }
    }

    fn line_up(self: &Arc<Self>, places: &mut Places, key: &Key) {
        places.readers += 1;
        places.slots.insert(key.clone(), Slot::Waiting(places.readers));
        self.start(places);
    }

    fn start(self: &Arc<Self>, places: &mut Places) {
        while let Some((reader, key)) = places.next(self.stalled) {
            let (cache, job) = (Arc::clone(self), key.clone());
            let slot = match Thread::start("model", Patience::None, move || cache.read(&job, reader)) {
                Ok(_) => {
                    places.running += 1;
                    Slot::Reading(Loading { reader, fraction: 0.0, moved: Instant::now() })
                }
                Err(error) => Slot::Failed(format!("The system gave no thread to read the model with ({error}).")),
            };
            places.slots.insert(key, slot);
        }
    }

    fn read(self: &Arc<Self>, key: &Key, reader: u64) {
        let mut progress = |fraction| {
            if let Some(reading) = lock(&self.places).reading(key, reader) {
                (reading.fraction, reading.moved) = (fraction, Instant::now());
            }
            self.changed.notify_all();
        };
        let slot = match caught(|| self.load(key, &mut progress)) {
            Ok(Ok(model)) => Slot::Ready(Arc::new(model)),
            Ok(Err(error)) => Slot::Failed(error.to_string()),
            Err(words) => Slot::Failed(format!("Something went wrong while the model was read ({words}).")),
        };
        let mut places = lock(&self.places);
        places.running -= 1;
        if places.reading(key, reader).is_some() {
            places.slots.insert(key.clone(), slot);
            places.tidy();
        }
        self.start(&mut places);
        drop(places);
        self.changed.notify_all();
    }

    /// Reads in a pool of its own. In the pool that all models compute with, one file that does not answer would take
    /// a thread away from all of them for good.
    fn load(&self, key: &Key, progress: &mut (dyn FnMut(f32) + Send)) -> Result<LoadedModel> {
        let device = pick(key.1)?;
        let name = |_| "interlinear-model-file".to_owned();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(FILES).thread_name(name).build();
        let pool = pool
            .map_err(|error| Error::Device(format!("The system gave no threads to read the model with ({error}).")))?;
        let whole = match self.shared(key) {
            Some(found) => found.model().clone(),
            None => pool.install(|| (self.reader)(&key.0.folder, &device, &self.tokenizers, progress))?,
        };
        let model = whole.choosing(&key.0.choice)?;
        let card = model.card();
        Ok(LoadedModel::new(model, &device, card))
    }

    /// The model in memory of the same folder that can be as it is wanted; `None` where there is none.
    fn shared(&self, (wanted, device): &Key) -> Option<Arc<LoadedModel>> {
        let chosen = &wanted.choice;
        lock(&self.places).slots.iter().find_map(|((spec, on), slot)| match slot {
            Slot::Ready(loaded) if on == device && spec.folder == wanted.folder => {
                let its = &spec.choice;
                // what was chosen of one says no more what the file says
                let covers = (its.heads.is_none() || chosen.heads.is_some())
                    && (its.language.is_none() || chosen.language.is_some())
                    && (!its.shortlist || chosen.shortlist);
                covers.then(|| Arc::clone(loaded))
            }
            _ => None,
        })
    }

    /// Waits for a model; `None` once the ticket is stale.
    pub(crate) fn wait(
        self: &Arc<Self>, key: &Key, ticket: &CancellationToken, on_progress: &mut dyn FnMut(ReadProgress),
    ) -> Option<std::result::Result<Arc<LoadedModel>, String>> {
        let (mut fraction, mut stalled) = (-1.0, false);
        let mut places = lock(&self.places);
        loop {
            // one of those before it may have stalled meanwhile
            self.start(&mut places);
            let (read, is_still) = match places.slots.get(key)? {
                Slot::Ready(model) => return Some(Ok(Arc::clone(model))),
                Slot::Failed(message) => return Some(Err(message.clone())),
                Slot::Waiting(_) => (0.0, false),
                Slot::Reading(reading) => (reading.fraction, reading.moved.elapsed() >= self.stalled),
            };
            if ticket.is_stale() {
                return None;
            }
            let news = if read != fraction {
                (fraction, stalled) = (read, false);
                Some(ReadProgress::Read(fraction))
            } else if !stalled && is_still {
                stalled = true;
                Some(ReadProgress::Stalled)
            } else {
                None
            };
            places = if let Some(news) = news {
                drop(places);
                on_progress(news);
                lock(&self.places)
            } else {
                self.changed.wait_timeout(places, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    pub(crate) fn has_failed(&self, key: &Key) -> bool {
        matches!(lock(&self.places).slots.get(key), Some(Slot::Failed(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;
    use engine::{models::choice::ModelSpec, nn::device::DeviceChoice};

    #[test]
    fn a_model_stays_as_long_as_one_of_those_who_borrowed_it_has_it() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/rnnsearch");
        let (library, key) = (Library::new(1), (fixture.into(), DeviceChoice::Cpu));
        let borrow = || library.borrow(&key, &CancellationToken::forever()).map(|(guard, _)| guard);
        let (first, second) = (borrow().expect("a model"), borrow().expect("a model"));
        assert_eq!(library.cache.len(), 1);
        drop(first);
        assert_eq!(library.cache.len(), 1);
        drop(second);
        assert_eq!(library.cache.len(), 0);
        let missing = ("no/such/model".into(), DeviceChoice::Cpu);
        assert!(library.borrow(&missing, &CancellationToken::forever()).is_err());
        assert!(lock(&library.cache.places).slots.is_empty(), "what could not be read is forgotten, too");
    }

    #[test]
    fn few_models_are_read_at_once_and_those_that_are_not_wanted_any_more_never() {
        let (cache, go, began) = held(|_| true, Duration::from_hours(1));
        let key = |n: usize| (ModelSpec::from(&format!("model {n:02}")), DeviceChoice::Cpu);
        let want = |of: std::ops::Range<usize>| cache.prepare(of.map(key).collect(), |_| false);
        want(0..20);
        let first: Vec<PathBuf> = (0..AT_ONCE).map(|_| began.recv().expect("a reader")).collect();
        assert!(began.try_recv().is_err(), "{AT_ONCE} models are being read");
        want(40..42);
        drop(go);
        for n in 40..42 {
            assert!(cache.wait(&key(n), &CancellationToken::forever(), &mut |_| ()).is_some_and(|read| read.is_ok()));
        }
        let then: Vec<PathBuf> = began.try_iter().collect();
        assert_eq!(then.len(), 2, "{first:?} and then {then:?}");
        assert_eq!(cache.len(), 2);
    }

    /// A cache whose reader waits at the folders that `holds` names until the sender is dropped; and what it began.
    fn held(holds: fn(&Path) -> bool, stalled: Duration) -> (Arc<ModelCache>, SyncSender<()>, Receiver<PathBuf>) {
        let (closed, never) = sync_channel::<()>(0);
        let (begun, began) = sync_channel::<PathBuf>(100);
        let never = Mutex::new(never);
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/rnnsearch");
        let reader: Reader = Arc::new(move |folder, device, tokenizers, _| {
            let _ = begun.send(folder.to_owned());
            if holds(folder) {
                let _ = lock(&never).recv();
            }
            Model::load_with(&fixture, device, tokenizers, &mut |_| ())
        });
        (Arc::new(ModelCache::with_reader(reader, stalled)), closed, began)
    }

    fn partly_dead() -> (Arc<ModelCache>, SyncSender<()>, Receiver<PathBuf>) {
        held(|folder| folder.starts_with("dead"), Duration::ZERO)
    }

    fn dead(n: usize) -> Key {
        (ModelSpec::from(&format!("dead/{n}")), DeviceChoice::Cpu)
    }

    #[test]
    fn a_reader_that_has_stalled_keeps_no_place_from_the_others() {
        let (cache, _closed, _) = partly_dead();
        let sound = ("sound".into(), DeviceChoice::Cpu);
        cache.prepare((0..=AT_ONCE).map(dead).chain([sound.clone()]).collect(), |_| false);
        let read = cache.wait(&sound, &CancellationToken::forever(), &mut |_| ());
        assert!(read.is_some_and(|read| read.is_ok()));
    }

    /// On a busy machine readers seemed to have stalled, and each time a model was wanted anew another four threads began.
    #[test]
    fn readers_that_have_stalled_are_bounded_too() {
        let (cache, closed, began) = partly_dead();
        for _ in 0..20 {
            cache.prepare((0..3).map(dead).collect(), |_| false);
            cache.prepare(HashSet::new(), |_| false);
        }
        let first: Vec<PathBuf> = (0..MOST_READERS).map(|_| began.recv().expect("a reader")).collect();
        assert!(began.try_recv().is_err(), "{first:?}");
        assert_eq!(lock(&cache.places).running, MOST_READERS);
        cache.prepare(HashSet::from([dead(7)]), |_| false);
        drop(closed);
        let read = cache.wait(&dead(7), &CancellationToken::forever(), &mut |_| ());
        assert!(read.is_some_and(|read| read.is_ok()), "as soon as files answer again others are read");
    }
}
