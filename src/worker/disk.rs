//! Floor 7: work on files that the window must not wait for: opening long ones, saving the state.
//!
//! Jobs are closures, since what they read and write belongs to higher floors. Each job has its own
//! named thread; saves share one, wait a moment for a newer one and the newest wins.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::worker::Wake;
use crate::worker::mailbox::Mailbox;

/// What a job does: answers with news, or `None` when there is nothing to say.
pub type Job<N> = Box<dyn FnOnce() -> Option<N> + Send>;

/// A job that has something to say on the way: what it is given says it, and is false when nobody listens any more.
pub type Teller<N> = Box<dyn FnOnce(&mut dyn FnMut(N) -> bool) -> Option<N> + Send>;

/// News that may wait to be read before jobs wait for room.
const ROOM: usize = 64;

/// The threads that touch files.
pub struct Disk<N> {
    saves: Arc<Mailbox<Job<N>>>,
    saver: Option<JoinHandle<()>>,
    jobs: Vec<JoinHandle<()>>,
    news: Option<Receiver<N>>,
    sender: SyncSender<N>,
    wake: Wake,
}

impl<N: Send + 'static> Disk<N> {
    /// Starts the saving thread; a save waits `patience` for a newer one.
    pub fn spawn(patience: Duration, wake: Wake) -> Self {
        let (sender, news) = sync_channel(ROOM);
        let saves = Arc::new(Mailbox::new());
        let (inbox, out, waker) = (Arc::clone(&saves), sender.clone(), Arc::clone(&wake));
        let saver = std::thread::Builder::new().name("interlinear-save".to_owned()).spawn(move || {
            while let Some(first) = inbox.take() {
                // The newest state within the patience is the one to write; a closing mailbox ends the wait.
                let job: Job<N> = inbox.take_newest(first, patience);
                tell(job(), &out, &waker);
            }
        });
        Self { saves, saver: saver.ok(), jobs: Vec::new(), news: Some(news), sender, wake }
    }

    /// Runs this a moment later, unless a newer save comes first. Runs here when no thread could be had.
    pub fn save_soon(&self, job: Job<N>) {
        if self.saver.is_some() {
            self.saves.put(job);
        } else {
            self.try_tell(job());
        }
    }

    /// Runs a job at once on its own thread; here when no thread could be had.
    pub fn run(&mut self, name: &str, job: Job<N>) {
        self.run_telling(name, Box::new(move |_| job()));
    }

    /// As [`Disk::run`].
    pub fn run_telling(&mut self, name: &str, job: Teller<N>) {
        self.jobs.retain(|handle| !handle.is_finished());
        let (out, waker) = (self.sender.clone(), Arc::clone(&self.wake));
        // What a thread would have been given is gone when there is none, so the job lies between the two.
        let place = Arc::new(Mutex::new(Some(job)));
        let there = Arc::clone(&place);
        let thread = std::thread::Builder::new().name(format!("interlinear-{name}")).spawn(move || {
            if let Some(job) = taken(&there) {
                let last = job(&mut |news| tell(Some(news), &out, &waker));
                tell(last, &out, &waker);
            }
        });
        match thread {
            Ok(handle) => self.jobs.push(handle),
            Err(_) => {
                if let Some(job) = taken(&place) {
                    // Here nobody could take in news on the way.
                    self.try_tell(job(&mut |_| true));
                }
            }
        }
    }

    /// The next news, if any came.
    pub fn try_next(&self) -> Option<N> {
        self.news.as_ref()?.try_recv().ok()
    }

    /// Waits for the next news, at most so long; for tests and the end of the program.
    pub fn next_within(&self, patience: Duration) -> Option<N> {
        self.news.as_ref()?.recv_timeout(patience).ok()
    }

    fn try_tell(&self, news: Option<N>) {
        if let Some(news) = news {
            // Without a thread there is nobody to wait for; a full channel drops the news.
            match self.sender.try_send(news) {
                Ok(()) => (self.wake)(),
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
            }
        }
    }
}

impl<N> Drop for Disk<N> {
    fn drop(&mut self) {
        // Nobody reads any more, so nobody may wait for room; then the last save is written.
        self.news = None;
        self.saves.close();
        if let Some(saver) = self.saver.take() {
            let _ = saver.join();
        }
        for job in self.jobs.drain(..) {
            let _ = job.join();
        }
    }
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether anybody listens.
fn tell<N>(news: Option<N>, out: &SyncSender<N>, wake: &Wake) -> bool {
    let Some(news) = news else { return true };
    let heard = out.send(news).is_ok();
    if heard {
        wake();
    }
    heard
}
