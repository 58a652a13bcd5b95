//! Floor 9: training: full updates on random sentences, on the processor with the fused gradients.

use std::time::Instant;

use serde_json::Value;
use serde_json::json;

use crate::cli::bench::Say;
use crate::cli::bench::Setup;
use crate::cli::bench::subject::Subject;
use crate::training::bench;

/// Pairs of a minibatch, as in the papers.
const BATCH: usize = 80;
/// Words of either side, `</s>` included.
const WORDS: usize = 13;

/// Measures the sizes of a bundled model, or of the one given.
pub fn run(setup: &Setup, say: Say<'_>) -> anyhow::Result<Value> {
    let subject = Subject::first(setup.model.as_deref(), &setup.runtime.device)?;
    let started = Instant::now();
    say("model                 threads batch length   words/s  spread")?;
    let mut rows = Vec::new();
    for threads in setup.threads() {
        let clock = || started.elapsed().as_secs_f64();
        let speed = bench::speed(&subject.config, threads, BATCH, WORDS, setup.repeat, &clock);
        anyhow::ensure!(speed.nll.is_finite(), "the loss of {} is not a number, so nothing was measured", subject.name);
        let rate = speed.words_per_second;
        let spread = 100.0 * speed.spread;
        say(&format!("{:<21.21} {threads:>7} {BATCH:>5} {WORDS:>6} {rate:>9.0} {spread:>5.0} %", subject.name))?;
        rows.push(json!({"model": subject.name, "threads": threads, "batch": BATCH, "length": WORDS,
                         "target_words_per_s": rate, "spread": speed.spread, "updates": speed.seconds.len()}));
    }
    Ok(Value::Array(rows))
}
