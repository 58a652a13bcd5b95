//! What a command or an event causes outside the session. It knows no session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::files::work::FileJob;
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
use crate::jobs::{live::protocol::Request, queue::QueueOrder, steps::StepsRequest};

/// Work that the driver carries out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Translate this and drop older requests.
    Decode(Request),
    Job(QueueCall),
    TakeApart {
        number: u64,
        request: Box<StepsRequest>,
    },
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusRequest),
    Chore(FileJob),
    /// Follow these training logs and no others.
    Follow(Vec<PathBuf>),
    FollowTexts(Vec<PathBuf>),
}

/// A command to the job queue.
#[expect(clippy::large_enum_variant, reason = "an order is sent once and kept by no one here")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueCall {
    Submit(u64, QueueOrder),
    Cancel(u64),
    Pause(u64, bool),
}
