//! Floor 3: the papers' models. Imports `text`, `nn`, `attention`.
//!
//! [`TranslationModel`] is the readable form: candle tensors, every equation visible, any device.
//! [`Stepper`] is what the search drives: plain `f32` rows, one row a hypothesis. The fused CPU
//! steppers in `fused/` and the plain one in `plain.rs` give the same numbers.

pub mod batch;
pub mod checkpoint;
pub mod config;
pub mod cost;
pub mod folder;
pub mod fused;
pub mod init;
pub mod loss;
pub mod luong;
pub mod need;
pub mod plain;
pub mod representations;
pub mod rnn_encdec;
pub mod rnn_search;

use candle_core::Tensor;

use crate::attention::Source;
use crate::error::{Error, Result};
use crate::models::config::{Architecture, Config};

pub use crate::models::folder::{Engine, Model};
pub use crate::models::need::{Asked, Need};

/// What the encoder leaves for the decoder.
#[derive(Clone, Debug)]
pub struct Annotations {
    /// Annotations h_j, [b, t_x, 2n] (rnnsearch) or [b, t_x, n] (luong), or the context c, [b, 1, n] (rnnencdec).
    pub h: Tensor,
    /// What the alignment model made of them, [b, t_x, ..]; `None` where it makes nothing or there is none.
    pub keys: Option<Tensor>,
    /// The encoder's last states, where the decoder starts from all of them (luong): those of every layer, h and
    /// c, [b, n]; else empty.
    pub last: Vec<Tensor>,
    /// 1 where a source word is, 0 where padding is, [b, t_x].
    pub mask: Tensor,
    /// Source lengths, `</s>` included.
    pub lengths: Vec<usize>,
}

impl Annotations {
    /// What an alignment model is asked about.
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
    /// The tensor of a state that is one tensor, [rows, n].
    pub fn only(&self) -> Result<&Tensor> {
        let [s] = self.tensors.as_slice() else {
            return Err(Error::Internal(format!("a state of one tensor was expected, not of {}", self.tensors.len())));
        };
        Ok(s)
    }
}

/// The result of one decoder step i.
#[derive(Clone, Debug)]
pub struct Step {
    /// The new state.
    pub s: State,
    /// Energies e_ij before the softmax, [rows, t_x]; `None` where the model has no alignment.
    pub e_i: Option<Tensor>,
    /// Weights alpha_ij, [rows, t_x]; `None` where the model has no alignment.
    pub alpha_i: Option<Tensor>,
    /// The aligned position p_t of local attention, in source words from 0, [rows]; `None` elsewhere.
    pub p_t: Option<Tensor>,
    /// Context c_i, [rows, 2n] or [rows, n]; `None` where there is none (luong without attention).
    pub c_i: Option<Tensor>,
    /// log p(y_i | y_<i, x), [rows, K_y].
    pub log_p: Tensor,
}

/// A model as its paper writes it. Rows of a step correspond to rows of the annotations;
/// annotations of one sentence (b = 1) are broadcast over any number of rows.
pub trait TranslationModel: Send + Sync {
    /// Sizes and languages.
    fn config(&self) -> &Config;
    /// Reads sentences of ids (`</s>` included), padded and masked here.
    fn encode(&self, source: &[&[u32]]) -> Result<Annotations>;
    /// s_0, [b, n].
    fn init_state(&self, annotations: &Annotations) -> Result<State>;
    /// One step. `y_prev` is `None` for y_0, else an id for each row.
    fn step(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<Step>;
}

/// One hypothesis to be extended by a [`Stepper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which sentence of the batch it translates.
    pub sentence: usize,
    /// Which row of the previous step its state comes from; at the first step ignored.
    pub parent: usize,
    /// y_{i-1}; `None` at the first step.
    pub y_prev: Option<u32>,
}

/// What a step gives for each row, in plain `f32`.
#[derive(Clone, Debug, Default)]
pub struct StepOutput {
    /// Number of rows.
    pub rows: usize,
    /// K_y.
    pub vocabulary: usize,
    /// Row stride of `alpha` and `energies`: the longest source of the batch.
    pub t_x: usize,
    /// log p, rows * K_y; empty unless every word was asked for.
    pub log_p: Vec<f32>,
    /// The best words of all rows, one row after the other; see [`StepOutput::best_row`].
    pub best: Vec<(u32, f32)>,
    /// Where the words of each row end in `best`, [rows].
    pub best_ends: Vec<usize>,
    /// log p of the words asked for, in the order of asking; NaN where the vocabulary has no such word.
    pub words: Vec<f32>,
    /// alpha_ij, rows * t_x; empty where the model has no alignment.
    pub alpha: Vec<f32>,
    /// e_ij, rows * t_x; empty where the model has no alignment, NaN at words that have no energy.
    pub energies: Vec<f32>,
    /// The aligned position p_t of each row, in source words from 0; empty where the attention is not local.
    pub p_t: Vec<f32>,
}

impl StepOutput {
    /// log p of all words for row `r`, where every word was asked for.
    pub fn log_p_row(&self, r: usize) -> &[f32] {
        &self.log_p[r * self.vocabulary..(r + 1) * self.vocabulary]
    }

    /// The most probable words of row `r` with their log p, best first, of equals the lower id: as many as were asked
    /// for, or all that have a probability.
    pub fn best_row(&self, r: usize) -> &[(u32, f32)] {
        let first = if r == 0 { 0 } else { self.best_ends[r - 1] };
        &self.best[first..self.best_ends[r]]
    }

    /// alpha_i of row `r` over the first `length` source words; `None` without alignment.
    pub fn alpha_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.alpha.is_empty()).then(|| &self.alpha[r * self.t_x..r * self.t_x + length])
    }

    /// p_t of row `r`; `None` where the attention is not local.
    pub fn p_t_row(&self, r: usize) -> Option<f32> {
        self.p_t.get(r).copied()
    }

    /// e_i of row `r` over the first `length` source words; `None` without alignment.
    pub fn energies_row(&self, r: usize, length: usize) -> Option<&[f32]> {
        (!self.energies.is_empty()).then(|| &self.energies[r * self.t_x..r * self.t_x + length])
    }
}

/// Decodes a batch step by step; rows may be dropped, repeated and reordered between steps.
pub trait Stepper: Send {
    /// Encodes the sources (ids, `</s>` included, none empty) and forgets the batch before.
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()>;
    /// One step for the given rows; of log p, `output` gets what `need` asks for.
    fn step(&mut self, rows: &[Row], need: &Need<'_>, output: &mut StepOutput) -> Result<()>;
    /// The one context vector c of a sentence of the batch (rnnencdec), else `None`. [n]
    fn context(&self, sentence: usize) -> Option<Vec<f32>>;
    /// The annotations h_j of a sentence of the batch, one of [2n] (rnnsearch) or [n] for each source word in the
    /// order of the source, `</s>` included; `None` where the model keeps none.
    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        let _ = sentence;
        None
    }
}

/// Names and shapes of tensors.
pub type Shapes = Vec<(String, Vec<usize>)>;

/// One line of [`MODELS`].
pub struct ModelEntry {
    /// Which architecture.
    pub architecture: Architecture,
    /// Its name in `config.json`.
    pub name: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// Names and shapes of its tensors, in the order of `FORMATS`.
    pub shapes: fn(&Config) -> Shapes,
}

/// Every architecture that can be loaded and trained, in the order of the papers.
pub const MODELS: &[ModelEntry] = &[
    ModelEntry {
        architecture: Architecture::RnnEncDec,
        name: "rnnencdec",
        citation: "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder",
        shapes: rnn_encdec::shapes,
    },
    ModelEntry {
        architecture: Architecture::RnnSearch,
        name: "rnnsearch",
        citation: "Bahdanau, Cho, Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
        shapes: rnn_search::shapes,
    },
    ModelEntry {
        architecture: Architecture::Luong,
        name: "luong",
        citation: "Luong, Pham, Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
        shapes: luong::shapes,
    },
];

/// Names and shapes of the tensors of a model with this configuration.
pub fn shapes(config: &Config) -> Shapes {
    MODELS
        .iter()
        .find(|entry| entry.architecture == config.architecture)
        .map_or_else(Vec::new, |entry| (entry.shapes)(config))
}
