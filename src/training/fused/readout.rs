//! Floor 6: deep output and softmax for all words of a shard at once, forward and backward:
//! t~ = U_o s + V_o e + C_o c + b_o, t = maxout(t~), p = softmax(W_o t + b_w)
//! (Bahdanau et al. 2015, A.2.2; Cho et al. 2014, A.2, with O_h, O_y, O_c, G, optionally G = G_l G_r).

use crate::nn::fused::Packed;
use crate::nn::fused::add_bias;
use crate::nn::fused::elementwise::add_column_sums;
use crate::nn::fused::matmul;
use crate::nn::fused::matmul_nt;
use crate::nn::fused::matmul_tn;
use crate::nn::fused::output;
use crate::training::fused::Loss;
use crate::training::fused::Noise;
use crate::training::fused::Parts;
use crate::training::fused::Shard;
use crate::training::fused::StepOptions;
use crate::training::fused::Workspace;
use crate::training::fused::workspace::apply_mask;

/// Logit rows that are in memory at once.
const CHUNK: usize = 192;

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

/// The output matrix packed for the logits.
#[derive(Debug, Default)]
pub struct OutputPack(Packed);

impl OutputPack {
    /// Packs [K_y, columns] again.
    pub fn repack(&mut self, w: &[f32], vocabulary: usize) {
        self.0.pack_transposed(w, vocabulary, w.len() / vocabulary.max(1));
    }
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
pub struct Gradients {
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
    model: &Parts<'_>,
    names: Names,
    pack: &OutputPack,
    shard: &Shard,
    inputs: Inputs<'_>,
    gradient: &mut [f32],
    options: Option<StepOptions>,
    noise: &mut Noise,
    workspace: &mut Workspace,
) -> (Loss, Gradients) {
    let (n, m, l) = (model.config.hidden, model.config.embedding, model.config.maxout);
    let rows = shard.t_y * shard.b;
    let mut pre = workspace.take(rows * 2 * l);
    add_bias(model.get("readout.b_o"), &mut pre);
    matmul_nt(rows, 2 * l, n, inputs.s, model.get(names.state), &mut pre, true);
    matmul_nt(rows, 2 * l, m, inputs.e, model.get(names.word), &mut pre, true);
    matmul_nt(rows, 2 * l, names.width, inputs.c, model.get(names.context), &mut pre, true);
    let words = shard.words();
    let mut t = workspace.take(words.len() * l);
    for (row, t) in words.iter().zip(t.chunks_exact_mut(l)) {
        output::maxout(&pre[row * 2 * l..(row + 1) * 2 * l], t);
    }
    let mask = options.filter(|o| o.dropout > 0.0).map(|o| {
        let mut mask = workspace.take(t.len());
        noise.mask(o.dropout, &mut mask);
        mask
    });
    apply_mask(mask.as_deref(), &mut t);
    let mut dt = workspace.take(if options.is_some() { t.len() } else { 0 });
    let targets: Vec<u32> = words.iter().map(|&row| shard.y[row]).collect();
    let output = Output { matrix: names.out, bias: Some("readout.b_w"), pack, width: l };
    let loss = match names.rank {
        None => logits(model, output, &targets, &t, &mut dt, gradient, options, workspace),
        Some(rank) => low_rank(model, output, rank, &targets, &t, &mut dt, gradient, options, workspace),
    };
    let mut gradients = Gradients::default();
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
    model: &Parts<'_>,
    output: Output<'_>,
    rank: &str,
    targets: &[u32],
    t: &[f32],
    dt: &mut [f32],
    gradient: &mut [f32],
    options: Option<StepOptions>,
    workspace: &mut Workspace,
) -> Loss {
    let (l, rows) = (model.config.maxout, targets.len());
    let g_r = model.get(rank);
    let r = g_r.len() / l;
    let mut low = workspace.take(rows * r);
    matmul_nt(rows, r, l, t, g_r, &mut low, false);
    let mut d_low = workspace.take(if options.is_some() { rows * r } else { 0 });
    let output = Output { width: r, ..output };
    let loss = logits(model, output, targets, &low, &mut d_low, gradient, options, workspace);
    if options.is_some() {
        matmul_tn(r, l, rows, &d_low, r, t, l, &mut gradient[model.layout.range(rank)], true);
        matmul(rows, l, r, &d_low, g_r, dt, false);
    }
    workspace.put_all([low, d_low]);
    loss
}

/// The output layer: logits W t (+ b).
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Name of W [K_y, width].
    pub matrix: &'a str,
    /// Name of b [K_y], where there is one.
    pub bias: Option<&'a str>,
    /// W packed.
    pub pack: &'a OutputPack,
    /// Columns of W.
    pub width: usize,
}

/// The output layer over real words only, in chunks: t [words, width], with `options` dt likewise (written).
#[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
pub fn logits(
    model: &Parts<'_>,
    output: Output<'_>,
    targets: &[u32],
    t: &[f32],
    dt: &mut [f32],
    gradient: &mut [f32],
    options: Option<StepOptions>,
    workspace: &mut Workspace,
) -> Loss {
    let vocabulary = model.config.target_vocabulary;
    let Output { matrix, bias, pack, width: l } = output;
    let w = model.get(matrix);
    let (scale, epsilon) = options.map_or((1.0, 0.0), |o| (o.scale, o.smoothing));
    let mut loss = Loss { words: targets.len(), ..Loss::default() };
    let mut x = workspace.take(CHUNK.min(targets.len()) * vocabulary);
    for first in (0..targets.len()).step_by(CHUNK) {
        let rows = CHUNK.min(targets.len() - first);
        let x = &mut x[..rows * vocabulary];
        let t = &t[first * l..(first + rows) * l];
        if let Some(bias) = bias {
            add_bias(model.get(bias), x);
        }
        pack.0.apply(rows, t, l, x, vocabulary, bias.is_some());
        for (x, &target) in x.chunks_exact_mut(vocabulary).zip(&targets[first..first + rows]) {
            let (nll, smoothed) = output::cross_entropy(x, target as usize, epsilon, scale);
            loss.nll += f64::from(nll);
            loss.smoothed += f64::from(smoothed);
        }
        if options.is_some() {
            matmul(rows, l, vocabulary, x, w, &mut dt[first * l..(first + rows) * l], false);
            matmul_tn(vocabulary, l, rows, x, vocabulary, t, l, &mut gradient[model.layout.range(matrix)], true);
            if let Some(bias) = bias {
                add_column_sums(x, &mut gradient[model.layout.range(bias)]);
            }
        }
    }
    workspace.put(x);
    loss
}

fn inputs_back(
    model: &Parts<'_>,
    names: Names,
    rows: usize,
    inputs: Inputs<'_>,
    d_pre: &[f32],
    gradient: &mut [f32],
    workspace: &mut Workspace,
) -> Gradients {
    let (n, m, l) = (model.config.hidden, model.config.embedding, model.config.maxout);
    add_column_sums(d_pre, &mut gradient[model.layout.range("readout.b_o")]);
    let mut back = |name: &str, input: &[f32], width: usize| {
        matmul_tn(2 * l, width, rows, d_pre, 2 * l, input, width, &mut gradient[model.layout.range(name)], true);
        let mut d = workspace.take(rows * width);
        matmul(rows, width, 2 * l, d_pre, model.get(name), &mut d, false);
        d
    };
    Gradients {
        s: back(names.state, inputs.s, n),
        e: back(names.word, inputs.e, m),
        c: back(names.context, inputs.c, names.width),
    }
}
