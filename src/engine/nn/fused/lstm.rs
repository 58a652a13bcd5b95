//! The element-wise part of the LSTM cell of Zaremba et al. 2015 (`nn/lstm.rs`), forward and backward; products with W
//! and U are made by the caller. Rows have 4n pre-activations in the order i, f, o, g.

use super::elementwise::{sigmoid, tanh};
use super::per_level;

per_level! {
    /// i, f, o = sigma(.), g = tanh(.), c = f o c_prev + i o g, h = o o tanh(c). `gates` [b, 4n] holds the
    /// pre-activations and then the activations. Rows whose `live` is false keep h and c.
    pub fn cell(
        n: usize, gates: &mut [f32], c_prev: &[f32], h_prev: &[f32], live: Option<&[bool]>, c: &mut [f32], h: &mut [f32],
    ) {
        for (row, gates) in gates.chunks_exact_mut(4 * n).enumerate() {
            let at = row * n..(row + 1) * n;
            let (c, h) = (&mut c[at.clone()], &mut h[at.clone()]);
            let c_prev = &c_prev[at.clone()];
            if live.is_some_and(|live| !live[row]) {
                c.copy_from_slice(c_prev);
                h.copy_from_slice(&h_prev[at]);
                continue;
            }
            let (ifo, g) = gates.split_at_mut(3 * n);
            for x in ifo.iter_mut() {
                *x = sigmoid(*x);
            }
            let (i, rest) = ifo.split_at(n);
            let (f, o) = rest.split_at(n);
            for k in 0..n {
                g[k] = tanh(g[k]);
                c[k] = f[k] * c_prev[k] + i[k] * g[k];
                h[k] = o[k] * tanh(c[k]);
            }
        }
    }
}

per_level! {
    /// Backward through [`cell`]: from the gradient of h and, in `dc`, that of c, the gradient of the
    /// pre-activations `d_pre` [b, 4n] and, in `dc`, that of c_prev. `carry` becomes what goes to h_prev past the
    /// products: 0, or all of it in rows that are not live.
    pub fn cell_back(
        n: usize, gates: &[f32], c_prev: &[f32], c: &[f32], dh: &[f32], live: Option<&[bool]>,
        dc: &mut [f32], d_pre: &mut [f32], carry: &mut [f32],
    ) {
        for (row, d_pre) in d_pre.chunks_exact_mut(4 * n).enumerate() {
            let at = row * n..(row + 1) * n;
            let (dh, dc, carry) = (&dh[at.clone()], &mut dc[at.clone()], &mut carry[at.clone()]);
            if live.is_some_and(|live| !live[row]) {
                d_pre.fill(0.0);
                carry.copy_from_slice(dh);
                continue;
            }
            carry.fill(0.0);
            let (c_prev, c) = (&c_prev[at.clone()], &c[at]);
            let gates = &gates[row * 4 * n..(row + 1) * 4 * n];
            let (i, rest) = gates.split_at(n);
            let (f, rest) = rest.split_at(n);
            let (o, g) = rest.split_at(n);
            let (di, rest) = d_pre.split_at_mut(n);
            let (df, rest) = rest.split_at_mut(n);
            let (d_o, dg) = rest.split_at_mut(n);
            for k in 0..n {
                let t = tanh(c[k]);
                let d = dc[k] + dh[k] * o[k] * (1.0 - t * t);
                d_o[k] = dh[k] * t * o[k] * (1.0 - o[k]);
                di[k] = d * g[k] * i[k] * (1.0 - i[k]);
                df[k] = d * c_prev[k] * f[k] * (1.0 - f[k]);
                dg[k] = d * i[k] * (1.0 - g[k] * g[k]);
                dc[k] = d * f[k];
            }
        }
    }
}
