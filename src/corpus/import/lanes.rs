//! Floor 7: jobs that threads take while one thread leads: it gives jobs of several kinds and takes the results of each
//! kind in the order in which it gave them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Its kind and its number among those of its kind.
type Place = (usize, usize);

/// What came of a job; the panic it ended with.
type Outcome<Done> = std::thread::Result<Done>;

/// What the leading thread gives jobs to.
pub(crate) struct Lanes<'a, Job, Done> {
    work: &'a (dyn Fn(Job) -> Done + Sync),
    /// `None`: jobs are done as they are given.
    jobs: Option<Sender<(Place, Job)>>,
    results: Receiver<(Place, Outcome<Done>)>,
    state: RefCell<State<Done>>,
}

struct State<Done> {
    /// Jobs given of each kind, and results taken.
    given: BTreeMap<usize, usize>,
    taken: BTreeMap<usize, usize>,
    /// Results that came before their turn.
    early: BTreeMap<Place, Done>,
}

impl<Job, Done> Lanes<'_, Job, Done> {
    /// Gives a job.
    pub(crate) fn give(&self, kind: usize, job: Job) {
        let mut state = self.state.borrow_mut();
        let number = state.given.entry(kind).or_default();
        let place = (kind, *number);
        *number += 1;
        match &self.jobs {
            // The threads end after this sender only.
            Some(jobs) => drop(jobs.send((place, job))),
            None => drop(state.early.insert(place, (self.work)(job))),
        }
    }

    /// Jobs of a kind whose results were not taken.
    pub(crate) fn open(&self, kind: usize) -> usize {
        let state = self.state.borrow();
        let count = |of: &BTreeMap<usize, usize>| of.get(&kind).copied().unwrap_or_default();
        count(&state.given) - count(&state.taken)
    }

    /// Waits for the next result of a kind; `None` when there is none to come.
    pub(crate) fn take(&self, kind: usize) -> Option<Done> {
        if self.open(kind) == 0 {
            return None;
        }
        let mut state = self.state.borrow_mut();
        let number = state.taken.entry(kind).or_default();
        let place = (kind, *number);
        *number += 1;
        loop {
            if let Some(done) = state.early.remove(&place) {
                return Some(done);
            }
            match self.results.recv().ok()? {
                (at, Ok(done)) => drop(state.early.insert(at, done)),
                (_, Err(panic)) => resume_unwind(panic),
            }
        }
    }
}

/// Leads with so many threads beside the one that leads; with fewer than two there is none beside it.
pub(crate) fn with_lanes<Job: Send, Done: Send, T>(
    threads: usize,
    work: &(dyn Fn(Job) -> Done + Sync),
    lead: impl FnOnce(&Lanes<'_, Job, Done>) -> T,
) -> T {
    let state = RefCell::new(State { given: BTreeMap::new(), taken: BTreeMap::new(), early: BTreeMap::new() });
    let (told, results) = channel();
    if threads < 2 {
        return lead(&Lanes { work, jobs: None, results, state });
    }
    let (jobs, inbox) = channel::<(Place, Job)>();
    let (inbox, is_over) = (Mutex::new(inbox), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let told = told.clone();
            let (inbox, is_over) = (&inbox, &is_over);
            scope.spawn(move || {
                loop {
                    let job = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((place, job)) = job else { return };
                    if is_over.load(Ordering::Acquire) {
                        return;
                    }
                    let done = catch_unwind(AssertUnwindSafe(|| work(job)));
                    if told.send((place, done)).is_err() {
                        return;
                    }
                }
            });
        }
        let lanes = Lanes { work, jobs: Some(jobs), results, state };
        // However the leading ends, the threads must hear of it, or the scope would wait for ever.
        let led = catch_unwind(AssertUnwindSafe(|| lead(&lanes)));
        is_over.store(true, Ordering::Release);
        drop(lanes);
        led.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs_of_their_kind() {
        for threads in [0, 1, 2, 5] {
            let work = |number: u64| (0..number * 991 % 7 * 1000).fold(number * 10, |sum, k| sum.max(k.min(1)));
            let all = with_lanes(threads, &work, |lanes| {
                (0..40).for_each(|n| lanes.give((n % 2) as usize, n));
                let of = |kind: usize| std::iter::from_fn(|| lanes.take(kind)).collect::<Vec<u64>>();
                let all = (of(1), of(0));
                assert_eq!((lanes.open(0), lanes.take(0)), (0, None));
                all
            });
            let expect = |first: u64| (first..40).step_by(2).map(|n| n * 10).collect::<Vec<u64>>();
            assert_eq!(all, (expect(1), expect(0)), "{threads} threads");
        }
    }

    #[test]
    fn a_panic_of_a_job_reaches_who_leads_and_what_is_not_taken_is_left() {
        let work = |number: u32| if number == 3 { panic!("planted here") } else { number };
        let run = |threads: usize, last: u32| {
            crate::quiet::catch_quietly(|| {
                with_lanes(threads, &work, |lanes| {
                    (0..=last).for_each(|n| lanes.give(0, n));
                    (0..last).filter_map(|_| lanes.take(0)).collect::<Vec<u32>>()
                })
            })
        };
        assert_eq!(run(3, 2), Ok(vec![0, 1]));
        assert_eq!(run(1, 8), Err("planted here".to_owned()));
    }
}
