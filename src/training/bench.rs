//! Floor 6: how fast training is: full updates on random sentences of one length, timed one by one.
//! Imports `models` and its own room; the clock is passed in.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::models::config::Config;
use crate::models::init::{Scheme, initial_weights};
use crate::nn::fused::Precision;
use crate::training::engine::{Engine as _, FusedEngine};
use crate::training::fused::{Fused, StepOptions};
use crate::training::layout::Layout;
use crate::training::minibatch::Minibatch;
use crate::training::optimizer::Optimizer;
use crate::training::settings::OptimizerSettings;

/// As in a modern recipe, so that the cost of dropout masks is measured too.
pub const DROPOUT: f32 = 0.2;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    /// Seconds of each update: minibatch, loss, gradient, clipping and Adam.
    pub seconds: Vec<f64>,
    /// Target words of an update, `</s>` included.
    pub words: usize,
    /// Bytes of weights, gradients, the optimizer's memories and all buffers.
    pub bytes: usize,
    /// -log p a word at the last update: finite, or nothing was trained.
    pub nll: f64,
}

/// Times `updates` updates of a model with this configuration from random weights, after one that
/// is not counted, on `threads` threads: minibatches of `batch` pairs, `length` words a side with
/// `</s>`, and other words each time. `clock` gives seconds from some start.
pub fn speed(
    config: &Config,
    precision: Precision,
    threads: usize,
    batch: usize,
    length: usize,
    updates: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Speed> {
    // as many threads for the rule that moves the weights as for the gradient
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build().ok();
    let settings = OptimizerSettings::default();
    let start = Layout::new(config).flatten(&initial_weights(config, Scheme::Scaled, 1))?;
    let optimizer = Optimizer::new(&settings, start.len());
    let mut engine = FusedEngine::new(Fused::new(config, threads)?.with_precision(precision), start, optimizer);
    let (batch, length) = (batch.max(1), length.max(1));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut speed = Speed { words: batch * length, ..Speed::default() };
    for number in 0..=updates as u64 {
        let source = sentences(config.source_vocabulary, config.eos, batch, length, &mut rng);
        let target = sentences(config.target_vocabulary, config.eos, batch, length, &mut rng);
        let started = clock();
        let source: Vec<&[u32]> = source.iter().map(Vec::as_slice).collect();
        let target: Vec<&[u32]> = target.iter().map(Vec::as_slice).collect();
        let options =
            StepOptions { dropout: DROPOUT, smoothing: 0.0, scale: 1.0 / batch as f32, seed: number, guide: 0.0 };
        let mut update = || engine.update(Minibatch::new(&source, &target), options, settings.rate(), number);
        let (loss, _) = match &pool {
            Some(pool) => pool.install(update),
            None => update(),
        }?;
        if number > 0 {
            speed.seconds.push(clock() - started);
        }
        speed.nll = loss.nll / loss.words.max(1) as f64;
    }
    speed.bytes = engine.bytes();
    Ok(speed)
}

/// Random words behind the two specials, then `</s>`.
fn sentences(vocabulary: usize, eos: u32, batch: usize, length: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let least = 2.min(vocabulary.saturating_sub(1)) as u32;
    let mut sentence = || (1..length).map(|_| rng.random_range(least..vocabulary as u32)).chain([eos]).collect();
    (0..batch).map(|_| sentence()).collect()
}
