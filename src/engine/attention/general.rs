//! The general score of Luong et al. 2015, section 3.1.

use candle_core::Tensor;

use crate::attention::score::{Attention, AttentionShapes, Query, Sizes, Source, inner_products};
use crate::error::Result;
use crate::nn::linear::{Parameters, apply};

/// e_ts = h_t' W_a h_s.
#[derive(Clone, Debug)]
pub struct General {
    w_a: Tensor, // [n, |h_s|]
}

pub fn shapes(sizes: &Sizes) -> AttentionShapes {
    vec![("W_a", vec![sizes.query, sizes.annotation])]
}

pub fn construct(parameters: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(General { w_a: parameters.get("W_a")? }))
}

impl Attention for General {
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(apply(&self.w_a, h)?)) // [b, t_x, n]
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        inner_products(source.keys()?, query.state) // [rows, t_x]
    }
}
