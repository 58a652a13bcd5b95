//! What a menu of offers is about. A leaf.

use egui::{Id, Pos2};

use crate::jobs::live::protocol::ColumnId;

/// What was clicked, or marked by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuTarget {
    Source { column: ColumnId, j: usize },
    Target { column: ColumnId, i: usize },
    Cell { column: ColumnId, i: usize, j: usize },
    Hypothesis { column: ColumnId, n: usize },
    Picture { column: ColumnId },
    Bars { column: ColumnId, i: usize },
    Column { column: ColumnId },
}

impl MenuTarget {
    pub fn column(self) -> ColumnId {
        match self {
            Self::Source { column, .. }
            | Self::Target { column, .. }
            | Self::Cell { column, .. }
            | Self::Hypothesis { column, .. }
            | Self::Picture { column }
            | Self::Column { column }
            | Self::Bars { column, .. } => column,
        }
    }

    pub fn source(self) -> Option<usize> {
        match self {
            Self::Source { j, .. } | Self::Cell { j, .. } => Some(j),
            Self::Target { .. }
            | Self::Hypothesis { .. }
            | Self::Picture { .. }
            | Self::Column { .. }
            | Self::Bars { .. } => None,
        }
    }

    pub fn target(self) -> Option<usize> {
        match self {
            Self::Target { i, .. } | Self::Cell { i, .. } | Self::Bars { i, .. } => Some(i),
            Self::Source { .. } | Self::Hypothesis { .. } | Self::Picture { .. } | Self::Column { .. } => None,
        }
    }
}

/// The open context menu.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextMenu {
    pub clicked: MenuTarget,
    pub at: Pos2,
    /// The widget that had the keyboard and gets it back.
    pub focus: Option<Id>,
    pub is_open: bool,
}
