//! What a shard of a batch looks like, its buffers and its dropout noise.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use crate::minibatch::{GuidedLink, Minibatch};
use engine::nn::fused::vocabulary;

/// Some rows of a batch, time-major and padded with 0.
#[derive(Debug)]
pub struct Shard {
    pub b: usize,
    pub t_x: usize,
    pub t_y: usize,
    /// Source ids, [t_x, b].
    pub x: Vec<u32>,
    /// Target ids, [t_y, b].
    pub y: Vec<u32>,
    pub x_length: Vec<usize>,
    pub y_length: Vec<usize>,
    /// Which rows have a source word at position t, for each t, [t_x, b].
    pub live: Vec<bool>,
    /// Linked source positions of the rows of alpha, those of step i and row r up to `look_ends[i * b + r]`; both empty
    /// without guidance.
    looks: Vec<u16>,
    look_ends: Vec<usize>,
}

impl Shard {
    /// Every `of`-th pair from `first`.
    pub fn new(batch: Minibatch<'_>, first: usize, of: usize) -> Self {
        let pick = |side: &[&[u32]]| {
            let rows: Vec<&[u32]> = side.iter().skip(first).step_by(of).copied().collect();
            let (b, t) = (rows.len(), rows.iter().map(|r| r.len()).max().unwrap_or(0));
            let mut ids = vec![0; t * b];
            for (row, sentence) in rows.iter().enumerate() {
                for (i, id) in sentence.iter().enumerate() {
                    ids[i * b + row] = *id;
                }
            }
            (b, t, ids, rows.iter().map(|r| r.len()).collect::<Vec<_>>())
        };
        let (b, t_x, x, x_length) = pick(batch.source);
        let (_, t_y, y, y_length) = pick(batch.target);
        let live = (0..t_x).flat_map(|t| x_length.iter().map(move |&length| t < length)).collect();
        let (looks, look_ends) = (Vec::new(), Vec::new());
        let mut shard = Self { b, t_x, t_y, x, y, x_length, y_length, live, looks, look_ends };
        let looks: Vec<&[GuidedLink]> = batch.looks.iter().skip(first).step_by(of).copied().collect();
        if looks.iter().any(|looks| !looks.is_empty()) {
            shard.guide(&looks);
        }
        shard
    }

    fn guide(&mut self, looks: &[&[GuidedLink]]) {
        let mut all = Vec::new();
        for (row, looks) in looks.iter().enumerate().take(self.b) {
            let exists = |look: &&GuidedLink| {
                usize::from(look.i) < self.y_length[row] && usize::from(look.j) < self.x_length[row]
            };
            all.extend(looks.iter().filter(exists).map(|look| (usize::from(look.i) * self.b + row, look.j)));
        }
        all.sort_unstable();
        all.dedup();
        self.look_ends = (0..self.t_y * self.b).map(|place| all.partition_point(|look| look.0 <= place)).collect();
        self.looks = all.into_iter().map(|look| look.1).collect();
    }

    pub fn looks(&self, i: usize, row: usize) -> &[u16] {
        let place = i * self.b + row;
        let Some(&end) = self.look_ends.get(place) else { return &[] };
        let start = if place == 0 { 0 } else { self.look_ends[place - 1] };
        &self.looks[start..end]
    }

    /// Positions i * b + row of the real target words, in order.
    pub fn words(&self) -> Vec<usize> {
        let is_word = |place: &usize| place / self.b < self.y_length[place % self.b];
        (0..self.t_y * self.b).filter(is_word).collect()
    }
}

/// What is kept between batches, so that no step allocates.
#[derive(Debug, Default)]
pub struct TrainingScratch {
    pub buffers: FreeBuffers,
    /// Of the output layer.
    pub vocabulary: vocabulary::Scratch,
    /// The matrix of a sample of the output layer in bf16.
    pub sampled: vocabulary::Mixed,
}

impl TrainingScratch {
    pub fn bytes(&self) -> usize {
        let free = self.buffers.0.borrow().iter().map(Vec::capacity).sum::<usize>();
        4 * free + self.vocabulary.bytes() + self.sampled.bytes()
    }
}

/// Buffers that nobody uses at present.
#[derive(Debug, Default)]
pub struct FreeBuffers(RefCell<Vec<Vec<f32>>>);

impl FreeBuffers {
    pub fn take(&self, length: usize) -> Buffer<'_> {
        let mut free = self.0.borrow_mut();
        let best = (0..free.len()).filter(|&i| free[i].capacity() >= length).min_by_key(|&i| free[i].capacity());
        let mut numbers = match best {
            Some(i) => free.swap_remove(i),
            None => free.pop().unwrap_or_default(),
        };
        numbers.resize(length, 0.0);
        Buffer { numbers, home: self }
    }

    pub fn zeros(&self, length: usize) -> Buffer<'_> {
        let mut buffer = self.take(length);
        buffer.fill(0.0);
        buffer
    }
}

/// Numbers that go back to their [`FreeBuffers`] when they are no longer needed.
#[derive(Debug)]
pub struct Buffer<'a> {
    numbers: Vec<f32>,
    home: &'a FreeBuffers,
}

impl Deref for Buffer<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.numbers
    }
}

impl DerefMut for Buffer<'_> {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.numbers
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.home.0.borrow_mut().push(std::mem::take(&mut self.numbers));
    }
}

/// A small reproducible generator for dropout masks (xorshift64*, Vigna 2016).
#[derive(Clone, Copy, Debug)]
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        // splitmix64, so that neighbouring seeds give unlike streams
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((z ^ (z >> 31)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Fills `mask` with 0 (probability `p`) or 1 / (1 - p).
    pub fn mask(&mut self, p: f32, mask: &mut [f32]) {
        let keep = 1.0 / (1.0 - p);
        let threshold = (f64::from(p) * 65536.0) as u64;
        for four in mask.chunks_mut(4) {
            let mut bits = self.next();
            for m in four {
                *m = if (bits & 0xFFFF) < threshold { 0.0 } else { keep };
                bits >>= 16;
            }
        }
    }
}

/// x *= mask, where there is one.
pub fn apply_mask(mask: Option<&[f32]>, x: &mut [f32]) {
    if let Some(mask) = mask {
        for (x, m) in x.iter_mut().zip(mask) {
            *x *= m;
        }
    }
}

/// Rows of `table` [K, m] for `ids`, times the mask where there is one; [ids, m].
pub fn gather(table: &[f32], ids: &[u32], mask: Option<&[f32]>, out: &mut [f32]) {
    // a batch whose targets are all one word long reads no previous word
    if ids.is_empty() {
        return;
    }
    let m = out.len() / ids.len();
    for (row, &id) in out.chunks_exact_mut(m).zip(ids) {
        let id = id as usize;
        row.copy_from_slice(&table[id * m..(id + 1) * m]);
    }
    apply_mask(mask, out);
}

/// Adds rows of `d` [ids, m] to the gradient of a table.
pub fn scatter(ids: &[u32], d: &[f32], gradient: &mut [f32]) {
    if ids.is_empty() {
        return;
    }
    let m = d.len() / ids.len();
    for (row, &id) in d.chunks_exact(m).zip(ids) {
        let id = id as usize;
        engine::nn::fused::elementwise::add(row, &mut gradient[id * m..(id + 1) * m]);
    }
}
