//! The job queue: one thread for long work, one order after the other. An order can be paused and cancelled and yields
//! to live work. A kind of order is one file here and one line of [`QueueOrder`] and [`Found`].

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
