//! How far lessons were read, as it is kept between starts. A leaf.

use serde::{Deserialize, Serialize};

/// How far a lesson was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The last page that was shown, from 0.
    pub page: usize,
    /// Whether its end was reached once.
    pub is_done: bool,
}
