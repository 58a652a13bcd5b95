//! What a training configuration must be beyond its types.

use std::path::Path;

use crate::settings::{Decay, TokenKind, TrainingSettings};
use engine::analysis::row_convention::{OF_ALPHA, RowConvention};
use engine::error::{Error, Result};
use engine::models::config::{Architecture, AttentionKind, Config};
use engine::{attention::KINDS, models::TRAINED};

/// Most times that an epoch may see a text; it is held in memory as often.
const MOST_REPEATS: usize = 1000;

/// Most units of a layer and words of a vocabulary, so that the number of parameters does not overflow.
const MOST_UNITS: usize = 10_000_000;
const MOST_LAYERS: usize = 64;

type Sound = std::result::Result<(), (&'static str, String)>;

fn refuse(key: &'static str, why: impl Into<String>) -> Sound {
    Err((key, why.into()))
}

fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("is `{name}`; choose one of {}", names.collect::<Vec<_>>().join(", "))
}

impl TrainingSettings {
    /// Everything in a configuration that has a type but makes no sense.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        self.check_keys().map_err(|(key, why)| Error::key(path, key, why))?;
        // what the model's own config.json would be refused for (languages, keys of the other architecture)
        Config::from_json(path, &self.widest().to_json()).map(|_| ())
    }

    fn widest(&self) -> Config {
        self.config(self.model.source_vocabulary, self.model.target_vocabulary)
    }

    fn check_keys(&self) -> Sound {
        let Self { model, data, optimizer, schedule, .. } = self;
        for (key, value) in [
            ("model.source_vocabulary", model.source_vocabulary.saturating_sub(2)),
            ("model.target_vocabulary", model.target_vocabulary.saturating_sub(2)),
            ("model.embedding", model.embedding),
            ("model.hidden", model.hidden),
            ("schedule.batch", schedule.batch),
            ("schedule.sorted", schedule.sorted),
            ("data.max_length", data.max_length),
            ("data.train", data.train.len()),
        ] {
            if value == 0 {
                return refuse(key, "is too small; it must be greater than zero (a vocabulary greater than 2)");
            }
        }
        self.check_sizes()?;
        if self.architecture().is_none() {
            return refuse("model.architecture", unknown(&model.architecture, TRAINED.iter().map(|entry| entry.name)));
        }
        if self.architecture() == Some(Architecture::RNN_SEARCH) && model.alignment == 0 {
            return refuse("model.alignment", "is missing; rnnsearch needs its number of alignment units");
        }
        for (key, value) in [
            ("schedule.dropout", schedule.dropout),
            ("schedule.label_smoothing", schedule.label_smoothing),
            ("optimizer.rho", optimizer.rho),
            ("optimizer.beta1", optimizer.beta1),
            ("optimizer.beta2", optimizer.beta2),
        ] {
            if !(0.0..1.0).contains(&value) {
                return refuse(key, format!("is {value}; it must be at least 0 and below 1"));
            }
        }
        for (key, value) in [
            ("optimizer.clip", optimizer.clip),
            ("optimizer.learning_rate", optimizer.rate()),
            ("optimizer.epsilon", optimizer.epsilon()),
            ("schedule.updates", schedule.updates as f32),
        ] {
            if !value.is_finite() || value <= 0.0 {
                return refuse(key, format!("is {value}; it must be greater than 0"));
            }
        }
        if !(0.0..=1.0).contains(&optimizer.final_rate) {
            let why = format!("is {}; it is a share of the rate, from 0 to 1", optimizer.final_rate);
            return refuse("optimizer.final_rate", why);
        }
        if schedule.sampled_words.is_some() && schedule.label_smoothing > 0.0 {
            let why = "cannot go with `schedule.sampled_words`: smoothing needs the mean over all words; remove one";
            return refuse("schedule.label_smoothing", why);
        }
        self.check_luong()?;
        self.check_guide()?;
        self.check_text()
    }

    fn check_guide(&self) -> Sound {
        let has_links = self.data.train.iter().any(|text| text.links.is_some());
        if self.data.development.links.is_some() {
            return refuse("data.development", "has `links`, which guide training alone; remove them");
        }
        let Some(guide) = &self.guide else {
            if has_links {
                let why = "is missing, so that nothing would use the `links` of the training text; add `[guide]` \
                           with a `weight`, or remove the links";
                return refuse("guide", why);
            }
            return Ok(());
        };
        if !has_links {
            return refuse("guide", "needs links; give an entry of `data.train` a file of `links`");
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
        if OF_ALPHA.iter().all(|entry| entry.name != guide.reading) {
            return refuse("guide.reading", unknown(&guide.reading, OF_ALPHA.iter().map(|entry| entry.name)));
        }
        let config = self.widest();
        if !config.aligns() {
            let why = format!("guides attention, and this {} has none; remove it", self.model.architecture);
            return refuse("guide", why);
        }
        if guide.reading() == RowConvention::Input && config.input_delay().is_none() {
            let why = "is `input`, but this score does not compare the decoder's state with the source words; write \
                       `predicted`";
            return refuse("guide.reading", why);
        }
        Ok(())
    }

    fn check_luong(&self) -> Sound {
        let model = &self.model;
        let is_luong = self.architecture() == Some(Architecture::LUONG);
        let of_luong = [
            ("model.layers", model.layers.is_some()),
            ("model.attention", model.attention.is_some()),
            ("model.score", model.score.is_some()),
            ("model.input_feeding", model.input_feeding.is_some()),
            ("model.reverse_source", model.reverse_source.is_some()),
            ("model.window", model.window.is_some()),
            ("model.max_source", model.max_source.is_some()),
        ];
        if let Some((key, _)) = of_luong.iter().find(|(_, given)| *given && !is_luong) {
            return refuse(key, format!("belongs to luong and not to {}; remove it", model.architecture));
        }
        let of_gated = [
            ("model.maxout", model.maxout > 0),
            ("model.alignment", model.alignment > 0),
            ("model.output_rank", model.output_rank.is_some()),
        ];
        if let Some((key, _)) = of_gated.iter().find(|(_, given)| *given && is_luong) {
            return refuse(key, "does not belong to luong; remove it");
        }
        if !is_luong && model.maxout == 0 {
            return refuse("model.maxout", "is missing; it must be greater than zero");
        }
        match &model.attention {
            Some(name) if AttentionKind::from_name(name).is_none() => {
                refuse("model.attention", unknown(name, KINDS.iter().map(|entry| entry.name)))
            }
            _ => Ok(()),
        }
    }

    fn check_sizes(&self) -> Sound {
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
            return refuse(key, format!("is {size}; give at most {MOST_UNITS}"));
        }
        if model.layers.is_some_and(|layers| layers > MOST_LAYERS) {
            return refuse("model.layers", format!("is too great; give at most {MOST_LAYERS}"));
        }
        Ok(())
    }

    fn check_text(&self) -> Sound {
        let Self { model, data, optimizer, schedule, .. } = self;
        if let Some(text) = data.train.iter().find(|text| text.repeat > MOST_REPEATS) {
            let (repeat, source) = (text.repeat, text.source.display());
            let why = format!(
                "has `repeat = {repeat}` for {source}; the text is held in memory as often, so give at most \
                 {MOST_REPEATS} and more epochs"
            );
            return refuse("data.train", why);
        }
        if model.joint && model.tokens == TokenKind::Words {
            return refuse("model.joint", "is for subwords; write `tokens = \"bpe\"` or remove it");
        }
        if model.joint && model.source_vocabulary != model.target_vocabulary {
            let why = format!(
                "has both sides share one vocabulary, but `source_vocabulary` is {} and `target_vocabulary` {}; write the \
                 same number",
                model.source_vocabulary, model.target_vocabulary
            );
            return refuse("model.joint", why);
        }
        if schedule.batch_words == Some(0) {
            return refuse("schedule.batch_words", "is 0; write how many target words a minibatch has, or remove it");
        }
        if optimizer.decay == Decay::InverseSqrt && optimizer.decay_from.unwrap_or(optimizer.warmup) == 0 {
            let why = "needs an update from which the rate falls; give `warmup` or `decay_from` more than 0";
            return refuse("optimizer.decay", why);
        }
        Ok(())
    }
}
