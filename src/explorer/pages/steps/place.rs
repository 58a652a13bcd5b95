//! Where a link leads to on page Steps. A leaf.

use crate::app::state::AppState;

/// The place in a sentence that is shown once its steps are computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepsPlace {
    pub(super) source: String,
    pub(super) class: Vec<u32>,
    pub(super) i: usize,
    pub(super) stage: String,
    pub(super) open: String,
}

impl StepsPlace {
    pub(super) fn is_of(&self, app: &AppState) -> bool {
        self.source == app.document.state.source
    }
}
