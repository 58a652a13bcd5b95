//! The losses of the papers' models from few large nodes, with the values and gradients of their readable forms
//! (`engine::models`).

use std::collections::HashMap;

use candle_core::Tensor;

use crate::card::kernels::{cross_entropy, cross_entropy_back};
use crate::card::tensors::{CardHidden, CardTensors, ids, rows, sum_of_rows};
use crate::card::{encdec, luong, node::by_hand, search};
use engine::error::Result;
use engine::models::batch::Batch;
use engine::models::loss::{Loss, Regularizer, guide};
use engine::models::{Architecture, config::Config};
use engine::nn::linear::apply;

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
