//! The products of [`super::IntegerLayer`]: 16-bit integers, added up in 32 bits over [`CHUNK`] inputs and in `f32`
//! from there on. A chunk is short enough for its sum to fit and long enough for the rest to cost little.

use super::{CHUNK, ROWS, WIDTH};
#[cfg(target_arch = "x86_64")]
use crate::nn::fused::Level;
#[cfg(target_arch = "x86_64")]
use crate::nn::fused::level;

const PAIRS: usize = CHUNK / 2;

/// The instructions that [`IntegerLayer::run`] multiplies with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
    pub(super) fn found() -> Self {
        static VNNI: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        match level() {
            Level::Avx512 if *VNNI.get_or_init(|| is_x86_feature_detected!("avx512vnni")) => Self::Vnni,
            Level::Avx512 => Self::Wide,
            Level::Avx2 => Self::Avx2,
            Level::Base => Self::Portable,
        }
    }

    #[cfg(target_arch = "wasm32")]
    pub(super) fn found() -> Self {
        if cfg!(target_feature = "simd128") { Self::Simd128 } else { Self::Portable }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
    pub(super) fn found() -> Self {
        Self::Portable
    }
}

pub(super) fn block(kind: Kind, rows: usize, pairs: usize, t: &[i16], panel: &[i16], tile: &mut [[f32; WIDTH]; ROWS]) {
    macro_rules! rows {
        ($($r:literal)*) => {
            match rows {
                $($r => kernel::<$r>(kind, pairs, t, panel, tile.first_chunk_mut().expect("no more than ROWS")),)*
                _ => debug_assert!(false, "a block has 1 to {ROWS} rows, not {rows}"),
            }
        };
    }
    rows!(1 2 3 4 5 6);
}

/// R rows times one panel.
fn kernel<const R: usize>(kind: Kind, pairs: usize, t: &[i16], panel: &[i16], tile: &mut [[f32; WIDTH]; R]) {
    *tile = [[0.0; WIDTH]; R];
    assert!(t.len() >= R * pairs * 2 && panel.len() >= pairs * WIDTH * 2, "whole rows and a whole panel");
    match kind {
        // SAFETY: the processor has the features; the assert bounds every read.
        #[cfg(target_arch = "x86_64")]
        Kind::Vnni => unsafe { vnni::<R>(pairs, t.as_ptr(), panel.as_ptr(), tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Wide => unsafe { wide::<R>(pairs, t.as_ptr(), panel.as_ptr(), tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { avx2::<R>(pairs, t.as_ptr(), panel.as_ptr(), tile) },
        // SAFETY: the module is made of them; the assert bounds every read.
        #[cfg(target_arch = "wasm32")]
        Kind::Simd128 => unsafe { simd128::<R>(pairs, t.as_ptr(), panel.as_ptr(), tile) },
        Kind::Portable => portable::<R>(pairs, t, panel, tile),
    }
}

fn portable<const R: usize>(pairs: usize, t: &[i16], panel: &[i16], tile: &mut [[f32; WIDTH]; R]) {
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
                *tile += acc as f32;
            }
        }
    }
}

/// Two 16-lane accumulators a row; a chunk is added to the tile.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn wide<const R: usize>(pairs: usize, t: *const i16, panel: *const i16, tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_add_ps, _mm512_cvtepi32_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_madd_epi16,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_ps,
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
            for (acc, tile) in acc.iter().zip(tile.iter_mut()) {
                for (l, &acc) in [0, 16].into_iter().zip(acc) {
                    let at = tile.as_mut_ptr().add(l);
                    _mm512_storeu_ps(at, _mm512_add_ps(_mm512_loadu_ps(at), _mm512_cvtepi32_ps(acc)));
                }
            }
        }
    }
}

/// As `wide`, with the one instruction that multiplies pairs, adds them up and reads its row. It is written down
/// because the compiler makes two or three of it, and half of the rate is lost.
///
/// # Safety
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn vnni<const R: usize>(pairs: usize, t: *const i16, panel: *const i16, tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::asm;
    use std::arch::x86_64::{
        _mm512_add_ps, _mm512_cvtepi32_ps, _mm512_loadu_si512, _mm512_setzero_ps, _mm512_setzero_si512,
        _mm512_storeu_ps,
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
            for (sums, acc) in sums.iter_mut().zip(acc) {
                for l in 0..2 {
                    sums[l] = _mm512_add_ps(sums[l], _mm512_cvtepi32_ps(acc[l]));
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
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<const R: usize>(pairs: usize, t: *const i16, panel: *const i16, tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_ps,
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
            for (acc, tile) in acc.iter().zip(tile.iter_mut()) {
                for (l, &acc) in acc.iter().enumerate() {
                    // SAFETY: a tile row has WIDTH = 4 * 8 numbers.
                    unsafe {
                        let at = tile.as_mut_ptr().add(8 * l);
                        _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), _mm256_cvtepi32_ps(acc)));
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
                // small enough for f32 to tell all sums apart
                let product = |row: usize, l: usize| (0..2 * pairs).map(|i| one(row, l, i)).sum::<i64>();
                for kind in kinds() {
                    let mut tile = [[1.0; WIDTH]; ROWS];
                    block(kind, rows, pairs, &t, &panel, &mut tile);
                    for (row, tile) in tile[..rows].iter().enumerate() {
                        for (l, &found) in tile.iter().enumerate() {
                            let product = product(row, l) as f32;
                            assert_eq!(found, product, "{kind:?}, {rows} rows, {pairs} pairs");
                        }
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
/// `t` holds R rows of `pairs` pairs, `panel` [`WIDTH`] times as many.
#[cfg(target_arch = "wasm32")]
#[target_feature(enable = "simd128")]
unsafe fn simd128<const R: usize>(pairs: usize, t: *const i16, panel: *const i16, tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::wasm32::{
        f32x4_add, f32x4_convert_i32x4, i32x4_add, i32x4_dot_i16x8, i32x4_splat, v128_load, v128_store,
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
                for (acc, tile) in acc.iter().zip(tile.iter_mut()) {
                    for (half, &acc) in acc.iter().enumerate() {
                        let at = tile.as_mut_ptr().add(l + 4 * half).cast();
                        v128_store(at, f32x4_add(v128_load(at), f32x4_convert_i32x4(acc)));
                    }
                }
            }
        }
    }
}
