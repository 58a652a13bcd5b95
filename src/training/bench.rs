//! Floor 6: how fast training is: full updates on random sentences of one length, timed one by one.
//! Imports `models` and its own room; the clock is passed in.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::models::config::Config;
use crate::models::cost::Cost;
use crate::models::init::Scheme;
use crate::models::init::initial_weights;
use crate::training::fused::Fused;
use crate::training::fused::StepOptions;
use crate::training::layout::Layout;
use crate::training::optimizer::Optimizer;
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
    /// -log p a word at the last update: finite, or nothing was trained.
    pub nll: f64,
}

impl Speed {
    /// Operations of the products a second, at the median update.
    #[must_use]
    pub fn operations_per_second(&self) -> f64 {
        self.operations as f64 * self.words_per_second / self.words.max(1) as f64
    }
}

/// Times `updates` updates of a model with this configuration from random weights, after one that
/// is not counted, on `threads` threads: minibatches of `batch` pairs, `length` words a side with
/// `</s>`, and other words each time. `clock` gives seconds from some start.
///
/// # Panics
/// Never: the starting weights are those of the layout.
#[must_use]
pub fn speed(
    config: &Config,
    threads: usize,
    batch: usize,
    length: usize,
    updates: usize,
    clock: &dyn Fn() -> f64,
) -> Speed {
    let (threads, batch, length) = (threads.max(1), batch.max(1), length.max(1));
    // as many threads for the rule that moves the weights as for the gradient
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
    let settings = OptimizerSettings::default();
    let mut fused = Fused::new(config, threads);
    let weights = initial_weights(config, Scheme::Scaled, 1);
    let mut flat = Layout::new(config).flatten(&weights).expect("starting weights have the tensors of their layout");
    let mut optimizer = Optimizer::new(&settings, flat.len());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let operations = batch as u64 * Cost::of(config).train(length, length);
    let mut speed = Speed { words: batch * length, operations, ..Speed::default() };
    for update in 0..=updates {
        let source = sentences(config.source_vocabulary, config.eos, batch, length, &mut rng);
        let target = sentences(config.target_vocabulary, config.eos, batch, length, &mut rng);
        let started = clock();
        let mut work = || {
            let source: Vec<&[u32]> = source.iter().map(Vec::as_slice).collect();
            let target: Vec<&[u32]> = target.iter().map(Vec::as_slice).collect();
            let options =
                StepOptions { dropout: DROPOUT, smoothing: 0.0, scale: 1.0 / batch as f32, seed: update as u64 };
            let loss = fused.step(&flat, &source, &target, Some(options));
            fused.update(&mut flat, &mut optimizer, settings.rate(), update as u64);
            loss
        };
        let loss = match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        };
        if update > 0 {
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
    speed
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
