//! The additive alignment model for one row, forward and backward (Bahdanau et al. 2015, A.1.2): e_ij = v_a' tanh(W_a
//! s_{i-1} + U_a h_j + b_a), alpha_i = softmax(e_i), c_i = sum_j alpha_ij h_j.

use super::elementwise::{exp, tanh};
use super::per_level;

per_level! {
    /// Energies e [t_x] from q = W_a s [n'], keys = U_a h_j + b_a [t_x, n'] and v_a [n'].
    pub fn energies(q: &[f32], keys: &[f32], v: &[f32], e: &mut [f32]) {
        let n = v.len();
        for (e, key) in e.iter_mut().zip(keys.chunks_exact(n)) {
            let mut lanes = [0.0f32; 16];
            let (qc, qr) = q[..n].as_chunks::<16>();
            let (kc, kr) = key.as_chunks::<16>();
            let (vc, vr) = v.as_chunks::<16>();
            for ((q, k), v) in qc.iter().zip(kc).zip(vc) {
                for l in 0..16 {
                    lanes[l] += v[l] * tanh(q[l] + k[l]);
                }
            }
            let mut sum: f32 = lanes.iter().sum();
            for ((q, k), v) in qr.iter().zip(kr).zip(vr) {
                sum += v * tanh(q + k);
            }
            *e = sum;
        }
    }
}

per_level! {
    /// alpha = softmax(e) and c = sum_j alpha_j h_j, h [t_x, width].
    pub fn align(e: &[f32], h: &[f32], alpha: &mut [f32], c: &mut [f32]) {
        let max = e.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
        let mut sum = 0.0;
        for (a, e) in alpha.iter_mut().zip(e) {
            *a = exp(e - max);
            sum += *a;
        }
        let scale = 1.0 / sum;
        c.fill(0.0);
        let width = c.len();
        for (a, h) in alpha.iter_mut().zip(h.chunks_exact(width)) {
            *a *= scale;
            for (c, h) in c.iter_mut().zip(h) {
                *c += *a * *h;
            }
        }
    }
}

per_level! {
    /// d alpha_j = dc . h_j, then de_j = alpha_j (d alpha_j - sum_k alpha_k d alpha_k), written to `de`.
    pub fn align_back(dc: &[f32], h: &[f32], alpha: &[f32], de: &mut [f32]) {
        let width = dc.len();
        let mut mean = 0.0;
        for ((de, h), a) in de.iter_mut().zip(h.chunks_exact(width)).zip(alpha) {
            let mut lanes = [0.0f32; 32];
            let (x, xr) = dc.as_chunks::<32>();
            let (y, yr) = h.as_chunks::<32>();
            for (x, y) in x.iter().zip(y) {
                for l in 0..32 {
                    lanes[l] += x[l] * y[l];
                }
            }
            *de = lanes.iter().sum::<f32>() + xr.iter().zip(yr).map(|(x, y)| x * y).sum::<f32>();
            mean += a * *de;
        }
        for (de, a) in de.iter_mut().zip(alpha) {
            *de = a * (*de - mean);
        }
    }
}

per_level! {
    /// Backward through [`energies`], tanh computed again: dq is written, dkeys and dv are added to.
    pub fn energies_back(
        q: &[f32], keys: &[f32], v: &[f32], de: &[f32], dq: &mut [f32], dkeys: &mut [f32], dv: &mut [f32],
    ) {
        let n = v.len();
        let (q, dq, dv) = (&q[..n], &mut dq[..n], &mut dv[..n]);
        dq.fill(0.0);
        for ((key, dkey), &de) in keys.chunks_exact(n).zip(dkeys.chunks_exact_mut(n)).zip(de) {
            for k in 0..n {
                let t = tanh(q[k] + key[k]);
                dv[k] += de * t;
                let d = de * v[k] * (1.0 - t * t);
                dq[k] += d;
                dkey[k] += d;
            }
        }
    }
}
