//! Models taken apart: how long a sentence of 40 words takes, and CPU time of frames of the page Steps.

use std::time::{Duration, Instant};
use std::{path::PathBuf, sync::Arc};

use serde_json::json;

use crate::{Setup, timing::millis};
use interlinear::cli::bench::figures::{BenchColumn, Figures, quantile};
use interlinear::jobs::steps::{StepTrace, StepsRequest, StepsThread};
use interlinear::jobs::{Library, Wake};
use interlinear::{decoding::step_trace::Then, error::Error, nn::device::DeviceChoice};

const WORDS: usize = 40;
const PATIENCE: Duration = Duration::from_mins(2);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("model", 22),
    BenchColumn::number("steps", 0),
    BenchColumn::number("opened ms", 1),
    BenchColumn::number("all ms", 1),
    BenchColumn::number("ms a step", 2),
];

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    figures.line("a source of 40 words taken apart with all of its numbers, and frames of the page Steps")?;
    figures.head(COLUMNS)?;
    let wake: Wake = Arc::new(|| {});
    let lane = StepsThread::spawn(Library::new(1), wake);
    let mut all = Vec::new();
    for folder in setup.models() {
        let request = request(folder, if setup.quick { 5 } else { WORDS });
        let (apart, first) = taken(&lane, &request)?;
        let mut whole = Vec::new();
        for _ in 0..setup.repeat {
            whole.push(taken(&lane, &request)?.1);
        }
        let (steps, whole) = (apart.steps.len(), quantile(&whole, 0.5));
        let step = whole / steps.max(1) as f64;
        figures.row(&[json!(apart.model), json!(steps), json!(first), json!(whole), json!(step)])?;
        all.push(apart);
    }
    #[cfg(feature = "gui")]
    crate::frames::steps(setup, figures, &all)?;
    Ok(())
}

fn request(folder: PathBuf, words: usize) -> StepsRequest {
    let source = vec!["the"; words].join(" ");
    StepsRequest {
        model: folder.into(),
        device: DeviceChoice::Cpu,
        source,
        then: Then::Greedy,
        ..StepsRequest::default()
    }
}

fn taken(lane: &StepsThread, request: &StepsRequest) -> anyhow::Result<(Arc<StepTrace>, f64)> {
    let began = Instant::now();
    lane.submit(1, request.clone());
    let event = lane.news.next_within(PATIENCE).ok_or_else(|| Error::Internal("no steps came".to_owned()))?;
    Ok((event.found.map_err(Error::Input)?, millis(began)))
}
