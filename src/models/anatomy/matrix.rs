//! Floor 3: products of stored matrices with vectors, and the functions between them, in plain loops.

use crate::error::{Error, Result};
use crate::models::checkpoint::Weights;

/// Partial sums of a product, so that the compiler can make vectors of them.
const LANES: usize = 16;

/// A stored matrix, [rows, columns].
pub(crate) struct Matrix {
    columns: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// The tensor of that name; one of one dimension is one row.
    pub(crate) fn find(weights: &Weights, name: &str) -> Result<Self> {
        let columns = weights.rows(name)?.width;
        if columns == 0 {
            return Err(Error::Internal(format!("the tensor `{name}` has no columns")));
        }
        Ok(Self { columns, data: weights.numbers(name)? })
    }

    /// Row `r`, such as an embedding.
    pub(crate) fn row(&self, r: usize) -> Vec<f32> {
        self.data[r * self.columns..(r + 1) * self.columns].to_vec()
    }

    /// The row of a word, such as its embedding; zeros where no word has been said.
    pub(crate) fn row_or_zeros(&self, id: Option<u32>) -> Vec<f32> {
        id.map_or_else(|| vec![0.0; self.columns], |id| self.row(id as usize))
    }

    /// How many numbers an argument has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// M x.
    pub(crate) fn times(&self, x: &[f32]) -> Vec<f32> {
        self.data.chunks(self.columns).map(|row| dot(row, x)).collect()
    }

    /// M x for several x.
    pub(crate) fn times_rows(&self, rows: &[Vec<f32>]) -> Vec<Vec<f32>> {
        rows.iter().map(|x| self.times(x)).collect()
    }

    /// The columns `from..to` as a matrix of their own.
    pub(crate) fn cut(&self, from: usize, to: usize) -> Self {
        let data = self.data.chunks(self.columns).flat_map(|row| &row[from..to]).copied().collect();
        Self { columns: to - from, data }
    }
}

/// a' b, as far as both go.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The sum of vectors of one length.
pub(crate) fn sum<const N: usize>(parts: [&[f32]; N]) -> Vec<f32> {
    (0..parts[0].len()).map(|k| parts.iter().map(|part| part[k]).sum()).collect()
}

/// a ∘ b.
pub(crate) fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// f of each number.
pub(crate) fn map(x: &[f32], f: impl Fn(f32) -> f32) -> Vec<f32> {
    x.iter().map(|x| f(*x)).collect()
}

/// tanh of each number.
pub(crate) fn tanh(x: &[f32]) -> Vec<f32> {
    map(x, f32::tanh)
}

/// The logistic function of each number.
pub(crate) fn sigmoid(x: &[f32]) -> Vec<f32> {
    map(x, logistic)
}

/// 1 / (1 + e^-x).
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The softmax of the words at which `looks` holds; 0 elsewhere.
pub(crate) fn softmax(e: &[f32], looks: impl Fn(usize) -> bool) -> Vec<f32> {
    let most = e.iter().enumerate().filter(|(j, _)| looks(*j)).fold(f32::NEG_INFINITY, |most, (_, e)| most.max(*e));
    let raised = |(j, e): (usize, &f32)| if looks(j) { (e - most).exp() } else { 0.0 };
    let weights: Vec<f32> = e.iter().enumerate().map(raised).collect();
    let total: f32 = weights.iter().sum();
    map(&weights, |weight| if total > 0.0 { weight / total } else { 0.0 })
}

/// ln softmax(x).
pub(crate) fn log_softmax(x: &[f32]) -> Vec<f32> {
    let most = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total = x.iter().map(|x| f64::from(x - most).exp()).sum::<f64>().ln() as f32;
    map(x, |x| x - most - total)
}

/// sum_j alpha_ij h_j.
pub(crate) fn mix(alpha: &[f32], h: &[Vec<f32>]) -> Vec<f32> {
    let mut c = vec![0.0; h.first().map_or(0, Vec::len)];
    for (alpha, h) in alpha.iter().zip(h) {
        c.iter_mut().zip(h).for_each(|(c, h)| *c += alpha * h);
    }
    c
}

/// t_k = max(t~_{2k-1}, t~_{2k}).
pub(crate) fn maxout(t: &[f32]) -> Vec<f32> {
    t.chunks(2).map(|pair| pair.iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect()
}
