//! Models of Nematus: `model.npz`, its options in `model.npz.json`, and the dictionaries that they name, beside
//! it. Their tensors have the names of [`marian_rnn`](super::marian_rnn).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::models::nematus::sizes::{EncoderKind, NematusNorm, NematusSizes, NematusUnit};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::keys::{ForeignSettings, KnownSetting};
use crate::models::origins::marian_files::{chosen, last_part, model_files, own_name};
use crate::models::{disk, origins::card::ForeignCard, origins::marian_rnn::TensorNames, origins::npz::Npz};
use crate::text::foreign::vocabulary::{self, SpecialWords, Vocabulary};
use crate::text::sentence::{EOS, UNK};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Nematus npz",
    about: "models of Nematus: model.npz with model.npz.json and both dictionaries beside it",
    finds: |path| !files(path).is_empty(),
    read,
};

/// Options that are implemented in these values only; those that are not named have the first.
const KNOWN: &[KnownSetting] = &[
    ("encoder", &["", "gru"]),
    ("decoder", &["", "gru_cond"]),
    ("decoder_deep", &["", "gru"]),
    ("dec_deep_context", &["", "false"]),
    ("deep_include_ctx", &["", "false"]),
    ("factors", &["", "1"]),
    ("weight_normalisation", &["", "false"]),
    ("deep_fusion_lm", &["", "false"]),
];

const MOST_LAYERS: usize = 64;

fn options_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = model_files(path, "npz", |start| start.starts_with(b"PK"));
    files.retain(|file| options_file(file).is_file());
    files
}

struct Options(ForeignSettings);

impl Options {
    fn read(file: &Path) -> Result<Self> {
        let path = options_file(file);
        ForeignSettings::read(&path, &disk::read(&path, disk::CONFIG_LIMIT)?).map(Self)
    }

    fn check(&self) -> Result<()> {
        self.0.check(KNOWN)?;
        if self.0.real("model_version").unwrap_or(0.0) < 0.1 && self.0.flag("use_dropout", false)? {
            let message = "is on in a model of a version below 0.1, whose weights must be scaled first; this is not \
                           implemented";
            return self.0.wrong("use_dropout", message);
        }
        Ok(())
    }

    fn size(&self, key: &str, default: Option<usize>, most: usize) -> Result<usize> {
        let value = self.0.get(key);
        if let (None, Some(default)) = (value, default) {
            return Ok(default);
        }
        let size = value.and_then(Value::as_u64).filter(|size| (1..=most as u64).contains(size));
        let message = || format!("must be a whole number from 1 to {most}");
        size.map_or_else(|| self.0.wrong(key, message()), |size| Ok(size as usize))
    }

    fn sizes(&self) -> Result<NematusSizes> {
        let depth = |key: &str, default: usize| self.size(key, Some(default), MOST_LAYERS);
        let (encoder_layers, decoder_layers) = (depth("enc_depth", 1)?, depth("dec_depth", 1)?);
        if depth("enc_depth_bidirectional", encoder_layers)? != encoder_layers {
            let message = "is less than `enc_depth`, which is not implemented";
            return self.0.wrong("enc_depth_bidirectional", message);
        }
        let is_normed = self.0.flag("layer_normalisation", false)?;
        Ok(NematusSizes {
            encoder: EncoderKind::Alternating,
            encoder_unit: NematusUnit::GruNematus,
            decoder_unit: NematusUnit::GruNematus,
            encoder_layers,
            encoder_cells: depth("enc_recurrence_transition_depth", 1)?,
            decoder_layers,
            base_cells: depth("dec_base_recurrence_transition_depth", 2)?,
            high_cells: depth("dec_high_recurrence_transition_depth", 1)?,
            skip: true,
            norm: if is_normed { NematusNorm::Nematus } else { NematusNorm::None },
            shared_embedding: self.0.flag("tie_encoder_decoder_embeddings", false)?,
            tied_output: self.0.flag("tie_decoder_embeddings", false)?,
        })
    }

    fn dictionaries(&self, folder: &Path) -> Result<[PathBuf; 2]> {
        let list = self.0.get("dictionaries").and_then(Value::as_array);
        let names: Vec<&str> = list.into_iter().flatten().filter_map(Value::as_str).collect();
        let [source, target] = names.as_slice() else {
            return self.0.wrong("dictionaries", "must name two files, those of the source and of the target words");
        };
        Ok([folder.join(last_part(source)), folder.join(last_part(target))])
    }
}

fn read(path: &Path) -> Result<Foreign> {
    let file = chosen(path, files(path))?;
    let options = Options::read(&file)?;
    options.check()?;
    let sizes = options.sizes()?;
    let [embedding, hidden] = ["dim_word", "dim"].map(|key| options.size(key, None, 1 << 20));
    let mut archive = Npz::open(&file)?;
    let theirs = TensorNames { is_nematus: true, omits_bias: false };
    let (mut config, weights) = theirs.convert(&file, &mut archive, [embedding?, hidden?], sizes)?;
    let dictionaries = options.dictionaries(file.parent().unwrap_or(Path::new(".")))?;
    let side = |path: &Path, size: usize| {
        let entries = vocabulary::entries(path)?.0;
        let words = Vocabulary::of(path, entries, Some(size), SpecialWords::Nematus)?;
        let ids = [EOS, UNK].map(|word| words.id(word).unwrap_or(u32::MAX));
        Ok::<_, Error>((words.words_tokenizer(None)?, ids))
    };
    let (source, ids) = side(&dictionaries[0], config.source_vocabulary)?;
    let (target, target_ids) = side(&dictionaries[1], config.target_vocabulary)?;
    if ids != target_ids {
        let message = format!("has `{EOS}` and `{UNK}` at {target_ids:?}, where the other side has {ids:?}");
        return Err(Error::file(&dictionaries[1], message));
    }
    [config.eos, config.unk] = ids;
    config.name = own_name(&file);
    let card = ForeignCard {
        name: config.name.clone(),
        toolkit: ENTRY.name.into(),
        languages: (config.source_language.clone(), config.target_language.clone()),
        ..ForeignCard::default()
    };
    let card = card.markdown(&config);
    Ok(Foreign { config, weights, source, target, card, file })
}
