//! Floor 10: starting: how long bundled models take to load, and until the first translation is there.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::Timing;
use crate::cli::{bundled, words};
use crate::decoding::SearchOptions;
use crate::models::Model;

/// What is translated first.
const SENTENCE: &str = "My neighbour repaired the old bicycle before the children came home.";
/// No measurement takes longer, unless a single one does.
const PATIENCE: Duration = Duration::from_secs(5);

const COLUMNS: &[Column] = &[
    Column::words("model", "model", 22),
    Column::number("load_millis", "load ms", 8, 0),
    Column::number("first_translation_millis", "first translation ms", 20, 1),
    Column::number("process_millis", "whole process ms", 16, 0),
];

/// Measures each bundled model (or the one given), and a fresh process of this program.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let folders = setup.model.clone().map_or_else(bundled::models, |folder| vec![folder]);
    if folders.is_empty() {
        report.line("no bundled models were found, so there is nothing to start")?;
        return Ok(json!([]));
    }
    report.head(COLUMNS)?;
    let mut rows = Vec::new();
    for folder in &folders {
        let load = Timing::measure(setup.repeat, PATIENCE, |timing| {
            timing.piece(|| Model::load(folder, &setup.runtime.device)).map(drop)
        })?;
        let model = setup.runtime.load(folder)?;
        let first = Timing::measure(setup.repeat, PATIENCE, |timing| timing.piece(|| translate(setup, &model)))?;
        let process = Timing::measure(setup.repeat, PATIENCE, |timing| timing.piece(|| spawn(setup, folder)))?;
        let millis = |timing: &Timing| json!(1000.0 * timing.median());
        let row = [json!(model.config.name), millis(&load), millis(&first), millis(&process)];
        rows.push(report.row(&row, json!({"load_spread": load.spread()}))?);
    }
    Ok(Value::Array(rows))
}

/// From a loaded model to a first translation: packing the weights, tokenising, decoding.
fn translate(setup: &Setup, model: &Model) -> crate::error::Result<()> {
    let mut stepper = model.stepper(setup.runtime.engine, setup.runtime.threads)?;
    let sentence = model.source.encode(SENTENCE);
    words::decode_all(
        words::specials(model),
        stepper.as_mut(),
        &[&sentence.ids],
        &SearchOptions::default(),
        1,
        &mut |_, _| {},
    )
}

/// A fresh process translates one sentence.
fn spawn(setup: &Setup, folder: &Path) -> anyhow::Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["translate", "--threads", &setup.runtime.threads.to_string(), "--device", &setup.runtime.device.name])
        .arg("--model")
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        writeln!(stdin, "{SENTENCE}")?;
    }
    let status = child.wait()?;
    anyhow::ensure!(status.success(), "a fresh process failed ({status})");
    Ok(())
}
