//! Floor 9: what was shown before a translation became the sentence. A leaf.

use crate::app::open_with::Installed;
use crate::jobs::queue::candidate::Candidate;

/// What the window showed before a translation became the sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnedFrom {
    pub(crate) source: String,
    pub(crate) columns: Vec<Candidate>,
    /// Its models and what they read and write.
    pub(crate) models: Vec<Installed>,
}
