//! Training by candle's autograd over the readable models, on any device: the way on a
//! GPU, and the reference that the fused gradients are compared with. On an NVIDIA card most go the way of [`card`].
//!
//! [`card`]: crate::card

use std::collections::HashMap;

use candle_core::backprop::GradStore;
use candle_core::{D, Device, Tensor, Var};

use crate::backend::{Engine, OptimizerMemory, Updated};
use crate::fused::{BatchLoss, Shard, StepOptions};
use crate::layout::{LayoutEntry, ParameterLayout};
use crate::settings::{OptimizerSettings, Rule};
use crate::{card::model::CardModel, minibatch::Minibatch};
use engine::error::{Error, Result};
use engine::models::config::Config;
use engine::models::loss::{Regularizer, Trainable, trainable};

/// Where alpha is to look, 1 at what is linked, [t_y, b, t_x]; `None` without guidance.
pub fn looks(batch: Minibatch<'_>, device: &Device) -> Result<Option<Tensor>> {
    if batch.looks.is_empty() {
        return Ok(None);
    }
    let shard = Shard::new(batch, 0, 1);
    let mut a = vec![0.0_f32; shard.t_y * shard.b * shard.t_x];
    for (place, row) in a.chunks_exact_mut(shard.t_x).enumerate() {
        shard.looks(place / shard.b, place % shard.b).iter().for_each(|j| row[usize::from(*j)] = 1.0);
    }
    Ok(Some(Tensor::from_vec(a, (shard.t_y, shard.b, shard.t_x), device)?))
}

struct Parameter {
    var: Var,
    first: Tensor,
    second: Tensor,
}

/// Weights as candle variables on a device.
pub struct PlainEngine {
    layout: ParameterLayout,
    device: Device,
    parameters: Vec<Parameter>,
    model: Box<dyn Trainable>,
    by_hand: Option<CardModel>,
    optimizer: OptimizerSettings,
}

impl PlainEngine {
    /// In few large steps where the model has such a form, else as [`PlainEngine::new`].
    pub fn by_hand(config: &Config, flat: &[f32], optimizer: &OptimizerSettings, device: &Device) -> Result<Self> {
        let engine = Self::new(config, flat, optimizer, device)?;
        let names = engine.layout.entries().iter().map(|entry| entry.name.clone());
        let tensors = names.zip(engine.parameters.iter().map(|parameter| parameter.var.as_tensor().clone()));
        Ok(Self { by_hand: CardModel::new(config, tensors.collect()), ..engine })
    }

    /// Starts from `flat`, in the layout's order.
    pub fn new(config: &Config, flat: &[f32], optimizer: &OptimizerSettings, device: &Device) -> Result<Self> {
        let layout = ParameterLayout::new(config);
        let mut parameters = Vec::new();
        let mut tensors = HashMap::new();
        for entry in layout.entries() {
            let tensor = Tensor::from_slice(&flat[entry.range()], entry.shape.as_slice(), device)?;
            let var = Var::from_tensor(&tensor)?;
            tensors.insert(entry.name.clone(), var.as_tensor().clone());
            let zeros = tensor.zeros_like()?;
            parameters.push(Parameter { var, first: zeros.clone(), second: zeros });
        }
        let model = trainable(config, &tensors)?;
        Ok(Self { layout, device: device.clone(), parameters, model, by_hand: None, optimizer: optimizer.clone() })
    }

    fn backward(&self, batch: Minibatch<'_>, options: StepOptions) -> Result<(BatchLoss, GradStore)> {
        let (dropout, smoothing) = (f64::from(options.dropout), f64::from(options.smoothing));
        let mut regularizer = Regularizer::new(dropout, smoothing, options.seed);
        let looks = looks(batch, &self.device)?;
        let loss = match &self.by_hand {
            Some(model) => model.loss(batch.source, batch.target, looks.as_ref(), &mut regularizer)?,
            None => self.model.guided_loss(batch.source, batch.target, looks.as_ref(), &mut regularizer)?,
        };
        let mut objective = loss.objective.clone();
        if let Some((cost, _)) = &loss.guide {
            objective = (objective + (cost * f64::from(options.guide))?)?;
        }
        let gradients = (objective * f64::from(options.scale))?.backward()?;
        let scalar = |tensor: &Tensor| Ok::<_, Error>(f64::from(tensor.to_scalar::<f32>()?));
        let (guide, guided) = match &loss.guide {
            Some((cost, rows)) => (scalar(cost)?, scalar(rows)?.round() as usize),
            None => (0.0, 0),
        };
        let (nll, smoothed) = (scalar(&loss.nll)?, scalar(&loss.objective)?);
        let loss = BatchLoss { nll, smoothed, words: loss.words, guide, guided };
        Ok((loss, gradients))
    }

    /// The gradient in the layout's order, as the fused engine gives it.
    pub fn gradient(&self, batch: Minibatch<'_>, options: StepOptions) -> Result<(BatchLoss, Vec<f32>)> {
        let (loss, gradients) = self.backward(batch, options)?;
        Ok((loss, self.flat(|parameter| gradients.get(parameter.var.as_tensor()))?))
    }

    fn norm(&self, gradients: &GradStore) -> Result<f32> {
        let mut total = Tensor::zeros((), candle_core::DType::F32, &self.device)?;
        for parameter in &self.parameters {
            if let Some(gradient) = gradients.get(parameter.var.as_tensor()) {
                // row by row first: one sum of all is one block of a card
                total = (total + gradient.sqr()?.sum(D::Minus1)?.sum_all()?)?;
            }
        }
        Ok(total.to_scalar::<f32>()?.sqrt())
    }

    /// Tensors of all parameters one after the other, zeros where there is none.
    fn flat<'t>(&'t self, pick: impl Fn(&'t Parameter) -> Option<&'t Tensor>) -> Result<Vec<f32>> {
        let mut flat = Vec::with_capacity(self.layout.total());
        for parameter in &self.parameters {
            match pick(parameter) {
                Some(tensor) => flat.extend(tensor.flatten_all()?.to_vec1::<f32>()?),
                None => flat.resize(flat.len() + parameter.var.elem_count(), 0.0),
            }
        }
        Ok(flat)
    }
}

fn full(error: Error) -> Error {
    if !error.to_string().contains("OUT_OF_MEMORY") {
        return error;
    }
    let message = "the card's memory is full; lower `schedule.batch_words`, or `schedule.batch` where that is not set, and go on with --resume";
    Error::Device(message.to_owned())
}

impl Parameter {
    /// The rules of `nn::fused::update` in tensors.
    fn step(&mut self, gradient: &Tensor, o: &OptimizerSettings, rate: f64, update: u64) -> Result<()> {
        let epsilon = f64::from(o.epsilon());
        let mix = |old: &Tensor, new: Tensor, keep: f32| -> Result<Tensor> {
            Ok(((old * f64::from(keep))? + (new * f64::from(1.0 - keep))?)?)
        };
        let step = match o.rule {
            Rule::Sgd => (gradient * rate)?,
            Rule::Adam => {
                let t = (update + 1) as i32;
                self.first = mix(&self.first, gradient.clone(), o.beta1)?;
                self.second = mix(&self.second, gradient.sqr()?, o.beta2)?;
                let rate = rate / f64::from(1.0 - o.beta1.powi(t));
                let scale = 1.0 / f64::from(1.0 - o.beta2.powi(t)).sqrt();
                ((&self.first * rate)? / ((self.second.sqrt()? * scale)? + epsilon)?)?
            }
            Rule::Adadelta => {
                self.first = mix(&self.first, gradient.sqr()?, o.rho)?;
                let ratio = ((&self.second + epsilon)?.sqrt()? / (&self.first + epsilon)?.sqrt()?)?;
                let step = (ratio * gradient)?;
                self.second = mix(&self.second, step.sqr()?, o.rho)?;
                (step * rate)?
            }
        };
        self.var.set(&(self.var.as_tensor() - step)?.detach())?;
        self.first = self.first.detach();
        self.second = self.second.detach();
        Ok(())
    }
}

impl Engine for PlainEngine {
    fn update(&mut self, batch: Minibatch<'_>, options: StepOptions, rate: f32, update: u64) -> Result<Updated> {
        let (loss, gradients) = self.backward(batch, options).map_err(full)?;
        let norm = self.norm(&gradients)?;
        if norm.is_finite() {
            let scale = if norm > self.optimizer.clip { self.optimizer.clip / norm } else { 1.0 };
            for parameter in &mut self.parameters {
                let gradient = match gradients.get(parameter.var.as_tensor()) {
                    Some(gradient) => (gradient.detach() * f64::from(scale))?,
                    None => parameter.var.as_tensor().zeros_like()?.detach(),
                };
                parameter.step(&gradient, &self.optimizer, f64::from(rate), update)?;
            }
        }
        Ok((loss, norm))
    }

    fn measure(&mut self, batch: Minibatch<'_>) -> Result<BatchLoss> {
        let none = &mut Regularizer::none();
        let (nll, words) = match &self.by_hand {
            Some(model) => model.loss(batch.source, batch.target, None, none).map(|loss| (loss.nll, loss.words))?,
            None => self.model.loss(batch.source, batch.target)?,
        };
        let nll = f64::from(nll.to_scalar::<f32>()?);
        Ok(BatchLoss { nll, smoothed: nll, words, ..BatchLoss::default() })
    }

    fn weights(&self) -> Result<Vec<f32>> {
        self.flat(|parameter| Some(parameter.var.as_tensor()))
    }

    fn memory(&self) -> Result<OptimizerMemory> {
        if self.optimizer.rule == Rule::Sgd {
            return Ok(OptimizerMemory::default());
        }
        Ok(OptimizerMemory { first: self.flat(|p| Some(&p.first))?, second: self.flat(|p| Some(&p.second))? })
    }

    fn restore(&mut self, weights: Vec<f32>, memory: Option<OptimizerMemory>) -> Result<()> {
        let tensor = |flat: &[f32], entry: &LayoutEntry| -> Result<Option<Tensor>> {
            let Some(data) = flat.get(entry.range()) else { return Ok(None) };
            Ok(Some(Tensor::from_slice(data, entry.shape.as_slice(), &self.device)?))
        };
        for (entry, parameter) in self.layout.entries().iter().zip(&mut self.parameters) {
            if let Some(weights) = tensor(&weights, entry)? {
                parameter.var.set(&weights)?;
            }
            let Some(OptimizerMemory { first, second }) = &memory else { continue };
            for (kept, own) in [(first, &mut parameter.first), (second, &mut parameter.second)] {
                *own = tensor(kept, entry)?.unwrap_or_else(|| own.clone());
            }
        }
        Ok(())
    }

    fn layout(&self) -> &ParameterLayout {
        &self.layout
    }
}
