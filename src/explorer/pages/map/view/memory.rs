//! What page Map remembers between two frames. A leaf.

use crate::pages::map::view::plane;

/// What page Map remembers.
#[derive(Default)]
pub struct MapMemory {
    /// Where the map of page Map is looked at.
    pub plane: plane::PlaneMemory,
    /// The first map was asked for; later ones only the user asks for.
    pub begun: bool,
}
