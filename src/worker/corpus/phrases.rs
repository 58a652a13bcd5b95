//! Floor 7: phrase tables scored by a model, behind the window.

use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::nn::device::DeviceChoice;
use crate::worker::corpus::Work;

/// What to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrases {
    /// The model folder.
    pub model: PathBuf,
    /// Where the model computes.
    pub device: DeviceChoice,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {}

impl Phrases {
    /// Does it.
    ///
    /// # Errors
    /// As [`Job::run`](crate::worker::corpus::Job::run).
    pub(super) fn run(self, work: &Work<'_>) -> Result<Scored> {
        work.model(&self.model, self.device)?;
        Err(Error::Input("This cannot be done yet".to_owned()))
    }
}
