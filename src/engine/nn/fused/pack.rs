//! Products of few rows with a weight that is packed once and used at every step. B [k, n] lies in panels of [`WIDTH`]
//! columns, k rows of [`WIDTH`] numbers each, so that it is read once from start to end. A weight whose numbers are all
//! f16 can be kept as f16: half the memory to hold and to read, and the same product, since widening loses nothing.

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use super::tile::{Onto, Out, Panels, View};
use super::{Level, Precision, level};
use super::{number::Number, pages::PagedNumbers, pairs, pairs::Pair, sixteen::Sixteen, team, tile, width::WIDTH};

/// Numbers of a weight that takes so long to read that rounding it pays; a smaller one stays as it is.
pub const LARGE: usize = 1 << 16;

/// A weight packed for `x W'` or `y W`.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    k: usize,
    n: usize,
    panels: Numbers,
}

#[derive(Clone, Debug)]
enum Numbers {
    Full(PagedNumbers<f32>),
    Half(PagedNumbers<f16>),
    /// Rounded to bf16, two rows of B in one.
    Pairs(Vec<Pair>),
    Integers(Sixteen),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Full(PagedNumbers::default())
    }
}

impl Packed {
    /// For C = A W' with W [n, k] (an [out, in] weight applied to rows).
    pub fn transposed(w: &[f32], n: usize, k: usize) -> Self {
        let mut packed = Self::default();
        packed.pack_transposed(Precision::F32, w, n, k);
        packed
    }

    /// For C = A W with W [k, n] (the gradient through an [out, in] weight, out = k).
    pub fn plain(w: &[f32], k: usize, n: usize) -> Self {
        let mut packed = Self::default();
        packed.pack_plain(Precision::F32, w, k, n);
        packed
    }

    /// [`Packed::transposed`], kept as f16 if no number changes and the processor widens f16 as it reads.
    pub fn compact(w: &[f32], n: usize, k: usize) -> Self {
        Self::half(w, n, k).unwrap_or_else(|| Self::transposed(w, n, k))
    }

    fn half(w: &[f32], n: usize, k: usize) -> Option<Self> {
        let halves = if level() > Level::Base { halves(w)? } else { return None };
        let mut panels = PagedNumbers::filled(n.div_ceil(WIDTH) * WIDTH * k, f16::ZERO);
        fill_transposed(&mut panels, &halves, f16::ZERO, n, k);
        Some(Self { k, n, panels: Numbers::Half(panels) })
    }

    /// [`Packed::compact`], but rounded to 16-bit integers ([`super::sixteen`]) where f16 would change a number and the
    /// weight is [`LARGE`].
    pub fn rounded(w: &[f32], n: usize, k: usize) -> Self {
        let integers = || if w.len() < LARGE { None } else { Sixteen::new(w, n, k) };
        let rounded = || integers().map(|integers| Self { k, n, panels: Numbers::Integers(integers) });
        Self::half(w, n, k).or_else(rounded).unwrap_or_else(|| Self::transposed(w, n, k))
    }

    /// Whether it holds other numbers than it was packed from.
    pub fn is_rounded(&self) -> bool {
        matches!(self.panels, Numbers::Integers(_) | Numbers::Pairs(_))
    }

    pub fn is_half(&self) -> bool {
        matches!(self.panels, Numbers::Half(_))
    }

    fn resize(&mut self, k: usize, n: usize) -> &mut [f32] {
        (self.k, self.n) = (k, n);
        if !matches!(self.panels, Numbers::Full(_)) {
            self.panels = Numbers::default();
        }
        let Numbers::Full(panels) = &mut self.panels else { return &mut [] };
        let length = n.div_ceil(WIDTH) * WIDTH * k;
        if panels.len() != length {
            *panels = PagedNumbers::filled(length, 0.0);
        }
        panels
    }

    fn resize_pairs(&mut self, k: usize, n: usize) -> &mut [Pair] {
        (self.k, self.n) = (k, n);
        if !matches!(self.panels, Numbers::Pairs(_)) {
            self.panels = Numbers::Pairs(Vec::new());
        }
        let Numbers::Pairs(panels) = &mut self.panels else { return &mut [] };
        panels.resize(n.div_ceil(WIDTH) * WIDTH * k.div_ceil(2), pairs::NONE);
        panels
    }

    /// Packs again, reusing the memory; see [`Packed::transposed`]. With bf16, what it is applied to is rounded too.
    ///
    /// # Panics
    /// When `w` has another size.
    pub fn pack_transposed(&mut self, precision: Precision, w: &[f32], n: usize, k: usize) {
        assert_eq!(w.len(), n * k, "a weight of [n, k]");
        if precision == Precision::Bf16 {
            return pairs::panels_transposed(w, k, k, n, self.resize_pairs(k, n));
        }
        fill_transposed(self.resize(k, n), w, 0.0, n, k);
    }

    /// Packs again, reusing the memory; see [`Packed::plain`]. With bf16, what it is applied to is rounded too.
    ///
    /// # Panics
    /// When `w` has another size.
    pub fn pack_plain(&mut self, precision: Precision, w: &[f32], k: usize, n: usize) {
        assert_eq!(w.len(), n * k, "a weight of [k, n]");
        if precision == Precision::Bf16 {
            return pairs::panels(w, n, k, n, self.resize_pairs(k, n));
        }
        fill_plain(self.resize(k, n), w, k, n);
    }

    /// Row `v` of the W [n, k] that it was packed from, behind the numbers in `all`; nothing where it was rounded.
    pub fn append_row(&self, v: usize, all: &mut Vec<f32>) {
        let column = v / WIDTH * WIDTH * self.k + v % WIDTH;
        match &self.panels {
            Numbers::Full(b) => all.extend(b[column..].iter().step_by(WIDTH).take(self.k)),
            Numbers::Half(b) => all.extend(b[column..].iter().step_by(WIDTH).take(self.k).map(|x| x.to_f32())),
            Numbers::Pairs(_) | Numbers::Integers(_) => {}
        }
    }

    pub fn columns(&self) -> usize {
        self.n
    }

    /// C [m, n] (+)= A [m, k] B; `a` and `c` have row strides `lda` and `ldc`.
    pub fn apply(&self, m: usize, a: &[f32], lda: usize, c: &mut [f32], ldc: usize, accumulate: bool) {
        self.apply_on(1, m, a, lda, c, ldc, if accumulate { Onto::C } else { Onto::Zero });
    }

    /// [`Packed::apply`] onto `onto`, shared among up to `threads` threads of the pool if it is large enough.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn apply_on(&self, threads: usize, m: usize, a: &[f32], lda: usize, c: &mut [f32], ldc: usize, onto: Onto<'_>) {
        match &self.panels {
            Numbers::Full(b) => multiply(threads, m, self.n, a, lda, b, panels_of(b, self.k), c, ldc, onto),
            Numbers::Half(b) => multiply(threads, m, self.n, a, lda, b, panels_of(b, self.k), c, ldc, onto),
            Numbers::Pairs(b) => {
                let half = self.k.div_ceil(2);
                pairs::with_lines(m, self.k, a, lda, |a| {
                    multiply(threads, m, self.n, a, half, b, panels_of(b, half), c, ldc, onto);
                });
            }
            Numbers::Integers(integers) => integers.apply(threads, (m, self.n, self.k), a, lda, c, ldc, onto),
        }
    }
}

/// The panels of W [k, n].
pub(super) fn fill_plain(panels: &mut [f32], w: &[f32], k: usize, n: usize) {
    for (p, panel) in panels.chunks_exact_mut(WIDTH * k.max(1)).enumerate() {
        let first = p * WIDTH;
        let width = WIDTH.min(n - first);
        for (row, w) in panel.chunks_exact_mut(WIDTH).zip(w.chunks_exact(n)) {
            row[..width].copy_from_slice(&w[first..first + width]);
            row[width..].fill(0.0);
        }
    }
}

/// The panels of W' with W [n, k].
pub(super) fn fill_transposed<T: Copy>(panels: &mut [T], w: &[T], zero: T, n: usize, k: usize) {
    /// Rows of a panel that are written together: few enough to stay in the first-level cache.
    const BLOCK: usize = 64;
    for (p, panel) in panels.chunks_exact_mut(WIDTH * k.max(1)).enumerate() {
        for (block, rows) in panel.chunks_mut(WIDTH * BLOCK).enumerate() {
            for l in 0..WIDTH {
                let column = p * WIDTH + l;
                let count = rows.len() / WIDTH;
                if column < n {
                    let from = column * k + block * BLOCK;
                    for (i, v) in w[from..from + count].iter().enumerate() {
                        rows[i * WIDTH + l] = *v;
                    }
                } else {
                    (0..count).for_each(|i| rows[i * WIDTH + l] = zero);
                }
            }
        }
    }
}

pub(super) fn panels_of<T>(b: &[T], k: usize) -> Panels<T> {
    Panels { b: b.as_ptr(), k, row: WIDTH, panel: WIDTH * k }
}

fn halves(numbers: &[f32]) -> Option<Vec<f16>> {
    const BLOCK: usize = 4096;
    let mut halves = vec![f16::ZERO; numbers.len()];
    let mut again = [0.0f32; BLOCK];
    for (numbers, halves) in numbers.chunks(BLOCK).zip(halves.chunks_mut(BLOCK)) {
        halves.convert_from_f32_slice(numbers);
        let again = &mut again[..numbers.len()];
        halves.convert_to_f32_slice(again);
        let same = again.iter().zip(numbers).fold(true, |same, (a, b)| same & (a.to_bits() == b.to_bits()));
        if !same {
            return None;
        }
    }
    Some(halves)
}

/// Columns that B must have for [`mix`]: whole panels.
pub fn padded(columns: usize) -> usize {
    columns.next_multiple_of(WIDTH)
}

/// C [m, n] (+)= A [m, k] B with a B that is made anew for each sentence and so not packed: its rows have the
/// stride `ldb`, at least [`padded`] of n. For a few rows only: B is read for every twelve rows of A.
///
/// # Panics
/// When a slice is too short.
pub fn mix(
    threads: usize, m: usize, n: usize, k: usize, a: &[f32], lda: usize, b: &[f32], ldb: usize, c: &mut [f32],
    ldc: usize, onto: Onto<'_>,
) {
    assert!(ldb >= padded(n) && b.len() >= k * ldb, "B is too short");
    multiply(threads, m, n, a, lda, b, Panels { b: b.as_ptr(), k, row: ldb, panel: WIDTH }, c, ldc, onto);
}

/// Multiplications that one more thread is worth; a product of few rows costs more for each.
const WORTHWHILE: usize = 1 << 18;
/// Rows that a product of fewer rows costs: then B is read rather than multiplied.
const READING: usize = 3;
/// Pieces that each thread's share of a product is cut into.
const CUTS: usize = 4;

/// Checks the sizes and shares the panels among threads. `b` is what `panels` points into.
fn multiply<T: Number>(
    threads: usize, m: usize, n: usize, a: &[T::Line], lda: usize, b: &[T], panels: Panels<T>, c: &mut [f32],
    ldc: usize, onto: Onto<'_>,
) {
    assert!(lda >= panels.k, "rows of A do not overlap");
    multiply_view(threads, m, n, View { data: a, line: lda, k: 1 }, b, panels, c, ldc, onto);
}

pub(super) fn multiply_view<T: Number>(
    threads: usize, m: usize, n: usize, a: View<'_, T::Line>, b: &[T], panels: Panels<T>, c: &mut [f32], ldc: usize,
    onto: Onto<'_>,
) {
    if m == 0 || n == 0 {
        return;
    }
    let (k, count) = (panels.k, n.div_ceil(WIDTH));
    assert!(k == 0 || a.data.len() > (m - 1) * a.line + (k - 1) * a.k, "A is too short");
    assert!(c.len() >= (m - 1) * ldc + n && ldc >= n, "C is too short");
    assert!(k == 0 || b.len() >= (count - 1) * panels.panel + (k - 1) * panels.row + WIDTH, "B is too short");
    let out = Out { c: c.as_mut_ptr(), ldc, finish: onto.finish(n) };
    let threads = threads.min(count).min(n * k * (m + READING) / WORTHWHILE + 1);
    // some parts a thread, so that none waits long for another that began late
    let cuts = if threads > 1 { (threads * CUTS).min(count) } else { 1 };
    team::run(threads, cuts, &|cut| {
        let (first, last) = (count * cut / cuts, count * (cut + 1) / cuts);
        // SAFETY: the asserts bound A, B, C and the row; no two cuts share a panel, so none a column of C.
        unsafe { tile::product(m, n, a, panels, out, first, last) };
    });
}
