//! Floor 8: ties a [`Session`] to the worker and to the files, for whoever has an event loop.
//!
//! `let mut driver = Driver::open(options, wake)`; each frame `driver.pump(budget)`, then paint
//! `driver.session()`, then `driver.send(command)` for what the user did. Nothing here blocks.

use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use crate::error::Error;
use crate::error::Result;
use crate::nn::device::DeviceChoice;
use crate::session::Session;
use crate::session::command::Command;
use crate::session::persist;
use crate::session::persist::SavedSession;
use crate::text::lines::TextFile;
use crate::text::lines::write_atomic;
use crate::worker::Worker;
use crate::worker::disk::Disk;

pub use crate::worker::Wake;

/// A save waits so long for a newer one; "at most a second is lost" with room to spare.
const SAVE_PATIENCE: Duration = Duration::from_millis(500);

/// What to open with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the state is kept between starts; `None`: nowhere.
    pub saved: Option<PathBuf>,
    /// Model folders asked for; they replace the columns of the saved state.
    pub models: Vec<PathBuf>,
    /// Model folders that come with the program; shown when there is nothing else.
    pub bundled: Vec<PathBuf>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Find out what this is: a model folder or a text file.
    Open(PathBuf),
    /// Read a text file.
    Read(PathBuf),
    /// Write an exported alignment.
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
    /// A text file was read.
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
    disk: Disk<News>,
    saved: Option<PathBuf>,
    saved_revision: u64,
    wake: Wake,
}

impl Driver {
    /// Opens on the saved state, or on the bundled models and an example. Never fails: what went wrong is a notice.
    /// Models and files are read in the background; `wake` is called whenever [`Driver::pump`] has something to do.
    #[must_use]
    pub fn open(options: Options, wake: Wake) -> Self {
        let worker = Worker::spawn(options.threads, Arc::clone(&wake));
        let disk = Disk::spawn(SAVE_PATIENCE, Arc::clone(&wake));
        let (saved, trouble) = options.saved.as_deref().map_or((None, None), persist::load_or_set_aside);
        let saved = saved.map(|saved| saved.with_moved(&options.bundled));
        let session = Session::start(saved, &options);
        let mut driver = Self { saved_revision: session.revision(), session, worker, disk, saved: options.saved, wake };
        if let Some(text) = trouble {
            driver.session.notify(text, true);
        }
        let first = driver.session.request();
        driver.worker.submit(first);
        driver.after();
        driver
    }

    /// What to paint.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Does what the user asked for.
    pub fn send(&mut self, command: Command) {
        if command == Command::Stop {
            self.worker.stop();
        }
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
        while start.elapsed() < budget {
            if let Some(event) = self.worker.try_next() {
                changed |= self.session.absorb(event);
            } else if let Some(news) = self.disk.try_next() {
                if let Some(request) = self.session.hear(news) {
                    self.worker.submit(request);
                }
                changed = true;
            } else if self.session.search_some() {
                changed = true;
            } else {
                self.after();
                return changed;
            }
        }
        self.after();
        (self.wake)();
        changed
    }

    /// Hands chores and changes that must not be lost to the file threads.
    fn after(&mut self) {
        for chore in self.session.take_chores() {
            let (name, job) = job(chore);
            self.disk.run(name, job);
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
        Chore::Read(path) => ("read", Box::new(move || Some(read(path)))),
        Chore::Write { path, text } => ("write", Box::new(move || Some(write(&path, &text)))),
    }
}

fn look(path: PathBuf) -> News {
    if path.is_dir() {
        News::Folder(path)
    } else if path.file_name().is_some_and(|name| name == "config.json" || name == "model.safetensors") {
        // Someone who drops a file of a model folder means the folder.
        path.parent().map(Path::to_path_buf).map_or(News::Text(path), News::Folder)
    } else {
        News::Text(path)
    }
}

fn read(path: PathBuf) -> News {
    match TextFile::open(&path) {
        Ok(lines) => News::Read { path, lines: Arc::new(lines) },
        Err(error) => News::ReadFailed { path, message: error.to_string() },
    }
}

fn write(path: &Path, text: &str) -> News {
    match write_whole(path, text.as_bytes()) {
        Ok(()) => News::Notice { text: format!("Saved {}", path.display()), is_error: false },
        Err(error) => News::Notice { text: error.to_string(), is_error: true },
    }
}

/// Writes a file in one step and makes its folder where that is missing.
///
/// # Errors
/// A sentence that names `path`.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    write_atomic(path, |file| file.write_all(bytes))
}
