//! Floor 7: the only threads. Imports everything below; knows no window and no session.
//!
//! The live lane is one slot where the latest request wins. It is served by one thread, which decodes columns
//! side by side and reads models in threads of their own (`serve.rs`). `disk.rs` keeps slow files away from the
//! window. The lane for whole corpora (`corpus/`) is a queue beside the slot; it shares the models and steps aside
//! while the live lane has work (`gate.rs`). Both leave the window its share of the cores
//! (`priority.rs`).

pub mod corpus;
pub mod disk;
mod engine;
pub mod follow;
pub mod gate;
pub mod mailbox;
mod priority;
pub mod protocol;
mod serve;
mod view;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ticket::{Counter, Ticket};
use crate::worker::gate::{Busy, Gate};
use crate::worker::mailbox::Mailbox;
use crate::worker::protocol::{Event, Request};

pub use crate::worker::engine::{Engine, Library};
pub use crate::worker::serve::serve;

/// Called after something was sent, from any thread: "come and look".
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Events that may wait to be read.
const ROOM: usize = 256;
/// Rows among them, each of which repeats those before it; more are left out.
const ROOM_FOR_ROWS: usize = 16;

/// A request, its ticket, and what keeps the corpus lane aside until it is served or replaced.
type Letter = (Request, Ticket, Busy);

/// The live lane: one thread, one slot, latest wins.
pub struct Worker {
    mailbox: Arc<Mailbox<Letter>>,
    gate: Arc<Gate>,
    library: Library,
    tickets: Counter,
    events: Option<Receiver<Event>>,
    thread: Option<JoinHandle<()>>,
    rows: Arc<AtomicUsize>,
    refused: RefCell<VecDeque<Event>>,
}

impl Worker {
    /// Starts the thread. `threads` are the cores that all columns together may use; `None`: all.
    pub fn spawn(threads: Option<usize>, wake: Wake) -> Self {
        let cores = || std::thread::available_parallelism().map_or(2, NonZero::get);
        Self::spawn_with(Engine::new(threads.unwrap_or_else(cores)), wake)
    }

    /// As [`Worker::spawn`] with an engine that may hold models already.
    pub fn spawn_with(engine: Engine, wake: Wake) -> Self {
        let (sender, events) = sync_channel(ROOM);
        let mailbox = Arc::new(Mailbox::<Letter>::new());
        let rows = Arc::new(AtomicUsize::new(0));
        let (inbox, outbox) = (Arc::clone(&mailbox), Outbox { events: sender, rows: Arc::clone(&rows), wake });
        let thread = std::thread::Builder::new().name("interlinear-worker".to_owned());
        let library = engine.library();
        let thread = thread.spawn(move || run(engine, &inbox, &outbox)).ok();
        Self {
            mailbox,
            gate: Gate::new(),
            library,
            tickets: Counter::new(),
            events: Some(events),
            thread,
            rows,
            refused: RefCell::default(),
        }
    }

    /// Shut while there is something to translate.
    pub fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    /// The models, for the corpus lane.
    pub fn library(&self) -> Library {
        self.library.clone()
    }

    /// Asks for this and for nothing that was asked before.
    pub fn submit(&self, request: Request) {
        let ticket = self.tickets.next();
        if self.thread.is_some() {
            self.mailbox.put((request, ticket, self.gate.shut()));
            return;
        }
        let message = "The system gave no thread to translate with; close other programs and start again.";
        let told =
            request.columns.iter().map(|spec| Event::LoadFailed { column: spec.column, message: message.to_owned() });
        self.refused.borrow_mut().extend(told);
    }

    /// The next event, if any came.
    pub fn try_next(&self) -> Option<Event> {
        self.refused.borrow_mut().pop_front().or_else(|| self.taken(self.events.as_ref()?.try_recv().ok()))
    }

    /// Waits for the next event, at most so long; for tests and programs without a window.
    pub fn next_within(&self, patience: Duration) -> Option<Event> {
        self.refused.borrow_mut().pop_front().or_else(|| self.taken(self.events.as_ref()?.recv_timeout(patience).ok()))
    }

    fn taken(&self, event: Option<Event>) -> Option<Event> {
        if matches!(event, Some(Event::Expanded { .. })) {
            self.rows.fetch_sub(1, Ordering::AcqRel);
        }
        event
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Nobody reads any more, so nobody may wait for room.
        self.events = None;
        self.tickets.cancel();
        self.mailbox.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been told already; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn run(mut engine: Engine, inbox: &Mailbox<Letter>, outbox: &Outbox) {
    priority::step_back_with_pool(priority::LIVE);
    while let Some((request, ticket, _busy)) = inbox.take() {
        let mut emit = |event| outbox.send(event, &ticket);
        let outcome = catch_unwind(AssertUnwindSafe(|| serve(&request, &mut engine, &ticket, &mut emit)));
        if let Err(panic) = outcome {
            let message = serve::panic_sentence(&*panic);
            for spec in &request.columns {
                emit(Event::Failed { number: request.number, column: spec.column, message: message.clone() });
            }
        }
    }
}

/// The worker's end of the channel.
struct Outbox {
    events: SyncSender<Event>,
    rows: Arc<AtomicUsize>,
    wake: Wake,
}

impl Outbox {
    /// Sends, then wakes. When the window is behind, rows and progress are left out, since the next one says it
    /// all; what must not be lost waits for room.
    fn send(&self, event: Event, ticket: &Ticket) {
        if event.address().0.is_some() && ticket.is_stale() {
            return;
        }
        let sent = match event {
            Event::Expanded { .. } => self.send_row(event),
            Event::Loading { .. } => self.events.try_send(event).is_ok(),
            _ => self.events.send(event).is_ok(),
        };
        if sent {
            (self.wake)();
        }
    }

    fn send_row(&self, event: Event) -> bool {
        // Counted before it is sent, so that the reader never takes away what was not counted.
        let waiting = self.rows.fetch_add(1, Ordering::AcqRel);
        let sent = waiting < ROOM_FOR_ROWS && self.events.try_send(event).is_ok();
        if !sent {
            self.rows.fetch_sub(1, Ordering::AcqRel);
        }
        sent
    }
}
