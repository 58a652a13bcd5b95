//! What only the configuration of a Transformer has. Imports nothing.

use crate::error::Error;

/// A choice that files name.
pub trait NamedChoice: Copy + 'static {
    const ALL: &'static [Self];
    fn name(self) -> &'static str;
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name)
    }
}

/// A choice of names: `names! { Type { Variant "name" "what it is", .. } }`.
macro_rules! names {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident $name:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl NamedChoice for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

pub(crate) use names;

names! {
    /// The nonlinearity of a feed-forward layer.
    Activation {
        /// max(0, x).
        Relu "relu",
        /// x sigma(x).
        Swish "swish",
        /// x Phi(x), with the normal distribution function Phi.
        Gelu "gelu",
    }
}

names! {
    /// What a decoder layer reads the words before with.
    DecoderCell {
        /// Self-attention (Vaswani et al. 2017).
        SelfAttention "attention",
        /// The simpler simple recurrent unit (Kim et al. 2019).
        Ssru "ssru",
    }
}

names! {
    /// How a position is written as a vector: sines in the first half of it, cosines in the second.
    Positions {
        /// sin(t / 10000^(i / (d/2 - 1))), as Marian has them.
        Marian "marian",
        /// sin(t / 10000^(2i / d)), section 3.5 of Vaswani et al. 2017.
        Vaswani "vaswani",
        /// A row for each position stands among the weights.
        Table "table",
    }
}

names! {
    /// Why these heads are the alignment.
    AlignmentReason {
        Named "named",
        Guided "guided",
        Unknown "unknown",
        Chosen "chosen",
    }
}

/// What only a Transformer has.
#[allow(clippy::struct_excessive_bools, reason = "a configuration is made of choices")]
#[derive(Clone, Debug, PartialEq)]
pub struct TransformerSizes {
    pub heads: usize,
    pub encoder_layers: usize,
    pub decoder_layers: usize,
    pub feed_forward: usize,
    pub decoder_feed_forward: usize,
    /// Pre-norm: each sublayer normalises what it reads, and the stacks what they give; else post-norm.
    pub norm_first: bool,
    pub norm_epsilon: f64,
    pub activation: Activation,
    pub cell: DecoderCell,
    pub positions: Positions,
    /// Rows of the table of positions; 0 where they are computed.
    pub max_positions: usize,
    pub scale_embedding: bool,
    pub shared_embedding: bool,
    pub tied_output: bool,
    /// y_0; `None` where the decoder first reads zeros.
    pub start: Option<u32>,
    /// The decoder layer whose cross-attention is shown as alignment, from 1.
    pub alignment_layer: usize,
    /// Its heads that are, from 1; alpha is their mean.
    pub alignment_heads: Vec<usize>,
    pub alignment_reason: AlignmentReason,
}

impl TransformerSizes {
    pub fn looks(&self) -> String {
        let heads: Vec<String> = self.alignment_heads.iter().map(usize::to_string).collect();
        let layer = self.alignment_layer;
        let place = match heads.as_slice() {
            all if all.len() == self.heads => format!("mean of layer {layer}"),
            [head] => format!("layer {layer}, head {head}"),
            heads => format!("layer {layer}, mean of heads {}", heads.join(" and ")),
        };
        let why = match self.alignment_reason {
            AlignmentReason::Named => "named in the file",
            AlignmentReason::Guided => "trained by alignments",
            AlignmentReason::Unknown => "nothing is known of its heads",
            AlignmentReason::Chosen => "chosen",
        };
        format!("{place} ({why})")
    }

    /// Encoder and decoder: the layers of each, and the width within their feed-forward layers.
    pub fn stacks(&self) -> [(&'static str, usize, usize); 2] {
        [
            ("encoder", self.encoder_layers, self.feed_forward),
            ("decoder", self.decoder_layers, self.decoder_feed_forward),
        ]
    }

    pub fn most(&self) -> usize {
        if self.positions == Positions::Table { self.max_positions } else { usize::MAX }
    }
}

pub fn position(kind: Positions, t: usize, d: usize) -> Vec<f32> {
    let half = d / 2;
    let last = match kind {
        Positions::Marian => half.saturating_sub(1).max(1),
        Positions::Vaswani | Positions::Table => half,
    };
    let angle = |i: usize| t as f64 * (-(i as f64) * 10_000_f64.ln() / last as f64).exp();
    let sines = (0..half).map(|i| angle(i).sin() as f32);
    sines.chain((0..half).map(|i| angle(i).cos() as f32)).collect()
}

pub fn too_long(most: usize) -> Error {
    Error::Input(format!(
        "the text or its translation is longer than the {most} pieces that this model has positions for; make it shorter"
    ))
}
