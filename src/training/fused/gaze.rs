//! Floor 6: where the decoder of Luong et al. 2015 looks, for all steps of a shard: energies by any
//! score (equation 7; location, equation 8), alpha (equations 7 and 10), c_t, and their gradients.

use crate::models::config::{AttentionKind, LuongSizes};
use crate::nn::fused::elementwise::{add, sigmoid, tanh_all};
use crate::nn::fused::focus::Focus;
use crate::nn::fused::{Packed, attention, axpy, dot, focus};
use crate::training::fused::{Loss, Parts, Shard, Workspace, guide};

/// How energies come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    /// h_t' h_s.
    Dot,
    /// h_t' W_a h_s.
    General,
    /// v_a' tanh(W_a [h_t; h_s]).
    Concat,
    /// W_a h_t.
    Location,
}

impl Score {
    fn of(sizes: &LuongSizes) -> Self {
        match sizes.score.as_str() {
            "general" => Self::General,
            "concat" => Self::Concat,
            "location" => Self::Location,
            _ => Self::Dot,
        }
    }
}

/// Weights that each step multiplies, packed.
#[derive(Debug, Default)]
pub struct Packs {
    /// The columns of W_a for h_t (concat), or all of it (location).
    query: Packed,
    query_back: Packed,
    w_p: Packed,
    w_p_back: Packed,
}

impl Packs {
    /// Packs again after an update.
    pub fn repack(&mut self, model: &Parts<'_>, sizes: &LuongSizes) {
        let n = model.config.hidden;
        match Score::of(sizes) {
            Score::Concat => {
                let w = model.get("attention.W_a");
                let left: Vec<f32> = w.chunks_exact(2 * n).flat_map(|row| &row[..n]).copied().collect();
                self.query.pack_transposed(model.precision, &left, n, n);
                self.query_back.pack_plain(model.precision, &left, n, n);
            }
            Score::Location => {
                let w = model.get("attention.W_a");
                self.query.pack_transposed(model.precision, w, sizes.max_source, n);
                self.query_back.pack_plain(model.precision, w, sizes.max_source, n);
            }
            Score::Dot | Score::General => {}
        }
        if sizes.attention == AttentionKind::LocalP {
            self.w_p.pack_transposed(model.precision, model.get("attention.W_p"), n, n);
            self.w_p_back.pack_plain(model.precision, model.get("attention.W_p"), n, n);
        }
    }
}

/// Annotations and everything that was looked at, [t_y, b, ...] each.
#[derive(Debug)]
pub struct Gaze {
    score: Score,
    kind: AttentionKind,
    d: usize,
    max_source: usize,
    n: usize,
    b: usize,
    t_x: usize,
    t_y: usize,
    lengths: Vec<usize>,
    /// Annotations, [b, t_x, n].
    h: Vec<f32>,
    /// W_a h_s (general) or its half of W_a [h_t; h_s] (concat), [b, t_x, n]; else empty.
    keys: Vec<f32>,
    /// The other half (concat) or W_a h_t (location), [t_y, b, width]; else empty.
    query: Vec<f32>,
    alpha: Vec<f32>,
    /// alpha before the Gaussian.
    base: Vec<f32>,
    foci: Vec<Focus>,
    /// tanh(W_p h_t), local-p; else empty.
    place: Vec<f32>,
    /// Scratch, [t_x].
    e: Vec<f32>,
}

/// Where alpha is to look, and how much its cost weighs.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The links.
    pub shard: &'a Shard,
    /// What the gradient of the cost is multiplied by.
    pub by: f32,
}

/// Gradients gathered over the steps, [t_y, b, ...] each.
#[derive(Debug)]
pub struct Looked {
    dc: Vec<f32>,
    de: Vec<f32>,
    d_query: Vec<f32>,
    /// Of W_p h_t, local-p.
    d_place: Vec<f32>,
    /// [b, t_x, n], concat.
    d_keys: Vec<f32>,
    /// Scratch, [b, n].
    back: Vec<f32>,
}

impl Gaze {
    /// Before the first step; `h` [t_x, b, n] are the top states of the encoder.
    pub fn new(model: &Parts<'_>, sizes: &LuongSizes, shard: &Shard, h: &[f32], workspace: &mut Workspace) -> Self {
        let Shard { b, t_x, t_y, .. } = *shard;
        let (n, score, kind) = (model.config.hidden, Score::of(sizes), sizes.attention);
        let mut rows = workspace.take(b * t_x * n);
        turn(h, t_x, b, n, &mut rows);
        let with_keys = matches!(score, Score::General | Score::Concat);
        let mut keys = workspace.take(if with_keys { b * t_x * n } else { 0 });
        match score {
            Score::General => {
                model.precision.matmul_nt(b * t_x, n, n, &rows, model.get("attention.W_a"), &mut keys, false);
            }
            Score::Concat => {
                let right = &model.get("attention.W_a")[n..];
                model.precision.matmul_nt_columns(b * t_x, n, n, &rows, right, 2 * n, &mut keys, false);
            }
            Score::Dot | Score::Location => {}
        }
        let query = t_y * b * query_width(score, n, sizes.max_source);
        let place = if kind == AttentionKind::LocalP { t_y * b * n } else { 0 };
        Self {
            score,
            kind,
            d: sizes.window,
            max_source: sizes.max_source,
            n,
            b,
            t_x,
            t_y,
            lengths: shard.x_length.clone(),
            h: rows,
            keys,
            query: workspace.take(query),
            alpha: workspace.zeros(t_y * b * t_x),
            base: workspace.zeros(t_y * b * t_x),
            foci: Vec::with_capacity(t_y * b),
            place: workspace.take(place),
            e: workspace.take(t_x),
        }
    }

    /// Gives all buffers back.
    pub fn release(self, workspace: &mut Workspace) {
        workspace.put_all([self.h, self.keys, self.query, self.alpha, self.base, self.place, self.e]);
    }

    /// Which words row `row` looks at in step `i`.
    fn focus(&self, i: usize, row: usize, v_p: Option<&[f32]>) -> Focus {
        let words = self.lengths[row];
        match (self.kind, v_p) {
            (AttentionKind::LocalM, _) => Focus::window(i.min(words - 1) as f32, self.d, words, false),
            (AttentionKind::LocalP, Some(v_p)) => {
                let at = (i * self.b + row) * self.n;
                let p_t = words as f32 * sigmoid(dot(v_p, &self.place[at..at + self.n]));
                Focus::window(p_t, self.d, words, true)
            }
            _ if self.score == Score::Location => Focus::all(words.min(self.max_source)),
            _ => Focus::all(words),
        }
    }

    /// Step `i` from `top` = h_t [b, n]: fills `joined` = [c_t; h_t] [b, 2n].
    pub fn look(&mut self, model: &Parts<'_>, packs: &Packs, i: usize, top: &[f32], joined: &mut [f32]) {
        let (n, b, t_x) = (self.n, self.b, self.t_x);
        let v_p = (self.kind == AttentionKind::LocalP).then(|| model.get("attention.v_p"));
        if v_p.is_some() {
            let place = &mut self.place[i * b * n..(i + 1) * b * n];
            packs.w_p.apply(b, top, n, place, n, false);
            tanh_all(place);
        }
        let width = query_width(self.score, n, self.max_source);
        if width > 0 {
            packs.query.apply(b, top, n, &mut self.query[i * b * width..(i + 1) * b * width], width, false);
        }
        for row in 0..b {
            let focus = self.focus(i, row, v_p);
            let query = &self.query[(i * b + row) * width..(i * b + row + 1) * width];
            let words = (row * t_x + focus.first) * n..(row * t_x + focus.end) * n;
            let e = &mut self.e[focus.first..focus.end];
            let top = &top[row * n..(row + 1) * n];
            match self.score {
                Score::Dot => focus::products(top, &self.h[words.clone()], e),
                Score::General => focus::products(top, &self.keys[words.clone()], e),
                Score::Concat => {
                    attention::energies(query, &self.keys[words.clone()], model.get("attention.v_a"), e);
                }
                Score::Location => e.copy_from_slice(&query[focus.first..focus.end]),
            }
            let at = (i * b + row) * t_x..(i * b + row + 1) * t_x;
            let alpha = &mut self.alpha[at.clone()];
            focus.align(&self.e, &mut self.base[at], alpha);
            let (c, state) = joined[row * 2 * n..(row + 1) * 2 * n].split_at_mut(n);
            c.fill(0.0);
            focus::add_weighted(&alpha[focus.first..focus.end], &self.h[words], c);
            state.copy_from_slice(top);
            self.foci.push(focus);
        }
    }

    /// Buffers for the way back.
    pub fn backward(&self, workspace: &mut Workspace) -> Looked {
        let (n, b, t_x, t_y) = (self.n, self.b, self.t_x, self.t_y);
        Looked {
            dc: workspace.take(t_y * b * n),
            de: workspace.zeros(t_y * b * t_x),
            d_query: workspace.zeros(t_y * b * query_width(self.score, n, self.max_source)),
            d_place: workspace.take(self.place.len()),
            d_keys: workspace.zeros(if self.score == Score::Concat { b * t_x * n } else { 0 }),
            back: workspace.take(b * n),
        }
    }

    /// Back through step `i` from the gradient of [c_t; h_t]; that of h_t is added to `d_top` [b, n].
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    pub fn look_back(
        &self,
        model: &Parts<'_>,
        packs: &Packs,
        i: usize,
        (d_joined, given): (&[f32], Given<'_>),
        looked: &mut Looked,
        d_top: &mut [f32],
        gradient: &mut [f32],
        loss: &mut Loss,
    ) {
        let (n, b, t_x) = (self.n, self.b, self.t_x);
        let width = query_width(self.score, n, self.max_source);
        for row in 0..b {
            let focus = self.foci[i * b + row];
            let (dc, d_state) = d_joined[row * 2 * n..(row + 1) * 2 * n].split_at(n);
            let d_top = &mut d_top[row * n..(row + 1) * n];
            add(d_state, d_top);
            looked.dc[(i * b + row) * n..(i * b + row + 1) * n].copy_from_slice(dc);
            let at = (i * b + row) * t_x..(i * b + row + 1) * t_x;
            let words = (row * t_x + focus.first) * n..(row * t_x + focus.end) * n;
            let de = &mut looked.de[at.clone()];
            focus::products(dc, &self.h[words.clone()], &mut de[focus.first..focus.end]);
            let (base, alpha) = (&self.base[at.clone()], &self.alpha[at]);
            let mut dp = focus.align_back(base, alpha, de);
            dp += guide::look_back(given.shard.looks(i, row), &focus, base, alpha, given.by, de, loss);
            let de = &de[focus.first..focus.end];
            let query = (i * b + row) * width..(i * b + row + 1) * width;
            match self.score {
                Score::Dot => focus::add_weighted(de, &self.h[words], d_top),
                Score::General => focus::add_weighted(de, &self.keys[words], d_top),
                Score::Concat => attention::energies_back(
                    &self.query[query.clone()],
                    &self.keys[words.clone()],
                    model.get("attention.v_a"),
                    de,
                    &mut looked.d_query[query],
                    &mut looked.d_keys[words],
                    &mut gradient[model.layout.range("attention.v_a")],
                ),
                Score::Location => looked.d_query[query][focus.first..focus.end].copy_from_slice(de),
            }
            if self.kind == AttentionKind::LocalP {
                self.place_back(model, i, row, dp, looked, gradient);
            }
        }
        if width > 0 {
            let d_query = &looked.d_query[i * b * width..(i + 1) * b * width];
            packs.query_back.apply(b, d_query, width, &mut looked.back, n, false);
            add(&looked.back, d_top);
        }
        if self.kind == AttentionKind::LocalP {
            let d_place = &looked.d_place[i * b * n..(i + 1) * b * n];
            packs.w_p_back.apply(b, d_place, n, &mut looked.back, n, false);
            add(&looked.back, d_top);
        }
    }

    /// Back through p_t = S sigma(v_p' tanh(W_p h_t)) (equation 9).
    fn place_back(&self, model: &Parts<'_>, i: usize, row: usize, dp: f32, looked: &mut Looked, gradient: &mut [f32]) {
        let at = (i * self.b + row) * self.n..(i * self.b + row + 1) * self.n;
        let (p_t, words) = (self.foci[i * self.b + row].p_t, self.lengths[row] as f32);
        let ds = dp * p_t * (1.0 - p_t / words);
        let (place, v_p) = (&self.place[at.clone()], model.get("attention.v_p"));
        axpy(ds, place, &mut gradient[model.layout.range("attention.v_p")]);
        for ((d, t), v) in looked.d_place[at].iter_mut().zip(place).zip(v_p) {
            *d = ds * v * (1.0 - t * t);
        }
    }

    /// After all steps: gradients of the attention's weights, and that of the annotations added to `dh`
    /// [t_x, b, n]. `top` are all h_t [t_y, b, n].
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    pub fn finish_back(
        &self,
        model: &Parts<'_>,
        sizes: &LuongSizes,
        mut looked: Looked,
        top: &[f32],
        dh: &mut [f32],
        gradient: &mut [f32],
        workspace: &mut Workspace,
    ) {
        let (n, b, t_x, t_y) = (self.n, self.b, self.t_x, self.t_y);
        let mut d_rows = workspace.take(b * t_x * n);
        let mut d_keys = std::mem::take(&mut looked.d_keys);
        if self.score == Score::General {
            let fresh = workspace.take(b * t_x * n);
            workspace.put(std::mem::replace(&mut d_keys, fresh));
        }
        for row in 0..b {
            let words = row * t_x * n..(row + 1) * t_x * n;
            // dh_s = sum_t alpha_ts dc_t, and where h_s or W_a h_s is the key, dkey_s = sum_t de_ts h_t
            let (alpha, de) = (&self.alpha[row * t_x..], &looked.de[row * t_x..]);
            let out = &mut d_rows[words.clone()];
            model.precision.matmul_tn(t_x, n, t_y, alpha, b * t_x, &looked.dc[row * n..], b * n, out, false);
            match self.score {
                Score::Dot => model.precision.matmul_tn(t_x, n, t_y, de, b * t_x, &top[row * n..], b * n, out, true),
                Score::General => {
                    model.precision.matmul_tn(
                        t_x,
                        n,
                        t_y,
                        de,
                        b * t_x,
                        &top[row * n..],
                        b * n,
                        &mut d_keys[words],
                        false,
                    );
                }
                Score::Concat | Score::Location => {}
            }
        }
        self.weights_back(model, sizes, &looked, &d_keys, &mut d_rows, top, gradient, workspace);
        let mut turned = workspace.take(b * t_x * n);
        turn(&d_rows, b, t_x, n, &mut turned);
        add(&turned, dh);
        workspace.put_all([d_rows, d_keys, turned]);
        workspace.put_all([looked.dc, looked.de, looked.d_query, looked.d_place, looked.back]);
    }

    /// Gradients of W_a and W_p, and of the annotations through the keys.
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    fn weights_back(
        &self,
        model: &Parts<'_>,
        sizes: &LuongSizes,
        looked: &Looked,
        d_keys: &[f32],
        d_rows: &mut [f32],
        top: &[f32],
        gradient: &mut [f32],
        workspace: &mut Workspace,
    ) {
        let (n, rows, keys) = (self.n, self.t_y * self.b, self.b * self.t_x);
        let layout = model.layout;
        match self.score {
            Score::Dot => {}
            Score::General => {
                let w = model.get("attention.W_a");
                model.precision.matmul_tn(
                    n,
                    n,
                    keys,
                    d_keys,
                    n,
                    &self.h,
                    n,
                    &mut gradient[layout.range("attention.W_a")],
                    true,
                );
                model.precision.matmul(keys, n, n, d_keys, w, d_rows, true);
            }
            Score::Concat => {
                let w = model.get("attention.W_a");
                let mut half = workspace.take(n * n);
                let dw = &mut gradient[layout.range("attention.W_a")];
                model.precision.matmul_tn(n, n, rows, &looked.d_query, n, top, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[..n]));
                model.precision.matmul_tn(n, n, keys, d_keys, n, &self.h, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[n..]));
                model.precision.matmul_columns(keys, n, n, d_keys, &w[n..], 2 * n, d_rows, true);
                workspace.put(half);
            }
            Score::Location => {
                let places = sizes.max_source;
                let dw = &mut gradient[layout.range("attention.W_a")];
                model.precision.matmul_tn(places, n, rows, &looked.d_query, places, top, n, dw, true);
            }
        }
        if self.kind == AttentionKind::LocalP {
            let dw = &mut gradient[layout.range("attention.W_p")];
            model.precision.matmul_tn(n, n, rows, &looked.d_place, n, top, n, dw, true);
        }
    }
}

/// Numbers that W_a h_t comes to.
fn query_width(score: Score, n: usize, max_source: usize) -> usize {
    match score {
        Score::Dot | Score::General => 0,
        Score::Concat => n,
        Score::Location => max_source,
    }
}

/// [a, b, n] to [b, a, n].
fn turn(x: &[f32], a: usize, b: usize, n: usize, out: &mut [f32]) {
    for (i, block) in x.chunks_exact(b * n).take(a).enumerate() {
        for (j, row) in block.chunks_exact(n).enumerate() {
            out[(j * a + i) * n..(j * a + i + 1) * n].copy_from_slice(row);
        }
    }
}
