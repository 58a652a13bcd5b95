//! Lets the live lane go first. Std only.
//!
//! Every request of the live lane holds a [`ForegroundGuard`] until it is served or replaced.
//! Work in the background asks [`ForegroundGate::is_open`] between two pieces, which is one atomic read, and waits while it is
//! shut.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Open while the live lane has nothing to do.
#[derive(Debug, Default)]
pub struct ForegroundGate {
    busy: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Keeps the gate shut until it is dropped.
#[derive(Debug)]
pub struct ForegroundGuard(Arc<ForegroundGate>);

impl ForegroundGate {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Shuts the gate for as long as the answer lives.
    pub fn shut(self: &Arc<Self>) -> ForegroundGuard {
        self.busy.fetch_add(1, Ordering::AcqRel);
        ForegroundGuard(Arc::clone(self))
    }

    /// Nothing holds it shut.
    pub fn is_open(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// Waits until `ready` returns true; it is called again whenever the gate opens and at every [`ForegroundGate::ring`].
    pub(crate) fn wait_until(&self, ready: impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !ready() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Has those who wait look again.
    pub(crate) fn ring(&self) {
        // A thread that is about to wait holds the lock until it does, so it cannot miss this.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

impl ForegroundGuard {
    /// What it keeps shut.
    pub(crate) fn gate(&self) -> Arc<ForegroundGate> {
        Arc::clone(&self.0)
    }
}

impl Drop for ForegroundGuard {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ring();
        }
    }
}
