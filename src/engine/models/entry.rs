//! An entry of the table of architectures, and the architecture of a configuration.

use std::{fmt, sync::Arc};

use crate::attention::{AttentionEntry, AttentionKind};
use crate::models::{
    anatomy::entry::MachineStage, anatomy::wrong::Miswiring, checkpoint::Weights, config::Config, header::Shapes,
    loss::Trainable, stepper::Stepper,
};
use crate::{error::Result, nn::linear::Parameters};

/// Makes the readable form of a model from its parameters.
pub type Readable = fn(&Config, &Parameters<'_>) -> Result<Box<dyn Trainable>>;

/// The weights of one model, packed.
pub trait PackedModel: fmt::Debug + Send + Sync {
    /// A stepper on up to `threads` threads; `config` may choose other alignment heads than it was packed for.
    fn stepper(self: Arc<Self>, config: &Config, threads: usize) -> Box<dyn Stepper>;
}

/// Packs the weights of a model.
pub type Pack = fn(&Config, &Arc<Weights>) -> Result<Arc<dyn PackedModel>>;

/// How an architecture is drawn.
pub struct Plan {
    pub stages: &'static [MachineStage],
    pub adapt: fn(&Config, Option<Miswiring>, &mut Vec<MachineStage>),
}

/// Where a model looks, and how it scores.
#[derive(Clone, Copy)]
pub struct AlignmentMode {
    pub kind: AttentionKind,
    pub score: &'static AttentionEntry,
}

/// An architecture's entry in [`MODELS`](super::table::MODELS).
pub struct ModelEntry {
    pub name: &'static str,
    pub citation: &'static str,
    /// Keys of `config.json` that it needs besides the common ones ([`OWN_KEYS`](super::config::OWN_KEYS)).
    pub needs: &'static [&'static str],
    pub may: &'static [&'static str],
    pub shapes: fn(&Config) -> Shapes,
    /// The readable form over tensors of these names; variables stay variables.
    pub readable: Readable,
    /// Packs it for the fused kernels; `None` if there are none for this configuration.
    pub fused: fn(&Config) -> Option<Pack>,
    pub looks: fn(&Config) -> Option<AlignmentMode>,
    /// Rows between the row that predicts a word and the first whose state has read it ([`Config::input_delay`]).
    pub input_delay: Option<usize>,
    pub annotation: fn(&Config) -> usize,
    pub one_context: fn(&Config) -> bool,
    pub anatomy: Option<&'static Plan>,
    /// Factor on the deviation of a tensor's initial numbers ([`Scaled`](super::init::InitScheme::Scaled)).
    pub gain: fn(&str) -> f64,
}

impl ModelEntry {
    /// The paper in few letters, as `Bahdanau et al. 2015`.
    pub fn paper(&self) -> String {
        let author = self.citation.split([',', ' ']).next().unwrap_or_default();
        let year = self.citation.split([',', ' ']).find(|word| word.parse::<u16>().is_ok()).unwrap_or_default();
        format!("{author} et al. {year}")
    }
}

/// Which paper's wiring: a [`ModelEntry`].
#[derive(Clone, Copy)]
pub struct Architecture(&'static ModelEntry);

impl Architecture {
    pub const fn new(entry: &'static ModelEntry) -> Self {
        Self(entry)
    }

    pub fn entry(self) -> &'static ModelEntry {
        self.0
    }

    pub fn name(self) -> &'static str {
        self.0.name
    }

    pub fn among(models: &'static [ModelEntry], name: &str) -> Option<Self> {
        models.iter().find(|entry| entry.name == name).map(Self)
    }
}

impl PartialEq for Architecture {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Architecture {}

impl fmt::Debug for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

pub fn shapes(config: &Config) -> Shapes {
    (config.architecture.entry().shapes)(config)
}
