//! Floor 3: a model taken apart: every number of its encoder and of a decoder step, by the names of its paper.
//!
//! This is the third form of the equations, in plain loops over `f32` for one sentence. The readable and the fused form
//! keep only what the next step needs; this one keeps all of it. Tests hold the three together.
//!
//! An architecture draws itself as a [`Machine`]: stages with their equations, and arrows between them. The numbers of a
//! stage come as a [`Part`] with the stage's key. [`Wrong`] rewires a model as it is often wrongly drawn.

pub(super) mod gated;
pub(super) mod luong;
pub(super) mod matrix;
pub(super) mod rnn_enc_dec;
pub(super) mod rnn_search;
pub mod shrunk;
pub mod wrong;

use crate::error::{Error, Result};
use crate::models::Shapes;
use crate::models::checkpoint::Weights;
use crate::models::config::Config;

pub use crate::models::anatomy::shrunk::{Shrunk, shrunk};
pub use crate::models::anatomy::wrong::{WRONGS, Wrong};

/// Between which ends numbers of a kind lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// From 0 to 1: what comes out of a logistic function, and shares.
    Gate,
    /// From -1 to 1: what comes out of tanh.
    Signed,
    /// Anywhere.
    #[default]
    Free,
}

/// A vector, or one for each source word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantity {
    /// As the paper writes it, in the notation of [`crate::figure::equation`].
    pub symbol: &'static str,
    /// What it is.
    pub name: &'static str,
    /// Between which ends its numbers lie.
    pub span: Span,
    /// Numbers of a row.
    pub width: usize,
    /// Row after row: one row, or one for each source word.
    pub values: Vec<f32>,
}

impl Quantity {
    fn vector(symbol: &'static str, name: &'static str, span: Span, values: Vec<f32>) -> Self {
        Self { symbol, name, span, width: values.len(), values }
    }

    fn rows(symbol: &'static str, name: &'static str, span: Span, rows: &[Vec<f32>]) -> Self {
        Self { symbol, name, span, width: rows.first().map_or(0, Vec::len), values: rows.concat() }
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Row `j`; empty where there is none.
    pub fn row(&self, j: usize) -> &[f32] {
        self.values.get(j * self.width..(j + 1) * self.width).unwrap_or(&[])
    }
}

/// The numbers of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The stage's key.
    pub key: &'static str,
    /// What it holds, in the order of its equations.
    pub quantities: Vec<Quantity>,
}

impl Part {
    fn new(key: &'static str, quantities: Vec<Quantity>) -> Self {
        Self { key, quantities }
    }
}

/// A line of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    /// In the notation of [`crate::figure::equation`].
    pub text: &'static str,
    /// Where the paper has it.
    pub source: &'static str,
}

/// A box of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Names it and its [`Part`].
    pub key: &'static str,
    /// On the box.
    pub title: &'static str,
    /// What the box holds, in the notation of [`crate::figure::equation`].
    pub symbol: &'static str,
    /// Column and row of the drawing, from 0; the first row is the encoder, which reads the source once.
    pub place: (usize, usize),
    /// What happens here, in a sentence or two.
    pub about: &'static str,
    /// How it is computed.
    pub equations: Vec<Equation>,
    /// The tensors that it is computed with.
    pub weights: Vec<(String, Vec<usize>)>,
}

impl Stage {
    /// Whether it belongs to the encoder.
    pub fn reads_source(&self) -> bool {
        self.place.1 == 0
    }
}

/// What flows from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Key of a stage.
    pub from: &'static str,
    /// Key of a stage.
    pub to: &'static str,
    /// It carries what the step before has found.
    pub from_before: bool,
}

/// The drawing of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Its boxes, in the order in which they are computed.
    pub stages: Vec<Stage>,
    /// What flows between them.
    pub arrows: Vec<Arrow>,
}

/// The source as the decoder finds it.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The numbers of the encoder's stages.
    pub parts: Vec<Part>,
    /// The annotations h_j, or the one vector c. [t_x or 1][|h_j|]
    pub h: Vec<Vec<f32>>,
    /// What the alignment model makes of them beforehand. [t_x][..]
    pub keys: Vec<Vec<f32>>,
    /// The state before the first step.
    pub start: Vec<Vec<f32>>,
}

/// A decoder step.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// The numbers of the decoder's stages.
    pub parts: Vec<Part>,
    /// Energies, NaN at words that have none; `None` without alignment. [t_x]
    pub e_i: Option<Vec<f32>>,
    /// Weights; `None` without alignment. [t_x]
    pub alpha_i: Option<Vec<f32>>,
    /// The aligned position of local attention, from 0.
    pub p_t: Option<f32>,
    /// log p of every word. [K_y]
    pub log_p: Vec<f32>,
    /// The state after the step.
    pub state: Vec<Vec<f32>>,
}

/// A model that can be taken apart.
pub trait Anatomy: Send + Sync {
    /// Its drawing.
    fn machine(&self) -> Machine;
    /// Reads a source of ids, `</s>` included, not empty and all within the vocabulary.
    fn encode(&self, source: &[u32]) -> Encoded;
    /// Step `i` after the word `y_prev`, `None` at the first, from a state.
    fn step(&self, encoded: &Encoded, state: &[Vec<f32>], i: usize, y_prev: Option<u32>) -> Taken;
}

/// Makes the anatomy of a model from its weights, rewired if so wished.
pub type Dissect = fn(&Config, &Weights, Option<Wrong>) -> Result<Box<dyn Anatomy>>;

/// The anatomy of a model; see [`crate::models::untrained`] for one before its training.
///
/// # Errors
/// An architecture that has none; [`Wrong::Untrained`], whose weights are others.
pub fn dissect(config: &Config, weights: &Weights, wrong: Option<Wrong>) -> Result<Box<dyn Anatomy>> {
    if wrong == Some(Wrong::Untrained) {
        return Err(Error::Internal("what is not trained is taken apart with weights of its own".into()));
    }
    let architecture = config.architecture;
    let Some(dissect) = architecture.entry().anatomy else {
        return Err(Error::Input(format!(
            "A model of the architecture {} cannot be taken apart.",
            architecture.name()
        )));
    };
    dissect(config, weights, wrong)
}

fn line(text: &'static str, source: &'static str) -> Equation {
    Equation { text, source }
}

/// The first box of every machine.
fn words(all: &Shapes, symbol: &'static str) -> Stage {
    let about = "The sentence as the model's vocabulary cuts it.";
    stage(all, ("words", "Source words", symbol), (0, 0), about, &[], &[])
}

/// The second.
fn embedding(all: &Shapes, symbol: &'static str, source: &'static str) -> Stage {
    let about = "Each word becomes its row of a learned table.";
    let place = ("embedding", "Embeddings", symbol);
    stage(all, place, (1, 0), about, &[line(symbol, source)], &["source_embedding"])
}

/// The last.
fn word(all: &Shapes, symbol: &'static str) -> Stage {
    let about = "What is said, and read again by the next step.";
    stage(all, ("word", "The word", symbol), (4, 3), about, &[], &[])
}

/// A stage; its weights by their names among `all`, those that the model lacks left out.
fn stage(
    all: &Shapes,
    (key, title, symbol): (&'static str, &'static str, &'static str),
    place: (usize, usize),
    about: &'static str,
    equations: &[Equation],
    weights: &[&str],
) -> Stage {
    let shape = |name: &&str| all.iter().find(|(own, _)| own == *name).cloned();
    let weights = weights.iter().filter_map(shape).collect();
    Stage { key, title, symbol, place, about, equations: equations.to_vec(), weights }
}

fn arrow(from: &'static str, to: &'static str) -> Arrow {
    Arrow { from, to, from_before: false }
}
