//! Jobs that threads take while one thread leads: it gives jobs of several kinds and takes the results of each kind
//! in the order in which it gave them.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, sync_channel};

pub(crate) struct Lanes<'a, 'scope, Job, Done> {
    work: &'scope (dyn Fn(Job) -> Done + Sync),
    /// `None`: jobs are done as they are given.
    threads: Option<&'a rayon::Scope<'scope>>,
    results: RefCell<BTreeMap<usize, VecDeque<Receiver<Done>>>>,
}

impl<'scope, Job: Send + 'scope, Done: Send + 'scope> Lanes<'_, 'scope, Job, Done> {
    pub(crate) fn give(&self, kind: usize, job: Job) {
        let (sender, result) = sync_channel(1);
        let work = self.work;
        let run = move || drop(sender.send(work(job)));
        match self.threads {
            Some(threads) => threads.spawn(move |_| run()),
            None => run(),
        }
        self.results.borrow_mut().entry(kind).or_default().push_back(result);
    }

    pub(crate) fn open(&self, kind: usize) -> usize {
        self.results.borrow().get(&kind).map_or(0, VecDeque::len)
    }

    /// Waits for the next result of a kind; `None` if none is left or its job panicked.
    pub(crate) fn take(&self, kind: usize) -> Option<Done> {
        let next = self.results.borrow_mut().get_mut(&kind)?.pop_front()?;
        next.recv().ok()
    }
}

/// Leads with so many threads beside the one that leads; with fewer than two there is none beside it.
pub(crate) fn with_lanes<'scope, Job: Send + 'scope, Done: Send + 'scope, T>(
    threads: usize, work: &'scope (dyn Fn(Job) -> Done + Sync), lead: impl FnOnce(&Lanes<'_, 'scope, Job, Done>) -> T,
) -> T {
    let results = RefCell::default();
    match (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build()) {
        Some(Ok(pool)) => pool.in_place_scope(|scope| lead(&Lanes { work, threads: Some(scope), results })),
        _ => lead(&Lanes { work, threads: None, results }),
    }
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
            engine::quiet::catch_quietly(|| {
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
