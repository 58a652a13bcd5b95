//! Floor 1: how wide the panels of packed factors are.

/// Columns of a panel.
pub const WIDTH: usize = 32;
