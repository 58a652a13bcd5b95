//! Floor 6: how fast training is: full updates on random sentences of one length, timed one by one.
//! Imports `models` and its own room; the clock is passed in.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::models::config::Config;
use crate::models::cost::Cost;
use crate::models::init::{Scheme, initial_weights};
use crate::nn::fused::Precision;
use crate::training::engine::{Engine as _, FusedEngine};
use crate::training::fused::{Fused, Loss, StepOptions};
use crate::training::layout::Layout;
use crate::training::optimizer::Optimizer;
use crate::training::plain::PlainEngine;
use crate::training::settings::OptimizerSettings;

/// As a modern recipe has it, so that masks are paid for.
pub const DROPOUT: f32 = 0.2;

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    /// Target words a second (`</s>` included) of the median update.
    pub words_per_second: f64,
    /// Slowest update less fastest, as a share of the median one.
    pub spread: f64,
    /// Seconds of each update: minibatch, loss, gradient, clipping and Adam.
    pub seconds: Vec<f64>,
    /// Target words of an update.
    pub words: usize,
    /// Floating-point operations of the products of an update, by [`Cost::train`].
    pub operations: u64,
    /// Bytes of weights, gradients, the optimizer's memories and all buffers.
    pub bytes: usize,
    /// -log p a word at the last update: finite, or nothing was trained.
    pub nll: f64,
}

impl Speed {
    /// Operations of the products a second, at the median update.
    pub fn operations_per_second(&self) -> f64 {
        self.operations as f64 * self.words_per_second / self.words.max(1) as f64
    }
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
    let flat = start(config)?;
    let optimizer = Optimizer::new(&settings, flat.len());
    let mut engine = FusedEngine::new(Fused::new(config, threads).with_precision(precision), flat, optimizer);
    let mut update = |minibatch: Minibatch<'_>, options, update| {
        let mut work = || engine.update(minibatch.0, minibatch.1, options, settings.rate(), update);
        match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    };
    let mut speed = measure(config, (batch, length), updates, clock, &mut update)?;
    speed.bytes = engine.bytes();
    Ok(speed)
}

/// As [`speed`], of the readable model under candle's autograd, on as many threads as candle takes. Its memory is not
/// known.
pub fn plain_speed(
    config: &Config,
    batch: usize,
    length: usize,
    updates: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Speed> {
    let settings = OptimizerSettings::default();
    let mut engine = PlainEngine::new(config, &start(config)?, &settings, &candle_core::Device::Cpu)?;
    let mut update = |minibatch: Minibatch<'_>, options, update| {
        engine.update(minibatch.0, minibatch.1, options, settings.rate(), update)
    };
    measure(config, (batch, length), updates, clock, &mut update)
}

/// Starting weights in the layout's order.
fn start(config: &Config) -> Result<Vec<f32>> {
    Layout::new(config).flatten(&initial_weights(config, Scheme::Scaled, 1))
}

/// Sources and targets.
type Minibatch<'a> = (&'a [&'a [u32]], &'a [&'a [u32]]);

/// One update by an engine.
type Update<'a> = dyn FnMut(Minibatch<'_>, StepOptions, u64) -> Result<(Loss, f32)> + 'a;

fn measure(
    config: &Config,
    (batch, length): (usize, usize),
    updates: usize,
    clock: &dyn Fn() -> f64,
    update: &mut Update<'_>,
) -> Result<Speed> {
    let (batch, length) = (batch.max(1), length.max(1));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let operations = batch as u64 * Cost::of(config).train(length, length);
    let mut speed = Speed { words: batch * length, operations, ..Speed::default() };
    for number in 0..=updates {
        let source = sentences(config.source_vocabulary, config.eos, batch, length, &mut rng);
        let target = sentences(config.target_vocabulary, config.eos, batch, length, &mut rng);
        let started = clock();
        let source: Vec<&[u32]> = source.iter().map(Vec::as_slice).collect();
        let target: Vec<&[u32]> = target.iter().map(Vec::as_slice).collect();
        let options = StepOptions { dropout: DROPOUT, smoothing: 0.0, scale: 1.0 / batch as f32, seed: number as u64 };
        let (loss, _) = update((&source, &target), options, number as u64)?;
        if number > 0 {
            speed.seconds.push(clock() - started);
        }
        speed.nll = loss.nll / loss.words.max(1) as f64;
    }
    let mut sorted = speed.seconds.clone();
    sorted.sort_by(f64::total_cmp);
    if let (Some(least), Some(most)) = (sorted.first(), sorted.last()) {
        let median = sorted[sorted.len() / 2].max(1e-12);
        speed.words_per_second = speed.words as f64 / median;
        speed.spread = (most - least) / median;
    }
    Ok(speed)
}

/// Random words behind the two specials, then `</s>`.
fn sentences(vocabulary: usize, eos: u32, batch: usize, length: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let least = 2.min(vocabulary.saturating_sub(1)) as u32;
    let words = |rng: &mut ChaCha8Rng| (1..length).map(|_| rng.random_range(least..vocabulary as u32)).collect();
    (0..batch)
        .map(|_| {
            let mut sentence: Vec<u32> = words(rng);
            sentence.push(eos);
            sentence
        })
        .collect()
}
