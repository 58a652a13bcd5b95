//! Floor 10: models taken apart: how long a sentence of 40 words takes, and CPU time of frames of the page Steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::quantile;
use crate::cli::bundled;
use crate::decoding::apart::Then;
use crate::error::Error;
use crate::jobs::steps::{Apart, Steps, StepsRequest};
use crate::jobs::{Library, Wake};
use crate::nn::device::DeviceChoice;

/// Words of the sentence, `</s>` aside.
const WORDS: usize = 40;
/// Frames of each kind.
const FRAMES: usize = 300;
/// Longest time of one request.
const PATIENCE: Duration = Duration::from_mins(2);

const COLUMNS: &[Column] = &[
    Column::words("model", "model", 24),
    Column::number("steps", "steps", 5, 0),
    Column::number("first_millis", "opened ms", 9, 1),
    Column::number("whole_millis", "all ms", 8, 1),
    Column::number("step_millis", "ms a step", 9, 2),
    Column::number("still", "frame ms", 8, 2),
    Column::number("stepping", "next step", 9, 2),
    Column::number("opening", "open box", 8, 2),
];

/// Takes a sentence apart with each bundled model, or the one that was asked for.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    report.line("a source of 40 words taken apart with all of its numbers, and frames of the page Steps (medians)")?;
    report.head(COLUMNS)?;
    let folders = setup.model.clone().map_or_else(bundled::models, |folder| vec![folder]);
    let (words, frames) = if setup.quick { (5, 3) } else { (WORDS, FRAMES) };
    let wake: Wake = Arc::new(|| {});
    let lane = Steps::spawn(Library::new(1), wake);
    let mut rows = Vec::new();
    for folder in folders {
        let source = vec!["the"; words].join(" ");
        let request =
            StepsRequest { folder, device: DeviceChoice::Cpu, source, then: Then::Greedy, ..StepsRequest::default() };
        let (apart, first_millis) = taken(&lane, &request)?;
        let mut whole = Vec::new();
        for _ in 0..setup.repeat {
            whole.push(taken(&lane, &request)?.1);
        }
        let whole_millis = quantile(&whole, 0.5);
        let figures = setup.measure_steps.map(|measure| measure(&apart, frames));
        let of = |millis: Option<&Vec<f64>>| json!(millis.map(|millis| quantile(millis, 0.5)));
        let row = [
            json!(apart.model),
            json!(apart.steps.len()),
            json!(first_millis),
            json!(whole_millis),
            json!(whole_millis / apart.steps.len().max(1) as f64),
            of(figures.as_ref().map(|figures| &figures.still_millis)),
            of(figures.as_ref().map(|figures| &figures.stepping_millis)),
            of(figures.as_ref().map(|figures| &figures.opening_millis)),
        ];
        rows.push(report.row(&row, json!({"words": words, "frames": frames}))?);
    }
    Ok(Value::Array(rows))
}

/// What comes of a request, and after how many milliseconds.
fn taken(lane: &Steps, request: &StepsRequest) -> anyhow::Result<(Arc<Apart>, f64)> {
    let began = Instant::now();
    lane.submit(1, request.clone());
    let event = lane.next_within(PATIENCE).ok_or_else(|| Error::Internal("no steps came".to_owned()))?;
    let apart = event.found.map_err(Error::Input)?;
    Ok((apart, 1000.0 * began.elapsed().as_secs_f64()))
}
