//! Floor 6: RNN Encoder-Decoder (Cho et al. 2014), loss and gradient of one shard.

use crate::models::config::Config;
use crate::nn::fused::elementwise::{add, add_column_sums, tanh_all};
use crate::nn::fused::gru::Sense;
use crate::nn::fused::scan::{Direction, two_slots};
use crate::nn::fused::{Packed, fill_rows, gru};
use crate::training::fused::encoder::{Layer, Scan, UnitPacks};
use crate::training::fused::search::{dropped, previous_words};
use crate::training::fused::workspace::{apply_mask, gather, scatter};
use crate::training::fused::{Loss, Noise, Parts, Shard, StepOptions, Workspace, readout};

/// Weights of single steps, packed.
#[derive(Debug, Default)]
pub struct Packs {
    encoder: UnitPacks,
    /// [U_z; U_r; U]
    u: Packed,
    u_back: Packed,
}

impl Packs {
    /// Packs again after an update.
    pub fn repack(&mut self, model: Parts<'_>) {
        let config = model.config;
        let n = config.hidden;
        let Self { encoder, u, u_back } = self;
        let w_u = model.joined("decoder.U_z", 3 * n * n);
        rayon::join(
            || encoder.repack(&model, "encoder"),
            || {
                u.pack_transposed(model.precision, w_u, 3 * n, n);
                u_back.pack_plain(model.precision, w_u, 3 * n, n);
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

/// What the encoder leaves: c = tanh(V h_N + b_c) [b, n].
struct Encoded {
    e: Vec<f32>,
    mask: Option<Vec<f32>>,
    scan: Scan,
    c: Vec<f32>,
}

/// What the decoder leaves, [t_y, b, ...] each.
struct Unrolled {
    e: Vec<f32>,
    mask: Option<Vec<f32>>,
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

struct Job<'a> {
    model: Parts<'a>,
    packs: &'a Packs,
    shard: &'a Shard,
}

/// Loss and, with `options`, gradient (added) of a shard.
pub fn step(
    model: Parts<'_>,
    packs: &Packs,
    shard: &Shard,
    workspace: &mut Workspace,
    gradient: &mut [f32],
    options: Option<StepOptions>,
) -> Loss {
    let job = Job { model, packs, shard };
    let mut noise = Noise::new(options.map_or(0, |o| o.seed));
    let encoded = job.encode(options, &mut noise, workspace);
    let unrolled = job.unroll(&encoded, options, &mut noise, workspace);
    // the readout uses the new state h'_t
    let inputs = readout::Inputs { s: &unrolled.s[shard.b * model.config.hidden..], e: &unrolled.e, c: &unrolled.c };
    let names = names(model.config);
    let (loss, d) = readout::step(&model, names, shard, inputs, gradient, options, &mut noise, workspace);
    if options.is_some() {
        job.backward(&encoded, &unrolled, d, gradient, workspace);
    }
    encoded.scan.release(workspace);
    workspace.put_all([encoded.e, encoded.c, unrolled.e, unrolled.s, unrolled.p]);
    workspace.put_all([unrolled.u, unrolled.r, unrolled.s_tilde, unrolled.c]);
    for mask in [encoded.mask, unrolled.mask].into_iter().flatten() {
        workspace.put(mask);
    }
    loss
}

impl Job<'_> {
    fn layer(&self) -> Layer<'_> {
        Layer {
            model: self.model,
            prefix: "encoder",
            packs: &self.packs.encoder,
            sense: Sense::Old,
            direction: Direction::Forward,
        }
    }

    fn encode(&self, options: Option<StepOptions>, noise: &mut Noise, workspace: &mut Workspace) -> Encoded {
        let Shard { b, t_x, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let mask = dropped(options, t_x * b * m, noise, workspace);
        let mut e = workspace.take(t_x * b * m);
        gather(self.model.get("source_embedding"), &self.shard.x, mask.as_deref(), &mut e);
        let scan = self.layer().forward(&e, t_x, b, &self.shard.live(), workspace);
        let mut c = workspace.take(b * n);
        // padding keeps the state, so that the last slot is h_N of every row
        self.affine("encoder.V", "encoder.b_c", &scan.h[t_x * b * n..], &mut c);
        Encoded { e, mask, scan, c }
    }

    /// out = tanh(V x + b), [b, n].
    fn affine(&self, matrix: &str, bias: &str, x: &[f32], out: &mut [f32]) {
        let (b, n) = (self.shard.b, self.model.config.hidden);
        fill_rows(self.model.get(bias), out);
        self.model.precision.matmul_nt(b, n, n, x, self.model.get(matrix), out, true);
        tanh_all(out);
    }

    /// Backward through [`Job::affine`]: `d` becomes the gradient of V x + b, the result that of x.
    fn affine_back(
        &self,
        names: (&str, &str),
        x: &[f32],
        out: &[f32],
        d: &mut [f32],
        gradient: &mut [f32],
        dx: &mut [f32],
    ) {
        let (b, n) = (self.shard.b, self.model.config.hidden);
        for (d, o) in d.iter_mut().zip(out) {
            *d *= 1.0 - o * o;
        }
        self.model.precision.matmul_tn(n, n, b, d, n, x, n, &mut gradient[self.model.layout.range(names.0)], true);
        add_column_sums(d, &mut gradient[self.model.layout.range(names.1)]);
        self.model.precision.matmul(b, n, n, d, self.model.get(names.0), dx, true);
    }

    fn unroll(
        &self,
        encoded: &Encoded,
        options: Option<StepOptions>,
        noise: &mut Noise,
        workspace: &mut Workspace,
    ) -> Unrolled {
        let Shard { b, t_y, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let rows = t_y * b;
        let mask = dropped(options, (t_y - 1) * b * m, noise, workspace);
        let e = previous_words(&self.model, self.shard, mask.as_deref(), workspace);
        let mut x = workspace.take(rows * 3 * n);
        fill_rows(self.model.joined("decoder.b_z", 3 * n), &mut x);
        self.model.precision.matmul_nt(rows, 3 * n, m, &e, self.model.joined("decoder.W_z", 3 * n * m), &mut x, true);
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
            e,
            mask,
            s: workspace.take((t_y + 1) * b * n),
            p: workspace.take(rows * 3 * n),
            u: workspace.take(rows * n),
            r: workspace.take(rows * n),
            s_tilde: workspace.take(rows * n),
            c: workspace.take(rows * n),
        };
        self.affine("decoder.V", "decoder.b_s", &encoded.c, &mut out.s[..b * n]);
        for i in 0..t_y {
            let (s, s_next) = two_slots(&mut out.s, i, i + 1, b * n);
            let p = &mut out.p[i * b * 3 * n..(i + 1) * b * 3 * n];
            p.copy_from_slice(&cc);
            self.packs.u.apply(b, s, n, p, 3 * n, true);
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
        mut d: readout::Gradients,
        gradient: &mut [f32],
        workspace: &mut Workspace,
    ) {
        let Shard { b, t_x, t_y, .. } = *self.shard;
        let (n, m) = (self.model.config.hidden, self.model.config.embedding);
        let (rows, layout) = (t_y * b, self.model.layout);
        let mut dx = workspace.take(rows * 3 * n);
        let mut dp = workspace.take(rows * 3 * n);
        let mut dcc = workspace.zeros(b * 3 * n);
        let mut ds = self.unroll_back(unrolled, &d.s, &mut dx, &mut dp, &mut dcc, workspace);
        let at = layout.at("decoder.U_z");
        self.model.precision.matmul_tn(
            3 * n,
            n,
            rows,
            &dp,
            3 * n,
            &unrolled.s,
            n,
            &mut gradient[at..at + 3 * n * n],
            true,
        );
        let at = layout.at("decoder.C_z");
        self.model.precision.matmul_tn(
            3 * n,
            n,
            b,
            &dcc,
            3 * n,
            &encoded.c,
            n,
            &mut gradient[at..at + 3 * n * n],
            true,
        );
        let at = layout.at("decoder.W_z");
        self.model.precision.matmul_tn(
            3 * n,
            m,
            rows,
            &dx,
            3 * n,
            &unrolled.e,
            m,
            &mut gradient[at..at + 3 * n * m],
            true,
        );
        let at = layout.at("decoder.b_z");
        add_column_sums(&dx, &mut gradient[at..at + 3 * n]);
        self.model.precision.matmul(rows, m, 3 * n, &dx, self.model.joined("decoder.W_z", 3 * n * m), &mut d.e, true);
        apply_mask(unrolled.mask.as_deref(), &mut d.e[b * m..]);
        let words = &self.shard.y[..(t_y - 1) * b];
        scatter(words, &d.e[b * m..], &mut gradient[layout.range("target_embedding")]);
        // every step read the same c
        let mut dc = workspace.zeros(b * n);
        for d in d.c.chunks_exact(b * n) {
            add(d, &mut dc);
        }
        self.model.precision.matmul(b, n, 3 * n, &dcc, self.model.joined("decoder.C_z", 3 * n * n), &mut dc, true);
        self.affine_back(("decoder.V", "decoder.b_s"), &encoded.c, &unrolled.s[..b * n], &mut ds, gradient, &mut dc);
        let mut dh = workspace.zeros(t_x * b * n);
        let last = (t_x - 1) * b * n;
        let h_last = &encoded.scan.h[t_x * b * n..];
        self.affine_back(("encoder.V", "encoder.b_c"), h_last, &encoded.c, &mut dc, gradient, &mut dh[last..]);
        let mut de = workspace.zeros(t_x * b * m);
        self.layer().backward(&encoded.scan, &encoded.e, t_x, b, &dh, &mut de, gradient, workspace);
        apply_mask(encoded.mask.as_deref(), &mut de);
        scatter(&self.shard.x, &de, &mut gradient[layout.range("source_embedding")]);
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
        workspace: &mut Workspace,
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
            self.packs.u_back.apply(b, dp, 3 * n, &mut next, n, true);
            std::mem::swap(&mut ds, &mut next);
        }
        workspace.put(next);
        ds
    }
}
