//! Floor 7: what an analyst asks of many sentences, as tables and a report.

pub mod overview;
pub mod report;
pub mod tables;
