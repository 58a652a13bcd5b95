//! Random weights to start training from.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::models::checkpoint::{Array, Weights};
use crate::models::{config::Config, entry::shapes};
use crate::nn::init::{gaussian, orthogonal, uniform};

/// How to draw the weights. Recurrent matrices U are orthogonal and biases 0 in the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitScheme {
    /// Bahdanau et al. 2015, appendix B.1: W_a and U_a Gaussian of deviation 0.001, v_a 0, all other
    /// matrices Gaussian of deviation 0.01.
    Paper,
    /// Gaussian of deviation 1/sqrt(fan in), embeddings of deviation 0.1, times the gain of the architecture's
    /// entry: the same size of activations whatever the sizes of the layers. The bias of a forget gate is 1.
    Scaled,
    /// Every number, biases too, uniform in [-0.1, 0.1] (Luong et al. 2015, section 4.1).
    Uniform,
}

pub fn initial_weights(config: &Config, scheme: InitScheme, seed: u64) -> Weights {
    let drawn: Vec<(String, Array)> = shapes(config)
        .into_par_iter()
        .enumerate()
        .map(|(index, (name, shape))| {
            // A stream for each tensor: they can be drawn in any order.
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(index as u64);
            let gain = (config.architecture.entry().gain)(&name);
            let data = draw((scheme, gain), &name, &shape, &mut rng);
            (name, Array { shape, data: data.into_iter().map(|x| x as f32).collect() })
        })
        .collect();
    let mut weights = Weights::new();
    for (name, array) in drawn {
        weights.insert(name, array);
    }
    weights
}

fn draw((scheme, gain): (InitScheme, f64), name: &str, shape: &[usize], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let count = shape.iter().product();
    let matrix = name.rsplit('.').next().unwrap_or(name);
    match (scheme, matrix, shape) {
        (InitScheme::Uniform, ..) => uniform(count, 0.1, rng),
        // RNNsearch's readout has a U_o too, which nothing feeds back.
        (_, "U" | "U_z" | "U_r" | "U_i" | "U_f" | "U_o" | "U_g", [n, _]) if !name.starts_with("readout.") => {
            orthogonal(*n, rng)
        }
        (InitScheme::Paper, "W_a" | "U_a", _) => gaussian(count, 0.001, rng),
        (InitScheme::Paper, _, [_, _]) => gaussian(count, 0.01, rng),
        // gains of a layer normalisation
        (_, "g", [_]) => vec![1.0; count],
        (InitScheme::Scaled, "b_f", _) => vec![1.0; count],
        (InitScheme::Scaled, "source_embedding" | "target_embedding", _) => gaussian(count, 0.1 * gain, rng),
        (InitScheme::Scaled, "v_a" | "v_p", [n_a]) => gaussian(count, 1.0 / (*n_a as f64).sqrt(), rng),
        (InitScheme::Scaled, _, [_, fan_in]) => gaussian(count, gain / (*fan_in as f64).sqrt(), rng),
        _ => vec![0.0; count],
    }
}
