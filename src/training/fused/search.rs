//! Floor 6: RNNsearch (Bahdanau et al. 2015), loss and gradient of one shard. The equations are in
//! `models/rnn_search.rs`.

use crate::nn::fused::elementwise::add;
use crate::nn::fused::focus::Focus;
use crate::nn::fused::gru::Sense;
use crate::nn::fused::scan::{ScanDirection, two_slots};
use crate::nn::fused::{attention, gru};
use crate::training::fused::affine::Affine;
use crate::training::fused::both::Both;
use crate::training::fused::embedding::Embedded;
use crate::training::fused::encoder::{EncoderLayer, EncoderScan, UnitPacks};
use crate::training::fused::parts::FusedParts;
use crate::training::fused::{BatchLoss, Job, Noise, Shard, StepOptions, TrainingScratch, guide, readout};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct SearchPacks {
    forward: UnitPacks,
    backward: UnitPacks,
    /// [W_a; U_z; U_r] for `s` at once.
    query: Both,
    u: Both,
    c: Both,
}

impl SearchPacks {
    /// Packs again after an update.
    pub fn repack(&mut self, model: FusedParts<'_>) {
        let config = model.config;
        let (n, a) = (config.hidden, config.alignment);
        let Self { forward, backward, query, u, c } = self;
        rayon::scope(|scope| {
            scope.spawn(|_| forward.repack(&model, "encoder.forward"));
            scope.spawn(|_| backward.repack(&model, "encoder.backward"));
            let (w_zr, w_u) = model.joined("decoder.U_z", 3 * n * n).split_at(2 * n * n);
            scope.spawn(move |_| {
                let joined = [model.get("attention.W_a"), w_zr].concat();
                query.repack(model.precision, &joined, a + 2 * n, n);
                u.repack(model.precision, w_u, n, n);
            });
            let w_c = model.joined("decoder.C_z", 6 * n * n);
            scope.spawn(move |_| {
                c.repack(model.precision, w_c, 3 * n, 2 * n);
            });
        });
    }
}

/// What the encoder leaves: embeddings, both scans, annotations h [b, t_x, 2n] and keys [b, t_x, n'].
struct Encoded {
    words: Embedded,
    forward: EncoderScan,
    backward: EncoderScan,
    h: Vec<f32>,
    keys: Vec<f32>,
}

/// What the decoder leaves, [t_y, b, ...] each.
struct Unrolled {
    words: Embedded,
    /// [t_y + 1, b, n]
    s: Vec<f32>,
    c: Vec<f32>,
    alpha: Vec<f32>,
    /// q, U_z s, U_r s: [b, n' + 2n]
    q: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    rs: Vec<f32>,
    s_tilde: Vec<f32>,
}

/// Loss and, with `options`, gradient (added) of a shard.
pub fn step(
    model: FusedParts<'_>,
    packs: &SearchPacks,
    shard: &Shard,
    workspace: &mut TrainingScratch,
    gradient: &mut [f32],
    options: Option<StepOptions>,
) -> BatchLoss {
    let job = Job { model, packs, shard };
    let mut noise = Noise::new(options.map_or(0, |o| o.seed));
    let encoded = job.encode(options, &mut noise, workspace);
    let unrolled = job.unroll(&encoded, options, &mut noise, workspace);
    let n = model.config.hidden;
    let inputs = readout::Inputs { s: &unrolled.s[..shard.t_y * shard.b * n], e: &unrolled.words.e, c: &unrolled.c };
    let names = readout::Names {
        state: "readout.U_o",
        word: "readout.V_o",
        context: "readout.C_o",
        out: "readout.W_o",
        rank: None,
        width: 2 * n,
    };
    let (mut loss, d) = readout::step(&model, names, shard, inputs, gradient, options, &mut noise, workspace);
    if let Some(options) = options {
        job.backward(&encoded, &unrolled, d, gradient, options, &mut loss, workspace);
    }
    encoded.forward.release(workspace);
    encoded.backward.release(workspace);
    encoded.words.release(workspace);
    unrolled.words.release(workspace);
    workspace.put_all([encoded.h, encoded.keys]);
    workspace.put_all([unrolled.s, unrolled.c, unrolled.alpha, unrolled.q]);
    workspace.put_all([unrolled.u, unrolled.r, unrolled.rs, unrolled.s_tilde]);
    loss
}

impl Job<'_, SearchPacks> {
    fn layer(&self, direction: ScanDirection) -> EncoderLayer<'_> {
        let (prefix, packs) = match direction {
            ScanDirection::Forward => ("encoder.forward", &self.packs.forward),
            ScanDirection::Backward => ("encoder.backward", &self.packs.backward),
        };
        EncoderLayer { model: self.model, prefix, packs, sense: Sense::New, direction }
    }

    /// U_a h + b_a.
    fn keys(&self) -> Affine<'_> {
        let FusedParts { config, .. } = self.model;
        Affine::new(self.model, ("attention.U_a", "attention.b_a"), config.alignment, 2 * config.hidden)
    }

    /// W_s <-h_1 + b_s.
    fn start(&self) -> Affine<'_> {
        let n = self.model.config.hidden;
        Affine::new(self.model, ("decoder.W_s", "decoder.b_s"), n, n)
    }

    fn encode(&self, options: Option<StepOptions>, noise: &mut Noise, workspace: &mut TrainingScratch) -> Encoded {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let words = Embedded::source(&self.model, self.shard, options, noise, workspace);
        let live = self.shard.live();
        let forward = self.layer(ScanDirection::Forward).forward(&words.e, t_x, b, &live, workspace);
        let backward = self.layer(ScanDirection::Backward).forward(&words.e, t_x, b, &live, workspace);
        let mut h = workspace.take(b * t_x * 2 * n);
        for t in 0..t_x {
            for row in 0..b {
                let out = &mut h[(row * t_x + t) * 2 * n..(row * t_x + t + 1) * 2 * n];
                out[..n].copy_from_slice(&forward.h[((t + 1) * b + row) * n..((t + 1) * b + row + 1) * n]);
                out[n..].copy_from_slice(&backward.h[(t * b + row) * n..(t * b + row + 1) * n]);
            }
        }
        let mut keys = workspace.take(b * t_x * a);
        self.keys().forward(b * t_x, &h, &mut keys);
        Encoded { words, forward, backward, h, keys }
    }

    fn unroll(
        &self,
        encoded: &Encoded,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Unrolled {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let rows = t_y * b;
        let words = Embedded::previous(&self.model, self.shard, options, noise, workspace);
        let mut x = workspace.take(rows * 3 * n);
        self.input().forward(rows, &words.e, &mut x);
        let mut out = Unrolled {
            words,
            s: workspace.take((t_y + 1) * b * n),
            c: workspace.take(rows * 2 * n),
            alpha: workspace.zeros(rows * t_x),
            q: workspace.take(rows * (a + 2 * n)),
            u: workspace.take(rows * n),
            r: workspace.take(rows * n),
            rs: workspace.take(rows * n),
            s_tilde: workspace.take(rows * n),
        };
        // s_0 = tanh(W_s <-h_1 + b_s)
        self.start().tanh(b, &encoded.backward.h[..b * n], &mut out.s[..b * n]);
        let v = self.model.get("attention.v_a");
        let mut energies = workspace.take(t_x);
        let mut candidate = workspace.take(b * n);
        for i in 0..t_y {
            let (s, s_next) = two_slots(&mut out.s, i, i + 1, b * n);
            let q = &mut out.q[i * b * (a + 2 * n)..(i + 1) * b * (a + 2 * n)];
            self.packs.query.forward.apply(b, s, n, q, a + 2 * n, false);
            let c = &mut out.c[i * b * 2 * n..(i + 1) * b * 2 * n];
            for row in 0..b {
                let length = self.shard.x_length[row];
                let q = &q[row * (a + 2 * n)..row * (a + 2 * n) + a];
                let e = &mut energies[..length];
                attention::energies(q, &encoded.keys[row * t_x * a..(row * t_x + length) * a], v, e);
                let h = &encoded.h[row * t_x * 2 * n..(row * t_x + length) * 2 * n];
                let at = (i * b + row) * t_x;
                attention::align(e, h, &mut out.alpha[at..at + length], &mut c[row * 2 * n..(row + 1) * 2 * n]);
            }
            let x = &mut x[i * b * 3 * n..(i + 1) * b * 3 * n];
            self.packs.c.forward.apply(b, c, 2 * n, x, 3 * n, true);
            let at = i * b * n..(i + 1) * b * n;
            let u = &mut out.u[at.clone()];
            let rs = &mut out.rs[at.clone()];
            gru::gates(Sense::New, n, x, q, a + 2 * n, a, s, None, u, &mut out.r[at.clone()], rs);
            self.packs.u.forward.apply(b, rs, n, &mut candidate, n, false);
            gru::update(n, x, &candidate, s, u, &mut out.s_tilde[at], s_next);
        }
        workspace.put_all([x, energies, candidate]);
        out
    }

    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    fn backward(
        &self,
        encoded: &Encoded,
        unrolled: &Unrolled,
        mut d: readout::ReadoutGradients,
        gradient: &mut [f32],
        options: StepOptions,
        loss: &mut BatchLoss,
        workspace: &mut TrainingScratch,
    ) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let mut dx = workspace.take(t_y * b * 3 * n);
        let mut dq = workspace.take(t_y * b * (a + 2 * n));
        let mut dkeys = workspace.zeros(b * t_x * a);
        let buffers = (&mut dx[..], &mut dq[..], &mut dkeys[..]);
        let ds_0 = self.unroll_back(encoded, unrolled, &mut d, buffers, gradient, options, loss, workspace);
        self.decoder_weights(unrolled, &mut d, &dx, &dq, gradient);
        unrolled.words.previous_back(&self.model, self.shard, &mut d.e, gradient);
        // dh_j = sum_i alpha_ij dc_i + U_a' dkeys_j
        let mut dh = workspace.take(b * t_x * 2 * n);
        for row in 0..b {
            let out = &mut dh[row * t_x * 2 * n..(row + 1) * t_x * 2 * n];
            let alpha = &unrolled.alpha[row * t_x..];
            self.model.precision.matmul_tn(t_x, 2 * n, t_y, alpha, b * t_x, &d.c[row * 2 * n..], b * 2 * n, out, false);
        }
        self.keys().back(b * t_x, &dkeys, &encoded.h, &mut dh, gradient);
        self.encode_back(encoded, &unrolled.s[..b * n], &dh, ds_0, gradient, workspace);
        workspace.put_all([dx, dq, dkeys, dh, d.s, d.e, d.c]);
    }

    /// From the last step to the first; returns ds_0. Completes `d.c`.
    #[allow(clippy::too_many_arguments, reason = "a backward pass names its sizes and buffers one by one")]
    fn unroll_back(
        &self,
        encoded: &Encoded,
        unrolled: &Unrolled,
        d: &mut readout::ReadoutGradients,
        (dx, dq, dkeys): (&mut [f32], &mut [f32], &mut [f32]),
        gradient: &mut [f32],
        options: StepOptions,
        loss: &mut BatchLoss,
        workspace: &mut TrainingScratch,
    ) -> Vec<f32> {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let wide = a + 2 * n;
        let v = self.model.get("attention.v_a");
        let dv = &mut gradient[self.model.layout.range("attention.v_a")];
        let mut ds = workspace.zeros(b * n);
        let mut next = workspace.take(b * n);
        let mut drs = workspace.take(b * n);
        let mut de = workspace.take(t_x);
        for i in (0..t_y).rev() {
            let at = i * b * n..(i + 1) * b * n;
            let s = &unrolled.s[at.clone()];
            let dx = &mut dx[i * b * 3 * n..(i + 1) * b * 3 * n];
            gru::update_back(
                Sense::New,
                n,
                &ds,
                &unrolled.u[at.clone()],
                &unrolled.s_tilde[at.clone()],
                s,
                dx,
                &mut next,
            );
            self.packs.u.back.apply(b, &dx[2 * n..], 3 * n, &mut drs, n, false);
            gru::reset_back(n, &drs, &unrolled.r[at.clone()], s, dx, &mut next);
            let dc = &mut d.c[i * b * 2 * n..(i + 1) * b * 2 * n];
            self.packs.c.back.apply(b, dx, 3 * n, dc, 2 * n, true);
            let dq = &mut dq[i * b * wide..(i + 1) * b * wide];
            for row in 0..b {
                let length = self.shard.x_length[row];
                let h = &encoded.h[row * t_x * 2 * n..(row * t_x + length) * 2 * n];
                let alpha = &unrolled.alpha[(i * b + row) * t_x..(i * b + row) * t_x + length];
                let de = &mut de[..length];
                attention::align_back(&dc[row * 2 * n..(row + 1) * 2 * n], h, alpha, de);
                let by = options.scale * options.guide;
                guide::look_back(self.shard.looks(i, row), &Focus::all(length), alpha, alpha, by, de, loss);
                let keys = row * t_x * a..(row * t_x + length) * a;
                let q = &unrolled.q[(i * b + row) * wide..(i * b + row) * wide + a];
                let (dq, dgates) = dq[row * wide..(row + 1) * wide].split_at_mut(a);
                attention::energies_back(q, &encoded.keys[keys.clone()], v, de, dq, &mut dkeys[keys], dv);
                dgates.copy_from_slice(&dx[row * 3 * n..row * 3 * n + 2 * n]);
            }
            self.packs.query.back.apply(b, dq, wide, &mut next, n, true);
            add(&d.s[at], &mut next);
            std::mem::swap(&mut ds, &mut next);
        }
        workspace.put_all([next, drs, de]);
        ds
    }

    fn decoder_weights(
        &self,
        unrolled: &Unrolled,
        d: &mut readout::ReadoutGradients,
        dx: &[f32],
        dq: &[f32],
        gradient: &mut [f32],
    ) {
        let (n, a) = (self.model.config.hidden, self.model.config.alignment);
        let rows = self.shard.t_y * self.shard.b;
        let layout = self.model.layout;
        self.model.precision.matmul_tn(
            a,
            n,
            rows,
            dq,
            a + 2 * n,
            &unrolled.s,
            n,
            &mut gradient[layout.range("attention.W_a")],
            true,
        );
        let at = layout.at("decoder.U_z");
        let (zr, u) = gradient[at..at + 3 * n * n].split_at_mut(2 * n * n);
        self.model.precision.matmul_tn(2 * n, n, rows, dx, 3 * n, &unrolled.s, n, zr, true);
        self.model.precision.matmul_tn(n, n, rows, &dx[2 * n..], 3 * n, &unrolled.rs, n, u, true);
        self.model.matrix_back("decoder.C_z", [3 * n, 2 * n], rows, dx, &unrolled.c, gradient);
        self.input().back(rows, dx, &unrolled.words.e, &mut d.e, gradient);
    }

    fn encode_back(
        &self,
        encoded: &Encoded,
        s_0: &[f32],
        dh: &[f32],
        mut ds_0: Vec<f32>,
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let mut forward = workspace.take(t_x * b * n);
        let mut backward = workspace.take(t_x * b * n);
        for t in 0..t_x {
            for row in 0..b {
                let d = &dh[(row * t_x + t) * 2 * n..(row * t_x + t + 1) * 2 * n];
                let at = (t * b + row) * n..(t * b + row + 1) * n;
                forward[at.clone()].copy_from_slice(&d[..n]);
                backward[at].copy_from_slice(&d[n..]);
            }
        }
        self.start().tanh_back(b, &mut ds_0, s_0, &encoded.backward.h, &mut backward[..b * n], gradient);
        let mut de = workspace.zeros(t_x * b * m);
        for (direction, scan, dh) in [
            (ScanDirection::Forward, &encoded.forward, &forward),
            (ScanDirection::Backward, &encoded.backward, &backward),
        ] {
            self.layer(direction).backward(scan, &encoded.words.e, t_x, b, dh, &mut de, gradient, workspace);
        }
        encoded.words.source_back(&self.model, self.shard, &mut de, gradient);
        workspace.put_all([forward, backward, de, ds_0]);
    }
}
