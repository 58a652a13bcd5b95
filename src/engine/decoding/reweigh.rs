//! Alpha_i put together anew: in another order, sharper or flatter, without some source words.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// An order of the `t_x` source words for target word i: place j takes the weight of the word named there. Every order
/// is equally probable, and the same seed gives the same one.
pub fn permutation(seed: u64, i: usize, t_x: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(i as u64);
    let mut order: Vec<usize> = (0..t_x).collect();
    order.shuffle(&mut rng);
    order
}

/// ln alpha_ij at a temperature, up to a constant of the row; -infinity where nothing is looked at.
pub fn scores(alpha: &[f32], energies: Option<&[f32]>, local: bool, temperature: f64) -> Vec<f64> {
    let inverse = 1.0 / temperature;
    let energies = energies.filter(|energies| energies.iter().any(|e_ij| !e_ij.is_nan()));
    let score = |(j, alpha): (usize, &f32)| match energies.map(|energies| f64::from(energies[j])) {
        // the energies of several models or heads cannot be compared: their mean alpha is all there is
        None => f64::from(*alpha).ln() * inverse,
        Some(e_ij) if e_ij.is_nan() => f64::NEG_INFINITY,
        // the window and its Gaussian are in alpha alone: softmax(e / T) g = softmax(e) g exp(e / T - e) up to a constant
        Some(e_ij) if local => f64::from(*alpha).ln() + e_ij * (inverse - 1.0),
        Some(e_ij) => e_ij * inverse,
    };
    alpha.iter().enumerate().map(score).collect()
}

/// alpha_i = sum_j alpha_ij softmax(scores), where masked words have no part; all zeros where nothing is left.
pub fn share(scores: &[f64], masked: &[usize], alpha: &mut [f32]) {
    let seen = |j: usize| if masked.contains(&j) { f64::NEG_INFINITY } else { scores[j] };
    let most = (0..scores.len()).map(seen).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = alpha.iter().map(|alpha| f64::from(*alpha)).sum();
    let weight = |j: usize| if most > f64::NEG_INFINITY { (seen(j) - most).exp() } else { 0.0 };
    let sum: f64 = (0..scores.len()).map(weight).sum();
    for (j, alpha) in alpha.iter_mut().enumerate() {
        *alpha = if sum > 0.0 { (total * weight(j) / sum) as f32 } else { 0.0 };
    }
}
