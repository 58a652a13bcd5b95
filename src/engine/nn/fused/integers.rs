//! Products in 8-bit integers, for models that come in them: W is multiplied as it came, x is rounded as the
//! model's own toolkit rounds it, and the sums are exact, so that they are the same with all instructions.
//!
//! Rows of x become q = round(a x), from -127 to 127, and W x = (sum w q) / (a b) where b is what W was multiplied by.
//! W lies in panels of [`WIDTH`] rows, four inputs side by side, as w + 128: one instruction of AVX-512 VNNI multiplies
//! unsigned with signed numbers, and sum (w + 128) q - 128 sum q is the sum that is wanted.

use super::pages::PagedNumbers;
use super::tile::{Finish, Out};
#[cfg(target_arch = "x86_64")]
use super::{Level, has_vnni, level};
use super::{per_level, team};

/// Rows of W in a panel.
pub(super) const WIDTH: usize = 32;
/// Most rows of x that one pass over a panel serves.
pub(super) const ROWS: usize = 6;
/// Inputs side by side.
pub(super) const FOUR: usize = 4;
const MOST: f32 = 127.0;
/// What is added to weights.
pub(super) const UP: i32 = 128;
/// Multiplications that one more thread is worth.
const WORTHWHILE: usize = 1 << 20;
/// Numbers that one thread rounds.
const FEW: usize = 1 << 15;
/// Pieces that each thread's share of a product is cut into.
const CUTS: usize = 4;

/// What rows are multiplied by before they are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounding {
    /// By a number that the model names.
    Fixed(f32),
    /// So that the greatest number among rows that belong together becomes 127.
    Greatest,
}

impl Rounding {
    fn multiplier(self, x: impl Iterator<Item = f32>) -> f32 {
        match self {
            Self::Fixed(a) => a,
            Self::Greatest => {
                let most = x.fold(0.0f32, f32::max);
                if most > 0.0 { MOST / most } else { 0.0 }
            }
        }
    }

    /// Rounds each row of `x` [rows, width] and widens it again.
    pub fn round_trip(self, x: &mut [f32], width: usize) {
        for row in x.chunks_exact_mut(width.max(1)) {
            let a = self.multiplier(std::iter::once(greatest(row)));
            let unit = if a > 0.0 { 1.0 / a } else { 0.0 };
            for x in row {
                *x = rounded(*x, a) * unit;
            }
        }
    }
}

/// round(a x), halves to even numbers, from -127 to 127; 0 for what is no number.
#[inline(always)]
fn rounded(x: f32, a: f32) -> f32 {
    /// Adding and taking it away leaves the nearest whole number.
    const MAGIC: f32 = 12_582_912.0;
    let x = x * a;
    let x = if x > -MOST { x } else { -MOST };
    let x = if x < MOST { x } else { MOST };
    (x + MAGIC) - MAGIC
}

/// Rows of x, rounded.
#[derive(Clone, Debug, Default)]
pub struct RoundedRows {
    rows: usize,
    /// [rows, k rounded up to fours]
    q: Vec<i8>,
    /// 128 sum q of each row.
    sums: Vec<i32>,
    /// 1 / a of each row.
    units: Vec<f32>,
}

per_level! {
    pub fn greatest(x: &[f32]) -> f32 {
        let mut most = [0.0f32; 16];
        for x in x.chunks(16) {
            for (most, x) in most.iter_mut().zip(x) {
                *most = if x.abs() > *most { x.abs() } else { *most };
            }
        }
        most.iter().fold(0.0f32, |all, most| all.max(*most))
    }
}

per_level! {
    /// q = round(a x) of one row, 0 behind it; returns 128 sum q.
    pub fn round_row(x: &[f32], a: f32, q: &mut [i8]) -> i32 {
        let mut sum = 0;
        for (x, q) in x.iter().zip(q.iter_mut()) {
            let n = rounded(*x, a) as i32;
            *q = n as i8;
            sum += n;
        }
        q[x.len()..].fill(0);
        UP * sum
    }
}

/// W [n, k] of 8-bit integers, packed.
#[derive(Clone, Debug, Default)]
pub struct PackedIntegers {
    n: usize,
    k: usize,
    /// Panels of [k / 4 rounded up, WIDTH, 4].
    panels: PagedNumbers<u8>,
    /// b of each row of W, and 1 / b, with zeros behind it to whole panels.
    multipliers: Vec<f32>,
    units: Vec<f32>,
}

/// Writes a row of W into a panel, from the first number of the row on.
pub(super) fn write_row(panel: &mut [u8], row: &[i8]) {
    for (to, from) in panel.chunks_mut(WIDTH * FOUR).zip(row.chunks(FOUR)) {
        to.iter_mut().zip(from).for_each(|(to, q)| *to = (i32::from(*q) + UP) as u8);
    }
}

impl PackedIntegers {
    /// Packs matrices of `k` columns below each other, each with its b.
    ///
    /// # Panics
    /// When one has other than whole rows.
    pub fn new(parts: &[(&[i8], f32)], k: usize) -> Self {
        let n = parts.iter().map(|(q, _)| q.len() / k.max(1)).sum::<usize>();
        assert!(parts.iter().all(|(q, _)| q.len().is_multiple_of(k.max(1))), "whole rows");
        let (padded, fours) = (n.next_multiple_of(WIDTH), k.div_ceil(FOUR));
        let mut panels = PagedNumbers::filled(padded * fours * FOUR, UP as u8);
        let (mut multipliers, mut units) = (Vec::with_capacity(n), Vec::with_capacity(padded));
        for (q, b) in parts {
            for row in q.chunks_exact(k.max(1)) {
                let v = units.len();
                let panel = &mut panels[v / WIDTH * WIDTH * fours * FOUR..][v % WIDTH * FOUR..];
                write_row(panel, row);
                multipliers.push(*b);
                units.push(1.0 / b);
            }
        }
        units.resize(padded, 0.0);
        Self { n, k, panels, multipliers, units }
    }

    pub fn columns(&self) -> usize {
        self.n
    }

    pub fn multiplier(&self, v: usize) -> f32 {
        self.multipliers[v]
    }

    pub fn row(&self, v: usize) -> impl Iterator<Item = i8> {
        let panel = &self.panels[v / WIDTH * WIDTH * self.k.next_multiple_of(FOUR)..][v % WIDTH * FOUR..];
        let fours = panel.chunks(WIDTH * FOUR).take(self.k.div_ceil(FOUR)).flat_map(|four| &four[..FOUR]);
        fours.take(self.k).map(|q| (i32::from(*q) - UP) as i8)
    }

    pub fn append_row(&self, v: usize, all: &mut Vec<f32>) {
        let b = self.multipliers[v];
        all.extend(self.row(v).map(|q| f32::from(q) / b));
    }

    /// Rounds rows of x that lie `stride` apart; `together` counts rows that share a multiplier, the rest stand alone.
    ///
    /// # Panics
    /// When x is too short.
    pub fn round(
        &self, threads: usize, rounding: Rounding, x: &[f32], rows: usize, stride: usize, together: &[usize],
    ) -> RoundedRows {
        let (k, wide) = (self.k, self.k.next_multiple_of(FOUR));
        let mut rounded = RoundedRows { rows, q: vec![0; rows * wide], sums: vec![0; rows], units: vec![0.0; rows] };
        let RoundedRows { q, sums, units, .. } = &mut rounded;
        let mut parts: Vec<_> = q.chunks_mut(wide.max(1)).zip(sums).zip(units).enumerate().collect();
        let mut groups = Vec::new();
        let mut sizes = together.iter().copied();
        while !parts.is_empty() {
            let size = sizes.next().unwrap_or(1).clamp(1, parts.len());
            let others = parts.split_off(size);
            groups.push(std::mem::replace(&mut parts, others));
        }
        let threads = if rows * k > FEW { threads } else { 1 };
        team::each(threads, &mut groups, &|_, group| {
            let row = |r: usize| &x[r * stride..r * stride + k];
            let a = rounding.multiplier(group.iter().map(|(r, _)| greatest(row(*r))));
            for (r, ((q, sum), unit)) in group {
                **sum = round_row(row(*r), a, q);
                **unit = if a > 0.0 { 1.0 / a } else { 0.0 };
            }
        });
        rounded
    }

    /// C [rows, n] = x W' + b on up to `threads` threads; the rows of C lie `ldc` apart.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn apply(&self, threads: usize, x: &RoundedRows, bias: &[f32], c: &mut [f32], ldc: usize) {
        let (rows, wide) = (x.rows, self.k.next_multiple_of(FOUR));
        if rows == 0 || self.n == 0 {
            return;
        }
        assert!(x.q.len() == rows * wide && x.units.len() == rows && x.sums.len() == rows, "rows of this width");
        assert!(bias.len() == self.n && ldc >= self.n && c.len() >= (rows - 1) * ldc + self.n, "C [rows, n], b [n]");
        let out = Out { c: c.as_mut_ptr(), ldc, finish: Finish::Write };
        let count = self.n.div_ceil(WIDTH);
        let threads = threads.min(count).min(rows * self.n * self.k / WORTHWHILE + 1);
        let cuts = if threads > 1 { (threads * CUTS).min(count) } else { 1 };
        team::run(threads, cuts, &|cut| {
            // the whole of it is borrowed: a pointer alone may not cross threads
            let out = &out;
            let mut sums = [[0i32; WIDTH]; ROWS];
            for p in count * cut / cuts..count * (cut + 1) / cuts {
                let panel = &self.panels[p * WIDTH * wide..(p + 1) * WIDTH * wide];
                let width = WIDTH.min(self.n - p * WIDTH);
                let (units, bias) = (&self.units[p * WIDTH..][..width], &bias[p * WIDTH..][..width]);
                for first in (0..rows).step_by(ROWS) {
                    let some = ROWS.min(rows - first);
                    block(some, wide / FOUR, &x.q[first * wide..], panel, &mut sums);
                    for (r, sums) in (first..).zip(&sums[..some]) {
                        // SAFETY: row r and these columns lie in C, by the assert; no two cuts share a panel, so none a
                        // column.
                        let c = unsafe { std::slice::from_raw_parts_mut(out.c.add(r * ldc + p * WIDTH), width) };
                        settle(sums, x.sums[r], x.units[r], units, bias, c);
                    }
                }
            }
        });
    }
}

per_level! {
    pub fn settle(sums: &[i32; 32], less: i32, unit: f32, units: &[f32], bias: &[f32], c: &mut [f32]) {
        for (((c, sum), own), b) in c.iter_mut().zip(sums).zip(units).zip(bias) {
            *c = (*sum - less) as f32 * (unit * own) + b;
        }
    }
}

/// sum (w + 128) q of some rows q [rows, fours, 4] and one panel.
pub(super) fn block(rows: usize, fours: usize, q: &[i8], panel: &[u8], sums: &mut [[i32; WIDTH]; ROWS]) {
    assert!(q.len() >= rows * fours * FOUR && panel.len() >= fours * FOUR * WIDTH, "whole rows and a whole panel");
    macro_rules! rows {
        ($kernel:ident $(($r:literal $($more:literal)*))*) => {
            match rows {
                // SAFETY: the processor has the features; the assert bounds every read.
                $($r => unsafe {
                    let sums = sums.first_chunk_mut().expect("ROWS");
                    $kernel::<$r $(, $more)*>(fours, q.as_ptr(), panel.as_ptr(), sums);
                },)*
                _ => debug_assert!(false, "a block has 1 to {ROWS} rows, not {rows}"),
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    {
        match level() {
            Level::Avx512 if has_vnni() => {
                rows!(vnni (1 4)(2 2)(3 1)(4 1)(5 1)(6 1));
                return;
            }
            Level::Avx512 | Level::Avx2 => {
                rows!(avx2(1)(2)(3)(4)(5)(6));
                return;
            }
            Level::Base => {}
        }
    }
    #[cfg(target_arch = "wasm32")]
    if cfg!(target_feature = "simd128") {
        rows!(simd128(1)(2)(3)(4)(5)(6));
        return;
    }
    for (sums, q) in sums[..rows].iter_mut().zip(q.chunks(fours * FOUR)) {
        *sums = [0; WIDTH];
        for (q, w) in q.as_chunks::<FOUR>().0.iter().zip(panel.as_chunks::<{ WIDTH * FOUR }>().0) {
            for (l, sum) in sums.iter_mut().enumerate() {
                *sum += (0..FOUR).map(|i| i32::from(q[i]) * i32::from(w[l * FOUR + i])).sum::<i32>();
            }
        }
    }
}

/// Two sums of 16 lanes a row, four products added up by one instruction, which is written down because it reads its
/// row too. Few rows have U times as many sums, of every U-th input, so that they do not wait for each other.
///
/// # Safety
/// `q` holds R rows of `fours` times four numbers, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn vnni<const R: usize, const U: usize>(
    fours: usize, q: *const i8, panel: *const u8, sums: &mut [[i32; WIDTH]; R],
) {
    use std::arch::asm;
    use std::arch::x86_64::{_mm512_add_epi32, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_storeu_si512};
    const LINE: usize = 16 * FOUR;
    // SAFETY: all offsets stay inside what the caller promises; no load asks for alignment, and the instruction reads
    // four bytes of a row.
    unsafe {
        let mut acc = [[[_mm512_setzero_si512(); 2]; R]; U];
        let (mut at, mut w) = (q, panel);
        macro_rules! add {
            ($u:expr) => {
                let both = [_mm512_loadu_si512(w.cast()), _mm512_loadu_si512(w.add(LINE).cast())];
                for r in 0..R {
                    for l in 0..2 {
                        asm!(
                            "vpdpbusd {sum}, {w}, dword ptr [{q}]{{1to16}}",
                            sum = inout(zmm_reg) acc[$u][r][l],
                            w = in(zmm_reg) both[l],
                            q = in(reg) at.add(r * fours * FOUR),
                            options(pure, readonly, nostack, preserves_flags),
                        );
                    }
                }
                (at, w) = (at.add(FOUR), w.add(2 * LINE));
            };
        }
        for _ in 0..fours / U {
            for u in 0..U {
                add!(u);
            }
        }
        for _ in 0..fours % U {
            add!(0);
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            for l in 0..2 {
                let all = acc[1..].iter().fold(acc[0][r][l], |all, acc| _mm512_add_epi32(all, acc[r][l]));
                _mm512_storeu_si512(sums.as_mut_ptr().add(16 * l).cast(), all);
            }
        }
    }
}

/// Two rows at a time and half a panel: eight sums, each of four rows of W in two halves.
///
/// # Safety
/// `q` holds R rows of `fours` times four numbers, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<const R: usize>(fours: usize, q: *const i8, panel: *const u8, sums: &mut [[i32; WIDTH]; R]) {
    use std::arch::x86_64::{
        _mm_cvtepi8_epi16, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_add_epi32, _mm256_broadcastq_epi64,
        _mm256_cvtepu8_epi16, _mm256_madd_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
    };
    const HALF: usize = WIDTH / 2;
    for (number, sums) in sums.chunks_mut(2).enumerate() {
        for half in 0..2 {
            let mut acc = [[_mm256_setzero_si256(); 4]; 2];
            for i in 0..fours {
                let from = (i * WIDTH + half * HALF) * FOUR;
                // SAFETY: these are 64 numbers of the panel, and no load asks for alignment.
                let line = |l: usize| unsafe { _mm_loadu_si128(panel.add(from + 16 * l).cast()) };
                let w = [0, 1, 2, 3].map(|l| _mm256_cvtepu8_epi16(line(l)));
                for (r, acc) in acc.iter_mut().enumerate().take(sums.len()) {
                    // SAFETY: row 2 number + r is one of the R rows.
                    let four = unsafe { q.add(((2 * number + r) * fours + i) * FOUR).cast::<i32>().read_unaligned() };
                    let x = _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)));
                    for l in 0..4 {
                        acc[l] = _mm256_add_epi32(acc[l], _mm256_madd_epi16(w[l], x));
                    }
                }
            }
            for (acc, sums) in acc.iter().zip(sums.iter_mut()) {
                for (acc, sums) in acc.iter().zip(sums[half * HALF..].chunks_exact_mut(4)) {
                    let mut halves = [0i32; 8];
                    // SAFETY: eight numbers are stored into eight.
                    unsafe { _mm256_storeu_si256(halves.as_mut_ptr().cast(), *acc) };
                    sums.iter_mut().zip(halves.as_chunks::<2>().0).for_each(|(sum, half)| *sum = half[0] + half[1]);
                }
            }
        }
    }
}

/// Two rows at a time and a quarter of a panel: eight sums, each of two rows of W in two halves.
///
/// # Safety
/// `q` holds R rows of `fours` times four numbers, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "wasm32")]
#[target_feature(enable = "simd128")]
unsafe fn simd128<const R: usize>(fours: usize, q: *const i8, panel: *const u8, sums: &mut [[i32; WIDTH]; R]) {
    use std::arch::wasm32::{
        i16x8_extend_high_u8x16, i16x8_extend_low_i8x16, i16x8_extend_low_u8x16, i32x4_add, i32x4_dot_i16x8,
        i32x4_splat, v128_load, v128_store,
    };
    const QUARTER: usize = WIDTH / 4;
    for (number, sums) in sums.chunks_mut(2).enumerate() {
        for quarter in 0..4 {
            let mut acc = [[i32x4_splat(0); 4]; 2];
            for i in 0..fours {
                let from = (i * WIDTH + quarter * QUARTER) * FOUR;
                // SAFETY: these are 32 numbers of the panel, and no load asks for alignment.
                let both = [0, 16].map(|l| unsafe { v128_load(panel.add(from + l).cast()) });
                let w = both.map(|w| [i16x8_extend_low_u8x16(w), i16x8_extend_high_u8x16(w)]);
                for (r, acc) in acc.iter_mut().enumerate().take(sums.len()) {
                    // SAFETY: row 2 number + r is one of the R rows.
                    let four = unsafe { q.add(((2 * number + r) * fours + i) * FOUR).cast::<i32>().read_unaligned() };
                    let x = i16x8_extend_low_i8x16(i32x4_splat(four));
                    for (acc, w) in acc.iter_mut().zip(w.as_flattened()) {
                        *acc = i32x4_add(*acc, i32x4_dot_i16x8(*w, x));
                    }
                }
            }
            for (acc, sums) in acc.iter().zip(sums.iter_mut()) {
                for (acc, sums) in acc.iter().zip(sums[quarter * QUARTER..].chunks_exact_mut(2)) {
                    let mut halves = [0i32; 4];
                    // SAFETY: four numbers are stored into four.
                    unsafe { v128_store(halves.as_mut_ptr().cast(), *acc) };
                    sums.iter_mut().zip(halves.as_chunks::<2>().0).for_each(|(sum, half)| *sum = half[0] + half[1]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::fused::at_most;

    fn numbers(count: usize, seed: usize) -> Vec<i8> {
        (0..count).map(|n| ((n * 7919 + seed * 104_729) % 256) as u8 as i8).collect()
    }

    #[test]
    fn all_instructions_give_the_exact_sums_on_odd_sizes() {
        for (rows, n, k) in [(1, 1, 1), (5, 33, 7), (6, 64, 64), (7, 40, 130), (13, 100, 513)] {
            let (first, second) = (numbers(n / 2 * k, 1), numbers((n - n / 2) * k, 2));
            let packed = PackedIntegers::new(&[(&first, 16.0), (&second, 64.0)], k);
            let stride = k + 3;
            let x: Vec<f32> = numbers(rows * stride, 3).iter().map(|x| f32::from(*x) / 8.0).collect();
            let bias: Vec<f32> = (0..n).map(|v| v as f32).collect();
            let rounded = packed.round(2, Rounding::Fixed(4.0), &x, rows, stride, &[]);
            let expected = |r: usize, v: usize| {
                let q = |i: usize| i64::from((x[r * stride + i] * 4.0).round_ties_even().clamp(-127.0, 127.0) as i8);
                let (w, b) = if v < n / 2 { (&first[v * k..], 16.0) } else { (&second[(v - n / 2) * k..], 64.0) };
                (0..k).map(|i| q(i) * i64::from(w[i])).sum::<i64>() as f32 / (4.0 * b) + bias[v]
            };
            for level in [Level::Base, Level::Avx2, Level::Avx512] {
                let mut c = vec![0.0; rows * (n + 2)];
                at_most(level, || packed.apply(2, &rounded, &bias, &mut c, n + 2));
                for (r, v) in (0..rows).flat_map(|r| (0..n).map(move |v| (r, v))) {
                    assert_eq!(c[r * (n + 2) + v], expected(r, v), "{level:?}, row {r}, column {v} of {rows} {n} {k}");
                }
            }
            let mut row = Vec::new();
            packed.append_row(n - 1, &mut row);
            let last = second.iter().rev().take(k).rev().map(|q| f32::from(*q) / 64.0);
            assert!(row.iter().copied().eq(last), "what was packed is read again");
        }
    }

    #[test]
    fn rows_that_belong_together_are_rounded_by_their_greatest_number() {
        let x = [1.0, -2.0, 0.5, 4.0, 0.0, 0.0, 8.0, 1.0];
        let packed = PackedIntegers::new(&[(&[1, 2], 1.0)], 2);
        let rounded = packed.round(1, Rounding::Greatest, &x, 4, 2, &[2]);
        assert_eq!(rounded.units, [4.0 / 127.0, 4.0 / 127.0, 0.0, 8.0 / 127.0]);
        assert_eq!(rounded.q[..8], [32, -64, 0, 0, 16, 127, 0, 0]);
        let mut kept = [3.0, -40.0, f32::NAN, 0.26];
        Rounding::Fixed(4.0).round_trip(&mut kept, 2);
        assert_eq!(kept, [3.0, -31.75, -31.75, 0.25]);
    }
}
