//! Floor 9: decoding: sentences of 20 words in and 20 out, at several beams, batches, threads and engines.

use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::cli::bench::Say;
use crate::cli::bench::Setup;
use crate::cli::bench::subject::Subject;
use crate::cli::bench::timing::Timing;
use crate::cli::bench::with_threads;
use crate::decoding;
use crate::decoding::Options;
use crate::error::Result;
use crate::models::Engine;
use crate::models::Stepper;
use crate::ticket::Ticket;

/// Words of every source and of every translation.
const WORDS: usize = 20;

/// One measurement to make.
#[derive(Clone, Copy)]
struct Point {
    beam: usize,
    batch: usize,
    threads: usize,
    engine: Engine,
}

/// Measures every point on a bundled model (or the one given) and on one of the paper's size.
pub fn run(setup: &Setup, say: Say<'_>) -> anyhow::Result<Value> {
    let device = &setup.runtime.device;
    let mut subjects = vec![Subject::first(setup.model.as_deref(), device)?];
    if setup.model.is_none() {
        subjects.push(Subject::paper(device));
    }
    say("model                 engine threads batch beam   ms/sentence      p95    words/s  spread")?;
    let mut rows = Vec::new();
    for subject in &subjects {
        for point in points(setup) {
            let count = if point.batch == 1 && setup.quick { 4 } else { point.batch.max(10) };
            let timing = measure(setup, subject, point, count)?;
            let words_per_s = (count * WORDS) as f64 / timing.pass();
            let millis = |seconds: f64| 1000.0 * seconds / point.batch as f64;
            let engine = engine_name(point.engine);
            say(&format!(
                "{:<21.21} {engine:<6} {:>7} {:>5} {:>4} {:>13.2} {:>8.2} {words_per_s:>10.0} {:>5.0} %",
                subject.name,
                point.threads,
                point.batch,
                point.beam,
                millis(timing.median()),
                millis(timing.p95()),
                100.0 * timing.spread()
            ))?;
            rows.push(json!({
                "model": subject.name, "hidden": subject.config.hidden, "vocabulary": subject.config.target_vocabulary,
                "engine": engine, "threads": point.threads, "batch": point.batch, "beam": point.beam,
                "sentence_millis": millis(timing.median()), "sentence_millis_p95": millis(timing.p95()),
                "words_per_s": words_per_s, "spread": timing.spread(), "passes": timing.passes(), "sentences": count,
            }));
        }
    }
    Ok(Value::Array(rows))
}

fn points(setup: &Setup) -> Vec<Point> {
    let beams: &[usize] = if setup.quick { &[1, 5] } else { &[1, 5, 12] };
    let batches: &[usize] = if setup.quick { &[1] } else { &[1, 64] };
    // Elsewhere than on the CPU there is one engine, and threads do nothing.
    let cpu = setup.runtime.device.is_cpu();
    let engines: &[Engine] = if cpu { &[Engine::Fused, Engine::Plain] } else { &[Engine::Plain] };
    let threads = if cpu { setup.threads() } else { vec![setup.runtime.threads] };
    let mut points = Vec::new();
    for &engine in engines {
        for &threads in &threads {
            for &batch in batches {
                points.extend(beams.iter().map(|&beam| Point { beam, batch, threads, engine }));
            }
        }
    }
    points
}

fn measure(setup: &Setup, subject: &Subject, point: Point, count: usize) -> Result<Timing> {
    let sentences = subject.sentences(count, WORDS);
    let sources: Vec<&[u32]> = sentences.iter().map(Vec::as_slice).collect();
    let options = Options { beam: point.beam, max_length: Some(WORDS), ..Options::default() };
    let patience = Duration::from_secs(if setup.quick { 1 } else { 8 });
    with_threads(point.threads, || {
        let mut stepper = subject.stepper(point.engine, point.threads)?;
        let first = &sources[..point.batch.min(sources.len())];
        decode(subject, stepper.as_mut(), first, &options)?;
        Timing::measure(setup.repeat, patience, |timing| {
            for batch in sources.chunks(point.batch) {
                timing.piece(|| decode(subject, stepper.as_mut(), batch, &options))?;
            }
            Ok(())
        })
    })?
}

fn decode(subject: &Subject, stepper: &mut dyn Stepper, sources: &[&[u32]], options: &Options) -> Result<()> {
    decoding::decode(stepper, subject.specials(), sources, options, &Ticket::forever(), &mut |_, _| {}).map(drop)
}

fn engine_name(engine: Engine) -> &'static str {
    match engine {
        Engine::Fused => "fused",
        Engine::Plain => "plain",
    }
}
