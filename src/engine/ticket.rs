//! Numbered permission to go on working. One atomic, std only.
//!
//! A [`Generation`] hands out [`CancellationToken`]s; drawing a new one makes all older ones
//! stale. Long loops ask [`CancellationToken::is_stale`] at every step and stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Hands out tickets; only the newest is valid.
#[derive(Clone, Debug, Default)]
pub struct Generation(Arc<AtomicU64>);

/// Permission to work, valid until the counter moves on.
#[derive(Clone, Debug)]
pub struct CancellationToken {
    newest: Arc<AtomicU64>,
    number: u64,
    /// Asked too, whether the work is still wanted.
    is_replaced: Option<fn() -> bool>,
}

impl Generation {
    pub fn new() -> Self {
        Self::default()
    }

    /// The next ticket; every older one is stale from now on.
    pub fn next(&self) -> CancellationToken {
        let number = self.0.fetch_add(1, Ordering::AcqRel) + 1;
        CancellationToken { newest: Arc::clone(&self.0), number, is_replaced: None }
    }

    /// Makes every ticket stale without handing out a new one.
    pub fn cancel(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl CancellationToken {
    /// A ticket that nobody can make stale, for work that is never cancelled.
    pub fn forever() -> Self {
        Generation::new().next()
    }

    pub fn asking(is_replaced: fn() -> bool) -> Self {
        Self { is_replaced: Some(is_replaced), ..Self::forever() }
    }

    pub fn is_stale(&self) -> bool {
        self.newest.load(Ordering::Acquire) != self.number || self.is_replaced.is_some_and(|is_replaced| is_replaced())
    }

    /// `Err(Error::Stale)` once stale, for use with `?` in loops.
    pub fn check(&self) -> Result<()> {
        if self.is_stale() { Err(Error::Stale) } else { Ok(()) }
    }
}
