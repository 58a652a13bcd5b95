//! Floor 3: what only the configuration of a conditional recurrent model has.

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
        /// Forward alone. It leaves one context, its last state, and there is no attention.
        Forward "forward",
    }
}

names! {
    /// The recurrent unit.
    NematusUnit {
        /// Normalised, the gates share one mean and one variance.
        Gru "gru",
        /// Normalised, z and r share a mean and a variance, and the proposal has its own.
        GruNematus "gru-nematus",
        /// Whose proposal has a second bias, within the reset; normalised as the first.
        GruCudnn "gru-cudnn",
        /// Of Hochreiter and Schmidhuber 1997, with a forget gate.
        Lstm "lstm",
    }
}

names! {
    /// Layer normalisation (Ba et al. 2016) of what is not a recurrent unit.
    NematusNorm {
        /// There is none, nor in the units.
        None "none",
        /// g (x - mean) / sqrt(variance + 1e-9) of x = W y, then b.
        Marian "marian",
        /// g (x - mean) / sqrt(variance + 1e-5) + b' of x = W y + b.
        Nematus "nematus",
    }
}

/// What only a conditional recurrent model has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NematusSizes {
    /// Directions of the encoder.
    pub encoder: EncoderKind,
    /// The encoder's units.
    pub encoder_unit: NematusUnit,
    /// The decoder's units.
    pub decoder_unit: NematusUnit,
    /// Layers of the encoder.
    pub encoder_layers: usize,
    /// Units one after the other in a layer of the encoder; only the first reads an input.
    pub encoder_cells: usize,
    /// Layers of the decoder; the first holds the attention.
    pub decoder_layers: usize,
    /// Units in the decoder's first layer: the first reads y_{i-1}, the second c_i, further ones nothing.
    pub base_cells: usize,
    /// Units in each of its other layers; only the first reads an input.
    pub high_cells: usize,
    /// Whether a layer above the first adds its input to what it gives.
    pub skip: bool,
    /// Layer normalisation.
    pub norm: NematusNorm,
    /// Whether both sides have one embedding.
    pub shared_embedding: bool,
    /// Whether the output layer is the target embedding.
    pub tied_output: bool,
}

impl NematusSizes {
    /// Layers that read the source in both directions, or forward alone where all do.
    pub fn paired_layers(&self) -> usize {
        if self.encoder == EncoderKind::Topped { 1 } else { self.encoder_layers }
    }

    /// Whether the decoder looks at the source.
    pub fn aligns(&self) -> bool {
        self.encoder != EncoderKind::Forward
    }

    /// The numbers of an annotation h_j, for n hidden units.
    pub fn annotation(&self, n: usize) -> usize {
        if !self.aligns() || self.paired_layers() < self.encoder_layers { n } else { 2 * n }
    }
}
