//! What was computed for tokens, as what it is for words. Imports `text`.
//!
//! alpha of words is found in two steps, each by one rule: the column of a word is the sum of those of its parts, the
//! weight that the word receives in all; its row is the mean of theirs, so that rows keep their sums. First pieces become
//! the words of a vocabulary, as they are shown ([`merge_alpha`]); then these become the words of the
//! text, which links count ([`pooled`]; [`crate::text::cut`] says what they are). Hard alignments are read off
//! afterwards, so "one source word for each target word" holds of the words of the text. log p of a word is the sum of those of its
//! pieces, for p(word) is the product over them.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::text::words::{SideWords, WordPlaces};

/// alpha over words, a row for each target word, a column for each source word. A part of several words shares its
/// weight among them, and gives its row to each. Words without parts get zeros.
pub fn pooled(alpha: &Alignment, source: &WordPlaces, target: &WordPlaces) -> Alignment {
    let mut rows = vec![vec![0.0; source.words]; target.words];
    let mut parts = vec![0_u32; target.words];
    for (alpha_i, places) in alpha.iter().zip(&target.places) {
        for word in places.clone() {
            parts[word] += 1;
            for (alpha_ij, places) in alpha_i.iter().zip(&source.places) {
                let share = alpha_ij / places.len().max(1) as f32;
                for column in places.clone() {
                    rows[word][column] += share;
                }
            }
        }
    }
    for (row, parts) in rows.iter_mut().zip(parts) {
        for alpha in row {
            *alpha /= parts.max(1) as f32;
        }
    }
    Alignment::from_rows(&rows)
}

/// alpha over the words of the vocabularies; `source` and `target` have the pieces of each word, in order, `</s>` among
/// them where alpha has it.
pub fn merge_alpha(alpha: &Alignment, source: &[Range<usize>], target: &[Range<usize>]) -> Alignment {
    pooled(alpha, &WordPlaces::of_ranges(source), &WordPlaces::of_ranges(target))
}

/// As [`merge_alpha`], the rows left as they are.
pub fn merge_sources(alpha: &Alignment, source: &[Range<usize>]) -> Alignment {
    let rows: Vec<Range<usize>> = (0..alpha.rows()).map(|i| i..i + 1).collect();
    merge_alpha(alpha, source, &rows)
}

/// alpha over the words of the texts, out of that over tokens; `</s>` has no part in it.
pub fn over_words(alpha: &[Vec<f32>], source: &SideWords, target: &SideWords) -> Alignment {
    let words = merge_alpha(&Alignment::from_rows(alpha), &source.words, &target.words);
    pooled(&words, &source.places, &target.places)
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
    fn a_part_of_several_words_shares_its_weight() {
        // Parts a, b1, b2 and x, y1, y2.
        let alpha = Alignment::from_rows(&[[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]);
        let places = |places: [Range<usize>; 3], words| WordPlaces { places: places.to_vec(), words };
        let cut = |words| places([0..1, 1..2, 1..2], words);
        assert_eq!(pooled(&alpha, &cut(2), &cut(2)), Alignment::from_rows(&[[0.5, 0.5], [0.5, 0.5]]));
        let shared = Alignment::from_rows(&[[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0.0, 0.0, 0.0]]);
        assert_eq!(pooled(&alpha, &places([0..2, 2..3, 2..3], 3), &cut(3)), shared);
    }

    /// A word of the text is the mean of the words of the vocabulary in it, not of their pieces: what is kept of an
    /// output, and drawn, are words, and links of it are those of the program that translated.
    #[test]
    fn pieces_are_merged_before_words_over_words() {
        // `hon.` is h, ##on and `.`; `</s>` has no word.
        let alpha = [vec![1.0, 0.0, 0.0], vec![1.0, 0.0, 0.0], vec![0.0, 0.75, 0.25], vec![0.0, 0.0, 1.0]];
        let side = |words: &[Range<usize>], places: &[Range<usize>]| SideWords {
            words: words.to_vec(),
            places: WordPlaces {
                places: places.to_vec(),
                words: places.iter().map(|place| place.end).max().unwrap_or(0),
            },
        };
        let source = side(&[0..1, 1..2, 2..3], &[0..1, 1..2, 2..2]);
        let target = side(&[0..2, 2..3, 3..4], &[0..1, 0..1, 1..1]);
        assert_eq!(over_words(&alpha, &source, &target), Alignment::from_rows(&[[0.5, 0.375]]));
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
