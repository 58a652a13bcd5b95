//! Folders of Hugging Face's transformers that hold a MarianMT model, as all of OPUS-MT's are kept there.
//!
//! | there | here |
//! |---|---|
//! | `model.shared.weight`, or `model.encoder.embed_tokens.weight` | source_embedding |
//! | `model.decoder.embed_tokens.weight` | target_embedding |
//! | `model.encoder.layers.0.self_attn.q_proj.weight`, k, v, out | encoder.1.self.W_q, k, v, o |
//! | `.self_attn_layer_norm`, `.encoder_attn_layer_norm` | self.norm, cross.norm |
//! | `.fc1`, `.fc2`, `.final_layer_norm` | feed.W_1, feed.W_2, feed.norm |
//! | `lm_head.weight`, `final_logits_bias` | readout.W_o, readout.b_o |
//!
//! Matrices are \[out, in\] already. The decoder starts with a row of zeros, and a word that is padding is never said.

use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::models::config::{Architecture, Config, OwnSizes};
use crate::models::disk::{CARD_FILE, CONFIG_FILE, WEIGHTS_FILE};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::keys::{ForeignSettings, short};
use crate::models::origins::torch_layers::{TorchNames, lend_transformer};
use crate::models::origins::words::{ForeignWords, languages};
use crate::models::transformer::sizes::{AlignmentReason, DecoderCell, Positions, TransformerSizes};
use crate::models::{
    disk, origins::card::ForeignCard, origins::marian_files::MarianFiles, origins::tensors::ForeignTensors,
    origins::torch, transformer::sizes::position,
};
use crate::text::sentence::{EOS, is_language};
use crate::text::{foreign::sentencepiece::SentencePiece, foreign::vocabulary::Vocabulary};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Hugging Face MarianMT",
    about: "a folder with config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm, as \
            OPUS-MT's models lie in ~/.cache/huggingface/hub",
    finds: |path| {
        let is_known =
            |settings: ForeignSettings| settings.get("model_type").is_some() || architecture(&settings).is_some();
        optional(&path.join(CONFIG_FILE)).is_ok_and(|settings| settings.is_some_and(is_known))
    },
    read,
};

const TORCH_FILE: &str = "pytorch_model.bin";
const NEVER: f32 = -1e9;
const EPSILON: f64 = 1e-5;

const NAMES: TorchNames = TorchNames {
    embeddings: ["model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"],
    positions: ["model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"],
    output: "lm_head",
    layers: ["model.encoder.layers", "model.decoder.layers"],
    attentions: ["self_attn", "self_attn", "encoder_attn"],
    norms: ["self_attn_layer_norm", "self_attn_layer_norm", "encoder_attn_layer_norm"],
    maps: ["q_proj", "k_proj", "v_proj", "out_proj"],
    feed: ["fc1", "fc2", "final_layer_norm"],
    has_biases: true,
};

fn optional(path: &Path) -> Result<Option<ForeignSettings>> {
    if !path.is_file() {
        return Ok(None);
    }
    ForeignSettings::read(path, &disk::read(path, disk::CONFIG_LIMIT)?).map(Some)
}

fn architecture(settings: &ForeignSettings) -> Option<&str> {
    settings.get("architectures")?.as_array()?.first()?.as_str()
}

pub fn read(folder: &Path) -> Result<Foreign> {
    let path = folder.join(CONFIG_FILE);
    let settings = ForeignSettings::read(&path, &disk::read(&path, disk::CONFIG_LIMIT)?)?;
    let generation = optional(&folder.join("generation_config.json"))?.unwrap_or_default();
    let about = optional(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
    check(&settings)?;
    let words = words(folder, &settings)?;
    let mut card = facts(folder, &about, &words);
    let mut tensors = open(folder)?;
    let config = config(folder, &settings, &card, &words, &mut tensors)?;
    let never = never(&settings, &generation, &words);
    lend(&mut tensors, &config, &words, &never)?;
    if !never.is_empty() {
        card.notes.push(
            "Padding has no share of p(y) here, as in Marian; transformers leaves it one and bars it afterwards."
                .into(),
        );
    }
    let spm = |name: &str, words: &Vocabulary| SentencePiece::read(&folder.join(name))?.tokenizer(Some(words), false);
    let (source, target) = (spm("source.spm", &words.source)?, spm("target.spm", &words.target)?);
    let file = tensors.path().to_owned();
    let weights = tensors.finish()?;
    let card = card.markdown(&config);
    Ok(Foreign { config, weights, source, target, card, file })
}

fn check(settings: &ForeignSettings) -> Result<()> {
    let found = architecture(settings).or(settings.text("model_type")).unwrap_or("missing");
    if !["MarianMTModel", "marian"].contains(&found) {
        let message = format!("is {}; of Hugging Face's models MarianMTModel is read", short(found));
        return settings.wrong("architectures", message);
    }
    for key in ["normalize_before", "normalize_embedding", "add_final_layer_norm"] {
        settings.must_be(key, false)?;
    }
    settings.must_be("static_position_embeddings", true)?;
    if settings.get("quantization_config").is_some() {
        return settings.wrong("quantization_config", "says that the weights are packed, which is not read");
    }
    let (heads, d) = (settings.size("encoder_attention_heads")?, settings.size("d_model")?);
    if settings.size("decoder_attention_heads")? != heads {
        return settings.wrong("decoder_attention_heads", format!("must be as many as the encoder has, {heads}"));
    }
    if d % heads != 0 || d % 2 != 0 {
        return settings.wrong("d_model", format!("is {d}, where an even multiple of {heads} heads was expected"));
    }
    Ok(())
}

fn words(folder: &Path, settings: &ForeignSettings) -> Result<ForeignWords> {
    let read = |name: &str, key: &str| {
        let words = Vocabulary::read(&folder.join(name), None)?;
        let (size, count) = (settings.size(key)?, words.words().len());
        if size != count {
            return settings
                .wrong(key, format!("is {size}, but {name} has {count} words; the files belong to different models"));
        }
        Ok(words)
    };
    let source = read("vocab.json", "vocab_size")?;
    let words = if settings.flag("share_encoder_decoder_embeddings", true)? {
        ForeignWords::shared(folder, source)?
    } else {
        let key = if settings.get("decoder_vocab_size").is_some() { "decoder_vocab_size" } else { "vocab_size" };
        ForeignWords::of(folder, source.words(), read("target_vocab.json", key)?)?
    };
    let eos = settings.id("eos_token_id", words.target.words().len())?;
    if eos != words.eos {
        return settings
            .wrong("eos_token_id", format!("is {eos}, but `{EOS}` is word {} of the vocabulary", words.eos));
    }
    Ok(words)
}

fn open(folder: &Path) -> Result<ForeignTensors> {
    let there = |name: &str| folder.join(name).exists();
    if there(WEIGHTS_FILE) {
        return ForeignTensors::safetensors(&folder.join(WEIGHTS_FILE));
    }
    if there(TORCH_FILE) {
        return torch::open(&folder.join(TORCH_FILE));
    }
    let message = if there("model.safetensors.index.json") || there("pytorch_model.bin.index.json") {
        "has weights in several files, which are not read; save the model in one"
    } else {
        "has neither model.safetensors nor pytorch_model.bin; weights of TensorFlow (tf_model.h5) and Rust (rust_model.ot) are \
         not read"
    };
    Err(Error::file(folder, message))
}

fn facts(folder: &Path, about: &ForeignSettings, words: &ForeignWords) -> ForeignCard {
    let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut card = ForeignCard {
        toolkit: "Marian, as Hugging Face's transformers keeps it (MarianMT)".to_owned(),
        languages: languages(&name, about.text("source_lang"), about.text("target_lang")),
        choices: words.source.words().iter().filter(|word| is_language(word)).cloned().collect(),
        name,
        ..ForeignCard::default()
    };
    let text = disk::read(&folder.join(CARD_FILE), disk::CARD_LIMIT).unwrap_or_default();
    card.read(&String::from_utf8_lossy(&text));
    card
}

fn config(
    folder: &Path, settings: &ForeignSettings, card: &ForeignCard, words: &ForeignWords, tensors: &mut ForeignTensors,
) -> Result<Config> {
    let (d, heads) = (settings.size("d_model")?, settings.size("encoder_attention_heads")?);
    let decoder_layers = settings.layers("decoder_layers")?;
    // the releases whose name says so were trained with word alignments, on the first head of the last layer
    let guided = ["transformer-align", "guided-alignment"].iter().any(|mark| card.text.contains(mark));
    let shared_embedding = settings.flag("share_encoder_decoder_embeddings", true)?;
    let max_positions = table(tensors, d)?;
    let mut config = card.named(words.config(Architecture::TRANSFORMER, d));
    // what Marian translates so, its models at Hugging Face do, although transformers does not
    config.bars_unk = !MarianFiles::next_to(&folder.join(CONFIG_FILE)).allows_unk();
    let start = settings.id("decoder_start_token_id", config.target_vocabulary)?;
    let target = target_embedding(tensors, shared_embedding);
    let row = tensors.numbers(target, start as usize, &[1, d])?;
    config.own = OwnSizes::Transformer(TransformerSizes {
        heads,
        encoder_layers: settings.layers("encoder_layers")?,
        decoder_layers,
        feed_forward: settings.size("encoder_ffn_dim")?,
        decoder_feed_forward: settings.size("decoder_ffn_dim")?,
        norm_first: false,
        norm_epsilon: EPSILON,
        activation: settings.activation("activation_function", "")?,
        cell: DecoderCell::SelfAttention,
        positions: if max_positions > 0 { Positions::Table } else { Positions::Vaswani },
        max_positions,
        scale_embedding: settings.flag("scale_embedding", false)?,
        shared_embedding,
        tied_output: settings.flag("tie_word_embeddings", true)?,
        start: row.iter().any(|number| *number != 0.0).then_some(start),
        alignment_layer: decoder_layers,
        alignment_heads: if guided { vec![1] } else { (1..=heads).collect() },
        alignment_reason: if guided { AlignmentReason::Guided } else { AlignmentReason::Unknown },
    });
    // what holds for our own models holds for these
    Config::from_json(&folder.join(CONFIG_FILE), &config.to_json())
}

/// Rows of a table of positions that is not what would be computed; 0 where there is none.
fn table(tensors: &mut ForeignTensors, d: usize) -> Result<usize> {
    let names = NAMES.positions;
    if !names.iter().all(|name| tensors.has(name)) {
        for name in names {
            tensors.leave(name);
        }
        return Ok(0);
    }
    let rows = tensors.shape(names[0])?.first().copied().unwrap_or(0);
    for name in names {
        let numbers = tensors.numbers(name, 0, &[rows, d])?;
        let computed = |(t, row): (usize, &[f32])| {
            position(Positions::Vaswani, t, d)
                .iter()
                .zip(row)
                .all(|(computed, stored)| (computed - stored).abs() < 1e-6)
        };
        if !numbers.chunks(d).enumerate().all(computed) {
            return Ok(rows);
        }
    }
    Ok(0)
}

fn never(settings: &ForeignSettings, generation: &ForeignSettings, words: &ForeignWords) -> Vec<usize> {
    let lists = [settings, generation].map(|file| file.get("bad_words_ids").and_then(Value::as_array));
    let single = |list: &Value| list.as_array().filter(|list| list.len() == 1).and_then(|list| list[0].as_u64());
    let named = lists.into_iter().flatten().flatten().filter_map(single);
    let pad = [settings, generation].into_iter().find_map(|file| file.get("pad_token_id")?.as_u64());
    let count = words.target.words().len();
    let known = named.chain(pad).filter_map(|id| usize::try_from(id).ok()).filter(|id| *id < count);
    known.filter(|id| *id != words.eos as usize).collect()
}

fn source_embedding(tensors: &ForeignTensors) -> &'static str {
    let names = ["model.shared.weight", NAMES.embeddings[0]];
    names.into_iter().find(|name| tensors.has(name)).unwrap_or(names[0])
}

fn target_embedding(tensors: &ForeignTensors, shared: bool) -> &'static str {
    if shared { source_embedding(tensors) } else { NAMES.embeddings[1] }
}

fn lend(tensors: &mut ForeignTensors, config: &Config, words: &ForeignWords, never: &[usize]) -> Result<()> {
    let Some(sizes) = config.transformer() else { return Ok(()) };
    let (d, target) = (config.hidden, config.target_vocabulary);
    let shared = sizes.shared_embedding;
    let [own, _] = NAMES.embeddings;
    let source = if !shared && tensors.has(own) { own } else { source_embedding(tensors) };
    words.lend_source(tensors, source, config)?;
    if !shared {
        tensors.lend("target_embedding", target_embedding(tensors, false), &[target, d])?;
    }
    if sizes.positions == Positions::Table {
        for (ours, theirs) in ["source_positions", "target_positions"].iter().zip(NAMES.positions) {
            tensors.lend(ours, theirs, &[sizes.max_positions, d])?;
        }
    }
    ["model.shared.weight"].iter().chain(&NAMES.embeddings).for_each(|name| tensors.leave(name));
    lend_transformer(tensors, &NAMES, config)?;
    if sizes.tied_output {
        tensors.leave("lm_head.weight");
    } else {
        tensors.lend("readout.W_o", "lm_head.weight", &[target, d])?;
    }
    let name = "final_logits_bias";
    let mut b_o = if tensors.has(name) { tensors.numbers(name, 0, &[target])? } else { vec![0.0; target] };
    for id in never {
        b_o[*id] = NEVER;
    }
    tensors.make("readout.b_o", &[target], b_o);
    Ok(())
}
