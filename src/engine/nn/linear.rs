//! W x + b over the last dimension, and parameters looked up by name.

use std::collections::HashMap;

use candle_core::{DType, Tensor};

use crate::error::{Error, Result};
use crate::nn::trace::Trace;

/// Parameters by name below a prefix: `Parameters::new(&all).at("decoder").get("W_z")`.
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    tensors: &'a HashMap<String, Tensor>,
    prefix: String,
    trace: Trace,
    moves_reset: bool,
}

impl<'a> Parameters<'a> {
    pub fn new(tensors: &'a HashMap<String, Tensor>) -> Self {
        Self { tensors, prefix: String::new(), trace: Trace::default(), moves_reset: false }
    }

    pub fn traced(self, trace: &Trace, moves_reset: bool) -> Self {
        Self { trace: trace.clone(), moves_reset, ..self }
    }

    pub fn at(&self, unit: &str) -> Self {
        Self { prefix: format!("{}{unit}.", self.prefix), ..self.clone() }
    }

    pub fn trace(&self) -> Trace {
        self.trace.below(&self.prefix)
    }

    /// Whether reset gates are on the other side of the recurrent product.
    pub fn moves_reset(&self) -> bool {
        self.moves_reset
    }

    /// The parameter of that name; shares its storage, so a variable stays a variable.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        let name = format!("{}{name}", self.prefix);
        self.tensors.get(&name).cloned().ok_or_else(|| Error::Internal(format!("the tensor `{name}` was not given")))
    }

    pub fn matrix(&self, name: &str) -> Result<RoundingMatrix> {
        let rounding = self.tensors.get(&format!("{}{name}{ROUNDING}", self.prefix));
        let rounding = rounding.map(|a| Ok::<_, Error>(a.to_dtype(DType::F32)?.to_scalar()?)).transpose()?;
        Ok(RoundingMatrix { w: self.get(name)?, rounding })
    }
}

/// Suffix of a whole-number matrix's rounding: the multiplier of x before it is rounded to -127..127;
/// 0 if the greatest number of a sentence, or of a step, becomes 127.
pub const ROUNDING: &str = "#rounding";

/// W, and how x is rounded where W came in whole numbers, so that W x is what its toolkit computes.
#[derive(Clone, Debug)]
pub struct RoundingMatrix {
    w: Tensor, // [out, in]
    rounding: Option<f32>,
}

impl RoundingMatrix {
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        match self.rounding {
            None => apply(&self.w, x),
            Some(a) => apply(&self.w, &rounded(x, a)?),
        }
    }

    pub fn affine(&self, b: &Tensor, x: &Tensor) -> Result<Tensor> {
        Ok(self.apply(x)?.broadcast_add(b)?)
    }
}

fn rounded(x: &Tensor, a: f32) -> Result<Tensor> {
    const MOST: f64 = 127.0;
    let own = x.detach();
    let rows = own.flatten_from(1)?;
    let a = if a > 0.0 {
        Tensor::full(a, (rows.dim(0)?, 1), x.device())?.to_dtype(x.dtype())?
    } else {
        // where all are zeros, anything will do
        (rows.abs()?.max_keepdim(1)?.maximum(1e-30)?.recip()? * MOST)?
    };
    let q = rows.broadcast_mul(&a)?.round()?.clamp(-MOST, MOST)?.broadcast_div(&a)?.reshape(x.shape())?;
    Ok((x + (q - own)?)?)
}

/// The positions of x [t, rows, n], taken in blocks: the backward pass fills what a piece was taken from with zeros.
pub fn positions(x: &Tensor) -> Result<Vec<Tensor>> {
    let t = x.dim(0)?;
    let block = (t as f64).sqrt().ceil() as usize;
    let mut all = Vec::with_capacity(t);
    for start in (0..t).step_by(block.max(1)) {
        let some = x.narrow(0, start, block.min(t - start))?;
        for k in 0..some.dim(0)? {
            all.push(some.get(k)?);
        }
    }
    Ok(all)
}

/// W x for every row x: `x` [.., in], `w` [out, in] gives [.., out].
pub fn apply(w: &Tensor, x: &Tensor) -> Result<Tensor> {
    let rows = x.elem_count() / x.dim(candle_core::D::Minus1)?;
    let mut shape = x.dims().to_vec();
    let product = x.reshape((rows, ()))?.matmul(&w.t()?)?; // [rows, out]
    if let Some(last) = shape.last_mut() {
        *last = w.dim(0)?;
    }
    Ok(product.reshape(shape)?)
}

/// W x + b for every row x: `x` [.., in], `w` [out, in], `b` [out] gives [.., out].
pub fn affine(w: &Tensor, b: &Tensor, x: &Tensor) -> Result<Tensor> {
    Ok(apply(w, x)?.broadcast_add(b)?)
}
