//! Long work behind Python's back. A thread does it without the lock of the interpreter; the thread that asked
//! looks every now and then whether Ctrl-C was pressed, tells how far it is, and stops the work by its ticket.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::{thread, time::Duration};

use crate::failure::Answer;
use crate::forked;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::{Bound, PyAny, PyAnyMethods as _, PyErr, PyResult, Python};

use engine::error::{Error, Result};
use engine::ticket::{CancellationToken, Generation};

/// Between two looks at Python.
const TICK: Duration = Duration::from_millis(50);

/// How far work is, counted by its thread.
#[derive(Debug, Default)]
pub struct Counted {
    sentences: AtomicUsize,
    words: AtomicUsize,
}

impl Counted {
    /// So many more are done.
    pub fn add(&self, sentences: usize, words: usize) {
        self.sentences.fetch_add(sentences, Ordering::Relaxed);
        self.words.fetch_add(words, Ordering::Relaxed);
    }

    fn notify(&self, on_progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(on_progress) = on_progress else { return Ok(()) };
        on_progress.call1((self.sentences.load(Ordering::Relaxed), self.words.load(Ordering::Relaxed))).map(drop)
    }
}

/// Does work that can be stopped. `on_progress` is called with the sentences and words that are done.
pub fn work<T: Send>(
    py: Python<'_>, on_progress: Option<&Bound<'_, PyAny>>,
    doing: impl FnOnce(&CancellationToken, &Counted) -> Result<T> + Send,
) -> Answer<T> {
    let generation = Generation::new();
    let (ticket, counted) = (generation.next(), Counted::default());
    let (end, ended) = channel::<()>();
    let threads = forked::threads(py)?;
    thread::scope(|scope| {
        let (ticket, counted) = (&ticket, &counted);
        let doing = move || {
            // Dropped when the work is over, however it ends.
            let _end = end;
            forked::run(threads, || doing(ticket, counted))
        };
        let worker = thread::Builder::new().name("interlinear-python".to_owned()).spawn_scoped(scope, doing);
        let worker = worker.map_err(|error| Error::Internal(format!("a thread cannot be had ({error})")))?;
        let stopped = wait(py, ended, &mut || {
            let looked = py.check_signals().and_then(|()| counted.notify(on_progress));
            looked.inspect_err(|_| generation.cancel())
        });
        let done = py.detach(|| worker.join());
        match (stopped, done) {
            (Some(why), _) => Err(why.into()),
            (None, Ok(done)) => {
                let done = done?;
                counted.notify(on_progress)?;
                Ok(done)
            }
            (None, Err(_)) => Err(PyRuntimeError::new_err("internal error: see above; please report it").into()),
        }
    })
}

/// Waits for the end of the work; gives the first exception that `look` came upon.
fn wait(py: Python<'_>, mut ended: Receiver<()>, look: &mut dyn FnMut() -> PyResult<()>) -> Option<PyErr> {
    let mut stopped = None;
    loop {
        let (waiting, outcome) = py.detach(move || {
            let outcome = ended.recv_timeout(TICK);
            (ended, outcome)
        });
        ended = waiting;
        if outcome == Err(RecvTimeoutError::Disconnected) {
            return stopped;
        }
        if stopped.is_none() {
            stopped = look().err();
        }
    }
}
