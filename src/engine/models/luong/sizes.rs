//! What only the configuration of a model of Luong et al. 2015 has.

use crate::attention::{AttentionEntry, AttentionKind, find};

/// What only a model of Luong et al. 2015 has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuongSizes {
    /// Stacked LSTM layers on either side, at least 1.
    pub layers: usize,
    /// Where the decoder looks.
    pub attention: AttentionKind,
    /// How a state and an annotation are compared: a name in [`ATTENTIONS`](crate::attention::ATTENTIONS).
    pub score: String,
    /// Whether h~_{t-1} is fed into step t (section 3.3).
    pub input_feeding: bool,
    /// Whether the encoder reads the source backwards.
    pub reverse_source: bool,
    /// D, half the window of local attention in words; 0 where the attention is not local.
    pub window: usize,
    /// The source words that `location` has a row for; 0 for other scores.
    pub max_source: usize,
    /// y_0, the id that the decoder reads first.
    pub start: u32,
}

impl LuongSizes {
    /// The score function; `None` where `score` is no name of the table.
    pub fn entry(&self) -> Option<&'static AttentionEntry> {
        find(&self.score)
    }
}
