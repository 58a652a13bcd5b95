//! Floor 9: round trips: the translation of a column becomes the sentence, which a model of the other direction translates,
//! and the window before comes back.

use std::path::PathBuf;

use crate::app::document::column::Column;
use crate::app::document::turned::TurnedFrom;
use crate::app::open_with::{Installed, LanguagePair};
use crate::app::state::AppState;
use crate::app::view::Selection;
use crate::jobs::live::protocol::ColumnId;
use crate::jobs::queue::candidate::Candidate;
use crate::text::language::primary;

/// Windows kept to return to.
const MOST_KEPT: usize = 50;

/// Whether a model reads and writes languages of these names; regions are ignored.
fn is_between(languages: &(String, String), (from, to): (&str, &str)) -> bool {
    !from.is_empty() && primary(&languages.0) == from && primary(&languages.1) == to
}

impl AppState {
    /// The model that translates what a column shows back into the language of the sentence: the one that it came from, one
    /// that is open, or one that is installed.
    pub fn way_back(&self, id: ColumnId) -> Option<PathBuf> {
        let column = self.document.column(id)?;
        let facts = column.facts.as_ref().filter(|_| shown(column).is_some())?;
        let (from, to) = (primary(&facts.target_language), primary(&facts.source_language));
        let came = self.document.turned.iter().rev().flat_map(|turned| turned.models.iter().cloned());
        let mut models = came.chain(self.document.known());
        let is_back = |model: &Installed| is_between(&model.languages, (&from, &to));
        let installed = || {
            let pairs = LanguagePair::all(&self.bundled);
            Some(pairs.iter().find(|pair| is_between(pair.languages, (&from, &to)))?.best()?.0.folder.clone())
        };
        models.find(is_back).map(|model| model.folder).or_else(installed)
    }

    /// Whether there is a window before to return to.
    pub fn can_return(&self) -> bool {
        !self.document.turned.is_empty()
    }

    /// Makes what a column shows the sentence. The columns that read it stay, and the model of [`AppState::way_back`] is one
    /// of them.
    pub(crate) fn turn(&mut self, id: ColumnId) {
        let (Some(model), Some(column)) = (self.way_back(id), self.document.column(id)) else { return };
        let (Some(text), Some(facts)) = (shown(column).map(str::to_owned), &column.facts) else { return };
        let language = primary(&facts.target_language);
        let reads =
            |column: &&Column| column.facts.as_ref().is_some_and(|facts| primary(&facts.source_language) == language);
        let mut columns: Vec<Candidate> = self.document.originals().filter(reads).map(Column::candidate).collect();
        let wanted = Candidate::Model(model);
        if !columns.contains(&wanted) {
            columns.push(wanted.clone());
        }
        let before = TurnedFrom {
            source: self.document.source().to_owned(),
            columns: self.document.originals().map(Column::candidate).collect(),
            models: self.document.known().collect(),
        };
        self.document.turned.push(before);
        let excess = self.document.turned.len().saturating_sub(MOST_KEPT);
        self.document.turned.drain(..excess);
        self.put_columns(columns);
        let selected = self.document.originals().find(|column| column.candidate() == wanted);
        self.view.selection = Selection { column: selected.map(|column| column.id), target: None };
        self.replace_source(text, None);
    }

    /// Shows the sentence and the columns from before the last [`AppState::turn`].
    pub(crate) fn turn_back(&mut self) {
        let Some(before) = self.document.turned.pop() else { return };
        self.put_columns(before.columns);
        self.replace_source(before.source, None);
    }

    /// These models and ensembles are the columns, from left to right; those that are there already stay.
    pub(crate) fn put_columns(&mut self, wanted: Vec<Candidate>) {
        if self.document.originals().map(Column::candidate).eq(wanted.iter().cloned()) {
            return;
        }
        // the columns of variants follow from the scene
        let mut old: Vec<Column> = std::mem::take(&mut self.document.columns);
        old.retain(|column| column.variant.is_none());
        for candidate in wanted {
            let column = match old.iter().position(|column| column.candidate() == candidate) {
                Some(at) => old.remove(at),
                None => Column::new(self.tasks.fresh_id(), candidate),
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

/// The whole translation that a column shows of its present text.
fn shown(column: &Column) -> Option<&str> {
    let is_whole = !column.stale && !column.decoding && column.variant.is_none();
    let table = column.table.as_deref().filter(|_| is_whole)?;
    Some(table.text.trim()).filter(|text| !text.is_empty())
}
