//! The threads behind the window. The live thread has one slot, where the latest request wins, and decodes columns side
//! by side. Models and files have their own threads. The job queue shares the models and yields to live work.

#[cfg(not(target_family = "wasm"))]
pub mod corpus;
pub mod files;
pub mod gate;
pub mod live;
pub mod models;
pub mod queue;
pub mod steps;
pub mod thread;

pub use crate::jobs::models::cache::{Library, Reader};
pub use crate::jobs::{live::serve::serve, live::worker::Worker, models::store::Store, thread::Wake};
