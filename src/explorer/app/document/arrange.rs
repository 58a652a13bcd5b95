//! The columns that a lesson or a saved state wants, in its order.

use crate::app::{document::column::Column, state::AppState, view::Selection};
use engine::decoding::SystemSpec;

impl AppState {
    /// Makes these systems the columns, from left to right; columns that are already there stay.
    pub(crate) fn put_columns(&mut self, wanted: Vec<SystemSpec>) {
        if self.document.originals().map(|column| &column.system).eq(&wanted) {
            return;
        }
        // the columns of variants follow from the scene
        let mut old: Vec<Column> = std::mem::take(&mut self.document.columns);
        old.retain(|column| column.variant.is_none());
        for system in wanted {
            let column = match old.iter().position(|column| column.system == system) {
                Some(at) => old.remove(at),
                None => Column::new(self.tasks.fresh_id(), system),
            };
            self.document.columns.push(column);
        }
        let is_there = |id| self.document.columns.iter().any(|column| column.id == id);
        if !self.view.selection.column.is_none_or(is_there) {
            self.view.selection = Selection::default();
        }
        self.view.hover = None;
        self.changed();
        self.mark_differences();
        self.request();
    }
}
