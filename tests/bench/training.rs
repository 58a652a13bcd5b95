//! Training: full updates on random sentences, on the processor with the fused gradients.

use std::{ffi::OsString, time::Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::others::Others;
use crate::peer::{self, Laps};
use crate::{Setup, cost::Cost, machine::pool, subject};
use interlinear::cli::bench::figures::{BenchColumn, Figures, quantile};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::{TRAINED, config::Config, disk::CONFIG_FILE};
use interlinear::training::backend::{Engine as _, FusedEngine};
use interlinear::training::fused::{Fused, StepOptions};
use interlinear::training::{minibatch::Minibatch, optimizer::Optimizer, settings::OptimizerSettings};
use interlinear::{nn::fused::Precision, training::layout::ParameterLayout};

/// Pairs of a minibatch, as in the papers.
const BATCH: usize = 80;
/// Words of either side, `</s>` included.
const WORDS: usize = 13;
const UPDATES: usize = 6;

/// As in a modern recipe, so that the cost of dropout masks is measured too.
const DROPOUT: f32 = 0.2;

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("model", 22),
    BenchColumn::words("factors", 7),
    BenchColumn::number("threads", 0),
    BenchColumn::number("target words/s", 0),
    BenchColumn::number("least", 0),
    BenchColumn::number("most", 0),
    BenchColumn::number("% of peak", 0),
    BenchColumn::number("MB", 0),
    BenchColumn::words("others", 6),
    BenchColumn::number("peer words/s", 0),
    BenchColumn::number("ratio", 2),
    BenchColumn::words("best setting", 12),
];
const OF_PEER: usize = 3;

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let (batch, words) = if setup.quick { (4, 5) } else { (BATCH, WORDS) };
    let has_peer = setup.train_peer.is_some();
    figures.line(&format!("updates on {batch} pairs of {words} words a side, dropout, clipping, Adam"))?;
    figures.head(if has_peer { COLUMNS } else { &COLUMNS[..COLUMNS.len() - OF_PEER] })?;
    let threads = setup.most_threads();
    let peak = setup.rates(threads)?.f32_gflops;
    let precisions = [Precision::F32, Precision::Bf16].into_iter().filter(|precision| precision.here() == *precision);
    let shapes: Vec<Shape> = precisions.map(|precision| Shape { precision, threads, batch, words }).collect();
    let loaded = setup.models().into_iter().map(|folder| Config::load(&folder.join(CONFIG_FILE)));
    let mut configs = loaded.collect::<Result<Vec<_>, _>>()?;
    configs.extend(if setup.quick { subject::tiny().to_vec() } else { vec![subject::small()] });
    // others' models are not trained here
    configs.retain(|config| TRAINED.iter().any(|entry| entry.name == config.architecture.name()));
    let (mut ran, mut refusals) = (false, Vec::new());
    for (config, shape) in configs.iter().flat_map(|config| shapes.iter().map(move |shape| (config, shape))) {
        let raced = race(setup, config, shape)?;
        figures.row(&row(config, shape, peak, &raced))?;
        let laps = raced.theirs.as_ref();
        ran |= laps.is_some_and(|laps| laps.at_its_best().is_some());
        refusals.extend(laps.and_then(|laps| laps.refused.as_ref()).map(|why| format!("{}: {why}", config.name)));
    }
    refusals.iter().try_for_each(|why| figures.line(&format!("\n{why}")))?;
    peer::must_have_run(has_peer, ran)
}

#[derive(Clone, Copy)]
struct Shape {
    precision: Precision,
    threads: usize,
    batch: usize,
    words: usize,
}

#[derive(Default)]
struct Raced {
    ours: Vec<f64>,
    theirs: Option<Laps>,
    others: Others,
    bytes: usize,
}

fn race(setup: &Setup, config: &Config, shape: &Shape) -> anyhow::Result<Raced> {
    let theirs = setup.train_peer.as_ref().map(|peer| Laps::new(peer, shape.threads));
    let mut raced = Raced { theirs, ..Raced::default() };
    let updates = if setup.quick { 1 } else { UPDATES };
    for _ in 0..setup.least {
        let mut others = std::mem::take(&mut raced.others);
        others.during(|| update(config, shape, updates, &mut raced))?;
        if let Some(laps) = &mut raced.theirs {
            laps.turn(&arguments(config, shape, updates), &mut others);
        }
        raced.others = others;
    }
    Ok(raced)
}

fn update(config: &Config, shape: &Shape, updates: usize, raced: &mut Raced) -> anyhow::Result<()> {
    let &Shape { precision, threads, batch, words } = shape;
    // as many threads for the rule that moves the weights as for the gradient
    let pool = pool(threads)?;
    let settings = OptimizerSettings::default();
    let start = ParameterLayout::new(config).flatten(&initial_weights(config, InitScheme::Scaled, 1))?;
    let optimizer = Optimizer::new(&settings, start.len());
    let mut engine = FusedEngine::new(Fused::new(config, threads)?.with_precision(precision), start, optimizer);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for number in 0..=updates as u64 {
        let source = sentences(config.source_vocabulary, config.eos, shape, &mut rng);
        let target = sentences(config.target_vocabulary, config.eos, shape, &mut rng);
        let started = Instant::now();
        let source: Vec<&[u32]> = source.iter().map(Vec::as_slice).collect();
        let target: Vec<&[u32]> = target.iter().map(Vec::as_slice).collect();
        let scale = 1.0 / batch as f32;
        let options = StepOptions { dropout: DROPOUT, smoothing: 0.0, scale, seed: number, guide: 0.0 };
        let update = || engine.update(Minibatch::new(&source, &target), options, settings.rate(), number);
        let (loss, _) = pool.install(update)?;
        if number > 0 {
            raced.ours.push((batch * words) as f64 / started.elapsed().as_secs_f64().max(1e-9));
        }
        anyhow::ensure!(loss.nll.is_finite(), "the loss of {} is not a number", config.name);
    }
    raced.bytes = engine.bytes();
    Ok(())
}

fn sentences(vocabulary: usize, eos: u32, shape: &Shape, rng: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let mut sentence = || (1..shape.words).map(|_| rng.random_range(2..vocabulary as u32)).chain([eos]).collect();
    (0..shape.batch).map(|_| sentence()).collect()
}

fn arguments(config: &Config, shape: &Shape, updates: usize) -> Vec<OsString> {
    let mut arguments = vec![OsString::from(config.architecture.name())];
    let layers = config.luong().map_or(1, |luong| luong.layers);
    let numbers = [
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
    arguments.push(format!("drop={DROPOUT}").into());
    arguments
}

fn row(config: &Config, shape: &Shape, peak: f64, raced: &Raced) -> Vec<Value> {
    let rate = quantile(&raced.ours, 0.5);
    let operations = Cost::of(config).train(shape.words, shape.words) as f64 / shape.words as f64;
    let peer = raced.theirs.as_ref().and_then(Laps::at_its_best);
    let theirs = peer.map(|(_, lap)| peer::numbers(lap, "words_per_second", 0.5));
    vec![
        json!(config.name),
        json!(shape.precision),
        json!(shape.threads),
        json!(rate),
        json!(quantile(&raced.ours, 0.0)),
        json!(quantile(&raced.ours, 1.0)),
        json!(100.0 * rate * operations / (peak * 1e9)),
        json!(raced.bytes as f64 / 1e6),
        json!(raced.others.to_string()),
        json!(theirs),
        json!(theirs.map(|theirs| rate / theirs)),
        json!(peer.map(|(setting, _)| setting)),
    ]
}
