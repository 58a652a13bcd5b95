//! What only the configuration of a model of OpenNMT has.

use crate::models::nematus::sizes::{NematusUnit, UnitPlace};
use crate::models::transformer::sizes::{NamedChoice, names};

names! {
    /// Where the decoder starts.
    DecoderStart {
        /// In every layer, where the encoder's layer next to it ended.
        Layers "layers",
        /// In all layers, where the top layer of the encoder ended; where that is twice as wide, where it ended
        /// forward.
        Top "top",
        /// In all layers, at tanh(W h + b) of where the top layer ended.
        Bridge "bridge",
        Zeros "zeros",
    }
}

names! {
    /// What h~ is of W_c [c_i; s_i] + b_c.
    AttentionalMix {
        /// Its hyperbolic tangent (Luong et al. 2015).
        Tanh "tanh",
        Linear "linear",
    }
}

/// What only a model of OpenNMT has.
#[allow(clippy::struct_excessive_bools, reason = "a configuration is made of choices")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenNmtSizes {
    pub both_directions: bool,
    pub unit: NematusUnit,
    pub encoder_hidden: usize,
    /// Layers of the encoder; each reads both directions of the one below.
    pub encoder_layers: usize,
    pub decoder_layers: usize,
    pub start_state: DecoderStart,
    pub score: String,
    pub mixing: AttentionalMix,
    pub input_feeding: bool,
    pub shared_embedding: bool,
    pub tied_output: bool,
    pub start: u32,
}

impl OpenNmtSizes {
    /// Every layer: its stack, its number there from 1, and the place of its unit.
    pub fn layers(&self, m: usize, n: usize) -> Vec<(&'static str, usize, UnitPlace)> {
        let place = |input: usize| UnitPlace { kind: self.unit, is_normed: false, input, resets_bias: false };
        let mut all = Vec::new();
        for stack in &["encoder.forward", "encoder.backward"][..self.directions()] {
            let input = |l: usize| if l == 1 { m } else { self.annotation() };
            all.extend((1..=self.encoder_layers).map(|l| (*stack, l, place(input(l)))));
        }
        let fed = if self.input_feeding { n } else { 0 };
        let input = |l: usize| if l == 1 { m + fed } else { n };
        all.extend((1..=self.decoder_layers).map(|l| ("decoder", l, place(input(l)))));
        all
    }

    pub const SCORES: [&'static str; 3] = ["additive", "dot", "general"];

    pub fn annotation(&self) -> usize {
        self.encoder_hidden * self.directions()
    }

    /// A key that does not fit the others, and why, for m numbers of an embedding and n hidden units.
    pub fn misfit(&self, m: usize, n: usize) -> Option<(&'static str, String)> {
        let annotation = self.annotation();
        let starts = match self.start_state {
            DecoderStart::Layers => annotation == n && self.encoder_layers == self.decoder_layers,
            DecoderStart::Top => annotation == n || annotation == 2 * n,
            DecoderStart::Bridge | DecoderStart::Zeros => true,
        };
        if !starts {
            let message = format!("does not go with annotations of {annotation} numbers and states of {n}");
            return Some(("start_state", message));
        }
        if self.score == "dot" && annotation != n {
            return Some(("score", format!("is dot, but annotations have {annotation} numbers and states {n}")));
        }
        (self.tied_output && m != n).then(|| ("tied_output", "is true, but `embedding` is not `hidden`".to_owned()))
    }

    pub fn directions(&self) -> usize {
        if self.both_directions { 2 } else { 1 }
    }
}
