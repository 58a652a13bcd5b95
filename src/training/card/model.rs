//! The losses of the papers' models from few large nodes, with the values and gradients of their readable forms
//! (`engine::models`).

use std::collections::HashMap;

use candle_core::{Device, Tensor};

use crate::card::kernels::{cross_entropy, cross_entropy_back, scatter};
use crate::card::{encdec, luong, node::by_hand, search};
use engine::error::Result;
use engine::models::batch::{Batch, shifted};
use engine::models::loss::{Loss, Regularizer, guide};
use engine::models::{Architecture, config::Config};
use engine::nn::linear::{Parameters, apply};

/// An architecture that has such a form.
struct CardEntry {
    architecture: Architecture,
    fits: fn(&Config) -> bool,
    hidden: fn(&CardTensors, &Batch, &Batch, &mut Regularizer) -> Result<CardHidden>,
    /// W of the output layer and its bias.
    output: (&'static str, Option<&'static str>),
}

const ENTRIES: &[CardEntry] = &[
    CardEntry {
        architecture: Architecture::RNN_SEARCH,
        fits: |_| true,
        hidden: search::hidden,
        output: ("readout.W_o", Some("readout.b_w")),
    },
    CardEntry {
        architecture: Architecture::RNN_ENC_DEC,
        fits: |config| config.output_rank.is_none(),
        hidden: encdec::hidden,
        output: ("readout.G", Some("readout.b_w")),
    },
    CardEntry { architecture: Architecture::LUONG, fits: luong::fits, hidden: luong::hidden, output: ("W_s", None) },
];

fn entry(config: &Config) -> Option<&'static CardEntry> {
    ENTRIES.iter().find(|entry| entry.architecture == config.architecture && (entry.fits)(config))
}

/// Whether a model of this configuration has a form of few large nodes.
pub fn has_large_nodes(config: &Config) -> bool {
    entry(config).is_some()
}

/// What a model computes before its output layer.
#[derive(Debug)]
pub struct CardHidden {
    /// Of all places, [t_y, b, l].
    pub t: Tensor,
    /// alpha, [t_y, b, t_x]; `None` where the model does not align.
    pub alpha: Option<Tensor>,
}

/// Tensors by the names of [`engine::models::shapes`]; variables stay variables.
pub struct CardTensors {
    all: HashMap<String, Tensor>,
    pub config: Config,
}

impl CardTensors {
    pub fn at(&self, unit: &str) -> Parameters<'_> {
        Parameters::new(&self.all).at(unit)
    }

    pub fn get(&self, name: &str) -> Result<Tensor> {
        Parameters::new(&self.all).get(name)
    }

    /// The tensors of these gates one above the other: `unit.letter` and the gate.
    pub fn stacked(&self, unit: &str, letter: &str, gates: &[&str]) -> Result<Tensor> {
        let all = gates.iter().map(|gate| self.get(&format!("{unit}.{letter}{gate}")));
        Ok(Tensor::cat(&all.collect::<Result<Vec<_>>>()?, 0)?)
    }

    /// The embeddings of the source, [t_x, b, m].
    pub fn source(&self, source: &Batch) -> Result<Tensor> {
        let e = rows(&self.get("source_embedding")?, &source.ids)?;
        Ok(e.reshape((source.longest, source.sentences(), ()))?)
    }

    /// The embeddings of the words before, [t_y, b, m].
    pub fn target(&self, target: &Batch, start: Option<u32>) -> Result<Tensor> {
        shifted(&self.get("target_embedding")?, target, start, rows)
    }
}

/// A model of few large nodes.
pub struct CardModel {
    tensors: CardTensors,
    entry: &'static CardEntry,
}

impl CardModel {
    /// Over the parameters of a model; `None` where its configuration has no such form.
    pub fn new(config: &Config, tensors: HashMap<String, Tensor>) -> Option<Self> {
        let tensors = CardTensors { all: tensors, config: config.clone() };
        Some(Self { tensors, entry: entry(config)? })
    }

    /// As [`engine::models::loss::Trainable::guided_loss`].
    pub fn loss(
        &self, source: &[&[u32]], target: &[&[u32]], links: Option<&Tensor>, regularizer: &mut Regularizer,
    ) -> Result<Loss> {
        let (source, target) = (Batch::new(source)?, Batch::new(target)?);
        let hidden = (self.entry.hidden)(&self.tensors, &source, &target, regularizer)?;
        let (places, y) = target.words();
        let t = hidden.t.flatten(0, 1)?; // [t_y * b, l]
        let t = if target.is_padded() { rows(&t, &places)? } else { t }; // [words, l]
        let (objective, nll) = self.losses(&regularizer.drop(&t)?, &y, regularizer.label_smoothing)?;
        let guide = links.zip(hidden.alpha).map(|(links, alpha)| guide(links, &alpha)).transpose()?;
        Ok(Loss { objective, nll, words: y.len(), guide })
    }

    /// -log p(y) of all rows of t, [words, l], smoothed by epsilon, and as it is.
    fn losses(&self, t: &Tensor, y: &[u32], epsilon: f64) -> Result<(Tensor, Tensor)> {
        let (w, b) = self.entry.output;
        let logits = apply(&self.tensors.get(w)?, t)?; // [words, K_y]
        let bias = match b {
            Some(b) => self.tensors.get(b)?,
            None => Tensor::zeros(logits.dim(1)?, logits.dtype(), logits.device())?,
        };
        let y = ids(y, t.device())?;
        let (own, own_bias) = (logits.detach(), bias.detach());
        let found = cross_entropy(&own, &own_bias, &y)?;
        let (nll, uniform) = (found.get(0)?, (found.get(1)? - found.get(2)?)?);
        let smoothed = ((&nll * (1.0 - epsilon))? + (uniform * epsilon)?)?; // [words]
        let has_bias = b.is_some();
        let node = by_hand(&smoothed, [&logits, &bias, &bias], move |d| {
            let of_logits = cross_entropy_back([&own, &own_bias, &y], &found, &d.contiguous()?, epsilon)?;
            let of_bias = has_bias.then(|| sum_of_rows(&of_logits)).transpose()?;
            Ok([Some(of_logits), of_bias, None])
        })?;
        Ok((node.sum_all()?, nll.sum_all()?))
    }
}

/// The sum of all rows, [n], of x [rows, n].
pub fn sum_of_rows(x: &Tensor) -> Result<Tensor> {
    Ok(Tensor::ones((1, x.dim(0)?), x.dtype(), x.device())?.matmul(x)?.squeeze(0)?)
}

fn ids(all: &[u32], device: &Device) -> Result<Tensor> {
    Ok(Tensor::from_slice(all, all.len(), device)?)
}

/// Rows of `table` by their numbers, [numbers, m].
fn rows(table: &Tensor, numbers: &[u32]) -> Result<Tensor> {
    let (numbers, count) = (ids(numbers, table.device())?, table.dim(0)?);
    let value = table.detach().index_select(&numbers, 0)?;
    by_hand(&value, [table, table, table], move |d| Ok([Some(scatter(count, &numbers, &d.contiguous()?)?), None, None]))
}
