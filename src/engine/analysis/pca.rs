//! Principal components (Pearson 1901): the directions in which rows differ most.
//!
//! The covariance is summed up block by block in `f32` products; its first eigenvectors come from subspace
//! iteration with a Rayleigh-Ritz step (Golub and Van Loan, section 8.2), until each answers to the covariance
//! within single precision. Signs are fixed, so the same rows give the same picture. Imports `nn`.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::nn::fused::{Precision, dot};
use crate::{error::Result, ticket::CancellationToken};

const BLOCK: usize = 1024;
/// Directions iterated beside those wanted: the more, the faster the wanted ones settle.
const BESIDE: usize = 16;
/// Products with the covariance in a round: they are cheap beside the rest of it.
const POWER: i32 = 3;
/// Most rounds of the iteration.
const ROUNDS: usize = 150;
/// The first two directions are done when |C v - lambda v| is at most this share of the greatest lambda.
const EXACT: f64 = 2e-6;
/// The others, which only reduce dimensions, when it is at most this.
const NEAR: f64 = 3e-3;
const SEED: u64 = 44;

/// The first principal components of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    pub mean: Vec<f32>,
    /// Directions of length 1, by falling variance; the entry of greatest size is positive. [components][dimension]
    pub axes: Vec<Vec<f32>>,
    pub variances: Vec<f32>,
    /// The variance in all directions together.
    pub total: f32,
}

impl Pca {
    /// Finds the first `components` of `rows` (each `dimension` numbers), or as many as there are dimensions.
    pub fn fit(rows: &[f32], dimension: usize, components: usize, ticket: &CancellationToken) -> Result<Self> {
        let mean = mean(rows, dimension);
        let covariance = covariance(rows, &mean, ticket)?;
        let total: f32 = (0..dimension).map(|d| covariance[d * dimension + d]).sum();
        let (axes, variances) = eigenvectors(&covariance, dimension, components.min(dimension), ticket)?;
        Ok(Self { mean, axes, variances, total })
    }

    /// The coordinates of rows along the components. [rows, components]
    pub fn project(&self, rows: &[f32]) -> Vec<f32> {
        let offsets: Vec<f32> = self.axes.iter().map(|axis| dot(axis, &self.mean)).collect();
        let along = |row| self.axes.iter().zip(&offsets).map(move |(axis, offset)| dot(axis, row) - offset);
        rows.chunks_exact(self.mean.len().max(1)).flat_map(along).collect()
    }

    /// The share of all variance that lies along component `i`, from 0 to 1.
    pub fn explained(&self, i: usize) -> f32 {
        let variance = self.variances.get(i).copied().unwrap_or(0.0);
        if self.total > 0.0 { (variance / self.total).clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn mean(rows: &[f32], dimension: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f64; dimension];
    let mut count = 0_u32;
    for row in rows.chunks_exact(dimension.max(1)) {
        count += 1;
        for (sum, x) in sum.iter_mut().zip(row) {
            *sum += f64::from(*x);
        }
    }
    sum.iter().map(|sum| (sum / f64::from(count.max(1))) as f32).collect()
}

/// 1/N sum over rows of (x - mean)(x - mean)'. [dimension, dimension]
fn covariance(rows: &[f32], mean: &[f32], ticket: &CancellationToken) -> Result<Vec<f32>> {
    let d = mean.len();
    let mut sum = vec![0.0; d * d];
    let count = rows.len() / d.max(1);
    for block in rows.chunks(BLOCK * d.max(1)) {
        ticket.check()?;
        let centred: Vec<f32> =
            block.chunks_exact(d).flat_map(|row| row.iter().zip(mean).map(|(x, m)| x - m)).collect();
        Precision::F32.matmul_tn(d, d, centred.len() / d, &centred, d, &centred, d, &mut sum, true);
    }
    let share = 1.0 / count.max(1) as f32;
    for x in &mut sum {
        *x *= share;
    }
    Ok(sum)
}

fn eigenvectors(
    matrix: &[f32], d: usize, wanted: usize, ticket: &CancellationToken,
) -> Result<(Vec<Vec<f32>>, Vec<f32>)> {
    let width = (wanted + BESIDE).min(d);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    // Columns of V as rows, [width, d], orthonormal.
    let mut v = vec![vec![0.0_f64; d]; width];
    for row in &mut v {
        fresh(row, &mut random);
    }
    orthonormalise(&mut v, 0.0, &mut random);
    let mut lambda = vec![0.0; width];
    for round in 0..ROUNDS {
        ticket.check()?;
        let image = multiplied(matrix, d, &v);
        // Rayleigh-Ritz: the best eigenvectors within the subspace.
        let small: Vec<Vec<f64>> = v.iter().map(|a| image.iter().map(|b| inner(a, b)).collect()).collect();
        let (values, rotation) = jacobi(small);
        lambda.clone_from(&values);
        v = rotated(&v, &rotation);
        let image = rotated(&image, &rotation);
        if round > 0 && settled(&v, &image, &lambda, wanted) {
            break;
        }
        v = image;
        for _ in 1..POWER {
            v = multiplied(matrix, d, &v);
        }
        orthonormalise(&mut v, lambda[0].abs().powi(POWER) * 1e-9, &mut random);
    }
    let axes = v.iter().take(wanted).map(|axis| signed(axis)).collect();
    Ok((axes, lambda.iter().take(wanted).map(|value| value.max(0.0) as f32).collect()))
}

/// C v for each v, through the `f32` kernel.
fn multiplied(matrix: &[f32], d: usize, v: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let narrow: Vec<f32> = v.iter().flat_map(|row| row.iter().map(|x| *x as f32)).collect();
    let mut image = vec![0.0; v.len() * d];
    // C is symmetric, so V C' is V C.
    Precision::F32.matmul_nt(v.len(), d, d, &narrow, matrix, &mut image, false);
    image.chunks_exact(d.max(1)).map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect()
}

fn settled(v: &[Vec<f64>], image: &[Vec<f64>], lambda: &[f64], wanted: usize) -> bool {
    let most = lambda.first().copied().unwrap_or(0.0).abs();
    (0..wanted).all(|i| {
        let rest: f64 = v[i].iter().zip(&image[i]).map(|(v, w)| (w - lambda[i] * v).powi(2)).sum();
        rest.sqrt() <= most * if i < 2 { EXACT } else { NEAR }
    })
}

/// Gram-Schmidt, twice over for its rounding; what has no length left starts anew.
fn orthonormalise(v: &mut [Vec<f64>], least: f64, random: &mut ChaCha8Rng) {
    for i in 0..v.len() {
        let (before, rest) = v.split_at_mut(i);
        let row = &mut rest[0];
        if inner(row, row).sqrt() <= least {
            fresh(row, random);
        }
        for _ in 0..2 {
            for other in before.iter() {
                let along = inner(row, other);
                row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
            let length = inner(row, row).sqrt().max(f64::MIN_POSITIVE);
            for x in row.iter_mut() {
                *x /= length;
            }
        }
    }
}

fn fresh(row: &mut [f64], random: &mut ChaCha8Rng) {
    for x in row {
        *x = random.random::<f64>() - 0.5;
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Row i of the result is the sum over j of rotation[j][i] v_j.
fn rotated(v: &[Vec<f64>], rotation: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sum = |i: usize| {
        let mut row = vec![0.0; v.first().map_or(0, Vec::len)];
        for (v, weights) in v.iter().zip(rotation) {
            row.iter_mut().zip(v).for_each(|(x, v)| *x += weights[i] * v);
        }
        row
    };
    (0..v.len()).map(sum).collect()
}

/// Eigenvalues of a small symmetric matrix, the greatest first, and its eigenvectors as columns (Jacobi 1846).
fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut q: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].powi(2)).sum();
        let all: f64 = a.iter().flatten().map(|x| x.powi(2)).sum();
        if off <= all * 1e-26 {
            break;
        }
        let least = all.sqrt() * 1e-16;
        for p in 0..n {
            for r in p + 1..n {
                rotate(&mut a, &mut q, p, r, least);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[*j][*j].total_cmp(&a[*i][*i]));
    let values = order.iter().map(|&i| a[i][i]).collect();
    (values, q.iter().map(|row| order.iter().map(|&i| row[i]).collect()).collect())
}

fn rotate(a: &mut [Vec<f64>], q: &mut [Vec<f64>], p: usize, r: usize, least: f64) {
    if a[p][r].abs() <= least {
        return;
    }
    let theta = (a[r][r] - a[p][p]) / (2.0 * a[p][r]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut().chain(q.iter_mut()) {
        (row[p], row[r]) = (c * row[p] - s * row[r], s * row[p] + c * row[r]);
    }
    let (above, below) = a.split_at_mut(r);
    for (x, y) in above[p].iter_mut().zip(below[0].iter_mut()) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

fn signed(axis: &[f64]) -> Vec<f32> {
    let greatest = axis.iter().copied().fold(0.0_f64, |most, x| if x.abs() > most.abs() + 1e-9 { x } else { most });
    let sign = if greatest < 0.0 { -1.0 } else { 1.0 };
    axis.iter().map(|x| (x * sign) as f32).collect()
}
