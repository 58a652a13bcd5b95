//! Floor 9: `interlinear dictionary`: what `translate --replace-unk --dictionary` reads, counted over a corpus with a
//! model's own alignments.

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _};

use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, RunArgs};
use crate::cli::pairs::PairForcer;
use crate::cli::{Context, words};
use crate::text::dictionary::Counts;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The targets are forced through the model, and each target word is counted with its source word of greatest
alpha, both as they are written, words that the model does not know among them. The file has a line for each
source word, sorted: SOURCE, its most frequent TARGET and how often they went together, with tabs between.

A pair that a model cannot read is passed over, with a sentence on stderr and exit code 2 at the end."
)]
pub struct Low {
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    /// Where the dictionary goes
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what went together less often
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    minimum: u64,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Counts and writes.
///
/// # Errors
/// When the model, the input or the output fails; when pairs were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let forcer = PairForcer::open(&low.pairs, &low.models, low.batch, &low.run)?;
    words::require_alignment(&forcer.system, "a dictionary")?;
    let mut counts = Counts::default();
    let refused = forcer.run_aligned(&mut |worded| {
        for link in &worded.links {
            counts.add(&worded.source[link.source], &worded.target[link.target]);
        }
    })?;
    counts.save(&low.output, low.minimum)?;
    words::refused(refused)
}
