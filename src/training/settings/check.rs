//! Floor 6: what a training configuration must be beyond its types.

use std::path::Path;

use crate::analysis::reading::{READINGS, Reading};
use crate::attention::KINDS;
use crate::error::{Error, Result};
use crate::models::MODELS;
use crate::models::config::{Architecture, AttentionKind, Config};
use crate::training::settings::{Decay, TokenKind, TrainingSettings};

/// Most times that an epoch may see a text; it is held in memory as often.
const MOST_REPEATS: usize = 1000;

/// Most units of a layer and words of a vocabulary, so that the number of parameters does not overflow.
const MOST_UNITS: usize = 10_000_000;
/// Most stacked layers.
const MOST_LAYERS: usize = 64;

impl TrainingSettings {
    /// Everything in a configuration that has a type but makes no sense.
    pub(in crate::training) fn check(&self, path: &Path) -> Result<()> {
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
        self.check_sizes(path)?;
        if self.architecture().is_none() {
            let names: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
            let message = format!("is `{}`; choose one of {}", self.model.architecture, names.join(", "));
            return Err(Error::key(path, "model.architecture", message));
        }
        if self.architecture() == Some(Architecture::RNN_SEARCH) && self.model.alignment == 0 {
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
        self.check_guide(path)?;
        self.check_text(path)?;
        // what the model's own config.json would be refused for (languages, keys of the other architecture)
        let config = self.config(self.model.source_vocabulary, self.model.target_vocabulary);
        Config::from_json(path, &config.to_json()).map(|_| ())
    }

    /// Attention is guided only where there is one, and links are given where they are used.
    fn check_guide(&self, path: &Path) -> Result<()> {
        let refuse = |key: &str, message: String| Err(Error::key(path, key, message));
        let texts = || self.data.train.iter().chain([&self.data.development]);
        if self.data.development.links.is_some() {
            return refuse("data.development", "has `links`, which guide training alone; remove them".into());
        }
        let Some(guide) = &self.guide else {
            if texts().any(|text| text.links.is_some()) {
                let message = "is missing, so that nothing would use the `links` of the training text; add `[guide]` \
                               with a `weight`, or remove the links";
                return refuse("guide", message.into());
            }
            return Ok(());
        };
        if texts().all(|text| text.links.is_none()) {
            return refuse("guide", "needs links; give an entry of `data.train` a file of `links`".into());
        }
        for (key, weight) in [("guide.weight", guide.weight), ("guide.final_weight", guide.final_weight)] {
            if !weight.is_finite() || weight < 0.0 {
                return refuse(key, format!("is {weight}; it must be at least 0"));
            }
        }
        if let (Some(from), Some(until)) = (guide.decay_from, guide.decay_until)
            && until <= from
        {
            return refuse("guide.decay_until", format!("is {until}; it must be greater than `decay_from`, {from}"));
        }
        if Reading::from_name(&guide.reading).is_none() {
            let names: Vec<&str> = READINGS.iter().map(|entry| entry.name).collect();
            return refuse("guide.reading", format!("is `{}`; choose one of {}", guide.reading, names.join(", ")));
        }
        let config = self.config(self.model.source_vocabulary, self.model.target_vocabulary);
        if !config.aligns() {
            return refuse(
                "guide",
                format!("guides attention, and this {} has none; remove it", self.model.architecture),
            );
        }
        if guide.reading() == Reading::Input && config.input_delay().is_none() {
            let message = "is `input`, but this score does not compare the decoder's state with the source words; \
                           write `predicted`";
            return refuse("guide.reading", message.into());
        }
        Ok(())
    }

    /// Keys of luong are spelled right and appear in no other architecture's file.
    fn check_luong(&self, path: &Path) -> Result<()> {
        let model = &self.model;
        let is_luong = self.architecture() == Some(Architecture::LUONG);
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

    /// Sizes that can be counted with.
    fn check_sizes(&self, path: &Path) -> Result<()> {
        let model = &self.model;
        let sizes = [
            ("model.source_vocabulary", model.source_vocabulary),
            ("model.target_vocabulary", model.target_vocabulary),
            ("model.embedding", model.embedding),
            ("model.hidden", model.hidden),
            ("model.maxout", model.maxout),
            ("model.alignment", model.alignment),
            ("model.output_rank", model.output_rank.unwrap_or(0)),
            ("model.max_source", model.max_source.unwrap_or(0)),
        ];
        if let Some((key, size)) = sizes.into_iter().find(|(_, size)| *size > MOST_UNITS) {
            return Err(Error::key(path, key, format!("is {size}; give at most {MOST_UNITS}")));
        }
        if model.layers.is_some_and(|layers| layers > MOST_LAYERS) {
            return Err(Error::key(path, "model.layers", format!("is too great; give at most {MOST_LAYERS}")));
        }
        Ok(())
    }

    /// What is said of the text, its tokens and its minibatches.
    fn check_text(&self, path: &Path) -> Result<()> {
        let refuse = |key: &str, message: String| Err(Error::key(path, key, message));
        if let Some(text) = self.data.train.iter().find(|text| text.repeat > MOST_REPEATS) {
            let message = format!(
                "has `repeat = {}` for {}; the text is held in memory as often, so give at most {MOST_REPEATS} and more \
                 epochs",
                text.repeat,
                text.source.display()
            );
            return refuse("data.train", message);
        }
        let model = &self.model;
        if model.joint && model.tokens == TokenKind::Words {
            return refuse("model.joint", "is for subwords; write `tokens = \"bpe\"` or remove it".into());
        }
        if model.joint && model.source_vocabulary != model.target_vocabulary {
            let message = format!(
                "has both sides share one vocabulary, but `source_vocabulary` is {} and `target_vocabulary` {}; write the \
                 same number",
                model.source_vocabulary, model.target_vocabulary
            );
            return refuse("model.joint", message);
        }
        if self.schedule.batch_words == Some(0) {
            return refuse(
                "schedule.batch_words",
                "is 0; write how many target words a minibatch has, or remove it".into(),
            );
        }
        if self.optimizer.decay == Decay::InverseSqrt
            && self.optimizer.decay_from.or(Some(self.optimizer.warmup)) == Some(0)
        {
            let message = "needs an update from which the rate falls; give `warmup` or `decay_from` more than 0";
            return refuse("optimizer.decay", message.into());
        }
        Ok(())
    }
}
