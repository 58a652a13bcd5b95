//! The location score of Luong et al. 2015, section 3.1, which never looks at the source.

use candle_core::Tensor;

use crate::attention::score::{AlignedAnnotations, Attention, AttentionShapes, Query, Sizes, Source};
use crate::nn::linear::{Parameters, apply};
use crate::{error::Result, nn::softmax};

/// e_t = W_a h_t, of which a sentence of T_x words has the first T_x. W_a has a row for each of the first `max_source`
/// words; words beyond have no energy (NaN) and alpha 0.
#[derive(Clone, Debug)]
pub struct Location {
    w_a: Tensor, // [max_source, n]
}

pub fn shapes(sizes: &Sizes) -> AttentionShapes {
    vec![("W_a", vec![sizes.max_source, sizes.query])]
}

pub fn construct(parameters: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    Ok(Box::new(Location { w_a: parameters.get("W_a")? }))
}

/// `x` [rows, some] followed by a constant up to t_x columns.
fn pad(x: &Tensor, t_x: usize, value: f64) -> Result<Tensor> {
    let (rows, some) = x.dims2()?;
    if some == t_x {
        return Ok(x.clone());
    }
    let rest = Tensor::full(value, (rows, t_x - some), x.device())?.to_dtype(x.dtype())?;
    Ok(Tensor::cat(&[x, &rest], 1)?)
}

impl Attention for Location {
    fn keys(&self, _: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        let t_x = source.mask.dim(1)?;
        let scored = t_x.min(self.w_a.dim(0)?);
        let e_t = apply(&self.w_a.narrow(0, 0, scored)?, query.state)?; // [rows, scored]
        pad(&e_t, t_x, f64::NAN)
    }

    fn align(&self, _: &Query<'_>, e_i: &Tensor, source: &Source<'_>) -> Result<AlignedAnnotations> {
        let t_x = e_i.dim(1)?;
        let scored = t_x.min(self.w_a.dim(0)?);
        // What has no energy stays out of the softmax altogether, in value and in gradient.
        let alpha = softmax::masked(&e_i.narrow(1, 0, scored)?, &source.mask.narrow(1, 0, scored)?)?;
        Ok(AlignedAnnotations { alpha: pad(&alpha, t_x, 0.0)?, p_t: None })
    }
}
