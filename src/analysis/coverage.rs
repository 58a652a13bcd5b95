//! Floor 5: how much of the source a translation has looked at: sum_i alpha_ij for every source word.
//! The penalty that Wu et al. 2016 make of it belongs to the search ([`crate::decoding::rank`]).

use crate::analysis::alignment::Alignment;

/// The attention that each source word receives in all, sum over i of alpha_ij, [columns].
pub fn coverage(alignment: &Alignment<'_>) -> Vec<f32> {
    let mut sums = vec![0.0; alignment.columns()];
    for row in alignment.iter() {
        for (sum, alpha) in sums.iter_mut().zip(row) {
            *sum += alpha;
        }
    }
    sums
}

/// The source words that receive less than `least` in all: perhaps left untranslated.
pub fn uncovered(alignment: &Alignment<'_>, least: f32) -> Vec<usize> {
    let sums = coverage(alignment);
    sums.iter().enumerate().filter(|(_, sum)| **sum < least).map(|(j, _)| j).collect()
}
