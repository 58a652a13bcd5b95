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

use crate::app::document::compare::{SystemComparison, unpaired};
use crate::app::{
    document::column::Column, document::history::History, document::sentence_state::SentenceState,
    document::table::TargetWord, document::variant::VariantLabel, files::common::common, files::gold::Gold,
};
use crate::jobs::live::protocol::{ColumnId, HypothesisView};
use engine::analysis::{contrast::pairs::ContrastPair, measures::MEASURES};
use engine::interventions::Interventions;
use engine::{lang, text::sentence::EOS};

pub const ENSEMBLE: &str =
    id!("This is asked of one model, and the column is an ensemble; ask in a column of one of its members");

/// The sentence with its undo history, and its columns.
#[derive(Default)]
pub struct Document {
    pub columns: Vec<Column>,
    pub state: SentenceState,
    pub history: History,
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

    pub(crate) fn variant_label(&self, column: &Column, replaces: bool) -> Option<Arc<VariantLabel>> {
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

/// For each column, which target words are not in every output.
/// Compares finished translations into the first column's language with the first, and variants with their original.
pub fn differences(columns: &[Column]) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> = columns.iter().map(|column| vec![false; words(column).len()]).collect();
    for (column, marks) in columns.iter().zip(&mut marks) {
        if let Some(comparison) = &column.difference.comparison {
            marks.clone_from(&comparison.changed_targets);
        }
    }
    let is_first = |column: &Column| column.variant.is_none() && (comparable(column) || column.decoding);
    let Some(at) = columns.iter().position(is_first) else { return marks };
    let first = &columns[at];
    if !comparable(first) {
        return marks;
    }
    let mine = words(first);
    let others = columns.iter().enumerate().skip(at + 1);
    let others =
        others.filter(|(_, other)| other.variant.is_none() && comparable(other) && language(other) == language(first));
    let compared: Vec<(usize, Vec<(usize, usize)>)> =
        others.filter_map(|(n, other)| Some((n, common(&texts(mine), &texts(words(other)))?))).collect();
    let mut shared_by = vec![0; mine.len()];
    compared.iter().flat_map(|(_, pairs)| pairs).for_each(|&(a, _)| shared_by[a] += 1);
    for (n, pairs) in &compared {
        marks[*n].fill(true);
        for &(a, b) in pairs {
            marks[*n][b] = shared_by[a] < compared.len();
        }
    }
    marks[at] = shared_by.iter().map(|shared| *shared < compared.len()).collect();
    marks
}

/// The model's own words, and whether each is missing with interventions; none if too long to compare.
pub fn by_itself(own: &HypothesisView, said: &HypothesisView) -> Vec<(String, bool)> {
    let (own, said) = (said_words(own), said_words(said));
    let differs = common(&said, &own).map_or_else(|| vec![false; own.len()], |pairs| unpaired(own.len(), &pairs));
    own.into_iter().map(str::to_owned).zip(differs).collect()
}

fn said_words(of: &HypothesisView) -> Vec<&str> {
    let words = of.pieces.as_ref().map_or(&of.tokens, |pieces| &pieces.words);
    words.iter().map(String::as_str).filter(|word| *word != EOS).collect()
}

fn texts(words: &[TargetWord]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn words(column: &Column) -> &[TargetWord] {
    column.table.as_ref().map_or(&[], |table| &table.target)
}

pub fn comparable(column: &Column) -> bool {
    column.table.is_some() && !column.decoding && !column.stale
}

fn language(column: &Column) -> Option<&str> {
    column.facts.as_ref().map(|facts| facts.target_language.as_str())
}
