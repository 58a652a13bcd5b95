//! Floor 1: the deep output with one maxout hidden layer (Bahdanau et al. 2015, A.2.2; Cho et al. 2014, A.2).

use candle_core::{D, Tensor};

use crate::error::Result;
use crate::nn::linear::{affine, apply};

/// t_j = max(t~_{2j-1}, t~_{2j}): neighbours, not halves. [.., 2l] gives [.., l].
pub fn maxout(t_tilde: &Tensor) -> Result<Tensor> {
    let mut shape = t_tilde.dims().to_vec();
    if let Some(last) = shape.pop() {
        shape.extend([last / 2, 2]);
    }
    Ok(t_tilde.reshape(shape)?.max(D::Minus1)?)
}

/// t = maxout(U_o s + V_o e + C_o c + b_o): what a step knows, before the output layer.
#[derive(Clone, Debug)]
pub struct DeepOutput {
    /// From the state, [2l, n].
    pub from_state: Tensor,
    /// From the embedding of the word before, [2l, m].
    pub from_word: Tensor,
    /// From the context, [2l, |c|].
    pub from_context: Tensor,
    /// b_o, [2l].
    pub bias: Tensor,
}

impl DeepOutput {
    /// t, [rows, l], from `s` [rows, n], `e` [rows, m] and `c` [rows, |c|] or [1, |c|].
    pub fn t(&self, s: &Tensor, e: &Tensor, c: &Tensor) -> Result<Tensor> {
        let from_both = (affine(&self.from_state, &self.bias, s)? + apply(&self.from_word, e)?)?;
        maxout(&from_both.broadcast_add(&apply(&self.from_context, c)?)?)
    }
}
