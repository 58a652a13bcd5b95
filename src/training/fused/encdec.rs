//! Floor 6: RNN Encoder-Decoder (Cho et al. 2014), loss and gradient of one shard. The equations are in
//! `models/rnn_encdec.rs`.

use crate::models::config::Config;
use crate::nn::fused::elementwise::add;
use crate::nn::fused::gru;
use crate::nn::fused::gru::Sense;
use crate::nn::fused::scan::{ScanDirection, two_slots};
use crate::training::fused::affine::Affine;
use crate::training::fused::both::Both;
use crate::training::fused::embedding::Embedded;
use crate::training::fused::encoder::{EncoderLayer, EncoderScan, UnitPacks};
use crate::training::fused::parts::FusedParts;
use crate::training::fused::{BatchLoss, Job, Noise, Shard, StepOptions, TrainingScratch, readout};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct EncdecPacks {
    encoder: UnitPacks,
    /// [U_z; U_r; U]
    u: Both,
}

impl EncdecPacks {
    /// Packs again after an update.
    pub fn repack(&mut self, model: FusedParts<'_>) {
        let config = model.config;
        let n = config.hidden;
        let Self { encoder, u } = self;
        let w_u = model.joined("decoder.U_z", 3 * n * n);
        rayon::join(
            || encoder.repack(&model, "encoder"),
            || {
                u.repack(model.precision, w_u, 3 * n, n);
            },
        );
    }
}

fn names(config: &Config) -> readout::Names {
    let low_rank = config.output_rank.is_some();
    readout::Names {
        state: "readout.O_h",
        word: "readout.O_y",
        context: "readout.O_c",
        out: if low_rank { "readout.G_l" } else { "readout.G" },
        rank: low_rank.then_some("readout.G_r"),
        width: config.hidden,
    }
}

const CONTEXT: (&str, &str) = ("encoder.V", "encoder.b_c");
const START: (&str, &str) = ("decoder.V", "decoder.b_s");

/// What the encoder leaves: c = tanh(V h_N + b_c) [b, n].
struct Encoded {
    words: Embedded,
    scan: EncoderScan,
    c: Vec<f32>,
}

/// What the decoder leaves, [t_y, b, ...] each.
struct Unrolled {
    words: Embedded,
    /// [t_y + 1, b, n]
    s: Vec<f32>,
    /// U s + C c: [t_y, b, 3n]
    p: Vec<f32>,
    u: Vec<f32>,
    r: Vec<f32>,
    s_tilde: Vec<f32>,
    /// c repeated for every step, [t_y * b, n]
    c: Vec<f32>,
}

/// Loss and, with `options`, gradient (added) of a shard.
pub fn step(
    model: FusedParts<'_>,
    packs: &EncdecPacks,
    shard: &Shard,
    workspace: &mut TrainingScratch,
    gradient: &mut [f32],
    options: Option<StepOptions>,
) -> BatchLoss {
    let job = Job { model, packs, shard };
    let mut noise = Noise::new(options.map_or(0, |o| o.seed));
    let encoded = job.encode(options, &mut noise, workspace);
    let unrolled = job.unroll(&encoded, options, &mut noise, workspace);
    // the readout uses the new state h'_t
    let inputs =
        readout::Inputs { s: &unrolled.s[shard.b * model.config.hidden..], e: &unrolled.words.e, c: &unrolled.c };
    let names = names(model.config);
    let (loss, d) = readout::step(&model, names, shard, inputs, gradient, options, &mut noise, workspace);
    if options.is_some() {
        job.backward(&encoded, &unrolled, d, gradient, workspace);
    }
    encoded.scan.release(workspace);
    encoded.words.release(workspace);
    unrolled.words.release(workspace);
    workspace.put_all([encoded.c, unrolled.s, unrolled.p]);
    workspace.put_all([unrolled.u, unrolled.r, unrolled.s_tilde, unrolled.c]);
    loss
}

impl Job<'_, EncdecPacks> {
    fn layer(&self) -> EncoderLayer<'_> {
        EncoderLayer {
            model: self.model,
            prefix: "encoder",
            packs: &self.packs.encoder,
            sense: Sense::Old,
            direction: ScanDirection::Forward,
        }
    }

    fn encode(&self, options: Option<StepOptions>, noise: &mut Noise, workspace: &mut TrainingScratch) -> Encoded {
        let Shard { b, t_x, .. } = *self.shard;
        let n = self.model.config.hidden;
        let words = Embedded::source(&self.model, self.shard, options, noise, workspace);
        let scan = self.layer().forward(&words.e, t_x, b, &self.shard.live(), workspace);
        let mut c = workspace.take(b * n);
        // padding keeps the state, so that the last slot is h_N of every row
        self.square(CONTEXT).tanh(b, &scan.h[t_x * b * n..], &mut c);
        Encoded { words, scan, c }
    }

    /// V x + b between states and c.
    fn square(&self, names: (&str, &str)) -> Affine<'_> {
        let n = self.model.config.hidden;
        Affine::new(self.model, names, n, n)
    }

    fn unroll(
        &self,
        encoded: &Encoded,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut TrainingScratch,
    ) -> Unrolled {
        let Shard { b, t_y, .. } = *self.shard;
        let (n, rows) = (self.model.config.hidden, t_y * b);
        let words = Embedded::previous(&self.model, self.shard, options, noise, workspace);
        let mut x = workspace.take(rows * 3 * n);
        self.input().forward(rows, &words.e, &mut x);
        let mut cc = workspace.take(b * 3 * n);
        self.model.precision.matmul_nt(
            b,
            3 * n,
            n,
            &encoded.c,
            self.model.joined("decoder.C_z", 3 * n * n),
            &mut cc,
            false,
        );
        let mut out = Unrolled {
            words,
            s: workspace.take((t_y + 1) * b * n),
            p: workspace.take(rows * 3 * n),
            u: workspace.take(rows * n),
            r: workspace.take(rows * n),
            s_tilde: workspace.take(rows * n),
            c: workspace.take(rows * n),
        };
        self.square(START).tanh(b, &encoded.c, &mut out.s[..b * n]);
        for i in 0..t_y {
            let (s, s_next) = two_slots(&mut out.s, i, i + 1, b * n);
            let p = &mut out.p[i * b * 3 * n..(i + 1) * b * 3 * n];
            p.copy_from_slice(&cc);
            self.packs.u.forward.apply(b, s, n, p, 3 * n, true);
            let at = i * b * n..(i + 1) * b * n;
            let x = &x[i * b * 3 * n..(i + 1) * b * 3 * n];
            let (u, r) = (&mut out.u[at.clone()], &mut out.r[at.clone()]);
            gru::cho_decoder(n, x, p, s, u, r, &mut out.s_tilde[at.clone()], s_next);
            out.c[at].copy_from_slice(&encoded.c);
        }
        workspace.put_all([x, cc]);
        out
    }

    fn backward(
        &self,
        encoded: &Encoded,
        unrolled: &Unrolled,
        mut d: readout::ReadoutGradients,
        gradient: &mut [f32],
        workspace: &mut TrainingScratch,
    ) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let rows = t_y * b;
        let mut dx = workspace.take(rows * 3 * n);
        let mut dp = workspace.take(rows * 3 * n);
        let mut dcc = workspace.zeros(b * 3 * n);
        let mut ds = self.unroll_back(unrolled, &d.s, &mut dx, &mut dp, &mut dcc, workspace);
        self.model.matrix_back("decoder.U_z", [3 * n, n], rows, &dp, &unrolled.s, gradient);
        self.model.matrix_back("decoder.C_z", [3 * n, n], b, &dcc, &encoded.c, gradient);
        self.input().back(rows, &dx, &unrolled.words.e, &mut d.e, gradient);
        unrolled.words.previous_back(&self.model, self.shard, &mut d.e, gradient);
        // every step read the same c
        let mut dc = workspace.zeros(b * n);
        for d in d.c.chunks_exact(b * n) {
            add(d, &mut dc);
        }
        self.model.precision.matmul(b, n, 3 * n, &dcc, self.model.joined("decoder.C_z", 3 * n * n), &mut dc, true);
        self.square(START).tanh_back(b, &mut ds, &unrolled.s[..b * n], &encoded.c, &mut dc, gradient);
        let mut dh = workspace.zeros(t_x * b * n);
        let last = (t_x - 1) * b * n;
        let h_last = &encoded.scan.h[t_x * b * n..];
        self.square(CONTEXT).tanh_back(b, &mut dc, &encoded.c, h_last, &mut dh[last..], gradient);
        let mut de = workspace.zeros(t_x * b * m);
        self.layer().backward(&encoded.scan, &encoded.words.e, t_x, b, &dh, &mut de, gradient, workspace);
        encoded.words.source_back(&self.model, self.shard, &mut de, gradient);
        workspace.put_all([dx, dp, dcc, ds, dc, dh, de]);
        workspace.put_all([d.s, d.e, d.c]);
    }

    /// From the last step to the first; returns ds_0 and fills the gradients of x, p and C c.
    fn unroll_back(
        &self,
        unrolled: &Unrolled,
        d_s: &[f32],
        dx: &mut [f32],
        dp: &mut [f32],
        dcc: &mut [f32],
        workspace: &mut TrainingScratch,
    ) -> Vec<f32> {
        let Shard { b, t_y, .. } = *self.shard;
        let n = self.model.config.hidden;
        let mut ds = workspace.zeros(b * n);
        let mut next = workspace.take(b * n);
        for i in (0..t_y).rev() {
            let at = i * b * n..(i + 1) * b * n;
            let wide = i * b * 3 * n..(i + 1) * b * 3 * n;
            add(&d_s[at.clone()], &mut ds);
            let (dx, dp) = (&mut dx[wide.clone()], &mut dp[wide.clone()]);
            let (u, r, t) = (&unrolled.u[at.clone()], &unrolled.r[at.clone()], &unrolled.s_tilde[at.clone()]);
            gru::cho_decoder_back(n, &ds, &unrolled.p[wide], u, r, t, &unrolled.s[at], dx, dp, &mut next);
            add(dp, dcc);
            self.packs.u.back.apply(b, dp, 3 * n, &mut next, n, true);
            std::mem::swap(&mut ds, &mut next);
        }
        workspace.put(next);
        ds
    }
}
