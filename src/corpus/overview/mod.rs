//! Floor 7: what an analyst asks of many sentences, as tables and a report; of a corpus in a file, and of one that is not
//! saved, whose systems are measured as they run ([`evaluate`], [`gold`]); [`keep`] makes a file of that.

pub mod compute;
pub mod evaluate;
pub mod evaluated;
pub mod figures;
pub mod gold;
mod html;
pub mod keep;
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
