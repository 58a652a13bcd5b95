//! Layers as PyTorch's toolkits name them, OpenNMT-py and Joey NMT: recurrent ones, whose gates lie in one matrix,
//! and those of Transformers. Matrices are \[out, in\] there too.

use std::path::Path;

use crate::error::{Error, Result};
use crate::models::opennmt::sizes::{AttentionalMix, DecoderStart, OpenNmtSizes};
use crate::models::origins::ctranslate::{SpmNames, tokenizers};
use crate::models::transformer::sizes::{Activation, AlignmentReason, DecoderCell, Positions, TransformerSizes};
use crate::models::{
    config::Config, nematus::sizes::NematusUnit, nematus::sizes::UnitPlace, origins::card::ForeignCard,
    origins::foreign::Foreign, origins::pack::FilePack, origins::tensors::ForeignTensors, origins::words::ForeignWords,
};

/// What a toolkit calls its tensors.
pub struct TorchNames {
    pub embeddings: [&'static str; 2],
    pub positions: [&'static str; 2],
    pub output: &'static str,
    pub layers: [&'static str; 2],
    pub attentions: [&'static str; 3],
    pub norms: [&'static str; 3],
    pub maps: [&'static str; 4],
    /// Both maps of a feed-forward layer, and its norm.
    pub feed: [&'static str; 3],
    /// Whether a map without a bias is refused; else it is 0.
    pub has_biases: bool,
}

/// The names of the tensors of a recurrent layer: W, U and their biases.
type UnitNames = [String; 4];

pub fn stacked(prefix: &str, l: usize, is_backward: bool) -> UnitNames {
    let end = if is_backward { "_reverse" } else { "" };
    ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map(|part| format!("{prefix}.{part}_l{l}{end}"))
}

pub fn celled(prefix: &str, l: usize) -> UnitNames {
    ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map(|part| format!("{prefix}.{l}.{part}"))
}

pub fn lend_recurrent(
    tensors: &mut ForeignTensors, config: &Config, decoder: impl Fn(usize) -> UnitNames,
) -> Result<()> {
    let Some(sizes) = config.opennmt() else { return Ok(()) };
    for (stack, l, place) in sizes.layers(config.embedding, config.hidden) {
        let (theirs, n) = match stack {
            "decoder" => (decoder(l - 1), config.hidden),
            _ => (stacked("encoder.rnn", l - 1, stack == "encoder.backward"), sizes.encoder_hidden),
        };
        lend_unit(tensors, &format!("{stack}.{l}"), &theirs, place, n)?;
    }
    Ok(())
}

fn lend_unit(
    tensors: &mut ForeignTensors, ours: &str, [w, u, b_w, b_u]: &UnitNames, place: UnitPlace, n: usize,
) -> Result<()> {
    let is_lstm = place.kind == NematusUnit::Lstm;
    let gates: &[&str] = if is_lstm { &["_i", "_f", "_g", "_o"] } else { &["_r", "_z", ""] };
    tensors.check(w, &[gates.len() * n, place.input])?;
    tensors.check(u, &[gates.len() * n, n])?;
    for (k, gate) in gates.iter().enumerate() {
        tensors.lend_rows(&format!("{ours}.W{gate}"), w, k * n, &[n, place.input])?;
        tensors.lend_rows(&format!("{ours}.U{gate}"), u, k * n, &[n, n])?;
        let (mut b, within) = (tensors.numbers(b_w, k * n, &[n])?, tensors.numbers(b_u, k * n, &[n])?);
        if is_lstm || !gate.is_empty() {
            b.iter_mut().zip(&within).for_each(|(b, within)| *b += within);
        } else {
            tensors.make(&format!("{ours}.b_u"), &[n], within);
        }
        tensors.make(&format!("{ours}.b{gate}"), &[n], b);
    }
    Ok(())
}

fn lend_ends(tensors: &mut ForeignTensors, names: &TorchNames, config: &Config, words: &ForeignWords) -> Result<()> {
    let k_y = config.target_vocabulary;
    words.lend_source(tensors, names.embeddings[0], config)?;
    if config.target_embedding() == "source_embedding" {
        tensors.leave(names.embeddings[1]);
    } else {
        tensors.lend("target_embedding", names.embeddings[1], &[k_y, config.embedding])?;
    }
    let weight = format!("{}.weight", names.output);
    if ties(tensors, names) {
        tensors.leave(&weight);
    } else {
        tensors.lend("readout.W_o", &weight, &[k_y, config.hidden])?;
    }
    tensors.lend_or_zeros("readout.b_o", &format!("{}.bias", names.output), 0, k_y)
}

fn ties(tensors: &ForeignTensors, names: &TorchNames) -> bool {
    tensors.same(names.embeddings[1], &format!("{}.weight", names.output))
}

pub fn lend_transformer(tensors: &mut ForeignTensors, names: &TorchNames, config: &Config) -> Result<()> {
    let Some(sizes) = config.transformer() else { return Ok(()) };
    let d = config.hidden;
    for ((side, count, inner), theirs) in sizes.stacks().into_iter().zip(names.layers) {
        let attentions: &[(&str, usize)] =
            if side == "encoder" { &[("self", 0)] } else { &[("self", 1), ("cross", 2)] };
        for l in 0..count {
            let (ours, theirs) = (format!("{side}.{}", l + 1), format!("{theirs}.{l}"));
            for (own, which) in attentions {
                let own = format!("{ours}.{own}");
                for (letter, map) in ["q", "k", "v", "o"].iter().zip(names.maps) {
                    let map = format!("{theirs}.{}.{map}", names.attentions[*which]);
                    names.lend_map(tensors, [&own, letter, &map], [d, d])?;
                }
                lend_norm(tensors, &own, &format!("{theirs}.{}", names.norms[*which]), d)?;
            }
            let (own, [first, second, norm]) =
                (format!("{ours}.feed"), names.feed.map(|part| format!("{theirs}.{part}")));
            names.lend_map(tensors, [&own, "1", &first], [inner, d])?;
            names.lend_map(tensors, [&own, "2", &second], [d, inner])?;
            lend_norm(tensors, &own, &norm, d)?;
        }
        if sizes.norm_first {
            lend_norm(tensors, side, &format!("{side}.layer_norm"), d)?;
        }
    }
    Ok(())
}

impl TorchNames {
    fn lend_map(
        &self, tensors: &mut ForeignTensors, [ours, letter, theirs]: [&str; 3], [out, input]: [usize; 2],
    ) -> Result<()> {
        tensors.lend(&format!("{ours}.W_{letter}"), &format!("{theirs}.weight"), &[out, input])?;
        let (ours, theirs) = (format!("{ours}.b_{letter}"), format!("{theirs}.bias"));
        if self.has_biases {
            tensors.lend(&ours, &theirs, &[out])
        } else {
            tensors.lend_or_zeros(&ours, &theirs, 0, out)
        }
    }
}

fn lend_norm(tensors: &mut ForeignTensors, ours: &str, theirs: &str, d: usize) -> Result<()> {
    tensors.lend(&format!("{ours}.norm.g"), &format!("{theirs}.weight"), &[d])?;
    tensors.lend(&format!("{ours}.norm.b"), &format!("{theirs}.bias"), &[d])
}

/// Sizes that the tensors of a recurrent model show, and the widths of its embedding and its decoder, whose tensors
/// `decoder` names; its score is general, and it starts in every layer.
pub fn recurrent_sizes(
    tensors: &ForeignTensors, names: &TorchNames, words: &ForeignWords, decoder: impl Fn(usize) -> UnitNames,
) -> Result<(OpenNmtSizes, [usize; 2])> {
    let [_, encoder_hidden] = tensors.matrix("encoder.rnn.weight_hh_l0")?;
    let [_, embedding] = tensors.matrix(names.embeddings[1])?;
    let [w, u, ..] = decoder(0);
    let [gates, hidden] = tensors.matrix(&u)?;
    let [_, read] = tensors.matrix(&w)?;
    let sizes = OpenNmtSizes {
        both_directions: tensors.has("encoder.rnn.weight_ih_l0_reverse"),
        unit: if gates == 4 * hidden { NematusUnit::Lstm } else { NematusUnit::GruCudnn },
        encoder_hidden,
        encoder_layers: tensors.layers(|l| format!("encoder.rnn.weight_ih_l{l}"))?,
        decoder_layers: tensors.layers(|l| decoder(l)[0].clone())?,
        start_state: DecoderStart::Layers,
        score: "general".into(),
        mixing: AttentionalMix::Tanh,
        input_feeding: read > embedding,
        shared_embedding: shares(tensors, names, words),
        tied_output: ties(tensors, names),
        start: start(tensors.path(), words)?,
    };
    Ok((sizes, [embedding, hidden]))
}

/// Sizes that the tensors of a Transformer show, with the mean of the last layer's heads as its alignment.
pub fn transformer_sizes(
    tensors: &mut ForeignTensors, names: &TorchNames, words: &ForeignWords, heads: usize, activation: Activation,
) -> Result<TransformerSizes> {
    let feed = |stack: &str, l: usize| format!("{stack}.{l}.{}.weight", names.feed[0]);
    let [encoder_layers, decoder_layers] = names.layers.map(|stack| tensors.layers(|l| feed(stack, l)));
    let decoder_layers = decoder_layers?;
    let [inner, decoder_inner] = names.layers.map(|stack| tensors.matrix(&feed(stack, 0)).map(|[inner, _]| inner));
    names.positions.iter().for_each(|name| tensors.squeeze(name));
    let [source, target] = names.positions.map(|name| tensors.matrix(name).map(|[rows, _]| rows));
    Ok(TransformerSizes {
        heads,
        encoder_layers: encoder_layers?,
        decoder_layers,
        feed_forward: inner?,
        decoder_feed_forward: decoder_inner?,
        norm_first: true,
        norm_epsilon: 1e-6,
        activation,
        cell: DecoderCell::SelfAttention,
        positions: Positions::Table,
        max_positions: source?.min(target?),
        scale_embedding: true,
        shared_embedding: shares(tensors, names, words),
        tied_output: ties(tensors, names),
        start: Some(start(tensors.path(), words)?),
        alignment_layer: decoder_layers,
        alignment_heads: (1..=heads).collect(),
        alignment_reason: AlignmentReason::Unknown,
    })
}

fn shares(tensors: &ForeignTensors, names: &TorchNames, words: &ForeignWords) -> bool {
    words.rows.is_empty() && tensors.same(names.embeddings[0], names.embeddings[1])
}

fn start(file: &Path, words: &ForeignWords) -> Result<u32> {
    let missing = || Error::file(file, "has no `<s>` among its target words, with which they begin");
    words.target.id("<s>").ok_or_else(missing)
}

/// The model of a checkpoint; `lend` hands on what only its recurrent models have.
pub fn finish(
    mut tensors: ForeignTensors, names: &TorchNames, (config, words): (Config, &ForeignWords), pieces: &SpmNames,
    mut card: ForeignCard, lend: fn(&mut ForeignTensors, &Config) -> Result<()>,
) -> Result<Foreign> {
    let file = tensors.path().to_owned();
    let config = Config::from_json(&file, &card.named(config).to_json())?;
    lend_ends(&mut tensors, names, &config, words)?;
    match config.transformer() {
        Some(sizes) => {
            for (ours, theirs) in ["source_positions", "target_positions"].iter().zip(names.positions) {
                tensors.lend_rows(ours, theirs, 0, &[sizes.max_positions, config.hidden])?;
            }
            lend_transformer(&mut tensors, names, &config)?;
        }
        None => lend(&mut tensors, &config)?,
    }
    let weights = tensors.finish()?;
    let pack = FilePack::folder(file.parent().unwrap_or(Path::new(".")));
    let (source, target) = tokenizers(&pack, "", words, pieces, &mut card)?;
    let card = card.markdown(&config);
    Ok(Foreign { config, weights, source, target, card, file })
}
