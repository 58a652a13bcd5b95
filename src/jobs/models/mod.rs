//! Floor 8: models that are read, kept and lent out.

pub mod shelf;
pub mod shelved;
pub mod store;
