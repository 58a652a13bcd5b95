//! The places of one sentence that each word of the other may come from: posteriors of IBM model 1 (Brown et al. 1993)
//! and of the hidden Markov model (Vogel, Ney, Tillmann 1996; with the empty word of Och and Ney 2003).
//!
//! One sentence, x_1 .. x_n, is jumped about in, the other, y_1 .. y_m, is produced word by word: y_i comes from the
//! word at place a_i, or from the empty word, which does not move the place. Place 0 lies before the first word
//! and n + 1, where every path ends, behind the last:
//!
//! p(y, a | x) = prod_i [a_i real: (1 - p_0) d(a_i - a' | x_a') t(y_i | x_{a_i}); empty: p_0 t(y_i | NULL)] d(n + 1 - a' | x_a')
//!
//! with a' the place before. Jumps that would lead out of the sentence are not taken away from d, so that its maximum
//! likelihood estimate is that of the counts. All loops run over the places of a block of [`LANES`], hence the layout.

use crate::aligner::jumps::{CELLS, FAR, JumpCounts, Jumps, NEAR, REACH};

const LANES: usize = 8;

/// The posteriors of a pair, and the room to compute them; it is used again for the next pair.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    n: usize,
    m: usize,
    /// Places 0 to n, rounded up to whole blocks.
    stride: usize,
    /// t(y_i | x_j), [m, stride], at j from 1.
    emissions: Vec<f32>,
    /// t(y_i | NULL), [m].
    nulls: Vec<f32>,
    /// First (1 - p_0) sum .. of the forward pass, then p(a_i = j | x, y), [m, stride].
    posterior: Vec<f32>,
    /// p(place after i words), [m + 1, stride and REACH on either side].
    states: Vec<f32>,
    /// p(y_i | words before), [m].
    scales: Vec<f32>,
    /// d(cell | x_j), [NEAR, stride], by the place that is left and by the place that is come to.
    leaving: Vec<f32>,
    coming: Vec<f32>,
    /// d(far | x_j) for one place, [stride].
    far: Vec<f32>,
    /// Backward probabilities, [stride], and what follows from a place that is come to, with REACH on either side.
    beta: Vec<f32>,
    next: Vec<f32>,
    /// Expected jumps by cell and place left, before d, [CELLS, stride].
    jumps: Vec<f32>,
}

impl Lattice {
    /// Makes room for `m` words that come from `n`; all t are 0.
    pub fn prepare(&mut self, n: usize, m: usize) {
        (self.n, self.m) = (n, m);
        self.stride = (n + 1).next_multiple_of(LANES);
        renew(&mut self.emissions, m * self.stride);
        renew(&mut self.nulls, m);
        renew(&mut self.posterior, m * self.stride);
    }

    #[inline]
    pub fn set(&mut self, i: usize, j: usize, t: f32) {
        self.emissions[i * self.stride + j + 1] = t;
    }

    pub fn set_null(&mut self, i: usize, t: f32) {
        self.nulls[i] = t;
    }

    /// p(a_i = j | x, y), both from 0, after [`Self::model1`] or [`Self::hmm`].
    #[inline]
    pub fn posterior(&self, i: usize, j: usize) -> f32 {
        self.posterior[i * self.stride + j + 1]
    }

    /// p(y_i comes from the empty word | x, y).
    pub fn null(&self, i: usize) -> f32 {
        let row = &self.posterior[i * self.stride..][..self.stride];
        (1.0 - row.iter().sum::<f32>()).max(0.0)
    }

    /// IBM model 1 with the empty word at p_0, and log p(y | x). With a `tension` above 0 places near the diagonal are
    /// likelier (Dyer, Chahuneau, Smith 2013, equation 2): p(j | i) is in proportion to exp(-tension |i/m - j/n|).
    pub fn model1(&mut self, p0: f32, tension: f32) -> f64 {
        let (n, m) = (self.n as f32, self.m as f32);
        let mut log_p = 0.0;
        for i in 0..self.m {
            let row = i * self.stride + 1..i * self.stride + 1 + self.n;
            let (t, p) = (&self.emissions[row.clone()], &mut self.posterior[row]);
            let mut all = 0.0;
            if tension > 0.0 {
                let step = (-tension / n).exp();
                let middle = ((i as f32 + 0.5) / m * n - 0.5).clamp(0.0, n - 1.0);
                let nearest = middle as usize;
                let mut weight = (-tension / n * (middle - nearest as f32)).exp();
                for j in (0..=nearest).rev() {
                    p[j] = weight;
                    weight *= step;
                }
                weight = (-tension / n * (nearest as f32 + 1.0 - middle)).exp();
                for p in &mut p[nearest + 1..] {
                    *p = weight;
                    weight *= step;
                }
                all = p.iter().sum();
            } else {
                p.fill(1.0);
                all += n;
            }
            // p(y_i | x) = p_0 t(y_i | NULL) + (1 - p_0) sum_j p(j | i) t(y_i | x_j)
            let share = (1.0 - p0) / all;
            p.iter_mut().zip(t).for_each(|(p, t)| *p *= share * t);
            let sum = p0 * self.nulls[i] + p.iter().sum::<f32>();
            for p in p {
                *p /= sum;
            }
            log_p += f64::from(sum).ln();
        }
        log_p
    }

    /// The hidden Markov model, and log p(y | x); `words` are the ids of x, `None` for words without jumps of their
    /// own.
    pub fn hmm(&mut self, p0: f32, words: &[Option<u32>], jumps: &Jumps) -> f64 {
        self.spread(words, jumps);
        // Compiled once for each kind of processor. No sum is rounded otherwise on one than on another.
        pulp::Arch::new().dispatch(|| {
            let log_p = self.forward(p0);
            self.backward(p0);
            log_p
        })
    }

    fn spread(&mut self, words: &[Option<u32>], jumps: &Jumps) {
        let (n, stride) = (self.n, self.stride);
        renew(&mut self.leaving, NEAR * stride);
        renew(&mut self.coming, NEAR * stride);
        renew(&mut self.far, stride);
        for j in 0..=n {
            let row = if j == 0 { &jumps.start } else { jumps.row(words[j - 1]) };
            // Any of the n words, or the end.
            self.far[j] = row[FAR] / (n + 1) as f32;
            for (cell, &d) in row.iter().enumerate().take(NEAR) {
                self.leaving[cell * stride + j] = d;
                let to = (j + cell).wrapping_sub(REACH);
                if to <= n {
                    self.coming[cell * stride + to] = d;
                }
            }
        }
    }

    #[inline(always)]
    fn forward(&mut self, p0: f32) -> f64 {
        let (stride, wide) = (self.stride, self.stride + 2 * REACH);
        renew(&mut self.states, (self.m + 1) * wide);
        renew(&mut self.scales, self.m + 1);
        self.states[REACH] = 1.0;
        let mut log_p = 0.0;
        for i in 0..self.m {
            let (before, after) = self.states[i * wide..].split_at_mut(wide);
            let (t, real) = (&self.emissions[i * stride..][..stride], &mut self.posterior[i * stride..][..stride]);
            let stay = p0 * self.nulls[i];
            let far = dot(&before[REACH..][..stride], &self.far);
            let mut scale = [0.0; LANES];
            for at in (0..stride).step_by(LANES) {
                let mut sum = [far; LANES];
                for cell in 0..NEAR {
                    let from: &[f32; LANES] = block(before, at + 2 * REACH - cell);
                    let d: &[f32; LANES] = block(&self.coming, cell * stride + at);
                    for lane in 0..LANES {
                        sum[lane] += from[lane] * d[lane];
                    }
                }
                for lane in 0..LANES {
                    let come = (1.0 - p0) * t[at + lane] * sum[lane];
                    real[at + lane] = come;
                    let here = come + stay * before[REACH + at + lane];
                    after[REACH + at + lane] = here;
                    scale[lane] += here;
                }
            }
            let scale: f32 = scale.iter().sum();
            self.scales[i] = scale;
            log_p += f64::from(scale).ln();
            for here in &mut after[REACH..][..stride] {
                *here /= scale;
            }
            for come in real {
                *come /= scale;
            }
        }
        let last = &self.states[self.m * wide + REACH..][..stride];
        let mut end = dot(last, &self.far);
        for cell in REACH + 1..NEAR.min(REACH + 2 + self.n) {
            let j = self.n + 1 + REACH - cell;
            end += last[j] * self.leaving[cell * stride + j];
        }
        self.scales[self.m] = end;
        log_p + f64::from(end).ln()
    }

    #[inline(always)]
    fn backward(&mut self, p0: f32) {
        let (stride, wide) = (self.stride, self.stride + 2 * REACH);
        renew(&mut self.beta, stride);
        renew(&mut self.next, wide);
        renew(&mut self.jumps, CELLS * stride);
        // The last jump leads to the end.
        self.next[REACH + self.n + 1] = 1.0 / self.scales[self.m];
        self.step_back(self.m, 0.0);
        for i in (0..self.m).rev() {
            let row = i * stride..(i + 1) * stride;
            self.next.fill(0.0);
            let come = (1.0 - p0) / self.scales[i];
            let (next, real) = (&mut self.next[REACH..][..stride], &mut self.posterior[row.clone()]);
            for (((next, t), beta), real) in next.iter_mut().zip(&self.emissions[row]).zip(&self.beta).zip(real) {
                *next = come * t * beta;
                *real *= beta;
            }
            self.step_back(i, p0 * self.nulls[i] / self.scales[i]);
        }
    }

    #[inline(always)]
    fn step_back(&mut self, i: usize, stay: f32) {
        let (stride, wide) = (self.stride, self.stride + 2 * REACH);
        let state = &self.states[i * wide + REACH..][..stride];
        let all: f32 = self.next.iter().sum();
        for at in (0..stride).step_by(LANES) {
            let mut sum = [0.0; LANES];
            let here: &[f32; LANES] = block(state, at);
            for cell in 0..NEAR {
                let next: &[f32; LANES] = block(&self.next, at + cell);
                let d: &[f32; LANES] = block(&self.leaving, cell * stride + at);
                let jumps = &mut self.jumps[cell * stride + at..][..LANES];
                for lane in 0..LANES {
                    sum[lane] += next[lane] * d[lane];
                    jumps[lane] += here[lane] * next[lane];
                }
            }
            for lane in 0..LANES {
                self.jumps[FAR * stride + at + lane] += here[lane] * all;
                let beta = &mut self.beta[at + lane];
                *beta = sum[lane] + self.far[at + lane] * all + stay * *beta;
            }
        }
    }

    pub fn count_jumps(&self, words: &[Option<u32>], counts: &JumpCounts, least: f32) {
        for j in 0..=self.n {
            let word = if j == 0 { None } else { words[j - 1] };
            if j > 0 && word.is_none() {
                continue;
            }
            for cell in 0..CELLS {
                let d = if cell == FAR { self.far[j] } else { self.leaving[cell * self.stride + j] };
                let count = self.jumps[cell * self.stride + j] * d;
                if count > least {
                    counts.add(word, cell, count);
                }
            }
        }
    }
}

fn renew(room: &mut Vec<f32>, size: usize) {
    room.clear();
    room.resize(size, 0.0);
}

#[inline(always)]
fn block(numbers: &[f32], at: usize) -> &[f32; LANES] {
    let block = numbers[at..at + LANES].first_chunk();
    block.unwrap_or(&[0.0; LANES])
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}
