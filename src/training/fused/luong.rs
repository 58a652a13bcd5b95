//! The models of Luong et al. 2015, loss and gradient of one shard. The equations are in `models/luong.rs`.
//!
//! Dropout as Zaremba et al. 2015 apply it, on connections that do not recur: the embeddings, the
//! inputs of the upper layers, and h~_t (without attention the top h_t) before W_s. What input
//! feeding hands to the next step is not dropped.

use crate::fused::lstm::{GATES, LayerPacks, LstmLayer, LstmScan, weights_back};
use crate::fused::luong_attention::{LuongAttention, LuongAttentionPacks};
use crate::fused::pass::{Packs, ShardPass};
use crate::fused::workspace::{Buffer, Shard, apply_mask, gather, scatter};
use crate::fused::{parts::Both, parts::FusedParts, readout::ReadoutOutput};
use engine::models::config::{AttentionKind, Config, LuongSizes};
use engine::nn::fused::elementwise::{add, tanh_all};
use engine::nn::fused::{Factor, fill_rows, lstm};
use engine::nn::{bidirectional::Direction, fused::scan::two_slots};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct LuongPacks {
    encoder: Vec<LayerPacks>,
    decoder: Vec<StepPacks>,
    w_c: Both,
    attention: LuongAttentionPacks,
}

/// One decoder layer: its recurrent input and U.
#[derive(Debug, Default)]
struct StepPacks {
    /// What is multiplied at every step: W_f of the fed h~ in layer 0, all of W above.
    w: Both,
    u: Both,
}

impl StepPacks {
    fn repack(&mut self, model: &FusedParts<'_>, layer: usize, width: usize) {
        let n = model.config.hidden;
        let wide = GATES * n;
        let u = model.joined(&format!("decoder.{layer}.U_i"), wide * n);
        self.u.repack(model.precision, u, wide, n);
        if width >= n && (layer > 0 || width > model.config.embedding) {
            // the last n columns: h~ beside the embedding, or all there is
            let w = model.joined(&format!("decoder.{layer}.W_i"), wide * width);
            let fed: Vec<f32> = w.chunks_exact(width).flat_map(|row| &row[width - n..]).copied().collect();
            self.w.repack(model.precision, &fed, wide, n);
        }
    }
}

impl Packs for LuongPacks {
    fn repack(&mut self, model: FusedParts<'_>) {
        let config = model.config;
        let Some(sizes) = config.luong() else { return };
        let n = config.hidden;
        self.encoder.resize_with(sizes.layers, LayerPacks::default);
        self.decoder.resize_with(sizes.layers, StepPacks::default);
        let Self { encoder, decoder, w_c, attention } = self;
        rayon::scope(|scope| {
            for (layer, (encoder, decoder)) in encoder.iter_mut().zip(decoder).enumerate() {
                scope.spawn(move |_| encoder.repack(&model, &format!("encoder.{layer}")));
                scope.spawn(move |_| decoder.repack(&model, layer, width(config, sizes, layer)));
            }
            if sizes.attention != AttentionKind::None {
                scope.spawn(move |_| {
                    w_c.repack(model.precision, model.get("W_c"), n, 2 * n);
                    attention.repack(&model, sizes);
                });
            }
        });
    }

    fn step(&self, pass: &mut ShardPass<'_>) {
        let Some(sizes) = pass.model.config.luong() else { return };
        let job = Job { packs: self, sizes };
        let encoded = job.encode(pass);
        let unrolled = job.unroll(pass, &encoded);
        if let Some(d_top) = read_out(pass, &unrolled) {
            job.backward(pass, &encoded, &unrolled, d_top);
        }
    }
}

/// Columns of W of a decoder layer.
fn width(config: &Config, sizes: &LuongSizes, layer: usize) -> usize {
    match layer {
        0 if sizes.input_feeding => config.embedding + config.hidden,
        0 => config.embedding,
        _ => config.hidden,
    }
}

struct Encoded<'a> {
    x: Vec<Buffer<'a>>,
    masks: Vec<Option<Buffer<'a>>>,
    scans: Vec<LstmScan<'a>>,
}

/// One layer of the decoder over all steps, [t_y, b, ...] each.
struct Stacked<'a> {
    /// Inputs of W, [t_y, b, width]: [e(y_{t-1}); h~_{t-1}] or the state below, dropped.
    x: Buffer<'a>,
    mask: Option<Buffer<'a>>,
    /// [t_y + 1, b, n]
    h: Buffer<'a>,
    c: Buffer<'a>,
    gates: Buffer<'a>,
}

struct Unrolled<'a> {
    layers: Vec<Stacked<'a>>,
    /// h~_t, [t_y, b, n]; empty without attention.
    h_tilde: Buffer<'a>,
    /// [c_t; h_t], [t_y, b, 2n]; empty without attention.
    joined: Buffer<'a>,
    attention: Option<LuongAttention<'a>>,
}

impl Unrolled<'_> {
    /// h~_t of every step, or the top h_t without attention: [t_y, b, n].
    fn top(&self, size: usize) -> &[f32] {
        if self.h_tilde.is_empty() { &self.layers[self.layers.len() - 1].h[size..] } else { &self.h_tilde }
    }
}

/// log p of all real words; with options the gradient of h~ [t_y, b, n].
fn read_out<'a>(pass: &mut ShardPass<'a>, unrolled: &Unrolled<'_>) -> Option<Buffer<'a>> {
    let Shard { b, t_y, .. } = *pass.shard;
    let n = pass.model.config.hidden;
    let (words, top) = (pass.shard.words(), unrolled.top(b * n));
    let mut t = pass.buffers.take(words.len() * n);
    for (row, t) in words.iter().zip(t.chunks_exact_mut(n)) {
        t.copy_from_slice(&top[row * n..(row + 1) * n]);
    }
    let output = ReadoutOutput { matrix: "W_s", rank: None, bias: None, width: n };
    let dt = output.step(pass, &words, t)?;
    let mut d_top = pass.buffers.zeros(t_y * b * n);
    for (row, dt) in words.iter().zip(dt.chunks_exact(n)) {
        d_top[row * n..(row + 1) * n].copy_from_slice(dt);
    }
    Some(d_top)
}

#[derive(Clone, Copy)]
struct Job<'a> {
    packs: &'a LuongPacks,
    sizes: &'a LuongSizes,
}

impl Job<'_> {
    fn direction(&self) -> Direction {
        if self.sizes.reverse_source { Direction::Backward } else { Direction::Forward }
    }

    fn aligns(&self) -> bool {
        self.sizes.attention != AttentionKind::None
    }

    fn encoder_layer<'b>(&'b self, config: &Config, layer: usize, prefix: &'b str) -> LstmLayer<'b> {
        let width = if layer == 0 { config.embedding } else { config.hidden };
        LstmLayer { prefix, packs: &self.packs.encoder[layer], direction: self.direction(), width }
    }

    fn encode<'a>(&self, pass: &mut ShardPass<'a>) -> Encoded<'a> {
        let Shard { b, t_x, .. } = *pass.shard;
        let FusedParts { config, .. } = pass.model;
        let mut encoded = Encoded { x: Vec::new(), masks: Vec::new(), scans: Vec::new() };
        for layer in 0..self.sizes.layers {
            let prefix = format!("encoder.{layer}");
            let unit = self.encoder_layer(config, layer, &prefix);
            let mask = pass.dropped(t_x * b * unit.width);
            let mut x = pass.buffers.take(t_x * b * unit.width);
            match encoded.scans.last() {
                None => gather(pass.model.get("source_embedding"), &pass.shard.x, mask.as_deref(), &mut x),
                Some(below) => {
                    x.copy_from_slice(below.outputs(self.direction(), b * config.hidden));
                    apply_mask(mask.as_deref(), &mut x);
                }
            }
            encoded.scans.push(unit.forward(pass, &x));
            encoded.x.push(x);
            encoded.masks.push(mask);
        }
        encoded
    }

    /// y_{t-1} of every step, `start` first: [t_y, b].
    fn previous(&self, shard: &Shard) -> Vec<u32> {
        let Shard { b, t_y, .. } = *shard;
        let mut ids = vec![self.sizes.start; b];
        ids.extend_from_slice(&shard.y[..(t_y - 1) * b]);
        ids
    }

    fn prepare<'a>(&self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>) -> Vec<Stacked<'a>> {
        let Shard { b, t_x, t_y, .. } = *pass.shard;
        let FusedParts { config, .. } = pass.model;
        let (n, m) = (config.hidden, config.embedding);
        let (rows, wide) = (t_y * b, GATES * n);
        let mut layers = Vec::new();
        for layer in 0..self.sizes.layers {
            let width = width(config, self.sizes, layer);
            let mask = pass.dropped(rows * if layer == 0 { m } else { n });
            let (x, gates) = (pass.buffers.take(rows * width), pass.buffers.take(rows * wide));
            let [h, c] = [(t_y + 1) * b * n; 2].map(|length| pass.buffers.take(length));
            let mut stacked = Stacked { x, mask, h, c, gates };
            let last = LstmScan::last(self.direction(), t_x) * b * n;
            stacked.h[..b * n].copy_from_slice(&encoded.scans[layer].h[last..last + b * n]);
            stacked.c[..b * n].copy_from_slice(&encoded.scans[layer].c[last..last + b * n]);
            fill_rows(pass.model.joined(&format!("decoder.{layer}.b_i"), wide), &mut stacked.gates);
            if layer == 0 {
                let mut e = pass.buffers.take(rows * m);
                gather(pass.model.get("target_embedding"), &self.previous(pass.shard), stacked.mask.as_deref(), &mut e);
                let w = Factor::transposed(pass.model.joined("decoder.0.W_i", wide * width), width);
                pass.model.precision.product(rows, wide, m, Factor::plain(&e, m), w, &mut stacked.gates, true);
                for (x, e) in stacked.x.chunks_exact_mut(width).zip(e.chunks_exact(m)) {
                    x[..m].copy_from_slice(e);
                }
            }
            layers.push(stacked);
        }
        layers
    }

    fn unroll<'a>(&self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>) -> Unrolled<'a> {
        let Shard { b, t_y, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let mut layers = self.prepare(pass, encoded);
        let rows = if self.aligns() { t_y * b } else { 0 };
        let mut h_tilde = pass.buffers.take(rows * n);
        let mut joined = pass.buffers.take(rows * 2 * n);
        let attention = self.aligns().then(|| {
            let h = encoded.scans[self.sizes.layers - 1].outputs(self.direction(), b * n);
            LuongAttention::new(pass, h)
        });
        let mut attention = attention.flatten();
        let mut feed = pass.buffers.zeros(b * n);
        for i in 0..t_y {
            self.step_layers(pass, i, &mut layers, &feed);
            let at = i * b * n..(i + 1) * b * n;
            let top = &layers[self.sizes.layers - 1].h[(i + 1) * b * n..(i + 2) * b * n];
            if let Some(attention) = &mut attention {
                let joined = &mut joined[i * b * 2 * n..(i + 1) * b * 2 * n];
                attention.step(pass.model, &self.packs.attention, i, top, joined);
                // h~_t = tanh(W_c [c_t; h_t])
                let h_tilde = &mut h_tilde[at];
                self.packs.w_c.forward.apply(b, joined, 2 * n, h_tilde, n, false);
                tanh_all(h_tilde);
                feed.copy_from_slice(h_tilde);
            } else {
                feed.copy_from_slice(top);
            }
        }
        Unrolled { layers, h_tilde, joined, attention }
    }

    fn step_layers(&self, pass: &ShardPass<'_>, i: usize, layers: &mut [Stacked<'_>], feed: &[f32]) {
        let b = pass.shard.b;
        let (n, m) = (pass.model.config.hidden, pass.model.config.embedding);
        let wide = GATES * n;
        for layer in 0..layers.len() {
            let packs = &self.packs.decoder[layer];
            let (below, here) = layers.split_at_mut(layer);
            let stacked = &mut here[0];
            let gates = &mut stacked.gates[i * b * wide..(i + 1) * b * wide];
            match below.last() {
                Some(below) => {
                    let x = &mut stacked.x[i * b * n..(i + 1) * b * n];
                    x.copy_from_slice(&below.h[(i + 1) * b * n..(i + 2) * b * n]);
                    apply_mask(stacked.mask.as_ref().map(|mask| &mask[i * b * n..(i + 1) * b * n]), x);
                    packs.w.forward.apply(b, x, n, gates, wide, true);
                }
                None if self.sizes.input_feeding => {
                    let width = m + n;
                    let rows = stacked.x[i * b * width..(i + 1) * b * width].chunks_exact_mut(width);
                    rows.zip(feed.chunks_exact(n)).for_each(|(x, feed)| x[m..].copy_from_slice(feed));
                    packs.w.forward.apply(b, feed, n, gates, wide, true);
                }
                None => {}
            }
            let (h, h_next) = two_slots(&mut stacked.h, i, i + 1, b * n);
            let (c, c_next) = two_slots(&mut stacked.c, i, i + 1, b * n);
            packs.u.forward.apply(b, h, n, gates, wide, true);
            lstm::cell(n, gates, c, h, None, c_next, h_next);
        }
    }

    fn backward<'a>(
        &self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>, unrolled: &Unrolled<'a>, mut d_top: Buffer<'a>,
    ) {
        let Shard { b, t_x, t_y, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let layers = self.sizes.layers;
        let mut back = Back {
            d_pre: (0..layers).map(|_| pass.buffers.take(t_y * b * GATES * n)).collect(),
            dh: (0..layers).map(|_| pass.buffers.zeros(b * n)).collect(),
            dc: (0..layers).map(|_| pass.buffers.zeros(b * n)).collect(),
            d_feed: pass.buffers.zeros(b * n),
            next: pass.buffers.take(b * n),
            d_joined: pass.buffers.take(if self.aligns() { b * 2 * n } else { 0 }),
        };
        let mut d_attention = unrolled.attention.as_ref().map(|attention| attention.backward(pass));
        for i in (0..t_y).rev() {
            let d = &mut d_top[i * b * n..(i + 1) * b * n];
            add(&back.d_feed, d);
            if let (Some(attention), Some(d_attention)) = (&unrolled.attention, &mut d_attention) {
                // through tanh: d becomes the gradient of W_c [c_t; h_t]
                for (d, t) in d.iter_mut().zip(&unrolled.h_tilde[i * b * n..(i + 1) * b * n]) {
                    *d *= 1.0 - t * t;
                }
                self.packs.w_c.back.apply(b, d, n, &mut back.d_joined, 2 * n, false);
                let top = &mut back.dh[layers - 1];
                attention.step_back(pass, &self.packs.attention, i, &back.d_joined, d_attention, top);
            } else {
                add(d, &mut back.dh[layers - 1]);
            }
            self.step_back(pass, i, unrolled, &mut back);
        }
        if self.aligns() {
            pass.matrix_back("W_c", [n, 2 * n], t_y * b, &d_top, &unrolled.joined);
        }
        self.decoder_weights(pass, unrolled, &back);
        let mut dh = pass.buffers.zeros(t_x * b * n);
        if let (Some(attention), Some(d_attention)) = (&unrolled.attention, d_attention) {
            let top = &unrolled.layers[layers - 1].h[b * n..];
            attention.finish_back(pass, d_attention, top, &mut dh);
        }
        self.encode_back(pass, encoded, dh, &mut back);
    }

    /// All layers at step `i`, from the top; leaves the gradient of h~_{t-1} in `d_feed`.
    fn step_back(&self, pass: &ShardPass<'_>, i: usize, unrolled: &Unrolled<'_>, back: &mut Back<'_>) {
        let (b, n) = (pass.shard.b, pass.model.config.hidden);
        let wide = GATES * n;
        back.d_feed.fill(0.0);
        for layer in (0..unrolled.layers.len()).rev() {
            let (stacked, packs) = (&unrolled.layers[layer], &self.packs.decoder[layer]);
            let at = i * b * wide..(i + 1) * b * wide;
            let (gates, d_pre) = (&stacked.gates[at.clone()], &mut back.d_pre[layer][at]);
            let c = |slot: usize| &stacked.c[slot * b * n..(slot + 1) * b * n];
            let (below, here) = back.dh.split_at_mut(layer);
            lstm::cell_back(n, gates, c(i), c(i + 1), &here[0], None, &mut back.dc[layer], d_pre, &mut back.next);
            packs.u.back.apply(b, d_pre, wide, &mut back.next, n, true);
            std::mem::swap(&mut here[0], &mut back.next);
            match below.last_mut() {
                Some(below) => {
                    packs.w.back.apply(b, d_pre, wide, &mut back.next, n, false);
                    apply_mask(stacked.mask.as_ref().map(|mask| &mask[i * b * n..(i + 1) * b * n]), &mut back.next);
                    add(&back.next, below);
                }
                None if self.sizes.input_feeding => packs.w.back.apply(b, d_pre, wide, &mut back.d_feed, n, false),
                None => {}
            }
        }
    }

    fn decoder_weights(&self, pass: &mut ShardPass<'_>, unrolled: &Unrolled<'_>, back: &Back<'_>) {
        let Shard { b, t_y, .. } = *pass.shard;
        let FusedParts { config, .. } = pass.model;
        let (n, m) = (config.hidden, config.embedding);
        let (rows, wide) = (t_y * b, GATES * n);
        for (layer, stacked) in unrolled.layers.iter().enumerate() {
            let width = width(config, self.sizes, layer);
            weights_back(pass, &format!("decoder.{layer}"), width, &back.d_pre[layer], &stacked.x, &stacked.h);
        }
        let width = width(config, self.sizes, 0);
        let mut de = pass.buffers.take(rows * m);
        let w = Factor::plain(pass.model.joined("decoder.0.W_i", wide * width), width);
        let d_pre = Factor::plain(&back.d_pre[0], wide);
        pass.model.precision.product(rows, m, wide, d_pre, w, &mut de, false);
        apply_mask(unrolled.layers[0].mask.as_deref(), &mut de);
        scatter(&self.previous(pass.shard), &de, pass.gradient_of("target_embedding"));
    }

    /// Through the encoder, from the top layer; `dh` is the gradient of the annotations [t_x, b, n].
    fn encode_back<'a>(
        &self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>, mut dh: Buffer<'a>, back: &mut Back<'a>,
    ) {
        for layer in (0..self.sizes.layers).rev() {
            let prefix = format!("encoder.{layer}");
            let unit = self.encoder_layer(pass.model.config, layer, &prefix);
            let last = (&mut back.dh[layer], &mut *back.dc[layer]);
            dh = unit.backward(pass, &encoded.scans[layer], &encoded.x[layer], &dh, last);
            apply_mask(encoded.masks[layer].as_deref(), &mut dh);
        }
        scatter(&pass.shard.x, &dh, pass.gradient_of("source_embedding"));
    }
}

/// Gradients on their way back through the steps; those of states are of one step, [b, n].
struct Back<'a> {
    /// Of the pre-activations of each layer, [t_y, b, 4n].
    d_pre: Vec<Buffer<'a>>,
    dh: Vec<Buffer<'a>>,
    dc: Vec<Buffer<'a>>,
    d_feed: Buffer<'a>,
    next: Buffer<'a>,
    /// Of [c_t; h_t], [b, 2n].
    d_joined: Buffer<'a>,
}
