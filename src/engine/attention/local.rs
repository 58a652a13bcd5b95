//! Local attention of Luong et al. 2015, section 3.2, round any score that is read off the annotations.
//!
//! A step looks at the words from p_t - D to p_t + D that exist, and the softmax runs over these alone.
//! Energies are those of all words, so that one sees what the window leaves out. Positions count from 0.

use candle_core::Tensor;
use candle_nn::ops::sigmoid;

use crate::attention::score::{AlignedAnnotations, Attention, AttentionShapes, Query, Source};
use crate::nn::linear::{Parameters, apply};
use crate::{error::Result, nn::softmax};

struct Local {
    score: Box<dyn Attention>,
    window: usize,
    place: Place,
}

/// How p_t is found.
enum Place {
    /// local-m: p_t = min(t, T_x - 1).
    Monotonic,
    Predictive {
        w_p: Tensor, // [n, n]
        v_p: Tensor, // [n]
    },
}

/// local-m: source and target advance together.
pub fn monotonic(score: Box<dyn Attention>, window: usize) -> Box<dyn Attention> {
    Box::new(Local { score, window, place: Place::Monotonic })
}

/// local-p, from `W_p` and `v_p`.
pub fn predictive(score: Box<dyn Attention>, window: usize, parameters: &Parameters<'_>) -> Result<Box<dyn Attention>> {
    let place = Place::Predictive { w_p: parameters.get("W_p")?, v_p: parameters.get("v_p")? };
    Ok(Box::new(Local { score, window, place }))
}

pub fn shapes(n: usize) -> AttentionShapes {
    vec![("W_p", vec![n, n]), ("v_p", vec![n])]
}

impl Local {
    fn position(&self, query: &Query<'_>, mask: &Tensor) -> Result<Tensor> {
        let rows = query.state.dim(0)?;
        let lengths = mask.sum(1)?.broadcast_as(rows)?.contiguous()?; // [rows], from [rows] or [1]
        Ok(match &self.place {
            Place::Monotonic => lengths.affine(1.0, -1.0)?.minimum(query.i as f64)?,
            Place::Predictive { w_p, v_p } => {
                let inner = apply(w_p, query.state)?.tanh()?; // [rows, n]
                (lengths * sigmoid(&apply(&v_p.unsqueeze(0)?, &inner)?.squeeze(1)?)?)?
            }
        })
    }
}

impl Attention for Local {
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>> {
        self.score.keys(h)
    }

    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor> {
        self.score.energies(query, source)
    }

    fn align(&self, query: &Query<'_>, e_i: &Tensor, source: &Source<'_>) -> Result<AlignedAnnotations> {
        let (d, p_t) = (self.window as f64, self.position(query, source.mask)?);
        let s = Tensor::arange(0, e_i.dim(1)? as u32, e_i.device())?.to_dtype(e_i.dtype())?; // [t_x]
        let distance = s.unsqueeze(0)?.broadcast_sub(&p_t.unsqueeze(1)?)?; // s - p_t, [rows, t_x]
        let near = distance.detach().abs()?.le(d)?.to_dtype(e_i.dtype())?;
        let window = near.broadcast_mul(source.mask)?; // [rows, t_x]
        let alpha = softmax::masked(e_i, &window)?;
        let alpha = match self.place {
            Place::Monotonic => alpha,
            // alpha_t(s) exp(-(s - p_t)^2 / 2 sigma^2) with sigma = D/2, which is not normalised again
            Place::Predictive { .. } => (alpha * (distance.sqr()? * (-2.0 / (d * d)))?.exp()?)?,
        };
        Ok(AlignedAnnotations { alpha, p_t: Some(p_t) })
    }
}
