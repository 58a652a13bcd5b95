//! Texts, outputs, alignments and judgements that come into a corpus.

pub mod aligned;
mod alignments;
pub(crate) mod counted;
pub mod importer;
mod joining;
pub mod lanes;
pub mod mqm;
pub(crate) mod places;
pub mod rated;
pub(crate) mod references;
pub mod report;
pub mod scored;
mod scores;
pub mod spans;
pub mod tagged;
mod windows;
