//! The map that a link told of. A leaf.

/// A map that is to be made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MapToMake {
    /// It was asked for.
    pub(super) is_ordered: bool,
    /// Text and number of the point that is selected in it.
    pub(super) point: Option<(String, usize)>,
}
