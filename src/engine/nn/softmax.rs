//! Softmax and its logarithm, masked where a batch is padded. The maximum is detached: it cancels in value and in
//! gradient, so nothing is lost and the backward pass is shorter.

use candle_core::{D, Tensor};

use crate::error::Result;

/// Far below any energy and far above the least f32: exp of it is exactly 0, and sums with it stay finite.
const HIDDEN: f64 = 1e30;

/// alpha_ij = exp(e_ij) / sum_k exp(e_ik) over the words that exist, 0 elsewhere.
/// `e_i` [rows, t_x], `mask` [rows or 1, t_x] with a 1 in every row.
pub fn masked(e_i: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let e_i = e_i.broadcast_add(&mask.affine(HIDDEN, -HIDDEN)?)?; // [rows, t_x]
    let exp = e_i.broadcast_sub(&e_i.max_keepdim(D::Minus1)?.detach())?.exp()?;
    Ok(exp.broadcast_div(&exp.sum_keepdim(D::Minus1)?)?) // [rows, t_x]
}

/// log p_k = o_k - log sum_k' exp(o_k') over the last dimension.
pub fn log_softmax(logits: &Tensor) -> Result<Tensor> {
    let shifted = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?;
    let log_sum = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    Ok(shifted.broadcast_sub(&log_sum)?)
}
