//! Repeated measurements.

use std::time::{Duration, Instant};

use interlinear::cli::bench::figures::quantile;
use serde_json::{Value, json};

#[derive(Default)]
pub struct Timing {
    pieces: Vec<f64>,
    passes: Vec<f64>,
}

impl Timing {
    pub fn pass<E>(&mut self, work: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let started = Instant::now();
        work(self)?;
        self.passes.push(started.elapsed().as_secs_f64());
        Ok(())
    }

    pub fn piece<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.pieces.push(started.elapsed().as_secs_f64());
        result
    }

    pub fn last_pass(&self) -> f64 {
        self.passes.last().copied().unwrap_or(0.0)
    }

    pub fn millis(&self, share: f64) -> f64 {
        1000.0 * quantile(&self.pieces, share)
    }
}

pub fn median<E>(repeat: usize, patience: Duration, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let (started, mut timing) = (Instant::now(), Timing::default());
    for _ in 0..repeat {
        timing.piece(&mut work)?;
        if started.elapsed() >= patience {
            break;
        }
    }
    Ok(timing.millis(0.5))
}

pub fn told(millis: &[f64]) -> [Value; 3] {
    [0.5, 0.99, 1.0].map(|share| json!(quantile(millis, share)))
}

pub fn millis(since: Instant) -> f64 {
    1000.0 * since.elapsed().as_secs_f64()
}
