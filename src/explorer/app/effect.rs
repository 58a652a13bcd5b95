//! What a command or an event causes outside the session. It knows no session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::files::work::FileJob;
#[cfg(not(target_family = "wasm"))]
use crate::jobs::corpus::thread::CorpusRequest;
use crate::jobs::live::protocol::Request;
use crate::jobs::queue::QueueOrder;
use crate::jobs::steps::StepsRequest;

/// What the driver carries out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Translate this, and nothing that was wanted before.
    Decode(Request),
    /// Something for the corpus lane.
    Job(QueueCall),
    /// Take a translation apart, and nothing that was wanted before.
    TakeApart {
        number: u64,
        request: Box<StepsRequest>,
    },
    /// Something for the workspace.
    #[cfg(not(target_family = "wasm"))]
    Corpus(CorpusRequest),
    Chore(FileJob),
    /// Follow these training logs, and no others.
    Follow(Vec<PathBuf>),
    /// Follow the texts of these folders, and no others.
    FollowTexts(Vec<PathBuf>),
}

/// What the corpus lane is to do.
#[expect(clippy::large_enum_variant, reason = "an order is sent once and kept by no one here")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum QueueCall {
    Submit(u64, QueueOrder),
    /// This one is not wanted any more.
    Cancel(u64),
    /// Hold this one up, or let it go on.
    Pause(u64, bool),
}
