//! Floor 7: the corpus workbench without a window: sentences, systems, outputs and judgements in one file (SQLite), the
//! table of them in memory, sorted and filtered.
//!
//! [`file::Workspace`] is the file; everything is on the disk when a call returns. [`corpus::Corpus`] is what of it the
//! table needs, without the alignments, shared by copies. [`table`] puts its rows in order. A measure is one line of
//! [`measures::MEASURES`]. [`overview`] counts what an analyst asks of many sentences; [`distribution`] is what is brushed.

pub mod acting;
pub mod aggregate;
pub mod agreement;
pub mod aligned;
mod arrays;
mod blocks;
pub mod bring;
mod coder;
pub mod column;
mod columnar;
pub mod corpus;
pub mod costly;
pub mod distribution;
pub mod file;
pub mod filter;
mod fold;
pub mod frequencies;
pub mod hits;
pub mod judge;
pub mod kinds;
mod known;
mod lanes;
pub mod lists;
pub mod look;
pub mod measures;
pub mod out;
pub mod output;
pub mod overview;
mod picture;
pub mod ranges;
pub mod read;
mod remarks;
mod report;
pub mod run;
mod schema;
pub mod scheme;
pub mod score;
pub mod table;
pub mod tables;
pub mod texts;
pub mod verdicts;
pub mod write;
