//! What goes into the worker and what comes out, in plain words and `f32`.
//!
//! A [`Request`] states all that is wanted, so that overwriting one never loses an order;
//! every [`Event`] names its column, and those about decoding the number of their request.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use engine::decoding::{Hypothesis, Node, SearchOptions, Specials, SystemSpec};
use engine::interventions::{Applied, Interventions};
use engine::models::{Kernels, choice::ModelSpec};
use engine::text::{cut::WordRule, pieces::PieceMarks, sentence::Sentence};
use engine::{analysis::row_convention::RowConvention, nn::device::DeviceChoice};

pub use engine::text::sentence::{MAX_SOURCE_BYTES, MAX_SOURCE_TOKENS};

/// Names a column for as long as it is on screen; never used again.
pub type ColumnId = u64;

/// A member of an ensemble.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub has_alignment: bool,
}

/// A model on a device.
pub type Key = (ModelSpec, DeviceChoice);

/// A model, or several as one, on a device.
pub(crate) type SystemKey = (SystemSpec, DeviceChoice);

/// One column: which model, where, and how it searches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnSpec {
    pub column: ColumnId,
    pub system: SystemSpec,
    pub device: DeviceChoice,
    /// Fused kernels (CPU only) or the readable model.
    pub engine: Kernels,
    pub options: SearchOptions,
    /// What a person has set; empty: the model does all by itself.
    pub interventions: Arc<Interventions>,
    /// The text that this column translates; `None`: that of the request.
    pub source: Option<String>,
    /// Translate. False when the result for this very text is on screen already: only the model is kept.
    pub decode: bool,
    /// A translation that the user gives and that the model is to read as well; `None` where that is on screen already.
    pub given: Option<String>,
}

impl ColumnSpec {
    pub(crate) fn key(&self) -> SystemKey {
        (self.system.clone(), self.device)
    }

    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.system.members.iter().map(|model| (model.clone(), self.device))
    }

    pub fn source_in<'a>(&'a self, request: &'a Request) -> &'a str {
        self.source.as_deref().unwrap_or(&request.source)
    }
}

/// A source word whose neighbours are requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    pub column: ColumnId,
    pub word: String,
}

/// All that is requested; it replaces earlier requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Number of the ticket it was made with; grows.
    pub number: u64,
    /// The text to translate; blank: only load the models.
    pub source: String,
    /// Columns from left to right.
    pub columns: Vec<ColumnSpec>,
    /// A word whose neighbours are told once nothing is left to translate.
    pub near: Option<Near>,
}

/// An event of the live worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    Loading {
        column: ColumnId,
        /// From 0 to 1.
        fraction: f32,
    },
    Loaded {
        column: ColumnId,
        facts: ModelFacts,
    },
    /// The fingerprint of a column's model, worked out when there was nothing else to do.
    Fingerprint {
        column: ColumnId,
        digest: String,
    },
    LoadFailed {
        column: ColumnId,
        message: String,
    },
    /// The source is tokenised and encoded; words follow.
    Started {
        number: u64,
        column: ColumnId,
        /// The source as this model reads it, `</s>` included.
        source: Sentence,
        /// The one context vector c where the model has one (rnnencdec). [n]
        context: Option<Vec<f32>>,
    },
    /// The search has done another step.
    Expanded {
        number: u64,
        column: ColumnId,
        best: HypothesisView,
    },
    Finished {
        number: u64,
        column: ColumnId,
        result: ColumnResult,
    },
    /// The model has read the given translation; after `Finished` if the text is translated as well.
    Given {
        number: u64,
        column: ColumnId,
        /// Its view, or a sentence for the user.
        given: Result<Box<HypothesisView>, String>,
    },
    /// What the model does without the interventions of a column, told after `Finished`.
    Untouched {
        number: u64,
        column: ColumnId,
        untouched: UntouchedTranslation,
    },
    Near {
        number: u64,
        column: ColumnId,
        /// As they can be typed, each with its cosine, nearest first; or why there are none, as a sentence for the user.
        near: Result<Vec<(String, f32)>, String>,
    },
    Failed {
        number: u64,
        column: ColumnId,
        message: String,
    },
}

impl Event {
    /// The number of its request, where it has one, and its column.
    pub fn address(&self) -> (Option<u64>, ColumnId) {
        match *self {
            Self::Loading { column, .. }
            | Self::Loaded { column, .. }
            | Self::Fingerprint { column, .. }
            | Self::LoadFailed { column, .. } => (None, column),
            Self::Started { number, column, .. }
            | Self::Expanded { number, column, .. }
            | Self::Finished { number, column, .. }
            | Self::Given { number, column, .. }
            | Self::Untouched { number, column, .. }
            | Self::Near { number, column, .. }
            | Self::Failed { number, column, .. } => (Some(number), column),
        }
    }
}

/// What a loaded model is, for headings and the status line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// The name in `config.json`.
    pub name: String,
    /// `rnnsearch`, `rnnencdec` or `luong`, as in `config.json`.
    pub architecture: String,
    pub citation: String,
    pub source_language: String,
    pub target_language: String,
    pub sizes: ModelSizes,
    pub marks: PieceMarks,
    pub specials: Specials,
    /// The target languages among which a text chooses one; none where the model has but one.
    pub languages: Vec<String>,
    /// Whether the model aligns at all (rnnencdec does not).
    pub has_alignment: bool,
    /// Whether an alignment head beside it says where words come from.
    pub has_head: bool,
    /// Where it looks and how it scores, such as `local-p general`; `None` where it does not align.
    pub attention: Option<String>,
    /// D of local attention, which looks at the words from p_t - D to p_t + D; `None` where it is not local.
    pub window: Option<usize>,
    /// Rows from the one that predicts a word to the first that has read it; `None` without a choice of convention.
    pub input_delay: Option<usize>,
    /// Which rows of its alignment were trained on given links ([`Model::guided`](engine::models::Model::guided)).
    pub guided: Option<String>,
    /// How its rows are read where the user does not choose.
    pub reading: RowConvention,
    pub device: DeviceFacts,
    /// SHA-256 of the weights file, in hex; empty until [`Event::Fingerprint`] brings it.
    pub digest: String,
    /// The model card (`README.md`), empty when there is none.
    pub card: String,
    /// The members of an ensemble; empty for one model.
    pub members: Vec<Member>,
}

/// Where a model computes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub name: String,
    /// A sentence where that is elsewhere than was asked, or where not all of the model can be used.
    pub notice: Option<String>,
}

/// How large a model is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSizes {
    pub parameters: usize,
    pub source_vocabulary: usize,
    pub target_vocabulary: usize,
    pub hidden: usize,
    /// Decoder layers and heads of each, of a Transformer; else 0.
    pub heads: (usize, usize),
}

/// Which tokens make up each word, where a vocabulary has pieces of words; `</s>` is a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pieces {
    pub source: Vec<Range<usize>>,
    pub target: Vec<Range<usize>>,
    /// The target words, put together.
    pub words: Vec<String>,
}

/// A hypothesis in the entries of the vocabulary. All lists have one entry a target token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HypothesisView {
    /// In ids. It may have more rows of alpha than tokens: those of steps after `</s>`.
    pub found: Hypothesis,
    /// Words as the vocabulary writes them, `[UNK]` and `</s>` included.
    pub tokens: Vec<String>,
    pub is_unk: Vec<bool>,
    /// Joined back to normal text, without `</s>`.
    pub text: String,
    /// The best next words at each position with their log p, best first.
    pub candidates: Vec<Vec<(String, f32)>>,
    /// For each `[UNK]` the source word of greatest alpha or of the head; in a given translation the typed word.
    pub replaced: Vec<Option<String>>,
    /// Which tokens make up each word; `None` where every token is a word, on both sides.
    pub pieces: Option<Pieces>,
    /// How the words of the source and of the text are counted.
    pub rules: [WordRule; 2],
    pub touched: Arc<Applied>,
}

impl HypothesisView {
    /// log p per word of its language, and per token of the model; `</s>` is counted.
    pub fn mean_log_p(&self) -> [f32; 2] {
        let words = self.rules[1].count(&self.text) + usize::from(self.found.finished);
        [words, self.found.token_log_p.len()].map(|count| self.found.log_p / count.max(1) as f32)
    }
}

/// What a model does by itself where a column has interventions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UntouchedTranslation {
    pub best: HypothesisView,
    /// For each word of the best translation with interventions, what the model would say there by itself.
    pub shifts: Vec<Shift>,
}

/// How interventions change the next word after the same words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The best next words without interventions with their log p, best first.
    pub before: Vec<(String, f32)>,
    /// The best next words with them, forced words left out of account.
    pub after: Vec<(String, f32)>,
    /// log p without interventions of the word that was said with them.
    pub log_p: f32,
    /// Jensen-Shannon divergence of both distributions over all words, nats, from 0 to ln 2.
    pub divergence: f32,
}

/// What a column's search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnResult {
    pub hypotheses: Vec<HypothesisView>,
    /// The whole trace, when it was asked for and not too large; its tokens are explained by `words`.
    pub nodes: Vec<Node>,
    /// The words that `nodes` mention (`token` and candidates), by id.
    pub words: BTreeMap<u32, String>,
    /// The one context vector c where the model has one (rnnencdec). [n]
    pub context: Option<Vec<f32>>,
    /// The whole search, from the request to the end.
    pub millis: f32,
    /// From the request to the first row.
    pub first_row_millis: f32,
    /// Words of the best hypothesis a second.
    pub words_per_second: f32,
}
