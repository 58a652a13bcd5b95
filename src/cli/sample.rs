//! `interlinear sample`: translations drawn word by word from a model's distribution, counted and sorted by
//! probability, as Cho et al. (2014, table 3) show them.

use clap::Args;
use serde::Serialize;

use crate::args::{BoundArgs, LineFormat, SentenceArgs, count, not_negative};
use crate::input::{InputFiles, InputSide, SourceLine};
use crate::output::LineOutput;
use crate::windows;
use crate::windows::{Doing, Growth};
use engine::decoding::sample::{Numbered, Sample, SampleOptions};
use engine::decoding::{Ensemble, sample};
use engine::error::{Error, Result};
use engine::models::{Model, Stepper};
use engine::{decoding::batching::bounded_batches, ticket::CancellationToken};
use host::words;

const WINDOW_SAMPLES: usize = 50_000;
const WINDOW_BATCHES: usize = 8;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Each word is drawn from p(word | words before, source), to the power of 1/T and normalised. The same seed gives
the same samples; what a line gives depends on its number, not on its neighbours. Another --batch, --threads or machine
may change the last digits of a probability and so, rarely, a draw.

Formats:
  text   with --count 1 the text; above, `LINE ||| TEXT ||| LOG_P ||| COUNT` for each distinct sample,
         lines counted from 0, most probable first
  jsonl  one JSON object a line: source, and samples with tokens, text, log_p, count and finished

LOG_P is the model's own, whatever the temperature. A line that a model cannot read gives nothing, a sentence on
stderr, and exit code 2 at the end."
)]
pub struct SampleArgs {
    #[command(flatten)]
    sentences: SentenceArgs,
    /// Samples of each sentence
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count(100_000))]
    count: usize,
    /// What the samples follow from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Below 1 probable words become more probable still; 0 takes the most probable one always
    #[arg(long, value_name = "T", default_value_t = 1.0, value_parser = not_negative)]
    temperature: f32,
    /// Write only the K most probable of the distinct samples
    #[arg(long, value_name = "K", value_parser = count(u32::MAX))]
    top: Option<usize>,
    #[command(flatten)]
    bounds: BoundArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: LineFormat,
}

pub fn run(args: &SampleArgs) -> anyhow::Result<()> {
    if args.format == LineFormat::Pharaoh {
        let sentence = "samples are counted and have no alignment; choose --format text or jsonl";
        return Err(Error::Input(sentence.into()).into());
    }
    let SentenceArgs { models, file, pretokenized, batch, run } = &args.sentences;
    let mut files = InputFiles::open(file.as_deref(), None)?;
    let runtime = run.plan()?;
    let system = models.load(&runtime)?;
    let SampleArgs { count, temperature, seed, bounds: BoundArgs { max_length, forbid_unk, allow_unk }, .. } = *args;
    let options = SampleOptions { count, temperature, seed, max_length, forbid_unk, allow_unk };
    let mut stepper = system.stepper(runtime.engine, runtime.threads)?;
    let mut output = LineOutput::stdout();
    let side = InputSide { tokenizer: &system, pretokenized: *pretokenized };
    let doing = Doing { name: "sampling", verb: "sample" };
    let growth = Growth::up_to((batch.batch * WINDOW_BATCHES).min(WINDOW_SAMPLES / options.count));
    let mut next = |files: &mut InputFiles| {
        let line = files.source.read()?;
        Ok(line.map(|line| side.read(&files.source, line)))
    };
    let refused = windows::run(doing, &mut files, growth, &mut next, &mut |window| {
        let drawn = sample_window((&system, stepper.as_mut()), &options, batch.batch, window)?;
        for (line, samples) in window.iter().zip(&drawn) {
            write(args, system.lead(), &mut output, line, samples)?;
        }
        output.flush()?;
        Ok(drawn.iter().flatten().map(|sample| sample.tokens.len() * sample.count).sum())
    })?;
    output.finish()?;
    windows::refused(refused)
}

fn sample_window(
    (system, stepper): (&Ensemble, &mut dyn Stepper), options: &SampleOptions, batch: usize, window: &[SourceLine],
) -> Result<Vec<Vec<Sample>>> {
    let mut drawn: Vec<Vec<Sample>> = window.iter().map(|_| Vec::new()).collect();
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| window[index].is_readable()).collect();
    let lengths: Vec<usize> = chosen.iter().map(|&index| window[index].sentence.len()).collect();
    for batch in bounded_batches(&lengths, batch, 1) {
        let numbered = |&index: &usize| {
            let line = &window[chosen[index]];
            Numbered { number: line.number as u64, source: &line.sentence.ids }
        };
        let sentences: Vec<Numbered<'_>> = batch.iter().map(numbered).collect();
        let ticket = CancellationToken::forever();
        let samples = sample::sample(stepper, system.specials(), &sentences, options, &ticket)?;
        for (&index, samples) in batch.iter().zip(samples) {
            drawn[chosen[index]] = samples;
        }
    }
    Ok(drawn)
}

#[derive(Serialize)]
struct Record<'a> {
    source: &'a [String],
    samples: Vec<SampleRecord<'a>>,
}

#[derive(Serialize)]
struct SampleRecord<'a> {
    tokens: Vec<&'a str>,
    text: String,
    log_p: f32,
    count: usize,
    finished: bool,
}

fn write(
    args: &SampleArgs, model: &Model, output: &mut LineOutput, line: &SourceLine, samples: &[Sample],
) -> anyhow::Result<()> {
    let samples = &samples[..samples.len().min(args.top.unwrap_or(usize::MAX))];
    let text = |sample: &Sample| {
        let words = words::tokens(model, words::without_eos(model, &sample.tokens));
        words::join_words(model, &words, args.sentences.pretokenized)
    };
    let record = |sample: &Sample| SampleRecord {
        tokens: words::tokens(model, &sample.tokens),
        text: text(sample),
        log_p: sample.log_p,
        count: sample.count,
        finished: sample.finished,
    };
    match args.format {
        LineFormat::Jsonl => {
            output.json(&Record { source: &line.sentence.tokens, samples: samples.iter().map(record).collect() })
        }
        LineFormat::Text | LineFormat::Pharaoh if args.count == 1 => {
            output.line(&samples.first().map(text).unwrap_or_default())
        }
        LineFormat::Text | LineFormat::Pharaoh => samples.iter().try_for_each(|sample| {
            let (number, text) = (line.number - 1, text(sample));
            output.line(&format!("{number} ||| {text} ||| {} ||| {}", sample.log_p, sample.count))
        }),
    }
}
