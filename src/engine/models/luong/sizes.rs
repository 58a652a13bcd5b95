//! What only the configuration of a model of Luong et al. 2015 has.

use crate::attention::{AttentionEntry, AttentionKind, find};

/// What only a model of Luong et al. 2015 has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuongSizes {
    pub layers: usize,
    pub attention: AttentionKind,
    pub score: String,
    /// Whether h~_{t-1} is fed into step t (section 3.3).
    pub input_feeding: bool,
    pub reverse_source: bool,
    /// D, half the window of local attention in words; 0 where the attention is not local.
    pub window: usize,
    pub max_source: usize,
    pub start: u32,
}

impl LuongSizes {
    pub fn entry(&self) -> Option<&'static AttentionEntry> {
        find(&self.score)
    }
}
