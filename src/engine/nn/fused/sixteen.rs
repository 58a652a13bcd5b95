//! Products in 16-bit integers, for weights in `f32` of which nobody needs the last digits: half of what is read, and
//! twice as many products an instruction. Each row of W is rounded as round(c w), and each [`CHUNK`] of each row of x
//! with its own c, for rows of x often have a few great numbers. Products are added up in 32 bits over a chunk and
//! in `f32` from there on; a chunk is short enough for its sum to fit, since c keeps |q_v| |q| below 2^31 (Cauchy and
//! Schwarz), and long enough for the rest to cost little. W lies in panels of [`WIDTH`] rows, pairs of inputs side by side as the instructions want them.

use super::tile::{Finish, Out};
#[cfg(target_arch = "x86_64")]
use super::{Level, has_vnni, level};
use super::{Onto, pages::PagedNumbers, per_level, team};

/// Rows of W in a panel.
const WIDTH: usize = 32;
/// Most rows of x that one pass over a panel serves.
const ROWS: usize = 6;
/// Inputs whose products are added up as integers.
const CHUNK: usize = 16;
/// Euclidean norm that a chunk of a rounded row has at most: the square, with room for rounding, is below 2^31.
const NORM: f32 = 45_000.0;
/// Multiplications that one more thread is worth, a product of few rows costing as [`READING`] more.
const WORTHWHILE: usize = 1 << 19;
const READING: usize = 3;
/// Numbers that one thread rounds.
const FEW: usize = 1 << 14;
/// Pieces that each thread's share of a product is cut into.
const CUTS: usize = 4;

/// W [n, k], rounded and packed.
#[derive(Clone, Debug)]
pub(super) struct Sixteen {
    /// Panels of [k / 2 rounded up, WIDTH, 2].
    panels: PagedNumbers<i16>,
    /// 1 / c of each row, [panels * WIDTH].
    units: Vec<f32>,
}

impl Sixteen {
    /// `None` where a number is not finite or far too large.
    pub(super) fn new(w: &[f32], n: usize, k: usize) -> Option<Self> {
        let (padded, pairs) = (n.next_multiple_of(WIDTH), k.div_ceil(2));
        let mut panels = PagedNumbers::filled(padded * pairs * 2, 0);
        let (mut units, mut q) = (vec![0.0; padded], vec![0; pairs * 2]);
        for (v, row) in w.chunks_exact(k.max(1)).enumerate() {
            units[v] = round(row, &mut q)?;
            let panel = &mut panels[v / WIDTH * WIDTH * pairs * 2..][v % WIDTH * 2..];
            for (to, from) in panel.chunks_mut(2 * WIDTH).zip(q.as_chunks::<2>().0) {
                to[..2].copy_from_slice(from);
            }
        }
        Some(Self { panels, units })
    }

    /// C [m, n] = x W' onto `onto`; the rows of x [m, k] lie `lda` apart, those of C `ldc`.
    ///
    /// # Panics
    /// When a slice is too short, or a row of x is not finite or far too large.
    pub(super) fn apply(
        &self, threads: usize, (m, n, k): (usize, usize, usize), x: &[f32], lda: usize, c: &mut [f32], ldc: usize,
        onto: Onto<'_>,
    ) {
        if m == 0 || n == 0 {
            return;
        }
        assert!(c.len() >= (m - 1) * ldc + n && ldc >= n, "C is too short");
        let (wide, count) = (k.next_multiple_of(2), n.div_ceil(WIDTH));
        let chunks = k.div_ceil(CHUNK);
        let (mut q, mut units) = (vec![0i16; m * wide], vec![0.0f32; m * chunks]);
        let mut rows: Vec<_> = q.chunks_mut(wide.max(1)).zip(units.chunks_mut(chunks.max(1))).collect();
        let round = |r: usize, (q, units): &mut (&mut [i16], &mut [f32])| round_row(&x[r * lda..r * lda + k], q, units);
        team::each(if m * k > FEW { threads } else { 1 }, &mut rows, &round);
        let out = Out { c: c.as_mut_ptr(), ldc, finish: Finish::Write };
        let threads = threads.min(count).min(n * k * (m + READING) / WORTHWHILE + 1);
        let cuts = if threads > 1 { (threads * CUTS).min(count) } else { 1 };
        team::run(threads, cuts, &|cut| {
            // the whole of it is borrowed: a pointer alone may not cross threads
            let out = &out;
            let mut sums = [[0.0f32; WIDTH]; ROWS];
            for p in count * cut / cuts..count * (cut + 1) / cuts {
                let panel = &self.panels[p * WIDTH * wide..(p + 1) * WIDTH * wide];
                let (first, width) = (p * WIDTH, WIDTH.min(n - p * WIDTH));
                let own = &self.units[first..][..width];
                for row in (0..m).step_by(ROWS) {
                    let some = ROWS.min(m - row);
                    block(Kind::found(), some, wide / 2, (&q[row * wide..], &units[row * chunks..]), panel, &mut sums);
                    for (r, sums) in (row..).zip(&sums[..some]) {
                        // SAFETY: row r and these columns lie in C, by the assert; no two cuts share a panel, so none a
                        // column.
                        let c = unsafe { std::slice::from_raw_parts_mut(out.c.add(r * ldc + first), width) };
                        match onto {
                            Onto::Row(row) => scale_onto(sums, own, &row[first..][..width], c),
                            Onto::C | Onto::Zero => scale(sums, own, matches!(onto, Onto::C), c),
                        }
                    }
                }
            }
        });
    }
}

per_level! {
    pub fn scale_onto(sums: &[f32; 32], units: &[f32], onto: &[f32], c: &mut [f32]) {
        for (((c, sum), unit), onto) in c.iter_mut().zip(sums).zip(units).zip(onto) {
            *c = sum * unit + onto;
        }
    }
}

per_level! {
    pub fn scale(sums: &[f32; 32], units: &[f32], add: bool, c: &mut [f32]) {
        for ((c, sum), unit) in c.iter_mut().zip(sums).zip(units) {
            *c = sum * unit + if add { *c } else { 0.0 };
        }
    }
}

/// q = round(c w) with the greatest c that [`NORM`] and 16 bits allow for every chunk, 0 behind it; returns 1 / c.
fn round(w: &[f32], q: &mut [i16]) -> Option<f32> {
    let c = w.chunks(CHUNK).fold(f32::MAX, |least, chunk| least.min(multiplier(chunk)));
    // a chunk that is no number has a c of 0
    if c <= 0.0 {
        return None;
    }
    q.fill(0);
    w.iter().zip(q).for_each(|(w, q)| *q = nearest(w * c));
    Some(1.0 / c)
}

/// The greatest c for a chunk; 0 where it is no number or far too large, and of next to nothing no more than 1e15.
#[inline(always)]
fn multiplier(chunk: &[f32]) -> f32 {
    let norm = chunk.iter().map(|x| x * x).sum::<f32>().sqrt();
    let most = chunk.iter().fold(0.0f32, |all, x| if x.abs() > all { x.abs() } else { all });
    let c = (NORM / norm).min(32_766.0 / most);
    if norm < 1e15 { c.min(1e15) } else { 0.0 }
}

#[inline(always)]
fn nearest(x: f32) -> i16 {
    /// Adding it leaves the nearest whole number in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    (x + MAGIC).to_bits() as i16
}

per_level! {
    /// Rounds a row of x, 0 behind it, each chunk by its own c, of which 1 / c is kept; a chunk that is no number has
    /// NaN there, and so its sums.
    pub fn round_row(x: &[f32], q: &mut [i16], units: &mut [f32]) {
        q[x.len()..].fill(0);
        for ((x, q), unit) in x.chunks(CHUNK).zip(q.chunks_mut(CHUNK)).zip(units) {
            let c = multiplier(x);
            *unit = if c > 0.0 { 1.0 / c } else { f32::NAN };
            for (x, q) in x.iter().zip(q) {
                *q = nearest(x * c);
            }
        }
    }
}

const PAIRS: usize = CHUNK / 2;

/// The instructions that products are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Wide,
    #[cfg(target_arch = "x86_64")]
    Vnni,
    #[cfg(target_arch = "wasm32")]
    Simd128,
}

impl Kind {
    #[cfg(target_arch = "x86_64")]
    fn found() -> Self {
        match level() {
            Level::Avx512 if has_vnni() => Self::Vnni,
            Level::Avx512 => Self::Wide,
            Level::Avx2 => Self::Avx2,
            Level::Base => Self::Portable,
        }
    }

    #[cfg(target_arch = "wasm32")]
    fn found() -> Self {
        if cfg!(target_feature = "simd128") { Self::Simd128 } else { Self::Portable }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
    fn found() -> Self {
        Self::Portable
    }
}

/// Some rows, as integers with the units of their chunks, times one panel.
fn block(
    kind: Kind, rows: usize, pairs: usize, rounded: (&[i16], &[f32]), panel: &[i16], tile: &mut [[f32; WIDTH]; ROWS],
) {
    macro_rules! rows {
        ($($r:literal)*) => {
            match rows {
                $($r => kernel::<$r>(kind, pairs, rounded, panel, tile.first_chunk_mut().expect("no more than ROWS")),)*
                _ => debug_assert!(false, "a block has 1 to {ROWS} rows, not {rows}"),
            }
        };
    }
    rows!(1 2 3 4 5 6);
}

/// R rows times one panel.
fn kernel<const R: usize>(
    kind: Kind, pairs: usize, (t, units): (&[i16], &[f32]), panel: &[i16], tile: &mut [[f32; WIDTH]; R],
) {
    let chunks = pairs.div_ceil(PAIRS);
    *tile = [[0.0; WIDTH]; R];
    assert!(t.len() >= R * pairs * 2 && panel.len() >= pairs * WIDTH * 2, "whole rows and a whole panel");
    assert!(units.len() >= R * chunks, "a unit for each chunk");
    match kind {
        // SAFETY: the processor has the features; the assert bounds every read.
        #[cfg(target_arch = "x86_64")]
        Kind::Vnni => unsafe { vnni::<R>(pairs, t.as_ptr(), units, panel.as_ptr(), tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Wide => unsafe { wide::<R>(pairs, t.as_ptr(), units, panel.as_ptr(), tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { avx2::<R>(pairs, t.as_ptr(), units, panel.as_ptr(), tile) },
        // SAFETY: the module is made of them; the assert bounds every read.
        #[cfg(target_arch = "wasm32")]
        Kind::Simd128 => unsafe { simd128::<R>(pairs, t.as_ptr(), units, panel.as_ptr(), tile) },
        Kind::Portable => portable::<R>(pairs, t, units, panel, tile),
    }
}

fn portable<const R: usize>(pairs: usize, t: &[i16], units: &[f32], panel: &[i16], tile: &mut [[f32; WIDTH]; R]) {
    let chunks = pairs.div_ceil(PAIRS);
    for (c, panel) in panel[..pairs * 2 * WIDTH].chunks(CHUNK * WIDTH).enumerate() {
        for (r, tile) in tile.iter_mut().enumerate() {
            let mut acc = [0i32; WIDTH];
            let t = &t[(r * pairs + c * PAIRS) * 2..];
            for (t, w) in t.as_chunks::<2>().0.iter().zip(panel.as_chunks::<{ 2 * WIDTH }>().0) {
                let [x, y] = t.map(i32::from);
                for l in 0..WIDTH {
                    acc[l] += x * i32::from(w[2 * l]) + y * i32::from(w[2 * l + 1]);
                }
            }
            for (tile, acc) in tile.iter_mut().zip(acc) {
                *tile += acc as f32 * units[r * chunks + c];
            }
        }
    }
}

/// Two 16-lane accumulators a row; a chunk is added to the tile.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many, `units` a number for each chunk of each row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn wide<const R: usize>(
    pairs: usize, t: *const i16, units: &[f32], panel: *const i16, tile: &mut [[f32; WIDTH]; R],
) {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_cvtepi32_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_madd_epi16,
        _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512, _mm512_storeu_ps,
    };
    // SAFETY: all offsets stay inside what the caller promises; no load asks for alignment.
    unsafe {
        for from in (0..pairs).step_by(PAIRS) {
            let mut acc = [[_mm512_setzero_si512(); 2]; R];
            for i in from..pairs.min(from + PAIRS) {
                let w = [0, WIDTH].map(|l| _mm512_loadu_si512(panel.add(i * 2 * WIDTH + l).cast()));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let x = _mm512_set1_epi32(t.add((r * pairs + i) * 2).cast::<i32>().read_unaligned());
                    for l in 0..2 {
                        acc[l] = _mm512_add_epi32(acc[l], _mm512_madd_epi16(w[l], x));
                    }
                }
            }
            for (r, (acc, tile)) in acc.iter().zip(tile.iter_mut()).enumerate() {
                let unit = _mm512_set1_ps(units[r * pairs.div_ceil(PAIRS) + from / PAIRS]);
                for (l, &acc) in [0, 16].into_iter().zip(acc) {
                    let at = tile.as_mut_ptr().add(l);
                    _mm512_storeu_ps(at, _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc), unit, _mm512_loadu_ps(at)));
                }
            }
        }
    }
}

/// As `wide`, with the one instruction that multiplies pairs, adds them up and reads its row. It is written down
/// because the compiler makes two or three of it, and half of the rate is lost.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many, `units` a number for each chunk of each row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn vnni<const R: usize>(
    pairs: usize, t: *const i16, units: &[f32], panel: *const i16, tile: &mut [[f32; WIDTH]; R],
) {
    use std::arch::asm;
    use std::arch::x86_64::{
        _mm512_cvtepi32_ps, _mm512_fmadd_ps, _mm512_loadu_si512, _mm512_set1_ps, _mm512_setzero_ps,
        _mm512_setzero_si512, _mm512_storeu_ps,
    };
    // SAFETY: all offsets stay inside what the caller promises; no load asks for alignment, and the instruction reads
    // the four bytes of one pair.
    unsafe {
        let mut sums = [[_mm512_setzero_ps(); 2]; R];
        for from in (0..pairs).step_by(PAIRS) {
            let mut acc = [[_mm512_setzero_si512(); 2]; R];
            let (mut t, mut panel) = (t.add(from * 2), panel.add(from * 2 * WIDTH));
            for _ in from..pairs.min(from + PAIRS) {
                let w = [0, WIDTH].map(|l| _mm512_loadu_si512(panel.add(l).cast()));
                for r in 0..R {
                    for l in 0..2 {
                        asm!(
                            "vpdpwssd {sum}, {w}, dword ptr [{t}]{{1to16}}",
                            sum = inout(zmm_reg) acc[r][l],
                            w = in(zmm_reg) w[l],
                            t = in(reg) t.add(r * pairs * 2),
                            options(pure, readonly, nostack, preserves_flags),
                        );
                    }
                }
                (t, panel) = (t.add(2), panel.add(2 * WIDTH));
            }
            for r in 0..R {
                let unit = _mm512_set1_ps(*units.get_unchecked(r * pairs.div_ceil(PAIRS) + from / PAIRS));
                for l in 0..2 {
                    sums[r][l] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[r][l]), unit, sums[r][l]);
                }
            }
        }
        for (tile, sums) in tile.iter_mut().zip(sums) {
            for l in 0..2 {
                _mm512_storeu_ps(tile.as_mut_ptr().add(16 * l), sums[l]);
            }
        }
    }
}

/// Two rows at a time: 8 accumulators of 8 lanes, 4 of the panel.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many, `units` a number for each chunk of each row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<const R: usize>(
    pairs: usize, t: *const i16, units: &[f32], panel: *const i16, tile: &mut [[f32; WIDTH]; R],
) {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_mul_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256, _mm256_storeu_ps,
    };
    for (number, tile) in tile.chunks_mut(2).enumerate() {
        for from in (0..pairs).step_by(PAIRS) {
            let mut acc = [[_mm256_setzero_si256(); 4]; 2];
            for i in from..pairs.min(from + PAIRS) {
                // SAFETY: pair i of the panel has 4 * 16 numbers; loads need no alignment.
                let w = unsafe { [0, 16, 32, 48].map(|o| _mm256_loadu_si256(panel.add(i * 2 * WIDTH + o).cast())) };
                for (r, acc) in acc.iter_mut().enumerate().take(tile.len()) {
                    // SAFETY: row 2 number + r is one of the R rows.
                    let x = unsafe { t.add(((2 * number + r) * pairs + i) * 2).cast::<i32>().read_unaligned() };
                    let x = _mm256_set1_epi32(x);
                    for l in 0..4 {
                        acc[l] = _mm256_add_epi32(acc[l], _mm256_madd_epi16(w[l], x));
                    }
                }
            }
            for (r, (acc, tile)) in acc.iter().zip(tile.iter_mut()).enumerate() {
                let unit = _mm256_set1_ps(units[(2 * number + r) * pairs.div_ceil(PAIRS) + from / PAIRS]);
                for (l, &acc) in acc.iter().enumerate() {
                    // SAFETY: a tile row has WIDTH = 4 * 8 numbers.
                    unsafe {
                        let at = tile.as_mut_ptr().add(8 * l);
                        let sum = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), unit);
                        _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), sum));
                    }
                }
            }
        }
    }
}

/// Eight words at a time: two sums of four a row, so that those of five rows stay in the sixteen registers that a
/// browser has.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many, `units` a number for each chunk of each row.
#[cfg(target_arch = "wasm32")]
#[target_feature(enable = "simd128")]
unsafe fn simd128<const R: usize>(
    pairs: usize, t: *const i16, units: &[f32], panel: *const i16, tile: &mut [[f32; WIDTH]; R],
) {
    use std::arch::wasm32::{
        f32x4_add, f32x4_convert_i32x4, f32x4_mul, f32x4_splat, i32x4_add, i32x4_dot_i16x8, i32x4_splat, v128_load,
        v128_store,
    };
    // SAFETY: all offsets stay inside what the caller promises; no load asks for alignment.
    unsafe {
        for l in (0..WIDTH).step_by(8) {
            for from in (0..pairs).step_by(PAIRS) {
                let mut acc = [[i32x4_splat(0); 2]; R];
                for i in from..pairs.min(from + PAIRS) {
                    let w = [0, 4].map(|half| v128_load(panel.add((i * WIDTH + l + half) * 2).cast()));
                    for (r, acc) in acc.iter_mut().enumerate() {
                        let x = i32x4_splat(t.add((r * pairs + i) * 2).cast::<i32>().read_unaligned());
                        for half in 0..2 {
                            acc[half] = i32x4_add(acc[half], i32x4_dot_i16x8(w[half], x));
                        }
                    }
                }
                for (r, (acc, tile)) in acc.iter().zip(tile.iter_mut()).enumerate() {
                    let unit = f32x4_splat(units[r * pairs.div_ceil(PAIRS) + from / PAIRS]);
                    for (half, &acc) in acc.iter().enumerate() {
                        let at = tile.as_mut_ptr().add(l + 4 * half).cast();
                        v128_store(at, f32x4_add(v128_load(at), f32x4_mul(f32x4_convert_i32x4(acc), unit)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<Kind> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "there is no other kind"))]
        let mut kinds = vec![Kind::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if level() >= Level::Avx2 {
                kinds.push(Kind::Avx2);
            }
            if level() == Level::Avx512 {
                kinds.extend([Kind::Wide, Kind::found()]);
            }
        }
        kinds
    }

    fn numbers(seed: u64, length: usize, most: i64) -> Vec<i16> {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as i64 % (2 * most + 1) - most) as i16
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn all_instructions_give_the_same_numbers() {
        for rows in 1..=ROWS {
            for pairs in [0, 1, 2, 7, 16, 17, 64] {
                let most = if pairs == 1 { 32_767 } else { 300 };
                let t = numbers(rows as u64, rows * pairs * 2, most);
                let panel = numbers(99 + pairs as u64, pairs * 2 * WIDTH, most);
                let one = |row: usize, l: usize, i: usize| {
                    i64::from(t[row * pairs * 2 + i]) * i64::from(panel[(i / 2 * WIDTH + l) * 2 + i % 2])
                };
                // small enough for f32 to keep all sums apart
                let product = |row: usize, l: usize| (0..2 * pairs).map(|i| one(row, l, i)).sum::<i64>();
                let units = vec![0.5; rows * pairs.div_ceil(PAIRS)];
                for kind in kinds() {
                    let mut tile = [[1.0; WIDTH]; ROWS];
                    block(kind, rows, pairs, (&t, &units), &panel, &mut tile);
                    for (row, tile) in tile[..rows].iter().enumerate() {
                        for (l, &found) in tile.iter().enumerate() {
                            let product = product(row, l) as f32 / 2.0;
                            assert_eq!(found, product, "{kind:?}, {rows} rows, {pairs} pairs");
                        }
                    }
                }
            }
        }
    }
}
