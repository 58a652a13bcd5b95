//! Floor 3: sums of annotations by the weights alpha, for the rows of a step that look at the same sentence together.

use crate::nn::fused::pack::{mix, padded};
use crate::nn::fused::{Onto, focus, team};

/// With fewer sentences [`Sums::mix`] is faster even where each has one row: the weight is then only read.
const FEW: usize = 6;

/// Whether sum_j alpha_ij (C h_j), with C h_j computed once a sentence, is less work than C c_i at every step.
pub fn is_worthwhile(rows: usize, sentences: usize) -> bool {
    rows > sentences || sentences < FEW
}

/// The weighted sums of one step.
#[derive(Clone, Copy, Debug)]
pub struct Sums<'a> {
    /// Threads that may share the work.
    pub threads: usize,
    /// Row stride of `alpha`: the longest source of the batch.
    pub t_x: usize,
    /// Words of every sentence.
    pub lengths: &'a [usize],
    /// The sentence of every row; those of a sentence follow each other.
    pub sentences: &'a [usize],
    /// alpha, [rows, t_x].
    pub alpha: &'a [f32],
}

impl Sums<'_> {
    /// c_i = sum_j alpha_ij h_j with h [b, t_x, width], to the first `width` of every `stride` numbers of `c`.
    pub fn contexts(&self, h: &[f32], width: usize, c: &mut [f32], stride: usize) {
        team::chunks(self.threads.min(self.sentences.len()), c, stride, &|row, c| {
            let (sentence, c) = (self.sentences[row], &mut c[..width]);
            let words = self.lengths[sentence];
            c.fill(0.0);
            let h = &h[sentence * self.t_x * width..(sentence * self.t_x + words) * width];
            focus::add_weighted(&self.alpha[row * self.t_x..row * self.t_x + words], h, c);
        });
    }

    /// sum_j alpha_ij b_j with b [b, t_x, padded width], added to `onto`: [rows, width].
    pub fn mix(&self, b: &[f32], width: usize, out: &mut [f32], onto: Onto<'_>) {
        let mut groups = Vec::new();
        let (mut rest, mut from) = (out, 0);
        while from < self.sentences.len() {
            let sentence = self.sentences[from];
            let count = self.sentences[from..].iter().take_while(|other| **other == sentence).count();
            let (group, others) = rest.split_at_mut(count * width);
            groups.push((sentence, from, count, group));
            (rest, from) = (others, from + count);
        }
        let within = if groups.len() > 1 { 1 } else { self.threads };
        team::each(self.threads, &mut groups, &|_, (sentence, from, count, group)| {
            let b = &b[*sentence * self.t_x * padded(width)..];
            let (alpha, words) = (&self.alpha[*from * self.t_x..], self.lengths[*sentence]);
            mix(within, *count, width, words, alpha, self.t_x, b, padded(width), group, width, onto);
        });
    }
}
