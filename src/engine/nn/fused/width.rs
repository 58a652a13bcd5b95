//! How wide the panels of packed factors are.

/// Columns of a panel.
pub const WIDTH: usize = 32;
