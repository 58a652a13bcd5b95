//! An output layer that computes a sample of the vocabulary (Jean et al. 2015, section 3): the target words of
//! a minibatch, which are always in, and words drawn from the others.
//!
//! The gradient of log p(y) needs the sum of exp(x_k) over all words k (equation 6). It is estimated from the sample, each
//! word weighted by exp(x_k - log Q(k)) (equations 7 and 8), where Q(k) is the probability that k is in the sample: 1
//! for a target, s / (K - T) for each of the s words that are drawn, without repeating one, from the K - T that are no
//! target. So the estimated sum is right on average, and where all words are drawn everything is exact.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// Words that stand for the whole vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledWords {
    pub words: Vec<u32>,
    /// Where each target stands among them.
    pub targets: Vec<u32>,
    /// -log Q of each word.
    pub weights: Vec<f32>,
}

impl SampledWords {
    /// The words of `targets` and `drawn` of the others, or all where there are no more.
    pub fn draw(targets: &[u32], vocabulary: usize, drawn: usize, seed: u64) -> Self {
        let mut is_target = vec![false; vocabulary];
        for &target in targets {
            is_target[target as usize] = true;
        }
        let mut others: Vec<u32> = (0..vocabulary as u32).filter(|&word| !is_target[word as usize]).collect();
        let (count, drawn) = (others.len(), drawn.min(others.len()));
        let weight = (count as f32 / drawn.max(1) as f32).ln().max(0.0);
        let (chosen, _) = others.partial_shuffle(&mut ChaCha8Rng::seed_from_u64(seed), drawn);
        let mut chosen_or_target = is_target.clone();
        for &word in chosen.iter() {
            chosen_or_target[word as usize] = true;
        }
        let words: Vec<u32> = (0..vocabulary as u32).filter(|&word| chosen_or_target[word as usize]).collect();
        let weights = words.iter().map(|&word| if is_target[word as usize] { 0.0 } else { weight }).collect();
        let place = |target: &u32| words.partition_point(|word| word < target) as u32;
        Self { targets: targets.iter().map(place).collect(), weights, words }
    }
}

/// Rows of `table` [K, width] for `words`, [words, width].
pub fn pick(table: &[f32], width: usize, words: &[u32], out: &mut [f32]) {
    for (out, &word) in out.chunks_exact_mut(width.max(1)).zip(words) {
        out.copy_from_slice(&table[word as usize * width..(word as usize + 1) * width]);
    }
}
