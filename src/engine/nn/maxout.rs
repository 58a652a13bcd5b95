//! The deep output with one maxout hidden layer (Bahdanau et al. 2015, A.2.2; Cho et al. 2014, A.2).

use candle_core::{D, Tensor};

use crate::nn::linear::{Parameters, affine, apply};
use crate::{error::Result, nn::trace::Trace};

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
    from_state: Tensor,   // [2l, n]
    from_word: Tensor,    // [2l, m]
    from_context: Tensor, // [2l, |c|]
    bias: Tensor,         // b_o, [2l]
    trace: Trace,
}

impl DeepOutput {
    pub fn find(parameters: &Parameters<'_>, [state, word, context]: [&str; 3]) -> Result<Self> {
        Ok(Self {
            from_state: parameters.get(state)?,
            from_word: parameters.get(word)?,
            from_context: parameters.get(context)?,
            bias: parameters.get("b_o")?,
            trace: parameters.trace(),
        })
    }

    /// t, [rows, l], from `s` [rows, n], `e` [rows, m] and `c` [rows, |c|] or [1, |c|].
    pub fn t(&self, s: &Tensor, e: &Tensor, c: &Tensor) -> Result<Tensor> {
        let (state, word) = (affine(&self.from_state, &self.bias, s)?, apply(&self.from_word, e)?);
        let context = apply(&self.from_context, c)?;
        self.trace.note_sum("t_tilde", [("word", Some(&word)), ("state", Some(&state)), ("context", Some(&context))]);
        let t_tilde = (state + word)?.broadcast_add(&context)?;
        let t = maxout(&t_tilde)?;
        self.trace.note("t_tilde", &t_tilde);
        self.trace.note("t", &t);
        Ok(t)
    }
}
