//! The weights of a model as the fused training step reads them, and packed.

use crate::layout::ParameterLayout;
use engine::models::config::Config;
use engine::nn::fused::{Packed, Precision, vocabulary::Mixed};

/// Sizes, places and values of the weights.
#[derive(Clone, Copy, Debug)]
pub struct FusedParts<'a> {
    pub config: &'a Config,
    pub layout: &'a ParameterLayout,
    pub flat: &'a [f32],
    /// Precision of the factors of products.
    pub precision: Precision,
    /// The matrix of the output layer in bf16, where products use it.
    pub output: Option<&'a Mixed>,
    /// Words that the output layer draws beside the targets; all words where there is none.
    pub sample: Option<usize>,
}

impl<'a> FusedParts<'a> {
    pub fn get(&self, name: &str) -> &'a [f32] {
        &self.flat[self.layout.range(name)]
    }

    /// `length` numbers from the start of a tensor: joined gates begin at `_z`.
    pub fn joined(&self, name: &str, length: usize) -> &'a [f32] {
        let start = self.layout.at(name);
        &self.flat[start..start + length]
    }
}

/// W for W x and for W' d.
#[derive(Debug, Default)]
pub struct Both {
    pub forward: Packed,
    pub back: Packed,
}

impl Both {
    /// Packs a weight [rows, columns] again.
    pub fn repack(&mut self, precision: Precision, w: &[f32], rows: usize, columns: usize) {
        self.forward.pack_transposed(precision, w, rows, columns);
        self.back.pack_plain(precision, w, rows, columns);
    }
}
