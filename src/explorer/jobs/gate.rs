//! Lets live work go first: each live request holds a [`ForegroundGuard`] until it is served or replaced;
//! background work waits between two pieces while [`ForegroundGate::is_open`], one atomic read, is false.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::jobs::thread::lock;

/// Open while nothing is to be translated live.
#[derive(Debug, Default)]
pub struct ForegroundGate {
    busy: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Keeps the gate shut until it is dropped.
#[derive(Debug)]
pub struct ForegroundGuard(pub(crate) Arc<ForegroundGate>);

impl ForegroundGate {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Keeps the gate shut while the guard lives.
    pub fn shut(self: &Arc<Self>) -> ForegroundGuard {
        self.busy.fetch_add(1, Ordering::AcqRel);
        ForegroundGuard(Arc::clone(self))
    }

    pub fn is_open(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// Waits until `ready` returns true; it is called again whenever the gate opens and at every [`ForegroundGate::ring`].
    pub(crate) fn wait_until(&self, ready: impl Fn() -> bool) {
        let mut guard = lock(&self.lock);
        while !ready() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes those who wait.
    pub(crate) fn ring(&self) {
        // A thread that is about to wait holds the lock until it does, so it cannot miss this.
        drop(lock(&self.lock));
        self.changed.notify_all();
    }
}

impl Drop for ForegroundGuard {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ring();
        }
    }
}
