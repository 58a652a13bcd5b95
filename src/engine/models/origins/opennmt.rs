//! Checkpoints of OpenNMT-py, versions 0.2 to 3, recurrent ones and Transformers: one `.pt` with weights, options
//! and both vocabularies.
//!
//! | there | here |
//! |---|---|
//! | `encoder.rnn.weight_ih_l0`, `_reverse` | encoder.forward.1, encoder.backward.1 |
//! | `decoder.rnn.layers.0.weight_ih`, `decoder.rnn.weight_ih_l0` | decoder.1 |
//! | `decoder.attn.linear_in` | attention.W_a, which is its transpose |
//! | `decoder.attn.linear_query`, `linear_context`, `v` | attention.W_a and b_a, U_a, v_a |
//! | `decoder.attn.linear_out` | W_c, b_c |
//! | `generator.0`, `generator` | readout.W_o, readout.b_o |

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::models::config::{Architecture, Config, OwnSizes};
use crate::models::opennmt::sizes::{AttentionalMix, OpenNmtSizes};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::keys::{ForeignSettings, KnownSetting};
use crate::models::origins::marian_files::{chosen, model_files, own_name};
use crate::models::origins::pickled::{PickleReader, PickleResult};
use crate::models::origins::torch_layers::{
    TorchNames, celled, finish, lend_recurrent, recurrent_sizes, stacked, transformer_sizes,
};
use crate::models::origins::words::{ForeignWords, languages};
use crate::models::transformer::sizes::{AlignmentReason, TransformerSizes};
use crate::models::{
    origins::card::ForeignCard, origins::refused::names, origins::tensors::ForeignTensors, origins::torch,
};
use crate::text::{foreign::vocabulary::Vocabulary, sentence::UNK};

pub const ENTRY: OriginEntry = OriginEntry {
    name: "OpenNMT-py checkpoint",
    about: "checkpoints of OpenNMT-py, model_step_N.pt: LSTMs and GRUs with attention, and Transformers",
    finds: |path| !files(path).is_empty(),
    read,
};

const MARK: &str = "make_embedding";

const NAMES: TorchNames = TorchNames {
    embeddings: [
        "encoder.embeddings.make_embedding.emb_luts.0.weight",
        "decoder.embeddings.make_embedding.emb_luts.0.weight",
    ],
    positions: ["encoder.embeddings.make_embedding.pe.pe", "decoder.embeddings.make_embedding.pe.pe"],
    output: "generator",
    layers: ["encoder.transformer", "decoder.transformer_layers"],
    attentions: ["self_attn", "self_attn", "context_attn"],
    norms: ["layer_norm", "layer_norm_1", "layer_norm_2"],
    maps: ["linear_query", "linear_keys", "linear_values", "final_linear"],
    feed: ["feed_forward.w_1", "feed_forward.w_2", "feed_forward.layer_norm"],
    has_biases: false,
};

/// Options that are implemented in these values only; an option that is not named is as it was before there was one.
const KNOWN: &[KnownSetting] = &[
    ("model_type", &["", "text"]),
    ("model_task", &["", "seq2seq"]),
    ("copy_attn", &["", "false"]),
    ("coverage_attn", &["", "false"]),
    ("context_gate", &[""]),
    ("bridge", &["", "false"]),
    ("global_attention_function", &["", "softmax"]),
    ("self_attn_type", &["", "scaled-dot", "scaled-dot-flash"]),
    ("max_relative_positions", &["", "0"]),
    ("pos_ffn_activation_fn", &["", "relu", "gelu"]),
    ("aan_useffn", &["", "false"]),
    ("num_kv", &["", "0"]),
    ("num_experts", &["", "0"]),
    ("sliding_window", &["", "0"]),
    ("parallel_residual", &["", "false"]),
    ("layer_norm", &["", "standard"]),
    ("quant_layers", &["", "[]"]),
    ("lora_layers", &["", "[]"]),
];

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = model_files(path, "pt", torch::is_start);
    files.retain(|file| names(file, &[MARK]).is_some());
    files
}

struct CheckpointExtras {
    settings: ForeignSettings,
    words: [Vec<String>; 2],
}

fn read(path: &Path) -> Result<Foreign> {
    let file = chosen(path, files(path))?;
    let (extras, mut tensors) = torch::checkpoint(&file, |reading| checkpoint_parts(&file, reading))?;
    let settings = &extras.settings;
    settings.check(KNOWN)?;
    let is_transformer = settings.text("decoder_type") == Some("transformer");
    let encoders: &[&str] = if is_transformer { &["transformer"] } else { &["", "rnn", "brnn"] };
    settings.check(&[("encoder_type", encoders), ("decoder_type", &["", "rnn", "transformer"])])?;
    let words = words(&file, extras.words)?;
    let name = own_name(&file);
    let languages = languages(&name, settings.text("src_lang"), settings.text("tgt_lang"));
    let card = ForeignCard { toolkit: "OpenNMT-py".into(), languages, name, ..ForeignCard::default() };
    let config = if is_transformer {
        transformer(&mut tensors, settings, &words)
    } else {
        recurrent(&tensors, settings, &words)
    };
    finish(tensors, &NAMES, (config?, &words), &None, card, lend)
}

fn checkpoint_parts(file: &Path, reading: &PickleReader<'_>) -> PickleResult<(CheckpointExtras, Vec<(String, usize)>)> {
    let part = |name: &str| reading.get(reading.result(), name).ok_or_else(|| format!("has no `{name}` in it"));
    let mut tensors = reading.dictionary(part("model").map_err(|_| {
        "has no `model` in it; of checkpoints whose weights lie in a .safetensors file, save one with `-save_format pytorch`"
            .to_owned()
    })?)?;
    // `0.weight` before version 3, `weight` since
    let generator = reading.dictionary(part("generator")?)?;
    let named = |(name, place): (String, usize)| (format!("generator.{}", name.trim_start_matches("0.")), place);
    tensors.extend(generator.into_iter().map(named));
    let settings = ForeignSettings::of(file, reading.settings(part("opt")?)?);
    let vocabularies = part("vocab")?;
    let side = |name: &str| {
        let list =
            listed(reading, vocabularies, name).ok_or_else(|| format!("has no list of the words of `{name}`"))?;
        reading.words(list)
    };
    Ok((CheckpointExtras { settings, words: [side("src")?, side("tgt")?] }, tensors))
}

/// Where the words of a side are listed: under its name, in a field of torchtext or in a pair with its name, as `itos`.
fn listed(reading: &PickleReader<'_>, vocabularies: usize, side: &str) -> Option<usize> {
    let pair = |place: &usize| match reading.list(*place)? {
        [name, value] => Some((reading.text(*name)?, *value)),
        _ => None,
    };
    let of_pairs = |place: usize| reading.list(place)?.iter().filter_map(pair).find(|(name, _)| *name == side);
    let mut place = reading.get(vocabularies, side).or_else(|| of_pairs(vocabularies).map(|(_, value)| value))?;
    // a field of several, its one, its vocabulary, its words
    for _ in 0..4 {
        let list = reading.list(place).filter(|list| list.first().is_some_and(|first| reading.list(*first).is_some()));
        let first = list.and_then(|list| pair(list.first()?));
        let inner = ["itos", "vocab", "fields"].iter().find_map(|key| reading.get(place, key));
        place = inner.or(first.map(|(_, value)| value)).unwrap_or(place);
    }
    reading.list(place).map(|_| place)
}

pub fn words(file: &Path, [mut source, target]: [Vec<String>; 2]) -> Result<ForeignWords> {
    if source == target {
        return ForeignWords::shared(file, Vocabulary::from_words(file, target)?);
    }
    source.iter_mut().filter(|word| *word == "<unk>").for_each(|word| UNK.clone_into(word));
    ForeignWords::of(file, &source, Vocabulary::from_words(file, target)?)
}

fn recurrent(tensors: &ForeignTensors, settings: &ForeignSettings, words: &ForeignWords) -> Result<Config> {
    settings.check(&[
        ("rnn_type", &["", "LSTM", "GRU"]),
        ("global_attention", &["", "general", "dot", "mlp"]),
        ("position_encoding", &["", "false"]),
    ])?;
    let (sizes, [embedding, hidden]) = recurrent_sizes(tensors, &NAMES, words, decoder_names(tensors))?;
    let score = match settings.text("global_attention") {
        Some("mlp") => "additive",
        Some("dot") => "dot",
        _ => "general",
    };
    let mut config = words.config(Architecture::OPENNMT, hidden);
    (config.embedding, config.source_eos) = (embedding, false);
    let mixing = if score == "additive" { AttentionalMix::Linear } else { AttentionalMix::Tanh };
    config.own = OwnSizes::OpenNmt(OpenNmtSizes { score: score.into(), mixing, ..sizes });
    Ok(config)
}

fn decoder_names(tensors: &ForeignTensors) -> impl Fn(usize) -> [String; 4] + use<> {
    let has_cells = tensors.has("decoder.rnn.layers.0.weight_ih");
    move |l| if has_cells { celled("decoder.rnn.layers", l) } else { stacked("decoder.rnn", l, false) }
}

fn lend(tensors: &mut ForeignTensors, config: &Config) -> Result<()> {
    let Some(sizes) = config.opennmt() else { return Ok(()) };
    let names = decoder_names(tensors);
    lend_recurrent(tensors, config, names)?;
    let (n, c) = (config.hidden, sizes.annotation());
    match sizes.score.as_str() {
        "additive" => {
            tensors.lend("attention.W_a", "decoder.attn.linear_query.weight", &[n, n])?;
            tensors.lend("attention.b_a", "decoder.attn.linear_query.bias", &[n])?;
            tensors.lend("attention.U_a", "decoder.attn.linear_context.weight", &[n, c])?;
            tensors.lend("attention.v_a", "decoder.attn.v.weight", &[n])?;
        }
        "general" => {
            let theirs = tensors.numbers("decoder.attn.linear_in.weight", 0, &[c, n])?;
            let turned = (0..n * c).map(|at| theirs[at % c * n + at / c]).collect();
            tensors.make("attention.W_a", &[n, c], turned);
        }
        _ => {}
    }
    tensors.lend("W_c", "decoder.attn.linear_out.weight", &[n, c + n])?;
    tensors.lend_or_zeros("b_c", "decoder.attn.linear_out.bias", 0, n)
}

fn transformer(tensors: &mut ForeignTensors, settings: &ForeignSettings, words: &ForeignWords) -> Result<Config> {
    settings.check(&[("position_encoding", &["true"])])?;
    let [_, d] = tensors.matrix(NAMES.embeddings[1])?;
    let heads = settings.size("heads")?;
    if d % 2 != 0 || d % heads != 0 {
        return settings.wrong("heads", format!("is {heads}, where a part of the width, {d}, was expected"));
    }
    let activation = settings.activation("pos_ffn_activation_fn", "relu")?;
    let sizes = transformer_sizes(tensors, &NAMES, words, heads, activation)?;
    let decoder_layers = sizes.decoder_layers;
    let guided = settings.real("lambda_align").is_some_and(|weight| weight > 0.0);
    let (layer, count) = (settings.whole_number("alignment_layer"), settings.whole_number("alignment_heads"));
    // layers are counted from 0, or from behind; 0 heads are all
    let layer = layer.filter(|_| guided).unwrap_or(-1);
    let layer = if layer < 0 { layer + decoder_layers as i64 } else { layer };
    let Some(layer) = usize::try_from(layer).ok().filter(|layer| *layer < decoder_layers) else {
        return settings.wrong("alignment_layer", format!("names none of the {decoder_layers} layers of the decoder"));
    };
    let guides = count.filter(|_| guided).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let mut config = words.config(Architecture::TRANSFORMER, d);
    config.source_eos = false;
    config.own = OwnSizes::Transformer(TransformerSizes {
        norm_epsilon: settings.real("norm_eps").unwrap_or(1e-6),
        alignment_layer: layer + 1,
        alignment_heads: (1..=if (1..=heads).contains(&guides) { guides } else { heads }).collect(),
        alignment_reason: if guided { AlignmentReason::Named } else { AlignmentReason::Unknown },
        ..sizes
    });
    Ok(config)
}
