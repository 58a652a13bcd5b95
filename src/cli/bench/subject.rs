//! Floor 9: what is measured: a model's weights, changed so that no translation ends early.

use std::path::Path;
use std::sync::Arc;

use rand::Rng as _;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::cli::bundled;
use crate::decoding::Specials;
use crate::error::Result;
use crate::models::Engine;
use crate::models::Model;
use crate::models::Stepper;
use crate::models::checkpoint::Array;
use crate::models::checkpoint::Weights;
use crate::models::config::Architecture;
use crate::models::config::Config;
use crate::models::folder;
use crate::models::plain::PlainStepper;
use crate::models::shapes;
use crate::nn::device::Device;

/// Half the width of the uniform distribution of random weights; its deviation is 0.05.
const HALF_WIDTH: f32 = 0.0866;
/// Keeps `</s>` from being emitted.
const NEVER: f32 = -1e9;

/// A model to measure.
pub struct Subject {
    /// What the rows call it.
    pub name: String,
    /// Its sizes.
    pub config: Config,
    weights: Arc<Weights>,
    device: Device,
}

impl Subject {
    /// The model asked for, else the first bundled one with an alignment, else a random one of about its size.
    ///
    /// # Errors
    /// When the model asked for is not sound.
    pub fn first(folder: Option<&Path>, device: &Device) -> Result<Self> {
        let loaded = match folder {
            Some(folder) => Some(Model::load(folder, device)?),
            None => bundled::models()
                .iter()
                .filter_map(|folder| Model::load(folder, device).ok())
                .find(|model| model.config.architecture == Architecture::RnnSearch),
        };
        let Some(model) = loaded else {
            return Ok(Self::random("bundled size", &[16_000, 256, 384, 192, 384], device));
        };
        let mut weights = (*model.weights).clone();
        silence(&mut weights, model.config.eos);
        Ok(Self {
            name: model.config.name.clone(),
            config: model.config,
            weights: Arc::new(weights),
            device: device.clone(),
        })
    }

    /// Random weights in the sizes of Bahdanau et al. (2015).
    pub fn paper(device: &Device) -> Self {
        Self::random("paper size", &[30_000, 620, 1000, 500, 1000], device)
    }

    /// An RNNsearch of the sizes [K, m, n, l, n'].
    fn random(name: &str, &[k, m, n, l, alignment]: &[usize; 5], device: &Device) -> Self {
        let config = Config {
            name: name.into(),
            architecture: Architecture::RnnSearch,
            source_language: "en".into(),
            target_language: "fr".into(),
            source_vocabulary: k,
            target_vocabulary: k,
            eos: 0,
            unk: 1,
            source_eos: true,
            embedding: m,
            hidden: n,
            maxout: l,
            alignment,
            output_rank: None,
            luong: None,
        };
        let mut weights = random_weights(&config);
        silence(&mut weights, config.eos);
        Self { name: name.into(), config, weights: Arc::new(weights), device: device.clone() }
    }

    /// What the search drives; on the CPU with so many threads.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn stepper(&self, engine: Engine, threads: usize) -> Result<Box<dyn Stepper>> {
        if engine == Engine::Fused && self.device.is_cpu() {
            return crate::models::fused::stepper(&self.config, &self.weights, threads);
        }
        let plain = folder::readable(&self.config, &self.weights, &self.device.candle)?;
        Ok(Box::new(PlainStepper::new(plain)))
    }

    /// The ids that the search must know.
    pub fn specials(&self) -> Specials {
        Specials { eos: self.config.eos, unk: self.config.unk }
    }

    /// The same `count` sentences of so many words at every call, `</s>` added.
    pub fn sentences(&self, count: usize, words: usize) -> Vec<Vec<u32>> {
        let mut rng = ChaCha8Rng::seed_from_u64(20);
        let lowest = self.config.eos.max(self.config.unk) + 1;
        let vocabulary = (self.config.source_vocabulary as u32).max(lowest + 1);
        let word = |rng: &mut ChaCha8Rng| rng.random_range(lowest..vocabulary);
        let sentence = |rng: &mut ChaCha8Rng| (0..words).map(|_| word(rng)).chain([self.config.eos]).collect();
        (0..count).map(|_| sentence(&mut rng)).collect()
    }
}

fn random_weights(config: &Config) -> Weights {
    let tensor = |(stream, (name, shape)): (usize, (String, Vec<usize>))| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        rng.set_stream(stream as u64);
        let count = shape.iter().product();
        let data = (0..count).map(|_| uniform(&mut rng)).collect();
        (name, Array { shape, data })
    };
    let tensors: Vec<(String, Array)> = shapes(config).into_par_iter().enumerate().map(tensor).collect();
    let mut weights = Weights::new();
    for (name, array) in tensors {
        weights.insert(name, array);
    }
    weights
}

fn uniform(rng: &mut ChaCha8Rng) -> f32 {
    (rng.next_u32() as f32 / u32::MAX as f32 * 2.0 - 1.0) * HALF_WIDTH
}

/// Every translation runs to its greatest length.
fn silence(weights: &mut Weights, eos: u32) {
    for (name, array) in weights.iter_mut() {
        if name == "readout.b_w"
            && let Some(bias) = array.data.get_mut(eos as usize)
        {
            *bias = NEVER;
        }
    }
}
