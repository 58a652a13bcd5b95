//! Floor 6: the models of Luong et al. 2015, loss and gradient of one shard. The equations are in `models/luong.rs`.
//!
//! Dropout as Zaremba et al. 2015 apply it, on connections that do not recur: the embeddings, the
//! inputs of the upper layers, and h~_t (without attention the top h_t) before W_s. What input
//! feeding hands to the next step is not dropped.

use crate::models::config::{AttentionKind, Config, LuongSizes};
use crate::nn::fused::elementwise::{add, tanh_all};
use crate::nn::fused::scan::{ScanDirection, two_slots};
use crate::nn::fused::{Factor, fill_rows, lstm};
use crate::training::fused::both::Both;
use crate::training::fused::embedding::dropped;
use crate::training::fused::lstm::{GATES, LayerPacks, LstmLayer, LstmScan, weights_back};
use crate::training::fused::luong_attention::LuongAttention;
use crate::training::fused::parts::FusedParts;
use crate::training::fused::workspace::{apply_mask, gather, scatter};
use crate::training::fused::{BatchLoss, Noise, Shard, StepOptions, TrainingScratch, luong_attention, readout};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct LuongPacks {
    encoder: Vec<LayerPacks>,
    decoder: Vec<StepPacks>,
    w_c: Both,
    attention: luong_attention::LuongAttentionPacks,
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

impl LuongPacks {
    /// Packs again after an update.
    pub fn repack(&mut self, model: FusedParts<'_>) {
        let config = model.config;
        let Some(sizes) = &config.luong else { return };
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
}

/// Columns of W of a decoder layer.
fn width(config: &Config, sizes: &LuongSizes, layer: usize) -> usize {
    match layer {
        0 if sizes.input_feeding => config.embedding + config.hidden,
        0 => config.embedding,
        _ => config.hidden,
    }
}

/// What the encoder leaves: inputs, masks and scans of its layers, from below.
struct Encoded {
    x: Vec<Vec<f32>>,
    masks: Vec<Option<Vec<f32>>>,
    scans: Vec<LstmScan>,
}

/// One layer of the decoder over all steps, [t_y, b, ...] each.
struct Stacked {
    /// Inputs of W, [t_y, b, width]: [e(y_{t-1}); h~_{t-1}] or the state below, dropped.
    x: Vec<f32>,
    mask: Option<Vec<f32>>,
    /// [t_y + 1, b, n]
    h: Vec<f32>,
    c: Vec<f32>,
    gates: Vec<f32>,
}

/// What the decoder leaves.
struct Unrolled {
    layers: Vec<Stacked>,
    /// h~_t, [t_y, b, n]; empty without attention.
    h_tilde: Vec<f32>,
    /// [c_t; h_t], [t_y, b, 2n]; empty without attention.
    joined: Vec<f32>,
    attention: Option<LuongAttention>,
}

struct Job<'a> {
    model: FusedParts<'a>,
    packs: &'a LuongPacks,
    shard: &'a Shard,
    sizes: &'a LuongSizes,
    live: Vec<bool>,
}

/// Loss and, with `options`, gradient (added) of a shard.
pub fn step(
    model: FusedParts<'_>,
    packs: &LuongPacks,
    shard: &Shard,
    workspace: &mut TrainingScratch,
    gradient: &mut [f32],
    options: Option<StepOptions>,
) -> BatchLoss {
    let Some(sizes) = &model.config.luong else { return BatchLoss::default() };
    let job = Job { model, packs, shard, sizes, live: shard.live() };
    let mut noise = Noise::new(options.map_or(0, |o| o.seed));
    let encoded = job.encode(options, &mut noise, workspace);
    let unrolled = job.unroll(&encoded, options, &mut noise, workspace);
    let (mut loss, d_top) = job.read_out(&unrolled, gradient, options, &mut noise, workspace);
    if let Some(options) = options {
        job.backward(&encoded, &unrolled, d_top, gradient, options, &mut loss, workspace);
    }
    encoded.release(workspace);
    unrolled.release(workspace);
    loss
}

impl Encoded {
    fn release(self, workspace: &mut TrainingScratch) {
        self.scans.into_iter().for_each(|scan| scan.release(workspace));
        self.x.into_iter().chain(self.masks.into_iter().flatten()).for_each(|buffer| workspace.put(buffer));
    }
}

impl Unrolled {
    fn release(self, workspace: &mut TrainingScratch) {
        for layer in self.layers {
            workspace.put_all([layer.x, layer.h, layer.c, layer.gates]);
            if let Some(mask) = layer.mask {
                workspace.put(mask);
            }
        }
        workspace.put_all([self.h_tilde, self.joined]);
        if let Some(attention) = self.attention {
            attention.release(workspace);
        }
    }

    /// h~_t of every step, or the top h_t without attention: [t_y, b, n].
    fn top(&self, size: usize) -> &[f32] {
        if self.h_tilde.is_empty() { &self.layers[self.layers.len() - 1].h[size..] } else { &self.h_tilde }
    }
}

impl Job<'_> {
    fn direction(&self) -> ScanDirection {
        if self.sizes.reverse_source { ScanDirection::Backward } else { ScanDirection::Forward }
    }

    fn aligns(&self) -> bool {
        self.sizes.attention != AttentionKind::None
    }

    fn encoder_layer<'b>(&'b self, layer: usize, prefix: &'b str) -> LstmLayer<'b> {
        let config = self.model.config;
        let width = if layer == 0 { config.embedding } else { config.hidden };
        LstmLayer { model: self.model, prefix, packs: &self.packs.encoder[layer], direction: self.direction(), width }
    }

    fn encode(&self, options: Option<StepOptions>, noise: &mut Noise, workspace: &mut TrainingScratch) -> Encoded {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let mut encoded = Encoded { x: Vec::new(), masks: Vec::new(), scans: Vec::new() };
        for layer in 0..self.sizes.layers {
            let width = if layer == 0 { m } else { n };
            let mask = dropped(options, t_x * b * width, noise, workspace);
            let mut x = workspace.take(t_x * b * width);
            match encoded.scans.last() {
                None => gather(self.model.get("source_embedding"), &self.shard.x, mask.as_deref(), &mut x),
                Some(below) => {
                    x.copy_from_slice(below.outputs(self.direction(), b * n));
                    apply_mask(mask.as_deref(), &mut x);
                }
            }
            let prefix = format!("encoder.{layer}");
            encoded.scans.push(self.encoder_layer(layer, &prefix).forward(&x, t_x, b, &self.live, workspace));
            encoded.x.push(x);
            encoded.masks.push(mask);
        }
        encoded
    }

    /// y_{t-1} of every step, `start` first: [t_y, b].
    fn previous(&self) -> Vec<u32> {
        let Shard { b, t_y, .. } = *self.shard;
        let mut ids = vec![self.sizes.start; b];
        ids.extend_from_slice(&self.shard.y[..(t_y - 1) * b]);
        ids
    }

    /// The layers with their start states, the inputs of layer 0 as far as they are known, and its gates as far as
    /// the embeddings give them.
    fn prepare(
        &self,
        encoded: &Encoded,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Vec<Stacked> {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let (rows, wide) = (t_y * b, GATES * n);
        let mut layers = Vec::new();
        for layer in 0..self.sizes.layers {
            let width = width(self.model.config, self.sizes, layer);
            let mask = dropped(options, rows * if layer == 0 { m } else { n }, noise, workspace);
            let mut stacked = Stacked {
                x: workspace.take(rows * width),
                mask,
                h: workspace.take((t_y + 1) * b * n),
                c: workspace.take((t_y + 1) * b * n),
                gates: workspace.take(rows * wide),
            };
            let last = LstmScan::last(self.direction(), t_x) * b * n;
            stacked.h[..b * n].copy_from_slice(&encoded.scans[layer].h[last..last + b * n]);
            stacked.c[..b * n].copy_from_slice(&encoded.scans[layer].c[last..last + b * n]);
            fill_rows(self.model.joined(&format!("decoder.{layer}.b_i"), wide), &mut stacked.gates);
            if layer == 0 {
                let mut e = workspace.take(rows * m);
                gather(self.model.get("target_embedding"), &self.previous(), stacked.mask.as_deref(), &mut e);
                let w = self.model.joined("decoder.0.W_i", wide * width);
                let w = Factor::transposed(w, width);
                self.model.precision.product(rows, wide, m, Factor::plain(&e, m), w, &mut stacked.gates, true);
                for (x, e) in stacked.x.chunks_exact_mut(width).zip(e.chunks_exact(m)) {
                    x[..m].copy_from_slice(e);
                }
                workspace.put(e);
            }
            layers.push(stacked);
        }
        layers
    }

    fn unroll(
        &self,
        encoded: &Encoded,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Unrolled {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let n = self.model.config.hidden;
        let mut layers = self.prepare(encoded, options, noise, workspace);
        let rows = if self.aligns() { t_y * b } else { 0 };
        let mut h_tilde = workspace.take(rows * n);
        let mut joined = workspace.take(rows * 2 * n);
        let attention = self.aligns().then(|| {
            let h = encoded.scans[self.sizes.layers - 1].outputs(self.direction(), b * n);
            LuongAttention::new(&self.model, self.sizes, self.shard, h, workspace)
        });
        let mut attention = attention.flatten();
        let mut feed = workspace.zeros(b * n);
        for i in 0..t_y {
            self.step_layers(i, &mut layers, &feed);
            let at = i * b * n..(i + 1) * b * n;
            let top = &layers[self.sizes.layers - 1].h[(i + 1) * b * n..(i + 2) * b * n];
            if let Some(attention) = &mut attention {
                let joined = &mut joined[i * b * 2 * n..(i + 1) * b * 2 * n];
                attention.step(&self.model, &self.packs.attention, i, top, joined);
                // h~_t = tanh(W_c [c_t; h_t])
                let h_tilde = &mut h_tilde[at];
                self.packs.w_c.forward.apply(b, joined, 2 * n, h_tilde, n, false);
                tanh_all(h_tilde);
                feed.copy_from_slice(h_tilde);
            } else {
                feed.copy_from_slice(top);
            }
        }
        workspace.put(feed);
        debug_assert!(t_x > 0, "a sentence has words");
        Unrolled { layers, h_tilde, joined, attention }
    }

    /// All layers at step `i`.
    fn step_layers(&self, i: usize, layers: &mut [Stacked], feed: &[f32]) {
        let b = self.shard.b;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
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

    /// log p of all real words; with `options` the gradient of h~ [t_y, b, n].
    fn read_out(
        &self,
        unrolled: &Unrolled,
        gradient: &mut [f32],
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> (BatchLoss, Vec<f32>) {
        let Shard { b, t_y, .. } = *self.shard;
        let n = self.model.config.hidden;
        let (words, top) = (self.shard.words(), unrolled.top(b * n));
        let mut t = workspace.take(words.len() * n);
        for (row, t) in words.iter().zip(t.chunks_exact_mut(n)) {
            t.copy_from_slice(&top[row * n..(row + 1) * n]);
        }
        let mask = dropped(options, t.len(), noise, workspace);
        apply_mask(mask.as_deref(), &mut t);
        let mut dt = workspace.take(if options.is_some() { t.len() } else { 0 });
        let targets: Vec<u32> = words.iter().map(|&row| self.shard.y[row]).collect();
        let output = readout::ReadoutOutput { matrix: "W_s", bias: None, width: n };
        let loss = readout::logits(&self.model, output, &targets, &t, &mut dt, gradient, options, workspace);
        let mut d_top = Vec::new();
        if options.is_some() {
            apply_mask(mask.as_deref(), &mut dt);
            d_top = workspace.zeros(t_y * b * n);
            for (row, dt) in words.iter().zip(dt.chunks_exact(n)) {
                d_top[row * n..(row + 1) * n].copy_from_slice(dt);
            }
        }
        if let Some(mask) = mask {
            workspace.put(mask);
        }
        workspace.put_all([t, dt]);
        (loss, d_top)
    }

    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    fn backward(
        &self,
        encoded: &Encoded,
        unrolled: &Unrolled,
        mut d_top: Vec<f32>,
        gradient: &mut [f32],
        options: StepOptions,
        loss: &mut BatchLoss,
        workspace: &mut TrainingScratch,
    ) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, wide) = (self.model.config.hidden, GATES * self.model.config.hidden);
        let layers = self.sizes.layers;
        let mut back = Back {
            d_pre: (0..layers).map(|_| workspace.take(t_y * b * wide)).collect(),
            dh: (0..layers).map(|_| workspace.zeros(b * n)).collect(),
            dc: (0..layers).map(|_| workspace.zeros(b * n)).collect(),
            d_feed: workspace.zeros(b * n),
            next: workspace.take(b * n),
            d_joined: workspace.take(if self.aligns() { b * 2 * n } else { 0 }),
        };
        let mut d_attention = unrolled.attention.as_ref().map(|attention| attention.backward(workspace));
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
                let given = luong_attention::Given { shard: self.shard, by: options.scale * options.guide };
                attention.step_back(
                    &self.model,
                    &self.packs.attention,
                    i,
                    (&back.d_joined, given),
                    d_attention,
                    top,
                    gradient,
                    loss,
                );
            } else {
                add(d, &mut back.dh[layers - 1]);
            }
            self.step_back(i, unrolled, &mut back);
        }
        if self.aligns() {
            self.model.matrix_back("W_c", [n, 2 * n], t_y * b, &d_top, &unrolled.joined, gradient);
        }
        self.decoder_weights(unrolled, &back, gradient, workspace);
        let mut dh = workspace.zeros(t_x * b * n);
        if let (Some(attention), Some(d_attention)) = (&unrolled.attention, d_attention) {
            let top = &unrolled.layers[layers - 1].h[b * n..];
            attention.finish_back(&self.model, self.sizes, d_attention, top, &mut dh, gradient, workspace);
        }
        self.encode_back(encoded, dh, &mut back, gradient, workspace);
        for buffer in back.d_pre.into_iter().chain(back.dh).chain(back.dc) {
            workspace.put(buffer);
        }
        workspace.put_all([back.d_feed, back.next, back.d_joined, d_top]);
    }

    /// All layers at step `i`, from the top; leaves the gradient of h~_{t-1} in `d_feed`.
    fn step_back(&self, i: usize, unrolled: &Unrolled, back: &mut Back) {
        let b = self.shard.b;
        let n = self.model.config.hidden;
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

    /// Gradients of the decoder's W, U, b and of the target embeddings.
    fn decoder_weights(&self, unrolled: &Unrolled, back: &Back, gradient: &mut [f32], workspace: &mut TrainingScratch) {
        let Shard { b, t_y, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let (rows, wide) = (t_y * b, GATES * n);
        for (layer, stacked) in unrolled.layers.iter().enumerate() {
            let width = width(self.model.config, self.sizes, layer);
            let d_pre = &back.d_pre[layer];
            let prefix = format!("decoder.{layer}");
            weights_back(&self.model, &prefix, width, rows, d_pre, &stacked.x, &stacked.h, gradient);
        }
        let width = width(self.model.config, self.sizes, 0);
        let mut de = workspace.take(rows * m);
        let w = self.model.joined("decoder.0.W_i", wide * width);
        let (d_pre, w) = (Factor::plain(&back.d_pre[0], wide), Factor::plain(w, width));
        self.model.precision.product(rows, m, wide, d_pre, w, &mut de, false);
        apply_mask(unrolled.layers[0].mask.as_deref(), &mut de);
        scatter(&self.previous(), &de, &mut gradient[self.model.layout.range("target_embedding")]);
        workspace.put(de);
    }

    /// Through the encoder, from the top layer; `dh` is the gradient of the annotations [t_x, b, n].
    fn encode_back(
        &self,
        encoded: &Encoded,
        mut dh: Vec<f32>,
        back: &mut Back,
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        for layer in (0..self.sizes.layers).rev() {
            let width = if layer == 0 { m } else { n };
            let prefix = format!("encoder.{layer}");
            let mut dx = workspace.take(t_x * b * width);
            let last = (&mut back.dh[layer], back.dc[layer].as_mut_slice());
            let (scan, x) = (&encoded.scans[layer], &encoded.x[layer]);
            let unit = self.encoder_layer(layer, &prefix);
            unit.backward(scan, x, t_x, b, &self.live, &dh, last, &mut dx, gradient, workspace);
            apply_mask(encoded.masks[layer].as_deref(), &mut dx);
            workspace.put(std::mem::replace(&mut dh, dx));
        }
        scatter(&self.shard.x, &dh, &mut gradient[self.model.layout.range("source_embedding")]);
        workspace.put(dh);
    }
}

/// Gradients on their way back through the steps; those of states are of one step, [b, n].
struct Back {
    /// Of the pre-activations of each layer, [t_y, b, 4n].
    d_pre: Vec<Vec<f32>>,
    dh: Vec<Vec<f32>>,
    dc: Vec<Vec<f32>>,
    d_feed: Vec<f32>,
    next: Vec<f32>,
    /// Of [c_t; h_t], [b, 2n].
    d_joined: Vec<f32>,
}
