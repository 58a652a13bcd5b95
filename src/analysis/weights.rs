//! Floor 5: alpha of one sentence pair as it lies in memory or in a file: row by row, one number after the other.
//! Imports nothing.

/// alpha_ij, borrowed: a row for each target token i, a column for each source token j.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights<'a> {
    weights: &'a [f32],
    columns: usize,
}

impl<'a> Weights<'a> {
    /// The rows of `columns` numbers that `weights` holds; a part of a row at the end is ignored.
    pub fn new(weights: &'a [f32], columns: usize) -> Self {
        let whole = weights.len().checked_div(columns).unwrap_or(0) * columns;
        Self { weights: &weights[..whole], columns }
    }

    /// Target tokens T.
    pub fn row_count(&self) -> usize {
        self.weights.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Source tokens S.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The rows alpha_i, [S] each.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &'a [f32]> + ExactSizeIterator + use<'a> {
        self.weights.chunks_exact(self.columns.max(1))
    }

    /// alpha_ij.
    pub fn get(&self, i: usize, j: usize) -> Option<f32> {
        (j < self.columns).then(|| self.weights.get(i * self.columns + j).copied()).flatten()
    }

    /// sum_t alpha_ts for each source token, [S]: how much of it was looked at.
    pub fn column_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.rows() {
            for (sum, alpha) in sums.iter_mut().zip(row) {
                *sum += f64::from(*alpha);
            }
        }
        sums
    }

    /// sum_s alpha_ts for each target token, [T].
    pub fn row_sums(&self) -> Vec<f64> {
        self.rows().map(|row| row.iter().copied().map(f64::from).sum()).collect()
    }
}
