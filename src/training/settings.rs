//! Floor 6: the training configuration, one TOML file. Unknown keys are an error.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::attention::{KINDS, find};
use crate::error::{Error, Result};
use crate::models::MODELS;
use crate::models::config::{Architecture, AttentionKind, Config, LuongSizes};
use crate::nn::fused::Precision;

/// A whole configuration file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of the model.
    pub name: String,
    /// Folder of the finished model; checkpoints and the log lie in it under `training/`.
    pub output: PathBuf,
    /// Sizes.
    pub model: ModelSettings,
    /// Text.
    pub data: DataSettings,
    /// How weights move.
    #[serde(default)]
    pub optimizer: OptimizerSettings,
    /// How long, how often.
    #[serde(default)]
    pub schedule: ScheduleSettings,
}

/// Sizes, as in `config.json`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// A name of [`MODELS`].
    pub architecture: String,
    /// BCP 47.
    pub source_language: String,
    /// BCP 47.
    pub target_language: String,
    /// Words of the source shortlist, `</s>` and `[UNK]` included.
    pub source_vocabulary: usize,
    /// Words of the target shortlist, `</s>` and `[UNK]` included.
    pub target_vocabulary: usize,
    /// m.
    pub embedding: usize,
    /// n.
    pub hidden: usize,
    /// l (rnnsearch and rnnencdec).
    #[serde(default)]
    pub maxout: usize,
    /// n' (rnnsearch).
    #[serde(default)]
    pub alignment: usize,
    /// r of G = G_l G_r (rnnencdec).
    #[serde(default)]
    pub output_rank: Option<usize>,
    /// Stacked LSTM layers on either side (luong).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<usize>,
    /// Where the decoder looks, a name in [`KINDS`] (luong).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<String>,
    /// The score function, a name in [`ATTENTIONS`](crate::attention::ATTENTIONS) (luong).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// Whether h~_{t-1} is fed into step t (luong; default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_feeding: Option<bool>,
    /// Whether the encoder reads backwards (luong; default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_source: Option<bool>,
    /// D of local attention, 10 in the paper (luong).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Source words that `location` has a row for (luong; default `data.max_length` + 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_source: Option<usize>,
    /// `papers` (appendix B of Bahdanau et al. 2015), `scaled` (1/sqrt(fan-in)) or `uniform` (Luong et al. 2015).
    #[serde(default)]
    pub start: Start,
}

/// Starting weights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Start {
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
    /// Target file, line by line its translation.
    pub target: PathBuf,
    /// How often an epoch sees it.
    #[serde(default = "one")]
    pub repeat: usize,
    /// Only the first so many pairs (after the length limit); all when absent.
    #[serde(default)]
    pub limit: Option<usize>,
}

fn one() -> usize {
    1
}

/// Text for training and development.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// Training text.
    pub train: Vec<TextPair>,
    /// Development text, for NLL and BLEU.
    pub development: TextPair,
    /// A model folder whose two vocabularies are taken instead of counting words: models of one vocabulary can be
    /// compared word by word and form an ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<PathBuf>,
    /// Most words of a sentence on either side.
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
    /// Which rule.
    pub rule: Rule,
    /// Step size (Adadelta: a factor, 1 in the paper). Default by rule: adam 1e-3, adadelta 1, sgd 1.
    pub learning_rate: Option<f32>,
    /// Decay of Adadelta's averages.
    pub rho: f32,
    /// Epsilon. Default by rule: adadelta 1e-6, adam 1e-8.
    pub epsilon: Option<f32>,
    /// Adam's first decay.
    pub beta1: f32,
    /// Adam's second decay.
    pub beta2: f32,
    /// The gradient's norm is cut to this.
    pub clip: f32,
    /// Updates over which the rate rises from 0.
    pub warmup: u64,
    /// Update from which the rate falls linearly, reaching `final_rate` of itself at the last update; never when absent.
    pub decay_from: Option<u64>,
    /// Epochs after which the rate is halved, and again after each further one (Luong et al. 2015: 5, with dropout
    /// 8); never when absent.
    pub halve_after_epochs: Option<u64>,
    /// Share of the rate that is left at the end of the fall.
    pub final_rate: f32,
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

    /// Epsilon at the rule's default or as set.
    pub fn epsilon(&self) -> f32 {
        self.epsilon.unwrap_or(if self.rule == Rule::Adam { 1e-8 } else { 1e-6 })
    }
}

/// How long, how often.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleSettings {
    /// Sentences of a minibatch.
    pub batch: usize,
    /// Minibatches that are sorted together.
    pub sorted: usize,
    /// Updates in all.
    pub updates: u64,
    /// Passes over the training text, where they are to end the training before `updates` does.
    pub epochs: Option<u64>,
    /// Probability of dropping an embedding or maxout unit; 0 in the papers.
    pub dropout: f32,
    /// Epsilon of label smoothing; 0 in the papers.
    pub label_smoothing: f32,
    /// Updates between two measurements on the development text.
    pub measure_every: u64,
    /// Updates between two checkpoints.
    pub checkpoint_every: u64,
    /// Updates between two lines of the log.
    pub log_every: u64,
    /// Development sentences that are translated for BLEU (greedy); 0 for none.
    pub bleu_sentences: usize,
    /// Seed of starts, order and dropout.
    pub seed: u64,
    /// Which measure keeps the best weights.
    pub best: Best,
    /// Words that the output layer draws beside the target words of a minibatch instead of computing all
    /// ([`crate::training::fused::sample`]; Jean et al. 2015); all when absent. On the processor only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_words: Option<usize>,
    /// How exactly the factors of products are kept; `bf16` is faster on processors that multiply it.
    pub precision: Precision,
}

/// Which measure keeps the best weights.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Best {
    /// Lowest development NLL.
    #[default]
    Nll,
    /// Highest development BLEU.
    Bleu,
}

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self {
            batch: 80,
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
            best: Best::Nll,
            sampled_words: None,
            precision: Precision::F32,
        }
    }
}

impl Settings {
    /// Reads a file; paths in it become relative to its folder.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::InvalidData => Error::file(path, "is not UTF-8 text; save it as UTF-8"),
            _ => Error::io(path, &e),
        })?;
        let mut settings: Self = toml::from_str(&text).map_err(|e| {
            let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Error::line(path, line, e.message().to_owned())
        })?;
        let base = path.parent().unwrap_or(Path::new("."));
        let root = |p: &mut PathBuf| *p = base.join(&*p);
        root(&mut settings.output);
        settings.data.vocabulary.iter_mut().for_each(root);
        for pair in settings.data.train.iter_mut().chain([&mut settings.data.development]) {
            root(&mut pair.source);
            root(&mut pair.target);
        }
        settings.check(path)?;
        Ok(settings)
    }

    pub(super) fn check(&self, path: &Path) -> Result<()> {
        let positive = [
            ("model.source_vocabulary", self.model.source_vocabulary.saturating_sub(2)),
            ("model.target_vocabulary", self.model.target_vocabulary.saturating_sub(2)),
            ("model.embedding", self.model.embedding),
            ("model.hidden", self.model.hidden),
            ("schedule.batch", self.schedule.batch),
            ("schedule.sorted", self.schedule.sorted),
            ("data.max_length", self.data.max_length),
            ("data.train", self.data.train.len()),
        ];
        for (key, value) in positive {
            if value == 0 {
                return Err(Error::key(
                    path,
                    key,
                    "is too small; it must be greater than zero (a vocabulary greater than 2)",
                ));
            }
        }
        if self.architecture().is_none() {
            let names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
            let message = format!("is `{}`; choose one of {}", self.model.architecture, names.join(", "));
            return Err(Error::key(path, "model.architecture", message));
        }
        if self.architecture() == Some(Architecture::RnnSearch) && self.model.alignment == 0 {
            return Err(Error::key(
                path,
                "model.alignment",
                "is missing; rnnsearch needs its number of alignment units",
            ));
        }
        let shares = [
            ("schedule.dropout", self.schedule.dropout),
            ("schedule.label_smoothing", self.schedule.label_smoothing),
            ("optimizer.rho", self.optimizer.rho),
            ("optimizer.beta1", self.optimizer.beta1),
            ("optimizer.beta2", self.optimizer.beta2),
        ];
        for (key, value) in shares {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::key(path, key, format!("is {value}; it must be at least 0 and below 1")));
            }
        }
        let steps = [
            ("optimizer.clip", self.optimizer.clip),
            ("optimizer.learning_rate", self.optimizer.rate()),
            ("optimizer.epsilon", self.optimizer.epsilon()),
            ("schedule.updates", self.schedule.updates as f32),
        ];
        for (key, value) in steps {
            if !value.is_finite() || value <= 0.0 {
                return Err(Error::key(path, key, format!("is {value}; it must be greater than 0")));
            }
        }
        if !(0.0..=1.0).contains(&self.optimizer.final_rate) {
            let message = format!("is {}; it is a share of the rate, from 0 to 1", self.optimizer.final_rate);
            return Err(Error::key(path, "optimizer.final_rate", message));
        }
        if self.schedule.sampled_words.is_some() && self.schedule.label_smoothing > 0.0 {
            let message =
                "cannot go with `schedule.sampled_words`: smoothing needs the mean over all words; remove one";
            return Err(Error::key(path, "schedule.label_smoothing", message));
        }
        self.check_luong(path)?;
        // what the model's own config.json would be refused for (languages, keys of the other architecture)
        let config = self.config(self.model.source_vocabulary, self.model.target_vocabulary);
        Config::from_json(path, &config.to_json()).map(|_| ())
    }

    /// Keys of luong are spelled right and stand in no other architecture's file.
    fn check_luong(&self, path: &Path) -> Result<()> {
        let model = &self.model;
        let is_luong = self.architecture() == Some(Architecture::Luong);
        let given = [
            ("model.layers", model.layers.is_some()),
            ("model.attention", model.attention.is_some()),
            ("model.score", model.score.is_some()),
            ("model.input_feeding", model.input_feeding.is_some()),
            ("model.reverse_source", model.reverse_source.is_some()),
            ("model.window", model.window.is_some()),
            ("model.max_source", model.max_source.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(_, given)| *given && !is_luong) {
            return Err(Error::key(
                path,
                *key,
                format!("belongs to luong and not to {}; remove it", model.architecture),
            ));
        }
        let gated = [
            ("model.maxout", model.maxout > 0),
            ("model.alignment", model.alignment > 0),
            ("model.output_rank", model.output_rank.is_some()),
        ];
        if let Some((key, _)) = gated.iter().find(|(_, given)| *given && is_luong) {
            return Err(Error::key(path, *key, "does not belong to luong; remove it"));
        }
        if !is_luong && model.maxout == 0 {
            return Err(Error::key(path, "model.maxout", "is missing; it must be greater than zero"));
        }
        let attention = model.attention.as_deref().filter(|name| AttentionKind::from_name(name).is_none());
        if let Some(name) = attention {
            let names: Vec<&str> = KINDS.iter().map(|entry| entry.name).collect();
            let message = format!("is `{name}`; choose one of {}", names.join(", "));
            return Err(Error::key(path, "model.attention", message));
        }
        Ok(())
    }

    /// What the file says of luong, with the paper's choices where it is silent.
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
        MODELS.iter().find(|entry| entry.name == self.model.architecture).map(|entry| entry.architecture)
    }

    /// The model's configuration for vocabularies of these sizes.
    pub fn config(&self, source_vocabulary: usize, target_vocabulary: usize) -> Config {
        let model = &self.model;
        // `load` refused unknown names
        let architecture = self.architecture().unwrap_or(Architecture::RnnSearch);
        Config {
            name: self.name.clone(),
            architecture,
            source_language: model.source_language.clone(),
            target_language: model.target_language.clone(),
            source_vocabulary,
            target_vocabulary,
            eos: 0,
            unk: 1,
            source_eos: true,
            embedding: model.embedding,
            hidden: model.hidden,
            maxout: model.maxout,
            alignment: if architecture == Architecture::RnnSearch { model.alignment } else { 0 },
            output_rank: model.output_rank,
            luong: (architecture == Architecture::Luong).then(|| self.luong()),
        }
    }

    /// The step size of update `update` in epoch `epoch`, both counted from 0.
    pub fn rate_at(&self, update: u64, epoch: u64) -> f32 {
        let o = &self.optimizer;
        let mut rate = o.rate();
        if update < o.warmup {
            rate *= (update + 1) as f32 / o.warmup as f32;
        }
        if let Some(from) = o.decay_from
            && update > from
            && self.schedule.updates > from
        {
            let done = (update - from) as f32 / (self.schedule.updates - from) as f32;
            rate *= 1.0 - (1.0 - o.final_rate) * done.min(1.0);
        }
        if let Some(after) = o.halve_after_epochs
            && epoch >= after
        {
            rate *= 0.5_f32.powi((epoch - after + 1).min(100) as i32);
        }
        rate
    }
}
