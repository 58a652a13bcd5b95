//! Any number of sentences, decoded or scored in batches of like length.

use crate::decoding::batching::{Take, bounded_batches};
use crate::decoding::{Decoded, Hypothesis, SearchOptions, Specials, pool};
use crate::{decoding, error::Result, models::Stepper, ticket::CancellationToken};

/// Translates any number of sentences (ids, none empty), about `batch` at once and those of like length together.
/// `done` takes what is done: indexes into `sources` and results, which are kept no longer than it keeps them.
pub fn decode_all(
    stepper: &mut dyn Stepper, specials: Specials, sources: &[&[u32]], options: &SearchOptions, batch: usize,
    ticket: &CancellationToken, done: &mut Take<'_, Decoded>,
) -> Result<()> {
    if stepper.joins() {
        return pool::search_all(stepper, specials, sources, options, batch, ticket, done);
    }
    let mut decode =
        |_: &[usize], chosen: &[&[u32]]| decoding::decode(stepper, specials, chosen, options, ticket, &mut |_, _| {});
    in_batches(sources, (batch, options.beam), &mut decode, done)
}

/// Decodes a batch: the indexes of its sentences, and their ids.
pub type Decode<'a> = dyn FnMut(&[usize], &[&[u32]]) -> Result<Vec<Decoded>> + 'a;

/// Sentences of like length together; `decode` gets a batch, by its indexes and its ids.
pub fn in_batches(
    sources: &[&[u32]], (batch, beam): (usize, usize), decode: &mut Decode<'_>, done: &mut Take<'_, Decoded>,
) -> Result<()> {
    let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
    for indexes in bounded_batches(&lengths, batch, beam) {
        let chosen: Vec<&[u32]> = indexes.iter().map(|&index| sources[index]).collect();
        let decoded = decode(&indexes, &chosen)?;
        done(&indexes, decoded)?;
    }
    Ok(())
}

pub fn force_all(
    stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], batch: usize, ticket: &CancellationToken,
    done: &mut Take<'_, Hypothesis>,
) -> Result<()> {
    let lengths: Vec<usize> = pairs.iter().map(|(source, target)| source.len().max(target.len())).collect();
    for indexes in bounded_batches(&lengths, batch, 1) {
        let chosen: Vec<(&[u32], &[u32])> = indexes.iter().map(|&index| pairs[index]).collect();
        let forced = decoding::force(stepper, &chosen, ticket)?;
        done(&indexes, forced)?;
    }
    Ok(())
}
