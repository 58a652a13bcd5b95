//! Floor 9: `interlinear sample`: translations drawn word by word from a model's distribution, counted and sorted by
//! probability, as Cho et al. (2014, table 3) show them.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};
use serde::Serialize;

use crate::cli::args::{BatchArgs, ModelArgs, RunArgs, not_negative};
use crate::cli::input::{Lines, Side, SourceLine};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{Context, words};
use crate::decoding::batching::bounded_batches;
use crate::decoding::sample::{Numbered, Sample, SampleOptions};
use crate::decoding::{Ensemble, sample};
use crate::models::Stepper;
use crate::ticket::Ticket;

/// A window comes to about so many samples at most.
const WINDOW_SAMPLES: usize = 50_000;
/// A full window holds so many batches.
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
pub struct Low {
    #[command(flatten)]
    models: ModelArgs,
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Samples of each sentence
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// What the samples follow from
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Below 1 probable words become more probable still; 0 takes the most probable one always
    #[arg(long, value_name = "T", default_value_t = 1.0, value_parser = not_negative)]
    temperature: f32,
    /// Write only the K most probable of the distinct samples
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Most target words of a sample, its end included, by default twice the source and ten more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_length: Option<u32>,
    /// Never draw an unknown word
    #[arg(long)]
    forbid_unk: bool,
    #[command(flatten)]
    batch: BatchArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The words are split by spaces already, and shall be in the output
    #[arg(long)]
    pretokenized: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// What is written for a sentence.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Sentences.
    #[default]
    Text,
    /// Everything.
    Jsonl,
}

/// As meant.
struct High {
    system: Ensemble,
    stepper: Box<dyn Stepper>,
    options: SampleOptions,
    top: usize,
    batch: usize,
    format: Format,
    pretokenized: bool,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Draws.
///
/// # Errors
/// When the model, the input or the output fails; when lines were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let lines = Lines::open(low.file.as_deref())?;
    let runtime = low.run.high()?;
    let system = low.models.load(&runtime)?;
    let options = SampleOptions {
        count: low.count as usize,
        temperature: low.temperature,
        seed: low.seed,
        max_length: low.max_length.map(|length| length as usize),
        forbid_unk: low.forbid_unk,
    };
    stream(
        High {
            stepper: system.stepper(runtime.engine, runtime.threads)?,
            system,
            options,
            top: low.top.map_or(usize::MAX, |top| top as usize),
            batch: low.batch.high(),
            format: low.format,
            pretokenized: low.pretokenized,
        },
        lines,
    )
}

/// Window after window until the input ends or cannot be read any further.
fn stream(mut high: High, mut lines: Lines) -> anyhow::Result<()> {
    let mut output = Output::stdout();
    let mut progress = Progress::new("sampling", lines.size(), std::io::stdout().is_terminal());
    let most = (high.batch * WINDOW_BATCHES).min(WINDOW_SAMPLES / high.options.count).max(1);
    let (mut window_lines, mut refused) = (1, 0);
    loop {
        let side = Side { tokenizer: &high.system, pretokenized: high.pretokenized };
        let (window, ended) = side.read_window(&mut lines, window_lines);
        for why in window.iter().filter_map(|line| line.refused.as_ref()) {
            refused += 1;
            progress.tell(&why.to_string());
        }
        let drawn = sample_window(&mut high, &window)?;
        for (line, samples) in window.iter().zip(&drawn) {
            write(&high, &mut output, line, samples)?;
        }
        output.flush()?;
        let words = drawn.iter().flatten().map(|sample| sample.tokens.len() * sample.count).sum();
        progress.add(window.len(), words, lines.position());
        window_lines = (window_lines * 4).min(most);
        if ended.inspect_err(|_| progress.finish())? {
            break;
        }
    }
    progress.finish();
    output.finish()?;
    words::refused(refused)
}

/// The samples of each line of a window; none for a line without words and for a refused one.
fn sample_window(high: &mut High, window: &[SourceLine]) -> crate::error::Result<Vec<Vec<Sample>>> {
    let mut drawn: Vec<Vec<Sample>> = window.iter().map(|_| Vec::new()).collect();
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| window[index].is_readable()).collect();
    let lengths: Vec<usize> = chosen.iter().map(|&index| window[index].sentence.len()).collect();
    for batch in bounded_batches(&lengths, high.batch, 1) {
        let numbered = |&index: &usize| {
            let line = &window[chosen[index]];
            Numbered { number: line.number as u64, source: &line.sentence.ids }
        };
        let sentences: Vec<Numbered<'_>> = batch.iter().map(numbered).collect();
        let specials = high.system.specials();
        let samples = sample::sample(high.stepper.as_mut(), specials, &sentences, &high.options, &Ticket::forever())?;
        for (&index, samples) in batch.iter().zip(samples) {
            drawn[chosen[index]] = samples;
        }
    }
    Ok(drawn)
}

/// A line of `--format jsonl`.
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

fn write(high: &High, output: &mut Output, line: &SourceLine, samples: &[Sample]) -> anyhow::Result<()> {
    let samples = &samples[..samples.len().min(high.top)];
    let model = high.system.lead();
    let text = |sample: &Sample| {
        let words = words::tokens(model, words::without_eos(model, &sample.tokens));
        words::join_words(model, &words, high.pretokenized)
    };
    let record = |sample: &Sample| SampleRecord {
        tokens: words::tokens(model, &sample.tokens),
        text: text(sample),
        log_p: sample.log_p,
        count: sample.count,
        finished: sample.finished,
    };
    match high.format {
        Format::Jsonl => {
            output.json(&Record { source: &line.sentence.tokens, samples: samples.iter().map(record).collect() })
        }
        Format::Text if high.options.count == 1 => output.line(&samples.first().map(text).unwrap_or_default()),
        Format::Text => samples.iter().try_for_each(|sample| {
            let (number, text) = (line.number - 1, text(sample));
            output.line(&format!("{number} ||| {text} ||| {} ||| {}", sample.log_p, sample.count))
        }),
    }
}
