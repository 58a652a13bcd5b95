//! The corpus lane: long work behind the window, one order after the other in the order they came.
//!
//! One thread (`lane.rs`). Each order has its own ticket, can be paused and cancelled and reports its progress. Between
//! two pieces of work it calls [`PausePoint::pause_point`], which waits while the live lane has something to do (`work.rs`).
//! Models are those of the live lane where it has them. A kind of order is one file here and one line of [`QueueOrder`] and
//! [`Found`]; the lane itself knows only [`Job`]s.

#[cfg(not(target_family = "wasm"))]
pub mod analyse;
#[cfg(not(target_family = "wasm"))]
pub mod contrast;
#[cfg(not(target_family = "wasm"))]
pub mod documents;
pub mod head;
pub mod job_queue;
pub mod maps;
pub mod order;
pub mod probe;
pub mod work;
pub mod yielding;

pub use crate::jobs::queue::job_queue::{JobQueue, QueueEvent, QueueNews};
pub use crate::jobs::queue::order::{Found, QueueOrder};
pub use crate::jobs::queue::work::{Job, JobProgress, PausePoint, Work};
