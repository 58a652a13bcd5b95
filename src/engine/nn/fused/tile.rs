//! The register tiles of all our products: up to twelve lines of A times panels of [`WIDTH`] columns of B, finished in
//! registers and written straight to C. B is `f32`, `f16` widened as it is read, or pairs of `bf16` ([`super::pairs`]).
//! A number of C is the sum over k in order, whatever the number of lines and panels and whether B is `f32` or `f16`,
//! so that neither the other rows nor the number of threads change it.

#[cfg(any(test, target_arch = "wasm32"))]
use super::number::Four;
use super::number::Number;
#[cfg(target_arch = "x86_64")]
use super::pairs;
use super::width::WIDTH;
use super::{Level, level};

/// Most lines of A that one pass over a panel serves.
pub const LINES: usize = 12;

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub enum Onto<'a> {
    Zero,
    C,
    /// A row that is the same for all rows of C.
    Row(&'a [f32]),
}

impl Onto<'_> {
    #[inline(always)]
    pub(super) fn finish(self, columns: usize) -> Finish {
        match self {
            Self::Zero => Finish::Write,
            Self::C => Finish::Add,
            Self::Row(row) => {
                assert!(row.len() >= columns, "a number for each column");
                Finish::Row(row.as_ptr())
            }
        }
    }
}

/// A: the distance between its lines and that between the terms of a sum.
#[derive(Clone, Copy)]
pub(super) struct View<'a, L> {
    pub data: &'a [L],
    pub line: usize,
    pub k: usize,
}

/// Panels of B, from the first number on.
#[derive(Clone, Copy)]
pub(super) struct Panels<T> {
    pub b: *const T,
    pub k: usize,
    /// From a row of a panel to the next.
    pub row: usize,
    /// From a panel to the next.
    pub panel: usize,
}

/// Where a product goes: its first number, its row stride and how it is finished.
#[derive(Clone, Copy)]
pub(super) struct Out {
    pub c: *mut f32,
    pub ldc: usize,
    pub finish: Finish,
}

/// How a sum becomes a number of C. Pointers move with the lines and columns.
#[derive(Clone, Copy)]
pub(super) enum Finish {
    Write,
    Add,
    /// The number of its column is added, and it is written.
    Row(*const f32),
    /// The number of its line is added, it is written, and the maximum of its column is raised.
    Lines {
        bias: *const f32,
        max: *mut f32,
    },
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
    fn moved(self, lines: usize, column: usize) -> Self {
        let finish = match self.finish {
            Finish::Row(row) => Finish::Row(row.wrapping_add(column)),
            Finish::Lines { bias, max } => {
                Finish::Lines { bias: bias.wrapping_add(lines), max: max.wrapping_add(column) }
            }
            Finish::Write => Finish::Write,
            Finish::Add => Finish::Add,
        };
        Self { c: self.c.wrapping_add(lines * self.ldc + column), finish, ..self }
    }
}

/// Calls `work` with the first line and the number of lines of each pass over `lines`. The last two share what is left,
/// so that neither is tiny.
pub(super) fn for_each_pass(lines: usize, mut work: impl FnMut(usize, usize)) {
    let mut first = 0;
    while first < lines {
        let rest = lines - first;
        let pass = if rest > LINES && rest < 2 * LINES { rest.div_ceil(2) } else { rest.min(LINES) };
        work(first, pass);
        first += pass;
    }
}

/// C [m, n] (+)= A [m, k] B for the panels `first..last` of B; panel p makes the columns from p * [`WIDTH`] on.
///
/// # Safety
/// Panels first..last can be read, all [`WIDTH`] columns of them; C (and what it is finished with) has the columns
/// below n of these panels and m lines, and they are the caller's alone.
pub(super) unsafe fn product<T: Number>(
    m: usize, n: usize, a: View<'_, T::Line>, b: Panels<T>, out: Out, first: usize, last: usize,
) {
    let level = level();
    let mut p = first;
    while p < last {
        let whole = last.min(n / WIDTH).saturating_sub(p);
        let together = together(level, m, whole);
        let width = (together * WIDTH).min(n - p * WIDTH);
        let panels = Panels { b: b.b.wrapping_add(p * b.panel), ..b };
        for_each_pass(m, |line, lines| {
            let a = View { data: &a.data[line * a.line..], ..a };
            let tile = Tile { level, a, b: panels, out: out.moved(line, p * WIDTH), width };
            // SAFETY: the caller's promise, for these lines and columns.
            unsafe { tile.run(lines, together) };
        });
        p += together;
    }
}

/// One tile: at most [`LINES`] lines of A times one panel `b` whose rows of [`WIDTH`] numbers are `row` apart, of which
/// `width` columns go to `c`, whose lines are `ldc` apart.
#[inline(always)]
pub(super) fn tile<T: Number>(
    lines: usize, width: usize, k: usize, a: View<'_, T::Line>, b: &[T], row: usize, c: &mut [f32], ldc: usize,
    onto: Onto<'_>,
) {
    checked(lines, width, k, a, b, row, c, ldc, onto.finish(width));
}

#[inline(always)]
pub(super) fn tile_lines<T: Number>(
    lines: usize, k: usize, a: View<'_, T::Line>, b: &[T], c: &mut [f32], ldc: usize, bias: &[f32], max: &mut [f32],
) {
    assert!(bias.len() >= lines && max.len() >= WIDTH, "a bias for each line, a maximum for each column");
    let finish = Finish::Lines { bias: bias.as_ptr(), max: max.as_mut_ptr() };
    checked(lines, WIDTH, k, a, b, WIDTH, c, ldc, finish);
}

#[inline(always)]
fn checked<T: Number>(
    lines: usize, width: usize, k: usize, a: View<'_, T::Line>, b: &[T], row: usize, c: &mut [f32], ldc: usize,
    finish: Finish,
) {
    if k == 0 || lines == 0 || width == 0 {
        return;
    }
    assert!(lines <= LINES && width <= WIDTH, "a tile has at most {LINES} lines and {WIDTH} columns");
    assert!(b.len() >= (k - 1) * row + WIDTH, "B is too short");
    assert!(c.len() >= (lines - 1) * ldc + width, "C is too short");
    let out = Out { c: c.as_mut_ptr(), ldc, finish };
    let tile = Tile { level: level(), a, b: Panels { b: b.as_ptr(), k, row, panel: 0 }, out, width };
    // SAFETY: the asserts bound what is read of B and written; C and the maxima are ours alone.
    unsafe { tile.run(lines, 1) };
}

/// Panels that are read side by side, so that few lines have enough sums to keep the multipliers busy.
fn together(level: Level, lines: usize, whole: usize) -> usize {
    match (level, lines) {
        (Level::Avx512, 1) if whole >= 4 => 4,
        (Level::Avx512, 1 | 2) | (Level::Avx2, 1) if whole >= 2 => 2,
        _ => 1,
    }
}

struct Tile<'a, T: Number> {
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "all have one form there"))]
    level: Level,
    a: View<'a, T::Line>,
    b: Panels<T>,
    out: Out,
    width: usize,
}

/// The kernel of AVX-512 with these features: 2 R P sums of 16 lanes, written by masks where the last panel is not
/// full.
macro_rules! avx512 {
    ($name:ident, $features:literal) => {
        /// # Safety
        /// As [`product`], and the processor has these features.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $name<const R: usize, const P: usize>(&self) {
            use std::arch::x86_64::{
                _MM_HINT_ET0, _mm_prefetch, _mm512_add_ps, _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_max_ps,
                _mm512_set1_ps, _mm512_setzero_ps,
            };
            let (line, step, Panels { k, row, panel, .. }) = (self.a.line, self.a.k, self.b);
            // SAFETY: all offsets stay inside what the caller promises; masks cover no column beyond `width`, and
            // prefetching may point anywhere.
            unsafe {
                let mut sums = [[[_mm512_setzero_ps(); 2]; P]; R];
                for r in 0..R {
                    for half in 0..2 * P {
                        _mm_prefetch::<_MM_HINT_ET0>(self.out.c.wrapping_add(r * self.out.ldc + 16 * half).cast());
                    }
                }
                let (mut a, mut b) = (self.a.data.as_ptr(), self.b.b);
                for _ in 0..k {
                    let mut y = [[_mm512_setzero_ps(); 2]; P];
                    for p in 0..P {
                        y[p] = [T::sixteen(b.add(p * panel)), T::sixteen(b.add(p * panel + 16))];
                    }
                    for r in 0..R {
                        let x = T::all_sixteen(*a.add(r * line));
                        for p in 0..P {
                            sums[r][p][0] = T::add_products_16(sums[r][p][0], x, y[p][0]);
                            sums[r][p][1] = T::add_products_16(sums[r][p][1], x, y[p][1]);
                        }
                    }
                    (a, b) = (a.wrapping_add(step), b.wrapping_add(row));
                }
                // the loops stay small, so that the compiler unrolls them and the sums never leave the registers
                macro_rules! finish {
                    (|$c:ident, $mask:ident, $sum:ident, $at:ident, $r:ident| $value:expr) => {
                        for $r in 0..R {
                            for p in 0..P {
                                for half in 0..2 {
                                    let $at = 16 * (2 * p + half);
                                    let lanes = self.width.saturating_sub($at).min(16);
                                    let $mask = ((1u32 << lanes) - 1) as u16;
                                    let $c = self.out.c.wrapping_add($r * self.out.ldc + $at);
                                    let $sum = sums[$r][p][half];
                                    _mm512_mask_storeu_ps($c, $mask, $value);
                                }
                            }
                        }
                    };
                }
                match self.out.finish {
                    Finish::Write => finish!(|c, mask, sum, at, r| sum),
                    Finish::Add => finish!(|c, mask, sum, at, r| _mm512_add_ps(_mm512_maskz_loadu_ps(mask, c), sum)),
                    Finish::Row(row) => finish!(|c, mask, sum, at, r| {
                        _mm512_add_ps(_mm512_maskz_loadu_ps(mask, row.wrapping_add(at)), sum)
                    }),
                    Finish::Lines { bias, max } => {
                        finish!(|c, mask, sum, at, r| {
                            let sum = _mm512_add_ps(sum, _mm512_set1_ps(*bias.add(r)));
                            let max = max.wrapping_add(at);
                            _mm512_mask_storeu_ps(max, mask, _mm512_max_ps(sum, _mm512_maskz_loadu_ps(mask, max)));
                            sum
                        });
                    }
                }
            }
        }
    };
}

impl<T: Number> Tile<'_, T> {
    /// Calls the kernel for a run-time number of lines and panels.
    ///
    /// # Safety
    /// As [`product`].
    #[cfg(not(target_arch = "wasm32"))]
    #[inline(always)]
    unsafe fn run(&self, lines: usize, panels: usize) {
        macro_rules! kernels {
            ($(($r:literal, $p:literal))*) => {
                match (lines, panels) {
                    // SAFETY: the caller's promise.
                    $(($r, $p) => unsafe { self.kernel::<$r, $p>() },)*
                    _ => debug_assert!(false, "no kernel for {lines} lines and {panels} panels"),
                }
            };
        }
        kernels!((1, 1)(1, 2)(1, 4)(2, 1)(2, 2)(3, 1)(4, 1)(5, 1)(6, 1)(7, 1)(8, 1)(9, 1)(10, 1)(11, 1)(12, 1));
    }

    /// As above, where all have one form: a browser is sent each.
    ///
    /// # Safety
    /// As [`product`].
    #[cfg(target_arch = "wasm32")]
    unsafe fn run(&self, lines: usize, panels: usize) {
        self.check(lines);
        // SAFETY: the check bounds the reads of A, the caller's promise the rest.
        unsafe { self.narrow(lines, panels) };
    }

    #[inline(always)]
    fn check(&self, lines: usize) {
        let last = (lines - 1) * self.a.line + self.b.k.saturating_sub(1) * self.a.k;
        assert!(self.a.data.len() > last || self.b.k == 0, "A is too short");
    }

    /// # Safety
    /// As [`product`].
    #[cfg(not(target_arch = "wasm32"))]
    unsafe fn kernel<const R: usize, const P: usize>(&self) {
        self.check(R);
        match self.level {
            // SAFETY: the processor has the features; the assert bounds the reads of A, the caller's promise the rest.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if !T::PAIRS => unsafe { self.avx512::<R, P>() },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if pairs::multiplied() => unsafe { self.avx512bf16::<R, P>() },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Avx2 => unsafe { self.avx2::<R, P>() },
            // SAFETY: as above.
            _ => unsafe { self.portable::<R, P>() },
        }
    }

    avx512!(avx512, "avx512f");
    avx512!(avx512bf16, "avx512f,avx512bf16");

    /// Three lines at a time: 12 sums of 8 lanes and 4 of B; one line has two panels, 8 sums.
    ///
    /// # Safety
    /// As [`product`], and the processor has AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn avx2<const R: usize, const P: usize>(&self) {
        let mut r = 0;
        while r < R {
            // SAFETY: the caller's promise, for these lines.
            unsafe {
                match R - r {
                    1 => self.avx2_lines::<1, P>(r),
                    2 => self.avx2_lines::<2, P>(r),
                    _ => self.avx2_lines::<3, P>(r),
                }
            }
            r += 3;
        }
    }

    /// # Safety
    /// As [`Tile::avx2`], for the lines from `from` on.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn avx2_lines<const R: usize, const P: usize>(&self, from: usize) {
        use std::arch::x86_64::{_mm256_setzero_ps, _mm256_storeu_ps};
        let (line, step, Panels { b, k, row, panel }) = (self.a.line, self.a.k, self.b);
        // SAFETY: all offsets stay inside what the caller promises; `buffer` has the numbers of four sums.
        unsafe {
            let a = self.a.data.as_ptr().add(from * line);
            let mut sums = [[[_mm256_setzero_ps(); 4]; P]; R];
            for i in 0..k {
                for p in 0..P {
                    let at = b.add(p * panel + i * row);
                    let y = [T::eight(at), T::eight(at.add(8)), T::eight(at.add(16)), T::eight(at.add(24))];
                    for r in 0..R {
                        let x = T::all_eight(*a.add(r * line + i * step));
                        for l in 0..4 {
                            sums[r][p][l] = T::add_products_8(sums[r][p][l], x, y[l]);
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

    /// The plain twin for vectors of four numbers: so many lines and columns at a time that the sums stay in the
    /// sixteen registers that a browser has.
    ///
    /// # Safety
    /// As [`product`].
    #[cfg(any(test, target_arch = "wasm32"))]
    unsafe fn narrow(&self, all: usize, panels: usize) {
        for p in 0..panels {
            let mut r = 0;
            while r < all {
                // the last two passes share what is left
                let rest = all - r;
                let lines = if rest > 5 && rest < 10 { rest.div_ceil(2) } else { rest.min(5) };
                // SAFETY: the caller's promise, for these lines.
                unsafe {
                    match lines {
                        1 => self.narrow_lines::<1, 8>(r, p),
                        2 => self.narrow_lines::<2, 4>(r, p),
                        3 => self.narrow_lines::<3, 2>(r, p),
                        4 => self.narrow_lines::<4, 2>(r, p),
                        _ => self.narrow_lines::<5, 2>(r, p),
                    }
                }
                r += lines;
            }
        }
    }

    /// # Safety
    /// As [`product`], for the lines from `from` on.
    #[cfg(any(test, target_arch = "wasm32"))]
    #[inline(always)]
    unsafe fn narrow_lines<const R: usize, const V: usize>(&self, from: usize, p: usize) {
        let (line, step, Panels { b, k, row, panel }) = (self.a.line, self.a.k, self.b);
        let mut whole = [[0.0f32; WIDTH]; R];
        for column in (0..WIDTH).step_by(4 * V) {
            // SAFETY: [`Tile::kernel`] bounds the reads of A, the caller's promise those of B: a part of a row of a panel;
            // four sums are four `f32`, and a line of `whole` has those of these columns.
            unsafe {
                let mut sums = [[std::mem::transmute::<[f32; 4], Four>([0.0; 4]); V]; R];
                let (mut a, mut b) = (self.a.data.as_ptr().add(from * line), b.wrapping_add(p * panel + column));
                for _ in 0..k {
                    for r in 0..R {
                        let x = *a.add(r * line);
                        for v in 0..V {
                            sums[r][v] = T::add_products_4(sums[r][v], x, b.add(4 * v));
                        }
                    }
                    (a, b) = (a.wrapping_add(step), b.wrapping_add(row));
                }
                for r in 0..R {
                    for v in 0..V {
                        whole[r].as_mut_ptr().add(column + 4 * v).cast::<Four>().write_unaligned(sums[r][v]);
                    }
                }
            }
        }
        for r in 0..R {
            // SAFETY: the caller's promise.
            unsafe { self.write(from + r, p, &whole[r]) };
        }
    }

    /// The plain twin.
    ///
    /// # Safety
    /// As [`product`].
    #[cfg(not(target_arch = "wasm32"))]
    unsafe fn portable<const R: usize, const P: usize>(&self) {
        let Panels { b, k, row, panel } = self.b;
        for p in 0..P {
            let mut sums = [[0.0f32; WIDTH]; R];
            for i in 0..k {
                // SAFETY: the caller's promise: a row of a panel has WIDTH numbers.
                let y = unsafe { std::slice::from_raw_parts(b.wrapping_add(p * panel + i * row), WIDTH) };
                for (r, sums) in sums.iter_mut().enumerate() {
                    let x = self.a.data[r * self.a.line + i * self.a.k];
                    for (sum, y) in sums.iter_mut().zip(y) {
                        *sum = T::add_product(*sum, x, *y);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { self.write(r, p, sums) };
            }
        }
    }

    /// Finishes the sums of line `r` and panel `p`.
    ///
    /// # Safety
    /// As [`product`].
    #[inline(always)]
    unsafe fn write(&self, r: usize, p: usize, sums: &[f32; WIDTH]) {
        let width = self.width.saturating_sub(p * WIDTH).min(WIDTH);
        let out = self.out.moved(r, p * WIDTH);
        // SAFETY: the caller's promise; the columns below `width` are ours.
        let c = unsafe { std::slice::from_raw_parts_mut(out.c, width) };
        match out.finish {
            Finish::Write => c.copy_from_slice(&sums[..width]),
            Finish::Add => c.iter_mut().zip(sums).for_each(|(c, sum)| *c += *sum),
            Finish::Row(row) => {
                // SAFETY: as above, the row has these columns too.
                let row = unsafe { std::slice::from_raw_parts(row, width) };
                c.iter_mut().zip(row).zip(sums).for_each(|((c, row), sum)| *c = *row + *sum);
            }
            Finish::Lines { bias, max } => {
                // SAFETY: as above, there is a number for this line and one for each of these columns.
                let (bias, max) = unsafe { (*bias, std::slice::from_raw_parts_mut(max, width)) };
                for ((c, max), sum) in c.iter_mut().zip(max).zip(sums) {
                    *c = sum + bias;
                    *max = if *c > *max { *c } else { *max };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C of `R` lines and `P` panels by one of the plain forms.
    fn made<const R: usize, const P: usize>(k: usize, width: usize, is_narrow: bool) -> Vec<f32> {
        let numbers = |count: usize, by: usize| (0..count).map(|n| ((n * by) % 23) as f32 / 7.0 - 1.5).collect();
        let (a, b): (Vec<f32>, Vec<f32>) = (numbers(R * k, 5), numbers(P * k * WIDTH, 11));
        let mut c: Vec<f32> = numbers(R * width, 3);
        let tile = Tile {
            level: Level::Base,
            a: View { data: &a, line: k, k: 1 },
            b: Panels { b: b.as_ptr(), k, row: WIDTH, panel: k * WIDTH },
            out: Out { c: c.as_mut_ptr(), ldc: width, finish: Finish::Add },
            width,
        };
        // SAFETY: A, B and C have the sizes that the tile names.
        unsafe { if is_narrow { tile.narrow(R, P) } else { tile.portable::<R, P>() } }
        c
    }

    #[test]
    fn the_form_for_few_registers_gives_the_numbers_of_the_plain_one() {
        for (k, width) in [(1, 32), (7, 20), (64, 31)] {
            assert_eq!(made::<1, 1>(k, width, true), made::<1, 1>(k, width, false));
            assert_eq!(made::<2, 1>(k, width, true), made::<2, 1>(k, width, false));
            assert_eq!(made::<5, 1>(k, width, true), made::<5, 1>(k, width, false));
            assert_eq!(made::<12, 1>(k, width, true), made::<12, 1>(k, width, false));
            assert_eq!(made::<3, 2>(k, width + 32, true), made::<3, 2>(k, width + 32, false));
        }
    }
}
