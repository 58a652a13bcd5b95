//! A system, one model or several as one, asked about many sentences: which row of alpha belongs to which token
//! ([`rows`]), its tokens as words ([`wording`]), the links of given pairs ([`alignment`]),
//! interventions for each of many sentences ([`acting`]).
//! Plain data in, plain data out. Nothing is printed, no thread started, no clock read. Imports floors 0-5.

pub mod alignment;
pub mod ask;
pub mod contrast;
pub mod first_set;
pub mod plan;
pub mod rows;
pub mod system;
pub mod wording;

pub use crate::evaluation::system::EvaluatedSystem;
