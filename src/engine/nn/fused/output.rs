//! Maxout over neighbours, forward and backward.

use super::per_level;

per_level! {
    /// t_j = max(t~_{2j-1}, t~_{2j}) (Bahdanau et al. 2015, A.2.2). `pre` [2l], `out` [l].
    pub fn maxout(pre: &[f32], out: &mut [f32]) {
        for (o, p) in out.iter_mut().zip(pre.as_chunks::<2>().0) {
            *o = if p[0] >= p[1] { p[0] } else { p[1] };
        }
    }
}

per_level! {
    /// Backward through [`maxout`]: the gradient goes to the greater neighbour. `d_pre` [2l] is written.
    pub fn maxout_back(pre: &[f32], d_out: &[f32], d_pre: &mut [f32]) {
        for ((d, p), g) in d_pre.as_chunks_mut::<2>().0.iter_mut().zip(pre.as_chunks::<2>().0).zip(d_out) {
            let first = p[0] >= p[1];
            d[0] = if first { *g } else { 0.0 };
            d[1] = if first { 0.0 } else { *g };
        }
    }
}
