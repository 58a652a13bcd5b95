//! The attention of Luong et al. 2015 for one row, forward and backward: scores that are
//! products (equation 7), the window and the Gaussian of local attention (section 3.2).

use super::elementwise::{exp, softmax};
use super::per_level;

per_level! {
    /// out_j = q . x_j over rows x [t, width].
    pub fn products(q: &[f32], x: &[f32], out: &mut [f32]) {
        let width = q.len();
        for (out, x) in out.iter_mut().zip(x.chunks_exact(width)) {
            let mut lanes = [0.0f32; 32];
            let (a, a_rest) = q.as_chunks::<32>();
            let (b, b_rest) = x.as_chunks::<32>();
            for (a, b) in a.iter().zip(b) {
                for l in 0..32 {
                    lanes[l] += a[l] * b[l];
                }
            }
            *out = lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>();
        }
    }
}

per_level! {
    /// out += sum_j w_j x_j over rows x [t, width].
    pub fn add_weighted(w: &[f32], x: &[f32], out: &mut [f32]) {
        let width = out.len();
        for (w, x) in w.iter().zip(x.chunks_exact(width)) {
            for (o, x) in out.iter_mut().zip(x) {
                *o += *w * *x;
            }
        }
    }
}

/// The source words that are looked at: `first..end` of a sentence, and how the weights fall off round p_t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Focus {
    pub first: usize,
    pub end: usize,
    /// p_t, in words from 0.
    pub p_t: f32,
    /// 1 / (2 sigma^2) of the Gaussian, sigma = D / 2; 0 where there is none.
    pub narrowness: f32,
}

impl Focus {
    /// The first `words` words, all of one weight.
    pub fn all(words: usize) -> Self {
        Self { first: 0, end: words, p_t: 0.0, narrowness: 0.0 }
    }

    /// Words from p_t - D to p_t + D that exist in a sentence of `words`; local-p has a Gaussian over them
    /// (equation 10), local-m does not.
    pub fn window(p_t: f32, d: usize, words: usize, gaussian: bool) -> Self {
        let d = d as f32;
        let first = (p_t - d).ceil().max(0.0) as usize;
        let end = ((p_t + d).floor().max(0.0) as usize + 1).min(words);
        Self { first: first.min(end), end, p_t, narrowness: if gaussian { 2.0 / (d * d) } else { 0.0 } }
    }

    /// alpha from e: the softmax over the window, times the Gaussian where there is one; 0 elsewhere. `base` becomes
    /// the softmax alone.
    pub fn align(&self, e: &[f32], base: &mut [f32], alpha: &mut [f32]) {
        base.fill(0.0);
        let window = self.first..self.end;
        base[window.clone()].copy_from_slice(&e[window.clone()]);
        softmax(&mut base[window.clone()]);
        alpha.copy_from_slice(base);
        if self.narrowness > 0.0 {
            for (j, alpha) in window.clone().zip(&mut alpha[window]) {
                let off = j as f32 - self.p_t;
                *alpha *= exp(-off * off * self.narrowness);
            }
        }
    }

    /// Backward through [`Focus::align`]: `d` holds d alpha and becomes de. Returns the gradient of p_t.
    pub fn align_back(&self, base: &[f32], alpha: &[f32], d: &mut [f32]) -> f32 {
        let (mut mean, mut dp) = (0.0, 0.0);
        for j in self.first..self.end {
            if self.narrowness > 0.0 {
                let off = j as f32 - self.p_t;
                dp += d[j] * alpha[j] * 2.0 * off * self.narrowness;
                d[j] *= exp(-off * off * self.narrowness);
            }
            mean += base[j] * d[j];
        }
        for (j, d) in d.iter_mut().enumerate() {
            *d = if (self.first..self.end).contains(&j) { base[j] * (*d - mean) } else { 0.0 };
        }
        dp
    }
}
