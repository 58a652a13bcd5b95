//! Floor 6: the embeddings of a shard's words, with dropout, forward and backward.

use crate::training::fused::parts::FusedParts;
use crate::training::fused::workspace::{apply_mask, gather, scatter};
use crate::training::fused::{Noise, Shard, StepOptions, TrainingScratch};

/// A dropout mask, when there is dropout.
pub fn dropped(
    options: Option<StepOptions>,
    length: usize,
    noise: &mut Noise,
    workspace: &mut TrainingScratch,
) -> Option<Vec<f32>> {
    let p = options.map_or(0.0, |o| o.dropout);
    (p > 0.0).then(|| {
        let mut mask = workspace.take(length);
        noise.mask(p, &mut mask);
        mask
    })
}

/// Embeddings of a shard's words times their dropout mask.
#[derive(Debug)]
pub struct Embedded {
    /// e, [words, m].
    pub e: Vec<f32>,
    mask: Option<Vec<f32>>,
}

impl Embedded {
    /// e(x_j) of every source position, [t_x * b, m].
    pub fn source(
        model: &FusedParts<'_>,
        shard: &Shard,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Self {
        let length = shard.t_x * shard.b * model.config.embedding;
        let mask = dropped(options, length, noise, workspace);
        let mut e = workspace.take(length);
        gather(model.get("source_embedding"), &shard.x, mask.as_deref(), &mut e);
        Self { e, mask }
    }

    /// e(y_{i-1}) of every target position, zero for y_0: [t_y * b, m].
    pub fn previous(
        model: &FusedParts<'_>,
        shard: &Shard,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Self {
        let first = shard.b * model.config.embedding;
        let mask = dropped(options, (shard.t_y - 1) * first, noise, workspace);
        let mut e = workspace.take(shard.t_y * first);
        e[..first].fill(0.0);
        gather(model.get("target_embedding"), previous(shard), mask.as_deref(), &mut e[first..]);
        Self { e, mask }
    }

    /// From the gradient of [`Embedded::source`] to that of the table (added).
    pub fn source_back(&self, model: &FusedParts<'_>, shard: &Shard, de: &mut [f32], gradient: &mut [f32]) {
        apply_mask(self.mask.as_deref(), de);
        scatter(&shard.x, de, &mut gradient[model.layout.range("source_embedding")]);
    }

    /// From the gradient of [`Embedded::previous`] to that of the table (added); y_0 has none.
    pub fn previous_back(&self, model: &FusedParts<'_>, shard: &Shard, de: &mut [f32], gradient: &mut [f32]) {
        let de = &mut de[shard.b * model.config.embedding..];
        apply_mask(self.mask.as_deref(), de);
        scatter(previous(shard), de, &mut gradient[model.layout.range("target_embedding")]);
    }

    /// Gives all buffers back.
    pub fn release(self, workspace: &mut TrainingScratch) {
        workspace.put(self.e);
        if let Some(mask) = self.mask {
            workspace.put(mask);
        }
    }
}

/// y_{i-1} of every target position but the first.
fn previous(shard: &Shard) -> &[u32] {
    &shard.y[..(shard.t_y - 1) * shard.b]
}
