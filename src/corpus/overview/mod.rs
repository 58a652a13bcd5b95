//! What an analyst asks of many sentences at once, as tables and a report; and a test set, which becomes a corpus
//! ([`test_set`]), with its alignments by direction and extraction ([`gold`]).

pub mod compute;
pub mod gold;
mod html;
pub mod pairs;
pub mod parts;
pub mod people;
pub mod report;
pub mod tables;
pub mod test_set;

/// At most so many of some places, spread evenly.
pub fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |n| (n as u64 * count as u64 / taken.max(1) as u64) as usize)
}
