//! Floor 2: alignment models a(s_{i-1}, h_j) -> e_ij -> alpha_ij. Imports `nn`.
//!
//! They only score and normalise; who asks, and when, is the model's business. A published function
//! is one file here and one line in [`ATTENTIONS`].

pub mod additive;

use candle_core::Tensor;

use crate::error::Result;
use crate::nn::linear::Parameters;
use crate::nn::softmax;

/// An alignment model.
pub trait Attention: Send + Sync {
    /// The part of the energies that depends on the annotations alone, made once a sentence:
    /// `h` [b, t_x, 2n] gives [b, t_x, n'].
    ///
    /// # Errors
    /// When the shapes do not fit.
    fn keys(&self, h: &Tensor) -> Result<Tensor>;

    /// e_i, [rows, t_x], from `query` [rows, n] and `keys` [rows or 1, t_x, n'].
    ///
    /// # Errors
    /// When the shapes do not fit.
    fn energies(&self, query: &Tensor, keys: &Tensor) -> Result<Tensor>;

    /// alpha_i, [rows, t_x], from `e_i` [rows, t_x] and `mask` [rows or 1, t_x]; published functions
    /// that look at the query or do not normalise override it.
    ///
    /// # Errors
    /// When the shapes do not fit.
    fn align(&self, _query: &Tensor, e_i: &Tensor, mask: &Tensor) -> Result<Tensor> {
        softmax::masked(e_i, mask)
    }
}

/// Names and shapes of parameters.
pub type Shapes = Vec<(&'static str, Vec<usize>)>;

/// One line of [`ATTENTIONS`].
pub struct AttentionEntry {
    /// Its name in configurations.
    pub name: &'static str,
    /// Its energies.
    pub equation: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// Names and shapes of its parameters below `attention.`, from n, the length of an annotation, and n'.
    pub shapes: fn(n: usize, annotation: usize, n_a: usize) -> Shapes,
    /// Makes it from the parameters below `attention.`.
    pub construct: fn(&Parameters<'_>) -> Result<Box<dyn Attention>>,
}

/// Every published alignment function.
pub const ATTENTIONS: &[AttentionEntry] = &[AttentionEntry {
    name: "additive",
    equation: "e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a)",
    citation: "Bahdanau, Cho, Bengio 2015, appendix A.1.2",
    shapes: additive::shapes,
    construct: additive::construct,
}];

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::DType;
    use candle_core::Device;

    use super::*;

    /// What every published function must keep: rows of alpha sum to 1, padding gets exactly 0 whatever
    /// its energy, and one sentence serves many rows as if it had been repeated.
    #[test]
    fn every_attention_normalises_masks_and_broadcasts() -> Result<()> {
        let (n, annotation, n_a, device) = (3, 6, 5, Device::Cpu);
        for entry in ATTENTIONS {
            let mut tensors = HashMap::new();
            for (name, shape) in (entry.shapes)(n, annotation, n_a) {
                tensors.insert(name.to_owned(), Tensor::randn(0.0, 1.0, shape, &device)?);
            }
            let attention = (entry.construct)(&Parameters::new(&tensors))?;
            let keys = attention.keys(&Tensor::randn(0.0, 1.0, (1, 4, annotation), &device)?)?;
            let query = Tensor::randn(0.0, 3.0, (2, n), &device)?;
            let mask = Tensor::new(&[[1.0, 1.0, 1.0, 0.0]], &device)?;
            let e_i = attention.energies(&query, &keys)?;
            assert_eq!(e_i.dims(), [2, 4], "{}", entry.name);
            for energy in [0.0, 1e4, -1e4] {
                let alpha = attention.align(
                    &query,
                    &(&e_i + (mask.affine(-energy, energy)?.broadcast_as(e_i.shape())?))?,
                    &mask,
                )?;
                for row in alpha.to_vec2::<f64>()? {
                    assert!(
                        (row.iter().sum::<f64>() - 1.0).abs() < 1e-12 && row[3].abs() < f64::MIN_POSITIVE,
                        "{}: {row:?}",
                        entry.name
                    );
                }
            }
            let repeated = attention.energies(&query, &keys.repeat((2, 1, 1))?)?;
            let difference = (repeated - e_i)?.abs()?.max_all()?.to_dtype(DType::F64)?.to_scalar::<f64>()?;
            assert!(difference < 1e-12, "{}", entry.name);
        }
        Ok(())
    }
}
