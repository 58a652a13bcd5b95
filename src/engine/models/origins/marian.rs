//! Marian's Transformers, whatever file they lie in: options become sizes, its names ours, \[in, out\] \[out, in\].
//!
//! | Marian | here |
//! |---|---|
//! | `Wemb`, `encoder_Wemb`, `decoder_Wemb` \[words, d\] | source_embedding, target_embedding |
//! | `encoder_l1_self_Wq` \[in, out\], `_bq` \[1, out\], k, v, o | encoder.1.self.W_q, b_q |
//! | `_self_Wo_ln_scale`, `_ln_bias`, pre-norm with `_pre` | encoder.1.self.norm.g, b |
//! | `decoder_l1_context_..` | decoder.1.cross |
//! | `decoder_l1_rnn_W`, `Wf`, `bf`, `_ffn_ln_scale` | decoder.1.ssru.W, W_f, b_f, norm |
//! | `_ffn_W1`, `b1`, `W2`, `b2`, `_ffn_ffn_ln_scale` | feed.W_1, b_1, W_2, b_2, norm |
//! | `decoder_ff_logit_out_Wt` \[words, d\] or `_W` \[d, words\], `_b` | readout.W_o, b_o |

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::models::checkpoint::{Array, Weights};
use crate::models::config::{Architecture, Config};
use crate::models::origins::marian_options::{KnownOption, MarianOptions};
use crate::models::transformer::sizes::{
    Activation, AlignmentReason, DecoderCell, NamedChoice as _, Positions, TransformerSizes,
};
use crate::models::{
    entry::shapes, origins::foreign::Foreign, origins::marian_files::MarianFiles, stored::IntegerMatrix,
};
use crate::nn::fused::integers::Rounding;

/// The tensors of a file of Marian.
pub trait MarianTensors {
    fn names(&self) -> Vec<String>;
    fn shape(&self, name: &str) -> Option<Vec<usize>>;
    fn array(&mut self, name: &str) -> Result<Array>;
    fn turned(&mut self, name: &str) -> Result<Array> {
        self.array(name).map(Array::transposed)
    }
    /// The whole numbers of a matrix of 8-bit integers, transposed if `turned`, and their multiplier; else `None`.
    fn integers(&mut self, _name: &str, _turned: bool) -> Result<Option<(Vec<i8>, f32)>> {
        Ok(None)
    }
}

const KNOWN: &[KnownOption] = &[
    ("type", &["transformer"]),
    ("right-left", &["", "false"]),
    ("transformer-no-projection", &["", "false"]),
    ("transformer-tied-layers", &[""]),
    ("transformer-train-position-embeddings", &["", "false"]),
    ("transformer-disable-position-embeddings", &["", "false"]),
    ("transformer-attention-mask", &["", "default"]),
    ("transformer-ffn-depth", &["", "2"]),
    ("transformer-decoder-ffn-depth", &["", "0", "2"]),
    ("transformer-ffn-activation", &["relu", "swish"]),
    ("transformer-decoder-autoreg", &["", "self-attention", "rnn"]),
    ("transformer-postprocess-emb", &["", "d"]),
    ("factors-dim-emb", &["", "0"]),
    ("lemma-dependency", &[""]),
    ("lemma-dim-emb", &["", "0"]),
    ("ulr", &["", "false"]),
];

/// Options that are read, or that change nothing in what is implemented.
const READ: &[&str] = &[
    "transformer-heads",
    "transformer-dim-ffn",
    "transformer-decoder-dim-ffn",
    "transformer-guided-alignment-layer",
    "transformer-preprocess",
    "transformer-postprocess",
    "transformer-postprocess-top",
    "transformer-dim-aan",
    "transformer-aan-depth",
    "transformer-aan-activation",
    "transformer-aan-nogate",
    "transformer-depth-scaling",
    "transformer-alibi-shift",
    "transformer-alibi-trainable",
    "transformer-flat-attention",
    "transformer-dropout",
    "transformer-dropout-attention",
    "transformer-dropout-ffn",
];

/// The kind of a file whose integers are browsermt's; all models of that project are guided.
pub const BERGAMOT: &str = "Marian bin of Bergamot";
const MOST_LAYERS: usize = 256;

pub fn read(path: &Path, tensors: &mut dyn MarianTensors, options: &MarianOptions, toolkit: &str) -> Result<Foreign> {
    let files = MarianFiles::next_to(path);
    let sizes = sizes(options, tensors, toolkit == BERGAMOT || files.is_guided())?;
    named(path, &files, convert(path, tensors, options, sizes)?, options, toolkit)
}

pub fn named(
    path: &Path, files: &MarianFiles, (mut config, weights): (Config, Weights), options: &MarianOptions, toolkit: &str,
) -> Result<Foreign> {
    let texts = files.tokenizers([config.source_vocabulary, config.target_vocabulary])?;
    (config.eos, config.unk) = (texts.eos, texts.unk);
    (config.source_language, config.target_language) = files.languages(&texts.files);
    config.name = files.name();
    config.bars_unk = !files.allows_unk();
    let card = files.card(&config, toolkit, options.text("version"), texts.choices);
    Ok(Foreign { config, weights, source: texts.source, target: texts.target, card, file: path.into() })
}

pub fn convert(
    path: &Path, tensors: &mut dyn MarianTensors, options: &MarianOptions, sizes: TransformerSizes,
) -> Result<(Config, Weights)> {
    let d = options.size("dim-emb")?;
    if d == 0 || d % 2 != 0 || d % sizes.heads != 0 {
        let message = format!("is {d}; it must be even, and a multiple of the {} heads", sizes.heads);
        return Err(options.wrong("dim-emb", message));
    }
    let rows = |own: &str| {
        let name = if tensors.shape(own).is_some() { own } else { "Wemb" };
        let shape = tensors.shape(name).unwrap_or_default();
        if let [words, width] = *shape
            && width == d
            && words > 1
        {
            return Ok(words);
        }
        let message = format!("has the shape {shape:?} where [words, {d}] was expected by the option `dim-emb`");
        Err(Error::tensor(path, name, message))
    };
    let config = Config {
        name: "Marian".into(),
        source_vocabulary: rows("encoder_Wemb")?,
        target_vocabulary: rows("decoder_Wemb")?,
        own: sizes.into(),
        ..Config::bare(Architecture::TRANSFORMER, d)
    };
    let weights = weights(path, tensors, options, &config)?;
    Ok((config, weights))
}

/// `guided`: whether training is known to have guided a head.
pub fn sizes(options: &MarianOptions, tensors: &dyn MarianTensors, guided: bool) -> Result<TransformerSizes> {
    options.check(KNOWN)?;
    let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).chain(READ.iter().copied()).collect();
    options.check_others("transformer-", &known)?;
    if options.list("dim-vocabs").len() > 2 {
        return Err(options.wrong("dim-vocabs", "names several sources; models of one source are read"));
    }
    let cell = match options.text("transformer-decoder-autoreg") {
        Some("rnn") => {
            options.check(&[("dec-cell", &["ssru"])])?;
            DecoderCell::Ssru
        }
        _ => DecoderCell::SelfAttention,
    };
    let count = |key: &str, most: usize| options.count(key, None, most);
    let heads = count("transformer-heads", 1 << 10)?;
    let decoder_layers = count("dec-depth", MOST_LAYERS)?;
    let feed_forward = count("transformer-dim-ffn", 1 << 20)?;
    let activation = options.text("transformer-ffn-activation").unwrap_or_default();
    let decoder_feed_forward = options.size("transformer-decoder-dim-ffn").unwrap_or(0);
    let layer = match options.text("transformer-guided-alignment-layer") {
        None | Some("last") => decoder_layers,
        Some(_) => count("transformer-guided-alignment-layer", decoder_layers)?,
    };
    let has_decoder_embedding = tensors.shape("decoder_Wemb").is_some();
    Ok(TransformerSizes {
        heads,
        encoder_layers: count("enc-depth", MOST_LAYERS)?,
        decoder_layers,
        feed_forward,
        decoder_feed_forward: if decoder_feed_forward == 0 { feed_forward } else { decoder_feed_forward },
        norm_first: is_norm_first(options)?,
        norm_epsilon: 1e-6,
        activation: Activation::from_name(activation).unwrap_or(Activation::Relu),
        cell,
        positions: Positions::Marian,
        max_positions: 0,
        scale_embedding: true,
        shared_embedding: !has_decoder_embedding,
        tied_output: options.is_on("tied-embeddings") || options.is_on("tied-embeddings-all"),
        start: None,
        alignment_layer: if guided { layer } else { decoder_layers },
        alignment_heads: if guided { vec![1] } else { (1..=heads).collect() },
        alignment_reason: if guided { AlignmentReason::Guided } else { AlignmentReason::Unknown },
    })
}

/// Whether sublayers normalise what they read. Dropout (`d`) does nothing here.
fn is_norm_first(options: &MarianOptions) -> Result<bool> {
    let [before, after, top] = ["transformer-preprocess", "transformer-postprocess", "transformer-postprocess-top"]
        .map(|key| options.text(key).unwrap_or_default().replace('d', ""));
    match (before.as_str(), after.as_str(), top.as_str()) {
        ("", "an", "") => Ok(false),
        ("n", "a", "n") => Ok(true),
        _ => {
            let message = format!(
                "with `transformer-preprocess` and `transformer-postprocess-top` is {after:?}, {before:?} and {top:?}, which \
                 is not implemented; post-norm is `an`, nothing and nothing, pre-norm `a`, `n` and `n`"
            );
            Err(options.wrong("transformer-postprocess", message))
        }
    }
}

fn pairs(sizes: &TransformerSizes) -> Vec<(String, String, bool)> {
    let pre = if sizes.norm_first { "_pre" } else { "" };
    let mut pairs = Vec::new();
    let mut parts = |ours: &str, theirs: &str, parts: &[(&str, &str)], norm: &str| {
        for (our, their) in parts {
            pairs.push((format!("{ours}.{our}"), format!("{theirs}_{their}"), our.starts_with('W')));
        }
        for (our, their) in [("g", "scale"), ("b", "bias")] {
            pairs.push((format!("{ours}.norm.{our}"), format!("{theirs}_{norm}_ln_{their}{pre}"), false));
        }
    };
    let attention: Vec<(String, String)> =
        ["q", "k", "v", "o"].iter().flat_map(|x| ["W", "b"].map(|w| (format!("{w}_{x}"), format!("{w}{x}")))).collect();
    let attention: Vec<(&str, &str)> = attention.iter().map(|(our, their)| (our.as_str(), their.as_str())).collect();
    let feed = [("W_1", "W1"), ("b_1", "b1"), ("W_2", "W2"), ("b_2", "b2")];
    let cell = [("W", "W"), ("W_f", "Wf"), ("b_f", "bf")];
    for l in 1..=sizes.encoder_layers {
        parts(&format!("encoder.{l}.self"), &format!("encoder_l{l}_self"), &attention, "Wo");
        parts(&format!("encoder.{l}.feed"), &format!("encoder_l{l}_ffn"), &feed, "ffn");
    }
    for l in 1..=sizes.decoder_layers {
        match sizes.cell {
            DecoderCell::SelfAttention => {
                parts(&format!("decoder.{l}.self"), &format!("decoder_l{l}_self"), &attention, "Wo");
            }
            DecoderCell::Ssru => parts(&format!("decoder.{l}.ssru"), &format!("decoder_l{l}_rnn"), &cell, "ffn"),
        }
        parts(&format!("decoder.{l}.cross"), &format!("decoder_l{l}_context"), &attention, "Wo");
        parts(&format!("decoder.{l}.feed"), &format!("decoder_l{l}_ffn"), &feed, "ffn");
    }
    for (side, part) in
        ["encoder", "decoder"].iter().flat_map(|side| [("g", "scale"), ("b", "bias")].map(|p| (side, p)))
    {
        if sizes.norm_first {
            pairs.push((format!("{side}.norm.{}", part.0), format!("{side}_top_ln_{}", part.1), false));
        }
    }
    pairs
}

fn weights(path: &Path, tensors: &mut dyn MarianTensors, options: &MarianOptions, config: &Config) -> Result<Weights> {
    let Some(sizes) = config.transformer() else { return Err(Error::Internal("no transformer".into())) };
    let mut pairs = pairs(sizes);
    let first = |names: &[&'static str]| names.iter().copied().find(|name| tensors.shape(name).is_some());
    let mut add = |ours: &str, theirs: Option<&'static str>, turned: bool| {
        pairs.push((ours.to_owned(), theirs.unwrap_or("Wemb").to_owned(), turned));
    };
    add("source_embedding", first(&["encoder_Wemb"]), false);
    if !sizes.shared_embedding {
        add("target_embedding", first(&["decoder_Wemb"]), false);
    }
    if !sizes.tied_output {
        let name = first(&["decoder_ff_logit_out_Wt"]).unwrap_or("decoder_ff_logit_out_W");
        add("readout.W_o", Some(name), !name.ends_with('t'));
    }
    let has_bias = !options.is_on("output-omit-bias");
    if has_bias {
        add("readout.b_o", Some("decoder_ff_logit_out_b"), false);
    }
    let expected: HashMap<String, Vec<usize>> = shapes(config).into_iter().collect();
    let mut weights = Weights::new();
    for (ours, theirs, turned) in &pairs {
        let shape = expected.get(ours).ok_or_else(|| Error::Internal(format!("{ours} has no shape")))?;
        let found = tensors.shape(theirs).ok_or_else(|| {
            Error::tensor(path, theirs, "is missing; the file is damaged, or its options are of another model")
        })?;
        let expected_shape = match shape.as_slice() {
            [rows, columns] if *turned => vec![*columns, *rows],
            [size] => vec![1, *size],
            other => other.to_vec(),
        };
        if found != expected_shape && found != *shape {
            let message = format!("has the shape {found:?} where {expected_shape:?} was expected by its options");
            return Err(Error::tensor(path, theirs, message));
        }
        if let Some((q, multiplier)) = tensors.integers(theirs, *turned)? {
            let rounding = rounding(tensors, theirs);
            weights.insert_integers(ours.clone(), shape, IntegerMatrix { q, multiplier, rounding });
            continue;
        }
        let array = if *turned { tensors.turned(theirs)? } else { tensors.array(theirs)? };
        weights.insert(ours.clone(), Array { shape: shape.clone(), data: array.data });
    }
    if !has_bias {
        let zeros = Array { shape: vec![config.target_vocabulary], data: vec![0.0; config.target_vocabulary] };
        weights.insert("readout.b_o", zeros);
    }
    let used: HashSet<&str> = pairs.iter().map(|(_, theirs, _)| theirs.as_str()).collect();
    let is_extra = |name: &&String| !used.contains(name.as_str()) && !is_no_weight(name);
    match tensors.names().iter().find(is_extra) {
        Some(extra) => Err(Error::tensor(path, extra, "is not part of a Transformer that is implemented")),
        None => Ok(weights),
    }
}

const ROUNDING: &str = "_QuantMultA";

/// How a matrix's factors are rounded: as the file says, else by the greatest number.
/// An output layer measured with a shortlist goes by the name `none`.
fn rounding(tensors: &mut dyn MarianTensors, theirs: &str) -> Rounding {
    let other = if theirs.ends_with("Wemb") { "none" } else { theirs };
    let mut found = [theirs, other].into_iter().filter_map(|name| {
        let name = format!("{name}{ROUNDING}");
        tensors.shape(&name)?;
        // some files have a placeholder there
        tensors.array(&name).ok()?.data.first().copied().filter(|a| a.is_normal() && *a > 0.0)
    });
    found.next().map_or(Rounding::Greatest, Rounding::Fixed)
}

fn is_no_weight(name: &str) -> bool {
    name.starts_with("special:") || name.ends_with(ROUNDING)
}
