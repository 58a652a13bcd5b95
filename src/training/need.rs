//! The memory that a run needs, estimated before it is allocated.

use crate::settings::{Rule, TrainingSettings};
use engine::error::{Error, Result};
use engine::models;
use engine::models::config::Config;

const GIB: f64 = (1u64 << 30) as f64;

/// Bytes of weights, gradients of `shards`, the optimizer's memories, weights kept for their mean, and the copy that a
/// checkpoint is written from. Buffers of minibatches come on top.
pub fn bytes(config: &Config, settings: &TrainingSettings, shards: usize) -> f64 {
    let memories = if settings.optimizer.rule == Rule::Sgd { 0 } else { 2 };
    let average = settings.schedule.average;
    let copies = 1 + shards + memories + average + (1 + memories + average);
    4.0 * copies as f64 * parameters(config)
}

/// Numbers of all tensors; they may be more than a `usize` holds.
fn parameters(config: &Config) -> f64 {
    let numbers = |(_, shape): &(String, Vec<usize>)| shape.iter().map(|size| *size as f64).product::<f64>();
    models::shapes(config).iter().map(numbers).sum()
}

/// Refuses a model that does not fit into `memory` bytes, where they are known, or that no machine could hold.
pub fn check(config: &Config, settings: &TrainingSettings, shards: usize, memory: Option<u64>) -> Result<()> {
    let need = bytes(config, settings, shards);
    let has = memory.map_or(f64::MAX, |memory| memory as f64);
    let mut probe: Vec<u8> = Vec::new();
    if need <= has && probe.try_reserve_exact(need as usize).is_ok() {
        return Ok(());
    }
    let has = memory.map(|memory| format!("this machine has {:.0} GiB", memory as f64 / GIB));
    Err(Error::Input(format!(
        "training {:.0} million parameters needs about {:.0} GiB of memory, but {}; make the sizes under `[model]` smaller, \
         or train on fewer threads",
        parameters(config) / 1e6,
        need / GIB,
        has.as_deref().unwrap_or("this machine does not give so much"),
    )))
}
