//! The rows of the table: columns, conditions, their order, the words that are found and their weights.

pub mod column;
pub mod expensive;
pub mod filter;
pub mod hits;
pub(crate) mod line;
pub mod linked;
pub mod table;
