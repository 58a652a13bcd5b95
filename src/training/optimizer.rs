//! Floor 6: Adadelta (Zeiler 2012; rho 0.95, epsilon 1e-6 in the papers), Adam (Kingma and Ba 2015)
//! and plain gradient descent over one flat vector. One pass over memory does all of it:
//! sum of the shards' gradients, clipping, update, and clearing for the next batch.

use crate::nn::fused::elementwise::squared_norm;
use crate::nn::fused::update;
use crate::training::settings::OptimizerSettings;
use crate::training::settings::Rule;

/// Numbers that one task works on.
const CHUNK: usize = 1 << 16;

/// A rule and what it remembers: two numbers a parameter.
#[derive(Clone, Debug)]
pub struct Optimizer {
    settings: OptimizerSettings,
    /// Adadelta E[g^2], Adam m.
    pub first: Vec<f32>,
    /// Adadelta E[dx^2], Adam v.
    pub second: Vec<f32>,
}

impl Optimizer {
    /// A rule for `parameters` numbers that has seen nothing.
    #[must_use]
    pub fn new(settings: &OptimizerSettings, parameters: usize) -> Self {
        let size = if settings.rule == Rule::Sgd { 0 } else { parameters };
        Self { settings: settings.clone(), first: vec![0.0; size], second: vec![0.0; size] }
    }

    /// Moves `flat` by the sum of `gradients`, cut to the norm `clip`, and clears them.
    /// `update` counts from 0. Returns the norm before the cut.
    pub fn apply(&mut self, flat: &mut [f32], gradients: &mut [Vec<f32>], rate: f32, update: u64) -> f32 {
        sum_into_first(gradients);
        let Some((gradient, _)) = gradients.split_first_mut() else { return 0.0 };
        let norm = norm(gradient);
        if !norm.is_finite() {
            // one bad batch must not spoil the weights
            gradient.fill(0.0);
            return norm;
        }
        let scale = if norm > self.settings.clip { self.settings.clip / norm } else { 1.0 };
        self.step(flat, gradient, scale, rate, update);
        norm
    }

    fn step(&mut self, flat: &mut [f32], gradient: &mut [f32], scale: f32, rate: f32, update: u64) {
        use rayon::prelude::*;
        let o = &self.settings;
        let epsilon = o.epsilon();
        if o.rule == Rule::Sgd {
            flat.par_chunks_mut(CHUNK)
                .zip(gradient.par_chunks_mut(CHUNK))
                .for_each(|(x, g)| update::sgd(x, g, scale, rate));
            return;
        }
        let t = (update + 1) as i32;
        let corrections = (1.0 - o.beta1.powi(t), 1.0 - o.beta2.powi(t));
        flat.par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks_mut(CHUNK))
            .zip(self.first.par_chunks_mut(CHUNK).zip(self.second.par_chunks_mut(CHUNK)))
            .for_each(|((x, g), (first, second))| match o.rule {
                Rule::Adam => update::adam(x, g, first, second, scale, rate, (o.beta1, o.beta2), corrections, epsilon),
                _ => update::adadelta(x, g, first, second, scale, rate, o.rho, epsilon),
            });
    }
}

fn sum_into_first(gradients: &mut [Vec<f32>]) {
    use rayon::prelude::*;
    let Some((first, rest)) = gradients.split_first_mut() else { return };
    for other in rest {
        first.par_chunks_mut(CHUNK).zip(other.par_chunks_mut(CHUNK)).for_each(|(a, b)| update::take(a, b));
    }
}

fn norm(gradient: &[f32]) -> f32 {
    use rayon::prelude::*;
    // collected in order, so that the sum does not depend on timing
    let parts: Vec<f64> = gradient.par_chunks(CHUNK).map(squared_norm).collect();
    parts.iter().sum::<f64>().sqrt() as f32
}
