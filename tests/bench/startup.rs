//! Starting: how long models take to load, and until the first translation is there.

use std::process::{Command, Stdio};
use std::{io::Write as _, path::Path, time::Duration};

use serde_json::json;

use crate::{Setup, timing::median};
use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::decoding::{self, SearchOptions};
use interlinear::{cli::args, host::words, models::Model, ticket::CancellationToken};

const SENTENCE: &str = "My neighbour repaired the old bicycle before the children came home.";
const PATIENCE: Duration = Duration::from_secs(5);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("model", 22),
    BenchColumn::number("load ms", 0),
    BenchColumn::number("first translation ms", 1),
    BenchColumn::number("whole process ms", 0),
];

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    figures.head(COLUMNS)?;
    for folder in setup.models() {
        let load = median(setup.repeat, PATIENCE, || args::load(&(&folder).into(), &setup.runtime).map(drop))?;
        let model = args::load(&(&folder).into(), &setup.runtime)?;
        let first = median(setup.repeat, PATIENCE, || translate(setup, &model))?;
        let process = median(setup.repeat, PATIENCE, || spawn(setup, &folder))?;
        figures.row(&[json!(model.config.name), json!(load), json!(first), json!(process)])?;
    }
    Ok(())
}

fn translate(setup: &Setup, model: &Model) -> interlinear::error::Result<()> {
    let mut stepper = model.stepper(setup.runtime.engine, setup.runtime.threads)?;
    let (sentence, options) = (model.source.encode(SENTENCE), SearchOptions::default());
    let (specials, ticket) = (words::specials(model), CancellationToken::forever());
    decoding::decode(stepper.as_mut(), specials, &[&sentence.ids], &options, &ticket, &mut |_, _| {}).map(drop)
}

fn spawn(setup: &Setup, folder: &Path) -> anyhow::Result<()> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_interlinear"))
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
