//! The live lane: one thread, one slot, the latest request wins.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{num::NonZero, sync::Arc, time::Duration};

use crate::jobs::gate::{ForegroundGate, ForegroundGuard};
use crate::jobs::live::protocol::{Event, Request};
use crate::jobs::thread;
use crate::jobs::thread::{GRACE, Service, Wake, caught, panic_sentence};
use crate::jobs::{live::mailbox::Mailbox, live::serve::serve_holding, models::cache::Library, models::store::Store};
use engine::ticket::{CancellationToken, Generation};

const ROOM: usize = 256;
/// Rows among them, each of which repeats those before it; more are left out.
const ROOM_FOR_ROWS: usize = 16;

/// A request, its ticket, and the guard that holds the gate.
type Letter = (Request, CancellationToken, ForegroundGuard);

/// The live thread.
pub struct Worker {
    mailbox: Arc<Mailbox<Letter>>,
    pub gate: Arc<ForegroundGate>,
    pub library: Library,
    tickets: Generation,
    rows: Arc<AtomicUsize>,
    service: Service<Event>,
}

impl Worker {
    /// Starts the thread. `threads` are the cores that all columns together may use; `None`: all.
    pub fn spawn(threads: Option<usize>, wake: Wake) -> Self {
        let cores = || std::thread::available_parallelism().map_or(2, NonZero::get);
        Self::spawn_with(Store::new(threads.unwrap_or_else(cores)), wake)
    }

    pub fn spawn_with(store: Store, wake: Wake) -> Self {
        let (out, events) = thread::channel(ROOM, wake);
        let (mailbox, rows, tickets) =
            (Arc::new(Mailbox::<Letter>::new()), Arc::<AtomicUsize>::default(), Generation::new());
        let (library, outbox) = (store.library(), Outbox { out, rows: Arc::clone(&rows) });
        let (inbox, closed, cancelled) = (Arc::clone(&mailbox), Arc::clone(&mailbox), tickets.clone());
        let stop = move || {
            cancelled.cancel();
            closed.close();
        };
        let service = Service::start("worker", GRACE, events, stop, move || run(store, &inbox, &outbox));
        Self { mailbox, gate: ForegroundGate::new(), library, tickets, rows, service }
    }

    /// Makes this the wanted request; it replaces all earlier ones.
    pub fn submit(&self, request: Request) {
        let ticket = self.tickets.next();
        if self.service.has_thread() {
            self.mailbox.put((request, ticket, self.gate.shut()));
            return;
        }
        let message = "The system gave no thread to translate with; close other programs and start again.";
        for spec in &request.columns {
            self.service.refuse(Event::LoadFailed { column: spec.column, message: message.to_owned() });
        }
    }

    pub fn try_next(&self) -> Option<Event> {
        self.taken(self.service.try_next())
    }

    /// Waits for the next event, at most so long; for tests and programs without a window.
    pub fn next_within(&self, patience: Duration) -> Option<Event> {
        self.taken(self.service.next_within(patience))
    }

    fn taken(&self, event: Option<Event>) -> Option<Event> {
        if matches!(event, Some(Event::Expanded { .. })) {
            self.rows.fetch_sub(1, Ordering::AcqRel);
        }
        event
    }
}

fn run(mut store: Store, inbox: &Mailbox<Letter>, outbox: &Outbox) {
    thread::step_back_with_pool(thread::LIVE_STEP);
    while let Some((request, ticket, busy)) = inbox.take() {
        let mut emit = |event| outbox.send(event, &ticket);
        if let Err(words) = caught(|| serve_holding(&request, &mut store, &ticket, Some(busy), &mut emit)) {
            let message = panic_sentence("this column", &words);
            for spec in &request.columns {
                emit(Event::Failed { number: request.number, column: spec.column, message: message.clone() });
            }
        }
    }
}

struct Outbox {
    out: thread::Outbox<Event>,
    rows: Arc<AtomicUsize>,
}

impl Outbox {
    /// If the window is behind, rows and progress are dropped; other events wait for room.
    fn send(&self, event: Event, ticket: &CancellationToken) {
        if event.address().0.is_some() && ticket.is_stale() {
            return;
        }
        let _ = match event {
            Event::Expanded { .. } => self.send_row(event),
            Event::Loading { .. } => self.out.try_send(event),
            Event::Loaded { .. }
            | Event::Fingerprint { .. }
            | Event::LoadFailed { .. }
            | Event::Started { .. }
            | Event::Finished { .. }
            | Event::Given { .. }
            | Event::Untouched { .. }
            | Event::Near { .. }
            | Event::Failed { .. } => self.out.send(event),
        };
    }

    fn send_row(&self, event: Event) -> bool {
        // Counted before it is sent, so that the reader never takes away what was not counted.
        let waiting = self.rows.fetch_add(1, Ordering::AcqRel);
        let sent = waiting < ROOM_FOR_ROWS && self.out.try_send(event);
        if !sent {
            self.rows.fetch_sub(1, Ordering::AcqRel);
        }
        sent
    }
}
