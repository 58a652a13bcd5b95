//! Work cut into numbered pieces that threads take one after the other; the results come back in their order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::ticket::CancellationToken;

/// Does `pieces` pieces on so many threads, each with a state of its own; `done` hears now and then how many are done.
pub fn parallel<State, Done: Send>(
    pieces: usize, threads: usize, ticket: &CancellationToken, done: &mut dyn FnMut(usize),
    state: &(dyn Fn() -> State + Sync), work: &(dyn Fn(&mut State, usize) -> Done + Sync),
) -> Result<Vec<Done>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(pieces));
    let run = |notify: &mut dyn FnMut(usize)| {
        let mut state = state();
        while !ticket.is_stale() {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            let result = work(&mut state, piece);
            // A thread that panicked takes the whole scope with it, so nobody meets its lock.
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((piece, result));
            notify(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, pieces.max(1)) {
            scope.spawn(|| run(&mut |_| {}));
        }
        run(done);
    });
    if ticket.is_stale() {
        return Err(Error::Stale);
    }
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_unstable_by_key(|(piece, _)| *piece);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
