//! What a line of the table of architectures says, and which line a configuration names.

use std::fmt;
use std::sync::Arc;

use crate::attention::{AttentionEntry, AttentionKind};
use crate::error::Result;
use crate::models::anatomy::entry::MachineStage;
use crate::models::anatomy::wrong::Miswiring;
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::models::header::Shapes;
use crate::models::loss::Trainable;
use crate::models::stepper::Stepper;
use crate::nn::linear::Parameters;

/// Makes the readable form of a model from its parameters.
pub type Readable = fn(&Config, &Parameters<'_>) -> Result<Box<dyn Trainable>>;

/// The weights of one model, packed.
pub trait PackedModel: fmt::Debug + Send + Sync {
    /// A stepper that may use `threads` threads of the current pool; `config` may choose other heads as the alignment
    /// than the one that it was packed for.
    fn stepper(self: Arc<Self>, config: &Config, threads: usize) -> Box<dyn Stepper>;
}

/// Packs the weights of a model.
pub type Pack = fn(&Config, &Arc<Weights>) -> Result<Arc<dyn PackedModel>>;

/// How an architecture is drawn.
pub struct Plan {
    /// As its paper has it, in the order of computing.
    pub stages: &'static [MachineStage],
    /// What is otherwise with this configuration, or rewired.
    pub adapt: fn(&Config, Option<Miswiring>, &mut Vec<MachineStage>),
}

/// Where a model looks, and how it scores.
#[derive(Clone, Copy)]
pub struct AlignmentMode {
    pub kind: AttentionKind,
    pub score: &'static AttentionEntry,
}

/// One line of [`MODELS`](super::table::MODELS): all that the program must know to read, prepare and train an architecture.
pub struct ModelEntry {
    /// Its name in `config.json`.
    pub name: &'static str,
    pub citation: &'static str,
    /// The keys of `config.json` that it needs beside those of every model ([`OWN_KEYS`](super::config::OWN_KEYS)).
    pub needs: &'static [&'static str],
    /// The keys that it may have.
    pub may: &'static [&'static str],
    /// Names and shapes of its tensors, in the order of the format.
    pub shapes: fn(&Config) -> Shapes,
    /// The readable form over tensors of these names; variables stay variables.
    pub readable: Readable,
    /// What packs it for the fused kernels; `None` where there are none for this configuration.
    pub fused: fn(&Config) -> Option<Pack>,
    /// Where it looks; `None` where it does not align.
    pub looks: fn(&Config) -> Option<AlignmentMode>,
    /// Rows between the row that predicts a word and the first whose state has read it: 1 in Luong et al. 2015, 2 in
    /// Bahdanau et al. 2015, whose step looks before it reads y_{i-1}. `None` where it does not align.
    pub input_delay: Option<usize>,
    /// The numbers of an annotation h_j.
    pub annotation: fn(&Config) -> usize,
    /// Whether one vector c is all that the encoder leaves.
    pub one_context: fn(&Config) -> bool,
    /// How it is drawn on page Steps; `None` where it is not.
    pub anatomy: Option<&'static Plan>,
    /// How many times as large as usual the numbers of a tensor are drawn by [`Scaled`](super::init::InitScheme::Scaled).
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
    /// The architecture of this entry.
    pub const fn new(entry: &'static ModelEntry) -> Self {
        Self(entry)
    }

    /// All that there is to know of it.
    pub fn entry(self) -> &'static ModelEntry {
        self.0
    }

    /// Its name in `config.json`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The architecture of that name in a table.
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

/// Names and shapes of the tensors of a model with this configuration.
pub fn shapes(config: &Config) -> Shapes {
    (config.architecture.entry().shapes)(config)
}
