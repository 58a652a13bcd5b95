//! One training step on the CPU with hand-written gradients: whole recurrent layers, the attention decoder and the
//! output layer each as one forward and one backward pass over plain slices. The plain twin is `models::loss` under
//! candle's autograd; the tests compare every gradient.
//!
//! A batch is cut into one shard a thread; each shard has its own gradient, and the sum is
//! taken in a fixed order, so that a run is reproducible for a given number of threads.

pub mod affine;
pub mod embedding;
pub mod encdec;
pub mod encoder;
pub mod guide;
pub mod lstm;
pub mod luong;
pub mod luong_attention;
pub mod parts;
pub mod pass;
pub mod readout;
pub mod search;
pub mod workspace;

use std::sync::OnceLock;

use crate::{
    fused::parts::FusedParts, layout::ParameterLayout, minibatch::Minibatch, optimizer::Optimizer, reach::Reach,
};
use engine::clock::Instant;
use engine::error::{Error, Result};
use engine::models::config::{Architecture, Config};
use engine::models::fused as kernels;
use engine::nn::fused::{Packed, Precision, vocabulary::Mixed};

pub use crate::fused::pass::{BatchLoss, Packs, ShardPass, StepOptions};
pub use crate::fused::workspace::{Noise, Shard, TrainingScratch};

type NewPacks = fn() -> Box<dyn Packs>;

const GRADIENTS: &[(Architecture, NewPacks)] = &[
    (Architecture::RNN_ENC_DEC, || Box::<encdec::EncdecPacks>::default()),
    (Architecture::RNN_SEARCH, || Box::<search::SearchPacks>::default()),
    (Architecture::LUONG, || Box::<luong::LuongPacks>::default()),
];

/// Whether the gradients of a model of this configuration are hand-written; a score function without kernels learns
/// by autograd too.
pub fn supports(config: &Config) -> bool {
    packs(config).is_some()
}

fn packs(config: &Config) -> Option<Box<dyn Packs>> {
    let known = GRADIENTS.iter().find(|(architecture, _)| *architecture == config.architecture);
    known.filter(|_| kernels::supports(config)).map(|(_, packs)| packs())
}

/// The fused engine of one architecture.
#[derive(Debug)]
pub struct Fused {
    config: Config,
    layout: ParameterLayout,
    precision: Precision,
    sample: Option<usize>,
    packs: Box<dyn Packs>,
    /// The matrix of the output layer in bf16, where the gradient is computed with it.
    output: Option<Mixed>,
    workspaces: Vec<TrainingScratch>,
    gradients: Vec<Vec<f32>>,
    reach: Reach,
    pending: bool,
}

impl Fused {
    /// An engine for `threads` shards; an error where [`supports`] says no.
    pub fn new(config: &Config, threads: usize) -> Result<Self> {
        let Some(packs) = packs(config) else {
            let attention = config.attention().unwrap_or_default();
            let message = format!("nobody wrote the gradients of {} {attention}", config.architecture.name());
            return Err(Error::Internal(message));
        };
        let layout = ParameterLayout::new(config);
        let threads = threads.max(1);
        Ok(Self {
            config: config.clone(),
            precision: Precision::F32,
            sample: None,
            packs,
            output: None,
            workspaces: (0..threads).map(|_| TrainingScratch::default()).collect(),
            gradients: (0..threads).map(|_| vec![0.0; layout.total()]).collect(),
            reach: Reach::all(config, &layout),
            pending: false,
            layout,
        })
    }

    /// The same, with the factors of products in this precision while a gradient is computed. A loss without gradient
    /// is computed exactly.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision: faster(precision), ..self }
    }

    /// The same, with an output layer that computes only a [`sample`] of the vocabulary while a gradient is computed:
    /// the target words of a shard and this many others.
    pub fn with_sample(self, sample: Option<usize>) -> Self {
        Self { sample, ..self }
    }

    pub fn layout(&self) -> &ParameterLayout {
        &self.layout
    }

    pub fn gradients(&mut self) -> &mut [Vec<f32>] {
        &mut self.gradients
    }

    /// Moves `flat` against the gradient of the steps since the last update, and clears it. Returns the gradient's
    /// norm.
    pub fn update(&mut self, flat: &mut [f32], optimizer: &mut Optimizer, rate: f32, update: u64) -> f32 {
        self.pending = false;
        optimizer.apply(flat, &mut self.gradients, &self.reach, rate, update)
    }

    /// Bytes that the engine holds between steps, weights and the optimizer's memories not included.
    pub fn bytes(&self) -> usize {
        let gradients = 4 * self.gradients.iter().map(Vec::len).sum::<usize>();
        let output = self.output.as_ref().map_or(0, Mixed::bytes);
        gradients + output + self.workspaces.iter().map(TrainingScratch::bytes).sum::<usize>()
    }

    fn round_output(&mut self, flat: &[f32], precision: Precision) {
        match (precision, readout::output_matrix(&self.layout)) {
            // a sample is rounded by itself
            (Precision::Bf16, Some(_)) if self.sample.is_some() => {
                self.output.get_or_insert_default();
            }
            (Precision::Bf16, Some(entry)) => {
                self.output.get_or_insert_default().pack(&flat[entry.range()], entry.shape[1]);
            }
            (Precision::Bf16, None) | (Precision::F32, _) => {}
        }
    }

    /// Loss of a batch and, unless `options` is `None`, its gradient (added to [`Fused::gradients`], which the caller
    /// clears).
    pub fn step(&mut self, flat: &[f32], batch: Minibatch<'_>, options: Option<StepOptions>) -> BatchLoss {
        let precision = if options.is_some() { self.precision } else { Precision::F32 };
        let (config, layout) = (&self.config, &self.layout);
        self.packs.repack(FusedParts { config, layout, flat, precision, output: None, sample: None });
        self.round_output(flat, precision);
        if options.is_some() {
            if self.pending {
                // the gradient of the batch before is still there
                self.reach = Reach::all(&self.config, &self.layout);
            } else {
                self.reach.limit(batch.source, batch.target, self.config.luong().map(|luong| luong.start));
            }
            self.pending = true;
        }
        let threads = self.workspaces.len().min(batch.len()).max(1);
        let (config, layout, packs, sample) = (&self.config, &self.layout, &*self.packs, self.sample);
        let output = self.output.as_ref();
        let mut losses = vec![BatchLoss::default(); threads];
        rayon::scope(|scope| {
            let jobs = self.workspaces.iter_mut().zip(&mut self.gradients).zip(&mut losses).take(threads);
            for (t, ((scratch, gradient), loss)) in jobs.enumerate() {
                scope.spawn(move |_| {
                    let TrainingScratch { buffers, vocabulary, sampled } = scratch;
                    let options =
                        options.map(|o| StepOptions { seed: o.seed.wrapping_add(0x9E37_79B9 * (t as u64 + 1)), ..o });
                    let output = options.and(output);
                    let mut pass = ShardPass {
                        model: FusedParts { config, layout, flat, precision, output, sample },
                        shard: &Shard::new(batch, t, threads),
                        options,
                        noise: Noise::new(options.map_or(0, |o| o.seed)),
                        buffers,
                        vocabulary,
                        sampled,
                        gradient,
                        loss: BatchLoss::default(),
                    };
                    packs.step(&mut pass);
                    *loss = pass.loss;
                });
            }
        });
        let mut total = BatchLoss::default();
        for loss in losses {
            total += loss;
        }
        total
    }
}

/// How many times faster products in bf16 must be to make up for the rounding of their factors.
const WORTHWHILE: f64 = 1.3;

/// The precision that this processor is faster in: this one, or `F32`. Some have the instructions for pairs of bf16 and
/// multiply them no faster, so that rounding costs more than it gains; both products are timed once.
fn faster(precision: Precision) -> Precision {
    static PAYS: OnceLock<bool> = OnceLock::new();
    // a build without optimisation times itself and not the processor
    let pays = || cfg!(debug_assertions) || seconds(Precision::Bf16) * WORTHWHILE < seconds(Precision::F32);
    if precision.here() == Precision::F32 || *PAYS.get_or_init(pays) { precision.here() } else { Precision::F32 }
}

/// What a product takes whose weight stays near the core, the least of some.
fn seconds(precision: Precision) -> f64 {
    let (m, n, k) = (48, 256, 256);
    let (w, x, mut c, mut pack) = (vec![0.5; n * k], vec![0.25; m * k], vec![0.0; m * n], Packed::default());
    pack.pack_transposed(precision, &w, n, k);
    let mut least = f64::INFINITY;
    for _ in 0..12 {
        let started = Instant::now();
        pack.apply(m, &x, k, &mut c, n, false);
        least = least.min(started.elapsed().as_secs_f64());
    }
    least
}
