//! Floor 1: products of few rows with a weight that is packed once and used at every step.
//!
//! B [k, n] lies in panels of [`WIDTH`] columns, each panel k rows of [`WIDTH`] numbers, so that
//! the kernel reads it once from start to end, whatever the number of rows of A.

use super::Level;
use super::level;
use super::team;

/// Columns of a panel.
pub const WIDTH: usize = 32;
/// Most rows of A that one pass over a panel serves.
const ROWS: usize = 12;

/// A weight packed for `x W'` or `y W`.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    k: usize,
    n: usize,
    panels: Vec<f32>,
}

impl Packed {
    /// For C = A W' with W [n, k] (an [out, in] weight applied to rows).
    #[must_use]
    pub fn transposed(w: &[f32], n: usize, k: usize) -> Self {
        let mut packed = Self::default();
        packed.pack_transposed(w, n, k);
        packed
    }

    /// For C = A W with W [k, n] (the gradient through an [out, in] weight, out = k).
    #[must_use]
    pub fn plain(w: &[f32], k: usize, n: usize) -> Self {
        let mut packed = Self::default();
        packed.pack_plain(w, k, n);
        packed
    }

    fn resize(&mut self, k: usize, n: usize) {
        (self.k, self.n) = (k, n);
        self.panels.resize(n.div_ceil(WIDTH) * WIDTH * k, 0.0);
    }

    /// Packs again, reusing the memory; see [`Packed::transposed`].
    ///
    /// # Panics
    /// When `w` has another size.
    pub fn pack_transposed(&mut self, w: &[f32], n: usize, k: usize) {
        assert_eq!(w.len(), n * k, "a weight of [n, k]");
        self.resize(k, n);
        for (p, panel) in self.panels.chunks_exact_mut(WIDTH * k.max(1)).enumerate() {
            for l in 0..WIDTH {
                let column = p * WIDTH + l;
                if column < n {
                    for (i, v) in w[column * k..(column + 1) * k].iter().enumerate() {
                        panel[i * WIDTH + l] = *v;
                    }
                } else {
                    for i in 0..k {
                        panel[i * WIDTH + l] = 0.0;
                    }
                }
            }
        }
    }

    /// Packs again, reusing the memory; see [`Packed::plain`].
    ///
    /// # Panics
    /// When `w` has another size.
    pub fn pack_plain(&mut self, w: &[f32], k: usize, n: usize) {
        assert_eq!(w.len(), n * k, "a weight of [k, n]");
        self.resize(k, n);
        for (p, panel) in self.panels.chunks_exact_mut(WIDTH * k.max(1)).enumerate() {
            let first = p * WIDTH;
            let width = WIDTH.min(n - first);
            for i in 0..k {
                let row = &mut panel[i * WIDTH..(i + 1) * WIDTH];
                row[..width].copy_from_slice(&w[i * n + first..i * n + first + width]);
                row[width..].fill(0.0);
            }
        }
    }

    /// Columns of the product.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.n
    }

    /// C [m, n] (+)= A [m, k] B; `a` and `c` have row strides `lda` and `ldc`.
    pub fn apply(&self, m: usize, a: &[f32], lda: usize, c: &mut [f32], ldc: usize, accumulate: bool) {
        self.check(m, a, lda, c.len(), ldc);
        let out = Out { c: c.as_mut_ptr(), ldc, accumulate };
        // SAFETY: checked above, and C is ours alone.
        unsafe { self.run(m, a, lda, out, 0, self.n.div_ceil(WIDTH)) };
    }

    /// As [`Packed::apply`], the panels shared among up to `threads` threads of the current pool
    /// where the product is large enough to be worth it.
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn apply_on(
        &self,
        threads: usize,
        m: usize,
        a: &[f32],
        lda: usize,
        c: &mut [f32],
        ldc: usize,
        accumulate: bool,
    ) {
        let panels = self.n.div_ceil(WIDTH);
        let parts = threads.min(panels).min(self.panels.len() / WORTHWHILE + 1);
        if parts <= 1 {
            self.apply(m, a, lda, c, ldc, accumulate);
            return;
        }
        self.check(m, a, lda, c.len(), ldc);
        let out = Out { c: c.as_mut_ptr(), ldc, accumulate };
        // some parts a thread, so that none waits long for another that began late
        let cuts = (parts * CUTS).min(panels);
        team::run(parts, cuts, &|cut| {
            let (first, last) = (panels * cut / cuts, panels * (cut + 1) / cuts);
            // SAFETY: checked above; the cuts share no panel, so no column of C.
            unsafe { self.run(m, a, lda, out, first, last) };
        });
    }

    fn check(&self, m: usize, a: &[f32], lda: usize, c: usize, ldc: usize) {
        if m > 0 && self.n > 0 {
            assert!(a.len() >= (m - 1) * lda + self.k && lda >= self.k, "A is too short");
            assert!(c >= (m - 1) * ldc + self.n && ldc >= self.n, "C is too short");
        }
    }

    /// Panels `first..last`.
    ///
    /// # Safety
    /// [`Packed::check`] passed for these sizes and the C that `out` points to, which no one else uses
    /// meanwhile but calls with other panels.
    unsafe fn run(&self, m: usize, a: &[f32], lda: usize, out: Out, first: usize, last: usize) {
        for p in first..last {
            let panel = &self.panels[p * WIDTH * self.k..(p + 1) * WIDTH * self.k];
            let width = WIDTH.min(self.n - p * WIDTH);
            let mut row = 0;
            while row < m {
                // the last two passes share the rows, so that neither is tiny
                let rest = m - row;
                let rows = if rest > ROWS && rest < 2 * ROWS { rest.div_ceil(2) } else { rest.min(ROWS) };
                let a = &a[row * lda..];
                // SAFETY: `check` bounds the rows and columns; panels do not overlap in C.
                unsafe {
                    let out = Out { c: out.c.add(row * out.ldc + p * WIDTH), ..out };
                    block(rows, self.k, a, lda, panel, out, width);
                }
                row += rows;
            }
        }
    }
}

/// Numbers of a packed weight that one more thread is worth.
const WORTHWHILE: usize = 1 << 18;

/// Pieces that each thread's share of a product is cut into.
const CUTS: usize = 4;

/// Where a product goes: the place of its first number, the row stride, and whether it is added.
#[derive(Clone, Copy)]
struct Out {
    c: *mut f32,
    ldc: usize,
    accumulate: bool,
}

// SAFETY: `Packed::run` writes only the panels that it was given, and no two threads get the same one.
unsafe impl Send for Out {}
// SAFETY: as above; a shared `Out` is only copied.
unsafe impl Sync for Out {}

/// Calls the kernel for a run-time number of rows.
///
/// # Safety
/// As [`kernel`].
unsafe fn block(rows: usize, k: usize, a: &[f32], lda: usize, panel: &[f32], out: Out, width: usize) {
    macro_rules! rows {
        ($($r:literal)*) => {
            match rows {
                // SAFETY: the caller's promise.
                $($r => unsafe { kernel::<$r>(k, a, lda, panel, out, width) },)*
                _ => unreachable_rows(rows),
            }
        };
    }
    rows!(1 2 3 4 5 6 7 8 9 10 11 12);
}

#[cold]
fn unreachable_rows(rows: usize) {
    debug_assert!(false, "a block has 1 to {ROWS} rows, not {rows}");
}

/// R rows of A times one panel, written or added to `out`.
///
/// # Safety
/// `out` has R rows of `width` columns that are the caller's alone.
unsafe fn kernel<const R: usize>(k: usize, a: &[f32], lda: usize, panel: &[f32], out: Out, width: usize) {
    assert!(a.len() >= (R - 1) * lda + k && panel.len() >= k * WIDTH);
    let mut tile = [[0.0f32; WIDTH]; R];
    match level() {
        // SAFETY: the processor has the features; the assert bounds every read.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::<R>(k, a.as_ptr(), lda, panel.as_ptr(), &mut tile) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::<R>(k, a, lda, panel, &mut tile) },
        _ => portable::<R>(k, a, lda, panel, &mut tile),
    }
    for (r, tile) in tile.iter().enumerate() {
        // SAFETY: the caller's promise.
        let c = unsafe { std::slice::from_raw_parts_mut(out.c.add(r * out.ldc), width) };
        if out.accumulate {
            for (c, t) in c.iter_mut().zip(tile) {
                *c += *t;
            }
        } else {
            c.copy_from_slice(&tile[..width]);
        }
    }
}

/// R rows times one panel, 2 R accumulators of 16 lanes.
///
/// # Safety
/// `a` holds R rows of stride `lda` with k numbers each, `panel` k rows of [`WIDTH`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512<const R: usize>(k: usize, a: *const f32, lda: usize, panel: *const f32, tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::x86_64::_mm512_fmadd_ps;
    use std::arch::x86_64::_mm512_loadu_ps;
    use std::arch::x86_64::_mm512_set1_ps;
    use std::arch::x86_64::_mm512_setzero_ps;
    use std::arch::x86_64::_mm512_storeu_ps;
    // SAFETY: all offsets stay inside what the caller promises.
    unsafe {
        let mut acc = [[_mm512_setzero_ps(); 2]; R];
        for i in 0..k {
            let b0 = _mm512_loadu_ps(panel.add(i * WIDTH));
            let b1 = _mm512_loadu_ps(panel.add(i * WIDTH + 16));
            for r in 0..R {
                let x = _mm512_set1_ps(*a.add(r * lda + i));
                acc[r][0] = _mm512_fmadd_ps(x, b0, acc[r][0]);
                acc[r][1] = _mm512_fmadd_ps(x, b1, acc[r][1]);
            }
        }
        for r in 0..R {
            _mm512_storeu_ps(tile[r].as_mut_ptr(), acc[r][0]);
            _mm512_storeu_ps(tile[r].as_mut_ptr().add(16), acc[r][1]);
        }
    }
}

/// As [`portable`], compiled with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<const R: usize>(k: usize, a: &[f32], lda: usize, panel: &[f32], tile: &mut [[f32; WIDTH]; R]) {
    use std::arch::x86_64::_mm256_fmadd_ps;
    use std::arch::x86_64::_mm256_loadu_ps;
    use std::arch::x86_64::_mm256_set1_ps;
    use std::arch::x86_64::_mm256_setzero_ps;
    use std::arch::x86_64::_mm256_storeu_ps;
    // three rows at a time: 12 accumulators of 8 lanes, 4 of the panel
    let mut r = 0;
    while r < R {
        let rows = (R - r).min(3);
        let mut acc = [[_mm256_setzero_ps(); 4]; 3];
        for (i, b) in panel.as_chunks::<WIDTH>().0.iter().take(k).enumerate() {
            // SAFETY: b has WIDTH = 4 * 8 numbers.
            let b = unsafe { [0, 8, 16, 24].map(|o| _mm256_loadu_ps(b.as_ptr().add(o))) };
            for q in 0..rows {
                let x = _mm256_set1_ps(a[(r + q) * lda + i]);
                for l in 0..4 {
                    acc[q][l] = _mm256_fmadd_ps(x, b[l], acc[q][l]);
                }
            }
        }
        for q in 0..rows {
            for l in 0..4 {
                // SAFETY: a tile row has WIDTH = 4 * 8 numbers.
                unsafe { _mm256_storeu_ps(tile[r + q].as_mut_ptr().add(8 * l), acc[q][l]) };
            }
        }
        r += rows;
    }
}

/// The plain twin.
fn portable<const R: usize>(k: usize, a: &[f32], lda: usize, panel: &[f32], tile: &mut [[f32; WIDTH]; R]) {
    for (i, b) in panel.as_chunks::<WIDTH>().0.iter().take(k).enumerate() {
        for (r, tile) in tile.iter_mut().enumerate() {
            let x = a[r * lda + i];
            for l in 0..WIDTH {
                tile[l] += x * b[l];
            }
        }
    }
}
