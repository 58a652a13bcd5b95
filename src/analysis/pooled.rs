//! Floor 5: the soft alignment of a model's own tokens as one of the words of a file. Imports `text`.
//!
//! Where a word is cut into several tokens, its column is the sum of theirs (the weight that the word receives in
//! all) and its row the mean of theirs, so that rows keep their sums. Hard alignments are read off afterwards, so
//! "one source word for each target word" holds of the words that a gold alignment counts.

use std::ops::Range;

use crate::analysis::alignment::Alignment;

/// alpha over words, a row for each target word, a column for each source word. `source` and `target` say which
/// words each token belongs to, as [`crate::text::links::places::places`] has it; a token of several words
/// shares its weight among them, and gives its row to each. Words without tokens get zeros.
pub fn pooled(
    alpha: &Alignment,
    (source, source_words): (&[Range<usize>], usize),
    (target, target_words): (&[Range<usize>], usize),
) -> Alignment {
    let mut rows = vec![vec![0.0; source_words]; target_words];
    let mut tokens = vec![0_u32; target_words];
    for (alpha_i, places) in alpha.iter().zip(target) {
        for word in places.clone().filter(|word| *word < target_words) {
            tokens[word] += 1;
            for (alpha_ij, places) in alpha_i.iter().zip(source) {
                let share = alpha_ij / places.len().max(1) as f32;
                for column in places.clone().filter(|word| *word < source_words) {
                    rows[word][column] += share;
                }
            }
        }
    }
    for (row, tokens) in rows.iter_mut().zip(tokens) {
        for alpha in row {
            *alpha /= tokens.max(1) as f32;
        }
    }
    Alignment::from_rows(&rows)
}
