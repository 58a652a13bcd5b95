//! The dot product of Luong et al. 2015, section 3.1.

use candle_core::Tensor;

use crate::attention::score::{Attention, AttentionShapes, Query, Sizes, Source, inner_products};
use crate::{error::Result, nn::linear::Parameters};

/// e_ts = h_t' h_s.
#[derive(Clone, Copy, Debug)]
pub struct Dot;

pub fn shapes(_: &Sizes) -> AttentionShapes {
    AttentionShapes::new()
}

pub fn construct(_: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(Dot))
}

impl Attention for Dot {
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(h.clone()))
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        inner_products(source.keys()?, query.state) // [rows, t_x]
    }
}
