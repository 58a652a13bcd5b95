//! Floor 9: what is marked: the word, the column and the hypothesis.

use crate::app::document::column::Column;
use crate::app::files::lists::moved;
use crate::app::page::Page;
use crate::app::settings::Whose;
use crate::app::state::AppState;
use crate::app::view::Selection;
use crate::jobs::live::protocol::ColumnId;
use crate::pages::sentence::command::SelectCommand;

impl AppState {
    pub(crate) fn apply_to_selection(&mut self, command: &SelectCommand) {
        match *command {
            SelectCommand::Hover(hover) => self.hover = hover.filter(|hover| self.column(hover.column).is_some()),
            SelectCommand::Target { column, i } => {
                if self.column(column).is_some() {
                    self.selection = Selection { column: Some(column), target: Some(i) };
                }
            }
            SelectCommand::MoveTarget(by) => self.move_target(by),
            SelectCommand::ShowGiven(on) => self.show_given(on),
            SelectCommand::Column(column) => {
                if self.column(column).is_some() && self.selection.column != Some(column) {
                    self.selection = Selection { column: Some(column), target: None };
                }
            }
            SelectCommand::MoveColumn(by) => self.move_selected_column(by),
            SelectCommand::Hypothesis { column, hypothesis } => self.show_hypothesis(column, hypothesis),
            SelectCommand::MoveHypothesis(by) => {
                let Some(column) = self.selected_column() else { return };
                if !column.hypotheses.is_empty() {
                    let (id, to) = (column.id, moved(column.hypothesis, by, column.hypotheses.len()));
                    self.show_hypothesis(id, to);
                }
            }
            SelectCommand::Nothing => self.selection = Selection::default(),
        }
    }

    /// To the column beside; on page Steps, where models are taken apart, to the model beside.
    fn move_selected_column(&mut self, by: isize) {
        let Some(selected) = self.selected_column() else { return };
        let is_steps = self.page == Page::Steps;
        let selected = if is_steps { self.original(selected).unwrap_or(selected) } else { selected }.id;
        let goes = |column: &&Column| !is_steps || (column.variant.is_none() && column.ensemble.is_none());
        let ids: Vec<ColumnId> = self.columns.iter().filter(goes).map(|column| column.id).collect();
        if ids.is_empty() {
            return;
        }
        let to = ids.iter().position(|id| *id == selected).map_or(0, |at| moved(at, by, ids.len()));
        self.selection.column = Some(ids[to]);
    }

    fn move_target(&mut self, by: isize) {
        let Some(column) = self.selected_column() else { return };
        let words = column.table.as_ref().map_or(0, |table| table.target.len());
        let target = match (self.selection.target, words) {
            (_, 0) => None,
            (Some(i), _) => Some(moved(i, by, words)),
            (None, _) => Some(if by < 0 { words - 1 } else { 0 }),
        };
        self.selection = Selection { column: Some(column.id), target };
    }

    fn show_hypothesis(&mut self, id: ColumnId, hypothesis: usize) {
        let Some(at) = self.columns.iter().position(|column| column.id == id) else { return };
        if hypothesis >= self.columns[at].hypotheses.len() {
            return;
        }
        self.show_given(false);
        if self.columns[at].hypothesis != hypothesis {
            self.columns[at].hypothesis = hypothesis;
            self.ask_links(at);
        }
        if self.selection.column != Some(id) {
            self.selection.target = None;
        }
        self.selection.column = Some(id);
        self.rebuild(at);
        self.mark_differences();
    }

    fn show_given(&mut self, on: bool) {
        let whose = if on { Whose::Given } else { Whose::Own };
        if self.settings.whose != whose {
            self.settings.whose = whose;
            // the words that were marked are other words now
            (self.selection.target, self.hover) = (None, None);
            self.rebuild_all();
        }
    }

    /// The selected word goes when its column has no such word any more.
    pub(crate) fn forget_missing_target(&mut self) {
        if self.selection.target.is_some() && self.selected_word().is_none() {
            let column = self.selection.column.and_then(|id| self.column(id));
            if !column.is_some_and(|column| column.decoding || column.stale) {
                self.selection.target = None;
            }
        }
    }
}
