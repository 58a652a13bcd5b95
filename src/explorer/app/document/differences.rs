//! Which words the outputs of the columns do not share, by longest common subsequences.

use crate::app::{
    document::column::Column, document::compare::unpaired, document::table::TargetWord, files::common::common,
};
use crate::jobs::live::protocol::HypothesisView;
use engine::text::sentence::EOS;

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
