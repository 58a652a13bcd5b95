//! The readable form of a model. [`TranslationModel::align`] finds the energies e_i and alpha_i of a decoder step;
//! [`TranslationModel::predict`] gives the words from alpha_i, as found or as a caller changed it.

use candle_core::Tensor;

use crate::attention::Source;
use crate::error::{Error, Result};
use crate::models::{config::Config, stepper::without_heads, transformer::heads::HeadChanges};

/// What the encoder leaves for the decoder.
#[derive(Clone, Debug)]
pub struct Annotations {
    /// Annotations h_j, [b, t_x, 2n] (rnnsearch) or [b, t_x, n] (luong), or the context c, [b, 1, n] (rnnencdec).
    pub h: Tensor,
    /// What the alignment model made of them, [b, t_x, ..]; `None` where it makes nothing or there is none.
    pub keys: Option<Tensor>,
    /// The encoder's last states h and c of every layer, [b, n], if the decoder starts from them (luong); else empty.
    pub last: Vec<Tensor>,
    /// 1 where a source word is, 0 where padding is, [b, t_x].
    pub mask: Tensor,
    pub lengths: Vec<usize>,
    /// Changes of heads by sentence; empty: none.
    pub changes: Vec<HeadChanges>,
}

impl Annotations {
    pub fn source(&self) -> Source<'_> {
        Source { keys: self.keys.as_ref(), mask: &self.mask }
    }

    /// c_i = sum_j alpha_ij h_j, [rows, |h_j|], from `alpha_i` [rows, t_x].
    pub fn context(&self, alpha_i: &Tensor) -> Result<Tensor> {
        if self.h.dim(0)? == 1 {
            return Ok(alpha_i.matmul(&self.h.squeeze(0)?)?);
        }
        Ok(alpha_i.unsqueeze(1)?.matmul(&self.h)?.squeeze(1)?)
    }
}

/// The decoder's state.
#[derive(Clone, Debug)]
pub struct State {
    /// One or more tensors of [rows, n].
    pub tensors: Vec<Tensor>,
    /// Steps done, the same for all rows: the position i of the word to come, from 0.
    pub i: usize,
}

impl State {
    pub fn only(&self) -> Result<&Tensor> {
        let [s] = self.tensors.as_slice() else {
            return Err(Error::Internal(format!("a state of one tensor was expected, not of {}", self.tensors.len())));
        };
        Ok(s)
    }
}

/// The first half of a decoder step i: where it looks.
#[derive(Clone, Debug)]
pub struct AlignedStep {
    /// The state that looked: s_{i-1} as it was (rnnsearch), or with the layers already at h_t (luong).
    pub s: State,
    /// Energies e_ij before the softmax, [rows, t_x]; `None` where the model has no alignment.
    pub e_i: Option<Tensor>,
    /// Weights alpha_ij, [rows, t_x]; `None` where the model has no alignment.
    pub alpha_i: Option<Tensor>,
    /// The aligned position p_t of local attention, in source words from 0, [rows]; `None` elsewhere.
    pub p_t: Option<Tensor>,
}

impl AlignedStep {
    pub fn nowhere(s: &State) -> Self {
        Self { s: s.clone(), e_i: None, alpha_i: None, p_t: None }
    }

    pub fn alpha(&self) -> Result<&Tensor> {
        self.alpha_i.as_ref().ok_or_else(|| Error::Internal("a model that aligns was given no alpha".into()))
    }
}

/// The second half of a decoder step i: the words.
#[derive(Clone, Debug)]
pub struct Step {
    pub s: State,
    /// Context c_i, [rows, 2n] or [rows, n]; `None` where there is none (luong without attention).
    pub c_i: Option<Tensor>,
    /// log p(y_i | y_<i, x), [rows, K_y].
    pub log_p: Tensor,
}

/// A model as its paper writes it. Rows of a step match rows of the annotations; a single sentence's broadcast.
pub trait TranslationModel: Send + Sync {
    fn config(&self) -> &Config;

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations>;
    /// With one change of heads a sentence; only a Transformer has heads.
    fn encode_changed(&self, source: &[&[u32]], changes: &[HeadChanges]) -> Result<Annotations> {
        without_heads(changes)?;
        self.encode(source)
    }
    fn init_state(&self, annotations: &Annotations) -> Result<State>;
    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep>;
    fn predict(&self, y_prev: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step>;

    /// s_i of the last layer, as it was when the step read its word out, [rows, n]; `None` where there is no such
    /// state.
    fn seen(&self, state: &State) -> Option<Tensor> {
        state.tensors.first().cloned()
    }

    fn step(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<Step> {
        self.predict(y_prev, &self.align(y_prev, s_prev, annotations)?, annotations)
    }
}
