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

/// What a translation reads and multiplies, as the kernels hold it.
pub struct Work {
    /// Bytes of all weights that a translation needs more than once.
    held: f64,
    bytes: f64,
    /// Operations in `f32`, in 16-bit and in 8-bit integers.
    operations: [f64; 3],
}

pub struct Bound {
    pub millis: f64,
    pub by: &'static str,
}

pub const BOUNDS: &str = "reading the weights at every step, in 8 bits for the output layer and in 16 for all else, \
                          from the last cache where they fit there, or making all products, whichever takes longer";

/// Bytes of a number of the output layer, and of others.
const BYTES: (f64, f64) = (1.0, 2.0);

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
    let (mut held, mut bytes) = (0.0, 0.0);
    for (name, shape) in shapes(config).into_iter().filter(|(_, shape)| shape.len() == 2) {
        let each = if applied(config, &name) == Applied::Output { BYTES.0 } else { BYTES.1 };
        let size = each * shape.iter().map(|size| *size as f64).product::<f64>();
        let times = reads(config, &name, load);
        bytes += times * size;
        held += if times > 1.0 { size } else { 0.0 };
    }
    let cost = Cost::of(config);
    // every sentence begins with one hypothesis
    let rows = if load.t_y == 0 { 0 } else { 1 + (load.t_y - 1) * load.beam };
    let (batch, rows) = (load.batch as f64, rows as f64);
    let steps = rows * (cost.step + cost.look * load.t_x.min(cost.reach) as u64) as f64;
    let plain = batch * (cost.encode(load.t_x) as f64 + steps);
    let output = batch * rows * cost.output as f64;
    let integers = config.transformer().is_some();
    Work { held, bytes, operations: if integers { [0.0, plain, output] } else { [plain, 0.0, output] } }
}

impl Work {
    pub fn bound(&self, rates: &Rates) -> Bound {
        let from_cache = self.held <= rates.cache_bytes;
        let reading = self.bytes / (1e9 * if from_cache { rates.cache_gb_per_s } else { rates.memory_gb_per_s });
        let rates = [rates.f32_gflops, rates.int16_gops, rates.int8_gops];
        let products: f64 = self.operations.iter().zip(rates).map(|(operations, rate)| operations / (1e9 * rate)).sum();
        let by = match (reading >= products, from_cache) {
            (false, _) => "products",
            (true, true) => "cache",
            (true, false) => "memory",
        };
        Bound { millis: 1000.0 * reading.max(products), by }
    }

    pub fn megabytes(&self) -> f64 {
        self.bytes / 1e6
    }

    pub fn giga_operations(&self) -> f64 {
        self.operations.iter().sum::<f64>() / 1e9
    }
}
