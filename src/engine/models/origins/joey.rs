//! Folders of Joey NMT, versions 1 and 2, recurrent models and Transformers: `best.ckpt` with the weights,
//! `config.yaml`, `src_vocab.txt` and `trg_vocab.txt`.
//!
//! | there | here |
//! |---|---|
//! | `encoder.rnn.weight_ih_l0`, `_reverse`; `decoder.rnn.weight_ih_l0` | encoder.forward.1, encoder.backward.1; decoder.1 |
//! | `decoder.bridge_layer` | start |
//! | `decoder.attention.key_layer` alone | attention.W_a |
//! | `decoder.attention.query_layer`, `key_layer`, `energy_layer` | attention.W_a, U_a, v_a |
//! | `decoder.att_vector_layer` | W_c, which reads c_i first, and b_c |
//! | `decoder.output_layer` | readout.W_o |

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::config::{Architecture, Config, OwnSizes};
use crate::models::opennmt::sizes::{DecoderStart, OpenNmtSizes};
use crate::models::origins::foreign::{Foreign, OriginEntry};
use crate::models::origins::marian_files::{chosen, last_part, model_files, own_name};
use crate::models::origins::torch_layers::{
    TorchNames, finish, lend_recurrent, recurrent_sizes, stacked, transformer_sizes,
};
use crate::models::origins::words::{ForeignWords, languages};
use crate::models::{
    disk, origins::card::ForeignCard, origins::keys::ForeignSettings, origins::opennmt::words, origins::refused::names,
    origins::tensors::ForeignTensors, origins::torch, transformer::sizes::TransformerSizes,
};
use crate::text::reader::read_file;

pub const ENTRY: OriginEntry = OriginEntry {
    name: "Joey NMT checkpoint",
    about: "folders of Joey NMT: best.ckpt with config.yaml, src_vocab.txt and trg_vocab.txt beside it",
    finds: |path| !files(path).is_empty(),
    read,
};

const MARK: &str = "best_ckpt_score";
const BEST: &str = "best.ckpt";
const SETTINGS: &str = "config.yaml";

const NAMES: TorchNames = TorchNames {
    embeddings: ["src_embed.lut.weight", "trg_embed.lut.weight"],
    positions: ["encoder.pe.pe", "decoder.pe.pe"],
    output: "decoder.output_layer",
    layers: ["encoder.layers", "decoder.layers"],
    attentions: ["src_src_att", "trg_trg_att", "src_trg_att"],
    norms: ["layer_norm", "x_layer_norm", "dec_layer_norm"],
    maps: ["q_layer", "k_layer", "v_layer", "output_layer"],
    feed: ["feed_forward.pwff_layer.0", "feed_forward.pwff_layer.3", "feed_forward.layer_norm"],
    has_biases: false,
};

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = model_files(path, "ckpt", torch::is_start);
    files.retain(|file| file.with_file_name(SETTINGS).is_file() && names(file, &[MARK]).is_some());
    match files.iter().find(|file| file.file_name().is_some_and(|name| name == BEST)) {
        Some(best) => vec![best.clone()],
        None => files,
    }
}

fn read(path: &Path) -> Result<Foreign> {
    let file = chosen(path, files(path))?;
    let path_of_settings = file.with_file_name(SETTINGS);
    let settings = ForeignSettings::yaml(&path_of_settings, &disk::read(&path_of_settings, disk::CONFIG_LIMIT)?)?;
    let ((), mut tensors) = torch::checkpoint(&file, |reading| {
        let state = reading.get(reading.result(), "model_state").ok_or("has no `model_state` in it")?;
        Ok(((), reading.dictionary(state)?))
    })?;
    let words = words(&file, [listed(&file, &settings, "src")?, listed(&file, &settings, "trg")?])?;
    let [source, target] = ["src", "trg"]
        .map(|side| settings.text(&format!("data.{side}.lang")).or(settings.text(&format!("data.{side}"))));
    let name = settings.text("name").map_or_else(|| own_name(&file), str::to_owned);
    let languages = languages(&name, source, target);
    let card = ForeignCard { toolkit: "Joey NMT".into(), languages, name, ..ForeignCard::default() };
    let is_transformer = tensors.has("encoder.layers.0.feed_forward.pwff_layer.0.weight");
    let config = if is_transformer {
        transformer(&mut tensors, &settings, &words)?
    } else {
        recurrent(&tensors, &settings, &words)?
    };
    let [source, target] = ["src", "trg"].map(|side| settings.text(&format!("data.{side}.tokenizer_cfg.model_file")));
    let pieces = source.zip(target).map(|(source, target)| [last_part(source), last_part(target)]);
    finish(tensors, &NAMES, (config, &words), &pieces, card, lend)
}

fn listed(file: &Path, settings: &ForeignSettings, side: &str) -> Result<Vec<String>> {
    let named = [format!("data.{side}.voc_file"), format!("data.{side}_vocab")];
    let named = named.iter().find_map(|key| settings.text(key)).map(|name| file.with_file_name(last_part(name)));
    let path = named.filter(|path| path.is_file()).unwrap_or_else(|| file.with_file_name(format!("{side}_vocab.txt")));
    let text =
        String::from_utf8(read_file(&path, disk::TOKENIZER_LIMIT)?).map_err(|_| Error::file(&path, "is not UTF-8"))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect())
}

fn recurrent(tensors: &ForeignTensors, settings: &ForeignSettings, words: &ForeignWords) -> Result<Config> {
    settings.check(&[
        ("model.encoder.type", &["", "recurrent"]),
        ("model.encoder.embeddings.scale", &["", "false"]),
        ("model.decoder.type", &["", "recurrent"]),
        ("model.decoder.embeddings.scale", &["", "false"]),
        ("model.decoder.activation", &["", "tanh"]),
        ("model.decoder.init_hidden", &["", "bridge", "last", "zero"]),
        ("model.decoder.attention", &["", "bahdanau", "luong"]),
    ])?;
    let names = |l: usize| stacked("decoder.rnn", l, false);
    let (sizes, [embedding, hidden]) = recurrent_sizes(tensors, &NAMES, words, names)?;
    let start_state = match settings.text("model.decoder.init_hidden") {
        Some("last") => DecoderStart::Top,
        Some("zero") => DecoderStart::Zeros,
        _ => DecoderStart::Bridge,
    };
    let mut config = words.config(Architecture::OPENNMT, hidden);
    config.embedding = embedding;
    let score = if tensors.has("decoder.attention.query_layer.weight") { "additive" } else { "general" };
    config.own = OwnSizes::OpenNmt(OpenNmtSizes { start_state, score: score.into(), ..sizes });
    Ok(config)
}

fn lend(tensors: &mut ForeignTensors, config: &Config) -> Result<()> {
    let Some(sizes) = config.opennmt() else { return Ok(()) };
    lend_recurrent(tensors, config, |l| stacked("decoder.rnn", l, false))?;
    let (n, c) = (config.hidden, sizes.annotation());
    if sizes.start_state == DecoderStart::Bridge {
        tensors.lend("start.W", "decoder.bridge_layer.weight", &[n, c])?;
        tensors.lend("start.b", "decoder.bridge_layer.bias", &[n])?;
    }
    if sizes.score == "additive" {
        tensors.lend("attention.W_a", "decoder.attention.query_layer.weight", &[n, n])?;
        tensors.lend("attention.U_a", "decoder.attention.key_layer.weight", &[n, c])?;
        tensors.lend("attention.v_a", "decoder.attention.energy_layer.weight", &[n])?;
        tensors.make("attention.b_a", &[n], vec![0.0; n]);
    } else {
        tensors.lend("attention.W_a", "decoder.attention.key_layer.weight", &[n, c])?;
    }
    // it reads s_i first there
    let theirs = tensors.numbers("decoder.att_vector_layer.weight", 0, &[n, n + c])?;
    let turned = theirs.chunks_exact(n + c).flat_map(|row| [&row[n..], &row[..n]].concat()).collect();
    tensors.make("W_c", &[n, c + n], turned);
    tensors.lend("b_c", "decoder.att_vector_layer.bias", &[n])
}

fn transformer(tensors: &mut ForeignTensors, settings: &ForeignSettings, words: &ForeignWords) -> Result<Config> {
    let [_, d] = tensors.matrix(NAMES.embeddings[1])?;
    for side in ["encoder", "decoder"] {
        settings.check(&[
            (&format!("model.{side}.type"), &["transformer"]),
            (&format!("model.{side}.alpha"), &["", "1", "1.0"]),
        ])?;
    }
    let both = |key: &str| -> [String; 2] { ["encoder", "decoder"].map(|side| format!("model.{side}.{key}")) };
    let [heads, others] = both("num_heads").map(|key| settings.size(&key));
    let (heads, others) = (heads?, others?);
    if heads != others || d % 2 != 0 || d % heads != 0 {
        let message = format!("is {others}, where {heads} was expected, as the encoder has it, and a part of {d}");
        return settings.wrong("model.decoder.num_heads", message);
    }
    let [scaled, also] = both("embeddings.scale").map(|key| settings.flag(&key, false));
    let scaled = scaled?;
    if also? != scaled {
        return settings.wrong("model.decoder.embeddings.scale", format!("must be {scaled}, as the encoder has it"));
    }
    let [activation, other] = both("activation").map(|key| settings.activation(&key, "relu"));
    let activation = activation?;
    if other? != activation {
        return settings.wrong("model.decoder.activation", "must be that of the encoder");
    }
    let mut config = words.config(Architecture::TRANSFORMER, d);
    let sizes = transformer_sizes(tensors, &NAMES, words, heads, activation)?;
    let norm_first = tensors.has("encoder.layer_norm.weight");
    config.own = OwnSizes::Transformer(TransformerSizes { norm_first, scale_embedding: scaled, ..sizes });
    Ok(config)
}
