//! RNN Encoder-Decoder (Cho et al. 2014), loss and gradient of one shard. The equations are in `models/rnn_encdec.rs`.

use crate::fused::encoder::{EncoderLayer, EncoderScan, UnitPacks};
use crate::fused::pass::{Packs, ShardPass};
use crate::fused::readout::ReadoutGradients;
use crate::fused::{Shard, readout};
use crate::fused::{affine::Affine, embedding::Embedded, parts::Both, parts::FusedParts, workspace::Buffer};
use engine::models::config::Config;
use engine::nn::{
    bidirectional::Direction, fused::elementwise::add, fused::gru, fused::gru::Sense, fused::scan::two_slots,
};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct EncdecPacks {
    encoder: UnitPacks,
    u: Both,
}

impl Packs for EncdecPacks {
    fn repack(&mut self, model: FusedParts<'_>) {
        let config = model.config;
        let n = config.hidden;
        let Self { encoder, u } = self;
        let w_u = model.joined("decoder.U_z", 3 * n * n);
        rayon::join(|| encoder.repack(&model, "encoder"), || u.repack(model.precision, w_u, 3 * n, n));
    }

    fn step(&self, pass: &mut ShardPass<'_>) {
        let encoded = self.encode(pass);
        let unrolled = self.unroll(pass, &encoded);
        let config = pass.model.config;
        // the readout uses the new state h'_t
        let s = &unrolled.s[pass.shard.b * config.hidden..];
        if let Some(d) = readout::step(pass, names(config), [s, &unrolled.words.e, &unrolled.c]) {
            self.backward(pass, &encoded, &unrolled, d);
        }
    }
}

fn names(config: &Config) -> readout::Names {
    let low_rank = config.output_rank.is_some();
    let (out, rank) = if low_rank { ("readout.G_l", Some("readout.G_r")) } else { ("readout.G", None) };
    readout::Names { inputs: ["readout.O_h", "readout.O_y", "readout.O_c"], out, rank, width: config.hidden }
}

const CONTEXT: (&str, &str) = ("encoder.V", "encoder.b_c");
const START: (&str, &str) = ("decoder.V", "decoder.b_s");

/// What the encoder leaves: c = tanh(V h_N + b_c) [b, n].
struct Encoded<'a> {
    words: Embedded<'a>,
    scan: EncoderScan<'a>,
    c: Buffer<'a>,
}

/// What the decoder leaves, [t_y, b, ...] each.
struct Unrolled<'a> {
    words: Embedded<'a>,
    /// [t_y + 1, b, n]
    s: Buffer<'a>,
    /// U s + C c: [t_y, b, 3n]
    p: Buffer<'a>,
    u: Buffer<'a>,
    r: Buffer<'a>,
    s_tilde: Buffer<'a>,
    /// c repeated for every step, [t_y * b, n]
    c: Buffer<'a>,
}

/// V x + b between states and c.
fn square<'a>(pass: &ShardPass<'a>, names: (&str, &str)) -> Affine<'a> {
    let n = pass.model.config.hidden;
    Affine::new(pass.model, names, n, n)
}

impl EncdecPacks {
    fn layer(&self) -> EncoderLayer<'_> {
        EncoderLayer { prefix: "encoder", packs: &self.encoder, sense: Sense::Old, direction: Direction::Forward }
    }

    fn encode<'a>(&self, pass: &mut ShardPass<'a>) -> Encoded<'a> {
        let Shard { b, t_x, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let words = Embedded::source(pass);
        let scan = self.layer().forward(pass, &words.e);
        let mut c = pass.buffers.take(b * n);
        // padding keeps the state, so that the last slot is h_N of every row
        square(pass, CONTEXT).tanh(b, &scan.h[t_x * b * n..], &mut c);
        Encoded { words, scan, c }
    }

    fn unroll<'a>(&self, pass: &mut ShardPass<'a>, encoded: &Encoded<'_>) -> Unrolled<'a> {
        let Shard { b, t_y, .. } = *pass.shard;
        let (n, rows) = (pass.model.config.hidden, t_y * b);
        let words = Embedded::previous(pass);
        let take = |length| pass.buffers.take(length);
        let mut x = take(rows * 3 * n);
        pass.gates("decoder").forward(rows, &words.e, &mut x);
        let mut cc = take(b * 3 * n);
        let w_c = pass.model.joined("decoder.C_z", 3 * n * n);
        pass.model.precision.matmul_nt(b, 3 * n, n, &encoded.c, w_c, &mut cc, false);
        let (s, p, [u, r, s_tilde, c]) = (take((t_y + 1) * b * n), take(rows * 3 * n), [rows * n; 4].map(take));
        let mut out = Unrolled { words, s, p, u, r, s_tilde, c };
        square(pass, START).tanh(b, &encoded.c, &mut out.s[..b * n]);
        for i in 0..t_y {
            let (s, s_next) = two_slots(&mut out.s, i, i + 1, b * n);
            let p = &mut out.p[i * b * 3 * n..(i + 1) * b * 3 * n];
            p.copy_from_slice(&cc);
            self.u.forward.apply(b, s, n, p, 3 * n, true);
            let at = i * b * n..(i + 1) * b * n;
            let x = &x[i * b * 3 * n..(i + 1) * b * 3 * n];
            let (u, r) = (&mut out.u[at.clone()], &mut out.r[at.clone()]);
            gru::cho_decoder(n, x, p, s, u, r, &mut out.s_tilde[at.clone()], s_next);
            out.c[at].copy_from_slice(&encoded.c);
        }
        out
    }

    fn backward(
        &self, pass: &mut ShardPass<'_>, encoded: &Encoded<'_>, unrolled: &Unrolled<'_>, mut d: ReadoutGradients<'_>,
    ) {
        let Shard { b, t_x, t_y, .. } = *pass.shard;
        let (n, m) = (pass.model.config.hidden, pass.model.config.embedding);
        let rows = t_y * b;
        let mut dx = pass.buffers.take(rows * 3 * n);
        let mut dp = pass.buffers.take(rows * 3 * n);
        let mut dcc = pass.buffers.zeros(b * 3 * n);
        let mut ds = self.unroll_back(pass, unrolled, &d.s, [&mut dx, &mut dp, &mut dcc]);
        pass.matrix_back("decoder.U_z", [3 * n, n], rows, &dp, &unrolled.s);
        pass.matrix_back("decoder.C_z", [3 * n, n], b, &dcc, &encoded.c);
        pass.gates("decoder").back(rows, &dx, &unrolled.words.e, &mut d.e, pass.gradient);
        unrolled.words.previous_back(pass, &mut d.e);
        // every step read the same c
        let mut dc = pass.buffers.zeros(b * n);
        for d in d.c.chunks_exact(b * n) {
            add(d, &mut dc);
        }
        let w_c = pass.model.joined("decoder.C_z", 3 * n * n);
        pass.model.precision.matmul(b, n, 3 * n, &dcc, w_c, &mut dc, true);
        square(pass, START).tanh_back(b, &mut ds, &unrolled.s[..b * n], &encoded.c, &mut dc, pass.gradient);
        let mut dh = pass.buffers.zeros(t_x * b * n);
        let last = (t_x - 1) * b * n;
        let h_last = &encoded.scan.h[t_x * b * n..];
        square(pass, CONTEXT).tanh_back(b, &mut dc, &encoded.c, h_last, &mut dh[last..], pass.gradient);
        let mut de = pass.buffers.zeros(t_x * b * m);
        self.layer().backward(pass, &encoded.scan, &encoded.words.e, &dh, &mut de);
        encoded.words.source_back(pass, &mut de);
    }

    /// From the last step to the first; returns ds_0 and fills the gradients of x, p and C c.
    fn unroll_back<'a>(
        &self, pass: &ShardPass<'a>, unrolled: &Unrolled<'_>, d_s: &[f32], [dx, dp, dcc]: [&mut [f32]; 3],
    ) -> Buffer<'a> {
        let Shard { b, t_y, .. } = *pass.shard;
        let n = pass.model.config.hidden;
        let mut ds = pass.buffers.zeros(b * n);
        let mut next = pass.buffers.take(b * n);
        for i in (0..t_y).rev() {
            let at = i * b * n..(i + 1) * b * n;
            let wide = i * b * 3 * n..(i + 1) * b * 3 * n;
            add(&d_s[at.clone()], &mut ds);
            let (dx, dp) = (&mut dx[wide.clone()], &mut dp[wide.clone()]);
            let (u, r, t) = (&unrolled.u[at.clone()], &unrolled.r[at.clone()], &unrolled.s_tilde[at.clone()]);
            gru::cho_decoder_back(n, &ds, &unrolled.p[wide], u, r, t, &unrolled.s[at], dx, dp, &mut next);
            add(dp, dcc);
            self.u.back.apply(b, dp, 3 * n, &mut next, n, true);
            std::mem::swap(&mut ds, &mut next);
        }
        ds
    }
}
