//! Alpha of one sentence pair (Bahdanau et al. 2015, eq. 6), or other numbers laid out as alpha is, from the file
//! or the search to the painted cell. Row i is that of target word i, column j that of source word j, or of tokens where
//! words are not put together yet; rows that belong to other words are brought to theirs by
//! [`RowConvention`](crate::analysis::row_convention::RowConvention) before.

use std::sync::Arc;

use half::f16;
use serde::{Serialize, Serializer};

use crate::text::links::Link;

/// alpha_ij, a row for each target word i, a column for each source word j. A copy costs nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    rows: usize,
    columns: usize,
    weights: Arc<[f32]>,
}

impl Alignment {
    /// A matrix of `columns` columns from its numbers row by row; `None` where they do not fill whole rows.
    pub fn new(weights: Vec<f32>, columns: usize) -> Option<Self> {
        let rows = weights.len().checked_div(columns).unwrap_or(0);
        (rows * columns == weights.len()).then(|| Self { rows, columns, weights: weights.into() })
    }

    /// A matrix from its rows, all as long as the shortest.
    pub fn from_rows<R: AsRef<[f32]>>(rows: &[R]) -> Self {
        let columns = rows.iter().map(|row| row.as_ref().len()).min().unwrap_or(0);
        Self::filled(rows.len(), columns, rows.iter().flat_map(|row| &row.as_ref()[..columns]).copied())
    }

    fn filled(rows: usize, columns: usize, weights: impl Iterator<Item = f32>) -> Self {
        Self { rows, columns, weights: weights.collect() }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// alpha_ij; `None` outside the matrix.
    pub fn get(&self, i: usize, j: usize) -> Option<f32> {
        self.row(i).get(j).copied()
    }

    /// alpha_i, [columns]; empty outside the matrix.
    pub fn row(&self, i: usize) -> &[f32] {
        self.weights.get(i * self.columns..(i + 1) * self.columns).unwrap_or(&[])
    }

    /// The rows alpha_i, [columns] each.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[f32]> + ExactSizeIterator + Clone {
        (0..self.rows).map(|i| self.row(i))
    }

    /// Sum over j of alpha_ij for each row: 1, or at most 1 for local-p and where `</s>` is cut off.
    pub fn row_sums(&self) -> Vec<f64> {
        self.iter().map(|row| row.iter().copied().map(f64::from).sum()).collect()
    }

    /// Sum over i of alpha_ij for each column: how much of a source word was looked at.
    pub fn column_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.iter() {
            for (sum, alpha) in sums.iter_mut().zip(row) {
                *sum += f64::from(*alpha);
            }
        }
        sums
    }

    /// Least and greatest number; `None` where there is none.
    pub fn range(&self) -> Option<(f32, f32)> {
        let mut weights = self.weights.iter().copied().filter(|weight| weight.is_finite());
        let first = weights.next()?;
        Some(weights.fold((first, first), |(low, high), weight| (low.min(weight), high.max(weight))))
    }

    /// The column of the greatest alpha of row `i`; `None` when no alpha is above 0.
    pub fn greatest(&self, i: usize) -> Option<usize> {
        greatest(self.row(i))
    }

    pub fn words(&self, target: usize, source: usize) -> Self {
        self.resized(target.min(self.rows), source.min(self.columns), 0.0)
    }

    /// As many rows and columns as these, with `none` where there was no number.
    pub fn resized(&self, rows: usize, columns: usize, none: f32) -> Self {
        if (rows, columns) == (self.rows, self.columns) {
            return self.clone();
        }
        let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Self::filled(rows, columns, cells.map(|(i, j)| self.get(i, j).unwrap_or(none)))
    }

    /// Only the rows that exist: one without any weight is a place kept for a word that has none, as the last token of
    /// a translation by an alignment head, and no distribution over source words.
    pub fn existing(&self) -> Self {
        let rows: Vec<&[f32]> = self.iter().filter(|row| used(row) > 0).collect();
        if rows.len() == self.rows { self.clone() } else { Self::from_rows(&rows) }
    }

    /// Rows and columns exchanged.
    pub fn turned(&self) -> Self {
        let cells = (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| self.weights[i * self.columns + j]));
        Self::filled(self.columns, self.rows, cells)
    }

    /// Without the last rows and columns that are zeros throughout: what a batch padded, where nothing tells how much.
    pub fn trimmed(&self) -> Self {
        let rows = self.iter().rposition(|row| used(row) > 0).map_or(0, |last| last + 1);
        self.words(rows, self.iter().map(used).max().unwrap_or(0))
    }
}

fn used(row: &[f32]) -> usize {
    row.iter().rposition(|alpha| *alpha != 0.0).map_or(0, |last| last + 1)
}

/// The place of the greatest alpha of a row, the first of equals; `None` when no alpha is above 0. Equal are those that
/// half precision does not tell apart, as a corpus keeps alpha: so a link is the same wherever it is read off.
pub fn greatest(row: &[f32]) -> Option<usize> {
    let better = |best: Option<(usize, f16)>, (j, alpha): (usize, &f32)| {
        let alpha = f16::from_f32(*alpha);
        if alpha > best.map_or(f16::ZERO, |(_, most)| most) { Some((j, alpha)) } else { best }
    };
    row.iter().enumerate().fold(None, better).map(|(j, _)| j)
}

impl Serialize for Alignment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Farther jumps count as so far.
pub const FARTHEST: i32 = 30;

/// The jumps of a sentence, by target words: 1 goes on to the next source word, 0 stays, below 0 it goes back. Target
/// words without a link are passed over; one with several is at the middle of its words (Vogel, Ney, Tillmann 1996).
pub fn jumps(links: &[Link]) -> Vec<i32> {
    let mut links: Vec<(usize, usize)> = links.iter().map(|link| (link.target, link.source)).collect();
    links.sort_unstable();
    let middle = |of: &[(usize, usize)]| {
        let sum: usize = of.iter().map(|(_, source)| source).sum();
        (sum as f64 / of.len() as f64).round() as i32
    };
    let places: Vec<i32> = links.chunk_by(|a, b| a.0 == b.0).map(middle).collect();
    places.windows(2).map(|pair| (pair[1] - pair[0]).clamp(-FARTHEST, FARTHEST)).collect()
}

/// Which jumps a sentence has, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JumpSet(u64);

impl JumpSet {
    pub fn of(jumps: &[i32]) -> Self {
        Self(jumps.iter().fold(0, |set, jump| set | 1 << (jump + FARTHEST)))
    }

    /// Whether one lies within these bounds; those beyond [`FARTHEST`] are taken for it.
    pub fn has(self, low: i32, high: i32) -> bool {
        let (low, high) = (low.clamp(-FARTHEST, FARTHEST), high.clamp(-FARTHEST, FARTHEST));
        (low..=high).any(|jump| self.0 >> (jump + FARTHEST) & 1 == 1)
    }
}
