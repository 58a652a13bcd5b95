//! Element-wise loops over slices, compiled for each instruction set. `exp` is a degree-6 polynomial on [-ln 2 / 2, ln
//! 2 / 2], relative error below 2e-7; tanh and the logistic are made of it, absolute error below 3e-7.

use super::per_level;
#[cfg(target_arch = "x86_64")]
use super::{Level, level};

/// e^x, clamped to the finite normal range.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to an integer
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + MAGIC;
    let n = rounded - MAGIC;
    let r = x - n * 0.693_359_4;
    let r = r - n * -2.121_944_4e-4;
    let mut p = 1.388_889e-3_f32;
    p = p * r + 8.333_351e-3;
    p = p * r + 4.166_666_5e-2;
    p = p * r + 1.666_666_6e-1;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // n stands in the low bits of `rounded`; a cast of n would saturate, which no instruction does for many lanes
    p * f32::from_bits(rounded.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23)
}

/// The logistic function sigma(x).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

per_level! {
    /// y += a x.
    pub fn axpy(a: f32, x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * *x;
        }
    }
}

per_level! {
    pub fn add(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += *x;
        }
    }
}

per_level! {
    /// out = x + y.
    pub fn sum(x: &[f32], y: &[f32], out: &mut [f32]) {
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            *out = *x + *y;
        }
    }
}

per_level! {
    /// x . y, summed in 32 lanes.
    pub fn dot(x: &[f32], y: &[f32]) -> f32 {
        let mut lanes = [0.0f32; 32];
        let n = x.len().min(y.len());
        let (xc, xr) = x[..n].as_chunks::<32>();
        let (yc, yr) = y[..n].as_chunks::<32>();
        for (a, b) in xc.iter().zip(yc) {
            for l in 0..32 {
                lanes[l] += a[l] * b[l];
            }
        }
        let rest: f32 = xr.iter().zip(yr).map(|(a, b)| a * b).sum();
        lanes.iter().sum::<f32>() + rest
    }
}

/// x . y of numbers as they lie in a file, in `f16` or `f32`, summed in 32 lanes; `None` where the processor does not
/// widen them as it reads.
pub fn dot_stored(bytes: &[u8], half: bool, y: &[f32]) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 {
        let (halves, singles) = (bytes.len() / 2, bytes.len() / 4);
        // SAFETY: the processor has the features, and so many numbers lie there.
        return Some(unsafe {
            if half { dot_wide::<2>(bytes.as_ptr(), halves, y) } else { dot_wide::<4>(bytes.as_ptr(), singles, y) }
        });
    }
    let _ = (bytes, half, y);
    None
}

/// [`dot`], where many short ones are asked for: its lanes are added up by halves, not one after another.
pub fn dot_short(x: &[f32], y: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Avx512 {
        // SAFETY: the processor has the features, and x has so many numbers.
        return unsafe { dot_wide::<4>(x.as_ptr().cast(), x.len(), y) };
    }
    dot(x, y)
}

/// [`dot_stored`] of numbers of SIZE bytes.
///
/// # Safety
/// `count` of them can be read at `bytes`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn dot_wide<const SIZE: usize>(bytes: *const u8, count: usize, y: &[f32]) -> f32 {
    use std::arch::x86_64::{
        _mm256_maskz_loadu_epi16, _mm512_add_ps, _mm512_cvtph_ps, _mm512_fmadd_ps, _mm512_maskz_loadu_ps,
        _mm512_reduce_add_ps, _mm512_setzero_ps,
    };
    let n = count.min(y.len());
    let mut lanes = [_mm512_setzero_ps(); 2];
    for from in (0..n).step_by(32) {
        for (l, sum) in lanes.iter_mut().enumerate() {
            let at = from + 16 * l;
            let mask = ((1u32 << n.saturating_sub(at).min(16)) - 1) as u16;
            let (x, y) = (bytes.wrapping_add(SIZE * at), y.as_ptr().wrapping_add(at));
            // SAFETY: the mask covers what lies below n; an f16 is its 16 bits, and no load asks for alignment.
            let (x, y) = unsafe {
                let x = if SIZE == 2 {
                    _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, x.cast()))
                } else {
                    _mm512_maskz_loadu_ps(mask, x.cast())
                };
                (x, _mm512_maskz_loadu_ps(mask, y))
            };
            *sum = _mm512_fmadd_ps(x, y, *sum);
        }
    }
    _mm512_reduce_add_ps(_mm512_add_ps(lanes[0], lanes[1]))
}

per_level! {
    /// Every row of `y` [rows, b.len()] becomes `b`.
    pub fn fill_rows(b: &[f32], y: &mut [f32]) {
        for row in y.chunks_exact_mut(b.len()) {
            row.copy_from_slice(b);
        }
    }
}

per_level! {
    pub fn tanh_all(x: &mut [f32]) {
        for x in x {
            *x = tanh(*x);
        }
    }
}

per_level! {
    /// Column sums of x [rows, y.len()] are added to y.
    pub fn add_column_sums(x: &[f32], y: &mut [f32]) {
        for row in x.chunks_exact(y.len()) {
            for (y, x) in y.iter_mut().zip(row) {
                *y += *x;
            }
        }
    }
}

per_level! {
    /// Softmax in place, the maximum subtracted first. Returns log sum exp.
    pub fn softmax(x: &mut [f32]) -> f32 {
        let max = max_of(x);
        let mut lanes = [0.0f32; 32];
        let (chunks, rest) = x.as_chunks_mut::<32>();
        for c in chunks.iter_mut() {
            for l in 0..32 {
                c[l] = exp(c[l] - max);
                lanes[l] += c[l];
            }
        }
        let mut sum: f32 = lanes.iter().sum();
        for v in rest.iter_mut() {
            *v = exp(*v - max);
            sum += *v;
        }
        let scale = 1.0 / sum;
        for v in x.iter_mut() {
            *v *= scale;
        }
        max + sum.ln()
    }
}

#[inline(always)]
fn max_of(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 32];
    let (chunks, rest) = x.as_chunks::<32>();
    for c in chunks {
        for l in 0..32 {
            lanes[l] = if c[l] > lanes[l] { c[l] } else { lanes[l] };
        }
    }
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m })
}

per_level! {
    /// log softmax in place.
    pub fn log_softmax(x: &mut [f32]) {
        let max = max_of(x);
        let mut lanes = [0.0f32; 32];
        let (chunks, rest) = x.as_chunks::<32>();
        for c in chunks {
            for l in 0..32 {
                lanes[l] += exp(c[l] - max);
            }
        }
        let sum: f32 = lanes.iter().sum::<f32>() + rest.iter().map(|v| exp(v - max)).sum::<f32>();
        let log_sum = sum.ln();
        for v in x.iter_mut() {
            // the maximum first: it may be large, what is left is not
            *v = (*v - max) - log_sum;
        }
    }
}

per_level! {
    /// y = log(e^x + e^y), element by element: the greater plus log(1 + t) with t = e^-|x - y|, by the series of
    /// 2 artanh(t / (2 + t)), absolute error below 3e-7. The sum of two nothings (-inf) is nothing.
    pub fn log_add_exp(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            let most = if *x > *y { *x } else { *y };
            let t = exp(-(*x - *y).abs());
            let s = t / (2.0 + t);
            let q = s * s;
            let series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)))));
            *y = if most == f32::NEG_INFINITY { most } else { most + 2.0 * s * series };
        }
    }
}

per_level! {
    /// Squared Euclidean norm, in f64.
    pub fn squared_norm(x: &[f32]) -> f64 {
        let mut total = 0.0f64;
        for c in x.chunks(4096) {
            let mut lanes = [0.0f32; 32];
            let (a, rest) = c.as_chunks::<32>();
            for a in a {
                for l in 0..32 {
                    lanes[l] += a[l] * a[l];
                }
            }
            total += f64::from(lanes.iter().sum::<f32>() + rest.iter().map(|v| v * v).sum::<f32>());
        }
        total
    }
}
