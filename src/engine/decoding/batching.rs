//! Cutting a corpus into batches of sentences of like length.
//!
//! Sentences are sorted only within a window of a few batches, so that a corpus can be
//! streamed; Bahdanau et al. (2015, appendix B) do the same with 20 minibatches.

use crate::error::Result;

/// Takes what is done of a batch: indexes and results.
pub type Take<'a, T> = dyn FnMut(&[usize], Vec<T>) -> Result<()> + 'a;

/// Source words, padding included, that one batch may hold; longer sentences come in smaller batches.
pub(super) const BATCH_WORDS: usize = 8192;
/// Rows (sentences times beam) that one batch may come to: each carries a state and probabilities for a vocabulary.
pub(super) const BATCH_ROWS: usize = 2048;

/// How many batches one sorted window holds.
pub const WINDOW: usize = 20;

/// Batches of indexes into `lengths`, each of at most `batch_size` (0 counts as 1).
///
/// Within a window of [`WINDOW`] batches the shortest come first; every index occurs once. The caller puts results back
/// into the order of the corpus by index.
pub fn batches(lengths: &[usize], batch_size: usize) -> Vec<Vec<usize>> {
    let batch_size = batch_size.max(1);
    let indexes: Vec<usize> = (0..lengths.len()).collect();
    let mut cut = Vec::with_capacity(lengths.len().div_ceil(batch_size));
    for window in indexes.chunks(batch_size.saturating_mul(WINDOW)) {
        let mut window = window.to_vec();
        window.sort_by_key(|&index| lengths[index]);
        cut.extend(window.chunks(batch_size).map(<[usize]>::to_vec));
    }
    cut
}

/// Batches of like length, like [`batches`], cut further where sentences are long or the beam is wide.
pub fn bounded_batches(lengths: &[usize], batch_size: usize, beam: usize) -> Vec<Vec<usize>> {
    let mut bounded = Vec::new();
    for batch in batches(lengths, batch_size) {
        let longest = batch.iter().map(|&index| lengths[index]).max().unwrap_or(1).max(1);
        let most = (BATCH_WORDS / longest).min(BATCH_ROWS / beam.max(1)).max(1);
        bounded.extend(batch.chunks(most).map(<[usize]>::to_vec));
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_come_in_small_batches() {
        let mut seen: Vec<usize> =
            bounded_batches(&[1000; 20], 16, 5).into_iter().inspect(|b| assert!(b.len() <= 8)).flatten().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
        for (beam, most) in [(0, 2048), (1, 2048), (5, 409), (1000, 2), (5000, 1)] {
            let batches = bounded_batches(&vec![1; 3000], 4096, beam);
            assert_eq!(batches.iter().map(Vec::len).max(), Some(most), "beam {beam}");
            assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 3000);
        }
    }
}
