//! How fast the machine reads and multiplies at best: the bounds of the other sections come from here.
//!
//! Every thread sums its own part of one array of `f32` (256 MB from memory, 8 MB from the last cache), and multiplies
//! and adds in registers. The best of many passes counts: what disturbs only ever slows down.

use std::time::{Duration, Instant};

use pulp::{Arch, Simd, WithSimd};
use serde_json::{Value, json};

use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::error::{Error, Result};
use interlinear::host::runtime::physical_cores;
use interlinear::nn::fused::{Precision, level};

use crate::Setup;

/// Numbers read from memory: far more than a cache holds.
const MEMORY: usize = 64 << 20;
/// Numbers read from the last cache: more than the caches before it hold.
const CACHE: usize = 2 << 20;
/// Registers that are multiplied, independent of each other: enough to fill the longest pipeline.
const CHAINS: usize = 12;
const LANES: usize = 16;

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::number("threads", 0),
    BenchColumn::number("memory GB/s", 1),
    BenchColumn::number("cache GB/s", 0),
    BenchColumn::number("f32 GFLOP/s", 0),
];

#[derive(Clone, Copy)]
pub struct Rates {
    pub threads: usize,
    memory_gb_per_s: f64,
    cache_gb_per_s: f64,
    pub f32_gflops: f64,
}

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let bf16 = if Precision::Bf16.here() == Precision::Bf16 { ", products in bf16" } else { "" };
    figures.line(&format!("{}, {} cores, {:?}{bf16}", processor(), physical_cores(), level()))?;
    figures.head(COLUMNS)?;
    for threads in setup.threads() {
        let rates = setup.rates(threads)?;
        let values = [rates.memory_gb_per_s, rates.cache_gb_per_s, rates.f32_gflops].map(Value::from);
        figures.row(&[&[json!(threads)], &values[..]].concat())?;
    }
    Ok(())
}

fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    line.map_or_else(|| format!("a processor ({})", std::env::consts::ARCH), |(_, name)| name.trim().to_owned())
}

impl Rates {
    pub fn gflops(&self, bytes: usize) -> f64 {
        if bytes < 4 && Precision::Bf16.here() == Precision::Bf16 { 2.0 * self.f32_gflops } else { self.f32_gflops }
    }

    pub fn reading(&self, bytes: f64) -> f64 {
        bytes / (self.memory_gb_per_s * 1e9)
    }

    pub fn measure(threads: usize, quick: bool) -> Result<Self> {
        let patience = Duration::from_millis(if quick { 10 } else { 150 });
        let (memory, rounds) = if quick { (MEMORY / 64, 1 << 8) } else { (MEMORY, 1 << 18) };
        let numbers = vec![1.0_f32; memory];
        let work = || Arch::new().dispatch(Products(rounds));
        let operations = work() * threads as f64;
        let seconds = best(threads, patience, &|_| {
            std::hint::black_box(work());
        })?;
        Ok(Self {
            threads,
            memory_gb_per_s: read(threads, &numbers, 1, patience)?,
            cache_gb_per_s: read(threads, &numbers[..CACHE.min(memory)], 8, patience)?,
            f32_gflops: operations / seconds / 1e9,
        })
    }
}

struct Products(usize);

impl WithSimd for Products {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (half, one) = (simd.splat_f32s(std::hint::black_box(0.5)), simd.splat_f32s(std::hint::black_box(1.0)));
        let mut x = [simd.splat_f32s(0.0); CHAINS];
        for _ in 0..self.0 {
            for chain in &mut x {
                *chain = simd.mul_add_e_f32s(*chain, half, one);
            }
        }
        for chain in x {
            std::hint::black_box(simd.reduce_sum_f32s(chain));
        }
        (2 * S::F32_LANES * CHAINS * self.0) as f64
    }
}

fn sum(numbers: &[f32]) -> f32 {
    let quarter = numbers.len() / 4 / LANES * LANES;
    let stream = |i: usize| numbers[i * quarter..(i + 1) * quarter].as_chunks::<LANES>().0;
    let mut lanes = [[0.0_f32; LANES]; 4];
    for (((a, b), c), d) in stream(0).iter().zip(stream(1)).zip(stream(2)).zip(stream(3)) {
        for l in 0..LANES {
            lanes[0][l] += a[l];
            lanes[1][l] += b[l];
            lanes[2][l] += c[l];
            lanes[3][l] += d[l];
        }
    }
    lanes.as_flattened().iter().sum::<f32>() + numbers[4 * quarter..].iter().sum::<f32>()
}

fn read(threads: usize, numbers: &[f32], times: usize, patience: Duration) -> Result<f64> {
    let part = numbers.len().div_ceil(threads.max(1));
    let bytes = (4 * numbers.len() * times) as f64;
    let seconds = best(threads, patience, &|thread| {
        let part = numbers.chunks(part).nth(thread).unwrap_or_default();
        for _ in 0..times {
            std::hint::black_box(Arch::new().dispatch(|| sum(std::hint::black_box(part))));
        }
    })?;
    Ok(bytes / seconds / 1e9)
}

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

pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Internal(format!("no {threads} threads could be started ({error})")))
}
