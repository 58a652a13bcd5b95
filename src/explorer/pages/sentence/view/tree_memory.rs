//! What the window remembers of the trees of searches. A leaf.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::app::document::tree::{DrawnTree, SearchTree, ShownTree};
use figure::tree::TreeLayout;

/// What the window remembers of the tree of a column.
pub struct TreeMemory {
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
    /// The last word of the shown hypothesis is chosen and kept in view as the search grows.
    pub follows: bool,
    /// The steps for which it was chosen last.
    pub followed: Option<usize>,
    /// What fell out of the beam is drawn too.
    pub pruned: bool,
    pub scale: f32,
    /// The node that is in view already.
    pub seen: Option<usize>,
    /// What was drawn last.
    pub arranged: Option<Arc<Arranged>>,
    /// Words by their widths at this size, points.
    pub widths: HashMap<String, f32>,
}

/// What is drawn of a tree, and where.
pub struct Arranged {
    /// What of it was to be drawn.
    pub of: ShownTree,
    /// Size of everything, and of a point on the screen.
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
