//! Models that are read, kept and lent out.

pub mod cache;
pub mod loaded;
pub mod store;
