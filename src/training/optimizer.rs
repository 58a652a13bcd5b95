//! Adadelta (Zeiler 2012; rho 0.95, epsilon 1e-6 in the papers), Adam (Kingma and Ba 2015)
//! and plain gradient descent over one flat vector, in two passes over memory: the sum of the shards' gradients and
//! its norm; clipping, update, and clearing for the next batch. Rows of embeddings that the batch does not reach
//! ([`Reach`]) have no gradient to read, and move all the same as far as their memories carry them.

use crate::reach::Reach;
use crate::settings::{OptimizerSettings, Rule};
use engine::nn::{fused::elementwise::squared_norm, fused::update};

const CHUNK: usize = 1 << 16;

/// What a rule remembers, as a checkpoint keeps it: two numbers a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerMemory {
    /// Adadelta E[g^2], Adam m.
    pub first: Vec<f32>,
    /// Adadelta E[dx^2], Adam v.
    pub second: Vec<f32>,
}

/// A rule and what it remembers.
#[derive(Clone, Debug)]
pub struct Optimizer {
    settings: OptimizerSettings,
    pub memory: OptimizerMemory,
}

impl Optimizer {
    /// A rule for `parameters` numbers that has seen nothing.
    pub fn new(settings: &OptimizerSettings, parameters: usize) -> Self {
        let size = if settings.rule == Rule::Sgd { 0 } else { parameters };
        let memory = OptimizerMemory { first: vec![0.0; size], second: vec![0.0; size] };
        Self { settings: settings.clone(), memory }
    }

    /// Moves `flat` by the sum of `gradients`, which are zero but where `reach` says, cut to the norm `clip`, and
    /// clears them. `update` counts from 0. Returns the norm before the cut.
    pub fn apply(
        &mut self, flat: &mut [f32], gradients: &mut [Vec<f32>], reach: &Reach, rate: f32, update: u64,
    ) -> f32 {
        let norm = sum_into_first(gradients, reach);
        let Some((gradient, _)) = gradients.split_first_mut() else { return 0.0 };
        if !norm.is_finite() {
            // one bad batch must not spoil the weights
            gradient.fill(0.0);
            return norm;
        }
        let scale = if norm > self.settings.clip { self.settings.clip / norm } else { 1.0 };
        self.step(flat, gradient, reach, scale, rate, update);
        norm
    }

    fn step(&mut self, flat: &mut [f32], gradient: &mut [f32], reach: &Reach, scale: f32, rate: f32, update: u64) {
        use rayon::prelude::*;
        let o = &self.settings;
        let epsilon = o.epsilon();
        let chunks = flat.par_chunks_mut(CHUNK).zip(gradient.par_chunks_mut(CHUNK)).enumerate();
        if o.rule == Rule::Sgd {
            chunks.for_each(|(i, (x, g))| {
                reach.parts(chunk(i, x.len()), |at, reached| {
                    if reached {
                        update::sgd(&mut x[at.clone()], &mut g[at], scale, rate);
                    }
                });
            });
            return;
        }
        let t = (update + 1) as i32;
        let betas = (o.beta1, o.beta2);
        let corrections = (1.0 - o.beta1.powi(t), 1.0 - o.beta2.powi(t));
        let OptimizerMemory { first, second } = &mut self.memory;
        let memories = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
        chunks.zip(memories).for_each(|((i, (x, g)), (first, second))| {
            reach.parts(chunk(i, x.len()), |at, reached| {
                let (x, g) = (&mut x[at.clone()], &mut g[at.clone()]);
                let (first, second) = (&mut first[at.clone()], &mut second[at]);
                match (o.rule, reached) {
                    (Rule::Adam, true) => {
                        update::adam(x, g, first, second, scale, rate, betas, corrections, epsilon);
                    }
                    (Rule::Adam, false) => update::adam_coast(x, first, second, rate, betas, corrections, epsilon),
                    (_, true) => update::adadelta(x, g, first, second, scale, rate, o.rho, epsilon),
                    // the step is -0: only the memories fade
                    (_, false) => update::fade(first, second, o.rho),
                }
            });
        });
    }
}

fn chunk(i: usize, length: usize) -> std::ops::Range<usize> {
    i * CHUNK..i * CHUNK + length
}

fn sum_into_first(gradients: &mut [Vec<f32>], reach: &Reach) -> f32 {
    use rayon::prelude::*;
    let Some((first, rest)) = gradients.split_first_mut() else { return 0.0 };
    let mut others: Vec<Vec<&mut [f32]>> = Vec::new();
    others.resize_with(first.len().div_ceil(CHUNK), Vec::new);
    for gradient in rest {
        others.iter_mut().zip(gradient.chunks_mut(CHUNK)).for_each(|(others, chunk)| others.push(chunk));
    }
    let chunks = first.par_chunks_mut(CHUNK).zip(others).enumerate();
    // collected in order, so that the sum does not depend on timing
    let parts: Vec<f64> = chunks
        .map(|(i, (a, mut others))| {
            let mut norm = 0.0;
            reach.parts(chunk(i, a.len()), |at, reached| {
                if reached {
                    for b in &mut others {
                        update::take(&mut a[at.clone()], &mut b[at.clone()]);
                    }
                    norm += squared_norm(&a[at]);
                }
            });
            norm
        })
        .collect();
    parts.iter().sum::<f64>().sqrt() as f32
}
