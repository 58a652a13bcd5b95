//! Floor 7: what an analyst asks of many sentences, as tables and a report; of a corpus in a file, and of one that is not
//! saved, whose systems are measured as they run ([`evaluate`], [`gold`]); [`keep`] makes a file of that.

pub mod compute;
pub mod evaluate;
pub mod evaluated;
pub mod figures;
pub mod gold;
pub mod keep;
pub mod parts;
pub mod report;
pub mod tables;
pub mod test_set;
