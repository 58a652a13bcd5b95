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
use interlinear::nn::fused::integers::{PackedIntegers, Rounding};
use interlinear::nn::fused::{Packed, level};

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
    BenchColumn::number("16-bit GOP/s", 0),
    BenchColumn::number("8-bit GOP/s", 0),
];

#[derive(Clone, Copy)]
pub struct Rates {
    pub threads: usize,
    pub memory_gb_per_s: f64,
    pub cache_gb_per_s: f64,
    pub f32_gflops: f64,
    pub int16_gops: f64,
    pub int8_gops: f64,
    /// What the last cache holds.
    pub cache_bytes: f64,
}

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let cache = cache_bytes() / f64::from(1 << 20);
    figures.line(&format!("{}, {} cores, last cache {cache:.0} MB; {}", processor(), physical_cores(), features()))?;
    figures.head(COLUMNS)?;
    for threads in setup.threads() {
        let rates = setup.rates(threads)?;
        let values = [rates.memory_gb_per_s, rates.cache_gb_per_s, rates.f32_gflops, rates.int16_gops, rates.int8_gops];
        let values = values.map(Value::from);
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
    pub fn measure(threads: usize, quick: bool) -> Result<Self> {
        let patience = Duration::from_millis(if quick { 10 } else { 150 });
        let (memory, rounds) = if quick { (MEMORY / 64, 1 << 8) } else { (MEMORY, 1 << 18) };
        let numbers = vec![1.0_f32; memory];
        let work = || Arch::new().dispatch(Products(rounds));
        let operations = work() * threads as f64;
        let seconds = best(threads, patience, &|_| timed(|| _ = std::hint::black_box(work())))?;
        Ok(Self {
            threads,
            memory_gb_per_s: read(threads, &numbers, 1, patience)?,
            cache_gb_per_s: read(threads, &numbers[..CACHE.min(memory)], 8, patience)?,
            f32_gflops: operations / seconds / 1e9,
            int16_gops: multiply(threads, patience, &sixteen)?,
            int8_gops: multiply(threads, patience, &eight)?,
            cache_bytes: cache_bytes(),
        })
    }
}

/// Rows, inputs and outputs of a product whose weights stay near the core.
const PRODUCT: [usize; 3] = [12, 512, 512];

fn sixteen() -> Box<dyn FnMut()> {
    let [rows, k, n] = PRODUCT;
    let weights: Vec<f32> = (0..n * k).map(|i| (i % 1009) as f32 / 1009.0 - 0.5).collect();
    let (pack, x, mut c) = (Packed::rounded(&weights, n, k), vec![0.3; rows * k], vec![0.0; rows * n]);
    Box::new(move || pack.apply(rows, &x, k, &mut c, n, false))
}

fn eight() -> Box<dyn FnMut()> {
    let [rows, k, n] = PRODUCT;
    let pack = PackedIntegers::new(&[(&vec![3; n * k], 1.0)], k);
    let (bias, mut c) = (vec![0.0; n], vec![0.0; rows * n]);
    let x = pack.round(1, Rounding::Greatest, &vec![0.3; rows * k], rows, k, &[]);
    Box::new(move || pack.apply(1, &x, &bias, &mut c, n))
}

/// Operations a second of our own kernels, in billions: there is no other way to these instructions here.
fn multiply(threads: usize, patience: Duration, product: &(dyn Fn() -> Box<dyn FnMut()> + Sync)) -> Result<f64> {
    const TIMES: usize = 40;
    let seconds = best(threads, patience, &|_| {
        let mut product = product();
        let started = Instant::now();
        (0..TIMES).for_each(|_| product());
        started.elapsed().as_secs_f64()
    })?;
    Ok((2 * TIMES * threads * PRODUCT.iter().product::<usize>()) as f64 / seconds / 1e9)
}

fn cache_bytes() -> f64 {
    let size = |index: usize| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        let (number, unit) = text.trim().split_at(text.trim().len().checked_sub(1)?);
        Some(number.parse::<f64>().ok()? * if unit == "M" { f64::from(1 << 20) } else { 1024.0 })
    };
    (0..5).filter_map(size).fold(0.0, f64::max)
}

/// What speed depends on, by the names that the system has for it.
fn features() -> String {
    const ASKED: [&str; 9] =
        ["avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8", "amx_bf16"];
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |name: &&str| flags.split(' ').any(|flag| flag == *name);
    let found: Vec<&str> = ASKED.into_iter().filter(has).collect();
    if found.is_empty() { format!("{:?}", level()) } else { found.join(" ") }
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
        let pass = || _ = std::hint::black_box(Arch::new().dispatch(|| sum(std::hint::black_box(part))));
        timed(|| (0..times).for_each(|_| pass()))
    })?;
    Ok(bytes / seconds / 1e9)
}

/// The least time of a pass in which every thread does `work`, which says how long it took.
fn best(threads: usize, patience: Duration, work: &(dyn Fn(usize) -> f64 + Sync)) -> Result<f64> {
    let pool = pool(threads)?;
    let started = Instant::now();
    let mut least = f64::INFINITY;
    while least == f64::INFINITY || started.elapsed() < patience {
        let longest = pool.broadcast(|context| work(context.index())).into_iter().fold(0.0, f64::max);
        least = least.min(longest);
    }
    Ok(least.max(1e-9))
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Internal(format!("no {threads} threads could be started ({error})")))
}
