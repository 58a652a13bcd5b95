//! Floor 1: the output layer in training: logits W t + b over the whole vocabulary, softmax cross-entropy, and the
//! gradients of W, b and t, for some tens or hundreds of rows at once.
//!
//! Logits lie transposed, x [K, rows]: one line a word of the vocabulary, one lane a row. So W [K, l] is read as it
//! is stored in all three products, the softmax runs down the lines without crossing lanes, and the gradient of W
//! is written line by line. On the way back a block of lines is scaled and both products made of it while it is in
//! the cache.

#[cfg(target_arch = "x86_64")]
use super::Level;
use super::elementwise::exp;
use super::level;
use super::per_level;

/// Columns of a tile.
const WIDTH: usize = 32;
/// Columns that a row of x is padded to.
const LANES: usize = 16;
/// Most lines of a tile.
const LINES: usize = 12;
/// Lines of x that are in the cache at once on the way back.
const BLOCK: usize = 192;

/// The weights of the layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// W [K, l].
    pub w: &'a [f32],
    /// b [K], where there is one.
    pub bias: Option<&'a [f32]>,
    /// l.
    pub l: usize,
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
    /// `rows` rounded up.
    stride: usize,
    /// [K, stride]: logits, then e^(x - max), then the gradient.
    x: Vec<f32>,
    /// t in panels of columns, [stride / 32, l, 32].
    columns: Vec<f32>,
    /// t in panels of rows, [l / 32, rows, 32].
    panels: Vec<f32>,
    /// Gradient of t, [l, stride].
    dt: Vec<f32>,
    max: Vec<f32>,
    sum: Vec<f32>,
    total: Vec<f32>,
    parts: Vec<f32>,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let all = [&self.x, &self.columns, &self.panels, &self.dt, &self.max, &self.sum, &self.total];
        4 * all.iter().map(|buffer| buffer.capacity()).sum::<usize>()
    }
}

impl Layer<'_> {
    /// From t [rows, l] to -log p of the targets and the smoothed loss, each summed. Leaves in `scratch` what
    /// [`Layer::backward`] goes on from.
    ///
    /// # Panics
    /// When the slices have other sizes, or a target is not below K.
    pub fn forward(&self, t: &[f32], targets: &[u32], objective: Objective, scratch: &mut Scratch) -> (f64, f64) {
        let (rows, k) = (targets.len(), self.w.len() / self.l.max(1));
        assert_eq!(t.len(), rows * self.l, "t is [rows, l]");
        scratch.prepare(rows, k, self.l);
        pack_columns(t, self.l, scratch.stride, &mut scratch.columns);
        self.multiply(scratch);
        let stride = scratch.stride;
        let at = |targets: &[u32], x: &[f32]| -> Vec<f32> {
            targets.iter().enumerate().map(|(row, &target)| x[target as usize * stride + row]).collect()
        };
        let at_target = at(targets, &scratch.x);
        scratch.sum.fill(0.0);
        scratch.total.fill(0.0);
        for lines in scratch.x.chunks_mut(BLOCK * stride) {
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

    /// x = W t + b, and the maximum of each row.
    fn multiply(&self, scratch: &mut Scratch) {
        let (l, stride) = (self.l, scratch.stride);
        let k = scratch.x.len() / stride.max(1);
        scratch.max.fill(f32::NEG_INFINITY);
        for_each_run(k, |first, lines| {
            let x = &mut scratch.x[first * stride..(first + lines) * stride];
            let bias = self.bias.map_or(&NO_BIAS[..lines], |bias| &bias[first..first + lines]);
            let a = View { data: &self.w[first * l..], line: l, k: 1 };
            let next = &self.w[(first + lines) * l..((first + lines + LINES) * l).min(self.w.len())];
            for (p, panel) in scratch.columns.chunks(WIDTH * l).enumerate() {
                prefetch(part(next, p, stride.div_ceil(WIDTH)));
                let columns = p * WIDTH..(p * WIDTH + WIDTH).min(stride);
                let b = View { data: panel, line: 0, k: columns.len() };
                let max = &mut scratch.max[columns.clone()];
                tile(lines, columns.len(), l, a, b, &mut x[columns.start..], stride, Then::Write { bias, max });
            }
        });
    }

    /// After [`Layer::forward`] of the same t and targets: the gradients of t [rows, l] (written), of W and of b
    /// (added).
    ///
    /// # Panics
    /// When the slices have other sizes.
    #[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
    pub fn backward(
        &self,
        t: &[f32],
        targets: &[u32],
        objective: Objective,
        scratch: &mut Scratch,
        dt: &mut [f32],
        dw: &mut [f32],
        mut db: Option<&mut [f32]>,
    ) {
        let (l, stride, rows) = (self.l, scratch.stride, scratch.rows);
        let k = scratch.x.len() / stride.max(1);
        assert!(
            rows == targets.len() && t.len() == rows * l && dt.len() == t.len() && dw.len() == k * l,
            "t is [rows, l]"
        );
        let shift = objective.scale * objective.epsilon / k as f32;
        // from here on: what e^(x - max) is multiplied by, and what is taken off; nothing is left of padding
        let (by, shifts) = (&mut scratch.sum, &mut scratch.total);
        by[rows..].fill(0.0);
        shifts.fill(0.0);
        for (row, &target) in targets.iter().enumerate() {
            scratch.x[target as usize * stride + row] -= (1.0 - objective.epsilon) * by[row];
            by[row] = objective.scale / by[row];
            shifts[row] = shift;
        }
        pack_rows(t, l, rows, &mut scratch.panels);
        scratch.dt.fill(0.0);
        for first in (0..k).step_by(BLOCK) {
            let lines = BLOCK.min(k - first);
            let x = &mut scratch.x[first * stride..(first + lines) * stride];
            scale_lines(
                x,
                &scratch.sum,
                &scratch.total,
                db.as_mut().map_or(&mut [], |db| &mut db[first..first + lines]),
            );
            let (w, dw) = (&self.w[first * l..(first + lines) * l], &mut dw[first * l..(first + lines) * l]);
            weight_block(x, stride, rows, &scratch.panels, w, l, dw);
            input_block(x, stride, w, l, &mut scratch.dt);
        }
        for (row, dt) in dt.chunks_exact_mut(l.max(1)).enumerate() {
            for (i, dt) in dt.iter_mut().enumerate() {
                *dt = scratch.dt[i * stride + row];
            }
        }
    }
}

impl Scratch {
    fn prepare(&mut self, rows: usize, k: usize, l: usize) {
        self.rows = rows;
        self.stride = rows.next_multiple_of(LANES);
        self.x.resize(k * self.stride, 0.0);
        self.columns.resize(self.stride * l, 0.0);
        self.panels.resize(l.div_ceil(WIDTH) * WIDTH * rows, 0.0);
        self.dt.resize(l * self.stride, 0.0);
        for buffer in [&mut self.max, &mut self.sum, &mut self.total] {
            buffer.resize(self.stride, 0.0);
        }
        self.parts.resize(2 * self.stride, 0.0);
    }
}

/// Runs of at most [`LINES`]; the last two share the lines, so that neither is tiny.
fn for_each_run(lines: usize, mut work: impl FnMut(usize, usize)) {
    let mut first = 0;
    while first < lines {
        let rest = lines - first;
        let run = if rest > LINES && rest < 2 * LINES { rest.div_ceil(2) } else { rest.min(LINES) };
        work(first, run);
        first += run;
    }
}

/// dW += x t for some lines: x [lines, stride], `panels` of t, dw [lines, l]. Meanwhile the lines of w are fetched,
/// for [`input_block`] comes next.
fn weight_block(x: &[f32], stride: usize, rows: usize, panels: &[f32], w: &[f32], l: usize, dw: &mut [f32]) {
    let count = l.div_ceil(WIDTH);
    for_each_run(dw.len() / l.max(1), |first, lines| {
        let a = View { data: &x[first * stride..], line: stride, k: 1 };
        for (p, panel) in panels.chunks_exact(WIDTH * rows).enumerate() {
            prefetch(part(&w[first * l..(first + lines) * l], p, count));
            let b = View { data: panel, line: 0, k: WIDTH };
            let width = WIDTH.min(l - p * WIDTH);
            tile(lines, width, rows, a, b, &mut dw[first * l + p * WIDTH..], l, Then::Add);
        }
    });
}

/// dt += W' x over some lines: x and w [lines, ...], dt [l, stride].
fn input_block(x: &[f32], stride: usize, w: &[f32], l: usize, dt: &mut [f32]) {
    let lines = w.len() / l.max(1);
    for column in (0..stride).step_by(WIDTH) {
        let width = WIDTH.min(stride - column);
        for_each_run(l, |first, count| {
            let a = View { data: &w[first..], line: 1, k: l };
            let b = View { data: &x[column..], line: 0, k: stride };
            tile(count, width, lines, a, b, &mut dt[first * stride + column..], stride, Then::Add);
        });
    }
}

/// t [rows, l] to panels [stride / 32, l, 32], the last one narrower, padded with zeros.
fn pack_columns(t: &[f32], l: usize, stride: usize, columns: &mut [f32]) {
    let rows = t.len() / l.max(1);
    for (p, panel) in columns.chunks_mut((WIDTH * l).max(1)).enumerate() {
        let width = WIDTH.min(stride - p * WIDTH);
        for c in 0..width {
            let row = p * WIDTH + c;
            for i in 0..l {
                panel[i * width + c] = if row < rows { t[row * l + i] } else { 0.0 };
            }
        }
    }
}

/// t [rows, l] to panels [l / 32, rows, 32], padded with zeros.
fn pack_rows(t: &[f32], l: usize, rows: usize, panels: &mut [f32]) {
    for (p, panel) in panels.chunks_exact_mut((WIDTH * rows).max(1)).enumerate() {
        let width = WIDTH.min(l - p * WIDTH);
        for (row, panel) in panel.chunks_exact_mut(WIDTH).enumerate() {
            panel[..width].copy_from_slice(&t[row * l + p * WIDTH..row * l + p * WIDTH + width]);
            panel[width..].fill(0.0);
        }
    }
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

/// Asks for these numbers to be brought near the core; nothing else happens.
#[inline(always)]
fn prefetch(x: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    for line in x.chunks(LANES) {
        // SAFETY: prefetching reads nothing, and the address is that of a live slice.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

/// Part `i` of `parts` about equal parts.
fn part(x: &[f32], i: usize, parts: usize) -> &[f32] {
    &x[x.len() * i / parts..x.len() * (i + 1) / parts]
}

/// A factor of a product by the distance between its lines and that between the terms of a sum.
#[derive(Clone, Copy)]
struct View<'a> {
    data: &'a [f32],
    line: usize,
    k: usize,
}

/// What becomes of a tile.
enum Then<'a> {
    /// It is added.
    Add,
    /// It is written with a number added to each line, and the maximum of each column is raised.
    Write { bias: &'a [f32], max: &'a mut [f32] },
}

/// The bias of a layer without one.
const NO_BIAS: [f32; LINES] = [0.0; LINES];

/// Where a tile goes, unchecked: its first number, the distance between lines, columns, and for [`Then::Write`]
/// the bias and the maxima, else null.
#[derive(Clone, Copy)]
struct Out {
    c: *mut f32,
    line: usize,
    width: usize,
    bias: *const f32,
    max: *mut f32,
}

/// The product of `lines` lines of `a` and `width` columns of `b`, over k terms, brought to `c` of lines `c_line` apart.
/// B has its columns padded to 16 or 32.
#[allow(clippy::too_many_arguments, reason = "a kernel names its sizes, strides and buffers one by one")]
#[inline(always)]
fn tile(lines: usize, width: usize, k: usize, a: View<'_>, b: View<'_>, c: &mut [f32], c_line: usize, then: Then<'_>) {
    if k == 0 || lines == 0 || width == 0 {
        return;
    }
    let padded = if width <= LANES && b.k != WIDTH { LANES } else { WIDTH };
    assert!(lines <= LINES && width <= WIDTH, "a tile has at most {LINES} lines");
    assert!(a.data.len() > (lines - 1) * a.line + (k - 1) * a.k, "A is too short");
    assert!(b.data.len() >= (k - 1) * b.k + padded, "B is too short");
    assert!(c.len() >= (lines - 1) * c_line + width, "C is too short");
    let (bias, max) = match then {
        Then::Add => (std::ptr::null(), std::ptr::null_mut()),
        Then::Write { bias, max } => {
            assert!(bias.len() >= lines && max.len() >= padded && width == padded, "a bias a line, a maximum a column");
            (bias.as_ptr(), max.as_mut_ptr())
        }
    };
    let out = Out { c: c.as_mut_ptr(), line: c_line, width, bias, max };
    // SAFETY: the asserts bound every read and write; C and the maxima are ours alone.
    unsafe { kernel(lines, padded, k, a, b, out) };
}

/// Chooses the kernel.
///
/// # Safety
/// `a` holds `lines` lines of k terms, `b` k terms of `padded` (16 or 32) columns; `out` has as many lines of its width
/// that are the caller's alone, and where there are a bias and maxima, as many of them.
unsafe fn kernel(lines: usize, padded: usize, k: usize, a: View<'_>, b: View<'_>, out: Out) {
    macro_rules! lines {
        ($($r:literal)*) => {
            match (lines, level()) {
                $(
                    // SAFETY: the processor has the features; for the rest the caller's promise.
                    #[cfg(target_arch = "x86_64")]
                    ($r, Level::Avx512) if padded == WIDTH => unsafe { avx512::<$r, 2>(k, a, b, out) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    ($r, Level::Avx512) => unsafe { avx512::<$r, 1>(k, a, b, out) },
                )*
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                (_, Level::Avx2) => unsafe { avx2(lines, padded, k, a, b, out) },
                // SAFETY: as above.
                _ => unsafe { portable(lines, padded, k, a, b, out) },
            }
        };
    }
    lines!(1 2 3 4 5 6 7 8 9 10 11 12);
}

/// R lines by V times 16 columns, R V accumulators.
///
/// # Safety
/// As [`kernel`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512<const R: usize, const V: usize>(k: usize, a: View<'_>, b: View<'_>, out: Out) {
    use std::arch::x86_64::{
        _MM_HINT_ET0, _mm_prefetch, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps,
        _mm512_maskz_loadu_ps, _mm512_max_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };
    // SAFETY: all offsets stay inside what the caller promises; prefetching may point anywhere.
    unsafe {
        let mut acc = [[_mm512_setzero_ps(); V]; R];
        for r in 0..R {
            for v in 0..V {
                _mm_prefetch::<_MM_HINT_ET0>(out.c.wrapping_add(r * out.line + 16 * v).cast());
            }
        }
        let (mut a_at, mut b_at) = (a.data.as_ptr(), b.data.as_ptr());
        for _ in 0..k {
            let mut columns = [_mm512_setzero_ps(); V];
            for v in 0..V {
                columns[v] = _mm512_loadu_ps(b_at.add(16 * v));
            }
            for r in 0..R {
                let x = _mm512_set1_ps(*a_at.add(r * a.line));
                for v in 0..V {
                    acc[r][v] = _mm512_fmadd_ps(x, columns[v], acc[r][v]);
                }
            }
            (a_at, b_at) = (a_at.wrapping_add(a.k), b_at.wrapping_add(b.k));
        }
        if out.bias.is_null() {
            for v in 0..V {
                let mask = (1u32 << out.width.saturating_sub(16 * v).min(16)).wrapping_sub(1) as u16;
                for r in 0..R {
                    let c = out.c.wrapping_add(r * out.line + 16 * v);
                    if mask == u16::MAX {
                        _mm512_storeu_ps(c, _mm512_add_ps(_mm512_loadu_ps(c), acc[r][v]));
                    } else {
                        _mm512_mask_storeu_ps(c, mask, _mm512_add_ps(_mm512_maskz_loadu_ps(mask, c), acc[r][v]));
                    }
                }
            }
            return;
        }
        for v in 0..V {
            let mut max = _mm512_loadu_ps(out.max.add(16 * v));
            for r in 0..R {
                let x = _mm512_add_ps(acc[r][v], _mm512_set1_ps(*out.bias.add(r)));
                _mm512_storeu_ps(out.c.add(r * out.line + 16 * v), x);
                max = _mm512_max_ps(x, max);
            }
            _mm512_storeu_ps(out.max.add(16 * v), max);
        }
    }
}

/// As [`kernel`]: up to six lines by 16 columns at a time, 12 accumulators of 8 lanes.
///
/// # Safety
/// As [`kernel`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(lines: usize, padded: usize, k: usize, a: View<'_>, b: View<'_>, out: Out) {
    for half in (0..padded).step_by(16) {
        for first in (0..lines).step_by(6) {
            macro_rules! lines {
                ($($r:literal)*) => {
                    match lines - first {
                        // SAFETY: the caller's promise, for these lines and columns.
                        $($r => unsafe { avx2_lines::<$r>(first, half, k, a, b, out) },)*
                        // SAFETY: as above.
                        _ => unsafe { avx2_lines::<6>(first, half, k, a, b, out) },
                    }
                };
            }
            lines!(1 2 3 4 5);
        }
    }
}

/// R lines from `first` on by 16 columns from `half` on.
///
/// # Safety
/// As [`kernel`], for these lines and columns.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_lines<const R: usize>(first: usize, half: usize, k: usize, a: View<'_>, b: View<'_>, out: Out) {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps};
    // SAFETY: all offsets stay inside what the caller promises.
    unsafe {
        let mut acc = [[_mm256_setzero_ps(); 2]; R];
        let (mut a_at, mut b_at) = (a.data.as_ptr().add(first * a.line), b.data.as_ptr().add(half));
        for _ in 0..k {
            let columns = [_mm256_loadu_ps(b_at), _mm256_loadu_ps(b_at.add(8))];
            for r in 0..R {
                let x = _mm256_set1_ps(*a_at.add(r * a.line));
                for v in 0..2 {
                    acc[r][v] = _mm256_fmadd_ps(x, columns[v], acc[r][v]);
                }
            }
            (a_at, b_at) = (a_at.wrapping_add(a.k), b_at.wrapping_add(b.k));
        }
        for r in 0..R {
            let mut line = [0.0f32; 16];
            for v in 0..2 {
                _mm256_storeu_ps(line.as_mut_ptr().add(8 * v), acc[r][v]);
            }
            finish(&line, first + r, half, out);
        }
    }
}

/// The plain twin, four lines by 16 columns at a time.
///
/// # Safety
/// As [`kernel`].
unsafe fn portable(lines: usize, padded: usize, k: usize, a: View<'_>, b: View<'_>, out: Out) {
    const FOUR: usize = 4;
    for half in (0..padded).step_by(16) {
        for first in (0..lines).step_by(FOUR) {
            let mut acc = [[0.0f32; 16]; FOUR];
            // lines past the last are the last again, and go nowhere
            let at: [usize; FOUR] = std::array::from_fn(|q| (first + q).min(lines - 1) * a.line);
            for i in 0..k {
                let Some(columns) = b.data[i * b.k + half..].first_chunk::<16>() else { continue };
                for (acc, at) in acc.iter_mut().zip(at) {
                    let x = a.data[at + i * a.k];
                    for (acc, c) in acc.iter_mut().zip(columns) {
                        *acc = multiply_add(x, *c, *acc);
                    }
                }
            }
            for (r, line) in (first..lines).zip(&acc) {
                // SAFETY: the caller's promise.
                unsafe { finish(line, r, half, out) };
            }
        }
    }
}

/// x y + z, in one instruction where every processor of the target has it.
#[inline(always)]
fn multiply_add(x: f32, y: f32, z: f32) -> f32 {
    if cfg!(target_arch = "aarch64") { x.mul_add(y, z) } else { x * y + z }
}

/// Brings 16 columns from `half` on of line `r` to where they go.
///
/// # Safety
/// As [`kernel`], for this line and these columns.
#[inline(always)]
unsafe fn finish(line: &[f32; 16], r: usize, half: usize, out: Out) {
    let width = out.width.saturating_sub(half).min(16);
    // SAFETY: the caller's promise.
    let c = unsafe { std::slice::from_raw_parts_mut(out.c.wrapping_add(r * out.line + half), width) };
    if out.bias.is_null() {
        for (c, v) in c.iter_mut().zip(line) {
            *c += *v;
        }
        return;
    }
    // SAFETY: the caller's promise.
    let (bias, max) = unsafe { (*out.bias.add(r), std::slice::from_raw_parts_mut(out.max.add(half), width)) };
    for ((c, m), v) in c.iter_mut().zip(max).zip(line) {
        *c = v + bias;
        *m = if *c > *m { *c } else { *m };
    }
}
