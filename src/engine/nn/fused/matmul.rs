//! Large matrix products on one thread, in `f32` through the `gemm` crate or with factors in bf16.

use gemm::Parallelism;

use super::rounded::Factor;
use super::{Precision, rounded};

/// C [m, n] (+)= A [m, k] B [k, n] in `f32`; C is contiguous.
fn single(m: usize, n: usize, k: usize, a: Factor<'_>, b: Factor<'_>, c: &mut [f32], accumulate: bool) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if !accumulate {
            c[..m * n].fill(0.0);
        }
        return;
    }
    let ((a_rs, a_cs), (b_rs, b_cs)) = (a.strides(), b.strides());
    assert!(a.data.len() > (m - 1) * a_rs + (k - 1) * a_cs, "A is too short");
    assert!(b.data.len() > (k - 1) * b_rs + (n - 1) * b_cs, "B is too short");
    assert!(c.len() >= m * n, "C is too short");
    // SAFETY: the asserts bound every index of the three strided views; C is exclusive.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            accumulate,
            a.data.as_ptr(),
            a_cs as isize,
            a_rs as isize,
            b.data.as_ptr(),
            b_cs as isize,
            b_rs as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// Rows and columns, and terms of a sum, from which rounding the factors pays.
const WORTHWHILE: (usize, usize) = (64, 16);

impl Precision {
    /// C [m, n] (+)= A [m, k] B [k, n]; C is contiguous.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn product(self, m: usize, n: usize, k: usize, a: Factor<'_>, b: Factor<'_>, c: &mut [f32], accumulate: bool) {
        if self == Self::Bf16 && m.min(n) >= WORTHWHILE.0 && k >= WORTHWHILE.1 {
            rounded::product(m, n, k, a, b, c, accumulate);
        } else {
            single(m, n, k, a, b, c, accumulate);
        }
    }

    /// C [m, n] (+)= A [m, k] B [k, n], all contiguous.
    pub fn matmul(self, m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32], accumulate: bool) {
        self.product(m, n, k, Factor::plain(a, k), Factor::plain(b, n), c, accumulate);
    }

    /// C [m, n] (+)= A [m, k] W' with W [n, k]: the input x times a weight [out, in].
    pub fn matmul_nt(self, m: usize, n: usize, k: usize, a: &[f32], w: &[f32], c: &mut [f32], accumulate: bool) {
        self.product(m, n, k, Factor::plain(a, k), Factor::transposed(w, k), c, accumulate);
    }

    /// C [m, n] (+)= A' B with A [k, m] (row stride `lda`), B [k, n] (row stride `ldb`): the gradient of a weight.
    pub fn matmul_tn(
        self, m: usize, n: usize, k: usize, a: &[f32], lda: usize, b: &[f32], ldb: usize, c: &mut [f32],
        accumulate: bool,
    ) {
        self.product(m, n, k, Factor::transposed(a, lda), Factor::plain(b, ldb), c, accumulate);
    }
}
