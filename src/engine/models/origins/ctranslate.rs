//! Folders of CTranslate2 that hold a Transformer.
//!
//! | there | here |
//! |---|---|
//! | `encoder/embeddings_0/weight` | source_embedding |
//! | `encoder/layer_0/self_attention/linear_0` (q, k, v joined), `linear_1` | encoder.1.self.W_q, k, v, o |
//! | `decoder/layer_0/attention/linear_0` (q), `linear_1` (k, v joined), `linear_2` | decoder.1.cross.W_q, k, v, o |
//! | `/ffn/linear_0`, `linear_1`, `/layer_norm/gamma`, `beta` | feed.W_1, W_2, norm.g, b |
//! | `decoder/projection` | readout.W_o, b_o |
//! | `decoder/alignment_layer` (from 0, or from the end), `alignment_heads` (0: all; 1 if absent) | alignment_layer, alignment_heads |

use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;

use crate::error::{Error, Result};
use crate::models::config::{Architecture, Config};
use crate::models::disk::{CARD_FILE, CONFIG_FILE};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::keys::{ForeignSettings, short};
use crate::models::origins::model_bin::{self, ModelBin};
use crate::models::origins::words::{ForeignWords, languages};
use crate::models::transformer::sizes::{Activation, AlignmentReason, DecoderCell, Positions, TransformerSizes};
use crate::models::{
    disk, origins::card::ForeignCard, origins::pack::FilePack, origins::tensors::ForeignTensors,
    transformer::sizes::position,
};
use crate::text::foreign::sentencepiece::SentencePiece;
use crate::text::foreign::vocabulary::{self, Vocabulary};
use crate::text::sentence::{EOS, UNK};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "CTranslate2",
    about: "a folder with model.bin and shared_vocabulary.json, or source_ and target_vocabulary, as ct2-transformers-converter \
            and its relatives write",
    finds: |path| {
        let mut start = Vec::new();
        let file = disk::open(&path.join(MODEL_FILE)).ok();
        let read = |(file, _): (std::fs::File, u64)| file.take(model_bin::START as u64).read_to_end(&mut start).is_ok();
        file.is_some_and(read) && model_bin::begins(&start)
    },
    read: |path| {
        let mut card = ForeignCard::default();
        let name = path.canonicalize().unwrap_or_else(|_| path.into());
        card.name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        card.languages = languages(&card.name, None, None);
        let mut foreign = read(&FilePack::folder(path), "", card)?;
        foreign.file = path.join(MODEL_FILE);
        Ok(foreign)
    },
};

pub const MODEL_FILE: &str = "model.bin";
/// What SentencePiece models are called next to such a model, source and target.
const SPM_FILES: &[[&str; 2]] = &[
    ["source.spm", "target.spm"],
    ["sentencepiece.model", "sentencepiece.model"],
    ["spm.model", "spm.model"],
    ["sentencepiece.bpe.model", "sentencepiece.bpe.model"],
    ["source.model", "target.model"],
];
const BPE_FILE: &str = "bpe.model";
/// Positions that are computed where a file has none.
const COMPUTED: usize = 2048;

pub fn read(pack: &FilePack, below: &str, mut card: ForeignCard) -> Result<Foreign> {
    let name = |file: &str| format!("{below}{file}");
    let path = pack.path(&name(MODEL_FILE));
    let settings = if pack.has(&name(CONFIG_FILE)) {
        let bytes = pack.read(&name(CONFIG_FILE), disk::CONFIG_LIMIT)?;
        ForeignSettings::read(&pack.path(&name(CONFIG_FILE)), &bytes)?
    } else {
        ForeignSettings::default()
    };
    model_bin::check(&path, &pack.start(&name(MODEL_FILE), model_bin::START)?)?;
    settings.must_be("multi_query_attention", false)?;
    settings.must_be("add_source_bos", false)?;
    let ModelBin { mut tensors, heads, version, number, texts } =
        model_bin::read(&path, pack.read(&name(MODEL_FILE), u64::MAX)?)?;
    let specials = SpecialTokens::of(&mut tensors, &settings, &texts, number)?;
    let words = words(pack, below, &specials)?;
    card.toolkit = format!("CTranslate2 ({version})");
    if let Ok(text) = pack.read(CARD_FILE, disk::CARD_LIMIT) {
        card.read(&String::from_utf8_lossy(&text));
    }
    let (source, target) = tokenizers(pack, below, &words, &None, &mut card)?;
    let mut found = Found { tensors: &mut tensors, heads, specials };
    let config = found.config(&settings, &card, &words)?;
    found.lend(&config, &words)?;
    let weights = tensors.finish()?;
    let card = card.markdown(&config);
    Ok(Foreign { config, weights, source, target, card, file: pack.path.clone() })
}

/// What a model calls its special words: variables say it up to version 5, config.json from 6 on.
struct SpecialTokens {
    unk: String,
    eos: String,
    start: String,
    source_eos: bool,
}

impl SpecialTokens {
    fn of(
        tensors: &mut ForeignTensors, settings: &ForeignSettings, texts: &BTreeMap<String, String>, version: u32,
    ) -> Result<Self> {
        let named = |key: &str, otherwise: &str| {
            let text = if version < 6 { texts.get(key).map(String::as_str) } else { settings.text(key) };
            text.unwrap_or(otherwise).to_owned()
        };
        let [unk, bos, eos] = [("unk_token", "<unk>"), ("bos_token", "<s>"), ("eos_token", EOS)]
            .map(|(key, otherwise)| named(key, otherwise));
        let mut flag =
            |name: &str, otherwise| Ok::<_, Error>(tensors.number(name)?.map_or(otherwise, |flag| flag != 0.0));
        let (with_bos, source_eos) = (flag("with_target_bos", true)?, flag("with_source_eos", false)?);
        if flag("user_decoder_start_tokens", false)? || settings.is_null("decoder_start_token") {
            let message =
                "has no decoder_start_token: each translation begins with words of its user, which is not implemented";
            return Err(Error::file(tensors.path(), message));
        }
        let start = if with_bos { bos } else { eos.clone() };
        let start = if version < 6 { start } else { named("decoder_start_token", &start) };
        Ok(Self { unk, eos, start, source_eos: settings.flag("add_source_eos", source_eos)? })
    }

    /// Renames special words, appends a missing unknown word as CTranslate2 does, and keeps a repeated word's first id.
    fn name(&self, words: &mut Vec<String>) {
        if !words.contains(&self.unk) {
            words.push(self.unk.clone());
        }
        let mut known = HashSet::new();
        for (id, word) in words.iter_mut().enumerate() {
            *word = match word.as_str() {
                theirs if theirs == self.unk => UNK.to_owned(),
                theirs if theirs == self.eos => EOS.to_owned(),
                // a word of texts that is called as a special one here
                "<unk>" | UNK | EOS => format!("<unused {id}>"),
                _ => std::mem::take(word),
            };
            if !known.insert(word.clone()) {
                *word = format!("<unused {id}>");
            }
        }
    }

    fn start(&self, words: &Vocabulary) -> Option<u32> {
        let special = [(&self.unk, UNK), (&self.eos, EOS)].into_iter().find(|(theirs, _)| **theirs == self.start);
        words.id(special.map_or(self.start.as_str(), |(_, ours)| ours))
    }
}

fn words(pack: &FilePack, below: &str, specials: &SpecialTokens) -> Result<ForeignWords> {
    let find = |side: &str| {
        let names = [".json", ".txt"].map(|kind| format!("{below}{side}_vocabulary{kind}"));
        names.into_iter().find(|name| pack.has(name))
    };
    let read = |name: &str| {
        let (path, bytes) = (pack.path(name), pack.read(name, disk::TOKENIZER_LIMIT)?);
        let mut words = vocabulary::list(&path, &bytes)?;
        specials.name(&mut words);
        Ok::<_, Error>((path, words))
    };
    if let Some(name) = find("shared") {
        let (path, words) = read(&name)?;
        return ForeignWords::shared(&path, Vocabulary::from_words(&path, words)?);
    }
    let (Some(source), Some(target)) = (find("source"), find("target")) else {
        let message = if find("source_1").is_some() {
            "reads several sources at once (source_1_vocabulary), which is not implemented"
        } else {
            "has neither shared_vocabulary nor source_ and target_vocabulary (.json or .txt)"
        };
        return Err(Error::file(pack.path(below), message));
    };
    let ((path, source), (other, target)) = (read(&source)?, read(&target)?);
    ForeignWords::of(&path, &source, Vocabulary::from_words(&other, target)?)
}

/// What the settings of a model call the SentencePiece models of both sides.
pub type SpmNames = Option<[String; 2]>;

pub fn tokenizers(
    pack: &FilePack, below: &str, words: &ForeignWords, named: &SpmNames, card: &mut ForeignCard,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let places = [below, ""];
    let find = |name: &str| places.iter().map(|place| format!("{place}{name}")).find(|name| pack.has(name));
    let named = named.iter().map(|names| names.each_ref().map(String::as_str));
    for [source, target] in named.chain(SPM_FILES.iter().copied()) {
        let (Some(source), Some(target)) = (find(source), find(target)) else { continue };
        let side = |name: &str, words: &Vocabulary| {
            let bytes = pack.read(name, disk::TOKENIZER_LIMIT)?;
            SentencePiece::from_bytes(&pack.path(name), &bytes)?.tokenizer(Some(words), false)
        };
        return Ok((side(&source, &words.source)?, side(&target, &words.target)?));
    }
    if let Some(name) = find(BPE_FILE) {
        let path = pack.path(&name);
        let file = tempfile::NamedTempFile::new().map_err(|error| Error::io(&path, &error))?;
        std::fs::write(file.path(), pack.read(&name, disk::TOKENIZER_LIMIT)?)
            .map_err(|error| Error::io(&path, &error))?;
        let side = |words: &Vocabulary| {
            let tokenizer = words.words_tokenizer(Some(file.path()));
            tokenizer.map_err(|error| {
                Error::file(&path, error.to_string().replace(&file.path().display().to_string(), "it"))
            })
        };
        card.notes.push(
            "Its own scripts part words from marks before they cut them (Moses); here, put spaces between them.".into(),
        );
        return Ok((side(&words.source)?, side(&words.target)?));
    }
    card.notes.push("There is no SentencePiece model beside it; write its pieces with spaces between them.".into());
    Ok((words.source.words_tokenizer(None)?, words.target.words_tokenizer(None)?))
}

struct Found<'a> {
    tensors: &'a mut ForeignTensors,
    heads: usize,
    specials: SpecialTokens,
}

impl Found<'_> {
    fn wrong<T>(&self, name: &str, message: impl Into<String>) -> Result<T> {
        Err(Error::tensor(self.tensors.path(), name, message))
    }

    fn number(&mut self, side: &str, name: &str, otherwise: f32) -> Result<f32> {
        let own = self.tensors.number(&format!("{side}/{name}"))?;
        let of_both = self.tensors.number(name)?;
        Ok(own.or(of_both).unwrap_or(otherwise))
    }

    fn common(&mut self, name: &str, otherwise: f32) -> Result<f32> {
        let [source, target] = ["encoder", "decoder"].map(|side| self.number(side, name, otherwise));
        let (source, target) = (source?, target?);
        if source == target {
            return Ok(source);
        }
        self.wrong(
            &format!("decoder/{name}"),
            format!("is {target}, where {source} was expected, as the encoder has it"),
        )
    }

    /// Whether embeddings are multiplied by the root of d: a flag, or the number itself.
    fn scaled(&mut self, d: usize) -> Result<bool> {
        let old = self.tensors.number("encoder/embeddings/multiply_by_sqrt_depth")?;
        self.tensors.leave("decoder/embeddings/multiply_by_sqrt_depth");
        let scale = self.common("scale_embeddings", old.unwrap_or(1.0))?;
        let is_flag = self.tensors.is_whole("encoder/scale_embeddings");
        let root = (d as f32).sqrt();
        match scale {
            1.0 if is_flag => Ok(true),
            0.0 | 1.0 => Ok(false),
            scale if (scale - root).abs() < 1e-3 * root => Ok(true),
            scale => self.wrong("encoder/scale_embeddings", format!("is {scale}, where 1 or {root} was expected")),
        }
    }

    fn source_embedding(&self) -> &'static str {
        let names = ["encoder/embeddings_0/weight", "encoder/embeddings/weight"];
        names.into_iter().find(|name| self.tensors.has(name)).unwrap_or(names[0])
    }

    fn config(&mut self, settings: &ForeignSettings, card: &ForeignCard, words: &ForeignWords) -> Result<Config> {
        let source = self.source_embedding();
        let d = self.tensors.shape(source)?.get(1).copied().unwrap_or(0);
        let heads = self.common("num_heads", self.heads as f32)? as usize;
        if d % 2 != 0 || heads == 0 || !d.is_multiple_of(heads) || d == 0 {
            return self
                .wrong("encoder/num_heads", format!("is {heads}, where a part of the width, {d}, was expected"));
        }
        let zero_start = self.number("decoder", "start_from_zero_embedding", 0.0)? != 0.0;
        let start = match self.specials.start(&words.target) {
            _ if zero_start => None,
            Some(id) => Some(id),
            None => {
                let message =
                    format!("begins translations with {}, which is no target word", short(&self.specials.start));
                return Err(Error::file(self.tensors.path(), message));
            }
        };
        // what starts from zeros is Marian's, whose sentences end with </s>
        let source_eos = self.specials.source_eos || zero_start;
        let epsilon = settings.get("layer_norm_epsilon").and_then(serde_json::Value::as_f64).unwrap_or(1e-5);
        let mut config = card.named(words.config(Architecture::TRANSFORMER, d));
        config.source_eos = source_eos;
        let mut sizes = self.sizes(d, heads, source)?;
        (sizes.start, sizes.norm_epsilon) = (start, epsilon);
        config.own = sizes.into();
        // what holds for our own models holds for these
        Config::from_json(self.tensors.path(), &config.to_json())
    }

    fn sizes(&mut self, d: usize, heads: usize, source: &str) -> Result<TransformerSizes> {
        let inner_map = |side: &str, l: usize| format!("{side}/layer_{l}/ffn/linear_0/weight");
        let layers = |side: &str| self.tensors.layers(|l| inner_map(side, l));
        let (encoder_layers, decoder_layers) = (layers("encoder")?, layers("decoder")?);
        let inner = |side: &str| {
            let shape = self.tensors.shape(&inner_map(side, 0))?;
            Ok::<_, Error>(shape.first().copied().unwrap_or(0))
        };
        let (feed_forward, decoder_feed_forward) = (inner("encoder")?, inner("decoder")?);
        let activation = match self.common("activation", 0.0)? {
            0.0 => Activation::Relu,
            2.0 => Activation::Swish,
            3.0 => Activation::Gelu,
            other => {
                return self.wrong(
                    "encoder/activation",
                    format!("is {other}; 0 (relu), 2 (swish) and 3 (gelu) are implemented"),
                );
            }
        };
        for (side, name) in
            [("decoder", "alibi"), ("encoder", "multi_query_attention"), ("decoder", "multi_query_attention")]
        {
            if self.number(side, name, 0.0)? != 0.0 {
                return self.wrong(&format!("{side}/{name}"), "is 1, which is not implemented");
            }
        }
        for name in [
            "encoder/embeddings_merge",
            "embeddings_merge",
            "decoder/alibi_use_positive_positions",
            "decoder/scale_alibi",
        ] {
            self.tensors.leave(name);
        }
        if self.number("", "with_source_bos", 0.0)? != 0.0 {
            return self.wrong("with_source_bos", "is 1, which is not implemented");
        }
        let names = ["decoder/alignment_layer", "alignment_layer", "decoder/alignment_heads", "alignment_heads"];
        let names_heads = names.iter().any(|name| self.tensors.has(name));
        let layer = self.number("decoder", "alignment_layer", -1.0)?;
        let layer = if layer < 0.0 { decoder_layers as f32 + layer } else { layer };
        // 0 is all of them; without a number it is the first
        let count = self.number("decoder", "alignment_heads", 1.0)? as usize;
        if !(0.0..decoder_layers as f32).contains(&layer) || count > heads {
            let message = format!("names layer {layer} and {count} heads of {decoder_layers} layers and {heads} heads");
            return self.wrong("decoder/alignment_layer", message);
        }
        let table =
            |side: &str| self.tensors.shape(&format!("{side}/position_encodings/encodings")).ok()?.first().copied();
        let max_positions =
            table("encoder").zip(table("decoder")).map_or(COMPUTED, |(source, target)| source.min(target));
        Ok(TransformerSizes {
            heads,
            encoder_layers,
            decoder_layers,
            feed_forward,
            decoder_feed_forward,
            norm_first: self.common("pre_norm", 1.0)? != 0.0,
            norm_epsilon: 0.0,
            activation,
            cell: DecoderCell::SelfAttention,
            positions: Positions::Table,
            max_positions,
            scale_embedding: self.scaled(d)?,
            shared_embedding: self.tensors.same(source, "decoder/embeddings/weight"),
            tied_output: self.tensors.same("decoder/embeddings/weight", "decoder/projection/weight"),
            start: None,
            alignment_layer: layer as usize + 1,
            alignment_heads: (1..=if count == 0 { heads } else { count }).collect(),
            alignment_reason: if names_heads { AlignmentReason::Named } else { AlignmentReason::Unknown },
        })
    }

    fn lend(&mut self, config: &Config, words: &ForeignWords) -> Result<()> {
        let Some(sizes) = config.transformer() else { return Ok(()) };
        let (d, target) = (config.hidden, config.target_vocabulary);
        words.lend_source(self.tensors, self.source_embedding(), config)?;
        let name = "decoder/embeddings/weight";
        if sizes.shared_embedding {
            self.tensors.leave(name);
        } else {
            self.tensors.lend("target_embedding", name, &[target, d])?;
        }
        for (ours, side) in [("source_positions", "encoder"), ("target_positions", "decoder")] {
            let (name, rows) = (format!("{side}/position_encodings/encodings"), sizes.max_positions);
            if self.tensors.has(&name) {
                self.tensors.lend_rows(ours, &name, 0, &[rows, d])?;
            } else {
                // counted from 1 there
                let numbers = (1..=rows).flat_map(|t| position(Positions::Marian, t, d)).collect();
                self.tensors.make(ours, &[rows, d], numbers);
            }
        }
        for (side, layers, inner) in sizes.stacks() {
            for l in 1..=layers {
                self.lend_layer(side, l, d, inner)?;
            }
            if sizes.norm_first {
                self.norm(&format!("{side}.norm"), side, d)?;
            }
        }
        if sizes.tied_output {
            self.tensors.leave("decoder/projection/weight");
        } else {
            self.tensors.lend("readout.W_o", "decoder/projection/weight", &[target, d])?;
        }
        self.tensors.lend_or_zeros("readout.b_o", "decoder/projection/bias", 0, target)
    }

    fn norm(&mut self, ours: &str, theirs: &str, d: usize) -> Result<()> {
        self.tensors.lend(&format!("{ours}.g"), &format!("{theirs}/layer_norm/gamma"), &[d])?;
        self.tensors.lend(&format!("{ours}.b"), &format!("{theirs}/layer_norm/beta"), &[d])
    }

    fn joined(&mut self, ours: &str, theirs: &str, which: &[&str], (rows, columns): (usize, usize)) -> Result<()> {
        let (weight, bias) = (format!("{theirs}/weight"), format!("{theirs}/bias"));
        self.tensors.check(&weight, &[which.len() * rows, columns])?;
        for (n, which) in which.iter().enumerate() {
            self.tensors.lend_rows(&format!("{ours}.W_{which}"), &weight, n * rows, &[rows, columns])?;
            self.tensors.lend_or_zeros(&format!("{ours}.b_{which}"), &bias, n * rows, rows)?;
        }
        Ok(())
    }

    fn lend_layer(&mut self, side: &str, l: usize, d: usize, inner: usize) -> Result<()> {
        let (ours, theirs) = (format!("{side}.{l}"), format!("{side}/layer_{}", l - 1));
        let (own, their) = (format!("{ours}.self"), format!("{theirs}/self_attention"));
        self.joined(&own, &format!("{their}/linear_0"), &["q", "k", "v"], (d, d))?;
        self.joined(&own, &format!("{their}/linear_1"), &["o"], (d, d))?;
        self.norm(&format!("{own}.norm"), &their, d)?;
        if side == "decoder" {
            let (own, their) = (format!("{ours}.cross"), format!("{theirs}/attention"));
            self.joined(&own, &format!("{their}/linear_0"), &["q"], (d, d))?;
            self.joined(&own, &format!("{their}/linear_1"), &["k", "v"], (d, d))?;
            self.joined(&own, &format!("{their}/linear_2"), &["o"], (d, d))?;
            self.norm(&format!("{own}.norm"), &their, d)?;
        }
        let (own, their) = (format!("{ours}.feed"), format!("{theirs}/ffn"));
        self.joined(&own, &format!("{their}/linear_0"), &["1"], (inner, d))?;
        self.joined(&own, &format!("{their}/linear_1"), &["2"], (d, inner))?;
        self.norm(&format!("{own}.norm"), &their, d)
    }
}
