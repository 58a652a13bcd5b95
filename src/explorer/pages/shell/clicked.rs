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
    /// The column, the source word and the target word.
    fn place(self) -> (ColumnId, Option<usize>, Option<usize>) {
        match self {
            Self::Source { column, j } => (column, Some(j), None),
            Self::Target { column, i } | Self::Bars { column, i } => (column, None, Some(i)),
            Self::Cell { column, i, j } => (column, Some(j), Some(i)),
            Self::Hypothesis { column, .. } | Self::Picture { column } | Self::Column { column } => {
                (column, None, None)
            }
        }
    }

    pub fn column(self) -> ColumnId {
        self.place().0
    }

    pub fn source(self) -> Option<usize> {
        self.place().1
    }

    pub fn target(self) -> Option<usize> {
        self.place().2
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
