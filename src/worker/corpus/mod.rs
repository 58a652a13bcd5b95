//! Floor 7: the corpus lane: long work behind the window, one order after the other in the order they came.
//!
//! One thread. Each order has its own [`Ticket`], can be paused and cancelled and tells how far it is. Between two
//! pieces of work it calls [`Breath::breathe`], which waits while the live lane has something to do. Models are those
//! of the live lane where it has them. A kind of order is one file here and one line of [`Order`] and [`Found`];
//! the lane itself knows only [`Job`]s.

pub mod evaluate;
pub mod maps;
pub mod phrases;
mod yielding;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::nn::device::DeviceChoice;
use crate::ticket::{Counter, Ticket};
use crate::worker::engine::{Library, Shelved};
use crate::worker::gate::Gate;
use crate::worker::serve::panic_words;
use crate::worker::{Wake, priority};

/// Events that may wait to be read before the lane waits for room; progress is left out instead.
const ROOM: usize = 64;
/// Progress is told no more often than this.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// What can be ordered; one line a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Measure models on a test set.
    Evaluate(evaluate::Evaluate),
    /// Two-dimensional maps of words and phrases, and neighbours.
    Map(maps::Map),
    /// Scores of a phrase table.
    Phrases(phrases::Phrases),
}

/// What came of an [`Order`]; one line a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Of [`Order::Evaluate`].
    Evaluated(evaluate::Evaluated),
    /// Of [`Order::Map`].
    Mapped(maps::Mapped),
    /// Of [`Order::Phrases`].
    Phrases(phrases::Scored),
}

impl Job for Order {
    type Found = Found;

    fn run(self, work: &Work<'_>) -> Result<Found> {
        match self {
            Self::Evaluate(order) => order.run(work).map(Found::Evaluated),
            Self::Map(order) => order.run(work).map(Found::Mapped),
            Self::Phrases(order) => order.run(work).map(Found::Phrases),
        }
    }
}

/// Something that takes long. It calls [`Breath::breathe`] between two pieces of at most a few hundred milliseconds.
pub trait Job: Send + 'static {
    /// What comes of it.
    type Found: Send + 'static;

    /// Does it.
    ///
    /// # Errors
    /// [`Error::Stale`] when it was cancelled; any other is told as a sentence.
    fn run(self, work: &Work<'_>) -> Result<Self::Found>;
}

/// How far an order is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Pieces done, of `total`.
    pub done: usize,
    /// 0 while it is not known.
    pub total: usize,
    /// What is being done, such as `Translating with RNNsearch`.
    pub what: String,
    /// 0 where words are not counted.
    pub words_per_second: f32,
}

/// What the lane tells of an order.
#[derive(Clone, Debug)]
pub struct CorpusEvent<F = Found> {
    /// Of the order.
    pub number: u64,
    /// What happened.
    pub kind: Kind<F>,
}

/// What happened to an order.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<F = Found> {
    /// Its turn has come, or it is further on.
    Progress(Progress),
    /// It is done; the last event of its number.
    Found(F),
    /// It could not be done, in a sentence; the last event of its number.
    Failed(String),
    /// It was cancelled; the last event of its number.
    Cancelled,
}

/// What holds an order up or ends it.
pub struct Breath {
    ticket: Ticket,
    is_paused: Arc<AtomicBool>,
    gate: Arc<Gate>,
    waited: AtomicU64,
}

impl Breath {
    /// Waits while the live lane has work or the order is paused. Costs a few atomic reads otherwise.
    ///
    /// # Errors
    /// [`Error::Stale`] once the order is cancelled.
    pub fn breathe(&self) -> Result<()> {
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

/// What a job gets to work with.
pub struct Work<'a> {
    /// Stale once the order is cancelled.
    pub ticket: Ticket,
    /// For loops that get no more of it than this.
    pub breath: Breath,
    library: &'a Library,
    tell: &'a dyn Fn(Progress),
    last: Cell<Option<Instant>>,
    start: Instant,
}

impl Work<'_> {
    /// As [`Breath::breathe`].
    ///
    /// # Errors
    /// [`Error::Stale`] once the order is cancelled.
    pub fn breathe(&self) -> Result<()> {
        self.breath.breathe()
    }

    /// Seconds of work so far, without those that it was held up.
    pub fn seconds(&self) -> f32 {
        let waited = Duration::from_micros(self.breath.waited.load(Ordering::Acquire));
        self.start.elapsed().saturating_sub(waited).as_secs_f32()
    }

    /// Tells how far it is, unless that was told a moment ago; the first and the last are always told.
    pub fn tell(&self, progress: Progress) {
        let is_due = self.last.get().is_none_or(|last| last.elapsed() >= PROGRESS_EVERY);
        if is_due || progress.done == progress.total {
            self.last.set(Some(Instant::now()));
            (self.tell)(progress);
        }
    }

    /// The cores that a job may use.
    pub fn threads(&self) -> usize {
        self.library.threads
    }

    /// The model of this folder: the live lane's where it has it, else read here and kept for as long as the order
    /// runs.
    ///
    /// # Errors
    /// A sentence about the folder; [`Error::Stale`] once cancelled.
    pub(super) fn model(&self, folder: &Path, device: DeviceChoice) -> Result<Arc<Shelved>> {
        self.breathe()?;
        self.library.borrow(&(folder.to_owned(), device), &self.ticket)
    }
}

/// The lane: one thread, first come, first served.
pub struct Lane<J: Job = Order> {
    shared: Arc<Shared<J>>,
    events: Option<Receiver<CorpusEvent<J::Found>>>,
    thread: Option<JoinHandle<()>>,
    refused: RefCell<VecDeque<u64>>,
}

struct Shared<J> {
    queue: Mutex<Queue<J>>,
    arrived: Condvar,
    gate: Arc<Gate>,
}

struct Queue<J> {
    waiting: VecDeque<(J, Entry)>,
    /// Those that wait and the one under way.
    entries: Vec<Entry>,
    is_closed: bool,
}

#[derive(Clone)]
struct Entry {
    number: u64,
    tickets: Counter,
    ticket: Ticket,
    is_paused: Arc<AtomicBool>,
}

impl<J: Job> Lane<J> {
    /// Starts the thread. `library` and `gate` are those of the live lane
    /// ([`Worker::library`](crate::worker::Worker::library), [`Worker::gate`](crate::worker::Worker::gate)).
    pub fn spawn(library: Library, gate: Arc<Gate>, wake: Wake) -> Self {
        let (sender, events) = sync_channel(ROOM);
        let queue = Queue { waiting: VecDeque::new(), entries: Vec::new(), is_closed: false };
        let shared = Arc::new(Shared { queue: Mutex::new(queue), arrived: Condvar::new(), gate });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("interlinear-corpus".to_owned());
        let thread = thread.spawn(move || {
            priority::step_back(priority::CORPUS);
            run(&theirs, &library, &Outbox { events: sender, wake });
        });
        let thread = thread.ok();
        Self { shared, events: Some(events), thread, refused: RefCell::default() }
    }

    /// Puts an order at the end of the queue; `number` is the caller's and is not used twice.
    pub fn submit(&self, number: u64, job: J) {
        if self.thread.is_none() {
            self.refused.borrow_mut().push_back(number);
            return;
        }
        let tickets = Counter::new();
        let entry = Entry { number, ticket: tickets.next(), tickets, is_paused: Arc::default() };
        let mut queue = self.shared.lock();
        queue.entries.push(entry.clone());
        queue.waiting.push_back((job, entry));
        drop(queue);
        self.shared.arrived.notify_all();
    }

    /// Ends an order, whether it waits or is under way; what it has done is lost.
    pub fn cancel(&self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.tickets.cancel();
            self.shared.gate.ring();
        }
    }

    /// Holds an order up, or has it go on. Those behind it wait with it.
    pub fn pause(&self, number: u64, is_paused: bool) {
        if let Some(entry) = self.entry(number) {
            entry.is_paused.store(is_paused, Ordering::Release);
            self.shared.gate.ring();
        }
    }

    /// The next event, if any came.
    pub fn try_next(&self) -> Option<CorpusEvent<J::Found>> {
        self.refusal().or_else(|| self.events.as_ref()?.try_recv().ok())
    }

    /// Waits for the next event, at most so long; for tests and programs without a window.
    pub fn next_within(&self, patience: Duration) -> Option<CorpusEvent<J::Found>> {
        self.refusal().or_else(|| self.events.as_ref()?.recv_timeout(patience).ok())
    }

    fn refusal(&self) -> Option<CorpusEvent<J::Found>> {
        let number = self.refused.borrow_mut().pop_front()?;
        let message = "The system gave no thread to work with; close other programs and start again.".to_owned();
        Some(CorpusEvent { number, kind: Kind::Failed(message) })
    }

    fn entry(&self, number: u64) -> Option<Entry> {
        self.shared.lock().entries.iter().find(|entry| entry.number == number).cloned()
    }
}

impl<J: Job> Drop for Lane<J> {
    fn drop(&mut self) {
        // Nobody reads any more, so nobody may wait for room.
        self.events = None;
        let mut queue = self.shared.lock();
        queue.is_closed = true;
        queue.waiting.clear();
        for entry in &queue.entries {
            entry.tickets.cancel();
        }
        drop(queue);
        self.shared.arrived.notify_all();
        self.shared.gate.ring();
        if let Some(thread) = self.thread.take() {
            // Panics of jobs are caught where they run.
            let _ = thread.join();
        }
    }
}

impl<J> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, Queue<J>> {
        // The queue is whole between any two statements, so a panic elsewhere does no harm.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(J, Entry)> {
        let mut queue = self.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(next) = queue.waiting.pop_front() {
                return Some(next);
            }
            queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct Outbox<F> {
    events: SyncSender<CorpusEvent<F>>,
    wake: Wake,
}

impl<F> Outbox<F> {
    /// Sends, then wakes. Progress that finds no room is left out: the next one says it all.
    fn send(&self, number: u64, kind: Kind<F>) {
        let event = CorpusEvent { number, kind };
        let sent = match event.kind {
            Kind::Progress(_) => self.events.try_send(event).is_ok(),
            _ => self.events.send(event).is_ok(),
        };
        if sent {
            (self.wake)();
        }
    }
}

fn run<J: Job>(shared: &Shared<J>, library: &Library, out: &Outbox<J::Found>) {
    while let Some((job, entry)) = shared.next() {
        let number = entry.number;
        let kind = perform(job, &entry, shared, library, out);
        library.release();
        shared.lock().entries.retain(|entry| entry.number != number);
        out.send(number, kind);
    }
}

fn perform<J: Job>(
    job: J,
    entry: &Entry,
    shared: &Shared<J>,
    library: &Library,
    out: &Outbox<J::Found>,
) -> Kind<J::Found> {
    let tell = |progress| out.send(entry.number, Kind::Progress(progress));
    let breath = Breath {
        ticket: entry.ticket.clone(),
        is_paused: Arc::clone(&entry.is_paused),
        gate: Arc::clone(&shared.gate),
        waited: AtomicU64::new(0),
    };
    let start = Instant::now();
    let work = Work { ticket: entry.ticket.clone(), breath, library, tell: &tell, last: Cell::new(None), start };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        work.breathe()?;
        job.run(&work)
    }));
    match outcome {
        // What was cancelled stays cancelled, even when it was done a moment before.
        _ if entry.ticket.is_stale() => Kind::Cancelled,
        Ok(Ok(found)) => Kind::Found(found),
        Ok(Err(Error::Stale)) => Kind::Cancelled,
        Ok(Err(error)) => Kind::Failed(error.to_string()),
        Err(panic) => {
            let words = panic_words(&*panic);
            Kind::Failed(format!("Something went wrong inside this work ({words}); everything else goes on."))
        }
    }
}
