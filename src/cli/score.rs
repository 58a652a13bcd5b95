//! Floor 9: `interlinear score`: log p(y | x) and the alignment of given pairs, as JSON lines.

use std::path::PathBuf;

use clap::ArgMatches;
use clap::Args;
use clap::FromArgMatches as _;
use serde::Serialize;

use crate::cli::Context;
use crate::cli::args::BatchArgs;
use crate::cli::args::PairArgs;
use crate::cli::args::RunArgs;
use crate::cli::input::Lines;
use crate::cli::input::Side;
use crate::cli::input::SourceLine;
use crate::cli::output::Output;
use crate::cli::phrases;
use crate::cli::progress::Progress;
use crate::cli::words;
use crate::decoding::Forced;
use crate::error::Error;
use crate::models::Model;
use crate::models::Stepper;
use crate::text::line;

/// A window holds so many batches.
const WINDOW_BATCHES: usize = 8;
/// A window ends at so many words of both sides.
const WINDOW_WORDS: usize = 50_000;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "One JSON object a line: source, target, log_p, token_log_p, alpha (a row for each target token, a
column for each source token) and energies (before the softmax); null where there are none. With local attention also
p_t, the aligned position of each target token in source tokens from 0. A pair that a model cannot
read (too long, or without source words where it reads no `</s>`) gets nulls, a sentence on stderr, and exit code 2 at the end."
)]
pub struct Low {
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// As meant.
struct High {
    model: Model,
    stepper: Box<dyn Stepper>,
    batch: usize,
    pretokenized: bool,
}

/// A source line and its target line.
type Pair = (SourceLine, SourceLine);

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    phrases::arguments(Low::augment_args(command))
}

/// Scores.
///
/// # Errors
/// When the model, the input or the output fails; when pairs were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    if phrases::asked(matches) {
        return phrases::run(matches);
    }
    let low = Low::from_arg_matches(matches)?;
    let mut files = ParallelLines::open(&low.pairs)?;
    let runtime = low.run.high()?;
    let model = runtime.load(&low.model)?;
    let stepper = model.stepper(runtime.engine, runtime.threads)?;
    let mut high = High { model, stepper, batch: low.batch.high(), pretokenized: low.pairs.pretokenized };
    let mut output = Output::stdout();
    let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let mut progress = Progress::new("scoring", files.source.size(), shared);
    let (mut refused, mut most) = (0, 1);
    loop {
        let (window, ended) = read_window(&high, &mut files, most);
        for why in window.iter().filter_map(why_refused) {
            refused += 1;
            progress.tell(&why.to_string());
        }
        for (pair, forced) in window.iter().zip(score_window(&mut high, &window)?) {
            output.json(&record(pair, forced.as_ref()))?;
        }
        output.flush()?;
        let count = window.iter().map(|(_, target)| target.sentence.len()).sum();
        progress.add(window.len(), count, files.source.position());
        most = (most * 4).min(high.batch * WINDOW_BATCHES);
        if ended.inspect_err(|_| progress.finish())? {
            break;
        }
    }
    progress.finish();
    output.finish()?;
    words::refused(refused)
}

/// Two files read side by side.
pub struct ParallelLines {
    /// Sentences.
    pub source: Lines,
    /// Their translations.
    pub target: Lines,
}

impl ParallelLines {
    /// Opens both.
    ///
    /// # Errors
    /// When either cannot be opened.
    pub fn open(pairs: &PairArgs) -> crate::error::Result<Self> {
        Ok(Self { source: Lines::open(Some(&pairs.source))?, target: Lines::open(Some(&pairs.target))? })
    }

    /// The next pair of sentences.
    ///
    /// # Errors
    /// When reading fails, or one file ends before the other.
    pub fn read(&mut self, model: &Model, pretokenized: bool) -> crate::error::Result<Option<Pair>> {
        let (source, target) = match (self.source.read()?, self.target.read()?) {
            (Some(source), Some(target)) => (source, target),
            (None, None) => return Ok(None),
            (None, Some(_)) => return Err(ended_early(&self.source, &self.target)),
            (Some(_), None) => return Err(ended_early(&self.target, &self.source)),
        };
        let mut source = Side { tokenizer: &model.source, pretokenized }.read(&self.source, &source);
        if source.sentence.is_empty() && source.refused.is_none() {
            source.refused = Some(Error::line(self.source.name(), source.number, line::NO_WORDS));
        }
        let target = Side { tokenizer: &model.target, pretokenized }.read(&self.target, &target);
        Ok(Some((source, target)))
    }
}

fn ended_early(short: &Lines, long: &Lines) -> Error {
    let message = format!(
        "ends after line {}, but {} goes on; the files must be translations line by line",
        short.number(),
        long.name().display()
    );
    Error::file(short.name(), message)
}

fn read_window(high: &High, files: &mut ParallelLines, most: usize) -> (Vec<Pair>, crate::error::Result<bool>) {
    let (mut window, mut count) = (Vec::new(), 0);
    while window.len() < most && count < WINDOW_WORDS {
        match files.read(&high.model, high.pretokenized) {
            Ok(Some(pair)) => {
                count += pair.0.sentence.len() + pair.1.sentence.len();
                window.push(pair);
            }
            Ok(None) => return (window, Ok(true)),
            Err(error) => return (window, Err(error)),
        }
    }
    (window, Ok(false))
}

fn why_refused((source, target): &Pair) -> Option<&Error> {
    source.refused.as_ref().or(target.refused.as_ref())
}

fn score_window(high: &mut High, window: &[Pair]) -> crate::error::Result<Vec<Option<Forced>>> {
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| why_refused(&window[index]).is_none()).collect();
    let pairs: Vec<(&[u32], &[u32])> = chosen
        .iter()
        .map(|&index| (window[index].0.sentence.ids.as_slice(), window[index].1.sentence.ids.as_slice()))
        .collect();
    let mut done: Vec<Option<Forced>> = window.iter().map(|_| None).collect();
    words::force_all(high.stepper.as_mut(), &pairs, high.batch, &mut |indexes, forced| {
        for (&index, forced) in indexes.iter().zip(forced) {
            done[chosen[index]] = Some(forced);
        }
    })?;
    Ok(done)
}

/// A line of output.
#[derive(Serialize)]
struct Record<'a> {
    source: &'a [String],
    target: &'a [String],
    log_p: Option<f32>,
    token_log_p: Option<&'a [f32]>,
    alpha: Option<&'a [Vec<f32>]>,
    energies: Option<&'a [Vec<f32>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_t: Option<&'a [f32]>,
}

fn record<'a>((source, target): &'a Pair, forced: Option<&'a Forced>) -> Record<'a> {
    Record {
        source: &source.sentence.tokens,
        target: &target.sentence.tokens,
        log_p: forced.map(|forced| forced.log_p),
        token_log_p: forced.map(|forced| forced.token_log_p.as_slice()),
        alpha: forced.and_then(|forced| forced.alpha.as_deref()),
        energies: forced.and_then(|forced| forced.energies.as_deref()),
        p_t: forced.and_then(|forced| forced.p_t.as_deref()),
    }
}
