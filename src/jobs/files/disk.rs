//! Floor 8: work on files that the window must not wait for: opening long ones, saving the state.
//!
//! Jobs are closures, since what they read and write belongs to higher floors. Each job has its own
//! named thread; saves share one, wait a moment for a newer one and the newest wins.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::jobs::live::mailbox::Mailbox;
use crate::jobs::thread;
use crate::jobs::thread::{Outbox, Patience, Service, Thread, Wake, caught};

/// What a job does: answers with news, or `None` when there is nothing to say.
pub type DiskJob<N> = Box<dyn FnOnce() -> Option<N> + Send>;

/// A job that reports while it runs: it calls its argument with each report, which returns false when nobody listens.
pub type Teller<N> = Box<dyn FnOnce(&mut dyn FnMut(N) -> bool) -> Option<N> + Send>;

/// News that may wait to be read before jobs wait for room.
const ROOM: usize = 64;

/// The threads that touch files.
pub struct Disk<N> {
    saves: Arc<Mailbox<DiskJob<N>>>,
    out: Outbox<N>,
    // Dropped before the jobs, which then do not wait for room any more.
    /// What comes of them.
    pub news: Service<N>,
    jobs: Vec<Thread>,
}

impl<N: Send + 'static> Disk<N> {
    /// Starts the saving thread; a save waits `patience` for a newer one.
    pub fn spawn(patience: Duration, wake: Wake) -> Self {
        let (out, news) = thread::channel(ROOM, wake);
        let saves = Arc::new(Mailbox::<DiskJob<N>>::new());
        let (inbox, closed, outbox) = (Arc::clone(&saves), Arc::clone(&saves), out.clone());
        let news = Service::start(
            "save",
            Patience::Whole,
            news,
            move || closed.close(),
            move || {
                while let Some(first) = inbox.take() {
                    // The newest state within the patience is the one to write; a closing mailbox ends the wait.
                    let job = inbox.take_newest(first, patience);
                    // One save that panics must not be the last.
                    tell(caught(job).unwrap_or_default(), &outbox);
                }
            },
        );
        Self { saves, out, news, jobs: Vec::new() }
    }

    /// Runs this a moment later, unless a newer save comes first. Runs here when no thread could be had.
    pub fn save_soon(&self, job: DiskJob<N>) {
        if self.news.has_thread() {
            self.saves.put(job);
        } else {
            self.tell_here(job());
        }
    }

    /// Runs a job at once on its own thread, which the end of the program waits for: it may write. Runs it here when
    /// no thread could be had.
    pub fn run(&mut self, name: &str, job: DiskJob<N>) {
        self.start(name, Patience::Whole, Box::new(move |_| job()));
    }

    /// As [`Disk::run`], for a job that only reads; the end of the program does not wait for it.
    pub fn run_telling(&mut self, name: &str, job: Teller<N>) {
        self.start(name, Patience::None, job);
    }

    fn start(&mut self, name: &str, patience: Patience, job: Teller<N>) {
        self.jobs.retain(|thread| !thread.is_finished());
        let out = self.out.clone();
        // If the thread cannot be started its closure is lost, so both share the job.
        let place = Arc::new(Mutex::new(Some(job)));
        let there = Arc::clone(&place);
        let thread = Thread::start(name, patience, move || {
            if let Some(job) = taken(&there) {
                let last = job(&mut |news| out.send(news));
                tell(last, &out);
            }
        });
        match thread {
            Ok(thread) => self.jobs.push(thread),
            Err(_) => {
                if let Some(job) = taken(&place) {
                    // Here news on the way could not be taken in.
                    self.tell_here(job(&mut |_| true));
                }
            }
        }
    }

    /// News of a job that ran on the window's own thread, which cannot wait for room.
    fn tell_here(&self, news: Option<N>) {
        if let Some(news) = news {
            self.news.refuse(news);
        }
    }
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn tell<N>(news: Option<N>, out: &Outbox<N>) {
    if let Some(news) = news {
        out.send(news);
    }
}
