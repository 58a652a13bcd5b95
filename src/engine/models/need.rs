//! What of log p a step is asked for: beam search needs the best few words of each row, forced decoding one word of
//! each, so that an output layer need not write and normalise a vocabulary for every hypothesis.

use std::cmp::Ordering;

/// One word of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub row: usize,
    pub token: u32,
}

/// What a step is asked for; the parts may be combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need<'a> {
    pub every: bool,
    pub best: usize,
    pub words: &'a [Asked],
}

impl<'a> Need<'a> {
    pub fn all() -> Self {
        Self { every: true, ..Self::default() }
    }

    pub fn words(words: &'a [Asked]) -> Self {
        Self { words, ..Self::default() }
    }
}

/// Words compared at once before any is looked at alone.
const CHUNK: usize = 64;

/// The `count` most probable words with their log p, best first, of equals the lower id; without NaN and -inf.
pub fn top(log_p: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut kept: Vec<(u32, f32)> = Vec::with_capacity(count.min(log_p.len()));
    let mut floor = if count == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
    for (index, chunk) in log_p.chunks(CHUNK).enumerate() {
        if !any_above(chunk, floor) {
            continue;
        }
        for (token, &value) in (index * CHUNK..).zip(chunk) {
            if value > floor {
                let at = kept.partition_point(|kept| kept.1.total_cmp(&value) != Ordering::Less);
                kept.truncate(count - 1);
                kept.insert(at, (token as u32, value));
                if kept.len() == count {
                    floor = kept[count - 1].1;
                }
            }
        }
    }
    kept
}

#[expect(clippy::needless_bitwise_bool, reason = "stopping early would cost the vector comparisons")]
fn any_above(chunk: &[f32], floor: f32) -> bool {
    chunk.iter().fold(false, |any, &value| any | (value > floor))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(seed: u64, length: usize, levels: u64) -> Vec<f32> {
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
    fn top_equals_a_full_sort() {
        for seed in 0..60 {
            for (length, levels) in [(1, 3), (7, 4), (64, 9), (130, 2), (1000, 4000)] {
                let row = row(seed, length, levels);
                let mut all: Vec<(u32, f32)> = (0..).zip(row.iter().copied()).collect();
                all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                for count in [0, 1, 2, 5, 12, 200] {
                    let expected = &all[..count.min(length)];
                    assert_eq!(top(&row, count), expected, "seed {seed}, length {length}, count {count}");
                }
            }
        }
    }

    #[test]
    fn top_leaves_out_what_is_no_number() {
        assert_eq!(top(&[f32::NAN, -2.0, -1.0, f32::NAN, -1.0], 2), [(2, -1.0), (4, -1.0)]);
        assert_eq!(top(&[-1.0, f32::NEG_INFINITY, -2.0], 5), [(0, -1.0), (2, -2.0)]);
        assert_eq!(top(&[-1.0, -2.0], 0), []);
    }
}
