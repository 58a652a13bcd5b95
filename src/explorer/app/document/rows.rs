//! Rows of alpha as a person sets them, and where a shown word stands among the tokens of its model. Pure.

use std::ops::Range;

use crate::app::{document::column::Column, settings::Settings};
use engine::{analysis::row_convention::RowConvention, decoding::reweigh::permutation, text::sentence::Sentence};

pub fn target_tokens(column: &Column, settings: &Settings, i: usize) -> Option<Range<usize>> {
    let shown = column.shown()?;
    match shown.pieces.as_ref().filter(|_| !settings.pieces) {
        Some(pieces) => pieces.target.get(i).cloned(),
        None => (i < shown.tokens.len()).then_some(i..i + 1),
    }
}

pub fn source_tokens(column: &Column, settings: &Settings, j: usize) -> Option<Range<usize>> {
    let pieces = column.shown().and_then(|shown| shown.pieces.as_ref()).filter(|_| !settings.pieces);
    match pieces {
        Some(pieces) => pieces.source.get(j).cloned(),
        None => (j < column.source.len()).then_some(j..j + 1),
    }
}

/// The target positions whose alpha is shown beside word i; none where it has no row.
pub fn rows_of(column: &Column, settings: &Settings, i: usize) -> Vec<usize> {
    let Some(tokens) = target_tokens(column, settings, i) else { return Vec::new() };
    let rows = column.shown().and_then(|shown| shown.found.alpha.as_ref()).map_or(0, Vec::len);
    let (reading, delay) = settings.reading_of(column.facts.as_ref()).unwrap_or_default();
    // what a head says is no part of a step
    let rows = if reading == RowConvention::Head { 0 } else { rows };
    tokens.filter_map(|token| reading.row_after(delay, token, rows)).collect()
}

/// Those of [`rows_of`] that can be set: the steps behind `</s>` are taken only to be shown.
pub fn settable(column: &Column, settings: &Settings, i: usize) -> Vec<usize> {
    let count = column.shown().map_or(0, |shown| shown.tokens.len());
    rows_of(column, settings, i).into_iter().filter(|row| *row < count).collect()
}

/// The row with this weight on these tokens, shared as it was before. `renormalise`: the others share what is left of 1.
pub fn weighted(row: &[f32], word: &Range<usize>, weight: f32, renormalise: bool) -> Vec<f32> {
    let (mut out, weight) = (row.to_vec(), weight.clamp(0.0, 1.0));
    let (before, rest) = out.split_at_mut(word.start.min(row.len()));
    let (own, behind) = rest.split_at_mut(word.len().min(rest.len()));
    share(own.iter_mut(), weight);
    if renormalise {
        share(before.iter_mut().chain(behind), 1.0 - weight);
        let sum: f32 = out.iter().sum();
        if sum > 0.0 {
            for alpha in &mut out {
                *alpha /= sum;
            }
        }
    }
    out
}

/// Gives these weights another sum, in proportion; alike where all are 0.
fn share<'a>(weights: impl Iterator<Item = &'a mut f32>, total: f32) {
    let mut weights: Vec<&mut f32> = weights.collect();
    let (sum, count) = (weights.iter().map(|alpha| **alpha).sum::<f32>(), weights.len() as f32);
    for alpha in &mut weights {
        **alpha = if sum > 0.0 { **alpha * total / sum } else { total / count };
    }
}

pub fn on_these(t_x: usize, tokens: &[usize]) -> Vec<f32> {
    let share = 1.0 / tokens.len().max(1) as f32;
    (0..t_x).map(|j| if tokens.contains(&j) { share } else { 0.0 }).collect()
}

/// The weights of row i in another order, which this seed decides, as in a file of interventions.
pub fn permuted(row: &[f32], seed: u64, i: usize) -> Vec<f32> {
    permutation(seed, i, row.len()).into_iter().map(|j| row[j]).collect()
}

/// Weights of another model's tokens on the tokens at the same places of the text, in proportion to the overlap.
pub fn carried(from: &Sentence, row: &[f32], to: &Sentence) -> Vec<f32> {
    let mut out = vec![0.0; to.len()];
    for (span, alpha) in from.spans.iter().zip(row) {
        let overlap = |other: &Range<usize>| match (span.is_empty(), other.is_empty()) {
            (true, true) => 1,
            (false, false) => span.end.min(other.end).saturating_sub(span.start.max(other.start)),
            _ => 0,
        };
        let total: usize = to.spans.iter().map(overlap).sum();
        if total > 0 {
            for (out, other) in out.iter_mut().zip(&to.spans) {
                *out += alpha * overlap(other) as f32 / total as f32;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f32], b: &[f32]) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} is not {b:?}");
    }

    #[test]
    fn a_weight_is_set_and_the_others_share_the_rest_in_proportion() {
        let row = [0.5, 0.3, 0.2];
        close(&weighted(&row, &(0..1), 0.75, true), &[0.75, 0.15, 0.1]);
        close(&weighted(&row, &(0..1), 0.75, false), &[0.75, 0.3, 0.2]);
        close(&weighted(&row, &(2..3), 1.0, true), &[0.0, 0.0, 1.0]);
        close(&weighted(&[0.0, 0.0, 1.0], &(2..3), 0.5, true), &[0.25, 0.25, 0.5]);
        // a word of two pieces keeps the proportion between them
        close(&weighted(&[0.1, 0.3, 0.6], &(0..2), 0.8, true), &[0.2, 0.6, 0.2]);
        close(&weighted(&[1.0], &(0..1), 0.25, true), &[1.0]);
        close(&weighted(&row, &(0..1), 7.0, true), &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn another_models_row_goes_by_the_places_in_the_text() {
        let sentence = |spans: &[Range<usize>]| Sentence {
            spans: spans.to_vec(),
            ids: vec![2; spans.len()],
            tokens: vec![String::new(); spans.len()],
            text: "redshoe x".to_owned(),
        };
        let (whole, pieces) = (sentence(&[0..7, 8..9, 9..9]), sentence(&[0..3, 3..7, 8..9, 9..9]));
        close(&carried(&whole, &[0.7, 0.1, 0.2], &pieces), &[0.3, 0.4, 0.1, 0.2]);
        close(&carried(&pieces, &[0.3, 0.4, 0.1, 0.2], &whole), &[0.7, 0.1, 0.2]);
    }

    #[test]
    fn a_seed_decides_the_order() {
        let row: Vec<f32> = (0..9).map(|j| j as f32).collect();
        assert_eq!(permuted(&row, 3, 0), permuted(&row, 3, 0));
        assert_ne!(permuted(&row, 3, 0), permuted(&row, 4, 0));
        let mut sorted = permuted(&row, 3, 0);
        sorted.sort_by(f32::total_cmp);
        assert_eq!(sorted, row);
    }
}
