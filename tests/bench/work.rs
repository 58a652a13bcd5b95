//! The least work that a translation is, counted from the equations, and the time that it takes at best.
//!
//! Weights that a step needs must be read at that step, by all sentences of a batch together. What does not depend on
//! the step is read once a sentence; of the recurrent layers of the encoder, U is read at every word, as h_j waits for
//! h_{j-1}. Not counted are look-ups and vectors. Operations are those of [`cost`](crate::cost).

use crate::cost::{Applied, Cost, applied};
use crate::machine::Rates;
use interlinear::models::config::Config;
use interlinear::models::shapes;

/// How much a batch is.
pub struct Load {
    pub batch: usize,
    /// Hypotheses kept of each sentence, from the second step on.
    pub beam: usize,
    /// T_x, `</s>` included.
    pub t_x: usize,
    /// Steps of the decoder.
    pub t_y: usize,
}

/// What must be done at least.
pub struct Work {
    /// Numbers of the weights that are read, each as often as it is needed anew.
    numbers: f64,
    /// Multiplications and additions.
    operations: f64,
}

/// How long it takes at least.
pub struct Bound {
    pub millis: f64,
    /// `memory` or `products`, whichever takes longer.
    pub by: &'static str,
    /// Milliseconds of the products alone, were all weights in the caches.
    pub products_millis: f64,
}

/// What a bound is, for the head of a table.
pub const BOUNDS: &str = "reading all weights from memory at every step or making all products, whichever takes longer; \
                          weights that stay in a cache are read faster, and then only the products bound";

/// How often the matrix of that name is read.
fn reads(config: &Config, name: &str, load: &Load) -> f64 {
    let (once, words, steps) = (1.0, load.t_x as f64, load.t_y as f64);
    match applied(config, name) {
        Applied::Never => 0.0,
        Applied::Word | Applied::Sentence => once,
        Applied::WordAfterWord => words,
        Applied::Step | Applied::Output => steps,
        Applied::Halves => 0.5 * (once + steps),
    }
}

/// The least work of a batch.
pub fn decoding(config: &Config, load: &Load) -> Work {
    let matrices = shapes(config).into_iter().filter(|(_, shape)| shape.len() == 2);
    let read = |(name, shape): (String, Vec<usize>)| {
        reads(config, &name, load) * shape.iter().map(|size| *size as f64).product::<f64>()
    };
    let cost = Cost::of(config);
    // every sentence begins with one hypothesis
    let rows = if load.t_y == 0 { 0 } else { 1 + (load.t_y - 1) * load.beam };
    let sentence = cost.encode(load.t_x) as f64 + rows as f64 * cost.decode(load.t_x) as f64;
    Work { numbers: matrices.map(read).sum(), operations: load.batch as f64 * sentence }
}

impl Work {
    /// The bound with weights of so many bytes a number on a machine with these rates.
    pub fn bound(&self, bytes: usize, rates: &Rates) -> Bound {
        let memory = rates.reading(self.numbers * bytes as f64);
        let products = self.operations / (rates.gflops(bytes) * 1e9);
        let by = if memory >= products { "memory" } else { "products" };
        Bound { millis: 1000.0 * memory.max(products), by, products_millis: 1000.0 * products }
    }

    /// The share of the greatest `f32` rate at which it was done in so many seconds.
    pub fn share_of_peak(&self, seconds: f64, rates: &Rates) -> f64 {
        self.operations / seconds.max(1e-12) / (rates.f32_gflops * 1e9)
    }
}
