//! Floor 1: what the processor can do at best: reading memory and multiplying. The benchmark takes its bounds from here.
//! Imports its own room alone.
//!
//! Each kernel does nothing but one thing, and gives a result that can be checked: [`sum`] reads numbers once; [`multiply_adds`] keeps its numbers in registers and multiplies and adds; [`multiply_adds_bf16`] does so
//! with the pairs of bf16 of AVX-512. How often and on how many threads is the caller's business, as is the clock.

use super::per_level;

#[cfg(target_arch = "x86_64")]
use super::Level;
#[cfg(target_arch = "x86_64")]
use super::level;

/// Numbers of a stream that are added at a time.
const LANES: usize = 16;
/// Numbers of a register that are multiplied, independent of each other: enough to fill the longest pipeline.
const CHAINS: usize = 12;
/// The greatest width of a register in `f32`.
#[cfg(target_arch = "x86_64")]
const WIDTH: usize = 16;

per_level! {
    /// The sum of `numbers`, each read once: four streams, each from its first to its last, for the processor fetches
    /// ahead of every stream apart.
    pub fn sum(numbers: &[f32]) -> f32 {
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
}

/// What a kernel of pure arithmetic did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Multiplications and additions.
    pub operations: f64,
    /// The mean of what came out.
    pub result: f32,
}

/// `rounds` times x := x / 2 + 1 for many x in registers at once, in `f32`; every x comes near 2.
pub fn multiply_adds(rounds: usize) -> Done {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: `level` found the features on this processor.
        Level::Avx512 => return unsafe { multiply_adds_avx512(rounds) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { multiply_adds_avx2(rounds) },
        Level::Base => {}
    }
    multiply_adds_base(rounds)
}

/// As [`multiply_adds`] with products of pairs of bf16 added to `f32`: `rounds` times x := x + 2 / 1024, from 0.
/// `None` where the processor has no such instruction.
pub fn multiply_adds_bf16(rounds: usize) -> Option<Done> {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 && is_x86_feature_detected!("avx512bf16") {
        // SAFETY: both features were found on this processor.
        return Some(unsafe { multiply_adds_avx512bf16(rounds) });
    }
    let _ = rounds;
    None
}

fn done(rounds: usize, operations: usize, results: &[f32]) -> Done {
    let result = results.iter().sum::<f32>() / results.len().max(1) as f32;
    Done { operations: (rounds * operations) as f64, result }
}

/// Whatever the target guarantees.
fn multiply_adds_base(rounds: usize) -> Done {
    let half = std::hint::black_box(0.5_f32);
    let one = std::hint::black_box(1.0_f32);
    let mut x = [[0.0_f32; 4]; CHAINS];
    for _ in 0..rounds {
        for chain in &mut x {
            for lane in chain {
                // Without the instruction, the fused form is a slow call.
                *lane = if cfg!(target_arch = "aarch64") { lane.mul_add(half, one) } else { *lane * half + one };
            }
        }
    }
    done(rounds, 2 * 4 * CHAINS, x.as_flattened())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_adds_avx2(rounds: usize) -> Done {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps};
    let half = _mm256_set1_ps(std::hint::black_box(0.5));
    let one = _mm256_set1_ps(std::hint::black_box(1.0));
    let mut x = [_mm256_setzero_ps(); CHAINS];
    for _ in 0..rounds {
        for chain in &mut x {
            *chain = _mm256_fmadd_ps(*chain, half, one);
        }
    }
    let mut results = [[0.0_f32; WIDTH / 2]; CHAINS];
    for (row, chain) in results.iter_mut().zip(x) {
        // SAFETY: a row holds the 8 numbers of a register.
        unsafe { _mm256_storeu_ps(row.as_mut_ptr(), chain) };
    }
    done(rounds, WIDTH * CHAINS, results.as_flattened())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn multiply_adds_avx512(rounds: usize) -> Done {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps, _mm512_setzero_ps};
    let half = _mm512_set1_ps(std::hint::black_box(0.5));
    let one = _mm512_set1_ps(std::hint::black_box(1.0));
    let mut x = [_mm512_setzero_ps(); CHAINS];
    for _ in 0..rounds {
        for chain in &mut x {
            *chain = _mm512_fmadd_ps(*chain, half, one);
        }
    }
    done(rounds, 2 * WIDTH * CHAINS, stored(&x).as_flattened())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
fn multiply_adds_avx512bf16(rounds: usize) -> Done {
    use std::arch::x86_64::{__m512bh, __m512i, _mm512_dpbf16_ps, _mm512_set1_epi16, _mm512_setzero_ps};
    let pairs = |number: f32| {
        let upper = (std::hint::black_box(number).to_bits() >> 16) as i16;
        // SAFETY: both are 512 bits, and any bits are 32 numbers in bf16.
        unsafe { std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi16(upper)) }
    };
    let (one, small) = (pairs(1.0), pairs(1.0 / 1024.0));
    let mut x = [_mm512_setzero_ps(); CHAINS];
    for _ in 0..rounds {
        for chain in &mut x {
            *chain = _mm512_dpbf16_ps(*chain, one, small);
        }
    }
    done(rounds, 4 * WIDTH * CHAINS, stored(&x).as_flattened())
}

/// The numbers of registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn stored(registers: &[std::arch::x86_64::__m512; CHAINS]) -> [[f32; WIDTH]; CHAINS] {
    let mut rows = [[0.0_f32; WIDTH]; CHAINS];
    for (row, register) in rows.iter_mut().zip(registers) {
        // SAFETY: a row holds the 16 numbers of a register.
        unsafe { std::arch::x86_64::_mm512_storeu_ps(row.as_mut_ptr(), *register) };
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::fused::{Level, at_most};

    #[test]
    fn the_kernels_compute_what_they_say_at_every_level() {
        let numbers: Vec<f32> = (1..=1000).map(|i| i as f32).collect();
        for level in [Level::Base, Level::Avx2, Level::Avx512] {
            at_most(level, || {
                assert_eq!(sum(&numbers), 500_500.0);
                assert_eq!(sum(&[]), 0.0);
                assert_eq!(multiply_adds(0).result, 0.0);
                let two = multiply_adds(2);
                assert_eq!(two.result, 1.5, "0, 1, 1.5");
                // 4, 8 or 16 numbers a register
                assert!([2 * 96, 2 * 192, 2 * 384].map(f64::from).contains(&two.operations), "{two:?}");
                assert!((multiply_adds(60).result - 2.0).abs() < 1e-6);
            });
        }
        if let Some(done) = multiply_adds_bf16(512) {
            assert_eq!(done.result, 1.0);
            assert_eq!(done.operations, 512.0 * 12.0 * 64.0);
        }
    }
}
