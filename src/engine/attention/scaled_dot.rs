//! The scaled dot product of Vaswani et al. 2017, section 3.2.1.

use candle_core::Tensor;

use crate::attention::score::{Attention, AttentionShapes, Query, Sizes, Source, inner_products};
use crate::{error::Result, nn::linear::Parameters};

/// e_ij = q_i' k_j / sqrt(d_k), for one head whose queries and keys are given.
#[derive(Clone, Copy, Debug)]
pub struct ScaledDot;

pub fn shapes(_: &Sizes) -> AttentionShapes {
    AttentionShapes::new()
}

pub fn construct(_: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(ScaledDot))
}

impl Attention for ScaledDot {
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(h.clone()))
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        let scale = 1.0 / (query.state.dim(1)? as f64).sqrt();
        Ok((inner_products(source.keys()?, query.state)? * scale)?) // [rows, t_x]
    }
}
