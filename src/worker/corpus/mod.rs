//! Floor 8: the corpus lane: long work behind the window, one order after the other in the order they came.
//!
//! One thread (`lane.rs`). Each order has its own ticket, can be paused and cancelled and reports its progress. Between
//! two pieces of work it calls [`Breath::breathe`], which waits while the live lane has something to do (`work.rs`).
//! Models are those of the live lane where it has them. A kind of order is one file here and one line of [`Order`] and
//! [`Found`]; the lane itself knows only [`Job`]s.

pub mod analyse;
pub mod evaluate;
mod lane;
pub mod maps;
mod order;
pub mod phrases;
pub mod probe;
mod work;
mod yielding;

pub use crate::worker::corpus::lane::{CorpusEvent, Kind, Lane};
pub use crate::worker::corpus::order::{Found, Order};
pub use crate::worker::corpus::work::{Breath, Job, Progress, Work};
