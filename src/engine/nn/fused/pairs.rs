//! Factors of products as pairs of bf16, two consecutive terms of a sum, which processors with AVX-512 BF16 multiply
//! twice as fast as `f32` and add up in `f32`. A bf16 is the upper half of an `f32`, rounded to nearest even: as wide a
//! range and a relative error of 2^-9 at most, so gradients need no scaling.

use std::cell::RefCell;

use half::bf16;

use super::per_level;
use super::width::WIDTH;

#[cfg(target_arch = "x86_64")]
use super::Level;
#[cfg(target_arch = "x86_64")]
use super::level;

/// Two terms of a sum.
pub type Pair = [bf16; 2];

pub const NONE: Pair = [bf16::ZERO; 2];

/// Whether this processor multiplies pairs; others widen them first, which gains nothing.
pub fn multiplied() -> bool {
    #[cfg(target_arch = "x86_64")]
    return level() == Level::Avx512 && is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Rounded to the nearest bf16. Infinities stay, and of the numbers that are none those which arithmetic makes.
#[inline(always)]
pub fn round(x: f32) -> bf16 {
    let bits = x.to_bits();
    bf16::from_bits((bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16) as u16)
}

per_level! {
    /// Neighbours of a row become pairs; the last of an odd number goes with 0. `pairs` has half as many, rounded up.
    pub fn along(row: &[f32], pairs: &mut [Pair]) {
        let (twos, rest) = row.as_chunks::<2>();
        for (pair, two) in pairs.iter_mut().zip(twos) {
            *pair = [round(two[0]), round(two[1])];
        }
        if let ([last], Some(pair)) = (rest, pairs.get_mut(twos.len())) {
            *pair = [round(*last), bf16::ZERO];
        }
    }
}

per_level! {
    /// What lies below each other in two rows becomes pairs.
    pub fn across(first: &[f32], second: &[f32], pairs: &mut [Pair]) {
        for ((pair, a), b) in pairs.iter_mut().zip(first).zip(second) {
            *pair = [round(*a), round(*b)];
        }
    }
}

per_level! {
    /// Neighbours of the lines of x, `stride` apart, become the rows of a panel [k / 2, WIDTH], transposed: pair (i, l)
    /// holds the numbers 2 i and 2 i + 1 of line l. There are as many lines as `lines` says, the rest is 0.
    pub fn upright(x: &[f32], stride: usize, k: usize, lines: usize, panel: &mut [Pair]) {
        /// Rows that are written together: few enough to stay in the first cache.
        const BLOCK: usize = 64;
        let mut row = [[bf16::ZERO; 2]; BLOCK];
        for (block, rows) in panel.as_chunks_mut::<WIDTH>().0.chunks_mut(BLOCK).enumerate() {
            let from = 2 * BLOCK * block;
            for l in 0..WIDTH {
                if l < lines {
                    let x = &x[l * stride + from..(l * stride + k).min(l * stride + from + 2 * BLOCK)];
                    let (twos, rest) = x.as_chunks::<2>();
                    for (pair, two) in row.iter_mut().zip(twos) {
                        *pair = [round(two[0]), round(two[1])];
                    }
                    if let [last] = rest {
                        row[twos.len()] = [round(*last), bf16::ZERO];
                    }
                } else {
                    row.fill([bf16::ZERO; 2]);
                }
                for (panel, pair) in rows.iter_mut().zip(&row) {
                    panel[l] = *pair;
                }
            }
        }
    }
}

/// Two rows of x [k, n], `ldx` apart, become one row of pairs; the last of an odd number goes with 0.
pub fn stacked(x: &[f32], ldx: usize, k: usize, n: usize, out: &mut [Pair]) {
    let zeros = vec![0.0; n];
    for (i, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
        let at = |i: usize| if i < k { &x[i * ldx..i * ldx + n] } else { &zeros };
        across(at(2 * i), at(2 * i + 1), out);
    }
}

/// [`panels`] of B = W' with lines of W [n, k] `ldw` apart.
pub fn panels_transposed(w: &[f32], ldw: usize, k: usize, n: usize, panels: &mut [Pair]) {
    let depth = k.div_ceil(2);
    for (p, panel) in panels.chunks_exact_mut((WIDTH * depth).max(1)).enumerate() {
        upright(&w[p * WIDTH * ldw..], ldw, k, WIDTH.min(n - p * WIDTH), panel);
    }
}

/// Two rows of B after each other become one row of pairs of each panel [k / 2, WIDTH]; columns from n on are 0.
/// `panels` are [n / WIDTH, k / 2, WIDTH].
pub fn panels(b: &[f32], ldb: usize, k: usize, n: usize, panels: &mut [Pair]) {
    let zeros = [0.0; WIDTH];
    let depth = k.div_ceil(2);
    for (p, panel) in panels.chunks_exact_mut(WIDTH * depth.max(1)).enumerate() {
        let first = p * WIDTH;
        let width = WIDTH.min(n - first);
        for (i, row) in panel.chunks_exact_mut(WIDTH).enumerate() {
            let at = |i: usize| if i < k { &b[i * ldb + first..i * ldb + first + width] } else { &zeros[..width] };
            across(at(2 * i), at(2 * i + 1), &mut row[..width]);
            row[width..].fill(NONE);
        }
    }
}

thread_local! {
    /// Memory for factors that are rounded anew for each product: A and B.
    pub(super) static FACTORS: RefCell<[Vec<Pair>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

/// Rounds A [m, k], whose rows are `lda` apart, to pairs along the rows, and calls `work` with them.
pub fn with_lines(m: usize, k: usize, a: &[f32], lda: usize, work: impl FnOnce(&[Pair])) {
    let mut factors = FACTORS.take();
    lines(m, k, a, lda, &mut factors[0]);
    work(&factors[0]);
    FACTORS.set(factors);
}

pub(super) fn lines(m: usize, k: usize, a: &[f32], lda: usize, pairs: &mut Vec<Pair>) {
    let half = k.div_ceil(2);
    pairs.resize(m * half, NONE);
    for (row, pairs) in pairs.chunks_exact_mut(half.max(1)).enumerate() {
        along(&a[row * lda..row * lda + k], pairs);
    }
}
