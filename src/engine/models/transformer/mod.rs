//! The Transformer of Vaswani et al. 2017, as others train it.
//!
//! | paper | here | shape |
//! |---|---|---|
//! | d_model, d_ff, h | `hidden`, `feed_forward`, `heads` | |
//! | what the encoder gives | `annotations.h`, h_j of source word j | [b, t_x, d] |
//! | K and V of the cross-attention of every decoder layer | `annotations.keys` | [b, t_x, 2 d layers] |
//! | K and V of the decoder's words before, a layer | `state` | [rows, i, d] each |
//! | e_ij, alpha_ij | those of the heads that are the alignment; alpha is their mean | [rows, t_x] |
//!
//! Wiring of a layer, post-norm: x <- norm(x + sublayer(x)); pre-norm: x <- x + sublayer(norm(x)), and a norm after the
//! last layer. Sublayers: self-attention, in the decoder cross-attention, and W_2 f(W_1 x + b_1) + b_2. The decoder may
//! read the words before with an SSRU in place of self-attention: f_t = sigma(W_f x_t + b_f),
//! c_t = f_t c_{t-1} + (1 - f_t) W x_t, relu(c_t).
//!
//! A step stops at the cross-attention of the alignment layer: that is its first half. The second half goes on from the
//! weights that stand there; where a caller changed alpha_i, all heads that are the alignment look as it says.

pub mod heads;
mod layers;
pub mod sizes;

use candle_core::{D, Tensor};

use crate::attention::{self, AttentionKind};
use crate::error::{Error, Result};
use crate::models::batch::{Batch, embed_previous};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::loss::{Hidden, Regularizer, Trainable};
use crate::models::readable::{AlignedStep, Annotations, State, Step, TranslationModel};
use crate::models::transformer::heads::{HeadChanges, HeadKind};
use crate::models::transformer::layers::{
    DecoderBlock, EncoderBlock, LayerNorm, LayerSetting, gated, heads_of, together,
};
use crate::models::transformer::sizes::{DecoderCell, Positions, TransformerSizes, position, too_long};
use crate::models::{anatomy, fused};
use crate::models::{config::Config, config::required, header::Shapes};
use crate::nn::linear::{Parameters, RoundingMatrix};
use crate::nn::softmax::{log_softmax, masked};
use crate::nn::trace::Trace;

pub const ENTRY: ModelEntry = ModelEntry {
    name: "transformer",
    citation: "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin 2017, Attention Is All You Need",
    needs: &[
        "heads", "encoder_layers", "decoder_layers", "feed_forward", "decoder_feed_forward", "norm_first",
        "norm_epsilon", "activation", "decoder_cell", "positions", "scale_embedding", "shared_embedding",
        "tied_output", "alignment_layer", "alignment_heads", "alignment_reason",
    ],
    may: &["start", "max_positions"],
    shapes,
    readable: |config, all| Ok(Box::new(Transformer::new(config, all)?)),
    fused: |_| Some(fused::transformer::pack_model),
    looks: |_| attention::find("scaled-dot").map(|score| AlignmentMode { kind: AttentionKind::Global, score }),
    input_delay: Some(1),
    annotation: |config| config.hidden,
    one_context: |_| false,
    anatomy: Some(&anatomy::transformer::PLAN),
    gain: |_| 1.0,
};

/// A Transformer over candle tensors.
pub struct Transformer {
    config: Config,
    sizes: TransformerSizes,
    source_embedding: Tensor, // [K_x, d]
    target_embedding: Tensor, // [K_y, d]
    source_positions: Option<Tensor>,
    target_positions: Option<Tensor>,
    encoder: Vec<EncoderBlock>,
    decoder: Vec<DecoderBlock>,
    encoder_norm: Option<LayerNorm>,
    decoder_norm: Option<LayerNorm>,
    w_o: RoundingMatrix, // [K_y, d]
    b_o: Tensor,         // [K_y]
    trace: Trace,
}

struct Halfway {
    /// What the alignment layer's cross-attention is added to, [rows, d].
    x: Tensor,
    /// The weights of all heads there, [rows, heads, t_x].
    weights: Tensor,
    states: Vec<Tensor>,
}

impl Transformer {
    pub fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let sizes = required(config.transformer(), "a transformer")?;
        let setting = LayerSetting::of(&sizes);
        let by_table = sizes.positions == Positions::Table;
        let table = |name: &str| by_table.then(|| all.get(name)).transpose();
        let norm = |name: &str| sizes.norm_first.then(|| LayerNorm::find(&all.at(name), setting)).transpose();
        let readout = all.at("readout");
        let (encoder, decoder) = (all.at("encoder"), all.at("decoder"));
        let has_cell = sizes.cell == DecoderCell::Ssru;
        let decoders = 1..=sizes.decoder_layers;
        Ok(Self {
            source_positions: table("source_positions")?,
            target_positions: table("target_positions")?,
            encoder: (1..=sizes.encoder_layers)
                .map(|l| EncoderBlock::find(&encoder.at(&l.to_string()), setting))
                .collect::<Result<_>>()?,
            decoder: decoders
                .map(|l| DecoderBlock::find(&decoder.at(&l.to_string()), setting, has_cell))
                .collect::<Result<_>>()?,
            encoder_norm: norm("encoder.norm")?,
            decoder_norm: norm("decoder.norm")?,
            w_o: if sizes.tied_output { all.matrix(config.target_embedding())? } else { readout.matrix("W_o")? },
            b_o: readout.get("b_o")?,
            config: config.clone(),
            sizes,
            source_embedding: all.get("source_embedding")?,
            target_embedding: all.get(config.target_embedding())?,
            trace: all.trace(),
        })
    }

    /// x_t = e(w) sqrt(d) + position t, for embeddings `e` [.., words, d] at positions from `first`.
    fn place(&self, e: &Tensor, first: usize, table: Option<&Tensor>) -> Result<Tensor> {
        let (words, d) = (e.dim(D::Minus2)?, self.config.hidden);
        let e = if self.sizes.scale_embedding { (e * (d as f64).sqrt())? } else { e.clone() };
        let rows = match table {
            Some(table) if first + words <= table.dim(0)? => table.narrow(0, first, words)?,
            Some(table) => return Err(too_long(table.dim(0)?)),
            None => {
                let numbers: Vec<f32> =
                    (first..first + words).flat_map(|t| position(self.sizes.positions, t, d)).collect();
                Tensor::from_vec(numbers, (words, d), e.device())?.to_dtype(e.dtype())?
            }
        };
        Ok(e.broadcast_add(&rows)?)
    }

    fn annotate(&self, source: &Batch, changes: &[HeadChanges], regularizer: &mut Regularizer) -> Result<Annotations> {
        let e = source.embed(&self.source_embedding)?.transpose(0, 1)?.contiguous()?; // [b, t_x, d]
        let mask = source.mask(e.dtype(), e.device())?; // [b, t_x]
        let mut x = regularizer.drop(&self.place(&e, 0, self.source_positions.as_ref())?)?;
        self.trace.note("e", &x);
        for (l, layer) in self.encoder.iter().enumerate() {
            let gate = self.gate(changes, HeadKind::Source, l, &x)?;
            x = layer.read(&x, &mask, gate.as_ref())?;
            self.trace.note(&format!("encoder.{}.x", l + 1), &x);
        }
        let h = self.encoder_norm.as_ref().map_or(Ok(x.clone()), |norm| norm.apply(&x))?; // [b, t_x, d]
        let keys = self.decoder.iter().map(|layer| layer.cross.keys_and_values(&h)).collect::<Result<Vec<_>>>()?;
        let own = &keys[self.sizes.alignment_layer - 1];
        let d = self.config.hidden;
        self.trace.note("k", &own.narrow(2, 0, d)?);
        self.trace.note("v", &own.narrow(2, d, d)?);
        let keys = Tensor::cat(&keys, 2)?; // [b, t_x, 2 d layers]
        let mask = unmasked(mask, changes)?;
        let changes = changes.to_vec();
        Ok(Annotations { h, keys: Some(keys), last: Vec::new(), mask, lengths: source.lengths.clone(), changes })
    }

    /// K and V of a decoder layer's cross-attention, from 0, [b, heads, t_x, d/heads] each.
    fn memory(&self, layer: usize, annotations: &Annotations) -> Result<(Tensor, Tensor)> {
        let (d, heads) = (self.config.hidden, self.sizes.heads);
        let Some(keys) = &annotations.keys else {
            return Err(Error::Internal("the keys of a transformer are missing".into()));
        };
        let part = |n: usize| heads_of(&keys.narrow(2, (2 * layer + n) * d, d)?, heads);
        Ok((part(0)?, part(1)?))
    }

    /// Energies e_ij and weights of all heads of cross-attention, [rows, heads, t_x] each, for the state `x` [rows, d].
    fn weigh(&self, layer: usize, x: &Tensor, annotations: &Annotations) -> Result<(Tensor, Tensor)> {
        let (keys, _) = self.memory(layer, annotations)?;
        let (q, e_i) = self.decoder[layer].cross.energies(x, &keys)?;
        if layer + 1 == self.sizes.alignment_layer {
            self.trace.note("q", &q);
        }
        let mask = annotations.mask.unsqueeze(1)?;
        let mut alpha_i = masked(&e_i, &mask)?;
        if !annotations.changes.is_empty() {
            // where every word is masked, nothing is looked at
            alpha_i = alpha_i.broadcast_mul(&mask)?;
        }
        Ok((e_i, alpha_i))
    }

    /// The rest of a layer from the weights of its cross-attention, and c_i, the heads' sums side by side.
    fn finish(
        &self, layer: usize, x: &Tensor, weights: &Tensor, annotations: &Annotations,
    ) -> Result<(Tensor, Tensor)> {
        let (_, values) = self.memory(layer, annotations)?;
        let part = &self.decoder[layer];
        let gate = self.gate(&annotations.changes, HeadKind::Cross, layer, x)?;
        let sums = gated(&weights.unsqueeze(2)?.broadcast_matmul(&values)?, gate.as_ref())?; // [rows, heads, 1, d_k]
        let c_i = together(&sums)?.squeeze(1)?; // [rows, d]
        let looked = part.cross.add(x, &c_i)?;
        let fed = part.feed(&looked)?;
        if layer + 1 == self.sizes.alignment_layer {
            self.trace.note("looked", &looked);
            self.trace.note("fed", &fed);
        }
        Ok((fed, c_i))
    }

    /// 0 at the heads that a sentence leaves out, else 1, [b, heads, 1, 1]; `None` if all take part; `layer` from 0.
    fn gate(&self, changes: &[HeadChanges], kind: HeadKind, layer: usize, like: &Tensor) -> Result<Option<Tensor>> {
        let heads = self.sizes.heads;
        let mut gates = vec![1.0f32; changes.len() * heads];
        for (gates, changes) in gates.chunks_exact_mut(heads).zip(changes) {
            changes.left_out_of(kind, layer + 1).for_each(|head| gates[head - 1] = 0.0);
        }
        if gates.iter().all(|gate| *gate == 1.0) {
            return Ok(None);
        }
        let gates = Tensor::from_vec(gates, (changes.len(), heads, 1, 1), like.device())?;
        Ok(Some(gates.to_dtype(like.dtype())?))
    }

    /// What the decoder reads at a step, [rows, d].
    fn read(&self, y_prev: Option<&[u32]>, i: usize, rows: usize) -> Result<Tensor> {
        let start = self.sizes.start.map(|start| vec![start; rows]);
        let e = embed_previous(&self.target_embedding, y_prev.or(start.as_deref()), rows)?;
        let e = e.unsqueeze(1)?; // [rows, 1, d]
        Ok(self.place(&e, i, self.target_positions.as_ref())?.squeeze(1)?)
    }

    fn parts(&self) -> usize {
        if self.sizes.cell == DecoderCell::Ssru { 1 } else { 2 }
    }

    fn state_of<'a>(&self, layer: usize, s: &'a State) -> &'a [Tensor] {
        let parts = self.parts();
        if s.i == 0 { &[] } else { &s.tensors[layer * parts..(layer + 1) * parts] }
    }

    fn first_half(&self, x: Tensor, s: &State, annotations: &Annotations) -> Result<(Tensor, Halfway)> {
        let at = self.sizes.alignment_layer - 1;
        let (mut x, mut states) = (x, Vec::new());
        for (l, layer) in self.decoder[..=at].iter().enumerate() {
            let gate = self.gate(&annotations.changes, HeadKind::Target, l, &x)?;
            x = layer.look_back(&x, gate.as_ref(), self.state_of(l, s), &mut states)?;
            if l < at {
                let (_, weights) = self.weigh(l, &x, annotations)?;
                x = self.finish(l, &x, &weights, annotations)?.0;
            }
        }
        self.trace.note("back", &x);
        let (e_i, weights) = self.weigh(at, &x, annotations)?;
        Ok((e_i, Halfway { x, weights, states }))
    }

    fn second_half(
        &self, half: Halfway, s: &State, annotations: &Annotations,
    ) -> Result<(Tensor, Tensor, Vec<Tensor>)> {
        let at = self.sizes.alignment_layer - 1;
        let mut states = half.states;
        let (mut x, c_i) = self.finish(at, &half.x, &half.weights, annotations)?;
        for (l, layer) in self.decoder.iter().enumerate().skip(at + 1) {
            let gate = self.gate(&annotations.changes, HeadKind::Target, l, &x)?;
            x = layer.look_back(&x, gate.as_ref(), self.state_of(l, s), &mut states)?;
            let (_, weights) = self.weigh(l, &x, annotations)?;
            x = self.finish(l, &x, &weights, annotations)?.0;
        }
        let t = self.decoder_norm.as_ref().map_or(Ok(x.clone()), |norm| norm.apply(&x))?;
        self.trace.note("t", &t);
        Ok((t, c_i, states))
    }

    /// alpha_i, the mean of the heads that are the alignment, [rows, t_x].
    fn mean(&self, weights: &Tensor) -> Result<Tensor> {
        let chosen = &self.sizes.alignment_heads;
        let mut sum = weights.narrow(1, chosen[0] - 1, 1)?;
        for head in &chosen[1..] {
            sum = (sum + weights.narrow(1, head - 1, 1)?)?;
        }
        let sum = sum.squeeze(1)?;
        Ok(if chosen.len() == 1 { sum } else { (sum / chosen.len() as f64)? })
    }

    /// Sets the weights of the alignment heads to `alpha_i` in the rows where it is not their mean.
    fn set(&self, weights: &Tensor, alpha_i: &Tensor) -> Result<Tensor> {
        let apart = (alpha_i - self.mean(weights)?)?.abs()?.max_keepdim(1)?.gt(0.0)?; // [rows, 1]
        let (apart, alpha_i) = (apart.unsqueeze(1)?, alpha_i.unsqueeze(1)?);
        let head = |head: usize| {
            let own = weights.narrow(1, head - 1, 1)?;
            if !self.sizes.alignment_heads.contains(&head) {
                return Ok(own);
            }
            Ok(apart.broadcast_as(own.shape())?.where_cond(&alpha_i, &own)?)
        };
        let heads = (1..=self.sizes.heads).map(head).collect::<Result<Vec<_>>>()?;
        Ok(Tensor::cat(&heads, 1)?)
    }
}

impl TranslationModel for Transformer {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?, &[], &mut Regularizer::none())
    }

    fn encode_changed(&self, source: &[&[u32]], changes: &[HeadChanges]) -> Result<Annotations> {
        let changes = self.sizes.changes_for(changes, source)?;
        self.annotate(&Batch::new(source)?, &changes, &mut Regularizer::none())
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        Ok(State { tensors: vec![self.read(None, 0, annotations.h.dim(0)?)?], i: 0 })
    }

    fn seen(&self, _: &State) -> Option<Tensor> {
        None
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let rows = s_prev.tensors[0].dim(0)?;
        let x = self.read(y_prev, s_prev.i, rows)?;
        self.trace.note("y", &x);
        let (e_i, half) = self.first_half(x, s_prev, annotations)?;
        let alpha_i = self.mean(&half.weights)?;
        // the mean of several heads is the softmax of no energies
        let e_i = match self.sizes.alignment_heads.as_slice() {
            [head] => e_i.narrow(1, head - 1, 1)?.squeeze(1)?,
            _ => alpha_i.affine(0.0, f64::NAN)?,
        };
        // the states before, and behind them the half step
        let tensors = [&s_prev.tensors[..], &half.states, &[half.x, half.weights]].concat();
        let s = State { tensors, i: s_prev.i };
        Ok(AlignedStep { s, e_i: Some(e_i), alpha_i: Some(alpha_i), p_t: None })
    }

    fn predict(&self, _: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let known = self.parts() * self.sizes.alignment_layer;
        let (before, half) = aligned.s.tensors.split_at(aligned.s.tensors.len() - known - 2);
        let (states, [x, weights]) = half.split_at(known) else {
            return Err(Error::Internal("half a step was expected".into()));
        };
        let weights = self.set(weights, aligned.alpha()?)?;
        let half = Halfway { x: x.clone(), weights, states: states.to_vec() };
        let s_prev = State { tensors: before.to_vec(), i: aligned.s.i };
        let (t, c_i, tensors) = self.second_half(half, &s_prev, annotations)?;
        let log_p = log_softmax(&self.logits(&t)?)?;
        Ok(Step { s: State { tensors, i: aligned.s.i + 1 }, c_i: Some(c_i), log_p })
    }
}

impl Trainable for Transformer {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source, &[], regularizer)?;
        let mut s = self.init_state(&annotations)?;
        let (mut hidden, mut alpha) = (Vec::new(), Vec::new());
        let b = target.sentences();
        for i in 0..target.longest {
            let y_prev = i.checked_sub(1).map(|before| &target.ids[before * b..(before + 1) * b]);
            let x = regularizer.drop(&self.read(y_prev, i, b)?)?;
            let (_, half) = self.first_half(x, &s, &annotations)?;
            alpha.push(self.mean(&half.weights)?);
            let (t, _, tensors) = self.second_half(half, &s, &annotations)?;
            hidden.push(t);
            s = State { tensors, i: i + 1 };
        }
        Ok(Hidden { rows: target.rows_of_words(&Tensor::cat(&hidden, 0)?)?, alpha })
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        self.w_o.affine(&self.b_o, t)
    }
}

fn unmasked(mask: Tensor, changes: &[HeadChanges]) -> Result<Tensor> {
    if changes.iter().all(|changes| changes.masked.is_empty()) {
        return Ok(mask);
    }
    let t_x = mask.dim(1)?;
    let mut seen = vec![1.0f32; changes.len() * t_x];
    for (seen, changes) in seen.chunks_exact_mut(t_x).zip(changes) {
        changes.masked.iter().for_each(|j| seen[*j] = 0.0);
    }
    Ok((&mask * Tensor::from_vec(seen, mask.shape(), mask.device())?.to_dtype(mask.dtype())?)?)
}

/// K vocabulary, d width; matrices are \[out, in\].
pub fn shapes(config: &Config) -> Shapes {
    let Some(sizes) = config.transformer() else { return Shapes::new() };
    let (d, k_x, k_y) = (config.hidden, config.source_vocabulary, config.target_vocabulary);
    let mut shapes = Shapes::new();
    let mut add = |name: String, shape: &[usize]| shapes.push((name, shape.to_vec()));
    add("source_embedding".into(), &[k_x, d]);
    if !sizes.shared_embedding {
        add("target_embedding".into(), &[k_y, d]);
    }
    if sizes.positions == Positions::Table {
        add("source_positions".into(), &[sizes.max_positions, d]);
        add("target_positions".into(), &[sizes.max_positions, d]);
    }
    for (side, count, inner) in sizes.stacks() {
        for l in 1..=count {
            let attention: &[&str] = match (side, sizes.cell) {
                ("encoder", _) => &["self"],
                (_, DecoderCell::SelfAttention) => &["self", "cross"],
                (_, DecoderCell::Ssru) => &["cross"],
            };
            let mut sublayer = |part: &str, matrices: &[(&str, [usize; 2])]| {
                for (name, [out, input]) in matrices {
                    add(format!("{side}.{l}.{part}.W{name}"), &[*out, *input]);
                    if (part, *name) != ("ssru", "") {
                        add(format!("{side}.{l}.{part}.b{name}"), &[*out]);
                    }
                }
                add(format!("{side}.{l}.{part}.norm.g"), &[d]);
                add(format!("{side}.{l}.{part}.norm.b"), &[d]);
            };
            if side == "decoder" && sizes.cell == DecoderCell::Ssru {
                sublayer("ssru", &[("", [d, d]), ("_f", [d, d])]);
            }
            for part in attention {
                sublayer(part, &["_q", "_k", "_v", "_o"].map(|which| (which, [d, d])));
            }
            sublayer("feed", &[("_1", [inner, d]), ("_2", [d, inner])]);
        }
        if sizes.norm_first {
            add(format!("{side}.norm.g"), &[d]);
            add(format!("{side}.norm.b"), &[d]);
        }
    }
    if !sizes.tied_output {
        add("readout.W_o".into(), &[k_y, d]);
    }
    add("readout.b_o".into(), &[k_y]);
    shapes
}
