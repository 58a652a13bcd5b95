//! Floor 7: models measured on a test set, behind the window.

use std::path::PathBuf;

use crate::error::Error;
use crate::error::Result;
use crate::nn::device::DeviceChoice;
use crate::worker::corpus::Work;

/// What to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluate {
    /// Model folders.
    pub models: Vec<PathBuf>,
    /// Where models compute.
    pub device: DeviceChoice,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {}

impl Evaluate {
    /// Does it.
    ///
    /// # Errors
    /// As [`Job::run`](crate::worker::corpus::Job::run).
    pub(super) fn run(self, work: &Work<'_>) -> Result<Evaluated> {
        for folder in &self.models {
            work.model(folder, self.device)?;
        }
        Err(Error::Input("Nothing can be measured yet".to_owned()))
    }
}
