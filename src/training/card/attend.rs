//! Global attention and local-p of Luong et al. 2015, sections 3.1 and 3.2, between products of matrices: one kernel
//! each way on an NVIDIA card, and the same in tensors elsewhere. Nothing here is part of a graph.

use candle_core::{D, Tensor};

use crate::card::launch::{Given, LaunchGrid, launch};
use engine::error::Result;
use engine::nn::{sigmoid, softmax};

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Attend {
    /// What the query is multiplied by: h_s or W_a h_s, [b, t_x, n].
    pub keys: Tensor,
    /// 1 where words are, [b, t_x].
    pub mask: Tensor,
    /// `None`: everywhere.
    pub place: Option<Place>,
}

/// How local-p finds p_t = S sigm(v_p' tanh(W_p h_t)), and D.
#[derive(Clone, Debug)]
pub struct Place {
    pub w_p: Tensor,
    pub v_p: Tensor,
    pub window: usize,
}

/// Where a step looked.
#[derive(Clone, Debug)]
pub struct Looked {
    /// [b, t_x].
    pub alpha: Tensor,
    /// The softmax before it is weighted by the distance from p_t, [b, t_x].
    soft: Tensor,
    /// p_t, [b]; zeros where there is none.
    p: Tensor,
    /// W_p h_t, [b, n].
    pub inner: Option<Tensor>,
}

/// Gradients of what a step looked by.
#[derive(Debug)]
pub struct LookGradients {
    /// Of the energies, [b, t_x].
    pub e: Tensor,
    /// Of W_p h_t, [b, n], and of v_p' tanh(W_p h_t), [b].
    pub place: Option<(Tensor, Tensor)>,
}

impl Attend {
    /// alpha for h_t, [b, n].
    pub fn look(&self, h_t: &Tensor) -> Result<Looked> {
        let (b, t_x, n) = self.keys.dims3()?;
        let e = self.keys.matmul(&h_t.unsqueeze(2)?)?.squeeze(2)?; // [b, t_x]
        let inner = self.place.as_ref().map(|place| h_t.matmul(&place.w_p.t()?)).transpose()?;
        if e.device().is_cuda() {
            let given = [
                Given::numbers(&e, b * t_x),
                Given::numbers(&self.mask, b * t_x),
                Given::Numbers(inner.as_ref(), b * n),
                Given::Numbers(self.place.as_ref().map(|place| &place.v_p), n),
            ];
            let window = self.place.as_ref().map_or(0, |place| place.window);
            let grid = LaunchGrid::Rows { rows: b, shared: t_x };
            let all = launch("attend", &given, &[t_x, n, window], 2 * b * t_x + b, grid)?;
            let piece = |k: usize| all.narrow(0, k * b * t_x, b * t_x)?.reshape((b, t_x));
            return Ok(Looked { alpha: piece(0)?, soft: piece(1)?, p: all.narrow(0, 2 * b * t_x, b)?, inner });
        }
        let (Some(place), Some(of_place)) = (&self.place, &inner) else {
            let alpha = softmax::masked(&e, &self.mask)?;
            return Ok(Looked { soft: alpha.clone(), alpha, p: e.zeros_like()?.sum(1)?, inner });
        };
        let score = of_place.tanh()?.broadcast_mul(&place.v_p)?.sum(1)?;
        let p = (self.mask.sum(1)? * sigmoid(&score)?)?;
        let distance = distance(&e, &p)?;
        let near = (distance.abs()?.le(place.window as f64)?.to_dtype(e.dtype())? * &self.mask)?;
        let soft = softmax::masked(&e, &near)?;
        Ok(Looked { alpha: (&soft * weight(&distance, place)?)?, soft, p, inner })
    }

    /// From the parts of the gradient of alpha.
    pub fn back(&self, looked: &Looked, d: [Option<&Tensor>; 2]) -> Result<LookGradients> {
        let (b, t_x, n) = self.keys.dims3()?;
        if self.keys.device().is_cuda() {
            let given = [
                Given::numbers(&looked.soft, b * t_x),
                Given::numbers(&looked.p, b),
                Given::numbers(&self.mask, b * t_x),
                Given::Numbers(looked.inner.as_ref(), b * n),
                Given::Numbers(self.place.as_ref().map(|place| &place.v_p), n),
                Given::Numbers(d[0], b * t_x),
                Given::Numbers(d[1], b * t_x),
            ];
            let window = self.place.as_ref().map_or(0, |place| place.window);
            let grid = LaunchGrid::Rows { rows: b, shared: t_x };
            let all = launch("attend_back", &given, &[t_x, n, window], b * t_x + b + b * n, grid)?;
            let e = all.narrow(0, 0, b * t_x)?.reshape((b, t_x))?;
            let place = || -> candle_core::Result<_> {
                Ok((all.narrow(0, b * t_x + b, b * n)?.reshape((b, n))?, all.narrow(0, b * t_x, b)?))
            };
            return Ok(LookGradients { e, place: self.place.as_ref().map(|_| place()).transpose()? });
        }
        let mut sum = looked.alpha.zeros_like()?;
        for d in d.into_iter().flatten() {
            sum = (sum + d)?;
        }
        let place = match (&self.place, &looked.inner) {
            (Some(place), Some(inner)) => {
                let distance = distance(&sum, &looked.p)?;
                sum = (sum * weight(&distance, place)?)?;
                let steep = distance.affine(4.0 / (place.window * place.window) as f64, 0.0)?;
                let dp = ((&sum * &looked.soft)? * steep)?.sum(1)?;
                let share = (&looked.p / self.mask.sum(1)?)?;
                let score = (dp * (&looked.p * share.affine(-1.0, 1.0)?)?)?; // [b]
                let slope = inner.tanh()?.sqr()?.affine(-1.0, 1.0)?.broadcast_mul(&place.v_p)?;
                Some((slope.broadcast_mul(&score.unsqueeze(1)?)?, score))
            }
            _ => None,
        };
        let dot = (&looked.soft * &sum)?.sum_keepdim(D::Minus1)?;
        Ok(LookGradients { e: (&looked.soft * sum.broadcast_sub(&dot)?)?, place })
    }
}

/// s - p_t, [b, t_x].
fn distance(like: &Tensor, p: &Tensor) -> Result<Tensor> {
    let s = Tensor::arange(0, like.dim(1)? as u32, like.device())?.to_dtype(like.dtype())?;
    Ok(s.unsqueeze(0)?.broadcast_sub(&p.unsqueeze(1)?)?)
}

/// exp(-(s - p_t)^2 / 2 sigma^2) with sigma = D / 2.
fn weight(distance: &Tensor, place: &Place) -> Result<Tensor> {
    Ok((distance.sqr()? * (-2.0 / (place.window * place.window) as f64))?.exp()?)
}
