//! The output layer log softmax(W t + b) of every fused model, computed as far as it is asked for. For few words
//! [`IntegerLayer`] sifts all words in 8-bit integers with a bound of what it rounds off; words that can be among the
//! best or are probable are multiplied in `f32`, and the normaliser is the sum over all words with those exact logits.
//! W is multiplied in `f32` as a whole where log p of every word is needed (samples, ensembles), and for the log p of
//! given words: scores are compared with those of other programs, and the sieve's sum is right to about 1e-4 a word.

use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::models::checkpoint::{TensorRows, Weights};
use crate::models::{need::Need, stepper::StepOutput};
use crate::nn::fused::screen::{IntegerLayer, Rounded, Sieve, Sifted};
use crate::nn::fused::{LARGE, Packed, screen, team};
use crate::nn::{fused::elementwise::log_softmax, fused::tile::Onto};

/// The words that are multiplied exactly even where fewer are asked for: those that the normaliser mostly consists of.
const EXACT: usize = 8;
const FEW: usize = 8;
/// Where a `SHARE`-th of the vocabulary is needed, sifting costs more than it saves.
const SHARE: usize = 2;

/// W [K, width] and b [K] of an output layer.
#[derive(Debug)]
pub struct Readout {
    weights: Arc<Weights>,
    name: &'static str,
    bias: Vec<f32>,
    vocabulary: usize,
    width: usize,
    /// `None` where W is small, or its numbers are so large that they must be multiplied as they are.
    screen: Option<IntegerLayer>,
    packed: OnceLock<Packed>,
}

/// Buffers of a step.
#[derive(Debug, Default)]
pub struct Buffers {
    rounded: Rounded,
    sieves: Vec<Sieve>,
    rows: Vec<Read>,
}

#[derive(Debug, Default)]
struct Read {
    sifted: Sifted,
    /// The words of `sifted` with their logits, then the best of them with log p, the best first.
    words: Vec<(u32, f32)>,
    /// ln sum exp l_v.
    log_sum: f64,
    buffer: Vec<f32>,
}

impl Readout {
    pub fn new(weights: &Arc<Weights>, name: &'static str, bias: Option<&str>) -> Result<Self> {
        let rows = weights.rows(name)?;
        let (vocabulary, width) = (rows.count, rows.width);
        let bias = bias.map_or_else(|| Ok(vec![0.0; vocabulary]), |name| weights.numbers(name))?;
        let write = |v: usize, row: &mut [f32]| row.copy_from_slice(rows.get(v, &mut Vec::new()));
        let is_large = vocabulary * width >= LARGE;
        let screen = is_large.then(|| IntegerLayer::of_rows(&write, &bias, vocabulary, width)).flatten();
        Ok(Self { weights: Arc::clone(weights), name, bias, vocabulary, width, screen, packed: OnceLock::new() })
    }

    /// Answers `need` from t [rows, width]; `output.rows` and `output.vocabulary` are set.
    pub fn answer(
        &self, threads: usize, t: &[f32], need: &Need<'_>, buffers: &mut Buffers, output: &mut StepOutput,
    ) -> Result<()> {
        if *need == Need::default() {
            output.forget_words();
            output.best_ends.resize(output.rows, 0);
            return Ok(());
        }
        let count = need.best.max(EXACT.min(self.vocabulary / 8));
        match &self.screen {
            Some(screen)
                if need.best > 0
                    && !need.every
                    && count < self.vocabulary / SHARE
                    && screen.round(threads, output.rows, t, &mut buffers.rounded) =>
            {
                let parts = screen.sift(threads, &buffers.rounded, count, &mut buffers.sieves);
                let layer = Layer { w: self.weights.rows(self.name)?, bias: &self.bias };
                read_off(threads, &layer, t, need, parts, buffers, output);
            }
            _ => {
                self.every_word(threads, t, output)?;
                output.answer(need);
            }
        }
        Ok(())
    }

    fn every_word(&self, threads: usize, t: &[f32], output: &mut StepOutput) -> Result<()> {
        if self.packed.get().is_none() {
            let w = self.weights.numbers(self.name)?;
            let _ = self.packed.set(Packed::compact(&w, self.vocabulary, self.width));
        }
        let Some(packed) = self.packed.get() else { return Ok(()) };
        let (rows, log_p) = (output.rows, &mut output.log_p);
        log_p.resize(rows * self.vocabulary, 0.0);
        packed.apply_on(threads, rows, t, self.width, log_p, self.vocabulary, Onto::Row(&self.bias));
        team::chunks(threads.min(rows), log_p, self.vocabulary, &|_, row| log_softmax(row));
        Ok(())
    }
}

struct Layer<'a> {
    w: TensorRows<'a>,
    bias: &'a [f32],
}

impl Layer<'_> {
    fn logit(&self, t: &[f32], token: u32, buffer: &mut Vec<f32>) -> f32 {
        self.w.dot(token as usize, t, buffer) + self.bias[token as usize]
    }

    fn finish(&self, t: &[f32], best: usize, read: &mut Read) {
        let Read { sifted, words, log_sum, buffer } = read;
        words.clear();
        words.extend(sifted.words.iter().map(|&(token, _)| (token, self.logit(t, token, buffer))));
        *log_sum = sifted.log_sum(words);
        for word in words.iter_mut() {
            word.1 = (f64::from(word.1) - *log_sum) as f32;
        }
        // the more probable first, of equals the lower id
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if best < words.len() {
            words.select_nth_unstable_by(best, order);
            words.truncate(best);
        }
        words.sort_unstable_by(order);
    }
}

fn read_off(
    threads: usize, layer: &Layer<'_>, t: &[f32], need: &Need<'_>, parts: usize, buffers: &mut Buffers,
    output: &mut StepOutput,
) {
    let (count, width) = (output.rows, layer.w.width);
    let Buffers { sieves, rounded, rows, .. } = buffers;
    rows.resize_with(count.max(rows.len()), Read::default);
    let rows = &mut rows[..count];
    for (row, read) in rows.iter_mut().enumerate() {
        screen::merge(sieves, rounded, parts, row, &mut read.sifted);
    }
    let row = |row: usize| &t[row * width..(row + 1) * width];
    team::chunks(threads, rows, FEW, &|part, rows| {
        rows.iter_mut().enumerate().for_each(|(i, read)| layer.finish(row(part * FEW + i), need.best, read));
    });
    output.forget_words();
    output.log_p.clear();
    for read in &*rows {
        output.best.extend(&read.words);
        output.best_ends.push(output.best.len());
    }
    let mut buffer = Vec::new();
    output.words.extend(need.words.iter().map(|asked| {
        if asked.token as usize >= layer.w.count {
            return f32::NAN;
        }
        let l = layer.logit(row(asked.row), asked.token, &mut buffer);
        (f64::from(l) - rows[asked.row].log_sum) as f32
    }));
}
