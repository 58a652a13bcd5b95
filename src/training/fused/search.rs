//! RNNsearch (Bahdanau et al. 2015), loss and gradient of one shard. The equations are in `models/rnn_search.rs`.

use crate::fused::encoder::{EncoderLayer, EncoderScan, UnitPacks};
use crate::fused::pass::{Packs, ShardPass};
use crate::fused::readout::ReadoutGradients;
use crate::fused::{Shard, guide, readout};
use crate::fused::{affine::Affine, embedding::Embedded, parts::Both, parts::FusedParts, workspace::Buffer};
use engine::nn::fused::{attention, gru};
use engine::nn::{
    bidirectional::Direction, fused::elementwise::add, fused::focus::Focus, fused::gru::Sense, fused::scan::two_slots,
};

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

impl Packs for SearchPacks {
    fn repack(&mut self, model: FusedParts<'_>) {
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

    fn step(&self, pass: &mut ShardPass<'_>) {
        let encoded = self.encode(pass);
        let unrolled = self.unroll(pass, &encoded);
        let n = pass.model.config.hidden;
        let rows = pass.shard.t_y * pass.shard.b;
        let inputs = ["readout.U_o", "readout.V_o", "readout.C_o"];
        let names = readout::Names { inputs, out: "readout.W_o", rank: None, width: 2 * n };
        if let Some(d) = readout::step(pass, names, [&unrolled.s[..rows * n], &unrolled.words.e, &unrolled.c]) {
            self.backward(pass, &encoded, &unrolled, d);
        }
    }
}

/// What the encoder leaves: embeddings, both scans, annotations h [b, t_x, 2n] and keys [b, t_x, n'].
struct Encoded<'a> {
    words: Embedded<'a>,
    forward: EncoderScan<'a>,
    backward: EncoderScan<'a>,
    h: Buffer<'a>,
    keys: Buffer<'a>,
}

/// What the decoder leaves, [t_y, b, ...] each.
struct Unrolled<'a> {
    words: Embedded<'a>,
    /// [t_y + 1, b, n]
    s: Buffer<'a>,
    c: Buffer<'a>,
    alpha: Buffer<'a>,
    /// q, U_z s, U_r s: [b, n' + 2n]
    q: Buffer<'a>,
    u: Buffer<'a>,
    r: Buffer<'a>,
    rs: Buffer<'a>,
    s_tilde: Buffer<'a>,
}

/// U_a h + b_a.
fn keys<'a>(pass: &ShardPass<'a>) -> Affine<'a> {
    let config = pass.model.config;
    Affine::new(pass.model, ("attention.U_a", "attention.b_a"), config.alignment, 2 * config.hidden)
}

/// W_s <-h_1 + b_s.
fn start<'a>(pass: &ShardPass<'a>) -> Affine<'a> {
    let n = pass.model.config.hidden;
    Affine::new(pass.model, ("decoder.W_s", "decoder.b_s"), n, n)
}

impl SearchPacks {
    fn layer(&self, direction: Direction) -> EncoderLayer<'_> {
        let (prefix, packs) = match direction {
            Direction::Forward => ("encoder.forward", &self.forward),
            Direction::Backward => ("encoder.backward", &self.backward),
        };
        EncoderLayer { prefix, packs, sense: Sense::New, direction }
    }

    fn encode<'a>(&self, pass: &mut ShardPass<'a>) -> Encoded<'a> {
        let Shard { b, t_x, .. } = *pass.shard;
        let (n, a) = (pass.model.config.hidden, pass.model.config.alignment);
        let words = Embedded::source(pass);
        let forward = self.layer(Direction::Forward).forward(pass, &words.e);
        let backward = self.layer(Direction::Backward).forward(pass, &words.e);
        let mut h = pass.buffers.take(b * t_x * 2 * n);
        for t in 0..t_x {
            for row in 0..b {
                let out = &mut h[(row * t_x + t) * 2 * n..(row * t_x + t + 1) * 2 * n];
                out[..n].copy_from_slice(&forward.h[((t + 1) * b + row) * n..((t + 1) * b + row + 1) * n]);
                out[n..].copy_from_slice(&backward.h[(t * b + row) * n..(t * b + row + 1) * n]);
            }
        }
        let mut keys_of_h = pass.buffers.take(b * t_x * a);
        keys(pass).forward(b * t_x, &h, &mut keys_of_h);
        Encoded { words, forward, backward, h, keys: keys_of_h }
    }

    fn unroll<'a>(&self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>) -> Unrolled<'a> {
        let Shard { b, t_x, t_y, ref x_length, .. } = *pass.shard;
        let (n, a) = (pass.model.config.hidden, pass.model.config.alignment);
        let rows = t_y * b;
        let words = Embedded::previous(pass);
        let take = |length| pass.buffers.take(length);
        let mut x = take(rows * 3 * n);
        pass.gates("decoder").forward(rows, &words.e, &mut x);
        let (s, c, q) = (take((t_y + 1) * b * n), take(rows * 2 * n), take(rows * (a + 2 * n)));
        let (alpha, [u, r, rs, s_tilde]) = (pass.buffers.zeros(rows * t_x), [rows * n; 4].map(take));
        let mut out = Unrolled { words, s, c, alpha, q, u, r, rs, s_tilde };
        // s_0 = tanh(W_s <-h_1 + b_s)
        start(pass).tanh(b, &encoded.backward.h[..b * n], &mut out.s[..b * n]);
        let v = pass.model.get("attention.v_a");
        let mut energies = take(t_x);
        let mut candidate = take(b * n);
        for i in 0..t_y {
            let (s, s_next) = two_slots(&mut out.s, i, i + 1, b * n);
            let q = &mut out.q[i * b * (a + 2 * n)..(i + 1) * b * (a + 2 * n)];
            self.query.forward.apply(b, s, n, q, a + 2 * n, false);
            let c = &mut out.c[i * b * 2 * n..(i + 1) * b * 2 * n];
            for (row, &length) in x_length.iter().enumerate() {
                let q = &q[row * (a + 2 * n)..row * (a + 2 * n) + a];
                let e = &mut energies[..length];
                attention::energies(q, &encoded.keys[row * t_x * a..(row * t_x + length) * a], v, e);
                let h = &encoded.h[row * t_x * 2 * n..(row * t_x + length) * 2 * n];
                let at = (i * b + row) * t_x;
                attention::align(e, h, &mut out.alpha[at..at + length], &mut c[row * 2 * n..(row + 1) * 2 * n]);
            }
            let x = &mut x[i * b * 3 * n..(i + 1) * b * 3 * n];
            self.c.forward.apply(b, c, 2 * n, x, 3 * n, true);
            let at = i * b * n..(i + 1) * b * n;
            let u = &mut out.u[at.clone()];
            let rs = &mut out.rs[at.clone()];
            gru::gates(Sense::New, n, x, q, a + 2 * n, a, s, None, u, &mut out.r[at.clone()], rs);
            self.u.forward.apply(b, rs, n, &mut candidate, n, false);
            gru::update(n, x, &candidate, s, u, &mut out.s_tilde[at], s_next);
        }
        out
    }

    fn backward(
        &self, pass: &mut ShardPass<'_>, encoded: &Encoded<'_>, unrolled: &Unrolled<'_>, mut d: ReadoutGradients<'_>,
    ) {
        let Shard { b, t_x, t_y, .. } = *pass.shard;
        let (n, a) = (pass.model.config.hidden, pass.model.config.alignment);
        let [x, q] = [t_y * b * 3 * n, t_y * b * (a + 2 * n)].map(|length| pass.buffers.take(length));
        let mut steps = StepGradients { x, q, keys: pass.buffers.zeros(b * t_x * a) };
        let ds_0 = self.unroll_back(pass, encoded, unrolled, &mut d, &mut steps);
        decoder_weights(pass, unrolled, &mut d.e, &steps);
        unrolled.words.previous_back(pass, &mut d.e);
        // dh_j = sum_i alpha_ij dc_i + U_a' dkeys_j
        let mut dh = pass.buffers.take(b * t_x * 2 * n);
        for row in 0..b {
            let out = &mut dh[row * t_x * 2 * n..(row + 1) * t_x * 2 * n];
            let alpha = &unrolled.alpha[row * t_x..];
            pass.model.precision.matmul_tn(t_x, 2 * n, t_y, alpha, b * t_x, &d.c[row * 2 * n..], b * 2 * n, out, false);
        }
        keys(pass).back(b * t_x, &steps.keys, &encoded.h, &mut dh, pass.gradient);
        self.encode_back(pass, encoded, &unrolled.s[..b * n], &dh, ds_0);
    }

    /// From the last step to the first; returns ds_0. Completes `d.c`.
    fn unroll_back<'a>(
        &self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>, unrolled: &Unrolled<'_>, d: &mut ReadoutGradients<'_>,
        steps: &mut StepGradients<'_>,
    ) -> Buffer<'a> {
        let Shard { b, t_x, t_y, ref x_length, .. } = *pass.shard;
        let (n, a) = (pass.model.config.hidden, pass.model.config.alignment);
        let wide = a + 2 * n;
        let v = pass.model.get("attention.v_a");
        let by = pass.guide_scale();
        let dv = &mut pass.gradient[pass.model.layout.range("attention.v_a")];
        let mut ds = pass.buffers.zeros(b * n);
        let mut next = pass.buffers.take(b * n);
        let mut drs = pass.buffers.take(b * n);
        let mut de = pass.buffers.take(t_x);
        for i in (0..t_y).rev() {
            let at = i * b * n..(i + 1) * b * n;
            let s = &unrolled.s[at.clone()];
            let (u, s_tilde) = (&unrolled.u[at.clone()], &unrolled.s_tilde[at.clone()]);
            let dx = &mut steps.x[i * b * 3 * n..(i + 1) * b * 3 * n];
            gru::update_back(Sense::New, n, &ds, u, s_tilde, s, dx, &mut next);
            self.u.back.apply(b, &dx[2 * n..], 3 * n, &mut drs, n, false);
            gru::reset_back(n, &drs, &unrolled.r[at.clone()], s, dx, &mut next);
            let dc = &mut d.c[i * b * 2 * n..(i + 1) * b * 2 * n];
            self.c.back.apply(b, dx, 3 * n, dc, 2 * n, true);
            let dq = &mut steps.q[i * b * wide..(i + 1) * b * wide];
            for (row, &length) in x_length.iter().enumerate() {
                let h = &encoded.h[row * t_x * 2 * n..(row * t_x + length) * 2 * n];
                let alpha = &unrolled.alpha[(i * b + row) * t_x..(i * b + row) * t_x + length];
                let de = &mut de[..length];
                attention::align_back(&dc[row * 2 * n..(row + 1) * 2 * n], h, alpha, de);
                let looks = pass.shard.looks(i, row);
                guide::look_back(looks, &Focus::all(length), alpha, alpha, by, de, &mut pass.loss);
                let keys = row * t_x * a..(row * t_x + length) * a;
                let q = &unrolled.q[(i * b + row) * wide..(i * b + row) * wide + a];
                let (dq, dgates) = dq[row * wide..(row + 1) * wide].split_at_mut(a);
                attention::energies_back(q, &encoded.keys[keys.clone()], v, de, dq, &mut steps.keys[keys], dv);
                dgates.copy_from_slice(&dx[row * 3 * n..row * 3 * n + 2 * n]);
            }
            self.query.back.apply(b, dq, wide, &mut next, n, true);
            add(&d.s[at], &mut next);
            std::mem::swap(&mut ds, &mut next);
        }
        ds
    }

    fn encode_back(
        &self, pass: &mut ShardPass<'_>, encoded: &Encoded<'_>, s_0: &[f32], dh: &[f32], mut ds_0: Buffer<'_>,
    ) {
        let Shard { b, t_x, .. } = *pass.shard;
        let (n, m) = (pass.model.config.hidden, pass.model.config.embedding);
        let mut forward = pass.buffers.take(t_x * b * n);
        let mut backward = pass.buffers.take(t_x * b * n);
        for t in 0..t_x {
            for row in 0..b {
                let d = &dh[(row * t_x + t) * 2 * n..(row * t_x + t + 1) * 2 * n];
                let at = (t * b + row) * n..(t * b + row + 1) * n;
                forward[at.clone()].copy_from_slice(&d[..n]);
                backward[at].copy_from_slice(&d[n..]);
            }
        }
        start(pass).tanh_back(b, &mut ds_0, s_0, &encoded.backward.h, &mut backward[..b * n], pass.gradient);
        let mut de = pass.buffers.zeros(t_x * b * m);
        for (direction, scan, dh) in
            [(Direction::Forward, &encoded.forward, &forward), (Direction::Backward, &encoded.backward, &backward)]
        {
            self.layer(direction).backward(pass, scan, &encoded.words.e, dh, &mut de);
        }
        encoded.words.source_back(pass, &mut de);
    }
}

struct StepGradients<'a> {
    x: Buffer<'a>,
    q: Buffer<'a>,
    keys: Buffer<'a>,
}

fn decoder_weights(pass: &mut ShardPass<'_>, unrolled: &Unrolled<'_>, de: &mut [f32], steps: &StepGradients<'_>) {
    let (n, a) = (pass.model.config.hidden, pass.model.config.alignment);
    let (rows, precision) = (pass.shard.t_y * pass.shard.b, pass.model.precision);
    let dw = pass.gradient_of("attention.W_a");
    precision.matmul_tn(a, n, rows, &steps.q, a + 2 * n, &unrolled.s, n, dw, true);
    pass.unit_back("decoder", &steps.x, &unrolled.s, &unrolled.rs);
    pass.matrix_back("decoder.C_z", [3 * n, 2 * n], rows, &steps.x, &unrolled.c);
    pass.gates("decoder").back(rows, &steps.x, &unrolled.words.e, de, pass.gradient);
}
