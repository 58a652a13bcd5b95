//! After a fork. The child has none of its parent's threads, and rayon's pool cannot start again: work for it would wait
//! for ever. A forked process therefore has a pool of its own. What another thread of the parent was using is refused.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::{PyResult, Python};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool of a forked process. Its users take turns, so that none waits for a lock of another inside the pool.
pub type Threads = Option<Arc<(ThreadPool, Mutex<()>)>>;

/// The process that started threads, and its pool; the first process has rayon's own.
static STARTED: Mutex<Option<(u32, Threads)>> = Mutex::new(None);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pool of this process, if it was forked. Python's lock is held meanwhile, so no fork happens in between.
pub fn threads(_: Python<'_>) -> PyResult<Threads> {
    let (mut started, here) = (locked(&STARTED), process::id());
    match &*started {
        None => *started = Some((here, None)),
        Some((process, threads)) if *process == here => return Ok(threads.clone()),
        Some(_) => {
            let pool = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
            let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads ({error})")))?;
            // Dropping the parent's pool would wait for threads that are not here.
            mem::forget(started.replace((here, Some(Arc::new((pool, Mutex::default()))))));
        }
    }
    Ok(started.as_ref().and_then(|(_, threads)| threads.clone()))
}

/// Works with these threads.
pub fn run<T: Send>(threads: Threads, doing: impl FnOnce() -> T + Send) -> T {
    let Some(threads) = threads else { return doing() };
    let _turn = locked(&threads.1);
    threads.0.install(doing)
}

/// Works without Python's lock, and without looking at Python meanwhile.
pub fn detached<T: Send>(py: Python<'_>, doing: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = threads(py)?;
    Ok(py.detach(|| run(threads, doing)))
}

/// How many calls use something, counted in a process while Python's lock is held.
#[derive(Debug)]
pub struct Users(Mutex<(u32, usize)>);

impl Default for Users {
    fn default() -> Self {
        Self(Mutex::new((process::id(), 0)))
    }
}

/// A call that uses something.
pub struct User<'a>(&'a Users);

impl Drop for User<'_> {
    fn drop(&mut self) {
        locked(&self.0.0).1 -= 1;
    }
}

impl Users {
    /// One more, unless a thread that this process does not have was using it when the process was forked.
    pub fn enter(&self, _: Python<'_>, what: &str) -> PyResult<User<'_>> {
        let mut users = locked(&self.0);
        if users.0 != process::id() {
            if users.1 > 0 {
                let why = format!("the {what} was in use when this process was forked; load it again here");
                return Err(PyRuntimeError::new_err(why));
            }
            users.0 = process::id();
        }
        users.1 += 1;
        Ok(User(self))
    }
}
