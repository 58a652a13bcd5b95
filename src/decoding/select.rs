//! Floor 4: the best extensions of a beam without sorting the vocabulary.

use std::cmp::Ordering;

/// Words compared at once before any is looked at alone.
const CHUNK: usize = 64;

/// One word after one hypothesis of the beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extension {
    /// log p of the hypothesis with this word.
    pub total: f64,
    /// Which hypothesis of the beam it extends.
    pub parent: usize,
    /// y_i.
    pub token: u32,
    /// log p(y_i | y_<i, x).
    pub log_p: f32,
}

/// The best `capacity` extensions seen so far, best first.
///
/// Rows must be offered in the order of their parents: of equal totals the lower parent, then
/// the lower word id, stays because it came first.
#[derive(Clone, Debug)]
pub struct Best {
    capacity: usize,
    kept: Vec<Extension>,
}

impl Best {
    /// Keeps `capacity` extensions.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, kept: Vec::new() }
    }

    /// Offers every word of a row of log p but `forbidden` as extension of `parent`.
    ///
    /// Costs one comparison a word; only what passes the worst that is kept is looked at again.
    pub fn offer_row(&mut self, parent: usize, total: f64, log_p: &[f32], forbidden: Option<u32>) {
        let mut floor = self.floor(total);
        for (chunk_index, chunk) in log_p.chunks(CHUNK).enumerate() {
            if !any_above(chunk, floor) {
                continue;
            }
            for (token, &value) in (chunk_index * CHUNK..).zip(chunk) {
                let token = u32::try_from(token).expect("word ids are u32, so no vocabulary is larger");
                if value > floor && forbidden != Some(token) {
                    self.offer(parent, total, token, value);
                    floor = self.floor(total);
                }
            }
        }
    }

    /// Offers one word as extension of `parent`.
    pub fn offer(&mut self, parent: usize, total: f64, token: u32, log_p: f32) {
        let extension = Extension { total: total + f64::from(log_p), parent, token, log_p };
        if extension.total.is_nan() {
            return;
        }
        let at = self.kept.partition_point(|kept| kept.total.total_cmp(&extension.total) != Ordering::Less);
        if at < self.capacity {
            self.kept.truncate(self.capacity - 1);
            self.kept.insert(at, extension);
        }
    }

    /// The kept extensions, best first.
    pub fn into_vec(self) -> Vec<Extension> {
        self.kept
    }

    /// A log p that every word of a row with this total must exceed to have a chance. It errs
    /// downwards by the rounding of `total + log_p`, so it never hides a word that would stay.
    fn floor(&self, total: f64) -> f32 {
        if self.kept.len() < self.capacity {
            return f32::NEG_INFINITY;
        }
        let Some(worst) = self.kept.last() else { return f32::INFINITY };
        let slack = 1e-9 * (1.0 + worst.total.abs());
        ((worst.total - total - slack) as f32).next_down()
    }
}

/// Compares without a branch, which becomes a few vector comparisons.
#[expect(clippy::needless_bitwise_bool, reason = "stopping early would cost the vector comparisons")]
fn any_above(chunk: &[f32], floor: f32) -> bool {
    chunk.iter().fold(false, |any, &value| any | (value > floor))
}

/// The `count` best words of a row with their log p, best first; of equals the lower id.
pub fn top(log_p: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut best = Best::new(count);
    best.offer_row(0, 0.0, log_p, None);
    best.into_vec().iter().map(|extension| (extension.token, extension.log_p)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coarse values, so that equals are frequent, from a tiny generator.
    fn row(seed: u64, length: usize, levels: u64) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            -((state >> 11) as f32 / (1u64 << 53) as f32 * levels as f32).floor() / 4.0
        };
        (0..length).map(|_| next()).collect()
    }

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
                    let mut best = Best::new(capacity);
                    for (parent, values) in rows.iter().enumerate() {
                        best.offer_row(parent, totals[parent], values, forbidden);
                    }
                    let expected: Vec<_> = all.iter().take(capacity).copied().collect();
                    assert_eq!(best.into_vec(), expected, "seed {seed}, length {length}, capacity {capacity}");
                }
            }
        }
    }

    #[test]
    fn top_leaves_out_what_is_no_number() {
        assert_eq!(top(&[f32::NAN, -2.0, -1.0, f32::NAN, -1.0], 2), [(2, -1.0), (4, -1.0)]);
        assert_eq!(top(&[-1.0, -2.0], 5), [(0, -1.0), (1, -2.0)]);
        assert_eq!(top(&[-1.0, -2.0], 0), []);
    }
}
