//! What page Map remembers between two frames. A leaf.

use crate::pages::map::view::plane;

/// What the Map page remembers between frames.
#[derive(Default)]
pub struct MapMemory {
    pub plane: plane::PlaneMemory,
    pub begun: bool,
}
