//! The least work that a translation is, counted from the equations, and the time that it takes at best.
//!
//! Weights that a step needs must be read at that step, by all sentences of a batch together. What does not depend on
//! the step is read once a sentence; of the recurrent layers of the encoder, U is read at every word, as h_j waits for
//! h_{j-1}. Not counted are look-ups and vectors. Operations are those of [`cost`](crate::cost).

use crate::cost::{Applied, Cost, applied};
use crate::machine::Rates;
use interlinear::models::{config::Config, shapes};

pub struct Load {
    pub batch: usize,
    pub beam: usize,
    pub t_x: usize,
    pub t_y: usize,
}

pub struct Work {
    numbers: f64,
    operations: f64,
}

pub struct Bound {
    pub millis: f64,
    pub by: &'static str,
    pub products_millis: f64,
}

pub const BOUNDS: &str = "reading all weights from memory at every step or making all products, whichever takes longer; \
                          weights that stay in a cache are read faster, and then only the products bound";

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
    pub fn bound(&self, bytes: usize, rates: &Rates) -> Bound {
        let memory = rates.reading(self.numbers * bytes as f64);
        let products = self.operations / (rates.gflops(bytes) * 1e9);
        let by = if memory >= products { "memory" } else { "products" };
        Bound { millis: 1000.0 * memory.max(products), by, products_millis: 1000.0 * products }
    }

    pub fn share_of_peak(&self, seconds: f64, rates: &Rates) -> f64 {
        self.operations / seconds.max(1e-12) / (rates.f32_gflops * 1e9)
    }
}
