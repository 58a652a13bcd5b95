//! `interlinear bench`: how fast this machine loads models and translates with them.

pub mod figures;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::args;
use crate::args::{RunArgs, count};
use crate::bench::figures::{BenchColumn, Figures, quantile};
use engine::error::{Error, Result};
use engine::models::{Model, Stepper};
use engine::{
    decoding, decoding::SearchOptions, models::choice::ModelSpec, text::sentence::Sentence, ticket::CancellationToken,
};
use host::runtime::Runtime;
use host::{bundled, words};

const WORDS: usize = 20;
const BEAM: usize = 5;
const BATCH: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("model", 26),
    BenchColumn::number("load ms", 0),
    BenchColumn::number("first word ms", 1),
    BenchColumn::number("sentence ms", 1),
    BenchColumn::number("words/s", 0),
];

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub struct BenchArgs {
    /// A model folder, or the name of an installed model; once for each. By default the bundled ones
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    model: Vec<ModelSpec>,
    /// Everything once and with few sentences: whether it runs, in seconds
    #[arg(long)]
    quick: bool,
    /// Also write what was measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Repetitions of each measurement, at most
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = count(1000))]
    repeat: usize,
    #[command(flatten)]
    run: RunArgs,
}

const HELP: &str = "Measured are, for each model, in medians:
  load ms        reading the folder, weights and tokenizers
  first word ms  from a sentence of 20 words to the first word of its translation, beam 5
  sentence ms    the whole translation, of at most 20 words
  words/s        target words of sentences in batches of 64
Sentences are drawn from the model's own vocabulary. Other programs that run meanwhile make all figures worse.";

pub fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let runtime = args.run.plan()?;
    let installed = || bundled::models().into_iter().map(ModelSpec::from).collect();
    let models = if args.model.is_empty() { installed() } else { args.model.clone() };
    if models.is_empty() {
        return Err(Error::Input(format!("there is no model to measure. {}", bundled::how_to_get())).into());
    }
    let mut figures = Figures::default();
    figures.line(&program(&runtime))?;
    figures.section("models")?;
    figures.head(COLUMNS)?;
    let repeat = if args.quick { 1 } else { args.repeat };
    for model in &models {
        figures.row(&measured(model, &runtime, repeat, args.quick)?)?;
    }
    figures.finish(args.json.as_deref())
}

/// The program, its build and where it runs, in one line.
pub fn program(runtime: &Runtime) -> String {
    let build = if cfg!(debug_assertions) { "debug build: no figure counts" } else { "release build" };
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let (version, device, threads) = (env!("CARGO_PKG_VERSION"), &runtime.device.name, runtime.threads);
    format!("interlinear {version} ({build}), {system} {architecture}, device {device}, {threads} threads")
}

fn measured(model: &ModelSpec, runtime: &Runtime, repeat: usize, quick: bool) -> Result<Vec<Value>> {
    let load = median(repeat, || args::load(model, runtime).map(drop))?;
    let model = args::load(model, runtime)?;
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let sources = sentences(&model, if quick { 2 } else { BATCH });
    let mut firsts = Vec::new();
    let whole = median(repeat, || {
        firsts.push(translate(&model, stepper.as_mut(), &sources[..1])?.1);
        Ok(())
    })?;
    let mut said = 0;
    let batch = median(repeat, || {
        said = translate(&model, stepper.as_mut(), &sources)?.0;
        Ok(())
    })?;
    let millis = [load, quantile(&firsts, 0.5), whole].map(|seconds| json!(1000.0 * seconds));
    Ok([&[json!(model.config.name)], &millis[..], &[json!(said as f64 / batch.max(1e-9))]].concat())
}

/// Translates them together; gives the words of the best translations, and the seconds until the first of any was there.
fn translate(model: &Model, stepper: &mut dyn Stepper, sources: &[Sentence]) -> Result<(usize, f64)> {
    let options = SearchOptions { beam: BEAM, max_length: Some(WORDS), ..SearchOptions::default() };
    let ids: Vec<&[u32]> = sources.iter().map(|source| source.ids.as_slice()).collect();
    let (began, mut first) = (Instant::now(), None);
    let (specials, ticket) = (words::specials(model), CancellationToken::forever());
    let decoded = decoding::decode(stepper, specials, &ids, &options, &ticket, &mut |_, _| {
        first.get_or_insert_with(|| began.elapsed().as_secs_f64());
    })?;
    let best = decoded.iter().filter_map(|decoded| decoded.hypotheses.first());
    let said = best.map(|hypothesis| hypothesis.tokens.len()).sum();
    Ok((said, first.unwrap_or_else(|| began.elapsed().as_secs_f64())))
}

fn sentences(model: &Model, count: usize) -> Vec<Sentence> {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let lowest = model.config.eos.max(model.config.unk) + 1;
    let vocabulary = (model.config.source_vocabulary as u32).max(lowest + 1);
    let mut word = || model.source.token(rng.random_range(lowest..vocabulary)).unwrap_or_default();
    let mut sentence = || model.source.encode_words(&(0..WORDS).map(|_| word()).collect::<Vec<&str>>());
    (0..count).map(|_| sentence()).collect()
}

/// Median seconds of some work, after once that does not count where it is repeated.
fn median(repeat: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let (started, mut seconds) = (Instant::now(), Vec::new());
    if repeat > 1 {
        work()?;
    }
    while seconds.is_empty() || (seconds.len() < repeat && started.elapsed() < PATIENCE) {
        let began = Instant::now();
        work()?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    Ok(quantile(&seconds, 0.5))
}
