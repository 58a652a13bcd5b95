//! The additive alignment model of Bahdanau et al. 2015, appendix A.1.2.

use candle_core::Tensor;

use crate::attention::score::{Attention, AttentionShapes, Query, Sizes, Source};
use crate::nn::linear::{Parameters, affine, apply};
use crate::{error::Result, nn::trace::Trace};

/// e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a).
#[derive(Clone, Debug)]
pub struct Additive {
    w_a: Tensor, // [n', n]
    u_a: Tensor, // [n', 2n]
    b_a: Tensor, // [n']
    v_a: Tensor, // [n']
    trace: Trace,
}

/// Its parameters: s_{i-1} [n] and h_j [annotation] meet in n' units.
pub fn shapes(sizes: &Sizes) -> AttentionShapes {
    let n_a = sizes.units;
    vec![("W_a", vec![n_a, sizes.query]), ("U_a", vec![n_a, sizes.annotation]), ("b_a", vec![n_a]), ("v_a", vec![n_a])]
}

/// From `W_a`, `U_a`, `b_a` and `v_a`.
pub fn construct(parameters: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(Additive {
        w_a: parameters.get("W_a")?,
        u_a: parameters.get("U_a")?,
        b_a: parameters.get("b_a")?,
        v_a: parameters.get("v_a")?,
        trace: parameters.trace(),
    }))
}

impl Attention for Additive {
    /// U_a h_j + b_a.
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(affine(&self.u_a, &self.b_a, h)?)) // [b, t_x, n']
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        let query = apply(&self.w_a, query.state)?.unsqueeze(1)?; // [rows, 1, n']
        self.trace.note("query", &query);
        let match_ij = source.keys()?.broadcast_add(&query)?.tanh()?; // [rows, t_x, n']
        Ok(apply(&self.v_a.unsqueeze(0)?, &match_ij)?.squeeze(2)?) // [rows, t_x]
    }
}
