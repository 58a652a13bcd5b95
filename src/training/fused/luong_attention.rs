//! Floor 6: the attention of Luong et al. 2015 for all steps of a shard: energies by any
//! score (equation 7; location, equation 8), alpha (equations 7 and 10), c_t, and their gradients.
//! The equations are in `attention/`.

use crate::models::config::{AttentionKind, LuongSizes};
use crate::models::fused::luong::{ScoreKind, score_kind};
use crate::nn::fused::elementwise::{add, sigmoid, tanh_all};
use crate::nn::fused::focus::Focus;
use crate::nn::fused::{Factor, attention, axpy, dot, focus};
use crate::training::fused::both::Both;
use crate::training::fused::parts::FusedParts;
use crate::training::fused::{BatchLoss, Shard, TrainingScratch, guide};

/// Weights that each step multiplies, packed.
#[derive(Debug, Default)]
pub struct LuongAttentionPacks {
    /// The columns of W_a for h_t (concat), or all of it (location).
    query: Both,
    w_p: Both,
}

impl LuongAttentionPacks {
    /// Packs again after an update.
    pub fn repack(&mut self, model: &FusedParts<'_>, sizes: &LuongSizes) {
        let n = model.config.hidden;
        match score_kind(&sizes.score) {
            Some(ScoreKind::Concat) => {
                let w = model.get("attention.W_a");
                let left: Vec<f32> = w.chunks_exact(2 * n).flat_map(|row| &row[..n]).copied().collect();
                self.query.repack(model.precision, &left, n, n);
            }
            Some(ScoreKind::Location) => {
                let w = model.get("attention.W_a");
                self.query.repack(model.precision, w, sizes.max_source, n);
            }
            Some(ScoreKind::Dot | ScoreKind::General) | None => {}
        }
        if sizes.attention == AttentionKind::LocalP {
            self.w_p.repack(model.precision, model.get("attention.W_p"), n, n);
        }
    }
}

/// Annotations and what the steps computed, [t_y, b, ...] each.
#[derive(Debug)]
pub struct LuongAttention {
    score: ScoreKind,
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

/// Given links, and the weight of the cost on alpha.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The links.
    pub shard: &'a Shard,
    /// What the gradient of the cost is multiplied by.
    pub by: f32,
}

/// Gradients gathered over the steps, [t_y, b, ...] each.
#[derive(Debug)]
pub struct AttentionGradients {
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

impl LuongAttention {
    /// Before the first step; `h` [t_x, b, n] are the top states of the encoder. `None` of a score without kernels, which
    /// `Fused::new` refuses.
    pub fn new(
        model: &FusedParts<'_>,
        sizes: &LuongSizes,
        shard: &Shard,
        h: &[f32],
        workspace: &mut TrainingScratch,
    ) -> Option<Self> {
        let Shard { b, t_x, t_y, .. } = *shard;
        let (n, score, kind) = (model.config.hidden, score_kind(&sizes.score)?, sizes.attention);
        let mut rows = workspace.take(b * t_x * n);
        turn(h, t_x, b, n, &mut rows);
        let with_keys = matches!(score, ScoreKind::General | ScoreKind::Concat);
        let mut keys = workspace.take(if with_keys { b * t_x * n } else { 0 });
        match score {
            ScoreKind::General => {
                model.precision.matmul_nt(b * t_x, n, n, &rows, model.get("attention.W_a"), &mut keys, false);
            }
            ScoreKind::Concat => {
                let right = &model.get("attention.W_a")[n..];
                let (rows, right) = (Factor::plain(&rows, n), Factor::transposed(right, 2 * n));
                model.precision.product(b * t_x, n, n, rows, right, &mut keys, false);
            }
            ScoreKind::Dot | ScoreKind::Location => {}
        }
        let query = t_y * b * query_width(score, n, sizes.max_source);
        let place = if kind == AttentionKind::LocalP { t_y * b * n } else { 0 };
        Some(Self {
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
        })
    }

    /// Gives all buffers back.
    pub fn release(self, workspace: &mut TrainingScratch) {
        workspace.put_all([self.h, self.keys, self.query, self.alpha, self.base, self.place, self.e]);
    }

    /// Which words row `row` attends to in step `i`.
    fn focus(&self, i: usize, row: usize, v_p: Option<&[f32]>) -> Focus {
        let words = self.lengths[row];
        match (self.kind, v_p) {
            (AttentionKind::LocalM, _) => Focus::window(i.min(words - 1) as f32, self.d, words, false),
            (AttentionKind::LocalP, Some(v_p)) => {
                let at = (i * self.b + row) * self.n;
                let p_t = words as f32 * sigmoid(dot(v_p, &self.place[at..at + self.n]));
                Focus::window(p_t, self.d, words, true)
            }
            _ if self.score == ScoreKind::Location => Focus::all(words.min(self.max_source)),
            _ => Focus::all(words),
        }
    }

    /// Step `i` from `top` = h_t [b, n]: fills `joined` = [c_t; h_t] [b, 2n].
    pub fn step(
        &mut self,
        model: &FusedParts<'_>,
        packs: &LuongAttentionPacks,
        i: usize,
        top: &[f32],
        joined: &mut [f32],
    ) {
        let (n, b, t_x) = (self.n, self.b, self.t_x);
        let v_p = (self.kind == AttentionKind::LocalP).then(|| model.get("attention.v_p"));
        if v_p.is_some() {
            let place = &mut self.place[i * b * n..(i + 1) * b * n];
            packs.w_p.forward.apply(b, top, n, place, n, false);
            tanh_all(place);
        }
        let width = query_width(self.score, n, self.max_source);
        if width > 0 {
            packs.query.forward.apply(b, top, n, &mut self.query[i * b * width..(i + 1) * b * width], width, false);
        }
        for row in 0..b {
            let focus = self.focus(i, row, v_p);
            let query = &self.query[(i * b + row) * width..(i * b + row + 1) * width];
            let words = (row * t_x + focus.first) * n..(row * t_x + focus.end) * n;
            let e = &mut self.e[focus.first..focus.end];
            let top = &top[row * n..(row + 1) * n];
            match self.score {
                ScoreKind::Dot => focus::products(top, &self.h[words.clone()], e),
                ScoreKind::General => focus::products(top, &self.keys[words.clone()], e),
                ScoreKind::Concat => {
                    attention::energies(query, &self.keys[words.clone()], model.get("attention.v_a"), e);
                }
                ScoreKind::Location => e.copy_from_slice(&query[focus.first..focus.end]),
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

    /// Buffers of the backward pass.
    pub fn backward(&self, workspace: &mut TrainingScratch) -> AttentionGradients {
        let (n, b, t_x, t_y) = (self.n, self.b, self.t_x, self.t_y);
        AttentionGradients {
            dc: workspace.take(t_y * b * n),
            de: workspace.zeros(t_y * b * t_x),
            d_query: workspace.zeros(t_y * b * query_width(self.score, n, self.max_source)),
            d_place: workspace.take(self.place.len()),
            d_keys: workspace.zeros(if self.score == ScoreKind::Concat { b * t_x * n } else { 0 }),
            back: workspace.take(b * n),
        }
    }

    /// Back through step `i` from the gradient of [c_t; h_t]; that of h_t is added to `d_top` [b, n].
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    pub fn step_back(
        &self,
        model: &FusedParts<'_>,
        packs: &LuongAttentionPacks,
        i: usize,
        (d_joined, given): (&[f32], Given<'_>),
        back: &mut AttentionGradients,
        d_top: &mut [f32],
        gradient: &mut [f32],
        loss: &mut BatchLoss,
    ) {
        let (n, b, t_x) = (self.n, self.b, self.t_x);
        let width = query_width(self.score, n, self.max_source);
        for row in 0..b {
            let focus = self.foci[i * b + row];
            let (dc, d_state) = d_joined[row * 2 * n..(row + 1) * 2 * n].split_at(n);
            let d_top = &mut d_top[row * n..(row + 1) * n];
            add(d_state, d_top);
            back.dc[(i * b + row) * n..(i * b + row + 1) * n].copy_from_slice(dc);
            let at = (i * b + row) * t_x..(i * b + row + 1) * t_x;
            let words = (row * t_x + focus.first) * n..(row * t_x + focus.end) * n;
            let de = &mut back.de[at.clone()];
            focus::products(dc, &self.h[words.clone()], &mut de[focus.first..focus.end]);
            let (base, alpha) = (&self.base[at.clone()], &self.alpha[at]);
            let mut dp = focus.align_back(base, alpha, de);
            dp += guide::look_back(given.shard.looks(i, row), &focus, base, alpha, given.by, de, loss);
            let de = &de[focus.first..focus.end];
            let query = (i * b + row) * width..(i * b + row + 1) * width;
            match self.score {
                ScoreKind::Dot => focus::add_weighted(de, &self.h[words], d_top),
                ScoreKind::General => focus::add_weighted(de, &self.keys[words], d_top),
                ScoreKind::Concat => attention::energies_back(
                    &self.query[query.clone()],
                    &self.keys[words.clone()],
                    model.get("attention.v_a"),
                    de,
                    &mut back.d_query[query],
                    &mut back.d_keys[words],
                    &mut gradient[model.layout.range("attention.v_a")],
                ),
                ScoreKind::Location => back.d_query[query][focus.first..focus.end].copy_from_slice(de),
            }
            if self.kind == AttentionKind::LocalP {
                self.place_back(model, i, row, dp, back, gradient);
            }
        }
        if width > 0 {
            let d_query = &back.d_query[i * b * width..(i + 1) * b * width];
            packs.query.back.apply(b, d_query, width, &mut back.back, n, false);
            add(&back.back, d_top);
        }
        if self.kind == AttentionKind::LocalP {
            let d_place = &back.d_place[i * b * n..(i + 1) * b * n];
            packs.w_p.back.apply(b, d_place, n, &mut back.back, n, false);
            add(&back.back, d_top);
        }
    }

    /// Back through p_t = S sigma(v_p' tanh(W_p h_t)) (equation 9).
    fn place_back(
        &self,
        model: &FusedParts<'_>,
        i: usize,
        row: usize,
        dp: f32,
        back: &mut AttentionGradients,
        gradient: &mut [f32],
    ) {
        let at = (i * self.b + row) * self.n..(i * self.b + row + 1) * self.n;
        let (p_t, words) = (self.foci[i * self.b + row].p_t, self.lengths[row] as f32);
        let ds = dp * p_t * (1.0 - p_t / words);
        let (place, v_p) = (&self.place[at.clone()], model.get("attention.v_p"));
        axpy(ds, place, &mut gradient[model.layout.range("attention.v_p")]);
        for ((d, t), v) in back.d_place[at].iter_mut().zip(place).zip(v_p) {
            *d = ds * v * (1.0 - t * t);
        }
    }

    /// After all steps: gradients of the attention's weights, and that of the annotations added to `dh`
    /// [t_x, b, n]. `top` are all h_t [t_y, b, n].
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    pub fn finish_back(
        &self,
        model: &FusedParts<'_>,
        sizes: &LuongSizes,
        mut back: AttentionGradients,
        top: &[f32],
        dh: &mut [f32],
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let (n, b, t_x, t_y) = (self.n, self.b, self.t_x, self.t_y);
        let mut d_rows = workspace.take(b * t_x * n);
        let mut d_keys = std::mem::take(&mut back.d_keys);
        if self.score == ScoreKind::General {
            let fresh = workspace.take(b * t_x * n);
            workspace.put(std::mem::replace(&mut d_keys, fresh));
        }
        for row in 0..b {
            let words = row * t_x * n..(row + 1) * t_x * n;
            // dh_s = sum_t alpha_ts dc_t, and where h_s or W_a h_s is the key, dkey_s = sum_t de_ts h_t
            let (alpha, de) = (&self.alpha[row * t_x..], &back.de[row * t_x..]);
            let out = &mut d_rows[words.clone()];
            model.precision.matmul_tn(t_x, n, t_y, alpha, b * t_x, &back.dc[row * n..], b * n, out, false);
            match self.score {
                ScoreKind::Dot => {
                    model.precision.matmul_tn(t_x, n, t_y, de, b * t_x, &top[row * n..], b * n, out, true);
                }
                ScoreKind::General => {
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
                ScoreKind::Concat | ScoreKind::Location => {}
            }
        }
        self.weights_back(model, sizes, &back, &d_keys, &mut d_rows, top, gradient, workspace);
        let mut turned = workspace.take(b * t_x * n);
        turn(&d_rows, b, t_x, n, &mut turned);
        add(&turned, dh);
        workspace.put_all([d_rows, d_keys, turned]);
        workspace.put_all([back.dc, back.de, back.d_query, back.d_place, back.back]);
    }

    /// Gradients of W_a and W_p, and of the annotations through the keys.
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    fn weights_back(
        &self,
        model: &FusedParts<'_>,
        sizes: &LuongSizes,
        back: &AttentionGradients,
        d_keys: &[f32],
        d_rows: &mut [f32],
        top: &[f32],
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let (n, rows, keys) = (self.n, self.t_y * self.b, self.b * self.t_x);
        match self.score {
            ScoreKind::Dot => {}
            ScoreKind::General => {
                let w = model.get("attention.W_a");
                model.matrix_back("attention.W_a", [n, n], keys, d_keys, &self.h, gradient);
                model.precision.matmul(keys, n, n, d_keys, w, d_rows, true);
            }
            ScoreKind::Concat => {
                let w = model.get("attention.W_a");
                let mut half = workspace.take(n * n);
                let dw = &mut gradient[model.layout.range("attention.W_a")];
                model.precision.matmul_tn(n, n, rows, &back.d_query, n, top, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[..n]));
                model.precision.matmul_tn(n, n, keys, d_keys, n, &self.h, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[n..]));
                let (d_keys, right) = (Factor::plain(d_keys, n), Factor::plain(&w[n..], 2 * n));
                model.precision.product(keys, n, n, d_keys, right, d_rows, true);
                workspace.put(half);
            }
            ScoreKind::Location => {
                model.matrix_back("attention.W_a", [sizes.max_source, n], rows, &back.d_query, top, gradient);
            }
        }
        if self.kind == AttentionKind::LocalP {
            model.matrix_back("attention.W_p", [n, n], rows, &back.d_place, top, gradient);
        }
    }
}

/// Width of a row of the query.
fn query_width(score: ScoreKind, n: usize, max_source: usize) -> usize {
    match score {
        ScoreKind::Dot | ScoreKind::General => 0,
        ScoreKind::Concat => n,
        ScoreKind::Location => max_source,
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
