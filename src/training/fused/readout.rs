//! Floor 6: deep output and softmax for all words of a shard at once, forward and backward:
//! t~ = U_o s + V_o e + C_o c + b_o, t = maxout(t~), p = softmax(W_o t + b_w)
//! (Bahdanau et al. 2015, A.2.2; Cho et al. 2014, A.2, with O_h, O_y, O_c, G, optionally G = G_l G_r). The readable form is `nn/maxout.rs`.

use std::ops::Range;

use crate::nn::fused::elementwise::{add, add_column_sums};
use crate::nn::fused::vocabulary::{Objective, OutputLayer, Scratch};
use crate::nn::fused::{fill_rows, output};
use crate::training::fused::embedding::dropped;
use crate::training::fused::parts::FusedParts;
use crate::training::fused::sample::SampledWords;
use crate::training::fused::workspace::apply_mask;
use crate::training::fused::{BatchLoss, Noise, Shard, StepOptions, TrainingScratch, sample};
use crate::training::layout::{ParameterLayout, TensorPlace};

/// Logit rows that are in memory at once.
const CHUNK: usize = 288;

/// The matrix of the output layer [K_y, width], by its name in one of the architectures.
pub fn output_matrix(layout: &ParameterLayout) -> Option<&TensorPlace> {
    const NAMES: &[&str] = &["readout.W_o", "readout.G", "readout.G_l", "W_s"];
    layout.entries().iter().find(|entry| NAMES.contains(&entry.name.as_str()))
}

/// The tensors' names in one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Of the state.
    pub state: &'static str,
    /// Of the previous word.
    pub word: &'static str,
    /// Of the context.
    pub context: &'static str,
    /// Of the output matrix, [K_y, l] or G_l [K_y, r].
    pub out: &'static str,
    /// G_r [r, l], where there is one.
    pub rank: Option<&'static str>,
    /// Width of the context.
    pub width: usize,
}

/// Inputs of the readout, one row a target position, [t_y * b, ...].
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// s_{i-1} or h'_t.
    pub s: &'a [f32],
    /// e(y_{i-1}).
    pub e: &'a [f32],
    /// c_i.
    pub c: &'a [f32],
}

/// Gradients of the inputs, same shapes.
#[derive(Debug, Default)]
pub struct ReadoutGradients {
    /// Of `Inputs::s`.
    pub s: Vec<f32>,
    /// Of `Inputs::e`.
    pub e: Vec<f32>,
    /// Of `Inputs::c`.
    pub c: Vec<f32>,
}

/// Loss of the shard and, with `options`, gradients of weights (added) and inputs.
#[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
pub fn step(
    model: &FusedParts<'_>,
    names: Names,
    shard: &Shard,
    inputs: Inputs<'_>,
    gradient: &mut [f32],
    options: Option<StepOptions>,
    noise: &mut Noise,
    workspace: &mut TrainingScratch,
) -> (BatchLoss, ReadoutGradients) {
    let (n, m, l) = (model.config.hidden, model.config.embedding, model.config.maxout);
    let rows = shard.t_y * shard.b;
    let mut pre = workspace.take(rows * 2 * l);
    fill_rows(model.get("readout.b_o"), &mut pre);
    model.precision.matmul_nt(rows, 2 * l, n, inputs.s, model.get(names.state), &mut pre, true);
    model.precision.matmul_nt(rows, 2 * l, m, inputs.e, model.get(names.word), &mut pre, true);
    model.precision.matmul_nt(rows, 2 * l, names.width, inputs.c, model.get(names.context), &mut pre, true);
    let words = shard.words();
    let mut t = workspace.take(words.len() * l);
    for (row, t) in words.iter().zip(t.chunks_exact_mut(l)) {
        output::maxout(&pre[row * 2 * l..(row + 1) * 2 * l], t);
    }
    let mask = dropped(options, t.len(), noise, workspace);
    apply_mask(mask.as_deref(), &mut t);
    let mut dt = workspace.take(if options.is_some() { t.len() } else { 0 });
    let targets: Vec<u32> = words.iter().map(|&row| shard.y[row]).collect();
    let output = ReadoutOutput { matrix: names.out, bias: Some("readout.b_w"), width: l };
    let loss = match names.rank {
        None => logits(model, output, &targets, &t, &mut dt, gradient, options, workspace),
        Some(rank) => low_rank(model, output, rank, &targets, &t, &mut dt, gradient, options, workspace),
    };
    let mut gradients = ReadoutGradients::default();
    if options.is_some() {
        apply_mask(mask.as_deref(), &mut dt);
        let mut d_pre = workspace.zeros(rows * 2 * l);
        for (row, dt) in words.iter().zip(dt.chunks_exact(l)) {
            let at = row * 2 * l..(row + 1) * 2 * l;
            output::maxout_back(&pre[at.clone()], dt, &mut d_pre[at]);
        }
        gradients = inputs_back(model, names, rows, inputs, &d_pre, gradient, workspace);
        workspace.put(d_pre);
    }
    if let Some(mask) = mask {
        workspace.put(mask);
    }
    workspace.put_all([pre, t, dt]);
    (loss, gradients)
}

/// G = G_l G_r: the logits read G_r t [rows, r].
#[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
fn low_rank(
    model: &FusedParts<'_>,
    output: ReadoutOutput<'_>,
    rank: &str,
    targets: &[u32],
    t: &[f32],
    dt: &mut [f32],
    gradient: &mut [f32],
    options: Option<StepOptions>,
    workspace: &mut TrainingScratch,
) -> BatchLoss {
    let (l, rows) = (model.config.maxout, targets.len());
    let g_r = model.get(rank);
    let r = g_r.len() / l;
    let mut low = workspace.take(rows * r);
    model.precision.matmul_nt(rows, r, l, t, g_r, &mut low, false);
    let mut d_low = workspace.take(if options.is_some() { rows * r } else { 0 });
    let output = ReadoutOutput { width: r, ..output };
    let loss = logits(model, output, targets, &low, &mut d_low, gradient, options, workspace);
    if options.is_some() {
        model.matrix_back(rank, [r, l], rows, &d_low, t, gradient);
        model.precision.matmul(rows, l, r, &d_low, g_r, dt, false);
    }
    workspace.put_all([low, d_low]);
    loss
}

/// The output layer: logits W t (+ b).
#[derive(Clone, Copy, Debug)]
pub struct ReadoutOutput<'a> {
    /// Name of W [K_y, width].
    pub matrix: &'a str,
    /// Name of b [K_y], where there is one.
    pub bias: Option<&'a str>,
    /// Columns of W.
    pub width: usize,
}

/// The output layer over real words only, in chunks: t [words, width], with `options` dt likewise (written).
#[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
pub fn logits(
    model: &FusedParts<'_>,
    output: ReadoutOutput<'_>,
    targets: &[u32],
    t: &[f32],
    dt: &mut [f32],
    gradient: &mut [f32],
    options: Option<StepOptions>,
    workspace: &mut TrainingScratch,
) -> BatchLoss {
    let layer = OutputLayer {
        w: model.get(output.matrix),
        bias: output.bias.map(|bias| model.get(bias)),
        l: output.width,
        mixed: model.output,
    };
    let Some(options) = options else {
        let exact = Objective { scale: 1.0, epsilon: 0.0 };
        return layer_pass(&layer, exact, targets, t, None, &mut workspace.vocabulary);
    };
    let objective = Objective { scale: options.scale, epsilon: options.smoothing };
    // the bias may stand before or after the matrix in the flat vector
    let (dw, db) = both(gradient, model.layout.range(output.matrix), output.bias.map(|bias| model.layout.range(bias)));
    let out = Out { dt, dw, db };
    match model.sample {
        None => layer_pass(&layer, objective, targets, t, Some(out), &mut workspace.vocabulary),
        Some(drawn) => {
            let sample = SampledWords::draw(targets, layer.w.len() / layer.l.max(1), drawn, options.seed);
            sampled_pass(&layer, objective, &sample, t, out, workspace)
        }
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
    layer: &OutputLayer<'_>,
    objective: Objective,
    targets: &[u32],
    t: &[f32],
    mut out: Option<Out<'_>>,
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

/// As [`layer_pass`] over the words of a sample alone.
fn sampled_pass(
    layer: &OutputLayer<'_>,
    objective: Objective,
    sample: &SampledWords,
    t: &[f32],
    out: Out<'_>,
    workspace: &mut TrainingScratch,
) -> BatchLoss {
    let (l, words) = (layer.l, &sample.words);
    let mut w = workspace.take(words.len() * l);
    sample::pick(layer.w, l, words, &mut w);
    let mut bias = sample.weights.clone();
    if let Some(all) = layer.bias {
        bias.iter_mut().zip(words).for_each(|(bias, &word)| *bias += all[word as usize]);
    }
    let (mut dw, mut db) = (workspace.zeros(words.len() * l), workspace.zeros(words.len()));
    let mut mixed = std::mem::take(&mut workspace.sampled);
    if layer.mixed.is_some() {
        mixed.pack(&w, l);
    }
    let small = OutputLayer { w: &w, bias: Some(&bias), l, mixed: layer.mixed.map(|_| &mixed) };
    let small_out = Out { dt: out.dt, dw: &mut dw, db: Some(&mut db) };
    let loss = layer_pass(&small, objective, &sample.targets, t, Some(small_out), &mut workspace.vocabulary);
    for (&word, dw) in words.iter().zip(dw.chunks_exact(l)) {
        add(dw, &mut out.dw[word as usize * l..(word as usize + 1) * l]);
    }
    if let Some(all) = out.db {
        words.iter().zip(&db).for_each(|(&word, db)| all[word as usize] += db);
    }
    workspace.sampled = mixed;
    workspace.put_all([w, dw, db]);
    loss
}

/// Two parts of the gradient at once.
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

fn inputs_back(
    model: &FusedParts<'_>,
    names: Names,
    rows: usize,
    inputs: Inputs<'_>,
    d_pre: &[f32],
    gradient: &mut [f32],
    workspace: &mut TrainingScratch,
) -> ReadoutGradients {
    let (n, m, l) = (model.config.hidden, model.config.embedding, model.config.maxout);
    add_column_sums(d_pre, &mut gradient[model.layout.range("readout.b_o")]);
    let mut back = |name: &str, input: &[f32], width: usize| {
        model.matrix_back(name, [2 * l, width], rows, d_pre, input, gradient);
        let mut d = workspace.take(rows * width);
        model.precision.matmul(rows, width, 2 * l, d_pre, model.get(name), &mut d, false);
        d
    };
    ReadoutGradients {
        s: back(names.state, inputs.s, n),
        e: back(names.word, inputs.e, m),
        c: back(names.context, inputs.c, names.width),
    }
}
