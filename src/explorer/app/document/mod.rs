//! The sentence, its columns, and what undo goes back to.

pub mod absorb;
pub mod column;
pub mod compare;
pub mod hand;
pub mod history;
pub mod interlinear;
pub mod rewording;
pub mod rows;
pub mod sentence_state;
pub mod source;
pub mod table;
pub mod tree;
pub mod variant;

use std::sync::Arc;

use crate::app::{
    document::column::Column, document::compare::SystemComparison, document::compare::comparable,
    document::history::History, document::sentence_state::SentenceState, document::variant::VariantLabel,
    files::gold::Gold,
};
use crate::jobs::live::protocol::ColumnId;
use engine::analysis::{contrast::pairs::ContrastPair, measures::MEASURES};
use engine::interventions::Interventions;
use engine::lang;

pub const ENSEMBLE: &str =
    id!("This is asked of one model, and the column is an ensemble; ask in a column of one of its members");

/// The sentence with its undo history, and its columns.
#[derive(Default)]
pub struct Document {
    pub columns: Vec<Column>,
    pub state: SentenceState,
    pub(crate) history: History,
    /// Gold links of the sentence that was opened last.
    pub(crate) gold: Option<Arc<Gold>>,
    pub(crate) pair: Option<Arc<ContrastPair>>,
    pub(crate) typed: bool,
    /// The newest sentence of the history came by typing, so that more typing replaces it.
    pub(crate) typed_on: bool,
    /// A page compares something with the aligner's links, also where they are not shown.
    pub(crate) compares_links: bool,
    /// What the last command moved, where a further one may go on with it.
    pub(crate) moved: Option<MovedRow>,
    pub(crate) words_per_second: f32,
}

/// A row of a column, or its temperature, that successive commands move.
pub type MovedRow = (ColumnId, Option<usize>);

impl Document {
    pub fn column(&self, id: ColumnId) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    pub fn languages(&self) -> Option<(String, String)> {
        let facts = self.models().find_map(|column| column.facts.as_ref())?;
        Some((facts.source_language.clone(), facts.target_language.clone()))
    }

    pub fn models(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.system.is_ensemble() && column.variant.is_none())
    }

    pub fn originals(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.variant.is_none())
    }

    pub fn original(&self, variant: &Column) -> Option<&Column> {
        variant.variant?;
        self.columns.iter().find(|column| column.variant.is_none() && column.system.members == variant.system.members)
    }

    pub fn source(&self) -> &str {
        &self.state.source
    }

    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    pub fn decoding(&self) -> usize {
        self.columns.iter().filter(|column| column.decoding).count()
    }

    pub(crate) fn compare_variants(&mut self) {
        for at in 0..self.columns.len() {
            self.columns[at].difference.comparison = self.compared(&self.columns[at]).map(Arc::new);
        }
    }

    fn compared(&self, column: &Column) -> Option<SystemComparison> {
        let original = self.original(column).filter(|original| comparable(original) && comparable(column))?;
        let (before, now) = (original.table.as_deref()?, column.table.as_deref()?);
        if before.is_given == now.is_given { SystemComparison::of(before, now) } else { None }
    }

    pub(crate) fn told(&self, column: &Column, replaces: bool) -> Option<Arc<VariantLabel>> {
        let variant = self.state.variant(column.variant?)?;
        Some(Arc::new(VariantLabel::of(variant, &self.state, replaces)))
    }

    pub(crate) fn place(&self, id: ColumnId) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }

    pub fn interventions(&self, column: &Column) -> Arc<Interventions> {
        self.state.set_of(&column.system.members, column.variant)
    }

    /// Why what a column shows cannot be measured; `None` if it can.
    pub fn why_not_measured(&self, column: &Column, measure: usize) -> Option<String> {
        let is_given = column.table.as_deref().is_some_and(|table| table.is_given);
        let has_alignment = column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
        let line = MEASURES.get(measure)?;
        if column.system.is_ensemble() {
            return Some(lang::text(ENSEMBLE).to_owned());
        }
        if line.aligns && !has_alignment {
            return Some(tr!("This model has no alignment, which \"{}\" is about; choose another measure", line.title));
        }
        let has_heads = column.facts.as_ref().is_some_and(|facts| facts.sizes.heads.0 > 0);
        if line.is_of_heads() && !has_heads {
            return Some(tr!("Only a Transformer has heads; this model has one alignment").to_owned());
        }
        let changed =
            tr!("The tests are of the model's own alpha, and some of it is set by hand here; take that away first");
        let set = self.interventions(column);
        let is_changed = set.changes_alpha() || !set.leave_out.is_empty() && !line.is_of_heads();
        (!is_given && is_changed).then(|| changed.to_owned())
    }
}
