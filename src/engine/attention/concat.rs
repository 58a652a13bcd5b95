//! The concat score of Luong et al. 2015, section 3.1.

use candle_core::Tensor;

use crate::attention::score::{Attention, AttentionShapes, Query, Sizes, Source};
use crate::error::Result;
use crate::nn::linear::{Parameters, apply};

/// e_ts = v_a' tanh(W_a [h_t; h_s]), where the halves of W_a meet h_t and h_s.
#[derive(Clone, Debug)]
pub struct Concat {
    w_a: Tensor, // [n, n + |h_s|]
    v_a: Tensor, // [n]
}

/// Its matrix over [h_t; h_s] and the vector v_a.
pub fn shapes(sizes: &Sizes) -> AttentionShapes {
    let n = sizes.query;
    vec![("W_a", vec![n, n + sizes.annotation]), ("v_a", vec![n])]
}

/// From `W_a` and `v_a`.
pub fn construct(parameters: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(Concat { w_a: parameters.get("W_a")?, v_a: parameters.get("v_a")? }))
}

impl Attention for Concat {
    /// The half of W_a [h_t; h_s] that h_s gives.
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        let (n, both) = self.w_a.dims2()?;
        let of_annotation = self.w_a.narrow(1, n, both - n)?; // [n, |h_s|]
        Ok(Some(apply(&of_annotation, h)?)) // [b, t_x, n]
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        let of_query = self.w_a.narrow(1, 0, self.w_a.dim(0)?)?; // [n, n]
        let query = apply(&of_query, query.state)?.unsqueeze(1)?; // [rows, 1, n]
        let match_ts = source.keys()?.broadcast_add(&query)?.tanh()?; // [rows, t_x, n]
        Ok(apply(&self.v_a.unsqueeze(0)?, &match_ts)?.squeeze(2)?) // [rows, t_x]
    }
}
