//! One slot, latest wins.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::jobs::thread::lock;
use engine::clock::Instant;

/// One slot: a newer letter replaces the one that was not yet taken.
#[derive(Debug)]
pub struct Mailbox<T> {
    slot: Mutex<Slot<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Slot<T> {
    letter: Option<T>,
    closed: bool,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Mailbox<T> {
    pub fn new() -> Self {
        Self { slot: Mutex::new(Slot { letter: None, closed: false }), changed: Condvar::new() }
    }

    /// Puts a letter in; answers with the one that it replaced.
    pub fn put(&self, letter: T) -> Option<T> {
        let old = lock(&self.slot).letter.replace(letter);
        self.changed.notify_all();
        old
    }

    /// Waits for a letter; `None` once the mailbox is closed and empty.
    pub fn take(&self) -> Option<T> {
        let mut slot = lock(&self.slot);
        loop {
            if let Some(letter) = slot.letter.take() {
                return Some(letter);
            }
            if slot.closed {
                return None;
            }
            slot = self.changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits this long in all for letters newer than `first` and returns the newest; closing ends the wait.
    pub fn take_newest(&self, first: T, patience: Duration) -> T {
        let deadline = Instant::now() + patience;
        let mut newest = first;
        let mut slot = lock(&self.slot);
        loop {
            if let Some(letter) = slot.letter.take() {
                newest = letter;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if slot.closed || left.is_zero() {
                return newest;
            }
            slot = self.changed.wait_timeout(slot, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// No letters come after this; waiting ends.
    pub fn close(&self) {
        lock(&self.slot).closed = true;
        self.changed.notify_all();
    }
}
