//! Floor 1: the register tiles of products of a few rows: R rows of A times P panels of [`WIDTH`] columns of B,
//! kept in registers and written straight to C. B is `f32`, or `f16` that is widened as it is read.
//!
//! A number of C is the sum over k in order, whatever R and P are and whatever B is stored as, so that neither
//! the company of a row nor the number of threads changes it.

use half::f16;

use super::Level;
use super::level;

/// Columns of a panel.
pub const WIDTH: usize = 32;
/// Most rows of A that one pass over a panel serves.
pub const ROWS: usize = 12;

/// How B is stored.
pub trait Number: Copy + Send + Sync {
    /// As `f32`.
    fn widen(self) -> f32;

    /// Sixteen numbers.
    ///
    /// # Safety
    /// They can be read at `p`, and the processor has AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    unsafe fn sixteen(p: *const Self) -> std::arch::x86_64::__m512;

    /// Eight numbers.
    ///
    /// # Safety
    /// They can be read at `p`, and the processor has AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    unsafe fn eight(p: *const Self) -> std::arch::x86_64::__m256;
}

impl Number for f32 {
    fn widen(self) -> f32 {
        self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn sixteen(p: *const Self) -> std::arch::x86_64::__m512 {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm512_loadu_ps(p) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(p: *const Self) -> std::arch::x86_64::__m256 {
        // SAFETY: the caller's promise.
        unsafe { std::arch::x86_64::_mm256_loadu_ps(p) }
    }
}

impl Number for f16 {
    fn widen(self) -> f32 {
        self.to_f32()
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn sixteen(p: *const Self) -> std::arch::x86_64::__m512 {
        // SAFETY: the caller's promise; an f16 is its 16 bits.
        unsafe { std::arch::x86_64::_mm512_cvtph_ps(std::arch::x86_64::_mm256_loadu_si256(p.cast())) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(p: *const Self) -> std::arch::x86_64::__m256 {
        // SAFETY: the caller's promise; an f16 is its 16 bits.
        unsafe { std::arch::x86_64::_mm256_cvtph_ps(std::arch::x86_64::_mm_loadu_si128(p.cast())) }
    }
}

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub enum Onto<'a> {
    /// Nothing.
    Zero,
    /// What C holds.
    C,
    /// A row that is the same for all rows of C.
    Row(&'a [f32]),
}

/// Panels of B, from the first number on.
#[derive(Clone, Copy)]
pub(super) struct Panels<T> {
    pub b: *const T,
    /// Rows of B.
    pub k: usize,
    /// From a row of a panel to the next.
    pub row: usize,
    /// From a panel to the next.
    pub panel: usize,
}

/// Where a product goes: its first number, its row stride and what it is added to.
#[derive(Clone, Copy)]
pub(super) struct Out {
    pub c: *mut f32,
    pub ldc: usize,
    pub start: Start,
}

/// [`Onto`] with a pointer that moves with the columns.
#[derive(Clone, Copy)]
pub(super) enum Start {
    Zero,
    C,
    Row(*const f32),
}

// SAFETY: `product` writes only the columns that it was given, and no two threads get the same ones.
unsafe impl Send for Out {}
// SAFETY: as above; a shared `Out` is only copied.
unsafe impl Sync for Out {}
// SAFETY: panels are only read, and their owner outlives the product.
unsafe impl<T: Number> Send for Panels<T> {}
// SAFETY: as above.
unsafe impl<T: Number> Sync for Panels<T> {}

impl Out {
    /// From column `column` on, `rows` rows further down.
    fn moved(self, rows: usize, column: usize) -> Self {
        let start = match self.start {
            Start::Row(row) => Start::Row(row.wrapping_add(column)),
            other => other,
        };
        Self { c: self.c.wrapping_add(rows * self.ldc + column), start, ..self }
    }
}

/// C [m, n] (+)= A [m, k] B for the panels `first..last` of B; panel p makes the columns from p * [`WIDTH`] on.
///
/// # Safety
/// `a` holds m rows of stride `lda` with k numbers each; panels first..last can be read, all [`WIDTH`] columns of
/// them; C (and the row it starts from) has the columns below n of these panels, and they are the caller's alone.
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
pub(super) unsafe fn product<T: Number>(
    m: usize,
    n: usize,
    a: &[f32],
    lda: usize,
    b: Panels<T>,
    out: Out,
    first: usize,
    last: usize,
) {
    let level = level();
    let mut p = first;
    while p < last {
        let whole = last.min(n / WIDTH).saturating_sub(p);
        let together = together(level, m, whole);
        let width = (together * WIDTH).min(n - p * WIDTH);
        let panels = Panels { b: b.b.wrapping_add(p * b.panel), ..b };
        let mut row = 0;
        while row < m {
            // the last two passes share the rows, so that neither is tiny
            let rest = m - row;
            let rows = if rest > ROWS && rest < 2 * ROWS { rest.div_ceil(2) } else { rest.min(ROWS) };
            let tile = Tile { level, a: &a[row * lda..], lda, b: panels, out: out.moved(row, p * WIDTH), width };
            // SAFETY: the caller's promise, for these rows and columns.
            unsafe { tile.run(rows, together) };
            row += rows;
        }
        p += together;
    }
}

/// Panels that are read side by side, so that few rows have enough sums to keep the multipliers busy.
fn together(level: Level, rows: usize, whole: usize) -> usize {
    match (level, rows) {
        (Level::Avx512, 1) if whole >= 4 => 4,
        (Level::Avx512, 1 | 2) | (Level::Avx2, 1) if whole >= 2 => 2,
        _ => 1,
    }
}

struct Tile<'a, T> {
    level: Level,
    a: &'a [f32],
    lda: usize,
    b: Panels<T>,
    out: Out,
    width: usize,
}

impl<T: Number> Tile<'_, T> {
    /// Calls the kernel for a run-time number of rows and panels.
    ///
    /// # Safety
    /// As [`product`].
    unsafe fn run(&self, rows: usize, panels: usize) {
        macro_rules! kernels {
            ($(($r:literal, $p:literal))*) => {
                match (rows, panels) {
                    // SAFETY: the caller's promise.
                    $(($r, $p) => unsafe { self.kernel::<$r, $p>() },)*
                    _ => debug_assert!(false, "no kernel for {rows} rows and {panels} panels"),
                }
            };
        }
        kernels!((1, 1)(1, 2)(1, 4)(2, 1)(2, 2)(3, 1)(4, 1)(5, 1)(6, 1)(7, 1)(8, 1)(9, 1)(10, 1)(11, 1)(12, 1));
    }

    /// # Safety
    /// As [`product`].
    unsafe fn kernel<const R: usize, const P: usize>(&self) {
        assert!(self.a.len() >= (R - 1) * self.lda + self.b.k);
        match self.level {
            // SAFETY: the processor has the features; the assert bounds the reads of A, the caller's promise the rest.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { self.avx512::<R, P>() },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { self.avx2::<R, P>() },
            // SAFETY: as above.
            _ => unsafe { self.portable::<R, P>() },
        }
    }

    /// 2 R P sums of 16 lanes, written by masks where the last panel is not full.
    ///
    /// # Safety
    /// As [`product`], and the processor has AVX-512 F.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn avx512<const R: usize, const P: usize>(&self) {
        use std::arch::x86_64::{
            _mm512_add_ps, _mm512_fmadd_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_set1_ps,
            _mm512_setzero_ps,
        };
        let (a, lda, Panels { b, k, row, panel }) = (self.a.as_ptr(), self.lda, self.b);
        // SAFETY: all offsets stay inside what the caller promises; masks cover no column beyond `width`.
        unsafe {
            let mut sums = [[[_mm512_setzero_ps(); 2]; P]; R];
            for i in 0..k {
                let mut x = [[_mm512_setzero_ps(); 2]; P];
                for p in 0..P {
                    let at = b.add(p * panel + i * row);
                    x[p] = [T::sixteen(at), T::sixteen(at.add(16))];
                }
                for r in 0..R {
                    let y = _mm512_set1_ps(*a.add(r * lda + i));
                    for p in 0..P {
                        sums[r][p][0] = _mm512_fmadd_ps(y, x[p][0], sums[r][p][0]);
                        sums[r][p][1] = _mm512_fmadd_ps(y, x[p][1], sums[r][p][1]);
                    }
                }
            }
            for r in 0..R {
                for (half, sum) in sums[r].as_flattened().iter().enumerate() {
                    let lanes = self.width.saturating_sub(16 * half).min(16);
                    let mask = ((1u32 << lanes) - 1) as u16;
                    let c = self.out.c.wrapping_add(r * self.out.ldc + 16 * half);
                    let sum = match self.out.start {
                        Start::Zero => *sum,
                        Start::C => _mm512_add_ps(_mm512_maskz_loadu_ps(mask, c), *sum),
                        Start::Row(row) => {
                            _mm512_add_ps(_mm512_maskz_loadu_ps(mask, row.wrapping_add(16 * half)), *sum)
                        }
                    };
                    _mm512_mask_storeu_ps(c, mask, sum);
                }
            }
        }
    }

    /// Three rows at a time: 12 sums of 8 lanes and 4 of B; one row has two panels, 8 sums.
    ///
    /// # Safety
    /// As [`product`], and the processor has AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn avx2<const R: usize, const P: usize>(&self) {
        let mut r = 0;
        while r < R {
            // SAFETY: the caller's promise, for these rows.
            unsafe {
                match R - r {
                    1 => self.avx2_rows::<1, P>(r),
                    2 => self.avx2_rows::<2, P>(r),
                    _ => self.avx2_rows::<3, P>(r),
                }
            }
            r += 3;
        }
    }

    /// # Safety
    /// As [`Tile::avx2`], for the rows from `from` on.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn avx2_rows<const R: usize, const P: usize>(&self, from: usize) {
        use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps};
        let (lda, Panels { b, k, row, panel }) = (self.lda, self.b);
        // SAFETY: all offsets stay inside what the caller promises; `buffer` has the numbers of four sums.
        unsafe {
            let a = self.a.as_ptr().add(from * lda);
            let mut sums = [[[_mm256_setzero_ps(); 4]; P]; R];
            for i in 0..k {
                for p in 0..P {
                    let at = b.add(p * panel + i * row);
                    let x = [T::eight(at), T::eight(at.add(8)), T::eight(at.add(16)), T::eight(at.add(24))];
                    for r in 0..R {
                        let y = _mm256_set1_ps(*a.add(r * lda + i));
                        for l in 0..4 {
                            sums[r][p][l] = _mm256_fmadd_ps(y, x[l], sums[r][p][l]);
                        }
                    }
                }
            }
            for r in 0..R {
                for p in 0..P {
                    let mut buffer = [0.0; WIDTH];
                    for l in 0..4 {
                        _mm256_storeu_ps(buffer.as_mut_ptr().add(8 * l), sums[r][p][l]);
                    }
                    self.write(from + r, p, &buffer);
                }
            }
        }
    }

    /// The plain twin.
    ///
    /// # Safety
    /// As [`product`].
    unsafe fn portable<const R: usize, const P: usize>(&self) {
        let Panels { b, k, row, panel } = self.b;
        for p in 0..P {
            let mut sums = [[0.0f32; WIDTH]; R];
            for i in 0..k {
                // SAFETY: the caller's promise: a row of a panel has WIDTH numbers.
                let x = unsafe { std::slice::from_raw_parts(b.wrapping_add(p * panel + i * row), WIDTH) };
                for (r, sums) in sums.iter_mut().enumerate() {
                    let y = self.a[r * self.lda + i];
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum += y * x.widen();
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { self.write(r, p, sums) };
            }
        }
    }

    /// Writes the sums of row `r` and panel `p`.
    ///
    /// # Safety
    /// As [`product`].
    #[inline(always)]
    unsafe fn write(&self, r: usize, p: usize, sums: &[f32; WIDTH]) {
        let width = self.width.saturating_sub(p * WIDTH).min(WIDTH);
        let out = self.out.moved(r, p * WIDTH);
        // SAFETY: the caller's promise; the columns below `width` are ours.
        let c = unsafe { std::slice::from_raw_parts_mut(out.c, width) };
        match out.start {
            Start::Zero => c.copy_from_slice(&sums[..width]),
            Start::C => c.iter_mut().zip(sums).for_each(|(c, sum)| *c += *sum),
            Start::Row(row) => {
                // SAFETY: as above, the row has these columns too.
                let row = unsafe { std::slice::from_raw_parts(row, width) };
                c.iter_mut().zip(row).zip(sums).for_each(|((c, row), sum)| *c = *row + *sum);
            }
        }
    }
}
