//! Floor 10: what every section of the benchmark needs to know.

use std::cell::RefCell;
use std::path::PathBuf;

use serde_json::Value;

use crate::app::figures::{MeasureHeatmap, MeasureSteps, MeasureTree, MeasureWorkspace};
use crate::cli::MeasureWindow;
use crate::cli::args::Runtime;
use crate::cli::bench::peer::Peer;
use crate::cli::bench::rates::Rates;
use crate::error::{Error, Result};
use crate::models::Kernels;

/// What the sections need to know.
pub struct Setup {
    /// Device, threads, engine.
    pub runtime: Runtime,
    /// Whether `--threads` was given: then only that number is measured.
    pub threads_given: bool,
    /// The model folder that was asked for.
    pub model: Option<PathBuf>,
    /// What measures the window; none in a build without it.
    pub measure_window: Option<MeasureWindow>,
    /// What measures frames with a heatmap.
    pub measure_heatmap: Option<MeasureHeatmap>,
    /// Measures frames with the tree of a search; `None` without one.
    pub measure_tree: Option<MeasureTree>,
    /// Measures frames of the page Steps; `None` without one.
    pub measure_steps: Option<MeasureSteps>,
    /// Measures page Corpus; `None` without a window.
    pub measure_workspace: Option<MeasureWorkspace>,
    /// Tiny models and short measurements.
    pub quick: bool,
    /// Repetitions of each measurement, at most.
    pub repeat: usize,
    /// Repetitions of each measurement, however long they take.
    pub least: usize,
    /// A program that decodes.
    pub peer: Option<Peer>,
    /// A program that trains.
    pub train_peer: Option<Peer>,
    /// What the machine reaches, by threads.
    pub rates: RefCell<Vec<Rates>>,
}

impl Setup {
    /// The numbers of threads to measure.
    pub fn threads(&self) -> Vec<usize> {
        if self.threads_given || self.runtime.threads == 1 {
            return vec![self.runtime.threads];
        }
        if self.quick { vec![self.runtime.threads.min(2)] } else { vec![1, 2] }
    }

    /// What so many threads reach together; measured once.
    pub fn rates(&self, threads: usize) -> Result<Rates> {
        let known = self.rates.borrow().iter().find(|rates| rates.threads == threads).copied();
        if let Some(rates) = known {
            return Ok(rates);
        }
        let rates = Rates::measure(threads, self.quick)?;
        self.rates.borrow_mut().push(rates);
        Ok(rates)
    }

    /// What the measured way to decode is compared with.
    pub fn compared(&self) -> &'static str {
        match (self.runtime.engine, self.runtime.device.is_cpu()) {
            (Kernels::Fused, _) => "compared with the readable form",
            (Kernels::Plain, true) => "the readable form, compared with the fused one",
            (Kernels::Plain, false) => "compared with the fused form on the processor",
        }
    }
}

/// A peer that printed no figures for any row is a mistake in the command line.
pub fn peer_must_have_run(asked: bool, rows: &[Value]) -> Result<()> {
    if asked && rows.iter().all(|row| row["peer_ratio"].is_null()) {
        return Err(Error::Input("the peer printed no figures for any model; what it said stands above".into()));
    }
    Ok(())
}
