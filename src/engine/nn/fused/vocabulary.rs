//! The output layer in training: logits W t + b over the whole vocabulary, softmax cross-entropy, and the gradients of
//! W, b and t, for some tens or hundreds of rows at once. Logits lie transposed, x [K, rows]: W [K, l] is read as it is
//! stored in all three products, and softmax runs down the lines without crossing lanes. On the way back a block of
//! lines is scaled and both products are made of it while it is in the cache. With [`Mixed`] the factors of the three
//! products are pairs of bf16; logits, softmax and all sums stay `f32`.

use super::pack::{fill_plain, fill_transposed};
use super::tile::{LINES, Onto, View, for_each_pass, tile, tile_lines};
use super::{elementwise::exp, number::Number, pairs, pairs::Pair, per_level, width::WIDTH};

/// Columns of x that are scaled at once.
const LANES: usize = 16;
/// Lines of x that are in the cache at once on the way back; even.
const BLOCK: usize = 192;

/// The weights of the layer.
#[derive(Clone, Copy, Debug)]
pub struct OutputLayer<'a> {
    pub w: &'a [f32],
    /// b [K], where there is one.
    pub bias: Option<&'a [f32]>,
    pub l: usize,
    pub mixed: Option<&'a Mixed>,
}

/// W as pairs of bf16, made once an update.
#[derive(Clone, Debug, Default)]
pub struct Mixed {
    /// Pairs along the lines, [K, l / 2].
    along: Vec<Pair>,
    /// Pairs of two lines, [K / 2, l].
    across: Vec<Pair>,
}

impl Mixed {
    pub fn pack(&mut self, w: &[f32], l: usize) {
        use rayon::prelude::*;
        /// Lines that a task works on; even.
        const LINES: usize = 64;
        let (k, half) = (w.len() / l.max(1), l.div_ceil(2));
        self.along.resize(k * half, pairs::NONE);
        self.across.resize(k.div_ceil(2) * l, pairs::NONE);
        let lines = w.par_chunks((LINES * l).max(1));
        let packs =
            self.along.par_chunks_mut((LINES * half).max(1)).zip(self.across.par_chunks_mut((LINES / 2 * l).max(1)));
        lines.zip(packs).for_each(|(w, (along, across))| {
            for (w, along) in w.chunks_exact(l).zip(along.chunks_exact_mut(half)) {
                pairs::along(w, along);
            }
            pairs::stacked(w, l, w.len() / l, l, across);
        });
    }

    pub fn bytes(&self) -> usize {
        size_of::<Pair>() * (self.along.capacity() + self.across.capacity())
    }
}

/// What is minimised.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// Epsilon of label smoothing: q puts 1 - epsilon on the target and epsilon uniformly on all words.
    pub epsilon: f32,
    /// The gradient is that of `scale` times the cross-entropy with q.
    pub scale: f32,
}

/// Buffers that outlive a call, and the logits in between.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    rows: usize,
    /// `rows` rounded up to whole panels.
    stride: usize,
    /// [K, stride]: logits, then e^(x - max), then with `f32` products the gradient.
    x: Vec<f32>,
    single: Factors<f32>,
    pairs: Factors<Pair>,
    /// A block of the gradient of x, [BLOCK, stride / 2] and [BLOCK / 2, stride].
    along: Vec<Pair>,
    across: Vec<Pair>,
    /// Gradient of t, [l, stride].
    dt: Vec<f32>,
    max: Vec<f32>,
    sum: Vec<f32>,
    total: Vec<f32>,
    parts: Vec<f32>,
}

/// t packed for the products: k terms are k numbers or half as many pairs.
#[derive(Clone, Debug, Default)]
struct Factors<T> {
    /// In panels of its rows, [stride / 32, l, 32].
    columns: Vec<T>,
    /// In panels of its columns, [l / 32, rows, 32].
    panels: Vec<T>,
}

impl Scratch {
    pub fn bytes(&self) -> usize {
        let all = [&self.x, &self.single.columns, &self.single.panels, &self.dt, &self.max, &self.sum, &self.total];
        let pairs = [&self.pairs.columns, &self.pairs.panels, &self.along, &self.across];
        let pairs = pairs.iter().map(|buffer| buffer.capacity()).sum::<usize>();
        4 * all.iter().map(|buffer| buffer.capacity()).sum::<usize>() + size_of::<Pair>() * pairs
    }

    fn prepare(&mut self, rows: usize, k: usize, l: usize) {
        self.rows = rows;
        self.stride = rows.next_multiple_of(WIDTH);
        self.x.resize(k * self.stride, 0.0);
        self.dt.resize(l * self.stride, 0.0);
        for buffer in [&mut self.max, &mut self.sum, &mut self.total] {
            buffer.resize(self.stride, 0.0);
        }
        self.parts.resize(2 * self.stride, 0.0);
    }
}

impl OutputLayer<'_> {
    /// From t [rows, l] to -log p of the targets and the smoothed loss, each summed. Leaves in `scratch` what
    /// [`OutputLayer::backward`] goes on from.
    ///
    /// # Panics
    /// When the slices have other sizes, or a target is not below K.
    pub fn forward(&self, t: &[f32], targets: &[u32], objective: Objective, scratch: &mut Scratch) -> (f64, f64) {
        let (rows, k, l) = (targets.len(), self.w.len() / self.l.max(1), self.l);
        assert_eq!(t.len(), rows * l, "t is [rows, l]");
        scratch.prepare(rows, k, l);
        scratch.max.fill(f32::NEG_INFINITY);
        let Scratch { stride, x, max, single, pairs, .. } = scratch;
        match self.mixed {
            None => {
                pack_columns(t, l, *stride, &mut single.columns);
                logits(self.w, l, l, &single.columns, self.bias, *stride, x, max);
            }
            Some(mixed) => {
                pair_columns(t, l, *stride, &mut pairs.columns);
                let half = l.div_ceil(2);
                logits(&mixed.along, half, half, &pairs.columns, self.bias, *stride, x, max);
            }
        }
        let stride = scratch.stride;
        let at = |targets: &[u32], x: &[f32]| -> Vec<f32> {
            targets.iter().enumerate().map(|(row, &target)| x[target as usize * stride + row]).collect()
        };
        let at_target = at(targets, &scratch.x);
        scratch.sum.fill(0.0);
        scratch.total.fill(0.0);
        for lines in scratch.x.chunks_mut((BLOCK * stride).max(1)) {
            exponentials(lines, &scratch.max, &mut scratch.sum, &mut scratch.total, &mut scratch.parts);
        }
        let (mut nll, mut smoothed) = (0.0, 0.0);
        for (row, at_target) in at_target.iter().enumerate() {
            let log_sum = scratch.sum[row].ln();
            let one = log_sum - (at_target - scratch.max[row]);
            let mean = scratch.total[row] / k as f32;
            nll += f64::from(one);
            let epsilon = objective.epsilon;
            smoothed += f64::from((1.0 - epsilon) * one + epsilon * (log_sum - (mean - scratch.max[row])));
        }
        (nll, smoothed)
    }

    /// After [`OutputLayer::forward`] of the same t and targets: the gradients of t [rows, l] (written), of W and of b
    /// (added).
    ///
    /// # Panics
    /// When the slices have other sizes.
    pub fn backward(
        &self, t: &[f32], targets: &[u32], objective: Objective, scratch: &mut Scratch, dt: &mut [f32], dw: &mut [f32],
        mut db: Option<&mut [f32]>,
    ) {
        let (l, stride, rows) = (self.l, scratch.stride, scratch.rows);
        let k = scratch.x.len() / stride.max(1);
        assert!(
            rows == targets.len() && t.len() == rows * l && dt.len() == t.len() && dw.len() == k * l,
            "t is [rows, l]"
        );
        scratch.subtract_targets(targets, objective, k);
        match self.mixed {
            None => pack_rows(t, l, rows, &mut scratch.single.panels),
            Some(_) => pair_rows(t, l, rows, &mut scratch.pairs.panels),
        }
        scratch.dt.fill(0.0);
        for first in (0..k).step_by(BLOCK) {
            let lines = BLOCK.min(k - first);
            let dw = &mut dw[first * l..(first + lines) * l];
            let sums = db.as_mut().map_or(&mut [][..], |db| &mut db[first..first + lines]);
            match self.mixed {
                None => self.block(first, lines, scratch, dw, sums),
                Some(mixed) => mixed.block(l, first, lines, scratch, dw, sums),
            }
        }
        for (row, dt) in dt.chunks_exact_mut(l.max(1)).enumerate() {
            for (i, dt) in dt.iter_mut().enumerate() {
                *dt = scratch.dt[i * stride + row];
            }
        }
    }

    fn block(&self, first: usize, lines: usize, scratch: &mut Scratch, dw: &mut [f32], sums: &mut [f32]) {
        let (l, stride, rows) = (self.l, scratch.stride, scratch.rows);
        let x = &mut scratch.x[first * stride..(first + lines) * stride];
        let w = &self.w[first * l..(first + lines) * l];
        scale_lines(x, &scratch.sum, &scratch.total, sums);
        let a = View { data: x, line: stride, k: 1 };
        weight_block(a, rows, &scratch.single.panels, w, l, dw);
        let a = View { data: w, line: 1, k: l };
        input_block(a, lines, x, stride, l, &mut scratch.dt);
    }
}

impl Mixed {
    fn block(&self, l: usize, first: usize, lines: usize, scratch: &mut Scratch, dw: &mut [f32], sums: &mut [f32]) {
        let (stride, rows) = (scratch.stride, scratch.rows);
        let twos = lines.div_ceil(2);
        scratch.along.resize(BLOCK * stride / 2, pairs::NONE);
        scratch.across.resize(BLOCK / 2 * stride, pairs::NONE);
        let x = &scratch.x[first * stride..(first + lines) * stride];
        let (along, across) = (&mut scratch.along[..lines * stride / 2], &mut scratch.across[..twos * stride]);
        scale_pairs(x, &scratch.sum, &scratch.total, sums, along, across);
        let w = &self.across[first / 2 * l..(first / 2 + twos) * l];
        let a = View { data: along, line: stride / 2, k: 1 };
        weight_block(a, rows.div_ceil(2), &scratch.pairs.panels, w, l, dw);
        let a = View { data: w, line: 1, k: l };
        input_block(a, twos, across, stride, l, &mut scratch.dt);
    }
}

impl Scratch {
    /// From here on `sum` holds what e^(x - max) is multiplied by and `total` what is taken off; nothing is left of
    /// padding.
    fn subtract_targets(&mut self, targets: &[u32], objective: Objective, k: usize) {
        let shift = objective.scale * objective.epsilon / k as f32;
        let (by, shifts) = (&mut self.sum, &mut self.total);
        by[self.rows..].fill(0.0);
        shifts.fill(0.0);
        for (row, &target) in targets.iter().enumerate() {
            self.x[target as usize * self.stride + row] -= (1.0 - objective.epsilon) * by[row];
            by[row] = objective.scale / by[row];
            shifts[row] = shift;
        }
    }
}

/// x = W t + b, and the maximum of each row: `terms` numbers or pairs of a line of W, lines `line` apart.
fn logits<T: Number>(
    w: &[T::Line], line: usize, terms: usize, columns: &[T], bias: Option<&[f32]>, stride: usize, x: &mut [f32],
    max: &mut [f32],
) {
    let k = x.len() / stride.max(1);
    for_each_pass(k, |first, lines| {
        let x = &mut x[first * stride..(first + lines) * stride];
        let bias = bias.map_or(&NO_BIAS[..lines], |bias| &bias[first..first + lines]);
        let a = View { data: &w[first * line..], line, k: 1 };
        let next = &w[(first + lines) * line..((first + lines + LINES) * line).min(w.len())];
        for (p, panel) in columns.chunks_exact((WIDTH * terms).max(1)).enumerate() {
            prefetch(part(next, p, stride / WIDTH));
            let max = &mut max[p * WIDTH..(p + 1) * WIDTH];
            tile_lines(lines, terms, a, panel, &mut x[p * WIDTH..], stride, bias, max);
        }
    });
}

/// dW += x t for some lines: x, whose lines have `terms` numbers or pairs, `panels` of t, dw [lines, l]. Meanwhile w is
/// fetched, for [`input_block`] comes next.
fn weight_block<T: Number>(x: View<'_, T::Line>, terms: usize, panels: &[T], w: &[T::Line], l: usize, dw: &mut [f32]) {
    let (count, all) = (l.div_ceil(WIDTH), dw.len() / l.max(1));
    for_each_pass(all, |first, lines| {
        let a = View { data: &x.data[first * x.line..], ..x };
        let w = &w[w.len() * first / all..w.len() * (first + lines) / all];
        for (p, panel) in panels.chunks_exact((WIDTH * terms).max(1)).enumerate() {
            prefetch(part(w, p, count));
            let width = WIDTH.min(l - p * WIDTH);
            tile(lines, width, terms, a, panel, WIDTH, &mut dw[first * l + p * WIDTH..], l, Onto::C);
        }
    });
}

/// dt += W' x over `terms` lines or pairs of lines: w, whose lines are its columns, x [terms, stride], dt [l, stride].
fn input_block<T: Number>(w: View<'_, T::Line>, terms: usize, x: &[T], stride: usize, l: usize, dt: &mut [f32]) {
    for column in (0..stride).step_by(WIDTH) {
        for_each_pass(l, |first, lines| {
            let a = View { data: &w.data[first * w.line..], ..w };
            tile(lines, WIDTH, terms, a, &x[column..], stride, &mut dt[first * stride + column..], stride, Onto::C);
        });
    }
}

/// t [rows, l] to panels [stride / 32, l, 32], padded with zeros.
fn pack_columns(t: &[f32], l: usize, stride: usize, columns: &mut Vec<f32>) {
    columns.resize(stride * l, 0.0);
    fill_transposed(columns, t, 0.0, t.len() / l.max(1), l);
}

/// As [`pack_columns`], in pairs along l.
fn pair_columns(t: &[f32], l: usize, stride: usize, columns: &mut Vec<Pair>) {
    let rows = t.len() / l.max(1);
    let half = l.div_ceil(2);
    columns.resize(stride * half, pairs::NONE);
    for (p, panel) in columns.chunks_exact_mut((WIDTH * half).max(1)).enumerate() {
        let lines = rows.saturating_sub(p * WIDTH).min(WIDTH);
        pairs::upright(&t[(p * WIDTH * l).min(t.len())..], l, l, lines, panel);
    }
}

/// t [rows, l] to panels [l / 32, rows, 32], padded with zeros.
fn pack_rows(t: &[f32], l: usize, rows: usize, panels: &mut Vec<f32>) {
    panels.resize(l.div_ceil(WIDTH) * WIDTH * rows, 0.0);
    fill_plain(panels, t, rows, l);
}

/// As [`pack_rows`], in pairs of two rows.
fn pair_rows(t: &[f32], l: usize, rows: usize, panels: &mut Vec<Pair>) {
    panels.resize(l.div_ceil(WIDTH) * WIDTH * rows.div_ceil(2), pairs::NONE);
    pairs::panels(t, l, rows, l, panels);
}

per_level! {
    /// Some lines of x [lines, max.len()] become e^(x - max); their sums are added to `sum`, those of x to `total`.
    /// `parts` has 2 max.len() numbers.
    pub fn exponentials(x: &mut [f32], max: &[f32], sum: &mut [f32], total: &mut [f32], parts: &mut [f32]) {
        let stride = max.len().max(1);
        // summed apart, so that long sums stay exact
        parts.fill(0.0);
        let (part, plain) = parts.split_at_mut(stride);
        for line in x.chunks_exact_mut(stride) {
            let lanes = line.as_chunks_mut::<LANES>().0.iter_mut().zip(max.as_chunks::<LANES>().0);
            let sums = part.as_chunks_mut::<LANES>().0.iter_mut().zip(plain.as_chunks_mut::<LANES>().0);
            for ((x, max), (part, plain)) in lanes.zip(sums) {
                for i in 0..LANES {
                    plain[i] += x[i];
                    x[i] = exp(x[i] - max[i]);
                    part[i] += x[i];
                }
            }
        }
        for ((sum, total), (part, plain)) in sum.iter_mut().zip(total).zip(part.iter().zip(plain.iter())) {
            *sum += *part;
            *total += *plain;
        }
    }
}

per_level! {
    /// x = x by - shift for lines [.., by.len()]; the sum of each line is added to `sums`, unless that is empty.
    pub fn scale_lines(x: &mut [f32], by: &[f32], shift: &[f32], sums: &mut [f32]) {
        let stride = by.len().max(1);
        for (i, line) in x.chunks_exact_mut(stride).enumerate() {
            let mut lanes = [0.0f32; LANES];
            let all = line.as_chunks_mut::<LANES>().0.iter_mut();
            for ((x, by), shift) in all.zip(by.as_chunks::<LANES>().0).zip(shift.as_chunks::<LANES>().0) {
                for i in 0..LANES {
                    x[i] = x[i] * by[i] - shift[i];
                    lanes[i] += x[i];
                }
            }
            if let Some(sum) = sums.get_mut(i) {
                *sum += lanes.iter().sum::<f32>();
            }
        }
    }
}

per_level! {
    /// x by - shift as pairs of bf16 along the lines and of two lines, as [`scale_lines`] for the sums.
    pub fn scale_pairs(
        x: &[f32], by: &[f32], shift: &[f32], sums: &mut [f32], along: &mut [Pair], across: &mut [Pair],
    ) {
        let stride = by.len().max(1);
        let zeros = [0.0f32; LANES];
        for (i, across) in across.chunks_exact_mut(stride).enumerate() {
            let two = &x[2 * i * stride..(2 * i * stride + 2 * stride).min(x.len())];
            let end = (i * stride + stride).min(along.len());
            let along = &mut along[i * stride..end];
            let (first, second) = two.split_at(stride);
            let (along_first, along_second) = along.split_at_mut(stride / 2);
            let mut lanes = [[0.0f32; LANES]; 2];
            for c in 0..stride / LANES {
                let at = c * LANES..(c + 1) * LANES;
                let (by, shift, across) = (&by[at.clone()], &shift[at.clone()], &mut across[at.clone()]);
                let scaled = |x: &[f32], lanes: &mut [f32; LANES]| {
                    let mut out = [0.0f32; LANES];
                    for i in 0..LANES {
                        out[i] = x[i] * by[i] - shift[i];
                        lanes[i] += out[i];
                    }
                    out
                };
                let a = scaled(&first[at.clone()], &mut lanes[0]);
                let half = c * LANES / 2..(c + 1) * LANES / 2;
                pair_up(&a, &mut along_first[half.clone()]);
                let b = if second.is_empty() { zeros } else { scaled(&second[at], &mut lanes[1]) };
                if let Some(along) = along_second.get_mut(half) {
                    pair_up(&b, along);
                }
                for i in 0..LANES {
                    across[i] = [pairs::round(a[i]), pairs::round(b[i])];
                }
            }
            for (sum, lanes) in sums.iter_mut().skip(2 * i).zip(&lanes) {
                *sum += lanes.iter().sum::<f32>();
            }
        }
    }
}

#[inline(always)]
fn pair_up(x: &[f32; LANES], pairs: &mut [Pair]) {
    for (i, x) in pairs.as_flattened_mut().iter_mut().zip(x) {
        *i = pairs::round(*x);
    }
}

/// Asks for these numbers to be brought near the core; nothing else happens.
#[inline(always)]
fn prefetch<T>(x: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in x.chunks(64 / size_of::<T>().max(1)) {
        // SAFETY: prefetching reads nothing, and the address is that of a live slice.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

fn part<T>(x: &[T], i: usize, parts: usize) -> &[T] {
    &x[x.len() * i / parts..x.len() * (i + 1) / parts]
}

const NO_BIAS: [f32; LINES] = [0.0; LINES];
