//! What the window remembers of the trees of searches. A leaf.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::document::tree::{DrawnTree, SearchTree, ShownTree};
use figure::tree::TreeLayout;

/// What the window remembers of a column's tree.
pub struct TreeMemory {
    pub revision: u64,
    pub tree: Option<Arc<SearchTree>>,
    pub selected: Option<usize>,
    pub collapsed: HashSet<usize>,
    /// Steps that are drawn; `None`: all.
    pub steps: Option<usize>,
    pub follows: bool,
    /// The number of steps for which the selection was last set.
    pub followed: Option<usize>,
    pub pruned: bool,
    pub scale: f32,
    pub seen: Option<usize>,
    pub arranged: Option<Arc<Arranged>>,
    /// Widths of words at this size, points.
    pub widths: HashMap<String, f32>,
}

/// The drawn nodes of a tree with their places.
pub struct Arranged {
    pub of: ShownTree,
    pub size: (f32, f32),
    pub drawn: DrawnTree,
    pub layout: TreeLayout,
}

impl Default for TreeMemory {
    fn default() -> Self {
        Self {
            revision: 0,
            tree: None,
            selected: None,
            collapsed: HashSet::new(),
            steps: None,
            follows: false,
            followed: None,
            pruned: false,
            scale: 1.0,
            seen: None,
            arranged: None,
            widths: HashMap::new(),
        }
    }
}
