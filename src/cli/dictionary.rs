//! `interlinear dictionary`: what `translate --replace-unk --dictionary` reads, counted over a corpus with a
//! model's own alignments.

use std::path::PathBuf;

use clap::Args;

use crate::args::{BatchArgs, ModelArgs, PairArgs, ReadingArgs, RunArgs};
use crate::{align::NO_MODEL, pairs::PairForcer, statistical::StatisticalArgs, windows};
use engine::text::dictionary::WordCounts;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The targets are forced through the model, and each target word is counted with the source word that the
alignment head names, or that of greatest alpha where there is no head, both as they are written, words that the model does not know among them. The file has a line for each
source word, sorted: SOURCE, its most frequent TARGET and how often they went together, with tabs between.

With --statistical the links are those on which both directions of a statistical aligner agree, which learns from the text
itself; no model is needed.

A pair that a model cannot read is passed over, with a sentence on stderr and exit code 2 at the end.",
    mut_arg("model", |model| model
        .required(false)
        .required_unless_present_any(["statistical", "learned"])
        .conflicts_with_all(NO_MODEL))
)]
pub struct DictionaryArgs {
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    statistical: StatisticalArgs,
    /// Where the dictionary goes
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what went together less often
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    minimum: u64,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub fn run(args: &DictionaryArgs) -> anyhow::Result<()> {
    let mut counts = WordCounts::default();
    if args.statistical.asked() {
        args.statistical.align(&args.pairs, args.run.cores(), &mut |x, y, links| {
            for link in links.forward.iter().filter(|link| links.reverse.contains(link)) {
                counts.add(&x[link.source], &y[link.target]);
            }
        })?;
        return Ok(counts.save(&args.output, args.minimum)?);
    }
    let forcer = PairForcer::open(&args.pairs, &args.models, (args.reading, true), (args.batch, &args.run))?;
    forcer.require_alignment("a dictionary")?;
    let refused = forcer.run_aligned(&mut |worded| {
        for link in &worded.links {
            counts.add(&worded.source[link.source], &worded.target[link.target]);
        }
    })?;
    counts.save(&args.output, args.minimum)?;
    windows::refused(refused)
}
