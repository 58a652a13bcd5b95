//! Floor 9: what a menu of offers is about. A leaf.

use egui::{Id, Pos2};

use crate::session::ColumnId;

/// What was clicked, or marked by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clicked {
    /// A source word.
    Source {
        /// As this column reads it.
        column: ColumnId,
        /// Which, from 0.
        j: usize,
    },
    /// A target word, or the row of a heatmap.
    Target {
        /// Of this column.
        column: ColumnId,
        /// Which, from 0.
        i: usize,
    },
    /// A cell of a heatmap.
    Cell {
        /// Of this column.
        column: ColumnId,
        /// Its target word.
        i: usize,
        /// Its source word.
        j: usize,
    },
    /// A hypothesis of the beam.
    Hypothesis {
        /// Of this column.
        column: ColumnId,
        /// Which, from 0, the best.
        n: usize,
    },
    /// A column as a whole, at its head.
    Column {
        /// Which.
        column: ColumnId,
    },
}

impl Clicked {
    /// Where it is.
    pub fn column(self) -> ColumnId {
        match self {
            Self::Source { column, .. }
            | Self::Target { column, .. }
            | Self::Cell { column, .. }
            | Self::Hypothesis { column, .. }
            | Self::Column { column } => column,
        }
    }

    /// The source word that it is or has.
    pub fn source(self) -> Option<usize> {
        match self {
            Self::Source { j, .. } | Self::Cell { j, .. } => Some(j),
            Self::Target { .. } | Self::Hypothesis { .. } | Self::Column { .. } => None,
        }
    }

    /// The target word that it is or has.
    pub fn target(self) -> Option<usize> {
        match self {
            Self::Target { i, .. } | Self::Cell { i, .. } => Some(i),
            Self::Source { .. } | Self::Hypothesis { .. } | Self::Column { .. } => None,
        }
    }
}

/// The open menu.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// What it is about.
    pub clicked: Clicked,
    /// Its corner.
    pub at: Pos2,
    /// What had the keyboard, and gets it back.
    pub focus: Option<Id>,
    /// It is on the screen already.
    pub is_open: bool,
}
