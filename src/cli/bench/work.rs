//! Floor 10: the least work that a translation is, counted from the equations, and the time that it takes at best.
//!
//! Weights that a step needs must be read at that step, by all sentences of a batch together. What does not depend on
//! the step is read once a sentence; of the recurrent layers of the encoder, U is read at every word, as h_j waits for
//! h_{j-1}. Not counted are look-ups and vectors. Operations are those of `models/cost.rs`.

use serde_json::{Value, json};

use crate::cli::bench::rates::Rates;
use crate::models::config::Config;
use crate::models::cost::{Applied, Cost, applied};
use crate::models::shapes;

/// How much a batch is.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Sentences decoded together.
    pub batch: usize,
    /// Hypotheses kept of each, from the second step on.
    pub beam: usize,
    /// T_x, `</s>` included.
    pub t_x: usize,
    /// Steps of the decoder.
    pub t_y: usize,
}

/// What must be done at least.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Numbers of the weights that are read, each as often as it is needed anew.
    pub numbers: f64,
    /// Multiplications and additions.
    pub operations: f64,
}

/// How long it takes at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Milliseconds.
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

impl Bound {
    /// For the record.
    pub fn json(&self) -> Value {
        json!({"millis": self.millis, "by": self.by, "products_millis": self.products_millis})
    }
}

impl Work {
    /// The bound with weights of so many bytes a number on a machine with these rates.
    pub fn bound(&self, bytes: usize, rates: &Rates) -> Bound {
        let memory = self.numbers * bytes as f64 / (rates.memory_gb_per_s * 1e9);
        let products = self.operations / (rates.gflops(bytes) * 1e9);
        let by = if memory >= products { "memory" } else { "products" };
        Bound { millis: 1000.0 * memory.max(products), by, products_millis: 1000.0 * products }
    }

    /// The share of the greatest `f32` rate at which it was done in so many seconds.
    pub fn share_of_peak(&self, seconds: f64, rates: &Rates) -> f64 {
        self.operations / seconds.max(1e-12) / (rates.f32_gflops * 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::subject;

    const RATES: Rates =
        Rates { threads: 1, memory_gb_per_s: 2.0, cache_gb_per_s: 9.0, f32_gflops: 1.0, bf16_gflops: Some(4.0) };

    #[test]
    fn the_bound_of_a_small_model_is_that_of_a_hand() {
        // K 10, m 2, n 3, l 4, n' 5; 6 source words with </s>, 7 steps, a beam of 2
        let config = subject::rnn_search("tiny", [10, 2, 3, 4, 5]);
        let work = decoding(&config, &Load { batch: 1, beam: 2, t_x: 6, t_y: 7 });
        let once = (2 * 3 * 3 * 2) + (5 * 6) + (3 * 3); // W of both readers, U_a, W_s
        let by_word = 2 * 3 * 3 * 3; // U of both readers
        let step = 3 * 3 * 2 + 3 * 3 * 3 + 3 * 3 * 6 // W, U, C of the decoder
            + 5 * 3 + 8 * 3 + 8 * 2 + 8 * 6 + 10 * 4; // W_a, U_o, V_o, C_o, W_o
        assert_eq!(work.numbers, f64::from(once + 6 * by_word + 7 * step));
        let rows = 1 + 6 * 2;
        let products = 6 * (2 * 3 * 3 * 2) + 6 * (5 * 6) + 3 * 3 + 6 * by_word + rows * step;
        let attention = rows * 6 * (5 + 6);
        assert_eq!(work.operations, f64::from(2 * (products + attention)));
    }

    #[test]
    fn the_greater_of_memory_and_products_bounds() {
        let work = Work { numbers: 1e6, operations: 1e6 };
        let bound = |millis, by, products_millis| Bound { millis, by, products_millis };
        assert_eq!(work.bound(4, &RATES), bound(2.0, "memory", 1.0));
        assert_eq!(work.bound(2, &RATES), bound(1.0, "memory", 0.25));
        let more = Work { numbers: 1e6, operations: 4e6 };
        assert_eq!(more.bound(4, &RATES), bound(4.0, "products", 4.0));
        assert_eq!(more.bound(2, &RATES), bound(1.0, "memory", 1.0));
        assert_eq!(more.share_of_peak(0.008, &RATES), 0.5);
    }

    #[test]
    fn batches_read_the_weights_once_and_what_waits_for_nothing_counts_once() {
        for config in subject::tiny() {
            let one = decoding(&config, &Load { batch: 1, beam: 5, t_x: 4, t_y: 3 });
            let many = decoding(&config, &Load { batch: 8, beam: 5, t_x: 4, t_y: 3 });
            assert_eq!(one.numbers, many.numbers, "{}", config.name);
            assert_eq!(8.0 * one.operations, many.operations, "{}", config.name);
            let longer = decoding(&config, &Load { batch: 1, beam: 5, t_x: 4, t_y: 4 });
            assert!(longer.numbers < 2.0 * one.numbers && longer.numbers > one.numbers);
        }
    }
}
