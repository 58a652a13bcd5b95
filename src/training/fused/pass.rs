//! One pass over a shard of a batch: what it reads, what it needs on its way, where its gradient goes.

use crate::fused::workspace::{Buffer, FreeBuffers, Noise, Shard};
use crate::fused::{affine::Affine, parts::FusedParts};
use engine::nn::fused::vocabulary::{Mixed, Scratch};

/// What a step needs to know beside weights and data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Probability that an embedding or maxout unit is dropped.
    pub dropout: f32,
    /// Epsilon of label smoothing.
    pub smoothing: f32,
    /// The gradient is that of `scale` times the summed loss (1 / sentences of the batch).
    pub scale: f32,
    /// Seed of the dropout masks; another for each update and shard.
    pub seed: u64,
    /// Weight of the cost on alpha beside -log p ([`guide`](crate::fused::guide)).
    pub guide: f32,
}

/// Summed over the words of a shard or batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchLoss {
    /// -log p of the targets.
    pub nll: f64,
    /// The loss that is minimised (with label smoothing).
    pub smoothed: f64,
    /// Target words, `</s>` included.
    pub words: usize,
    /// The cost on alpha ([`guide`](crate::fused::guide)), without its weight; only where a gradient was asked for.
    pub guide: f64,
    /// Rows of alpha that had such a cost.
    pub guided: usize,
}

impl std::ops::AddAssign for BatchLoss {
    fn add_assign(&mut self, other: Self) {
        self.nll += other.nll;
        self.smoothed += other.smoothed;
        self.words += other.words;
        self.guide += other.guide;
        self.guided += other.guided;
    }
}

/// A forward pass and, with options, the backward pass that follows.
#[derive(Debug)]
pub struct ShardPass<'a> {
    pub model: FusedParts<'a>,
    pub shard: &'a Shard,
    /// `None` where the loss alone is asked for, without dropout and smoothing.
    pub options: Option<StepOptions>,
    pub noise: Noise,
    /// Where buffers come from.
    pub buffers: &'a FreeBuffers,
    /// Of the output layer.
    pub vocabulary: &'a mut Scratch,
    /// The matrix of a sample of the output layer in bf16.
    pub sampled: &'a mut Mixed,
    /// Of all weights; every backward pass adds to it.
    pub gradient: &'a mut [f32],
    pub loss: BatchLoss,
}

/// Weights packed for the products of single steps, made once an update and shared by the threads.
pub trait Packs: std::fmt::Debug + Send + Sync {
    fn repack(&mut self, model: FusedParts<'_>);

    /// Loss and, with options, gradient of a shard.
    fn step(&self, pass: &mut ShardPass<'_>);
}

impl<'a> ShardPass<'a> {
    /// A dropout mask, when there is dropout.
    pub fn dropped(&mut self, length: usize) -> Option<Buffer<'a>> {
        let p = self.options.map_or(0.0, |o| o.dropout);
        (p > 0.0).then(|| {
            let mut mask = self.buffers.take(length);
            self.noise.mask(p, &mut mask);
            mask
        })
    }

    pub fn guide_scale(&self) -> f32 {
        self.options.map_or(0.0, |o| o.scale * o.guide)
    }

    pub fn gradient_of(&mut self, name: &str) -> &mut [f32] {
        &mut self.gradient[self.model.layout.range(name)]
    }

    /// Adds d' x to the gradient of a matrix [out, width], or of several below each other: d [rows, out] is the
    /// gradient of W x, x [rows, width].
    pub fn matrix_back(&mut self, name: &str, [out, width]: [usize; 2], rows: usize, d: &[f32], x: &[f32]) {
        let at = self.model.layout.at(name);
        let dw = &mut self.gradient[at..at + out * width];
        self.model.precision.matmul_tn(out, width, rows, d, out, x, width, dw, true);
    }

    /// W e + b of the gates of a gated unit, of the decoder or a layer of the encoder.
    pub fn gates(&self, unit: &str) -> Affine<'a> {
        let config = self.model.config;
        let names = (&*format!("{unit}.W_z"), &*format!("{unit}.b_z"));
        Affine::new(self.model, names, 3 * config.hidden, config.embedding)
    }

    /// The gradient of U_z, U_r and U of a gated unit from `dx` [rows, 3n], the states before and r s, [rows, n] each.
    pub fn unit_back(&mut self, unit: &str, dx: &[f32], s: &[f32], rs: &[f32]) {
        let n = self.model.config.hidden;
        let rows = dx.len() / (3 * n);
        let at = self.model.layout.at(&format!("{unit}.U_z"));
        let (zr, u) = self.gradient[at..at + 3 * n * n].split_at_mut(2 * n * n);
        self.model.precision.matmul_tn(2 * n, n, rows, dx, 3 * n, s, n, zr, true);
        self.model.precision.matmul_tn(n, n, rows, &dx[2 * n..], 3 * n, rs, n, u, true);
    }
}
