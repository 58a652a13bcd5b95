//! Floor 7: files that grow, read again whenever they have changed. One named thread, which looks now and then.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crate::training::curves::Curves;
use crate::worker::Wake;

/// News that may wait to be read before the thread waits for room.
const ROOM: usize = 64;

/// A log as it stands now, or why it cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Which file.
    pub path: PathBuf,
    /// What is in it, or a sentence for the user.
    pub curves: Result<Arc<Curves>, String>,
}

/// What a file looked like when it was last read; `None`: it was not there.
type Look = Option<(u64, Option<SystemTime>)>;

/// Files and what they looked like.
#[derive(Debug, Default)]
pub struct Watch {
    looks: HashMap<PathBuf, Look>,
}

impl Watch {
    /// Reads those of `paths` that have changed since they were read last, and forgets all others.
    pub fn look(&mut self, paths: &[PathBuf]) -> Vec<Seen> {
        self.looks.retain(|path, _| paths.contains(path));
        let mut news = Vec::new();
        for path in paths {
            let now = look(path);
            if self.looks.get(path) == Some(&now) {
                continue;
            }
            // The look is from before the reading: what comes in between is seen the next time.
            let curves = Curves::load(path).map(Arc::new).map_err(|error| error.to_string());
            self.looks.insert(path.clone(), now);
            news.push(Seen { path: path.clone(), curves });
        }
        news
    }
}

fn look(path: &Path) -> Look {
    let data = std::fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}

/// The thread that looks.
pub struct Follower {
    shared: Arc<Shared>,
    news: Option<Receiver<Seen>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Default)]
struct Wanted {
    paths: Vec<PathBuf>,
    is_new: bool,
    is_closed: bool,
}

impl Follower {
    /// Starts the thread, which looks every so often while there is anything to follow.
    pub fn spawn(every: Duration, wake: Wake) -> Self {
        let (sender, news) = sync_channel(ROOM);
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("interlinear-follow".to_owned());
        let thread = thread.spawn(move || run(&theirs, every, &sender, &wake)).ok();
        Self { shared, news: Some(news), thread }
    }

    /// Follows these files and no others.
    pub fn follow(&self, paths: Vec<PathBuf>) {
        let mut wanted = self.shared.lock();
        (wanted.paths, wanted.is_new) = (paths, true);
        drop(wanted);
        self.shared.changed.notify_all();
    }

    /// The next file that was read, if any.
    pub fn try_next(&self) -> Option<Seen> {
        self.news.as_ref()?.try_recv().ok()
    }

    /// Waits for it, at most so long; for tests.
    pub fn next_within(&self, patience: Duration) -> Option<Seen> {
        self.news.as_ref()?.recv_timeout(patience).ok()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // Nobody reads any more, so nobody may wait for room.
        self.news = None;
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is time to look again and says whether others are wanted than before; `None` at the end.
    fn next(&self, every: Duration) -> Option<(Vec<PathBuf>, bool)> {
        let mut wanted = self.lock();
        while !wanted.is_new && !wanted.is_closed {
            if wanted.paths.is_empty() {
                wanted = self.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (again, waited) = self.changed.wait_timeout(wanted, every).unwrap_or_else(PoisonError::into_inner);
            wanted = again;
            if waited.timed_out() {
                break;
            }
        }
        let is_new = std::mem::take(&mut wanted.is_new);
        (!wanted.is_closed).then(|| (wanted.paths.clone(), is_new))
    }
}

fn run(shared: &Shared, every: Duration, out: &SyncSender<Seen>, wake: &Wake) {
    let mut watch = Watch::default();
    while let Some((paths, is_new)) = shared.next(every) {
        if is_new {
            // Whoever asks anew may have forgotten what was said before.
            watch = Watch::default();
        }
        for seen in watch.look(&paths) {
            if out.send(seen).is_ok() {
                wake();
            }
        }
    }
}
