//! Floor 9: `interlinear score`: log p(y | x) and the alignment of given pairs, as JSON lines.

use clap::{ArgMatches, Args, FromArgMatches as _};
use serde::Serialize;

use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, RunArgs};
use crate::cli::output::Output;
use crate::cli::pairs::{Pair, PairForcer};
use crate::cli::{Context, phrases, words};
use crate::decoding::Forced;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "One JSON object a line: source, target, log_p, token_log_p, alpha (a row for each target token, a
column for each source token) and energies (before the softmax); null where there are none. With local attention also
p_t, the aligned position of each target token in source tokens from 0. A pair that a model cannot
read (too long, or without source words where it reads no `</s>`) gets nulls, a sentence on stderr, and exit code 2 at the end."
)]
pub struct Low {
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

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
    let mut output = Output::stdout();
    let forcer = PairForcer::open(&low.pairs, &low.models, low.batch, &low.run)?;
    let refused = forcer.run("scoring", &mut |window, forced| {
        for (pair, forced) in window.iter().zip(forced) {
            output.json(&record(pair, forced.as_ref()))?;
        }
        output.flush()
    })?;
    output.finish()?;
    words::refused(refused)
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
