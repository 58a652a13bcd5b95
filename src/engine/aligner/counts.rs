//! Sums of many small numbers that come out the same in whatever order threads add them: whole multiples of 2^-32.

use std::sync::atomic::{AtomicU64, Ordering};

const UNIT: f64 = 4_294_967_296.0;

pub fn add(sum: &AtomicU64, count: f32) {
    sum.fetch_add((f64::from(count) * UNIT) as u64, Ordering::Relaxed);
}

/// What a sum stands for.
pub fn value(sum: u64) -> f64 {
    sum as f64 / UNIT
}

pub fn zeros(n: usize) -> Vec<AtomicU64> {
    std::iter::repeat_with(AtomicU64::default).take(n).collect()
}
