//! A weight packed for both passes.

use engine::nn::fused::{Packed, Precision};

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
