//! `interlinear train --head`: where each word comes from, learned on a finished model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use crate::args;
use crate::args::{LINK_WORDS, RunArgs, one_of};
use crate::{output, statistical};
use engine::aligner::words::{Cutter, LineAligner};
use engine::error::{Error, Result};
use engine::models::{Model, choice::ModelSpec, fused::head::HeadSizes};
use engine::{aligner::learned::Learned, nn::device::Device, ticket::CancellationToken};
use training::head::{HeadProgress, HeadTraining, head_parameters, train_head};
use training::{linked::LinkedText, settings::LinkWords, state::Checkpoint};

const REPORT_EVERY: u64 = 50;
const KEEP: u64 = 200;

/// An alignment head on a finished model.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "An alignment head")]
pub struct HeadArgs {
    /// Learn where each word comes from, for this finished model, ours or another toolkit's, whose weights stay as they
    /// are; writes alignment.safetensors into its folder, or beside its one file. With --resume it goes on from the last checkpoint
    #[arg(long = "head", value_name = "DIR", conflicts_with_all = ["config", "from", "new"], requires = "source", value_parser = args::folder())]
    pub model: Option<ModelSpec>,
    /// Text to learn from, once for each file
    #[arg(long, requires = "model", value_name = "FILE")]
    source: Vec<PathBuf>,
    /// Its translations, once for each file
    #[arg(long, requires = "model", value_name = "FILE")]
    target: Vec<PathBuf>,
    /// Word links of each pair of files, a line for each pair; without them the statistical aligner finds them
    #[arg(long, requires = "model", value_name = "FILE")]
    links: Vec<PathBuf>,
    /// Which words the files of links count
    #[arg(long, requires = "links", default_value = "spaces", value_parser = one_of(LINK_WORDS.iter().copied()))]
    link_words: LinkWords,
    /// What the statistical aligner learned (`align --save`); that which comes with the program where it has one
    #[arg(long, requires = "model", conflicts_with = "links", value_name = "FILE")]
    learned: Option<PathBuf>,
    /// Passes over the text
    #[arg(long, requires = "model", value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=100))]
    passes: u64,
    /// At most so many pairs of each file
    #[arg(long, requires = "model", value_name = "N")]
    limit: Option<usize>,
    /// Draws the first weights and the order of the text
    #[arg(long, requires = "model", value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where the head is written instead
    #[arg(long, requires = "model", value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Learns an alignment head for a finished model, from the last checkpoint on where it `is_resumed`.
pub fn run(
    model: &ModelSpec, (args, is_resumed): (&HeadArgs, bool), run: &RunArgs, memory: Option<u64>,
) -> anyhow::Result<()> {
    if args.source.len() != args.target.len() || !args.links.is_empty() && args.links.len() != args.source.len() {
        let (sources, targets, links) = (args.source.len(), args.target.len(), args.links.len());
        let message =
            format!("{sources} files of --source, {targets} of --target and {links} of --links; give as many of each");
        return Err(Error::Input(message).into());
    }
    let runtime = run.plan()?;
    let model = Model::load(model, &Device::cpu())?;
    let ticket = CancellationToken::forever();
    let files: Vec<_> = args.source.iter().cloned().zip(args.target.iter().cloned()).collect();
    let learned = || aligner(args.learned.as_deref(), &files, &model, runtime.threads);
    let mut aligner = args.links.is_empty().then(learned).transpose()?;
    let (links, words, most) = (args.links.as_slice(), args.link_words, args.limit);
    let text = LinkedText { files: &files, links, words, most, bytes: memory.map_or(u64::MAX, |memory| memory / 2) };
    let (corpus, guide) = text.read(&model, aligner.as_mut(), &ticket)?;
    let first = HeadTraining::default();
    let keep = memory.map_or(first.keep, |memory| memory / 4);
    let options = HeadTraining { passes: args.passes, seed: args.seed, keep, ..first };
    let path = args.write.clone().unwrap_or_else(|| model.head_file());
    let kept = path.with_extension("checkpoint");
    let load = || Checkpoint::load(&kept, head_parameters(HeadSizes::of(&model.config, &model.weights)));
    let before = is_resumed.then(load).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(runtime.threads).build()?;
    let (started, begun) = (Instant::now(), before.as_ref().map_or(0, |before| before.position.words));
    let weights = pool.install(|| {
        train_head(&model, (&corpus, &guide), options, before.as_ref(), &ticket, &mut |step| {
            let HeadProgress { updates: (done, all), words, cost } = step.progress;
            if done % REPORT_EVERY == 0 || done == all {
                let speed = (words - begun) as f64 / started.elapsed().as_secs_f64();
                output::notify(&format!("update {done} of {all}: {cost:.3} nats a word, {speed:.0} words/s"));
            }
            if done % KEEP == 0 { step.checkpoint().save(&kept) } else { Ok(()) }
        })
    })?;
    weights.save(&path, true)?;
    // what it was for is done
    let _ = std::fs::remove_file(&kept);
    output::notify(&format!("{} is written", path.display()));
    Ok(())
}

fn aligner(learned: Option<&Path>, files: &[(PathBuf, PathBuf)], model: &Model, threads: usize) -> Result<LineAligner> {
    let (source, target) = (model.config.source_language.as_str(), model.config.target_language.as_str());
    let cutters = (Cutter::new(source, false), Cutter::new(target, false));
    if let Some(path) = learned {
        return Ok(LineAligner::new(Learned::open(path)?, cutters.0, cutters.1));
    }
    let bundled = LineAligner::bundled(source, target, false)?;
    bundled.map_or_else(|| statistical::learn_text(files, cutters, threads), Ok)
}
