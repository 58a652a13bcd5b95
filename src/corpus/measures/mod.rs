//! What is measured on a sentence and counted over many.

pub mod aggregate;
pub mod frequencies;
pub mod oracle;
pub mod paired;
pub mod remarks;
pub mod score;
pub mod scores;
pub mod table;
