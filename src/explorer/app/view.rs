//! What is looked at and how: the page, what is marked, the settings, the status line.

use std::sync::Arc;

use crate::app::{files::drawing::Drawing, layout::Layout, page::Page, settings::Settings};
use crate::jobs::live::protocol::ColumnId;
use engine::models::transformer::heads::HeadKind;
use figure::Figure;
use figure::png::Pixels;

/// The selected word and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub column: Option<ColumnId>,
    /// Which target word i, from 0.
    pub target: Option<usize>,
}

/// Where the mouse is: a word, or a pair of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hover {
    pub column: ColumnId,
    /// Target position, when over a target word or cell.
    pub i: Option<usize>,
    /// Source position, when over a source word or cell.
    pub j: Option<usize>,
}

/// A sentence for the status line, until dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: u64,
    pub text: String,
    pub is_error: bool,
}

/// What is shown and how.
#[derive(Default)]
pub struct ViewState {
    pub page: Page,
    pub selection: Selection,
    pub hover: Option<Hover>,
    pub settings: Settings,
    pub drawing: Drawing,
    pub layout: Layout,
    /// Which heads are shown where all are.
    pub heads: HeadKind,
    pub notices: Vec<Notice>,
    /// A picture of a plot or a map that waits for the name of its file.
    pub(crate) kept_figure: Option<Arc<Figure<'static>>>,
    pub(crate) painted: Option<(u64, Arc<Pixels>)>,
    /// How often another start of the program asked for this window.
    pub calls: u64,
}

impl ViewState {
    /// The picture that was drawn last for the clipboard; its number is another for each.
    pub fn painted(&self) -> Option<(u64, &Pixels)> {
        self.painted.as_ref().map(|(number, pixels)| (*number, &**pixels))
    }
}
