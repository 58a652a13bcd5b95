//! What only the configuration of a conditional recurrent model has.

use crate::models::header::Shapes;
use crate::models::transformer::sizes::{NamedChoice, names};

names! {
    /// In which directions the layers of the encoder read.
    EncoderKind {
        /// Two stacks, one forward and one backward.
        Bidirectional "bidirectional",
        /// Two stacks, whose layers read forward and backward by turns.
        Alternating "alternating",
        /// One layer in both directions, and the others forward over both.
        Topped "bi-unidirectional",
    }
}

names! {
    NematusUnit {
        /// Normalised, the gates share one mean and one variance.
        Gru "gru",
        /// Normalised, z and r share a mean and a variance, and the proposal has its own.
        GruNematus "gru-nematus",
        /// Whose proposal has a second bias, within the reset; normalised as the first.
        GruCudnn "gru-cudnn",
        Lstm "lstm",
    }
}

names! {
    /// Layer normalisation (Ba et al. 2016) of what is not a recurrent unit.
    NematusNorm {
        None "none",
        /// g (x - mean) / sqrt(variance + 1e-9) of x = W y, then b.
        Marian "marian",
        /// g (x - mean) / sqrt(variance + 1e-5) + b' of x = W y + b.
        Nematus "nematus",
    }
}

impl NematusUnit {
    /// Tensors of a unit's state: what it gives and, of an LSTM, its memory.
    pub fn tensors(self) -> usize {
        if self == Self::Lstm { 2 } else { 1 }
    }
}

/// What a unit must know of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPlace {
    pub kind: NematusUnit,
    pub is_normed: bool,
    pub input: usize,
    pub resets_bias: bool,
}

impl UnitPlace {
    pub fn gates(self) -> &'static [&'static str] {
        if self.kind == NematusUnit::Lstm { &["_i", "_f", "_o", "_g"] } else { &["_z", "_r", ""] }
    }

    pub fn is_apart(self) -> bool {
        self.is_normed && self.kind == NematusUnit::GruNematus
    }

    pub fn shapes(self, prefix: &str, n: usize) -> Shapes {
        let mut shapes = Shapes::new();
        for gate in self.gates() {
            let mut add = |name: &str, shape: &[usize]| shapes.push((format!("{prefix}.{name}{gate}"), shape.to_vec()));
            add("b", &[n]);
            for (letter, input) in [("W", self.input), ("U", n)].into_iter().filter(|part| part.1 > 0) {
                add(letter, &[n, input]);
                if self.is_normed {
                    add(&format!("{letter}_norm.g"), &[n]);
                }
                if self.is_apart() {
                    add(&format!("{letter}_norm.b"), &[n]);
                }
            }
        }
        if self.kind == NematusUnit::GruCudnn {
            shapes.push((format!("{prefix}.b_u"), vec![n]));
        }
        shapes
    }
}

/// What only a conditional recurrent model has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NematusSizes {
    pub encoder: EncoderKind,
    pub encoder_unit: NematusUnit,
    pub decoder_unit: NematusUnit,
    pub encoder_layers: usize,
    /// Units one after the other in a layer of the encoder; only the first reads an input.
    pub encoder_cells: usize,
    pub decoder_layers: usize,
    /// Units in the decoder's first layer: the first reads y_{i-1}, the second c_i, further ones nothing.
    pub base_cells: usize,
    pub high_cells: usize,
    /// Whether a layer above the first adds its input to what it gives.
    pub skip: bool,
    pub norm: NematusNorm,
    pub shared_embedding: bool,
    pub tied_output: bool,
}

impl NematusSizes {
    pub fn paired_layers(&self) -> usize {
        if self.encoder == EncoderKind::Topped { 1 } else { self.encoder_layers }
    }

    /// Every layer: its stack, its number there from 1, and the places of its units.
    pub fn layers(&self, m: usize, n: usize) -> Vec<(&'static str, usize, Vec<UnitPlace>)> {
        let is_normed = self.norm != NematusNorm::None;
        let layer = |kind: NematusUnit, inputs: &[usize], cells: usize, is_base: bool| -> Vec<UnitPlace> {
            let input = |k: usize| inputs.get(k).copied().unwrap_or(0);
            (0..cells).map(|k| UnitPlace { kind, is_normed, input: input(k), resets_bias: is_base && k > 0 }).collect()
        };
        let paired = self.paired_layers();
        let encoder = |input: usize| layer(self.encoder_unit, &[input], self.encoder_cells, false);
        let mut all = Vec::new();
        for stack in ["encoder.forward", "encoder.backward"] {
            all.extend((1..=paired).map(|l| (stack, l, encoder(if l == 1 { m } else { n }))));
        }
        let (above, context) = (1..=self.encoder_layers - paired, self.annotation(n));
        all.extend(above.map(|l| ("encoder.top", l, encoder(if l == 1 { 2 * n } else { n }))));
        all.push(("decoder", 1, layer(self.decoder_unit, &[m, context], self.base_cells, true)));
        let high = |l| ("decoder", l, layer(self.decoder_unit, &[n], self.high_cells, false));
        all.extend((2..=self.decoder_layers).map(high));
        all
    }

    pub fn annotation(&self, n: usize) -> usize {
        if self.paired_layers() < self.encoder_layers { n } else { 2 * n }
    }
}
