//! Floor 5: what was computed for pieces of words, as what it is for words.
//!
//! The column of a word is the sum of those of its pieces, the weight that the word receives in all; its row is their
//! mean, so that rows keep their sums; its log p is their sum, for p(word) is the product over its pieces. Which
//! pieces make up a word says [`crate::text::tokenizer::Tokenizer::word_ranges`]. Imports nothing.

use std::ops::Range;

use crate::analysis::alignment::Alignment;
use crate::analysis::pooled::pooled;

/// alpha over words; `source` and `target` have the pieces of each word, in order, `</s>` among them where alpha has it.
pub fn merge_alpha(alpha: &Alignment<'_>, source: &[Range<usize>], target: &[Range<usize>]) -> Vec<Vec<f32>> {
    let (x, y) = (places(source), places(target));
    pooled(alpha, (&x, source.len()), (&y, target.len()))
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
        let words = merge_alpha(&Alignment::new(&alpha), &[0..2, 2..3, 3..4], &[0..2, 2..3]);
        let expect = [[0.525, 0.275, 0.2], [0.0, 0.5, 0.5]];
        for (row, expect) in words.iter().zip(expect) {
            assert!(row.iter().zip(expect).all(|(alpha, expect)| (alpha - expect).abs() < 1e-6), "{words:?}");
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        assert_eq!(merge_log_p(&[-1.0, -0.5, -2.0], &[0..2, 2..3]), [-1.5, -2.0]);
    }
}
