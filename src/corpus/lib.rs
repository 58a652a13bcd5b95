//! The corpus workbench without a window: sentences, systems, outputs and judgements in one file (SQLite), the
//! table of them in memory, sorted and filtered.
//!
//! [`file::Workspace`] is the file; everything is on the disk when a call returns. [`corpus::Corpus`] is what of it the
//! table needs, without the alignments, shared by copies. [`table`] puts its rows in order. A measure is one line of
//! [`measures::MEASURES`]. [`overview`] counts what an analyst asks of many sentences.
//!
//! ```text
//! store/        the file: sentences, outputs, judgements, numbers
//! import/       what comes in, joined with what is there
//! judgements/   people's stars, tags, notes and marks; agreement, campaigns
//! measures/     what is measured of a sentence or an output
//! query/        columns, filters, concordances
//! overview/     what is counted of many sentences, and reports of it
//! run.rs        models over sentences
//! export/       what goes out
//! ```

#[macro_use]
extern crate engine;

pub mod export;
pub mod import;
pub mod judgements;
pub mod measures;
pub mod overview;
pub mod query;
pub mod run;
pub mod store;
