//! Where a link leads to on page Steps. A leaf.

use crate::app::state::AppState;

/// What is to be shown of a sentence as soon as its steps are there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepsPlace {
    pub(super) source: String,
    /// What the class has said, by id.
    pub(super) class: Vec<u32>,
    pub(super) i: usize,
    /// The stage that was done last; empty: all are done.
    pub(super) stage: String,
    /// The box that is open; empty: none.
    pub(super) open: String,
}

impl StepsPlace {
    /// Whether it is one of the sentence on screen.
    pub(super) fn is_of(&self, app: &AppState) -> bool {
        self.source == app.document.state.source
    }
}
