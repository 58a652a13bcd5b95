//! Floor 8: ties a [`Session`] to the worker and to the files, for whoever has an event loop.
//!
//! `let mut driver = Driver::open(options, wake)`; each frame `driver.pump(budget)`, then paint
//! `driver.session()`, then `driver.send(command)` for what the user did. Nothing here blocks.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::nn::device::DeviceChoice;
use crate::session::command::Command;
use crate::session::pages::LaneCall;
use crate::session::persist::SavedSession;
use crate::session::{Session, persist};
use crate::text::lines::{TextFile, write_atomic};
use crate::text::phrases::PhraseTable;
use crate::training::recipe::Plan;
use crate::training::{curves, recipe};
use crate::worker::Worker;
use crate::worker::corpus::Lane;
use crate::worker::disk::Disk;
use crate::worker::follow::Follower;
use crate::worker::protocol::Event;

pub use crate::worker::Wake;

/// A save waits so long for a newer one; "at most a second is lost" with room to spare.
const SAVE_PATIENCE: Duration = Duration::from_millis(500);

/// Training logs are looked at so often; a run writes a line every few seconds.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What to open with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the state is kept between starts; `None`: nowhere.
    pub saved: Option<PathBuf>,
    /// Model folders asked for; they replace the columns of the saved state.
    pub models: Vec<PathBuf>,
    /// Model folders that come with the program.
    pub bundled: Vec<PathBuf>,
    /// Those of them that are shown when there is nothing else.
    pub opening: Vec<PathBuf>,
    /// A text file to open as the list.
    pub source: Option<PathBuf>,
    /// Its translation, line by line.
    pub target: Option<PathBuf>,
    /// Where to compute; `None`: as saved, else `auto`.
    pub device: Option<DeviceChoice>,
    /// CPU threads for all columns together; `None`: all cores.
    pub threads: Option<usize>,
}

/// Work on files that the session wants done; the driver has it done off the window's thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Chore {
    /// Find out what this is: a model folder or a text file.
    Open(PathBuf),
    /// Read a text file.
    Read(PathBuf),
    /// Find out what was dropped on page Evaluation: a model folder, training logs or a text file.
    Drop(PathBuf),
    /// Find the training logs of a run, or of all runs in a folder.
    FindLogs(PathBuf),
    /// Write the configuration of a new training.
    SaveTraining {
        /// What it is to be.
        plan: Box<Plan>,
        /// Where to.
        path: PathBuf,
    },
    /// Write what is exported.
    Write {
        /// Where to.
        path: PathBuf,
        /// What.
        text: String,
    },
}

/// What became of a [`Chore`] or a save.
#[derive(Clone, Debug)]
pub enum News {
    /// A folder was opened: a column.
    Folder(PathBuf),
    /// A text file was opened: a list.
    Text(PathBuf),
    /// A text file was dropped on page Evaluation.
    TestFile(PathBuf),
    /// Training logs were looked for.
    Logs {
        /// Where.
        path: PathBuf,
        /// What there is.
        found: Vec<PathBuf>,
    },
    /// A phrase table was opened: the page Phrases.
    PhraseTable(PathBuf),
    /// A text file was read, or more of it than before.
    Read {
        /// Which.
        path: PathBuf,
        /// Its lines.
        lines: Arc<TextFile>,
    },
    /// A text file could not be read.
    ReadFailed {
        /// Which.
        path: PathBuf,
        /// A sentence for the user.
        message: String,
    },
    /// The configuration of a new training was to be written.
    TrainingSaved {
        /// Where to.
        path: PathBuf,
        /// Why it could not be, as a sentence for the user.
        trouble: Option<String>,
    },
    /// Something worth a line in the status bar.
    Notice {
        /// A sentence for the user.
        text: String,
        /// Something went wrong.
        is_error: bool,
    },
}

/// A session with its worker and its files.
pub struct Driver {
    session: Session,
    worker: Worker,
    lane: Lane,
    follower: Follower,
    disk: Disk<News>,
    saved: Option<PathBuf>,
    saved_revision: u64,
    wake: Wake,
}

impl Driver {
    /// Opens on the saved state, or on the bundled models and an example. Never fails: what went wrong is a notice.
    /// Models and files are read in the background; `wake` is called whenever [`Driver::pump`] has something to do.
    pub fn open(options: Options, wake: Wake) -> Self {
        let worker = Worker::spawn(options.threads, Arc::clone(&wake));
        let lane = Lane::spawn(worker.library(), worker.gate(), Arc::clone(&wake));
        let follower = Follower::spawn(LOOK_EVERY, Arc::clone(&wake));
        let disk = Disk::spawn(SAVE_PATIENCE, Arc::clone(&wake));
        let found = options.saved.as_deref().map(persist::load_or_set_aside).unwrap_or_default();
        let session = Session::start(found.state.map(|state| state.with_moved(&options.bundled)), &options);
        let saved = options.saved.filter(|_| !found.is_left_alone);
        let mut driver =
            Self { saved_revision: session.revision(), session, worker, lane, follower, disk, saved, wake };
        if let Some(text) = found.trouble {
            driver.session.notify(text, true);
        }
        let first = driver.session.request();
        driver.worker.submit(first);
        driver.after();
        driver
    }

    /// What to paint.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Does what the user asked for.
    pub fn send(&mut self, command: Command) {
        if let Some(request) = self.session.apply(command) {
            self.worker.submit(request);
        }
        self.after();
    }

    /// Takes in what the worker and the files tell, for about `budget` at most; true when anything changed.
    /// When something is left, `wake` is called again.
    pub fn pump(&mut self, budget: Duration) -> bool {
        let start = Instant::now();
        let mut changed = false;
        let mut rows = Vec::new();
        while start.elapsed() < budget {
            if let Some(event) = self.worker.try_next() {
                changed |= self.take(event, &mut rows);
            } else if !rows.is_empty() {
                changed |= self.absorb_all(&mut rows);
            } else if let Some(news) = self.disk.try_next() {
                if let Some(request) = self.session.hear(news) {
                    self.worker.submit(request);
                }
                changed = true;
            } else if let Some(event) = self.lane.try_next() {
                changed |= self.session.absorb_corpus(event);
            } else if let Some(seen) = self.follower.try_next() {
                changed |= self.session.absorb_seen(seen);
            } else if self.session.search_some() {
                changed = true;
            } else {
                self.after();
                return changed;
            }
        }
        changed |= self.absorb_all(&mut rows);
        self.after();
        (self.wake)();
        changed
    }

    /// Takes in an event. A row is held back, since each says again what those before it said and a table is made
    /// of it: of those that wait, only the newest of a column is worth that.
    fn take(&mut self, event: Event, rows: &mut Vec<Event>) -> bool {
        let address = event.address();
        let held = rows.iter().position(|row| row.address().1 == address.1).map(|at| rows.swap_remove(at));
        match event {
            Event::Expanded { .. } => {
                let changed = held.filter(|row| row.address() != address).is_some_and(|row| self.session.absorb(row));
                rows.push(event);
                changed
            }
            Event::Finished { .. } if held.as_ref().is_some_and(|row| row.address() == address) => {
                self.session.absorb(event)
            }
            _ => {
                let changed = held.is_some_and(|row| self.session.absorb(row));
                self.session.absorb(event) || changed
            }
        }
    }

    fn absorb_all(&mut self, rows: &mut Vec<Event>) -> bool {
        rows.drain(..).fold(false, |changed, row| self.session.absorb(row) | changed)
    }

    /// Hands chores and changes that must not be lost to the file threads.
    fn after(&mut self) {
        for chore in self.session.take_chores() {
            if let Chore::Read(path) = chore {
                self.disk.run_telling("read", Box::new(move |tell| Some(read(path, tell))));
                continue;
            }
            let (name, job) = job(chore);
            if name == "write" {
                self.disk.run(name, job);
            } else {
                self.disk.run_telling(name, Box::new(move |_| job()));
            }
        }
        if let Some(paths) = self.session.take_followed() {
            self.follower.follow(paths);
        }
        for call in self.session.take_lane_calls() {
            match call {
                LaneCall::Submit(number, order) => self.lane.submit(number, order),
                LaneCall::Cancel(number) => self.lane.cancel(number),
                LaneCall::Pause(number, is_paused) => self.lane.pause(number, is_paused),
            }
        }
        if self.session.revision() == self.saved_revision {
            return;
        }
        self.saved_revision = self.session.revision();
        let Some(path) = self.saved.clone() else { return };
        let state = SavedSession::of(&self.session);
        self.disk.save_soon(Box::new(move || {
            let error = state.save(&path).err()?;
            Some(News::Notice { text: format!("The window's state is not being kept. {error}"), is_error: true })
        }));
    }
}

fn job(chore: Chore) -> (&'static str, crate::worker::disk::Job<News>) {
    match chore {
        Chore::Open(path) => ("open", Box::new(move || Some(look(path)))),
        Chore::Drop(path) => ("open", Box::new(move || Some(look_at_dropped(path)))),
        Chore::FindLogs(path) => ("open", Box::new(move || Some(News::Logs { found: curves::logs(&path), path }))),
        Chore::Read(path) => ("read", Box::new(move || Some(read(path, &mut |_| true)))),
        Chore::SaveTraining { plan, path } => ("write", Box::new(move || Some(save_training(*plan, path)))),
        Chore::Write { path, text } => ("write", Box::new(move || Some(write(&path, &text)))),
    }
}

fn look(path: PathBuf) -> News {
    if path.is_dir() {
        News::Folder(path)
    } else if path.file_name().is_some_and(|name| name == "config.json" || name == "model.safetensors") {
        // Someone who drops a file of a model folder means the folder.
        path.parent().map(Path::to_path_buf).map_or(News::Text(path), News::Folder)
    } else if is_phrase_table(&path) {
        News::PhraseTable(path)
    } else {
        News::Text(path)
    }
}

/// A folder of a run holds a model too; on page Evaluation its log is meant.
fn look_at_dropped(path: PathBuf) -> News {
    let is_log = path.extension().is_some_and(|extension| extension == "jsonl");
    if is_log || path.is_dir() {
        let found = curves::logs(&path);
        if !found.is_empty() {
            return News::Logs { path, found };
        }
    }
    match look(path) {
        News::Text(path) => News::TestFile(path),
        other => other,
    }
}

/// Whether the first line is one of a phrase table.
fn is_phrase_table(path: &Path) -> bool {
    path.is_file() && PhraseTable::open(path).is_ok_and(|mut table| matches!(table.next(), Some(Ok(_))))
}

fn read(path: PathBuf, tell: &mut dyn FnMut(News) -> bool) -> News {
    let news = |lines: &TextFile| News::Read { path: lines.path().to_owned(), lines: Arc::new(lines.clone()) };
    match TextFile::open_growing(&path, &mut |lines| tell(news(lines))) {
        Ok(lines) => News::Read { path, lines: Arc::new(lines) },
        Err(error) => News::ReadFailed { path, message: error.to_string() },
    }
}

/// Paths of the plan begin where the program runs.
fn save_training(plan: Plan, path: PathBuf) -> News {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let trouble = recipe::save(&plan.seen_from(&here, folder), &path, false).err().map(|error| error.to_string());
    News::TrainingSaved { path, trouble }
}

fn write(path: &Path, text: &str) -> News {
    match write_whole(path, text.as_bytes()) {
        Ok(()) => News::Notice { text: format!("Saved {}", path.display()), is_error: false },
        Err(error) => News::Notice { text: error.to_string(), is_error: true },
    }
}

/// Writes a file in one step and makes its folder where that is missing.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    write_atomic(path, |file| file.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::{ColumnResult, HypothesisView};

    fn hypothesis(words: usize) -> HypothesisView {
        HypothesisView { tokens: vec!["a".to_owned(); words], ..HypothesisView::default() }
    }

    #[test]
    fn of_rows_that_wait_only_the_newest_of_a_column_is_absorbed() {
        let models = vec![PathBuf::from("no/such/model"); 2];
        let mut driver = Driver::open(Options { models, ..Options::default() }, Arc::new(|| {}));
        let number = driver.session.newest();
        let ids: Vec<u64> = driver.session.columns.iter().map(|column| column.id).collect();
        let row = |at: usize, words: usize| Event::Expanded { number, column: ids[at], best: hypothesis(words) };
        let shown = |driver: &Driver| -> Vec<usize> {
            let words = |column: &crate::session::Column| column.table.as_ref().map_or(0, |table| table.target.len());
            driver.session.columns.iter().map(words).collect()
        };
        let mut rows = Vec::new();
        for (at, words) in [(0, 1), (1, 1), (0, 2), (0, 3)] {
            assert!(!driver.take(row(at, words), &mut rows));
        }
        assert_eq!((shown(&driver), rows.len()), (vec![0, 0], 2));
        assert!(driver.absorb_all(&mut rows));
        assert_eq!(shown(&driver), [3, 1]);

        // The end says it all again; a failure leaves the newest row.
        driver.take(row(0, 4), &mut rows);
        let result = ColumnResult { hypotheses: vec![hypothesis(6)], ..ColumnResult::default() };
        driver.take(Event::Finished { number, column: ids[0], result }, &mut rows);
        driver.take(row(1, 2), &mut rows);
        driver.take(Event::Failed { number, column: ids[1], message: "No.".to_owned() }, &mut rows);
        assert_eq!((shown(&driver), rows.len()), (vec![6, 2], 0));
    }
}
