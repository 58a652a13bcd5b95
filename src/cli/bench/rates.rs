//! Floor 10: how fast the machine reads and multiplies at best. The bounds of the other sections come from here.
//!
//! Every thread sums its own part of one array of `f32` (256 MB from memory, 8 MB from the last cache), and multiplies
//! and adds in registers (`nn/fused/peak.rs`). The best of many passes counts: what disturbs only ever slows down.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::nn::fused::peak;

/// Numbers read from memory: far more than a cache holds.
const MEMORY: usize = 64 << 20;
/// Numbers read from the last cache: more than the caches before it hold.
const CACHE: usize = 2 << 20;

/// What so many threads reach together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Threads.
    pub threads: usize,
    /// Reading from memory, 10^9 bytes a second.
    pub memory_gb_per_s: f64,
    /// Reading from the last cache.
    pub cache_gb_per_s: f64,
    /// Multiplications and additions in `f32`, 10^9 a second.
    pub f32_gflops: f64,
    /// The same of products in bf16; `None` where the processor has none.
    pub bf16_gflops: Option<f64>,
}

impl Rates {
    /// The rate of products of numbers of so many bytes.
    pub fn gflops(&self, bytes: usize) -> f64 {
        self.bf16_gflops.filter(|_| bytes < 4).unwrap_or(self.f32_gflops)
    }

    /// Measures them.
    pub fn measure(threads: usize, quick: bool) -> Result<Self> {
        let patience = Duration::from_millis(if quick { 10 } else { 150 });
        let (memory, rounds) = if quick { (MEMORY / 64, 1 << 8) } else { (MEMORY, 1 << 18) };
        let numbers = vec![1.0_f32; memory];
        let memory_gb_per_s = read(threads, &numbers, 1, patience)?;
        let cache_gb_per_s = read(threads, &numbers[..CACHE.min(memory)], 8, patience)?;
        let f32_gflops = multiply(threads, patience, || peak::multiply_adds(rounds).operations)?;
        let bf16 = peak::multiply_adds_bf16(1).is_some();
        let bf16_gflops = if bf16 {
            Some(multiply(threads, patience, || peak::multiply_adds_bf16(rounds).map_or(0.0, |done| done.operations))?)
        } else {
            None
        };
        Ok(Self { threads, memory_gb_per_s, cache_gb_per_s, f32_gflops, bf16_gflops })
    }
}

/// Gigabytes a second of all threads, each summing its part so many times.
fn read(threads: usize, numbers: &[f32], times: usize, patience: Duration) -> Result<f64> {
    let part = numbers.len().div_ceil(threads.max(1));
    let bytes = (4 * numbers.len() * times) as f64;
    let seconds = best(threads, patience, &|thread| {
        let part = numbers.chunks(part).nth(thread).unwrap_or_default();
        for _ in 0..times {
            std::hint::black_box(peak::sum(std::hint::black_box(part)));
        }
    })?;
    Ok(bytes / seconds / 1e9)
}

fn multiply(threads: usize, patience: Duration, work: impl Fn() -> f64 + Sync) -> Result<f64> {
    let operations = work() * threads as f64;
    let seconds = best(threads, patience, &|_| {
        std::hint::black_box(work());
    })?;
    Ok(operations / seconds / 1e9)
}

/// The least seconds of a pass in which every thread does its work, told its number.
fn best(threads: usize, patience: Duration, work: &(dyn Fn(usize) + Sync)) -> Result<f64> {
    let pool = pool(threads)?;
    let started = Instant::now();
    let mut least = f64::INFINITY;
    while least == f64::INFINITY || started.elapsed() < patience {
        let pass = Instant::now();
        pool.broadcast(|context| work(context.index()));
        least = least.min(pass.elapsed().as_secs_f64());
    }
    Ok(least.max(1e-9))
}

/// A pool of so many threads; the readable engine's products use no others.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Internal(format!("no {threads} threads could be started ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_and_16_bits_take_the_faster_products() {
        let rates = Rates::measure(2, true).expect("threads");
        for rate in [rates.memory_gb_per_s, rates.cache_gb_per_s, rates.f32_gflops, rates.gflops(2)] {
            assert!(rate.is_finite() && rate > 0.0, "{rates:?}");
        }
        let rates = Rates { f32_gflops: 1.0, bf16_gflops: Some(2.0), ..rates };
        assert_eq!((rates.gflops(4), rates.gflops(2)), (1.0, 2.0));
        assert_eq!(Rates { bf16_gflops: None, ..rates }.gflops(2), 1.0);
    }
}
