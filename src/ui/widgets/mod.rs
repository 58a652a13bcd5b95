//! Floor 9: what views are built of. Each widget answers with what happened and changes nothing itself.

pub mod bars;
pub mod heatmap;
pub mod labels;
pub mod source_bars;
pub mod strip;
pub mod words;
