//! Floor 4: cutting a corpus into batches of sentences of like length.
//!
//! Sentences are sorted only within a window of a few batches, so that a corpus can be
//! streamed; Bahdanau et al. (2015, appendix B) do the same with 20 minibatches.

/// How many batches one sorted window holds.
pub const WINDOW: usize = 20;

/// Batches of indexes into `lengths`, each of at most `batch_size` (0 counts as 1).
///
/// Within a window of [`WINDOW`] batches the shortest come first; every index occurs once.
/// Whoever wants the order of the corpus puts the results back by index.
#[must_use]
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
