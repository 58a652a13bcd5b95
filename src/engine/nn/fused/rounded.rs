//! Products whose factors are both rounded to bf16 for the occasion.

use super::pack;
use super::pairs::{FACTORS, NONE, lines, panels, panels_transposed, stacked};
use super::tile::{Onto, View};
use super::width::WIDTH;

/// A factor of a product: its numbers, the distance of stored rows, and whether it is transposed.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a> {
    pub data: &'a [f32],
    pub stride: usize,
    pub transposed: bool,
}

impl<'a> Factor<'a> {
    pub fn plain(data: &'a [f32], stride: usize) -> Self {
        Self { data, stride, transposed: false }
    }

    pub fn transposed(data: &'a [f32], stride: usize) -> Self {
        Self { data, stride, transposed: true }
    }

    /// From a row of the matrix to the next, and from a column to the next.
    pub(super) fn strides(self) -> (usize, usize) {
        if self.transposed { (1, self.stride) } else { (self.stride, 1) }
    }
}

/// C [m, n] (+)= A [m, k] B [k, n] with both factors rounded to bf16, on one thread.
///
/// # Panics
/// When a slice is too short.
pub fn product(m: usize, n: usize, k: usize, a: Factor<'_>, b: Factor<'_>, c: &mut [f32], accumulate: bool) {
    let half = k.div_ceil(2);
    let mut factors = FACTORS.take();
    let [left, right] = &mut factors;
    let view = if a.transposed {
        left.resize(half * m, NONE);
        stacked(a.data, a.stride, k, m, left);
        View { data: &left[..], line: 1, k: m }
    } else {
        lines(m, k, a.data, a.stride, left);
        View { data: &left[..], line: half, k: 1 }
    };
    right.resize(n.div_ceil(WIDTH) * WIDTH * half, NONE);
    if b.transposed {
        panels_transposed(b.data, b.stride, k, n, right);
    } else {
        panels(b.data, b.stride, k, n, right);
    }
    let onto = if accumulate { Onto::C } else { Onto::Zero };
    pack::multiply_view(1, m, n, view, right, pack::panels_of(right, half), c, n, onto);
    FACTORS.set(factors);
}
