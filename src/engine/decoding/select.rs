//! The best extensions of a beam, from the best words after each of its hypotheses.

use std::cmp::Ordering;

/// One word after one hypothesis of the beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extension {
    pub total: f64,
    pub parent: usize,
    pub token: u32,
    /// log p(y_i | y_<i, x).
    pub log_p: f32,
}

/// The best `capacity` extensions seen so far, best first.
///
/// Rows must be offered in the order of their parents: of equal totals the lower parent, then the lower word id, stays
/// because it came first.
#[derive(Clone, Debug)]
pub struct BestWords {
    capacity: usize,
    kept: Vec<Extension>,
}

impl BestWords {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, kept: Vec::new() }
    }

    /// Offers words, best first, but `forbidden` as extensions of `parent`.
    pub fn offer_row(&mut self, parent: usize, total: f64, words: &[(u32, f32)], forbidden: Option<u32>) {
        for &(token, log_p) in words.iter().filter(|word| forbidden != Some(word.0)) {
            if !self.offer(parent, total, token, log_p) {
                break;
            }
        }
    }

    /// Offers one word as extension of `parent`; tells whether it was kept.
    pub fn offer(&mut self, parent: usize, total: f64, token: u32, log_p: f32) -> bool {
        let extension = Extension { total: total + f64::from(log_p), parent, token, log_p };
        if extension.total.is_nan() {
            return false;
        }
        let at = self.kept.partition_point(|kept| kept.total.total_cmp(&extension.total) != Ordering::Less);
        if at < self.capacity {
            self.kept.truncate(self.capacity - 1);
            self.kept.insert(at, extension);
        }
        at < self.capacity
    }

    /// The kept extensions, best first.
    pub fn into_vec(self) -> Vec<Extension> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{need::tests::row, need::top};

    #[test]
    fn equals_a_full_sort() {
        for seed in 0..60 {
            for (length, levels) in [(1, 3), (7, 4), (64, 9), (130, 2), (1000, 4000)] {
                let rows: Vec<Vec<f32>> = (0..3).map(|r| row(seed * 7 + r, length, levels)).collect();
                let totals = [-0.5, -0.75, -3.25];
                let forbidden = (seed % 2 == 0).then_some(1);
                let mut all = Vec::new();
                for (parent, values) in rows.iter().enumerate() {
                    for (token, &log_p) in (0..).zip(values) {
                        if forbidden != Some(token) {
                            all.push(Extension { total: totals[parent] + f64::from(log_p), parent, token, log_p });
                        }
                    }
                }
                all.sort_by(|a, b| b.total.total_cmp(&a.total).then((a.parent, a.token).cmp(&(b.parent, b.token))));
                for capacity in [0, 1, 2, 5, 12, 200] {
                    let mut best = BestWords::new(capacity);
                    for (parent, values) in rows.iter().enumerate() {
                        let words = top(values, capacity.saturating_add(1));
                        best.offer_row(parent, totals[parent], &words, forbidden);
                    }
                    let expected: Vec<_> = all.iter().take(capacity).copied().collect();
                    assert_eq!(best.into_vec(), expected, "seed {seed}, length {length}, capacity {capacity}");
                }
            }
        }
    }
}
