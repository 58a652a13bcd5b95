//! Floor 11: what page Phrases remembers between two frames. A leaf.

use crate::pages::phrases::view::scatter::Cache;

/// What the page Phrases remembers.
#[derive(Default)]
pub struct PhrasesMemory {
    /// The path as typed.
    pub path: String,
    /// The points of the scatter as they were drawn last.
    pub cache: Cache,
}
