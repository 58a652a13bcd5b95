//! Files that grow or are saved, read again whenever they have changed. One named thread, which looks now and
//! then: at training logs ([`Watch`]), or at what else is [`FollowedFiles`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::jobs::thread;
use crate::jobs::thread::{GRACE, Outbox, Service, Wake, caught, lock};
use engine::error::Error;
use training::curves::Curves;

/// Capacity of the channel; when it is full the thread waits.
const ROOM: usize = 64;

/// A log as it stands now, or why it cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowEvent {
    pub path: PathBuf,
    pub curves: Result<Arc<Curves>, String>,
}

/// What a file looked like when it was last read; `None`: it was not there.
pub type FileLook = Option<(u64, Option<SystemTime>)>;

/// What remembers how files looked and reads those that have changed.
pub trait FollowedFiles: Default + Send + 'static {
    type Seen: Send + 'static;

    /// What is new at these paths since the last call.
    fn look(&mut self, paths: &[PathBuf]) -> Vec<Self::Seen>;
}

/// Files and what they looked like.
#[derive(Debug, Default)]
pub struct Watch {
    looks: HashMap<PathBuf, FileLook>,
}

impl FollowedFiles for Watch {
    type Seen = FollowEvent;

    /// Reads those of `paths` that have changed since they were read last, and forgets all others.
    fn look(&mut self, paths: &[PathBuf]) -> Vec<FollowEvent> {
        self.looks.retain(|path, _| paths.contains(path));
        let mut news = Vec::new();
        for path in paths {
            let now = look(path);
            if self.looks.get(path) == Some(&now) {
                continue;
            }
            // The state was taken before reading: a change in between is seen the next time.
            let curves = read(path).unwrap_or_else(|words| Err(format!("{}: {words}", path.display())));
            self.looks.insert(path.clone(), now);
            news.push(FollowEvent { path: path.clone(), curves });
        }
        news
    }
}

/// Reads a log. Only plain files are read: a pipe might never answer.
fn read(path: &Path) -> Result<Result<Arc<Curves>, String>, String> {
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Ok(Err(Error::file(path, "is not a plain file; choose the log of a training").to_string()));
    }
    caught(|| Curves::load(path).map(Arc::new).map_err(|error| error.to_string()))
}

pub fn look(path: &Path) -> FileLook {
    let data = std::fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}

/// The thread that looks.
pub struct Follower<L: FollowedFiles = Watch> {
    shared: Arc<Shared>,
    pub news: Service<L::Seen>,
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

impl<L: FollowedFiles> Follower<L> {
    pub fn spawn(every: Duration, wake: Wake) -> Self {
        let (out, news) = thread::channel(ROOM, wake);
        let shared = Arc::new(Shared::default());
        let (theirs, closed) = (Arc::clone(&shared), Arc::clone(&shared));
        let news =
            Service::start("follow", GRACE, news, move || closed.close(), move || run::<L>(&theirs, every, &out));
        Self { shared, news }
    }

    /// Follows these files and no others.
    pub fn follow(&self, paths: Vec<PathBuf>) {
        let mut wanted = lock(&self.shared.wanted);
        (wanted.paths, wanted.is_new) = (paths, true);
        drop(wanted);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn close(&self) {
        lock(&self.wanted).is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until it is time to look again and says whether others are wanted than before; `None` at the end.
    fn next(&self, every: Duration) -> Option<(Vec<PathBuf>, bool)> {
        let mut wanted = lock(&self.wanted);
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

fn run<L: FollowedFiles>(shared: &Shared, every: Duration, out: &Outbox<L::Seen>) {
    let mut watch = L::default();
    while let Some((paths, is_new)) = shared.next(every) {
        if is_new {
            // A path that is wanted again may have been forgotten in between.
            watch = L::default();
        }
        for seen in watch.look(&paths) {
            out.send(seen);
        }
    }
}
