//! Deep output and softmax for all words of a shard at once, forward and backward:
//! t~ = U_o s + V_o e + C_o c + b_o, t = maxout(t~), p = softmax(W_o t + b_w)
//! (Bahdanau et al. 2015, A.2.2; Cho et al. 2014, A.2, with O_h, O_y, O_c, G, optionally G = G_l G_r). The readable form is `nn/maxout.rs`.

use std::ops::Range;

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::fused::workspace::{Buffer, apply_mask};
use crate::fused::{BatchLoss, pass::ShardPass};
use crate::layout::{LayoutEntry, ParameterLayout};
use engine::nn::fused::elementwise::{add, add_column_sums};
use engine::nn::fused::vocabulary::{Objective, OutputLayer, Scratch};
use engine::nn::fused::{fill_rows, output};

const CHUNK: usize = 288;

/// The matrix of the output layer [K_y, width], by its name in one of the architectures.
pub fn output_matrix(layout: &ParameterLayout) -> Option<&LayoutEntry> {
    const NAMES: &[&str] = &["readout.W_o", "readout.G", "readout.G_l", "W_s"];
    layout.entries().iter().find(|entry| NAMES.contains(&entry.name.as_str()))
}

/// The tensors' names in one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Of the state, the word before and the context.
    pub inputs: [&'static str; 3],
    pub out: &'static str,
    /// G_r [r, l], where there is one.
    pub rank: Option<&'static str>,
    /// Width of the context.
    pub width: usize,
}

/// Gradients of the inputs, same shapes.
#[derive(Debug)]
pub struct ReadoutGradients<'a> {
    pub s: Buffer<'a>,
    pub e: Buffer<'a>,
    pub c: Buffer<'a>,
}

/// Loss of the shard and, with options, gradients of weights (added) and of the inputs s, e and c, which have one row a target
/// position, [t_y * b, ...].
pub fn step<'a>(pass: &mut ShardPass<'a>, names: Names, inputs: [&[f32]; 3]) -> Option<ReadoutGradients<'a>> {
    let (model, buffers) = (pass.model, pass.buffers);
    let (n, m, l) = (model.config.hidden, model.config.embedding, model.config.maxout);
    let rows = pass.shard.t_y * pass.shard.b;
    let mut pre = buffers.take(rows * 2 * l);
    fill_rows(model.get("readout.b_o"), &mut pre);
    let widths = [n, m, names.width];
    for ((name, input), width) in names.inputs.into_iter().zip(inputs).zip(widths) {
        model.precision.matmul_nt(rows, 2 * l, width, input, model.get(name), &mut pre, true);
    }
    let words = pass.shard.words();
    let mut t = buffers.take(words.len() * l);
    for (row, t) in words.iter().zip(t.chunks_exact_mut(l)) {
        output::maxout(&pre[row * 2 * l..(row + 1) * 2 * l], t);
    }
    let output = ReadoutOutput { matrix: names.out, rank: names.rank, bias: Some("readout.b_w"), width: l };
    let dt = output.step(pass, &words, t)?;
    let mut d_pre = buffers.zeros(rows * 2 * l);
    for (row, dt) in words.iter().zip(dt.chunks_exact(l)) {
        let at = row * 2 * l..(row + 1) * 2 * l;
        output::maxout_back(&pre[at.clone()], dt, &mut d_pre[at]);
    }
    add_column_sums(&d_pre, pass.gradient_of("readout.b_o"));
    let [s, e, c] = [0, 1, 2].map(|k| {
        let (name, width) = (names.inputs[k], widths[k]);
        pass.matrix_back(name, [2 * l, width], rows, &d_pre, inputs[k]);
        let mut d = buffers.take(rows * width);
        model.precision.matmul(rows, width, 2 * l, &d_pre, model.get(name), &mut d, false);
        d
    });
    Some(ReadoutGradients { s, e, c })
}

/// The output layer: logits W t (+ b), or W G_r t (+ b).
#[derive(Clone, Copy, Debug)]
pub struct ReadoutOutput<'a> {
    /// Name of W [K_y, width], or [K_y, r].
    pub matrix: &'a str,
    /// G_r [r, width], where there is one.
    pub rank: Option<&'a str>,
    /// Name of b [K_y], where there is one.
    pub bias: Option<&'a str>,
    pub width: usize,
}

impl ReadoutOutput<'_> {
    /// The output layer over the rows of real words only: from t [words, width], which is dropped out, the loss and,
    /// with options, the gradient of t.
    pub fn step<'a>(self, pass: &mut ShardPass<'a>, words: &[usize], mut t: Buffer<'a>) -> Option<Buffer<'a>> {
        let mask = pass.dropped(t.len());
        apply_mask(mask.as_deref(), &mut t);
        let mut dt = pass.buffers.take(if pass.options.is_some() { t.len() } else { 0 });
        let targets: Vec<u32> = words.iter().map(|&row| pass.shard.y[row]).collect();
        match self.rank {
            None => self.logits(pass, &targets, &t, &mut dt),
            Some(rank) => self.low_rank(pass, rank, &targets, &t, &mut dt),
        }
        apply_mask(mask.as_deref(), &mut dt);
        pass.options.map(|_| dt)
    }

    /// G = G_l G_r: the logits read G_r t [rows, r].
    fn low_rank(self, pass: &mut ShardPass<'_>, rank: &str, targets: &[u32], t: &[f32], dt: &mut [f32]) {
        let (l, rows, precision) = (self.width, targets.len(), pass.model.precision);
        let g_r = pass.model.get(rank);
        let r = g_r.len() / l;
        let mut low = pass.buffers.take(rows * r);
        precision.matmul_nt(rows, r, l, t, g_r, &mut low, false);
        let mut d_low = pass.buffers.take(if pass.options.is_some() { rows * r } else { 0 });
        ReadoutOutput { width: r, ..self }.logits(pass, targets, &low, &mut d_low);
        if pass.options.is_some() {
            pass.matrix_back(rank, [r, l], rows, &d_low, t);
            precision.matmul(rows, l, r, &d_low, g_r, dt, false);
        }
    }

    /// W t (+ b), its loss and, with options, the gradient of t (written).
    fn logits(self, pass: &mut ShardPass<'_>, targets: &[u32], t: &[f32], dt: &mut [f32]) {
        let model = pass.model;
        let bias = self.bias.map(|bias| model.get(bias));
        let layer = OutputLayer { w: model.get(self.matrix), bias, l: self.width, mixed: model.output };
        let loss = match (pass.options, model.sample) {
            (None, _) => {
                let exact = Objective { scale: 1.0, epsilon: 0.0 };
                layer_pass(&layer, exact, targets, t, None, pass.vocabulary)
            }
            (Some(options), None) => {
                let objective = Objective { scale: options.scale, epsilon: options.smoothing };
                let (dw, db) = self.gradients(model.layout, pass.gradient);
                layer_pass(&layer, objective, targets, t, Some(Out { dt, dw, db }), pass.vocabulary)
            }
            (Some(options), Some(drawn)) => {
                let objective = Objective { scale: options.scale, epsilon: options.smoothing };
                let sample = SampledWords::draw(targets, layer.w.len() / layer.l.max(1), drawn, options.seed);
                self.sampled_pass(pass, &layer, objective, &sample, t, dt)
            }
        };
        pass.loss += loss;
    }

    fn sampled_pass(
        self, pass: &mut ShardPass<'_>, layer: &OutputLayer<'_>, objective: Objective, sample: &SampledWords,
        t: &[f32], dt: &mut [f32],
    ) -> BatchLoss {
        let (l, words, buffers) = (layer.l, &sample.words, pass.buffers);
        let mut w = buffers.take(words.len() * l);
        pick(layer.w, l, words, &mut w);
        let mut bias = sample.weights.clone();
        if let Some(all) = layer.bias {
            bias.iter_mut().zip(words).for_each(|(bias, &word)| *bias += all[word as usize]);
        }
        let (mut dw, mut db) = (buffers.zeros(words.len() * l), buffers.zeros(words.len()));
        if layer.mixed.is_some() {
            pass.sampled.pack(&w, l);
        }
        let small = OutputLayer { w: &w, bias: Some(&bias), l, mixed: layer.mixed.map(|_| &*pass.sampled) };
        let out = Out { dt, dw: &mut dw, db: Some(&mut db) };
        let loss = layer_pass(&small, objective, &sample.targets, t, Some(out), pass.vocabulary);
        let (all_dw, all_db) = self.gradients(pass.model.layout, pass.gradient);
        for (&word, dw) in words.iter().zip(dw.chunks_exact(l)) {
            add(dw, &mut all_dw[word as usize * l..(word as usize + 1) * l]);
        }
        if let Some(all) = all_db {
            words.iter().zip(&*db).for_each(|(&word, db)| all[word as usize] += db);
        }
        loss
    }

    /// The gradients of W and b; b may stand before or after W in the flat vector.
    fn gradients<'g>(
        &self, layout: &ParameterLayout, gradient: &'g mut [f32],
    ) -> (&'g mut [f32], Option<&'g mut [f32]>) {
        both(gradient, layout.range(self.matrix), self.bias.map(|bias| layout.range(bias)))
    }
}

/// Where the gradients of an output layer go: that of t is written, the others are added to.
struct Out<'a> {
    dt: &'a mut [f32],
    dw: &'a mut [f32],
    db: Option<&'a mut [f32]>,
}

/// Loss of all rows in chunks and, with `out`, the gradients.
fn layer_pass(
    layer: &OutputLayer<'_>, objective: Objective, targets: &[u32], t: &[f32], mut out: Option<Out<'_>>,
    scratch: &mut Scratch,
) -> BatchLoss {
    let l = layer.l;
    let mut loss = BatchLoss { words: targets.len(), ..BatchLoss::default() };
    // equal chunks, none of them tiny
    let chunk = targets.len().div_ceil(targets.len().div_ceil(CHUNK).max(1)).next_multiple_of(32).max(1);
    for (first, targets) in targets.chunks(chunk).enumerate().map(|(i, targets)| (i * chunk, targets)) {
        let rows = first * l..(first + targets.len()) * l;
        let t = &t[rows.clone()];
        let (nll, smoothed) = layer.forward(t, targets, objective, scratch);
        loss.nll += nll;
        loss.smoothed += smoothed;
        if let Some(Out { dt, dw, db }) = &mut out {
            layer.backward(t, targets, objective, scratch, &mut dt[rows], dw, db.as_deref_mut());
        }
    }
    loss
}

fn both(gradient: &mut [f32], first: Range<usize>, second: Option<Range<usize>>) -> (&mut [f32], Option<&mut [f32]>) {
    let Some(second) = second else { return (&mut gradient[first], None) };
    if first.end <= second.start {
        let (left, right) = gradient.split_at_mut(second.start);
        (&mut left[first], Some(&mut right[..second.len()]))
    } else {
        let (left, right) = gradient.split_at_mut(first.start);
        (&mut right[..first.len()], Some(&mut left[second]))
    }
}

/// Words that stand for the whole vocabulary (Jean et al. 2015, section 3): the targets of a minibatch and words drawn from
/// the others. The sum of exp(x_k) over all words k (equation 6) is estimated from them, each weighted by exp(x_k - log Q(k))
/// (equations 7, 8); Q(k), the probability that k is in the sample, is 1 for a target, s / (K - T) for each of the s drawn words.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledWords {
    pub words: Vec<u32>,
    /// Where each target stands among them.
    pub targets: Vec<u32>,
    /// -log Q of each word.
    pub weights: Vec<f32>,
}

impl SampledWords {
    /// The words of `targets` and `drawn` of the others, or all where there are no more.
    pub fn draw(targets: &[u32], vocabulary: usize, drawn: usize, seed: u64) -> Self {
        let mut is_target = vec![false; vocabulary];
        for &target in targets {
            is_target[target as usize] = true;
        }
        let mut others: Vec<u32> = (0..vocabulary as u32).filter(|&word| !is_target[word as usize]).collect();
        let (count, drawn) = (others.len(), drawn.min(others.len()));
        let weight = (count as f32 / drawn.max(1) as f32).ln().max(0.0);
        let (chosen, _) = others.partial_shuffle(&mut ChaCha8Rng::seed_from_u64(seed), drawn);
        let mut chosen_or_target = is_target.clone();
        for &word in chosen.iter() {
            chosen_or_target[word as usize] = true;
        }
        let words: Vec<u32> = (0..vocabulary as u32).filter(|&word| chosen_or_target[word as usize]).collect();
        let weights = words.iter().map(|&word| if is_target[word as usize] { 0.0 } else { weight }).collect();
        let place = |target: &u32| words.partition_point(|word| word < target) as u32;
        Self { targets: targets.iter().map(place).collect(), weights, words }
    }
}

/// Rows of `table` [K, width] for `words`, [words, width].
pub fn pick(table: &[f32], width: usize, words: &[u32], out: &mut [f32]) {
    for (out, &word) in out.chunks_exact_mut(width.max(1)).zip(words) {
        out.copy_from_slice(&table[word as usize * width..(word as usize + 1) * width]);
    }
}
