//! The threads behind the window. Imports all lower floors; knows neither window nor session.
//!
//! The live lane (`live.rs`) is one slot where the latest request wins. It is served by one thread (`serve.rs`), which
//! decodes columns side by side; models are read in threads of their own (`cache.rs`), so that a slow one holds up
//! nothing else. `disk.rs` keeps slow files away from the window, `follow.rs` looks at files that grow. The lane for
//! whole corpora (`corpus/`) is a queue beside the slot; it shares the models and steps aside while the live lane has
//! work (`gate.rs`). All are started and ended in one way (`thread.rs`) and leave the window its share of the cores
//! (`priority.rs`).

#[cfg(not(target_family = "wasm"))]
pub mod corpus;
pub mod files;
pub mod gate;
pub mod live;
pub mod models;
pub mod priority;
pub mod queue;
pub mod steps;
pub mod thread;

pub use crate::jobs::live::serve::serve;
pub use crate::jobs::live::worker::Worker;
pub use crate::jobs::models::cache::{Library, Reader};
pub use crate::jobs::models::store::Store;
pub use crate::jobs::thread::Wake;
