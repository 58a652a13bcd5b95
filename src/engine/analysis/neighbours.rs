//! Nearest neighbours by cosine (Cho et al. 2014, section 4.4: what lies near each other).
//!
//! Rows are scaled to length 1 once, so that a cosine is one scalar product; a look-up is one pass over all
//! rows and a partial selection. Imports `nn` for the scalar product.

use serde::{Deserialize, Serialize};

use crate::nn::fused::dot;

/// Vectors to be compared, scaled to length 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    dimension: usize,
    /// [rows, dimension]; zeros stay zeros.
    unit: Vec<f32>,
}

/// A row of a [`Space`] and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub index: usize,
    /// From -1 to 1.
    pub cosine: f32,
}

impl Space {
    pub fn new(dimension: usize, mut rows: Vec<f32>) -> Self {
        rows.truncate(rows.len().checked_div(dimension).unwrap_or(0) * dimension);
        for row in rows.chunks_exact_mut(dimension.max(1)) {
            scale(row);
        }
        Self { dimension, unit: rows }
    }

    pub fn len(&self) -> usize {
        self.unit.len() / self.dimension.max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.unit.is_empty()
    }

    pub fn row(&self, index: usize) -> Option<&[f32]> {
        self.unit.get(index * self.dimension..(index + 1) * self.dimension)
    }

    /// The `k` rows nearest to a row, nearest first, itself left out.
    pub fn nearest_to(&self, index: usize, k: usize) -> Vec<Neighbour> {
        self.row(index).map_or_else(Vec::new, |row| self.among(row, k, Some(index)))
    }

    /// The `k` rows nearest to any vector of this dimension, nearest first.
    pub fn nearest(&self, vector: &[f32], k: usize) -> Vec<Neighbour> {
        let mut query = vector.to_vec();
        if query.len() != self.dimension || !scale(&mut query) {
            return Vec::new();
        }
        self.among(&query, k, None)
    }

    fn among(&self, query: &[f32], k: usize, left_out: Option<usize>) -> Vec<Neighbour> {
        if k == 0 || query.iter().all(|x| *x == 0.0) {
            return Vec::new();
        }
        let mut all: Vec<Neighbour> = self
            .unit
            .chunks_exact(self.dimension)
            .enumerate()
            .filter(|(index, row)| Some(*index) != left_out && row.iter().any(|x| *x != 0.0))
            .map(|(index, row)| Neighbour { index, cosine: dot(query, row).clamp(-1.0, 1.0) })
            .collect();
        let order = |a: &Neighbour, b: &Neighbour| b.cosine.total_cmp(&a.cosine).then(a.index.cmp(&b.index));
        if all.len() > k {
            all.select_nth_unstable_by(k - 1, order);
            all.truncate(k);
        }
        all.sort_unstable_by(order);
        all
    }
}

fn scale(row: &mut [f32]) -> bool {
    let length = row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length == 0.0 || !length.is_finite() {
        row.fill(0.0);
        return false;
    }
    for x in row {
        *x = (f64::from(*x) / length) as f32;
    }
    true
}
