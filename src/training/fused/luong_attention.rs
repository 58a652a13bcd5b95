//! The attention of Luong et al. 2015 for all steps of a shard: energies by any score (equation 7; location, equation
//! 8), alpha (equations 7 and 10), c_t, and their gradients. The equations are in `attention/`.

use crate::fused::{Shard, guide};
use crate::fused::{parts::Both, parts::FusedParts, pass::ShardPass, workspace::Buffer};
use engine::models::config::{AttentionKind, LuongSizes};
use engine::models::fused::luong::{ScoreKind, score_kind};
use engine::nn::fused::elementwise::{add, sigmoid, tanh_all};
use engine::nn::fused::focus::Focus;
use engine::nn::fused::{Factor, attention, axpy, dot, focus};

/// Weights that each step multiplies, packed.
#[derive(Debug, Default)]
pub struct LuongAttentionPacks {
    /// The columns of W_a for h_t (concat), or all of it (location).
    query: Both,
    w_p: Both,
}

impl LuongAttentionPacks {
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
pub struct LuongAttention<'a> {
    sizes: &'a LuongSizes,
    score: ScoreKind,
    n: usize,
    /// Width of a row of the query.
    width: usize,
    shard: &'a Shard,
    /// Annotations, [b, t_x, n].
    h: Buffer<'a>,
    /// W_a h_s (general) or its half of W_a [h_t; h_s] (concat), [b, t_x, n]; else empty.
    keys: Buffer<'a>,
    /// The other half (concat) or W_a h_t (location), [t_y, b, width]; else empty.
    query: Buffer<'a>,
    alpha: Buffer<'a>,
    /// alpha before the Gaussian.
    base: Buffer<'a>,
    foci: Vec<Focus>,
    /// tanh(W_p h_t), local-p; else empty.
    place: Buffer<'a>,
    e: Buffer<'a>,
}

/// Gradients gathered over the steps, [t_y, b, ...] each.
#[derive(Debug)]
pub struct AttentionGradients<'a> {
    dc: Buffer<'a>,
    de: Buffer<'a>,
    d_query: Buffer<'a>,
    /// Of W_p h_t, local-p.
    d_place: Buffer<'a>,
    /// [b, t_x, n], general and concat.
    d_keys: Buffer<'a>,
    back: Buffer<'a>,
}

impl<'a> LuongAttention<'a> {
    /// Before the first step; `h` [t_x, b, n] are the top states of the encoder. `None` of a score without kernels,
    /// which `Fused::new` refuses.
    pub fn new(pass: &ShardPass<'a>, h: &[f32]) -> Option<Self> {
        let sizes = pass.model.config.luong()?;
        let (model, shard, buffers) = (pass.model, pass.shard, pass.buffers);
        let Shard { b, t_x, t_y, .. } = *shard;
        let (n, score) = (model.config.hidden, score_kind(&sizes.score)?);
        let mut rows = buffers.take(b * t_x * n);
        turn(h, t_x, b, n, &mut rows);
        let with_keys = matches!(score, ScoreKind::General | ScoreKind::Concat);
        let mut keys = buffers.take(if with_keys { b * t_x * n } else { 0 });
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
        let width = match score {
            ScoreKind::Dot | ScoreKind::General => 0,
            ScoreKind::Concat => n,
            ScoreKind::Location => sizes.max_source,
        };
        let place = if sizes.attention == AttentionKind::LocalP { t_y * b * n } else { 0 };
        Some(Self {
            sizes,
            score,
            n,
            width,
            shard,
            h: rows,
            keys,
            query: buffers.take(t_y * b * width),
            alpha: buffers.zeros(t_y * b * t_x),
            base: buffers.zeros(t_y * b * t_x),
            foci: Vec::with_capacity(t_y * b),
            place: buffers.take(place),
            e: buffers.take(t_x),
        })
    }

    fn is_local_p(&self) -> bool {
        self.sizes.attention == AttentionKind::LocalP
    }

    fn focus(&self, i: usize, row: usize, v_p: Option<&[f32]>) -> Focus {
        let words = self.shard.x_length[row];
        match (self.sizes.attention, v_p) {
            (AttentionKind::LocalM, _) => Focus::window(i.min(words - 1) as f32, self.sizes.window, words, false),
            (AttentionKind::LocalP, Some(v_p)) => {
                let at = (i * self.shard.b + row) * self.n;
                let p_t = words as f32 * sigmoid(dot(v_p, &self.place[at..at + self.n]));
                Focus::window(p_t, self.sizes.window, words, true)
            }
            _ if self.score == ScoreKind::Location => Focus::all(words.min(self.sizes.max_source)),
            _ => Focus::all(words),
        }
    }

    /// Step `i` from `top` = h_t [b, n]: fills `joined` = [c_t; h_t] [b, 2n].
    pub fn step(
        &mut self, model: FusedParts<'_>, packs: &LuongAttentionPacks, i: usize, top: &[f32], joined: &mut [f32],
    ) {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, width) = (self.n, self.width);
        let v_p = self.is_local_p().then(|| model.get("attention.v_p"));
        if v_p.is_some() {
            let place = &mut self.place[i * b * n..(i + 1) * b * n];
            packs.w_p.forward.apply(b, top, n, place, n, false);
            tanh_all(place);
        }
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

    pub fn backward(&self, pass: &ShardPass<'a>) -> AttentionGradients<'a> {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let n = self.n;
        AttentionGradients {
            dc: pass.buffers.take(t_y * b * n),
            de: pass.buffers.zeros(t_y * b * t_x),
            d_query: pass.buffers.zeros(t_y * b * self.width),
            d_place: pass.buffers.take(self.place.len()),
            // of general's every one is written
            d_keys: match self.score {
                ScoreKind::Concat => pass.buffers.zeros(b * t_x * n),
                ScoreKind::General => pass.buffers.take(b * t_x * n),
                ScoreKind::Dot | ScoreKind::Location => pass.buffers.take(0),
            },
            back: pass.buffers.take(b * n),
        }
    }

    /// Back through step `i` from the gradient of [c_t; h_t]; that of h_t is added to `d_top` [b, n].
    pub fn step_back(
        &self, pass: &mut ShardPass<'_>, packs: &LuongAttentionPacks, i: usize, d_joined: &[f32],
        back: &mut AttentionGradients<'_>, d_top: &mut [f32],
    ) {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, width, by) = (self.n, self.width, pass.guide_scale());
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
            dp += guide::look_back(self.shard.looks(i, row), &focus, base, alpha, by, de, &mut pass.loss);
            let de = &de[focus.first..focus.end];
            let query = (i * b + row) * width..(i * b + row + 1) * width;
            match self.score {
                ScoreKind::Dot => focus::add_weighted(de, &self.h[words], d_top),
                ScoreKind::General => focus::add_weighted(de, &self.keys[words], d_top),
                ScoreKind::Concat => attention::energies_back(
                    &self.query[query.clone()],
                    &self.keys[words.clone()],
                    pass.model.get("attention.v_a"),
                    de,
                    &mut back.d_query[query],
                    &mut back.d_keys[words],
                    pass.gradient_of("attention.v_a"),
                ),
                ScoreKind::Location => back.d_query[query][focus.first..focus.end].copy_from_slice(de),
            }
            if self.is_local_p() {
                self.place_back(pass, i, row, dp, back);
            }
        }
        if width > 0 {
            let d_query = &back.d_query[i * b * width..(i + 1) * b * width];
            packs.query.back.apply(b, d_query, width, &mut back.back, n, false);
            add(&back.back, d_top);
        }
        if self.is_local_p() {
            let d_place = &back.d_place[i * b * n..(i + 1) * b * n];
            packs.w_p.back.apply(b, d_place, n, &mut back.back, n, false);
            add(&back.back, d_top);
        }
    }

    /// Back through p_t = S sigma(v_p' tanh(W_p h_t)) (equation 9).
    fn place_back(&self, pass: &mut ShardPass<'_>, i: usize, row: usize, dp: f32, back: &mut AttentionGradients<'_>) {
        let at = i * self.shard.b + row;
        let (p_t, words) = (self.foci[at].p_t, self.shard.x_length[row] as f32);
        let at = at * self.n..(at + 1) * self.n;
        let ds = dp * p_t * (1.0 - p_t / words);
        let (place, v_p) = (&self.place[at.clone()], pass.model.get("attention.v_p"));
        axpy(ds, place, pass.gradient_of("attention.v_p"));
        for ((d, t), v) in back.d_place[at].iter_mut().zip(place).zip(v_p) {
            *d = ds * v * (1.0 - t * t);
        }
    }

    /// After all steps: gradients of the attention's weights, and that of the annotations added to `dh` [t_x, b, n].
    /// `top` are all h_t [t_y, b, n].
    pub fn finish_back(&self, pass: &mut ShardPass<'_>, mut back: AttentionGradients<'a>, top: &[f32], dh: &mut [f32]) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, precision, buffers) = (self.n, pass.model.precision, pass.buffers);
        let mut d_rows = buffers.take(b * t_x * n);
        for row in 0..b {
            let words = row * t_x * n..(row + 1) * t_x * n;
            // dh_s = sum_t alpha_ts dc_t, and where h_s or W_a h_s is the key, dkey_s = sum_t de_ts h_t
            let (alpha, de, top) = (&self.alpha[row * t_x..], &back.de[row * t_x..], &top[row * n..]);
            let out = &mut d_rows[words.clone()];
            precision.matmul_tn(t_x, n, t_y, alpha, b * t_x, &back.dc[row * n..], b * n, out, false);
            match self.score {
                ScoreKind::Dot => precision.matmul_tn(t_x, n, t_y, de, b * t_x, top, b * n, out, true),
                ScoreKind::General => {
                    precision.matmul_tn(t_x, n, t_y, de, b * t_x, top, b * n, &mut back.d_keys[words], false);
                }
                ScoreKind::Concat | ScoreKind::Location => {}
            }
        }
        self.weights_back(pass, &back, &mut d_rows, top);
        let mut turned = buffers.take(b * t_x * n);
        turn(&d_rows, b, t_x, n, &mut turned);
        add(&turned, dh);
    }

    fn weights_back(&self, pass: &mut ShardPass<'_>, back: &AttentionGradients<'_>, d_rows: &mut [f32], top: &[f32]) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, rows, keys, precision) = (self.n, t_y * b, b * t_x, pass.model.precision);
        match self.score {
            ScoreKind::Dot => {}
            ScoreKind::General => {
                pass.matrix_back("attention.W_a", [n, n], keys, &back.d_keys, &self.h);
                precision.matmul(keys, n, n, &back.d_keys, pass.model.get("attention.W_a"), d_rows, true);
            }
            ScoreKind::Concat => {
                let w = pass.model.get("attention.W_a");
                let mut half = pass.buffers.take(n * n);
                let dw = pass.gradient_of("attention.W_a");
                precision.matmul_tn(n, n, rows, &back.d_query, n, top, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[..n]));
                precision.matmul_tn(n, n, keys, &back.d_keys, n, &self.h, n, &mut half, false);
                dw.chunks_exact_mut(2 * n).zip(half.chunks_exact(n)).for_each(|(dw, half)| add(half, &mut dw[n..]));
                let (d_keys, right) = (Factor::plain(&back.d_keys, n), Factor::plain(&w[n..], 2 * n));
                precision.product(keys, n, n, d_keys, right, d_rows, true);
            }
            ScoreKind::Location => {
                pass.matrix_back("attention.W_a", [self.sizes.max_source, n], rows, &back.d_query, top);
            }
        }
        if self.is_local_p() {
            pass.matrix_back("attention.W_p", [n, n], rows, &back.d_place, top);
        }
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
