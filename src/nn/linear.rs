//! Floor 1: W x + b over the last dimension, and parameters looked up by name.

use std::collections::HashMap;

use candle_core::Tensor;

use crate::error::{Error, Result};

/// Parameters by name below a prefix: `Parameters::new(&all).at("decoder").get("W_z")`.
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    tensors: &'a HashMap<String, Tensor>,
    prefix: String,
}

impl<'a> Parameters<'a> {
    /// All parameters of a model.
    pub fn new(tensors: &'a HashMap<String, Tensor>) -> Self {
        Self { tensors, prefix: String::new() }
    }

    /// Those whose names begin with `unit` and a dot.
    pub fn at(&self, unit: &str) -> Self {
        Self { tensors: self.tensors, prefix: format!("{}{unit}.", self.prefix) }
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
