//! Floor 10: training: full updates on random sentences, on the processor with the fused gradients.

use std::ffi::OsString;
use std::time::Instant;

use serde_json::{Value, json};

use crate::cli::bench::decode::with_peer;
use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::{Setup, peer_must_have_run};
use crate::cli::bench::subject;
use crate::cli::bench::timing::quantile;
use crate::cli::bundled;
use crate::models::config::Config;
use crate::models::cost::Cost;
use crate::models::folder::CONFIG_FILE;
use crate::nn::fused::Precision;
use crate::training::bench;

/// Pairs of a minibatch, as in the papers.
const BATCH: usize = 80;
/// Words of either side, `</s>` included.
const WORDS: usize = 13;
/// Updates of a turn.
const UPDATES: usize = 6;

const COLUMNS: &[Column] = &[
    Column::words("model", "model", 22),
    Column::words("factors", "factors", 7),
    Column::number("threads", "threads", 7, 0),
    Column::number("target_words_per_s", "target words/s", 14, 0),
    Column::number("least", "least", 8, 0),
    Column::number("most", "most", 8, 0),
    Column::number("share_of_f32_peak", "% of peak", 9, 0).times(100.0),
    Column::number("bytes", "MB", 5, 0).times(1e-6),
];

const PEER: &[Column] =
    &[Column::number("peer_target_words_per_s", "peer words/s", 12, 0), Column::number("peer_ratio", "ratio", 6, 2)];

/// Measures the sizes of the bundled models (or of the one given), and those that the peer is known with.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let (batch, words) = if setup.quick { (4, 5) } else { (BATCH, WORDS) };
    report.line(&format!("updates on {batch} pairs of {words} words a side, dropout, clipping, Adam"))?;
    report.head(&with_peer(setup.train_peer.is_some(), COLUMNS, PEER))?;
    let mut rows = Vec::new();
    let threads = setup.threads().last().copied().unwrap_or(1);
    let peak = setup.rates(threads)?.f32_gflops;
    let precisions = [Precision::F32, Precision::Bf16].into_iter().filter(|precision| precision.here() == *precision);
    let shapes: Vec<Shape> = precisions.map(|precision| Shape { precision, threads, batch, words }).collect();
    let configs = configs(setup)?;
    for (config, shape) in configs.iter().flat_map(|config| shapes.iter().map(move |shape| (config, shape))) {
        let raced = race(setup, config, shape)?;
        rows.push(report.row(&row(config, shape, peak, &raced), more(config, shape, &raced))?);
        if let Some(why) = raced.refused {
            report.note(&why)?;
        }
    }
    peer_must_have_run(setup.train_peer.is_some(), &rows)?;
    Ok(Value::Array(rows))
}

/// How it is trained.
#[derive(Clone, Copy)]
struct Shape {
    precision: Precision,
    threads: usize,
    batch: usize,
    words: usize,
}

/// The configurations of the bundled models or of the one given, then the one that the peer is known with.
fn configs(setup: &Setup) -> anyhow::Result<Vec<Config>> {
    let folders = setup.model.clone().map_or_else(bundled::models, |folder| vec![folder]);
    let folders = if setup.quick { &folders[..folders.len().min(1)] } else { &folders[..] };
    let loaded = folders.iter().map(|folder| Config::load(&folder.join(CONFIG_FILE)));
    let mut configs = loaded.collect::<Result<Vec<_>, _>>()?;
    if setup.quick {
        configs.extend(subject::tiny());
    } else if setup.model.is_none() {
        configs.push(subject::small());
    }
    Ok(configs)
}

/// What came of a race.
#[derive(Default)]
struct Raced {
    /// Words a second of every update of ours.
    ours: Vec<f64>,
    /// Of every run of the peer.
    theirs: Vec<f64>,
    /// Why there are none.
    refused: Option<String>,
    /// Of ours: weights, gradients, the optimizer's memories, buffers.
    bytes: usize,
}

/// Updates of ours and runs of the peer, by turns.
fn race(setup: &Setup, config: &Config, shape: &Shape) -> anyhow::Result<Raced> {
    let mut raced = Raced::default();
    let mut peer = setup.train_peer.as_ref();
    let started = Instant::now();
    let clock = || started.elapsed().as_secs_f64();
    let updates = if setup.quick { 1 } else { UPDATES };
    for _ in 0..setup.least.max(1) {
        let speed = bench::speed(config, shape.precision, shape.threads, shape.batch, shape.words, updates, &clock)?;
        anyhow::ensure!(speed.nll.is_finite(), "the loss of {} is not a number, so nothing was measured", config.name);
        raced.bytes = speed.bytes;
        raced.ours.extend(speed.seconds.iter().map(|seconds| speed.words as f64 / seconds.max(1e-9)));
        let Some(program) = peer else { continue };
        match program.run(&arguments(config, shape, updates)) {
            Ok(told) => {
                raced.theirs.push(told["words_per_second"].as_f64().unwrap_or(f64::NAN));
            }
            // Once is enough: a peer need not know every architecture.
            Err(error) => {
                raced.refused = Some(program.refusal(&error));
                peer = None;
            }
        }
    }
    Ok(raced)
}

/// ARCHITECTURE, then what a peer must know, KEY=VALUE.
fn arguments(config: &Config, shape: &Shape, updates: usize) -> Vec<OsString> {
    let mut arguments = vec![OsString::from(config.architecture.name())];
    let layers = config.luong.as_ref().map_or(1, |luong| luong.layers);
    let numbers = [
        ("threads", shape.threads),
        ("updates", updates),
        ("B", shape.batch),
        ("length", shape.words),
        ("V", config.target_vocabulary),
        ("n", config.hidden),
        ("m", config.embedding),
        ("l", config.maxout),
        ("layers", layers),
    ];
    // a peer is told the sizes that its architecture has
    let needs = config.architecture.entry().needs;
    let own = |key: &str| match key {
        "l" => needs.contains(&"maxout"),
        "layers" => needs.contains(&"layers"),
        _ => true,
    };
    let known = numbers.iter().filter(|(key, _)| own(key));
    arguments.extend(known.map(|(key, value)| format!("{key}={value}").into()));
    arguments.push(format!("drop={}", bench::DROPOUT).into());
    arguments
}

/// The values of a row, those of a peer last.
fn row(config: &Config, shape: &Shape, peak: f64, raced: &Raced) -> Vec<Value> {
    let rate = quantile(&raced.ours, 0.5);
    let operations = Cost::of(config).train(shape.words, shape.words) as f64 / shape.words as f64;
    let peer = (!raced.theirs.is_empty()).then(|| quantile(&raced.theirs, 0.5));
    vec![
        json!(config.name),
        json!(shape.precision.name()),
        json!(shape.threads),
        json!(rate),
        json!(quantile(&raced.ours, 0.0)),
        json!(quantile(&raced.ours, 1.0)),
        json!(rate * operations / (peak * 1e9)),
        json!(raced.bytes),
        json!(peer),
        json!(peer.map(|peer| rate / peer)),
    ]
}

fn more(config: &Config, shape: &Shape, raced: &Raced) -> Value {
    json!({"architecture": config.architecture.name(), "batch": shape.batch, "length": shape.words,
           "updates": raced.ours.len()})
}
