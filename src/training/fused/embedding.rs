//! The embeddings of a shard's words, with dropout, forward and backward.

use crate::fused::workspace::{Buffer, apply_mask, gather, scatter};
use crate::fused::{Shard, ShardPass};

/// Embeddings of a shard's words times their dropout mask.
#[derive(Debug)]
pub struct Embedded<'a> {
    pub e: Buffer<'a>,
    mask: Option<Buffer<'a>>,
}

impl<'a> Embedded<'a> {
    /// e(x_j) of every source position, [t_x * b, m].
    pub fn source(pass: &mut ShardPass<'a>) -> Self {
        let length = pass.shard.t_x * pass.shard.b * pass.model.config.embedding;
        let mask = pass.dropped(length);
        let mut e = pass.buffers.take(length);
        gather(pass.model.get("source_embedding"), &pass.shard.x, mask.as_deref(), &mut e);
        Self { e, mask }
    }

    /// e(y_{i-1}) of every target position, zero for y_0: [t_y * b, m].
    pub fn previous(pass: &mut ShardPass<'a>) -> Self {
        let first = pass.shard.b * pass.model.config.embedding;
        let mask = pass.dropped((pass.shard.t_y - 1) * first);
        let mut e = pass.buffers.take(pass.shard.t_y * first);
        e[..first].fill(0.0);
        gather(pass.model.get("target_embedding"), previous(pass.shard), mask.as_deref(), &mut e[first..]);
        Self { e, mask }
    }

    /// From the gradient of [`Embedded::source`] to that of the table (added).
    pub fn source_back(&self, pass: &mut ShardPass<'_>, de: &mut [f32]) {
        apply_mask(self.mask.as_deref(), de);
        scatter(&pass.shard.x, de, pass.gradient_of("source_embedding"));
    }

    /// From the gradient of [`Embedded::previous`] to that of the table (added); y_0 has none.
    pub fn previous_back(&self, pass: &mut ShardPass<'_>, de: &mut [f32]) {
        let de = &mut de[pass.shard.b * pass.model.config.embedding..];
        apply_mask(self.mask.as_deref(), de);
        scatter(previous(pass.shard), de, pass.gradient_of("target_embedding"));
    }
}

fn previous(shard: &Shard) -> &[u32] {
    &shard.y[..(shard.t_y - 1) * shard.b]
}
