//! Floor 5: what was computed for pieces of words, as what it is for words.
//!
//! The column of a word is the sum of those of its pieces, the weight that the word receives in all; its row is their
//! mean, so that rows keep their sums; its log p is their sum, for p(word) is the product over its pieces. Which
//! pieces make up a word says [`crate::text::tokenizer::Tokenizer::word_ranges`]. Imports nothing.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::analysis::pooled::pooled;

/// alpha over words; `source` and `target` have the pieces of each word, in order, `</s>` among them where alpha has it.
pub fn merge_alpha(alpha: &Alignment, source: &[Range<usize>], target: &[Range<usize>]) -> Alignment {
    let (x, y) = (places(source), places(target));
    pooled(alpha, (&x, source.len()), (&y, target.len()))
}

/// Energies over words. The energy of a word is log sum exp(e_ij) over its pieces, that of which the softmax makes the
/// sum of their alpha; rows are averaged. NaN where a word has no energy at all.
pub fn merge_energies(energies: &[Vec<f32>], source: &[Range<usize>], target: &[Range<usize>]) -> Vec<Vec<f32>> {
    let row = |word: &Range<usize>| {
        let rows = energies.get(word.clone()).unwrap_or_default();
        let mean = |pieces: &Range<usize>| {
            let known = rows.iter().map(|e_i| log_sum(e_i.get(pieces.clone()).unwrap_or_default()));
            let known: Vec<f32> = known.filter(|e| e.is_finite()).collect();
            if known.is_empty() { f32::NAN } else { known.iter().sum::<f32>() / known.len() as f32 }
        };
        source.iter().map(mean).collect()
    };
    target.iter().map(row).collect()
}

/// log sum exp of those that are numbers; minus infinity where none is.
fn log_sum(energies: &[f32]) -> f32 {
    let known = || energies.iter().copied().filter(|e| e.is_finite());
    let most = known().fold(f32::NEG_INFINITY, f32::max);
    if most.is_finite() { most + known().map(|e| (e - most).exp()).sum::<f32>().ln() } else { most }
}

/// log p of each word, from those of its pieces.
pub fn merge_log_p(log_p: &[f32], target: &[Range<usize>]) -> Vec<f32> {
    target.iter().map(|word| log_p.get(word.clone()).unwrap_or_default().iter().sum()).collect()
}

/// For each piece the word that it belongs to, as a range of one.
fn places(words: &[Range<usize>]) -> Vec<Range<usize>> {
    words.iter().enumerate().flat_map(|(n, word)| word.clone().map(move |_| n..n + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_added_rows_averaged_and_sums_stay_1() {
        let alpha = [vec![0.1, 0.2, 0.3, 0.4], vec![0.5, 0.25, 0.25, 0.0], vec![0.0, 0.0, 0.5, 0.5]];
        let words = merge_alpha(&Alignment::from_rows(&alpha), &[0..2, 2..3, 3..4], &[0..2, 2..3]);
        let expect = [[0.525, 0.275, 0.2], [0.0, 0.5, 0.5]];
        for (row, expect) in words.iter().zip(expect) {
            assert!(row.iter().zip(expect).all(|(alpha, expect)| (alpha - expect).abs() < 1e-6), "{words:?}");
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        assert_eq!(merge_log_p(&[-1.0, -0.5, -2.0], &[0..2, 2..3]), [-1.5, -2.0]);
    }

    #[test]
    fn the_softmax_of_merged_energies_is_the_merged_alpha() {
        let energies = [vec![0.3, -1.0, 2.0, 0.0], vec![1.0, f32::NAN, f32::NAN, 0.5]];
        let softmax = |e_i: &[f32]| -> Vec<f32> {
            let exp: Vec<f32> = e_i.iter().map(|e| if e.is_nan() { 0.0 } else { e.exp() }).collect();
            exp.iter().map(|e| e / exp.iter().sum::<f32>()).collect()
        };
        let (x, y) = ([0..2, 2..3, 3..4], [0..1, 1..2]);
        let alpha: Vec<Vec<f32>> = energies.iter().map(|e_i| softmax(e_i)).collect();
        let merged = merge_energies(&energies, &x, &y);
        for (e_i, alpha_i) in merged.iter().zip(merge_alpha(&Alignment::from_rows(&alpha), &x, &y).iter()) {
            assert!(softmax(e_i).iter().zip(alpha_i).all(|(a, b)| (a - b).abs() < 1e-6), "{merged:?}");
        }
        assert!(merged[1][1].is_nan(), "a word without an energy");
        let rows = merge_energies(&energies, &x, &[0..2, 2..3]);
        assert!((rows[0][2] - 0.25).abs() < 1e-6 && rows[1].iter().all(|e| e.is_nan()), "{rows:?}");
    }
}
