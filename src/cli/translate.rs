//! Floor 9: `interlinear translate`: one sentence a line in, one result a line out, in order.
//!
//! The input is read in windows that grow from one sentence to a few batches, so that the first
//! result comes early and memory stays constant. Inside a window sentences of like length are
//! decoded together. A window also ends where reading on would mean waiting: whoever types or
//! pipes single sentences gets each answer at once.

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};
use serde::Serialize;

use crate::analysis::hard;
use crate::analysis::unknown::Replacing;
use crate::cli::args::{BatchArgs, ModelArgs, ReplaceArgs, RunArgs, SearchArgs};
use crate::cli::input::{Growth, Lines, Side, SourceLine};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{Context, words};
use crate::decoding::{Decoded, Ensemble, Hypothesis, SearchOptions};
use crate::error::Error;
use crate::models::Stepper;
use crate::text::sentence::Sentence;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Formats:
  text     the translation; with --nbest above 1, as Moses writes it, `LINE ||| TEXT ||| LOG_P`
           for each hypothesis, lines counted from 0, best first
  jsonl    one JSON object a line: source, and hypotheses with tokens, text, log_p, token_log_p,
           alpha (a row for each target token, a column for each source token; null where the
           model has no alignment) and finished; with local attention also p_t, the aligned
           position of each target token in source tokens from 0
  pharaoh  `i-j` for every target word j of the best translation and its source word i of
           greatest alpha, both counted from 0

An empty line gives an empty result. A line that is too long for a model gives an empty result
as well, a sentence on stderr, and exit code 2 at the end.")]
pub struct Low {
    #[command(flatten)]
    models: ModelArgs,
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// Hypotheses to write for each sentence, best first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    nbest: u16,
    #[command(flatten)]
    batch: BatchArgs,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The words are split by spaces already, and shall be in the output
    #[arg(long)]
    pretokenized: bool,
    #[command(flatten)]
    replace: ReplaceArgs,
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
    /// Alignments.
    Pharaoh,
}

/// As meant.
struct High {
    system: Ensemble,
    stepper: Box<dyn Stepper>,
    options: SearchOptions,
    nbest: usize,
    batch: usize,
    format: Format,
    pretokenized: bool,
    replacing: Option<Replacing>,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Translates.
///
/// # Errors
/// When the model, the input or the output fails; when lines were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let lines = Lines::open(low.file.as_deref())?;
    let high = high(&low)?;
    stream(high, lines)
}

fn high(low: &Low) -> anyhow::Result<High> {
    let mut options = low.search.high();
    if needs_only_best(low) {
        options.most_numbers = 0;
    }
    let nbest = usize::from(low.nbest);
    if nbest > options.beam {
        let sentence =
            format!("--nbest {nbest} asks for more hypotheses than --beam {} keeps; raise --beam", options.beam);
        return Err(Error::Input(sentence).into());
    }
    if low.format == Format::Pharaoh && nbest > 1 {
        let sentence =
            "--format pharaoh writes the best translation's alignment only; leave out --nbest or choose --format jsonl";
        return Err(Error::Input(sentence.into()).into());
    }
    let replacing = low.replace.high()?;
    let runtime = low.run.high()?;
    let system = low.models.load(&runtime)?;
    let needs = [
        (low.format == Format::Pharaoh, "--format pharaoh"),
        (low.replace.replace_unk, "--replace-unk"),
        (options.ranking.coverage > 0.0, "--coverage"),
    ];
    for (_, flag) in needs.into_iter().filter(|(needed, _)| *needed) {
        words::require_alignment(&system, flag)?;
    }
    Ok(High {
        stepper: system.stepper(runtime.engine, runtime.threads)?,
        system,
        options,
        nbest,
        batch: low.batch.high(),
        format: low.format,
        pretokenized: low.pretokenized,
        replacing,
    })
}

/// Whether no alignment but that of the best hypothesis, if any, is written or looked at.
fn needs_only_best(low: &Low) -> bool {
    match low.format {
        Format::Text => low.nbest == 1 || !low.replace.replace_unk,
        Format::Jsonl => low.nbest == 1,
        Format::Pharaoh => true,
    }
}

/// Window after window until the input ends or cannot be read any further.
fn stream(mut high: High, mut lines: Lines) -> anyhow::Result<()> {
    let mut output = Output::stdout();
    let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let mut progress = Progress::new("translating", lines.size(), shared);
    let (mut growth, mut refused) = (Growth::new(high.batch), 0);
    loop {
        let side = Side { tokenizer: &high.system, pretokenized: high.pretokenized };
        let (window, ended) = side.read_window(&mut lines, growth.grow());
        for why in window.iter().filter_map(|line| line.refused.as_ref()) {
            refused += 1;
            progress.tell(&why.to_string());
        }
        let done = translate_window(&mut high, &window)?;
        for (line, decoded) in window.iter().zip(&done) {
            write(&high, &mut output, line, decoded.as_ref())?;
        }
        output.flush()?;
        progress.add(window.len(), target_words(&done), lines.position());
        match ended {
            Ok(false) => {}
            Ok(true) => break,
            Err(error) => {
                progress.finish();
                return Err(error.into());
            }
        }
    }
    progress.finish();
    output.finish()?;
    lines.tell_empty("translate");
    words::refused(refused)
}

/// The results of a window, in its order; `None` for a line without words and for a refused one.
fn translate_window(high: &mut High, window: &[SourceLine]) -> crate::error::Result<Vec<Option<Decoded>>> {
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| window[index].is_readable()).collect();
    let sources: Vec<&[u32]> = chosen.iter().map(|&index| window[index].sentence.ids.as_slice()).collect();
    let mut done: Vec<Option<Decoded>> = window.iter().map(|_| None).collect();
    let mut keep = |indexes: &[usize], decoded: Vec<Decoded>| {
        for (&index, decoded) in indexes.iter().zip(decoded) {
            done[chosen[index]] = Some(decoded);
        }
    };
    words::decode_all(high.system.specials(), high.stepper.as_mut(), &sources, &high.options, high.batch, &mut keep)?;
    Ok(done)
}

fn target_words(done: &[Option<Decoded>]) -> usize {
    done.iter().flatten().filter_map(|decoded| decoded.hypotheses.first()).map(|best| best.tokens.len()).sum()
}

fn write(high: &High, output: &mut Output, line: &SourceLine, decoded: Option<&Decoded>) -> anyhow::Result<()> {
    let hypotheses = decoded.map_or(&[][..], |decoded| &decoded.hypotheses);
    let hypotheses = &hypotheses[..hypotheses.len().min(high.nbest)];
    match high.format {
        Format::Jsonl => output.json(&Record {
            source: &line.sentence.tokens,
            hypotheses: hypotheses.iter().map(|hypothesis| record(high, &line.sentence, hypothesis)).collect(),
        }),
        Format::Pharaoh => {
            output.line(&hypotheses.first().map_or_else(String::new, |best| {
                hard::pharaoh(&words::links(high.system.lead(), &line.sentence, best))
            }))
        }
        Format::Text if high.nbest == 1 => {
            output.line(&hypotheses.first().map_or_else(String::new, |best| text(high, &line.sentence, best)))
        }
        Format::Text => hypotheses.iter().try_for_each(|hypothesis| {
            let text = text(high, &line.sentence, hypothesis);
            output.line(&format!("{} ||| {text} ||| {}", line.number - 1, hypothesis.log_p))
        }),
    }
}

/// A line of `--format jsonl`.
#[derive(Serialize)]
struct Record<'a> {
    source: &'a [String],
    hypotheses: Vec<HypothesisRecord<'a>>,
}

#[derive(Serialize)]
struct HypothesisRecord<'a> {
    tokens: Vec<&'a str>,
    text: String,
    log_p: f32,
    token_log_p: &'a [f32],
    alpha: Option<&'a [Vec<f32>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_t: Option<&'a [f32]>,
    finished: bool,
}

fn record<'a>(high: &'a High, source: &Sentence, hypothesis: &'a Hypothesis) -> HypothesisRecord<'a> {
    HypothesisRecord {
        tokens: words::tokens(high.system.lead(), &hypothesis.tokens),
        text: text(high, source, hypothesis),
        log_p: hypothesis.log_p,
        token_log_p: &hypothesis.token_log_p,
        alpha: hypothesis.alpha.as_deref(),
        p_t: hypothesis.p_t.as_deref(),
        finished: hypothesis.finished,
    }
}

/// The translation as text, unknown words replaced when that was asked for.
fn text(high: &High, source: &Sentence, hypothesis: &Hypothesis) -> String {
    words::text(high.system.lead(), hypothesis, source, high.replacing.as_ref(), high.pretokenized)
}
