//! Sums of annotations by the weights alpha, for the rows of a step that look at the same sentence together.

use crate::models::fused::{Joining, sized};
use crate::nn::fused::pack::{mix, padded};
use crate::nn::fused::{Onto, Packed, focus, team};

/// With fewer sentences [`Sums::mix`] is faster even where each has one row: the weight is then only read.
const FEW: usize = 6;

/// The weighted sums of one step.
#[derive(Clone, Copy, Debug)]
pub struct Sums<'a> {
    pub threads: usize,
    /// Row stride of `alpha`: the longest source of the batch.
    pub t_x: usize,
    pub lengths: &'a [usize],
    /// The sentence of every row; those of a sentence follow each other.
    pub sentences: &'a [usize],
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

/// The annotations of a batch, and what a matrix C makes of each, where that is less work than C c_i at every step.
#[derive(Debug, Default)]
pub struct Annotated {
    /// h_j, [b, t_x, width].
    pub h: Vec<f32>,
    /// C h_j, [b, t_x, padded columns of C]; empty while c_i is multiplied itself.
    projected: Vec<f32>,
    c: Vec<f32>,
}

impl Annotated {
    pub fn begin(&mut self, length: usize) {
        self.projected.clear();
        self.h.resize(length, 0.0);
    }

    fn project(&self, threads: usize, matrix: &Packed, width: usize) -> Vec<f32> {
        let (words, wide) = (self.h.len() / width, padded(matrix.columns()));
        let mut projected = vec![0.0; words * wide];
        matrix.apply_on(threads, words, &self.h, width, &mut projected, wide, Onto::Zero);
        projected
    }

    pub fn look(
        &mut self, sums: &Sums<'_>, rows: usize, (matrix, width): (&Packed, usize), out: &mut [f32], onto: Onto<'_>,
    ) {
        // Whether sum_j alpha_ij (C h_j), with C h_j computed once a sentence, is less work than C c_i at every step.
        let is_worthwhile = rows > sums.lengths.len() || sums.lengths.len() < FEW;
        if self.projected.is_empty() && is_worthwhile {
            self.projected = self.project(sums.threads, matrix, width);
        }
        if self.projected.is_empty() {
            let count = sums.sentences.len();
            let c = sized(&mut self.c, count * width);
            sums.contexts(&self.h, width, c, width);
            matrix.apply_on(sums.threads, count, c, width, out, matrix.columns(), onto);
        } else {
            sums.mix(&self.projected, matrix.columns(), out, onto);
        }
    }

    pub fn join(&mut self, before: Self, joining: &Joining<'_>, threads: usize, matrix: Option<&Packed>, width: usize) {
        if let Some(matrix) = matrix.filter(|_| !before.projected.is_empty()) {
            let after = self.project(threads, matrix, width);
            self.projected = joining.numbers(&before.projected, &after, padded(matrix.columns()));
        }
        self.h = joining.numbers(&before.h, &self.h, width);
        self.c = before.c;
    }
}
