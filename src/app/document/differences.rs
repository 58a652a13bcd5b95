//! Floor 9: which words the outputs of the columns do not share, by longest common subsequences.

use crate::app::document::column::Column;
use crate::app::document::table::TargetWord;
use crate::app::files::common::common;
use crate::jobs::live::protocol::HypothesisView;
use crate::text::sentence::EOS;

/// For each column, which target words are not in every output. Only finished translations into the first column's
/// language are compared, each with the first. Columns that failed or show an older text are passed over; one that is
/// still at work is waited for. Variants are compared each with its own original ([`Comparison`](crate::app::document::compare::SystemComparison)).
pub fn differences(columns: &[Column]) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> = columns.iter().map(|column| vec![false; words(column).len()]).collect();
    for (column, marks) in columns.iter().zip(&mut marks) {
        if let Some(comparison) = &column.comparison {
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

/// Which words of `changed` are not in `own`, by a longest common subsequence; none where they are too long to compare.
pub fn changed(own: &[String], changed: &[String]) -> Vec<bool> {
    let (own, other): (Vec<&str>, Vec<&str>) =
        (own.iter().map(String::as_str).collect(), changed.iter().map(String::as_str).collect());
    let Some(pairs) = common(&own, &other) else { return vec![false; other.len()] };
    let mut marks = vec![true; other.len()];
    for (_, b) in pairs {
        marks[b] = false;
    }
    marks
}

/// The words that a model says by itself, and whether each is not said with what is set.
pub fn by_itself(own: &HypothesisView, said: &HypothesisView) -> Vec<(String, bool)> {
    let words = |of: &HypothesisView| -> Vec<String> {
        let words = of.pieces.as_ref().map_or(&of.tokens, |pieces| &pieces.words);
        words.iter().filter(|word| *word != EOS).cloned().collect()
    };
    let (own, said) = (words(own), words(said));
    let differs = changed(&said, &own);
    own.into_iter().zip(differs).collect()
}

fn texts(words: &[TargetWord]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

fn words(column: &Column) -> &[TargetWord] {
    column.table.as_ref().map_or(&[], |table| &table.target)
}

/// Has a finished table of the present text.
pub fn comparable(column: &Column) -> bool {
    column.table.is_some() && !column.decoding && !column.stale
}

fn language(column: &Column) -> Option<&str> {
    column.facts.as_ref().map(|facts| facts.target_language.as_str())
}
