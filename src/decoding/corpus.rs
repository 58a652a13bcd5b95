//! Floor 4: any number of sentences, decoded or scored in batches of like length.

use std::sync::Arc;

use crate::decoding;
use crate::decoding::batching::{Take, bounded_batches};
use crate::decoding::pool;
use crate::decoding::{Decoded, Forced, Intervening, Intervention, SearchOptions, Specials};
use crate::error::Result;
use crate::models::Stepper;
use crate::ticket::Ticket;

/// Translates any number of sentences (ids, none empty), about `batch` at once and those of like length together. `done` takes
/// what is done: indexes into `sources` and results, which are kept no longer than it keeps them.
///
/// # Errors
/// What the search refuses, and what `done` returns.
pub fn decode_all(
    stepper: &mut dyn Stepper,
    specials: Specials,
    sources: &[&[u32]],
    options: &SearchOptions,
    batch: usize,
    ticket: &Ticket,
    done: &mut Take<'_, Decoded>,
) -> Result<()> {
    if stepper.joins() && options.prefix.is_empty() {
        return pool::search_all(stepper, specials, sources, options, batch, ticket, done);
    }
    let mut decode =
        |_: &[usize], chosen: &[&[u32]]| decoding::decode(stepper, specials, chosen, options, ticket, &mut |_, _| {});
    in_batches(sources, (batch, options.beam), &mut decode, done)
}

/// Decodes a batch: the indexes of its sentences, and their ids.
type Decode<'a> = dyn FnMut(&[usize], &[&[u32]]) -> Result<Vec<Decoded>> + 'a;

/// Sentences of like length together; `decode` gets a batch, by its indexes and its ids.
fn in_batches(
    sources: &[&[u32]],
    (batch, beam): (usize, usize),
    decode: &mut Decode<'_>,
    done: &mut Take<'_, Decoded>,
) -> Result<()> {
    let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
    for indexes in bounded_batches(&lengths, batch, beam) {
        let chosen: Vec<&[u32]> = indexes.iter().map(|&index| sources[index]).collect();
        let decoded = decode(&indexes, &chosen)?;
        done(&indexes, decoded)?;
    }
    Ok(())
}

/// As [`decode_all`], with the interventions of each sentence.
///
/// # Errors
/// As there; an intervention that means nothing for its sentence.
#[expect(clippy::too_many_arguments, reason = "those of decode_all, and what is changed")]
pub fn intervene_all(
    stepper: &mut dyn Stepper,
    specials: Specials,
    sources: &[&[u32]],
    interventions: &[Arc<[Intervention]>],
    options: &SearchOptions,
    batch: usize,
    ticket: &Ticket,
    done: &mut Take<'_, Decoded>,
) -> Result<()> {
    if interventions.iter().all(|list| list.is_empty()) {
        return decode_all(stepper, specials, sources, options, batch, ticket, done);
    }
    let mut decode = |indexes: &[usize], chosen: &[&[u32]]| {
        let lists = indexes.iter().map(|&index| interventions.get(index).cloned().unwrap_or_default()).collect();
        let mut changed = Intervening::new(stepper, lists);
        decoding::decode(&mut changed, specials, chosen, options, ticket, &mut |_, _| {})
    };
    in_batches(sources, (batch, options.beam), &mut decode, done)
}

/// Scores any number of pairs (ids, no source empty); otherwise as [`decode_all`].
///
/// # Errors
/// What forced decoding refuses, and what `done` returns.
pub fn force_all(
    stepper: &mut dyn Stepper,
    pairs: &[(&[u32], &[u32])],
    batch: usize,
    ticket: &Ticket,
    done: &mut Take<'_, Forced>,
) -> Result<()> {
    let lengths: Vec<usize> = pairs.iter().map(|(source, target)| source.len().max(target.len())).collect();
    for indexes in bounded_batches(&lengths, batch, 1) {
        let chosen: Vec<(&[u32], &[u32])> = indexes.iter().map(|&index| pairs[index]).collect();
        let forced = decoding::force(stepper, &chosen, ticket)?;
        done(&indexes, forced)?;
    }
    Ok(())
}
