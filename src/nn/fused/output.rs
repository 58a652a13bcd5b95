//! Floor 1: maxout over neighbours and the softmax cross-entropy, forward and backward.

use super::elementwise::exp;
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

per_level! {
    /// From logits to -log p(target), in place: `x` becomes scale * (p - q), the gradient of
    /// scale times the cross-entropy, where q puts 1 - epsilon on the target and epsilon
    /// uniformly on all words. Returns (-log p(target), the smoothed loss).
    pub fn cross_entropy(x: &mut [f32], target: usize, epsilon: f32, scale: f32) -> (f32, f32) {
        let mut best = [f32::NEG_INFINITY; 32];
        let mut total = [0.0f32; 32];
        let (chunks, rest) = x.as_chunks::<32>();
        for c in chunks {
            for l in 0..32 {
                best[l] = if c[l] > best[l] { c[l] } else { best[l] };
                total[l] += c[l];
            }
        }
        let max = best.iter().chain(rest).fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
        let mean = (total.iter().sum::<f32>() + rest.iter().sum::<f32>()) / x.len() as f32;
        let at_target = x[target];
        let mut lanes = [0.0f32; 32];
        let (chunks, rest) = x.as_chunks_mut::<32>();
        for c in chunks {
            for l in 0..32 {
                c[l] = exp(c[l] - max);
                lanes[l] += c[l];
            }
        }
        let mut sum: f32 = lanes.iter().sum();
        for v in rest.iter_mut() {
            *v = exp(*v - max);
            sum += *v;
        }
        let log_sum = sum.ln();
        let uniform = epsilon / x.len() as f32;
        let by = scale / sum;
        let shift = scale * uniform;
        for v in x.iter_mut() {
            *v = *v * by - shift;
        }
        x[target] -= scale * (1.0 - epsilon);
        let nll = log_sum - (at_target - max);
        (nll, (1.0 - epsilon) * nll + epsilon * (log_sum - (mean - max)))
    }
}
