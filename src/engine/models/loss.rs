//! Log-likelihood of targets with gradients, on any device. Input parts and the output layer run once for the whole
//! batch; only what depends on the step before runs step by step.

use std::collections::HashMap;

use candle_core::{D, Tensor};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::models::{batch::Batch, config::Config, readable::TranslationModel};
use crate::{error::Result, nn::linear::Parameters};

/// What makes training harder than scoring. [`Regularizer::none`] changes nothing.
#[derive(Clone, Debug)]
pub struct Regularizer {
    pub dropout: f64,
    pub label_smoothing: f64,
    rng: ChaCha8Rng,
    start: Option<u64>,
}

impl Regularizer {
    /// Draws from its own generator, on a card from the card's: alone on a card, the same seed drops the same numbers.
    pub fn new(dropout: f64, label_smoothing: f64, seed: u64) -> Self {
        Self { dropout, label_smoothing, rng: ChaCha8Rng::seed_from_u64(seed), start: Some(seed) }
    }

    pub fn none() -> Self {
        Self::new(0.0, 0.0, 0)
    }

    /// x with a share of its numbers 0 and the rest scaled up by as much.
    pub fn drop(&mut self, x: &Tensor) -> Result<Tensor> {
        if self.dropout <= 0.0 {
            return Ok(x.clone());
        }
        let keep = 1.0 - self.dropout;
        if !x.device().is_cpu() {
            // millions of numbers that would have to be drawn and sent for each update
            self.start.take().map(|seed| x.device().set_seed(seed)).transpose()?;
            let mask = x.rand_like(0.0, 1.0)?.lt(keep)?.to_dtype(x.dtype())?;
            return Ok((x * (mask / keep)?)?);
        }
        let scale = (1.0 / keep) as f32;
        let limit = (keep * f64::from(u32::MAX)) as u32;
        let mask: Vec<f32> =
            (0..x.elem_count()).map(|_| if self.rng.next_u32() < limit { scale } else { 0.0 }).collect();
        Ok((x * Tensor::from_vec(mask, x.shape(), x.device())?.to_dtype(x.dtype())?)?)
    }
}

/// The loss of a batch, summed over its words.
#[derive(Clone, Debug)]
pub struct Loss {
    pub objective: Tensor,
    pub nll: Tensor,
    pub words: usize,
    /// With given links the cost on alpha, a scalar with its graph, and the number of rows that have one, a scalar.
    pub guide: Option<(Tensor, Tensor)>,
}

/// What a model computes before its output layer.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// What the output layer reads for every target word ([`Batch::words`]): t [words, l], or Luong's h~_t [words, n].
    pub rows: Tensor,
    /// alpha_i of every step, [b, t_x] each; empty where the model does not align.
    pub alpha: Vec<Tensor>,
}

/// A model that can be trained by gradients.
pub trait Trainable: TranslationModel {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden>;

    /// The output layer before its softmax, [rows, K_y], from the rows of [`Trainable::last_hidden`].
    fn logits(&self, t: &Tensor) -> Result<Tensor>;

    fn loss(&self, source: &[&[u32]], target: &[&[u32]]) -> Result<(Tensor, usize)> {
        let loss = self.training_loss(source, target, &mut Regularizer::none())?;
        Ok((loss.nll, loss.words))
    }

    /// With label smoothing, and dropout on embeddings, between layers and before the output layer, never over time.
    fn training_loss(&self, source: &[&[u32]], target: &[&[u32]], regularizer: &mut Regularizer) -> Result<Loss> {
        self.guided_loss(source, target, None, regularizer)
    }

    /// [`Trainable::training_loss`] with the cost of links [t_y, b, t_x], 1 if row i should look at source word j.
    fn guided_loss(
        &self, source: &[&[u32]], target: &[&[u32]], links: Option<&Tensor>, regularizer: &mut Regularizer,
    ) -> Result<Loss> {
        let (source, target) = (Batch::new(source)?, Batch::new(target)?);
        let hidden = self.last_hidden(&source, &target, regularizer)?;
        let logits = self.logits(&regularizer.drop(&hidden.rows)?)?; // [words, K_y]
        let loss = smoothed_loss(&logits, &target.words().1, regularizer.label_smoothing)?;
        let guided = links.filter(|_| !hidden.alpha.is_empty());
        let guide = guided.map(|links| guide(links, &Tensor::stack(&hidden.alpha, 0)?)).transpose()?;
        Ok(Loss { guide, ..loss })
    }
}

/// Guided attention: -sum_i sum_j A_ij log alpha_ij over the rows that have links, where A_i is spread evenly over the
/// linked words at which local attention can look at all (Chen et al. 2016; Liu et al. 2016; Mi et al. 2016), and the
/// number of those rows. Both tensors are [t_y, b, t_x].
pub fn guide(links: &Tensor, alpha: &Tensor) -> Result<(Tensor, Tensor)> {
    let links = (links.to_dtype(alpha.dtype())? * alpha.detach().gt(0.0)?.to_dtype(alpha.dtype())?)?;
    let count = links.sum_keepdim(D::Minus1)?; // [t_y, b, 1]
    let a = links.broadcast_div(&count.maximum(1.0)?)?;
    let log_alpha = alpha.maximum(f64::from(f32::MIN_POSITIVE))?.log()?;
    Ok(((a * log_alpha)?.sum_all()?.neg()?, count.minimum(1.0)?.sum_all()?))
}

fn smoothed_loss(logits: &Tensor, y: &[u32], epsilon: f64) -> Result<Loss> {
    let words = y.len();
    let y = Tensor::from_slice(y, (words, 1), logits.device())?;
    // log p(k) = shifted_k - log sum_k' exp(shifted_k'); the maximum cancels and needs no gradient.
    let shifted = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?; // [words, K_y]
    let log_sum = shifted.exp()?.sum(D::Minus1)?.log()?; // [words]
    let chosen = shifted.gather(&y, 1)?.squeeze(1)?; // [words]
    let nll = (&log_sum - chosen)?.sum_all()?;
    if epsilon <= 0.0 {
        return Ok(Loss { objective: nll.clone(), nll, words, guide: None });
    }
    let uniform = (log_sum - shifted.mean(D::Minus1)?)?.sum_all()?;
    let objective = ((&nll * (1.0 - epsilon))? + (uniform * epsilon)?)?;
    Ok(Loss { objective, nll: nll.detach(), words, guide: None })
}

pub fn trainable(config: &Config, tensors: &HashMap<String, Tensor>) -> Result<Box<dyn Trainable>> {
    (config.architecture.entry().readable)(config, &Parameters::new(tensors))
}
