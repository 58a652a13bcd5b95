//! Y = W x + b for all rows of a shard at once, forward and backward.

use std::ops::Range;

use crate::fused::parts::FusedParts;
use engine::nn::fused::elementwise::{add_column_sums, tanh_all};
use engine::nn::fused::fill_rows;

/// W [out, width] and b [out], or several of them below each other.
#[derive(Clone, Debug)]
pub struct Affine<'a> {
    model: FusedParts<'a>,
    matrix: Range<usize>,
    bias: Range<usize>,
    out: usize,
    width: usize,
}

impl<'a> Affine<'a> {
    /// The places that begin at these tensors.
    pub fn new(model: FusedParts<'a>, (matrix, bias): (&str, &str), out: usize, width: usize) -> Self {
        let (matrix, bias) = (model.layout.at(matrix), model.layout.at(bias));
        Self { model, matrix: matrix..matrix + out * width, bias: bias..bias + out, out, width }
    }

    /// y [rows, out] from x [rows, width].
    pub fn forward(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        let Self { model, out, width, .. } = self;
        fill_rows(&model.flat[self.bias.clone()], y);
        model.precision.matmul_nt(rows, *out, *width, x, &model.flat[self.matrix.clone()], y, true);
    }

    /// From the gradient of y to those of W, b and x, which are added.
    pub fn back(&self, rows: usize, d: &[f32], x: &[f32], dx: &mut [f32], gradient: &mut [f32]) {
        let Self { model, out, width, .. } = self;
        let dw = &mut gradient[self.matrix.clone()];
        model.precision.matmul_tn(*out, *width, rows, d, *out, x, *width, dw, true);
        add_column_sums(d, &mut gradient[self.bias.clone()]);
        model.precision.matmul(rows, *width, *out, d, &model.flat[self.matrix.clone()], dx, true);
    }

    /// y = tanh(W x + b).
    pub fn tanh(&self, rows: usize, x: &[f32], y: &mut [f32]) {
        self.forward(rows, x, y);
        tanh_all(y);
    }

    /// As [`Affine::back`] of [`Affine::tanh`]; `d`, the gradient of y, becomes that of W x + b.
    pub fn tanh_back(&self, rows: usize, d: &mut [f32], y: &[f32], x: &[f32], dx: &mut [f32], gradient: &mut [f32]) {
        for (d, y) in d.iter_mut().zip(y) {
            *d *= 1.0 - y * y;
        }
        self.back(rows, d, x, dx, gradient);
    }
}
