//! Threads that share one small piece of work after another without being woken for each: a product of some
//! microseconds is less than waking takes. Threads of rayon's pool that help a caller wait a moment after each piece,
//! first spinning, then yielding, and then go back to the pool. The caller takes all parts that no one else takes, so
//! that in a pool of one thread it does the work alone. Which thread does a part never changes a number.

use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::{hint::spin_loop, sync::Arc};

use super::{Level, at_most, level};

/// Turns that a waiting thread spins before it yields its core at each turn; a few microseconds.
const SPINS: usize = 256;
/// Turns that a helper yields before it goes back to the pool; about a hundred microseconds on an idle core.
const WAITS: usize = 512;

type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// What is being done: it lives as long as [`run`] does not return.
#[derive(Clone, Copy)]
struct Job {
    work: *const Work<'static>,
    level: Level,
}

/// A number on a cache line of its own.
#[repr(align(64))]
#[derive(Debug, Default)]
struct CacheLine<T>(T);

struct Shared {
    /// Parts not yet taken: the job's number (32 bits), the first (16), one past the last (16). The caller
    /// takes the first and helpers the last, so that a thread meets the same part of a weight at every step.
    left: CacheLine<AtomicU64>,
    done: CacheLine<AtomicU32>,
    job: UnsafeCell<Option<Job>>,
    helpers: AtomicUsize,
    panicked: AtomicBool,
    closed: AtomicBool,
}

// SAFETY: `job` is written by the caller while no part is left or being done, and read only by who
// has taken a part, which the exchange on `left` orders after the writing; the work is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer is not used after `run` returns.
unsafe impl Send for Shared {}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

impl Shared {
    fn new() -> Self {
        Self {
            left: CacheLine::default(),
            done: CacheLine::default(),
            job: UnsafeCell::new(None),
            helpers: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    fn take(&self, end: End) -> Option<usize> {
        let mut now = self.left.0.load(Ordering::Acquire);
        loop {
            let (first, last) = ((now >> 16) & 0xffff, now & 0xffff);
            if first >= last {
                return None;
            }
            let (part, next) = match end {
                End::First => (first, now + (1 << 16)),
                End::Last => (last - 1, now - 1),
            };
            match self.left.0.compare_exchange_weak(now, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(part as usize),
                Err(found) => now = found,
            }
        }
    }

    /// Does a part that was taken, and counts it as done even if it panics.
    fn perform(&self, part: usize) {
        // SAFETY: a part was taken and is not done, so `run` has written the job and not returned.
        let job = unsafe { *self.job.get() };
        let done = catch_unwind(AssertUnwindSafe(|| {
            if let Some(job) = job {
                // SAFETY: as above, the work is still borrowed by `run`.
                at_most(job.level, || unsafe { (*job.work)(part) });
            }
        }));
        if done.is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.done.0.fetch_add(1, Ordering::Release);
    }

    fn help(&self) {
        let mut turns = 0;
        while turns < SPINS + WAITS && !self.closed.load(Ordering::Relaxed) {
            if let Some(part) = self.take(End::Last) {
                self.perform(part);
                turns = 0;
                continue;
            }
            wait(turns);
            turns += 1;
        }
    }
}

fn wait(turns: usize) {
    if turns < SPINS {
        spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// The helpers of a thread; they stop when it ends.
struct Team(Arc<Shared>);

impl Drop for Team {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Relaxed);
    }
}

thread_local! {
    static TEAM: Team = Team(Arc::new(Shared::new()));
    /// Whether this thread is inside a part: what it then shares it does alone.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` for every part of `0..parts`, each once, on up to `threads` threads: the calling one and others of the
/// current pool. Inside a part it does all parts itself.
///
/// # Panics
/// When a part does.
pub fn run(threads: usize, parts: usize, work: &(dyn Fn(usize) + Sync)) {
    const MOST: usize = u16::MAX as usize;
    if threads <= 1 || parts <= 1 || parts > MOST || INSIDE.get() {
        (0..parts).for_each(work);
        return;
    }
    TEAM.with(|team| share(&team.0, threads, parts, work));
}

fn share(shared: &Arc<Shared>, threads: usize, parts: usize, work: &Work<'_>) {
    // SAFETY: only the lifetime changes; nobody uses the pointer once all parts are done, which is waited for below.
    let work = std::ptr::from_ref(unsafe { std::mem::transmute::<&Work<'_>, &Work<'static>>(work) });
    // SAFETY: no part of the job before is left or being done, so no one reads.
    unsafe { *shared.job.get() = Some(Job { work, level: level() }) };
    shared.done.0.store(0, Ordering::Relaxed);
    let number = (shared.left.0.load(Ordering::Relaxed) >> 32).wrapping_add(1);
    shared.left.0.store((number << 32) | parts as u64, Ordering::Release);
    call(shared, threads - 1);
    INSIDE.set(true);
    while let Some(part) = shared.take(End::First) {
        shared.perform(part);
    }
    INSIDE.set(false);
    let mut turns = 0;
    while (shared.done.0.load(Ordering::Acquire) as usize) < parts {
        wait(turns);
        turns += 1;
    }
    if shared.panicked.swap(false, Ordering::Relaxed) {
        resume_unwind(Box::new("a thread that shared a product panicked"));
    }
}

fn call(shared: &Arc<Shared>, helpers: usize) {
    let others = rayon::current_num_threads() - usize::from(rayon::current_thread_index().is_some());
    while shared.helpers.load(Ordering::Relaxed) < helpers.min(others) {
        shared.helpers.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(shared);
        let owner = std::thread::current().id();
        rayon::spawn(move || {
            // the pool may give the order back to the caller when it has nothing else to do
            if std::thread::current().id() != owner {
                // it may be inside a part of its own, which waits for something of the pool
                let before = INSIDE.replace(true);
                shared.help();
                INSIDE.set(before);
            }
            shared.helpers.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// A place of a slice that parts share out among themselves.
struct Place<T>(*mut T);

// SAFETY: each part gets its own items, so a thread is given what may be sent to it and nothing else.
unsafe impl<T: Send> Send for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Place<T> {}

impl<T> Place<T> {
    fn at(&self, offset: usize) -> *mut T {
        // wrapping: every user has checked that it is inside
        self.0.wrapping_add(offset)
    }
}

pub fn each<T: Send>(threads: usize, items: &mut [T], work: &(dyn Fn(usize, &mut T) + Sync)) {
    chunks(threads, items, 1, &|part, item| work(part, &mut item[0]));
}

/// [`run`] with a part for each `width` items; the last may be shorter.
pub fn chunks<T: Send>(threads: usize, items: &mut [T], width: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let count = items.len();
    let place = Place(items.as_mut_ptr());
    run(threads, count.div_ceil(width.max(1)), &|part| {
        let from = part * width;
        let length = width.min(count - from);
        // SAFETY: inside the slice, and each part is done once, so no one else has these items.
        work(part, unsafe { std::slice::from_raw_parts_mut(place.at(from), length) });
    });
}
