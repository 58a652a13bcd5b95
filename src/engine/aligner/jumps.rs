//! How far the next word of a sentence lies from the last one in the other sentence: the transitions of the hidden
//! Markov model (Vogel, Ney, Tillmann 1996), one distribution for each word that is jumped from (He 2007).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::aligner::counts::{add, value, zeros};

/// Longest jump that is counted by itself, in words.
pub const REACH: usize = 7;
/// Jumps by -REACH to REACH words.
pub const NEAR: usize = 2 * REACH + 1;
/// And one cell for all farther ones.
pub const CELLS: usize = NEAR + 1;
/// Where jumps to any place are counted: each place is as likely.
pub const FAR: usize = NEAR;

/// p(jump | word jumped from).
pub type Row = [f32; CELLS];

/// A row for each word, and one for the beginning of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jumps {
    pub common: Row,
    pub words: Vec<Row>,
    /// From the place before the first word.
    pub start: Row,
}

impl Jumps {
    /// Before anything is known: short jumps forward are likely.
    pub fn new(words: usize) -> Self {
        let mut common = [0.0; CELLS];
        for (cell, p) in common.iter_mut().enumerate().take(NEAR) {
            let jump = cell as f32 - REACH as f32;
            *p = (-0.6 * (jump - 1.0).abs()).exp();
        }
        common[FAR] = 0.2;
        normalize(&mut common);
        Self { common, words: vec![common; words], start: common }
    }

    /// The row of a word; that of all words for one that is not known.
    pub fn row(&self, word: Option<u32>) -> &Row {
        word.and_then(|word| self.words.get(word as usize)).unwrap_or(&self.common)
    }
}

/// Expected jumps.
#[derive(Debug)]
pub struct JumpCounts {
    words: Vec<AtomicU64>,
    start: Vec<AtomicU64>,
}

impl JumpCounts {
    pub fn new(words: usize) -> Self {
        Self { words: zeros(words * CELLS), start: zeros(CELLS) }
    }

    /// Counts a jump from a word, or from the beginning.
    pub fn add(&self, word: Option<u32>, cell: usize, count: f32) {
        match word {
            Some(word) => add(&self.words[word as usize * CELLS + cell], count),
            None => add(&self.start[cell], count),
        }
    }

    /// The distributions, and forgets the counts. That of a word leans on the common one, as if that had been seen
    /// `weight` times; 0 gives all words the common one.
    pub fn estimate(&self, weight: f32, smoothing: f32) -> Jumps {
        let take = |cells: &[AtomicU64]| -> [f64; CELLS] {
            let mut row = [0.0; CELLS];
            for (sum, cell) in row.iter_mut().zip(cells) {
                *sum = value(cell.swap(0, Ordering::Relaxed));
            }
            row
        };
        let rows: Vec<[f64; CELLS]> = self.words.chunks_exact(CELLS).map(take).collect();
        let mut sum = [0.0; CELLS];
        for row in &rows {
            for (sum, cell) in sum.iter_mut().zip(row) {
                *sum += cell;
            }
        }
        let estimate = |counted: &[f64; CELLS], prior: &Row, weight: f32| {
            let total: f64 = counted.iter().sum::<f64>() + f64::from(weight);
            let mut row = *prior;
            if total > 0.0 {
                for (p, count) in row.iter_mut().zip(counted) {
                    *p = ((count + f64::from(weight * *p)) / total) as f32;
                }
            }
            row
        };
        let even = [1.0 / CELLS as f32; CELLS];
        let common = estimate(&sum, &even, smoothing);
        let start = estimate(&take(&self.start), &common, smoothing);
        let of_word = |row: &[f64; CELLS]| if weight > 0.0 { estimate(row, &common, weight) } else { common };
        Jumps { words: rows.iter().map(of_word).collect(), common, start }
    }
}

fn normalize(row: &mut Row) {
    let total: f32 = row.iter().sum();
    for p in row {
        *p /= total;
    }
}
