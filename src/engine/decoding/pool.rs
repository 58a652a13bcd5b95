//! Beam search over any number of sentences: those that finish make room for others.
//!
//! A batch that is decoded to its end grows thin, as its sentences finish one by one, and products of few rows cost nearly as
//! much as those of many. Here others take their places, a quarter of the batch at a time, since entering means
//! that what is known of all sentences is moved.

use crate::decoding::batching::{BATCH_ROWS, BATCH_WORDS, Take, batches};
use crate::decoding::beam::{Beam, Rules, Step, check_options};
use crate::decoding::{SearchOptions, Specials};
use crate::{decoding::trace::Decoded, error::Result, models::Stepper, ticket::CancellationToken};

struct Entry {
    index: usize,
    sentence: usize,
    beam: Beam,
}

struct Queue<'a> {
    sources: &'a [&'a [u32]],
    order: std::vec::IntoIter<usize>,
    batch: usize,
    beam: usize,
}

impl Queue<'_> {
    fn take(&mut self, pool: &[Entry]) -> Vec<usize> {
        let mut taken = Vec::new();
        let mut longest = pool.iter().map(|entry| self.sources[entry.index].len()).max().unwrap_or(0);
        while let Some(&next) = self.order.as_slice().first() {
            let count = pool.len() + taken.len() + 1;
            longest = longest.max(self.sources[next].len());
            let fits = count <= self.batch && count * longest <= BATCH_WORDS && count * self.beam <= BATCH_ROWS;
            if !fits && count > 1 {
                break;
            }
            taken.extend(self.order.next());
        }
        taken
    }

    /// Whether so much room is free that filling it pays.
    fn calls(&self, pool: &[Entry]) -> bool {
        !self.order.as_slice().is_empty() && 4 * pool.len() <= 3 * self.batch
    }
}

/// Translates all sources with a stepper that [`joins`](Stepper::joins); otherwise as
/// [`decode_all`](crate::decoding::decode_all).
pub fn search_all(
    stepper: &mut dyn Stepper, specials: Specials, sources: &[&[u32]], options: &SearchOptions, batch: usize,
    ticket: &CancellationToken, done: &mut Take<'_, Decoded>,
) -> Result<()> {
    check_options(sources, options)?;
    stepper.heed(ticket);
    let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
    let order = batches(&lengths, batch).concat().into_iter();
    let mut queue = Queue { sources, order, batch: batch.max(1), beam: options.beam };
    let rules = Rules::new(options, specials);
    let (mut pool, mut step) = (Vec::new(), Step::default());
    loop {
        if queue.calls(&pool) {
            let new = queue.take(&pool);
            enter(stepper, sources, options, &mut pool, &new, step.rows.len())?;
        }
        if pool.is_empty() {
            return Ok(());
        }
        ticket.check()?;
        let beams = pool.iter_mut().map(|entry: &mut Entry| (entry.sentence, &mut entry.beam));
        step.advance(stepper, beams, &rules, ticket)?;
        let (live, finished): (Vec<Entry>, Vec<Entry>) = pool.into_iter().partition(|entry| entry.beam.is_live());
        pool = live;
        if !finished.is_empty() {
            let indexes: Vec<usize> = finished.iter().map(|entry| entry.index).collect();
            let decoded = finished.into_iter().map(|entry| entry.beam.finish(options, stepper.context(entry.sentence)));
            done(&indexes, decoded.collect())?;
        }
    }
}

fn enter(
    stepper: &mut dyn Stepper, sources: &[&[u32]], options: &SearchOptions, pool: &mut Vec<Entry>, new: &[usize],
    rows: usize,
) -> Result<()> {
    let chosen: Vec<&[u32]> = new.iter().map(|&index| sources[index]).collect();
    let first = if chosen.is_empty() {
        return Ok(());
    } else if pool.is_empty() {
        stepper.begin(&chosen)?;
        0
    } else {
        let kept: Vec<usize> = pool.iter().map(|entry| entry.sentence).collect();
        stepper.join(&kept, &chosen)?;
        rows
    };
    for (place, entry) in pool.iter_mut().enumerate() {
        entry.sentence = place;
    }
    for (place, &index) in new.iter().enumerate() {
        let beam = Beam::new(sources[index].len(), first + place, options).at_most(stepper.most());
        pool.push(Entry { index, sentence: pool.len(), beam });
    }
    Ok(())
}
