//! Multi-head attention of one row over keys and values that lie anywhere in a store of rows, layer
//! normalisation, and the nonlinearities between two layers of a feed-forward net.

use super::elementwise::{exp, sigmoid};
use super::per_level;

/// Lanes of a sum.
const LANES: usize = 16;

#[inline(always)]
fn product(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (xc, xr) = x.as_chunks::<LANES>();
    let (yc, yr) = y.as_chunks::<LANES>();
    for (a, b) in xc.iter().zip(yc) {
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    lanes.iter().sum::<f32>() + xr.iter().zip(yr).map(|(a, b)| a * b).sum::<f32>()
}

per_level! {
    /// e_hj = scale q_h' k_hj of every head, `e` [heads, at.len()]: the key of word j begins at `at[j]` in `store`, its
    /// heads side by side as those of `q`.
    pub fn energies(q: &[f32], store: &[f32], at: &[usize], heads: usize, scale: f32, e: &mut [f32]) {
        let (d, t) = (q.len(), at.len());
        let width = d / heads;
        for (j, from) in at.iter().enumerate() {
            let key = &store[*from..*from + d];
            for h in 0..heads {
                let part = h * width..(h + 1) * width;
                e[h * t + j] = scale * product(&q[part.clone()], &key[part]);
            }
        }
    }
}

per_level! {
    /// c_h = sum_j w_hj v_hj of every head, `c` [d]: the value of word j begins at `at[j] + offset` in `store`.
    pub fn mix(w: &[f32], store: &[f32], at: &[usize], offset: usize, heads: usize, c: &mut [f32]) {
        let (d, t) = (c.len(), at.len());
        let width = d / heads;
        c.fill(0.0);
        for (j, from) in at.iter().enumerate() {
            let value = &store[*from + offset..*from + offset + d];
            for h in 0..heads {
                let w = w[h * t + j];
                let part = h * width..(h + 1) * width;
                for (c, v) in c[part.clone()].iter_mut().zip(&value[part]) {
                    *c += w * v;
                }
            }
        }
    }
}

per_level! {
    /// Each row of `x` [rows, g.len()] becomes g (x - mean) / sqrt(variance + epsilon) + b.
    pub fn norm(x: &mut [f32], g: &[f32], b: &[f32], epsilon: f32) {
        let d = g.len();
        for row in x.chunks_exact_mut(d) {
            let mean = total(row, |x| x) / d as f32;
            for x in row.iter_mut() {
                *x -= mean;
            }
            let scale = 1.0 / (total(row, |x| x * x) / d as f32 + epsilon).sqrt();
            for ((x, g), b) in row.iter_mut().zip(g).zip(b) {
                *x = *x * scale * g + b;
            }
        }
    }
}

#[inline(always)]
fn total(x: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for l in 0..LANES {
            lanes[l] += of(chunk[l]);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

per_level! {
    /// x = max(0, x).
    pub fn relu(x: &mut [f32]) {
        for x in x {
            *x = x.max(0.0);
        }
    }
}

per_level! {
    /// x = x sigma(x).
    pub fn swish(x: &mut [f32]) {
        for x in x {
            *x *= sigmoid(*x);
        }
    }
}

per_level! {
    /// x = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2, with erf by formula 7.1.26 of Abramowitz and Stegun 1964,
    /// whose error is below 2e-7.
    pub fn gelu(x: &mut [f32]) {
        for x in x {
            let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
            let t = 1.0 / (1.0 + 0.327_591_1 * z);
            let p = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
            let erf = 1.0 - p * exp(-z * z);
            *x *= 0.5 * (1.0 + if *x < 0.0 { -erf } else { erf });
        }
    }
}

per_level! {
    /// c = f c_before + (1 - f) w, f = sigma(f), of an SSRU; `c_before` is empty at the first step.
    pub fn ssru(w: &[f32], f: &[f32], before: &[f32], c: &mut [f32]) {
        for (i, c) in c.iter_mut().enumerate() {
            let f = sigmoid(f[i]);
            *c = (1.0 - f) * w[i] + before.get(i).map_or(0.0, |before| f * before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|n| (((n * 37 + seed * 101) % 89) as f32 - 44.0) / 23.0).collect()
    }

    #[test]
    fn attention_is_that_of_a_plain_loop_on_odd_sizes() {
        for (heads, width, words) in [(1, 3, 1), (2, 16, 5), (3, 7, 4), (4, 33, 9)] {
            let d = heads * width;
            let (q, store) = (numbers(d, 1), numbers(2 * d * (words + 3), 2));
            let at: Vec<usize> = (0..words).map(|j| (words + 2 - j) * 2 * d).collect();
            let (mut e, mut c) = (vec![0.0; heads * words], vec![9.0; d]);
            energies(&q, &store, &at, heads, 0.5, &mut e);
            mix(&e, &store, &at, d, heads, &mut c);
            for h in 0..heads {
                for (j, from) in at.iter().enumerate() {
                    let expected: f32 = (0..width).map(|n| q[h * width + n] * store[from + h * width + n]).sum();
                    assert!((e[h * words + j] - 0.5 * expected).abs() < 1e-4, "{heads} {width} {h} {j}");
                }
                for n in 0..width {
                    let of = |(j, from): (usize, &usize)| e[h * words + j] * store[from + d + h * width + n];
                    let expected: f32 = at.iter().enumerate().map(of).sum();
                    assert!((c[h * width + n] - expected).abs() < 1e-3 * expected.abs().max(1.0));
                }
            }
        }
    }

    #[test]
    fn norms_and_nonlinearities_are_their_formulas() {
        let (g, b) = (numbers(21, 3), numbers(21, 4));
        let mut x = numbers(42, 5);
        let before = x.clone();
        norm(&mut x, &g, &b, 1e-3);
        for (row, from) in x.chunks(21).zip(before.chunks(21)) {
            let mean = from.iter().sum::<f32>() / 21.0;
            let variance = from.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 21.0;
            for i in 0..21 {
                assert!((row[i] - ((from[i] - mean) / (variance + 1e-3).sqrt() * g[i] + b[i])).abs() < 1e-5);
            }
        }
        let (mut a, mut b, mut c) = ([-2.0, 0.0, 1.5, 4.0], [-2.0, 0.0, 1.5, 4.0], [-2.0f32, 0.0, 1.5, 4.0]);
        relu(&mut a);
        swish(&mut b);
        gelu(&mut c);
        assert_eq!(a, [0.0, 0.0, 1.5, 4.0]);
        let (swish, gelu) =
            ([-0.238_405_84, 0.0, 1.226_362, 3.928_055_2], [-0.045_500_26, 0.0, 1.399_789_2, 3.999_873]);
        assert!(b.iter().zip(swish).all(|(b, y)| (b - y).abs() < 1e-5), "{b:?}");
        assert!(c.iter().zip(gelu).all(|(c, y)| (c - y).abs() < 1e-5), "{c:?}");
        let mut c = [0.0; 3];
        ssru(&[1.0, 2.0, 3.0], &[0.0, 0.0, 100.0], &[4.0, 6.0, 8.0], &mut c);
        assert!(c.iter().zip([2.5, 4.0, 8.0]).all(|(c, y)| (c - y).abs() < 1e-5), "{c:?}");
    }
}
