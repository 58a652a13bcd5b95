//! Floor 9: one model folder decodes one file, with the figures of a peer program, side by side with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::bench::timing::{Timing, quantile};
use crate::cli::bench::{Setup, pool};
use crate::cli::input::{Lines, Side};
use crate::cli::output::Output;
use crate::cli::words;
use crate::decoding;
use crate::decoding::{Hypothesis, SearchOptions};
use crate::error::{Error, Result};
use crate::models::Model;
use crate::ticket::Ticket;

/// What is asked for.
pub struct High {
    /// Device, threads, engine.
    pub setup: Setup,
    /// The model.
    pub folder: PathBuf,
    /// Sentences, words split by spaces.
    pub text: PathBuf,
    /// Hypotheses kept.
    pub beam: usize,
    /// Most target words.
    pub max_length: usize,
    /// Sentences decoded together, in the order of the file.
    pub batch: usize,
    /// Runs of either.
    pub repeat: usize,
}

/// Prints one JSON object: our figures, or with a peer both of theirs and their ratio.
pub fn run(high: &High) -> anyhow::Result<()> {
    let model = high.setup.runtime.load(&high.folder)?;
    let sources = read(high, &model)?;
    let mut output = Output::stdout();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..high.repeat {
        ours.push(measure(high, &model, &sources)?);
        if let Some(peer) = &high.setup.peer {
            theirs.push(peer.run(&arguments(high))?);
        }
    }
    let record = if high.setup.peer.is_some() {
        let (ours, theirs) = (summary(&ours), summary(&theirs));
        let ratio = rate(&ours) / rate(&theirs).max(1e-9);
        json!({"interlinear": ours, "peer": theirs, "ratio": ratio})
    } else {
        summary(&ours)
    };
    output.json(&record)?;
    output.finish()
}

fn rate(run: &Value) -> f64 {
    run["words_per_s"].as_f64().unwrap_or(0.0)
}

/// The run of median speed; with several runs also the slowest and the fastest.
fn summary(runs: &[Value]) -> Value {
    let rates: Vec<f64> = runs.iter().map(rate).collect();
    let median = quantile(&rates, 0.5);
    let mut record = runs.iter().find(|run| rate(run) == median).cloned().unwrap_or_default();
    if runs.len() > 1 {
        record["words_per_s_range"] = json!([quantile(&rates, 0.0), quantile(&rates, 1.0)]);
    }
    record
}

/// The ids of every line.
fn read(high: &High, model: &Model) -> Result<Vec<Vec<u32>>> {
    let side = Side { tokenizer: &model.source, pretokenized: true };
    let mut lines = Lines::open(Some(&high.text))?;
    let mut sources = Vec::new();
    while let Some(line) = lines.read()? {
        let read = side.read(&lines, &line);
        if let Some(why) = read.refused {
            return Err(why);
        }
        if read.sentence.is_empty() {
            return Err(Error::line(lines.name(), lines.number(), "has no words; take the line out"));
        }
        sources.push(read.sentence.ids);
    }
    if sources.is_empty() {
        return Err(Error::file(&high.text, "has no lines; give some sentences"));
    }
    Ok(sources)
}

fn measure(high: &High, model: &Model, sources: &[Vec<u32>]) -> Result<Value> {
    let runtime = &high.setup.runtime;
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let size = high.batch;
    let options = SearchOptions { beam: high.beam, max_length: Some(high.max_length), ..SearchOptions::default() };
    pool(runtime.threads)?.install(|| {
        let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
        let mut decode = |batch: &[&[u32]]| {
            decoding::decode(
                stepper.as_mut(),
                words::specials(model),
                batch,
                &options,
                &Ticket::forever(),
                &mut |_, _| {},
            )
        };
        decode(&sources[..size.min(sources.len())])?;
        let mut best: Vec<Hypothesis> = Vec::with_capacity(sources.len());
        let timing = Timing::measure(1, Duration::ZERO, |timing| {
            for batch in sources.chunks(size) {
                let decoded = timing.piece(|| decode(batch))?;
                best.extend(decoded.into_iter().filter_map(|decoded| decoded.hypotheses.into_iter().next()));
            }
            Ok::<(), Error>(())
        })?;
        let produced: usize = best.iter().map(|hypothesis| hypothesis.tokens.len()).sum();
        let first = best.first().cloned().unwrap_or_default();
        Ok(json!({
            "sentences": sources.len(), "words_per_s": produced as f64 / timing.last_pass(),
            "median_s": timing.median(), "p95_s": timing.p95(),
            "first": first.tokens.iter().take(5).collect::<Vec<_>>(), "score": first.log_p,
        }))
    })
}

/// DIR FILE BEAM MAX_LENGTH batch=N threads=N.
fn arguments(high: &High) -> Vec<OsString> {
    let mut arguments = vec![high.folder.as_os_str().to_owned(), high.text.as_os_str().to_owned()];
    arguments.extend([high.beam.to_string().into(), high.max_length.to_string().into()]);
    arguments.push(format!("batch={}", high.batch).into());
    arguments.push(format!("threads={}", high.setup.runtime.threads).into());
    arguments
}
