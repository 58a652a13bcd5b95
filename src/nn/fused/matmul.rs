//! Floor 1: large matrix products on one thread, in `f32` through the `gemm` crate or with factors in bf16.

use gemm::Parallelism;

use super::Precision;
use super::rounded;
use super::rounded::Factor;

/// C [m, n] (+)= A [m, k] B [k, n] with row strides; `a` and `b` may be transposed views by
/// their (row stride, column stride).
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
fn strided(
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    (a_rs, a_cs): (usize, usize),
    b: &[f32],
    (b_rs, b_cs): (usize, usize),
    c: &mut [f32],
    c_rs: usize,
    accumulate: bool,
) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if !accumulate {
            for row in 0..m {
                c[row * c_rs..row * c_rs + n].fill(0.0);
            }
        }
        return;
    }
    assert!(a.len() > (m - 1) * a_rs + (k - 1) * a_cs, "A is too short");
    assert!(b.len() > (k - 1) * b_rs + (n - 1) * b_cs, "B is too short");
    assert!(c.len() >= (m - 1) * c_rs + n, "C is too short");
    // SAFETY: the asserts bound every index of the three strided views; C is exclusive.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            c_rs as isize,
            accumulate,
            a.as_ptr(),
            a_cs as isize,
            a_rs as isize,
            b.as_ptr(),
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

/// C [m, n] (+)= A [m, k] B [k, n], all contiguous.
pub fn matmul(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32], accumulate: bool) {
    strided(m, n, k, a, (k, 1), b, (n, 1), c, n, accumulate);
}

/// C [m, n] (+)= A [m, k] W' with W [n, k]: the input x times a weight [out, in].
pub fn matmul_nt(m: usize, n: usize, k: usize, a: &[f32], w: &[f32], c: &mut [f32], accumulate: bool) {
    strided(m, n, k, a, (k, 1), w, (1, k), c, n, accumulate);
}

/// C [m, n] (+)= A' B with A [k, m] (row stride `lda`), B [k, n] (row stride `ldb`): the gradient of a weight.
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
pub fn matmul_tn(
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    lda: usize,
    b: &[f32],
    ldb: usize,
    c: &mut [f32],
    accumulate: bool,
) {
    strided(m, n, k, a, (1, lda), b, (ldb, 1), c, n, accumulate);
}

/// As [`matmul_nt`] with the first k columns of a wider W [n, ldw].
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
pub fn matmul_nt_columns(
    m: usize,
    n: usize,
    k: usize,
    a: &[f32],
    w: &[f32],
    ldw: usize,
    c: &mut [f32],
    accumulate: bool,
) {
    strided(m, n, k, a, (k, 1), w, (1, ldw), c, n, accumulate);
}

/// As [`matmul`] with the first n columns of a wider B [k, ldb].
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
pub fn matmul_columns(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], ldb: usize, c: &mut [f32], accumulate: bool) {
    strided(m, n, k, a, (k, 1), b, (ldb, 1), c, n, accumulate);
}

/// Rows and columns, and terms of a sum, from which rounding the factors pays.
const WORTHWHILE: (usize, usize) = (64, 16);

/// The products above, with factors kept so.
impl Precision {
    /// Whether factors of this size are rounded.
    fn rounds(self, m: usize, n: usize, k: usize) -> bool {
        self == Self::Bf16 && m.min(n) >= WORTHWHILE.0 && k >= WORTHWHILE.1
    }

    /// As [`matmul`].
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn matmul(self, m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32], accumulate: bool) {
        self.matmul_columns(m, n, k, a, b, n, c, accumulate);
    }

    /// As [`matmul_nt`].
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn matmul_nt(self, m: usize, n: usize, k: usize, a: &[f32], w: &[f32], c: &mut [f32], accumulate: bool) {
        self.matmul_nt_columns(m, n, k, a, w, k, c, accumulate);
    }

    /// As [`matmul_tn`].
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn matmul_tn(
        self,
        m: usize,
        n: usize,
        k: usize,
        a: &[f32],
        lda: usize,
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        accumulate: bool,
    ) {
        if !self.rounds(m, n, k) {
            return matmul_tn(m, n, k, a, lda, b, ldb, c, accumulate);
        }
        let a = Factor { data: a, stride: lda, transposed: true };
        rounded::product(m, n, k, a, Factor { data: b, stride: ldb, transposed: false }, c, accumulate);
    }

    /// As [`matmul_nt_columns`].
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn matmul_nt_columns(
        self,
        m: usize,
        n: usize,
        k: usize,
        a: &[f32],
        w: &[f32],
        ldw: usize,
        c: &mut [f32],
        accumulate: bool,
    ) {
        if !self.rounds(m, n, k) {
            return matmul_nt_columns(m, n, k, a, w, ldw, c, accumulate);
        }
        let a = Factor { data: a, stride: k, transposed: false };
        rounded::product(m, n, k, a, Factor { data: w, stride: ldw, transposed: true }, c, accumulate);
    }

    /// As [`matmul_columns`].
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn matmul_columns(
        self,
        m: usize,
        n: usize,
        k: usize,
        a: &[f32],
        b: &[f32],
        ldb: usize,
        c: &mut [f32],
        accumulate: bool,
    ) {
        if !self.rounds(m, n, k) {
            return matmul_columns(m, n, k, a, b, ldb, c, accumulate);
        }
        let a = Factor { data: a, stride: k, transposed: false };
        rounded::product(m, n, k, a, Factor { data: b, stride: ldb, transposed: false }, c, accumulate);
    }
}
