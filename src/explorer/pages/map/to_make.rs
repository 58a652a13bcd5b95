//! The map that a link told of. A leaf.

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MapToMake {
    pub(super) is_ordered: bool,
    pub(super) point: Option<(String, usize)>,
}
