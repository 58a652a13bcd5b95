//! The element-wise part of the gated hidden unit, forward and backward; products with U are made by the caller. Both
//! papers' units (`nn/gru.rs`) are s' = (1 - u) s + u s~ with u = z in Bahdanau et al. 2015 (A.1.1) and u = 1 - z in
//! Cho et al. 2014 (A.1). Rows have 3n pre-activations in the order z, r, candidate.

use super::elementwise::{sigmoid, tanh};
use super::per_level;

/// The sense of the update gate z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// u = z: z takes the new state (Bahdanau et al. 2015).
    New,
    /// u = 1 - z: z keeps the old state (Cho et al. 2014).
    Old,
}

impl Sense {
    fn sign(self) -> f32 {
        match self {
            Self::New => 1.0,
            Self::Old => -1.0,
        }
    }
}

per_level! {
    /// u, r and r o s from x [b, 3n] = W e + C c + b and g [b, stride] whose first 2n columns from
    /// `offset` are U_z s, U_r s. Rows whose `live` is false keep their state (u = 0).
    pub fn gates(
        sense: Sense, n: usize, x: &[f32], g: &[f32], stride: usize, offset: usize, s: &[f32], live: Option<&[bool]>,
        u: &mut [f32], r: &mut [f32], rs: &mut [f32],
    ) {
        let sign = sense.sign();
        for (row, u) in u.chunks_exact_mut(n).enumerate() {
            let x = &x[row * 3 * n..(row + 1) * 3 * n];
            let g = &g[row * stride + offset..row * stride + offset + 2 * n];
            let s = &s[row * n..(row + 1) * n];
            let r = &mut r[row * n..(row + 1) * n];
            let rs = &mut rs[row * n..(row + 1) * n];
            let (xz, xr) = (&x[..n], &x[n..2 * n]);
            let (gz, gr) = (&g[..n], &g[n..2 * n]);
            // sigma(-a) = 1 - sigma(a): the sense is a sign
            for k in 0..n {
                u[k] = sigmoid(sign * (xz[k] + gz[k]));
            }
            for k in 0..n {
                r[k] = sigmoid(xr[k] + gr[k]);
                rs[k] = r[k] * s[k];
            }
            if live.is_some_and(|live| !live[row]) {
                u.fill(0.0);
            }
        }
    }
}

per_level! {
    /// s~ = tanh(x_candidate + a) with a = U (r o s) [b, n]; s' = s + u (s~ - s).
    pub fn update(n: usize, x: &[f32], a: &[f32], s: &[f32], u: &[f32], s_tilde: &mut [f32], out: &mut [f32]) {
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            let x = &x[row * 3 * n + 2 * n..(row + 1) * 3 * n];
            let at = row * n..(row + 1) * n;
            let (a, s, u) = (&a[at.clone()], &s[at.clone()], &u[at.clone()]);
            let t = &mut s_tilde[at];
            for k in 0..n {
                t[k] = tanh(x[k] + a[k]);
                out[k] = s[k] + u[k] * (t[k] - s[k]);
            }
        }
    }
}

per_level! {
    /// Backward through [`update`]: from ds' the gradients of z and the candidate in dx [b, 3n]
    /// (columns 0..n and 2n..3n) and ds = (1 - u) ds'.
    pub fn update_back(
        sense: Sense, n: usize, d_out: &[f32], u: &[f32], s_tilde: &[f32], s: &[f32], dx: &mut [f32], ds: &mut [f32],
    ) {
        let sign = sense.sign();
        for (row, ds) in ds.chunks_exact_mut(n).enumerate() {
            let at = row * n..(row + 1) * n;
            let (d, u, t, s) = (&d_out[at.clone()], &u[at.clone()], &s_tilde[at.clone()], &s[at]);
            let (dz, rest) = dx[row * 3 * n..(row + 1) * 3 * n].split_at_mut(n);
            let da = &mut rest[n..];
            for k in 0..n {
                dz[k] = sign * d[k] * (t[k] - s[k]) * u[k] * (1.0 - u[k]);
                da[k] = d[k] * u[k] * (1.0 - t[k] * t[k]);
                ds[k] = d[k] * (1.0 - u[k]);
            }
        }
    }
}

per_level! {
    /// Backward through r o s: from d(rs) the gradient of r in dx (columns n..2n), and ds += r d(rs).
    pub fn reset_back(n: usize, d_rs: &[f32], r: &[f32], s: &[f32], dx: &mut [f32], ds: &mut [f32]) {
        for (row, ds) in ds.chunks_exact_mut(n).enumerate() {
            let at = row * n..(row + 1) * n;
            let (d, r, s) = (&d_rs[at.clone()], &r[at.clone()], &s[at]);
            let dr = &mut dx[row * 3 * n + n..row * 3 * n + 2 * n];
            for k in 0..n {
                dr[k] = d[k] * s[k] * r[k] * (1.0 - r[k]);
                ds[k] += d[k] * r[k];
            }
        }
    }
}

per_level! {
    /// Cho's decoder unit, whose reset gate covers U s + C c: from x [b, 3n] = W e + b and
    /// p [b, 3n] = U s + C c (z, r, candidate): s~ = tanh(x + r o p), s' = s + u (s~ - s), u = 1 - z.
    pub fn cho_decoder(
        n: usize, x: &[f32], p: &[f32], s: &[f32], u: &mut [f32], r: &mut [f32], s_tilde: &mut [f32], out: &mut [f32],
    ) {
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            let x = &x[row * 3 * n..(row + 1) * 3 * n];
            let p = &p[row * 3 * n..(row + 1) * 3 * n];
            let at = row * n..(row + 1) * n;
            let s = &s[at.clone()];
            let (u, r, t) = (&mut u[at.clone()], &mut r[at.clone()], &mut s_tilde[at]);
            let (xz, xr, xc) = (&x[..n], &x[n..2 * n], &x[2 * n..3 * n]);
            let (pz, pr, pc) = (&p[..n], &p[n..2 * n], &p[2 * n..3 * n]);
            for k in 0..n {
                u[k] = sigmoid(-(xz[k] + pz[k]));
                r[k] = sigmoid(xr[k] + pr[k]);
            }
            for k in 0..n {
                t[k] = tanh(xc[k] + r[k] * pc[k]);
                out[k] = s[k] + u[k] * (t[k] - s[k]);
            }
        }
    }
}

per_level! {
    /// Backward through [`cho_decoder`]: dx [b, 3n], dp [b, 3n] and ds = (1 - u) ds' (without the part through p).
    pub fn cho_decoder_back(
        n: usize, d_out: &[f32], p: &[f32], u: &[f32], r: &[f32], s_tilde: &[f32], s: &[f32],
        dx: &mut [f32], dp: &mut [f32], ds: &mut [f32],
    ) {
        for (row, ds) in ds.chunks_exact_mut(n).enumerate() {
            let at = row * n..(row + 1) * n;
            let wide = row * 3 * n..(row + 1) * 3 * n;
            let (d, u, r) = (&d_out[at.clone()], &u[at.clone()], &r[at.clone()]);
            let (t, s) = (&s_tilde[at.clone()], &s[at]);
            let pc = &p[row * 3 * n + 2 * n..(row + 1) * 3 * n];
            let dx = &mut dx[wide.clone()];
            let dp = &mut dp[wide];
            for k in 0..n {
                let dz = -d[k] * (t[k] - s[k]) * u[k] * (1.0 - u[k]);
                let da = d[k] * u[k] * (1.0 - t[k] * t[k]);
                let dr = da * pc[k] * r[k] * (1.0 - r[k]);
                dx[k] = dz;
                dx[n + k] = dr;
                dx[2 * n + k] = da;
                dp[k] = dz;
                dp[n + k] = dr;
                dp[2 * n + k] = da * r[k];
                ds[k] = d[k] * (1.0 - u[k]);
            }
        }
    }
}
