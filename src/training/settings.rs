//! The training configuration, one TOML file. Unknown keys are an error.

mod check;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use engine::error::{Error, Result};
use engine::models::config::{Architecture, AttentionKind, Config, LuongSizes, OwnSizes};
use engine::{
    analysis::row_convention::RowConvention, attention::find, models::TRAINED, nn::fused::Precision, text::toml::parse,
};

pub use engine::text::links::LinkWords;

/// A whole configuration file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// Name of the model.
    pub name: String,
    pub output: PathBuf,
    pub model: ModelSettings,
    pub data: DataSettings,
    #[serde(default)]
    pub optimizer: OptimizerSettings,
    #[serde(default)]
    pub schedule: ScheduleSettings,
    /// Guided attention; none when absent, as in the papers.
    pub guide: Option<GuideSettings>,
}

/// Sizes, as in `config.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// A name of [`TRAINED`].
    pub architecture: String,
    pub source_language: String,
    pub target_language: String,
    /// What text is cut into.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tokens: TokenKind,
    /// Whether both sides share one vocabulary of subwords.
    #[serde(default, skip_serializing_if = "is_default")]
    pub joint: bool,
    /// Words of the source shortlist (or subwords), `</s>` and `[UNK]` included.
    pub source_vocabulary: usize,
    /// Words of the target shortlist (or subwords), `</s>` and `[UNK]` included.
    pub target_vocabulary: usize,
    pub embedding: usize,
    pub hidden: usize,
    /// l (rnnsearch and rnnencdec).
    #[serde(default)]
    pub maxout: usize,
    #[serde(default)]
    pub alignment: usize,
    /// r of G = G_l G_r (rnnencdec).
    pub output_rank: Option<usize>,
    /// Stacked LSTM layers on either side (luong).
    pub layers: Option<usize>,
    /// Where the decoder looks, a name in [`KINDS`] (luong).
    pub attention: Option<String>,
    /// The score function, a name in [`ATTENTIONS`](engine::attention::ATTENTIONS) (luong).
    pub score: Option<String>,
    /// Whether h~_{t-1} is fed into step t (luong; default true).
    pub input_feeding: Option<bool>,
    /// Whether the encoder reads backwards (luong; default true).
    pub reverse_source: Option<bool>,
    /// D of local attention, 10 in the paper (luong).
    pub window: Option<usize>,
    /// Source words that `location` has a row for (luong; default `data.max_length` + 1).
    pub max_source: Option<usize>,
    /// `papers` (appendix B of Bahdanau et al. 2015), `scaled` (1/sqrt(fan-in)) or `uniform` (Luong et al. 2015).
    #[serde(default)]
    pub start: StartSettings,
}

/// What text is cut into.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TokenKind {
    /// Whole words, the most frequent ones.
    #[default]
    Words,
    /// Subwords by byte pair encoding (Sennrich et al. 2016), learned from the training text.
    Bpe,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Starting weights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum StartSettings {
    /// Appendix B of Bahdanau et al. 2015.
    Papers,
    /// Orthogonal U, the rest Gaussian with 1/sqrt(fan-in).
    #[default]
    Scaled,
    /// Every number uniform in [-0.1, 0.1] (Luong et al. 2015, section 4.1).
    Uniform,
}

/// One parallel text.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TextPair {
    /// Source file (`.txt`, `.gz`, `.zst`), relative to the configuration file.
    pub source: PathBuf,
    pub target: PathBuf,
    /// How often an epoch sees it.
    #[serde(default = "one")]
    pub repeat: usize,
    /// Only the first so many pairs (after the length limit); all when absent.
    pub limit: Option<usize>,
    /// Links of these pairs that guide attention: a file in Pharaoh's notation, a line for each line of the text.
    pub links: Option<PathBuf>,
    /// What the links count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub link_words: LinkWords,
}

/// Where the rows of target words without links are to look.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Unlinked {
    /// Wherever they like: they have no cost.
    #[default]
    Free,
    /// At the source's `</s>`, which stands for no word.
    End,
    /// Where the nearest linked word looks, of two the right one (Devlin et al. 2014, section 2.1).
    Nearest,
}

/// Guided attention: a cost on alpha beside -log p ([`crate::fused::guide`]).
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct GuideSettings {
    /// Weight of the cost of a row; -log p of a word has weight 1.
    pub weight: f32,
    /// Update from which the weight falls linearly; it stays as it is when absent.
    pub decay_from: Option<u64>,
    /// Update at which it has fallen to `final_weight`; the last one when absent.
    pub decay_until: Option<u64>,
    /// The weight that is left at the end of the fall.
    pub final_weight: f32,
    /// Which row of alpha belongs to a word, a name in [`OF_ALPHA`](engine::analysis::row_convention::OF_ALPHA).
    pub reading: String,
    /// Where the rows of words without links are to look.
    pub unlinked: Unlinked,
}

impl Default for GuideSettings {
    fn default() -> Self {
        Self {
            weight: 1.0,
            decay_from: None,
            decay_until: None,
            final_weight: 0.0,
            reading: RowConvention::default().name().to_owned(),
            unlinked: Unlinked::default(),
        }
    }
}

impl GuideSettings {
    pub fn reading(&self) -> RowConvention {
        // `TrainingSettings::load` refused unknown names
        RowConvention::from_name(&self.reading).unwrap_or_default()
    }

    /// The weight at an update counted from 0, in a run of `updates`.
    pub fn weight_at(&self, update: u64, updates: u64) -> f32 {
        let Some(from) = self.decay_from.filter(|from| update > *from) else { return self.weight };
        let until = self.decay_until.unwrap_or(updates);
        if update >= until {
            return self.final_weight;
        }
        let done = (update - from) as f32 / (until - from) as f32;
        self.weight + (self.final_weight - self.weight) * done
    }
}

fn one() -> usize {
    1
}

/// Text for training and development.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    pub train: Vec<TextPair>,
    pub development: TextPair,
    /// A model folder whose two vocabularies are taken instead of counting words: models of one vocabulary can be
    /// compared word by word and form an ensemble.
    pub vocabulary: Option<PathBuf>,
    #[serde(default = "fifty")]
    pub max_length: usize,
}

fn fifty() -> usize {
    50
}

/// Which rule moves the weights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Zeiler 2012, the papers' rule.
    Adadelta,
    /// Kingma and Ba 2015.
    #[default]
    Adam,
    /// Plain stochastic gradient descent.
    Sgd,
}

/// How weights move.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerSettings {
    pub rule: Rule,
    /// Step size (Adadelta: a factor, 1 in the paper). Default by rule: adam 1e-3, adadelta 1, sgd 1.
    pub learning_rate: Option<f32>,
    /// Decay of Adadelta's averages.
    pub rho: f32,
    /// Epsilon. Default by rule: adadelta 1e-6, adam 1e-8.
    pub epsilon: Option<f32>,
    pub beta1: f32,
    pub beta2: f32,
    pub clip: f32,
    /// Updates over which the rate rises from 0.
    pub warmup: u64,
    /// Update from which the rate falls. When absent a linear rate never falls, and any other does after `warmup`.
    pub decay_from: Option<u64>,
    /// How the rate falls from there.
    pub decay: Decay,
    /// Epochs after which the rate is halved, and again after each further one (Luong et al. 2015: 5, with dropout 8);
    /// never when absent.
    pub halve_after_epochs: Option<u64>,
    /// Share of the rate that is left at the end of a linear or cosine fall.
    pub final_rate: f32,
}

/// How the rate falls.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// In a straight line, to `final_rate` of itself at the last update.
    #[default]
    Linear,
    /// As half a cosine, to `final_rate` of itself at the last update (Loshchilov and Hutter 2017, without restarts).
    Cosine,
    /// As one over the square root of the updates, whenever the run ends (Vaswani et al. 2017, section 5.3).
    InverseSqrt,
}

impl Default for OptimizerSettings {
    fn default() -> Self {
        Self {
            rule: Rule::Adam,
            learning_rate: None,
            rho: 0.95,
            epsilon: None,
            beta1: 0.9,
            beta2: 0.999,
            clip: 1.0,
            warmup: 0,
            decay_from: None,
            decay: Decay::Linear,
            halve_after_epochs: None,
            final_rate: 0.05,
        }
    }
}

impl OptimizerSettings {
    /// The step size at the rule's default or as set.
    pub fn rate(&self) -> f32 {
        self.learning_rate.unwrap_or(if self.rule == Rule::Adam { 1e-3 } else { 1.0 })
    }

    /// The step size of update `update` of `updates` in epoch `epoch`, both counted from 0.
    pub fn rate_at(&self, update: u64, epoch: u64, updates: u64) -> f32 {
        let mut rate = self.rate();
        if update < self.warmup {
            rate *= (update + 1) as f32 / self.warmup as f32;
        }
        let from = match self.decay {
            Decay::Linear => self.decay_from,
            Decay::Cosine | Decay::InverseSqrt => Some(self.decay_from.unwrap_or(self.warmup)),
        };
        if let Some(from) = from.filter(|from| update > *from) {
            rate *= self.fall(from, update, updates);
        }
        if let Some(after) = self.halve_after_epochs
            && epoch >= after
        {
            rate *= 0.5_f32.powi((epoch - after + 1).min(100) as i32);
        }
        rate
    }

    fn fall(&self, from: u64, update: u64, updates: u64) -> f32 {
        let done = ((update - from) as f32 / updates.saturating_sub(from).max(1) as f32).min(1.0);
        match self.decay {
            Decay::Linear if updates <= from => 1.0,
            Decay::Linear => 1.0 - (1.0 - self.final_rate) * done,
            Decay::Cosine => {
                self.final_rate + (1.0 - self.final_rate) * 0.5 * (1.0 + (std::f32::consts::PI * done).cos())
            }
            Decay::InverseSqrt => (from.max(1) as f32 / update as f32).sqrt(),
        }
    }

    /// Epsilon at the rule's default or as set.
    pub fn epsilon(&self) -> f32 {
        self.epsilon.unwrap_or(if self.rule == Rule::Adam { 1e-8 } else { 1e-6 })
    }
}

/// How long, how often.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleSettings {
    pub batch: usize,
    /// Target words of a minibatch, padding included, in place of `batch`, which then only says with `sorted` how many
    /// sentences are sorted together. Every word weighs the same in the gradient.
    pub batch_words: Option<usize>,
    pub sorted: usize,
    pub updates: u64,
    /// Passes over the training text, where they are to end the training before `updates` does.
    pub epochs: Option<u64>,
    /// Probability of dropping an embedding or maxout unit; 0 in the papers.
    pub dropout: f32,
    /// Epsilon of label smoothing; 0 in the papers.
    pub label_smoothing: f32,
    pub measure_every: u64,
    pub checkpoint_every: u64,
    pub log_every: u64,
    pub bleu_sentences: usize,
    pub seed: u64,
    /// Which measure keeps the best weights.
    pub best: BestSettings,
    pub average: usize,
    /// Words that the output layer draws beside the target words of a minibatch instead of computing all
    /// ([`crate::fused::sample`]; Jean et al. 2015); all when absent. On the processor only.
    pub sampled_words: Option<usize>,
    /// How exactly the factors of products are kept; `bf16` is faster on processors that multiply it. On NVIDIA's
    /// cards, from Ampere on, it rounds them to TF32 (10 bits behind the point; bf16 has 7).
    pub precision: Precision,
}

/// Which measure keeps the best weights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BestSettings {
    #[default]
    Nll,
    Bleu,
}

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self {
            batch: 80,
            batch_words: None,
            sorted: 20,
            updates: 100_000,
            epochs: None,
            dropout: 0.0,
            label_smoothing: 0.0,
            measure_every: 1000,
            checkpoint_every: 500,
            log_every: 50,
            bleu_sentences: 500,
            seed: 1,
            best: BestSettings::Nll,
            average: 0,
            sampled_words: None,
            precision: Precision::F32,
        }
    }
}

const MOST_BYTES: u64 = 1 << 20;

fn text_of(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    read.map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => Error::file(path, "is not UTF-8 text; save it as UTF-8"),
        _ => Error::io(path, &e),
    })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::file(path, format!("has more than {MOST_BYTES} bytes, too many for a configuration")));
    }
    Ok(text)
}

impl TrainingSettings {
    pub fn load(path: &Path) -> Result<Self> {
        let text = text_of(path)?;
        let mut settings: Self = parse(&text).map_err(|fault| {
            if fault.is_too_deep {
                return Error::file(path, fault.message);
            }
            let line = text[..fault.at.min(text.len())].matches('\n').count() + 1;
            Error::line(path, line, fault.message)
        })?;
        let base = path.parent().unwrap_or(Path::new("."));
        let root = |p: &mut PathBuf| *p = base.join(&*p);
        root(&mut settings.output);
        settings.data.vocabulary.iter_mut().for_each(root);
        for pair in settings.data.train.iter_mut().chain([&mut settings.data.development]) {
            root(&mut pair.source);
            root(&mut pair.target);
            pair.links.iter_mut().for_each(root);
        }
        settings.check(path)?;
        Ok(settings)
    }

    fn luong(&self) -> LuongSizes {
        let model = &self.model;
        let attention = model.attention.as_deref().and_then(AttentionKind::from_name).unwrap_or_default();
        let score = model.score.clone().unwrap_or_else(|| "general".into());
        // what does not belong to this attention is passed on only where the file has it, so that it is refused
        let default_window = if attention.is_local() { 10 } else { 0 };
        let by_place = attention == AttentionKind::Global && find(&score).is_some_and(|entry| !entry.content);
        let default_source = if by_place { self.data.max_length + 1 } else { 0 };
        LuongSizes {
            layers: model.layers.unwrap_or(1),
            attention,
            score,
            input_feeding: model.input_feeding.unwrap_or(true),
            reverse_source: model.reverse_source.unwrap_or(true),
            window: model.window.unwrap_or(default_window),
            max_source: model.max_source.unwrap_or(default_source),
            start: 0,
        }
    }

    fn architecture(&self) -> Option<Architecture> {
        Architecture::among(TRAINED, &self.model.architecture)
    }

    /// The model's configuration for vocabularies of these sizes.
    pub fn config(&self, source_vocabulary: usize, target_vocabulary: usize) -> Config {
        let model = &self.model;
        // `load` refused unknown names
        let architecture = self.architecture().unwrap_or(Architecture::RNN_SEARCH);
        Config {
            name: self.name.clone(),
            source_language: model.source_language.clone(),
            target_language: model.target_language.clone(),
            source_vocabulary,
            target_vocabulary,
            embedding: model.embedding,
            maxout: model.maxout,
            alignment: if architecture == Architecture::RNN_SEARCH { model.alignment } else { 0 },
            output_rank: model.output_rank,
            own: if architecture == Architecture::LUONG { self.luong().into() } else { OwnSizes::None },
            ..Config::bare(architecture, model.hidden)
        }
    }
}
