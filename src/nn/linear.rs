//! Floor 1: W x + b over the last dimension, and parameters looked up by name.

use std::collections::HashMap;

use candle_core::Tensor;

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
    /// All parameters of a model.
    pub fn new(tensors: &'a HashMap<String, Tensor>) -> Self {
        Self { tensors, prefix: String::new(), trace: Trace::default(), moves_reset: false }
    }

    /// For a model that is recorded and, if so wished, has its reset gates on the other side of the product.
    pub fn traced(self, trace: &Trace, moves_reset: bool) -> Self {
        Self { trace: trace.clone(), moves_reset, ..self }
    }

    /// Those whose names begin with `unit` and a dot.
    pub fn at(&self, unit: &str) -> Self {
        Self { prefix: format!("{}{unit}.", self.prefix), ..self.clone() }
    }

    /// Where the part of these parameters notes what it computes.
    pub fn trace(&self) -> Trace {
        self.trace.below(&self.prefix)
    }

    /// Whether reset gates stand on the other side of the recurrent product than in the paper.
    pub fn moves_reset(&self) -> bool {
        self.moves_reset
    }

    /// The parameter of that name; shares its storage, so a variable stays a variable.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        let name = format!("{}{name}", self.prefix);
        self.tensors.get(&name).cloned().ok_or_else(|| Error::Internal(format!("the tensor `{name}` was not given")))
    }
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
