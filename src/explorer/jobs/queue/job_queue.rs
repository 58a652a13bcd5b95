//! The lane itself: one thread, one queue, one order after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::jobs::queue::order::{Found, QueueOrder};
use crate::jobs::queue::work::{Job, JobProgress, PausePoint, Work};
use crate::jobs::thread;
use crate::jobs::thread::{GRACE, Outbox, Service, Wake, caught, lock};
use crate::jobs::{gate::ForegroundGate, models::cache::Library};
use engine::error::Error;
use engine::ticket::{CancellationToken, Generation};

/// Capacity of the channel of events; when it is full the lane waits, and progress is dropped.
const ROOM: usize = 64;

/// An event of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueueEvent<F = Found> {
    pub number: u64,
    pub kind: QueueNews<F>,
}

/// What happened to an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueNews<F = Found> {
    /// Its turn has come, or it is further on.
    Progress(JobProgress),
    /// It is done; the last event of its number.
    Found(F),
    /// It failed, with a sentence that says why; the last event of its number.
    Failed(String),
    /// It was cancelled; the last event of its number.
    Cancelled,
}

/// One thread that does orders, first come, first served.
pub struct JobQueue<J: Job = QueueOrder> {
    shared: Arc<Shared<J>>,
    pub news: Service<QueueEvent<J::Found>>,
}

struct Shared<J> {
    queue: Mutex<Queue<J>>,
    arrived: Condvar,
    gate: Arc<ForegroundGate>,
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
    tickets: Generation,
    ticket: CancellationToken,
    is_paused: Arc<AtomicBool>,
}

impl<J: Job> JobQueue<J> {
    /// `library` and `gate` are those of the live [`Worker`](crate::jobs::Worker).
    pub fn spawn(library: Library, gate: Arc<ForegroundGate>, wake: Wake) -> Self {
        let (out, events) = thread::channel(ROOM, wake);
        let queue = Queue { waiting: VecDeque::new(), entries: Vec::new(), is_closed: false };
        let shared = Arc::new(Shared { queue: Mutex::new(queue), arrived: Condvar::new(), gate });
        let (theirs, closed) = (Arc::clone(&shared), Arc::clone(&shared));
        let news = Service::start(
            "corpus",
            GRACE,
            events,
            move || closed.close(),
            move || {
                thread::step_back(thread::CORPUS_STEP);
                run(&theirs, &library, &out);
            },
        );
        Self { shared, news }
    }

    /// Puts an order at the end of the queue; `number` is the caller's and is not used twice.
    pub fn submit(&self, number: u64, job: J) {
        if !self.news.has_thread() {
            let message = "The system gave no thread to work with; close other programs and start again.";
            self.news.refuse(QueueEvent { number, kind: QueueNews::Failed(message.to_owned()) });
            return;
        }
        let tickets = Generation::new();
        let entry = Entry { number, ticket: tickets.next(), tickets, is_paused: Arc::default() };
        let mut queue = lock(&self.shared.queue);
        queue.entries.push(entry.clone());
        queue.waiting.push_back((job, entry));
        drop(queue);
        self.shared.arrived.notify_all();
    }

    /// Cancels an order, waiting or running; its results so far are lost.
    pub fn cancel(&self, number: u64) {
        if let Some(entry) = self.entry(number) {
            entry.tickets.cancel();
            self.shared.gate.ring();
        }
    }

    /// Pauses or resumes an order. The orders behind it wait with it.
    pub fn pause(&self, number: u64, is_paused: bool) {
        if let Some(entry) = self.entry(number) {
            entry.is_paused.store(is_paused, Ordering::Release);
            self.shared.gate.ring();
        }
    }

    fn entry(&self, number: u64) -> Option<Entry> {
        lock(&self.shared.queue).entries.iter().find(|entry| entry.number == number).cloned()
    }
}

impl<J> Shared<J> {
    fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.is_closed = true;
        queue.waiting.clear();
        for entry in &queue.entries {
            entry.tickets.cancel();
        }
        drop(queue);
        self.arrived.notify_all();
        self.gate.ring();
    }

    fn next(&self) -> Option<(J, Entry)> {
        let mut queue = lock(&self.queue);
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

fn run<J: Job>(shared: &Shared<J>, library: &Library, out: &Outbox<QueueEvent<J::Found>>) {
    while let Some((job, entry)) = shared.next() {
        let number = entry.number;
        let kind = perform(job, &entry, &shared.gate, library, out);
        lock(&shared.queue).entries.retain(|entry| entry.number != number);
        out.send(QueueEvent { number, kind });
    }
}

/// Does an order here and now, as a browser's worker must.
#[cfg(target_family = "wasm")]
pub fn at_once<J: Job>(
    job: J, library: &Library, ticket: CancellationToken, notify: &dyn Fn(JobProgress),
) -> QueueNews<J::Found> {
    let breath = PausePoint::new(ticket, Arc::default(), ForegroundGate::new());
    match job.run(&Work::new(breath, library, notify)) {
        Ok(found) => QueueNews::Found(found),
        Err(Error::Stale) => QueueNews::Cancelled,
        Err(error) => QueueNews::Failed(error.to_string()),
    }
}

fn perform<J: Job>(
    job: J, entry: &Entry, gate: &Arc<ForegroundGate>, library: &Library, out: &Outbox<QueueEvent<J::Found>>,
) -> QueueNews<J::Found> {
    // Progress is dropped when the channel is full: the next report replaces it.
    let notify = |progress| {
        out.try_send(QueueEvent { number: entry.number, kind: QueueNews::Progress(progress) });
    };
    let breath = PausePoint::new(entry.ticket.clone(), Arc::clone(&entry.is_paused), Arc::clone(gate));
    let work = Work::new(breath, library, &notify);
    let outcome = caught(|| {
        work.pause_point()?;
        job.run(&work)
    });
    match outcome {
        // A cancelled order stays cancelled, even if it finished just before.
        _ if entry.ticket.is_stale() => QueueNews::Cancelled,
        Ok(Ok(found)) => QueueNews::Found(found),
        Ok(Err(Error::Stale)) => QueueNews::Cancelled,
        Ok(Err(error)) => QueueNews::Failed(error.to_string()),
        Err(words) => QueueNews::Failed(thread::panic_sentence("this work", &words)),
    }
}
