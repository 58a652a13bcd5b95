//! Floor 9: what the window remembers of the trees of searches. A leaf.

use std::collections::HashSet;
use std::sync::Arc;

use crate::session::SearchTree;

/// What the window remembers of the tree of a column.
pub struct Memory {
    /// Made of the table of this revision.
    pub revision: u64,
    /// The search; `None` while there is none.
    pub tree: Option<Arc<SearchTree>>,
    /// The node that is looked at closely.
    pub selected: Option<usize>,
    /// Nodes whose branches are closed.
    pub collapsed: HashSet<usize>,
    /// Steps that are drawn; `None`: all.
    pub steps: Option<usize>,
    /// What fell out of the beam is drawn too.
    pub pruned: bool,
    /// Size of everything.
    pub scale: f32,
    /// The node that is in view already.
    pub seen: Option<usize>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            revision: 0,
            tree: None,
            selected: None,
            collapsed: HashSet::new(),
            steps: None,
            pruned: false,
            scale: 1.0,
            seen: None,
        }
    }
}
