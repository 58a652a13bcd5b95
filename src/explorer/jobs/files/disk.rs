//! Work on files that the window must not wait for. Each job is a closure with its own thread; saves share one, which
//! waits a moment for a newer save.

use std::sync::{Arc, Mutex};
use std::{collections::VecDeque, time::Duration};

use crate::jobs::thread::{Outbox, Patience, Service, Thread, Wake, caught, lock};
use crate::jobs::{live::mailbox::Mailbox, thread};

/// What a job does: answers with news, or `None` when there is nothing to say.
pub type DiskJob<N> = Box<dyn FnOnce() -> Option<N> + Send>;

/// A job that reports while it runs; its callback returns false when nobody listens.
pub type ReportingJob<N> = Box<dyn FnOnce(&mut dyn FnMut(N) -> bool) -> Option<N> + Send>;

/// News that may wait to be read before jobs wait for room.
const ROOM: usize = 64;
/// Jobs that only read and are done at the same time; others wait until one of them ends.
const AT_ONCE: usize = 12;

struct Readers<N> {
    running: usize,
    waiting: VecDeque<ReportingJob<N>>,
}

type SharedReaders<N> = Arc<Mutex<Readers<N>>>;

/// The threads that touch files.
pub struct Disk<N> {
    saves: Arc<Mailbox<DiskJob<N>>>,
    out: Outbox<N>,
    // Dropped before the jobs, which then do not wait for room any more.
    pub news: Service<N>,
    readers: SharedReaders<N>,
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
                    notify(caught(job).unwrap_or_default(), &outbox);
                }
            },
        );
        let readers = Arc::new(Mutex::new(Readers { running: 0, waiting: VecDeque::new() }));
        Self { saves, out, news, readers, jobs: Vec::new() }
    }

    /// Runs this a moment later, unless a newer save comes first. Runs here when no thread could be had.
    pub fn save_soon(&self, job: DiskJob<N>) {
        if self.news.has_thread() {
            self.saves.put(job);
        } else {
            self.send_here(job());
        }
    }

    /// Runs a job at once on its own thread; the program's end waits for it. Runs it here if no thread can be had.
    pub fn run(&mut self, name: &str, job: DiskJob<N>) {
        self.start(name, Patience::Whole, Box::new(move |_| job()));
    }

    /// Runs a job that only reads: the program's end does not wait for it, and at most [`AT_ONCE`] run at a time.
    pub fn run_reporting(&mut self, name: &str, job: ReportingJob<N>) {
        let readers = Arc::clone(&self.readers);
        let mut all = lock(&readers);
        if all.running >= AT_ONCE {
            all.waiting.push_back(job);
            return;
        }
        all.running += 1;
        drop(all);
        let rest = move |notify: &mut dyn FnMut(N) -> bool| {
            let mut next = Some(job);
            while let Some(job) = next {
                // one that panics must not take the turn of those that wait
                if let Some(news) = caught(|| job(notify)).unwrap_or_default() {
                    notify(news);
                }
                let mut all = lock(&readers);
                next = all.waiting.pop_front();
                all.running -= usize::from(next.is_none());
            }
            None
        };
        self.start(name, Patience::None, Box::new(rest));
    }

    fn start(&mut self, name: &str, patience: Patience, job: ReportingJob<N>) {
        self.jobs.retain(|thread| !thread.is_finished());
        let out = self.out.clone();
        // If the thread cannot be started its closure is lost, so both share the job.
        let place = Arc::new(Mutex::new(Some(job)));
        let there = Arc::clone(&place);
        let thread = Thread::start(name, patience, move || {
            if let Some(job) = taken(&there) {
                let last = job(&mut |news| out.send(news));
                notify(last, &out);
            }
        });
        match thread {
            Ok(thread) => self.jobs.push(thread),
            Err(_) => {
                if let Some(job) = taken(&place) {
                    let last = job(&mut |news| {
                        self.send_here(Some(news));
                        true
                    });
                    self.send_here(last);
                }
            }
        }
    }

    /// News of a job that ran on the window's own thread, which cannot wait for room.
    fn send_here(&self, news: Option<N>) {
        if let Some(news) = news {
            self.news.refuse(news);
        }
    }
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    lock(place).take()
}

fn notify<N>(news: Option<N>, out: &Outbox<N>) {
    if let Some(news) = news {
        out.send(news);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn few_files_are_read_at_once_and_each_in_its_turn() {
        let mut disk = Disk::spawn(Duration::ZERO, Arc::new(|| {}));
        let (begun, began) = sync_channel::<usize>(100);
        let (go, goes) = sync_channel::<()>(100);
        let goes = Arc::new(Mutex::new(goes));
        for n in 0..40 {
            let (begun, goes) = (begun.clone(), Arc::clone(&goes));
            let job = move |_: &mut dyn FnMut(usize) -> bool| {
                begun.send(n).expect("the test listens");
                lock(&goes).recv().expect("the test says when");
                assert!(n != 3, "planted here");
                Some(n)
            };
            disk.run_reporting("read", Box::new(job));
        }
        let first: Vec<usize> = (0..AT_ONCE).map(|_| began.recv().expect("a job")).collect();
        assert!(began.try_recv().is_err(), "{first:?}");
        for _ in 0..40 {
            go.send(()).expect("jobs wait");
        }
        let mut done: Vec<usize> = (0..39).filter_map(|_| disk.news.next_within(Duration::from_mins(1))).collect();
        done.sort_unstable();
        assert_eq!(done, (0..40).filter(|n| *n != 3).collect::<Vec<_>>());
    }
}
