//! What a menu of offers is about. A leaf.

use egui::{Id, Pos2};

use crate::jobs::live::protocol::ColumnId;

/// What was clicked, or marked by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuTarget {
    Source {
        column: ColumnId,
        j: usize,
    },
    /// A target word, or the row of a heatmap.
    Target {
        column: ColumnId,
        i: usize,
    },
    /// A cell of a heatmap.
    Cell {
        column: ColumnId,
        i: usize,
        j: usize,
    },
    /// A hypothesis of the beam.
    Hypothesis {
        column: ColumnId,
        /// Which, from 0, the best.
        n: usize,
    },
    /// The picture as a whole.
    Picture {
        column: ColumnId,
    },
    /// The bars of a target word in the inspector.
    Bars {
        column: ColumnId,
        i: usize,
    },
    /// A column as a whole, at its head.
    Column {
        column: ColumnId,
    },
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

    /// The source word that it is or has.
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

    /// The target word that it is or has.
    pub fn target(self) -> Option<usize> {
        match self {
            Self::Target { i, .. } | Self::Cell { i, .. } | Self::Bars { i, .. } => Some(i),
            Self::Source { .. } | Self::Hypothesis { .. } | Self::Picture { .. } | Self::Column { .. } => None,
        }
    }
}

/// The open menu.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextMenu {
    /// What it is about.
    pub clicked: MenuTarget,
    pub at: Pos2,
    /// What had the keyboard, and gets it back.
    pub focus: Option<Id>,
    /// It is on the screen already.
    pub is_open: bool,
}
