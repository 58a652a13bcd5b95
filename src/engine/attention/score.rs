//! What a score function is: what it is asked with and about, and what it answers. Imports `nn`.

use candle_core::Tensor;

use crate::error::{Error, Result};
use crate::nn::softmax;

/// What the decoder asks with.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// s_{i-1} (Bahdanau et al.) or h_t (Luong et al.), [rows, n].
    pub state: &'a Tensor,
    pub i: usize,
}

/// What is asked: the source sentences.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What [`Attention::keys`] made of the annotations; `None` where it makes nothing. [rows or 1, t_x, ..]
    pub keys: Option<&'a Tensor>,
    /// 1 where a source word is, 0 where padding is, [rows or 1, t_x].
    pub mask: &'a Tensor,
}

impl Source<'_> {
    pub fn keys(&self) -> Result<&Tensor> {
        self.keys.ok_or_else(|| Error::Internal("an alignment model was given no keys".into()))
    }
}

/// Where a step looks.
#[derive(Clone, Debug)]
pub struct AlignedAnnotations {
    pub alpha: Tensor,
    /// The aligned position p_t from which local attention looks, in source words from 0, [rows].
    pub p_t: Option<Tensor>,
}

/// An alignment model.
pub trait Attention: Send + Sync {
    /// The part of the energies that depends on the annotations alone, made once a sentence: `h` [b, t_x, |h_j|] gives
    /// [b, t_x, ..]; `None` where the energies do not depend on them.
    fn keys(&self, h: &Tensor) -> Result<Option<Tensor>>;

    /// e_i, [rows, t_x]; NaN at words for which there is none.
    fn energies(&self, query: &Query<'_>, source: &Source<'_>) -> Result<Tensor>;

    /// alpha_i from `e_i` [rows, t_x]: a softmax over the words that exist. Functions that look at less, or that do not
    /// normalise, override it.
    fn align(&self, _query: &Query<'_>, e_i: &Tensor, source: &Source<'_>) -> Result<AlignedAnnotations> {
        Ok(AlignedAnnotations { alpha: softmax::masked(e_i, source.mask)?, p_t: None })
    }

    /// e_i and where a step looks by them.
    fn look(&self, state: &Tensor, i: usize, source: &Source<'_>) -> Result<(Tensor, AlignedAnnotations)> {
        let query = Query { state, i };
        let e_i = self.energies(&query, source)?;
        let alignment = self.align(&query, &e_i, source)?;
        Ok((e_i, alignment))
    }
}

/// Names and shapes of parameters.
pub type AttentionShapes = Vec<(&'static str, Vec<usize>)>;

/// What the shapes of an alignment model's parameters depend on.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Length of the query, n.
    pub query: usize,
    /// Length of an annotation: 2n in both directions, n in one.
    pub annotation: usize,
    /// n', units in which both meet (additive only).
    pub units: usize,
    /// Source words that get an energy (location only).
    pub max_source: usize,
}

/// k_j' q of every source word: `keys` [rows or 1, t_x, n] and `query` [rows, n] give [rows, t_x].
pub(super) fn inner_products(keys: &Tensor, query: &Tensor) -> Result<Tensor> {
    if keys.dim(0)? == 1 {
        return Ok(query.matmul(&keys.squeeze(0)?.t()?)?);
    }
    Ok(keys.matmul(&query.unsqueeze(2)?)?.squeeze(2)?)
}
