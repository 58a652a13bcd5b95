//! Random starts of matrices, the same for the same generator on every machine.

use rand::{Rng, RngExt as _};

/// `count` numbers of a Gaussian of mean 0 (Box and Muller 1958).
pub fn gaussian(count: usize, deviation: f64, rng: &mut impl Rng) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(count + 1);
    while numbers.len() < count {
        // 1 - u lies in (0, 1], so its logarithm is finite.
        let radius = deviation * (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
        numbers.extend([radius * cos, radius * sin]);
    }
    numbers.truncate(count);
    numbers
}

/// `count` numbers uniform in [-limit, limit).
pub fn uniform(count: usize, limit: f64, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| (2.0 * rng.random::<f64>() - 1.0) * limit).collect()
}

/// A random orthogonal matrix of n rows (Saxe et al. 2014): a Gaussian one, its rows made
/// orthonormal one after the other (modified Gram-Schmidt).
pub fn orthogonal(n: usize, rng: &mut impl Rng) -> Vec<f64> {
    let mut matrix = gaussian(n * n, 1.0, rng);
    for i in 0..n {
        let (done, rest) = matrix.split_at_mut(i * n);
        let row = &mut rest[..n];
        for other in done.chunks_exact(n) {
            let overlap = dot(row, other);
            row.iter_mut().zip(other).for_each(|(x, y)| *x -= overlap * y);
        }
        let norm = dot(row, row).sqrt();
        for x in row {
            *x /= norm;
        }
    }
    matrix
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn an_orthogonal_matrix_times_its_transpose_is_one() {
        for n in [1, 2, 7, 8, 33] {
            let q = orthogonal(n, &mut ChaCha8Rng::seed_from_u64(n as u64));
            for (i, a) in q.chunks_exact(n).enumerate() {
                for (j, b) in q.chunks_exact(n).enumerate() {
                    let expect = if i == j { 1.0 } else { 0.0 };
                    assert!((dot(a, b) - expect).abs() < 1e-12, "n = {n}, rows {i} and {j}");
                }
            }
        }
    }

    #[test]
    fn a_gaussian_has_its_mean_and_deviation() {
        let x = gaussian(100_001, 0.01, &mut ChaCha8Rng::seed_from_u64(5));
        let mean = x.iter().sum::<f64>() / 100_001.0;
        let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 100_001.0).sqrt();
        assert!(x.len() == 100_001 && mean.abs() < 2e-4 && (deviation - 0.01).abs() < 2e-4, "{mean} {deviation}");
    }
}
