//! Floor 13: `interlinear train --head`: where each word comes from, learned on a finished model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use crate::aligner::learned::Learned;
use crate::aligner::words::{Cutter, LineAligner};
use crate::cli::align::{LINK_WORDS, default_way};
use crate::cli::args::{RunArgs, one_of};
use crate::cli::{bundled, output, statistical};
use crate::error::{Error, Result};
use crate::models::Model;
use crate::nn::device::Device;
use crate::text::corpus::{PairRules, ParallelText};
use crate::ticket::CancellationToken;
use crate::training::guide::{Guide, GuidedReader};
use crate::training::head::{HeadTraining, train_head};
use crate::training::settings::{LinkWords, Unlinked};

/// An alignment head on a finished model.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "An alignment head")]
pub struct HeadArgs {
    /// Learn where each word comes from, for this finished model, ours or another toolkit's, whose weights stay as they
    /// are; writes alignment.safetensors into its folder, or beside its one file
    #[arg(long = "head", value_name = "DIR", conflicts_with_all = ["config", "resume", "from", "new"], requires = "source", value_parser = bundled::argument())]
    pub model: Option<PathBuf>,
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

/// Learns an alignment head for a finished model; text may take half of `memory` bytes, where that is known.
pub fn run(folder: &Path, args: &HeadArgs, run: &RunArgs, memory: Option<u64>) -> anyhow::Result<()> {
    if args.source.len() != args.target.len() || !args.links.is_empty() && args.links.len() != args.source.len() {
        let (sources, targets, links) = (args.source.len(), args.target.len(), args.links.len());
        let message =
            format!("{sources} files of --source, {targets} of --target and {links} of --links; give as many of each");
        return Err(Error::Input(message).into());
    }
    let runtime = run.high()?;
    let model = Model::load(folder, &Device::cpu())?;
    let ticket = CancellationToken::forever();
    let languages = (model.config.source_language.as_str(), model.config.target_language.as_str());
    let mut aligner = if args.links.is_empty() { Some(aligner(args, languages, runtime.threads)?) } else { None };
    let words = if aligner.is_some() { LinkWords::Tokens } else { args.link_words };
    let source = model.source.clone().ending(false);
    let mut reader = GuidedReader::new(words, languages, (&source, &model.target))?;
    let rules = PairRules {
        eos: model.config.eos,
        source_eos: model.config.source_eos,
        max_words: 100,
        max_pairs: args.limit,
        max_bytes: memory.map_or(u64::MAX, |memory| memory / 2),
    };
    let (mut corpus, mut guide) = (ParallelText::default(), Guide::default());
    for (n, files) in args.source.iter().zip(&args.target).enumerate() {
        let (files, looks) = ((files.0.as_path(), files.1.as_path()), (0, Unlinked::End));
        let (found, looks) = match &mut aligner {
            Some(aligner) => reader.read(files, looks, &rules, &ticket, &mut |_, pair| {
                let links = aligner.words(pair.0, pair.1).2;
                Ok((files.0, default_way().of(links.forward, &links.reverse)))
            })?,
            None => reader.read_linked(files, &args.links[n], looks, &rules, &ticket)?,
        };
        for k in 0..found.len() {
            let (source, target) = found.pair(k);
            corpus.push(source, target);
            guide.push(looks.of(k));
        }
    }
    let options = HeadTraining { passes: args.passes, seed: args.seed, ..HeadTraining::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(runtime.threads).build()?;
    let started = Instant::now();
    let weights = pool.install(|| {
        train_head(&model, (&corpus, &guide), options, &ticket, &mut |now| {
            if now.updates.0 % 50 == 0 || now.updates.0 == now.updates.1 {
                let (done, all) = now.updates;
                let speed = now.words as f64 / started.elapsed().as_secs_f64();
                output::tell(&format!("update {done} of {all}: {:.3} nats a word, {speed:.0} words/s", now.cost));
            }
        })
    })?;
    let path = args.write.clone().unwrap_or_else(|| model.head_file());
    weights.save(&path, true)?;
    output::tell(&format!("{} is written", path.display()));
    Ok(())
}

/// The aligner that finds the links: what was learned before, what comes with the program, or what this text teaches.
fn aligner(args: &HeadArgs, (source, target): (&str, &str), threads: usize) -> Result<LineAligner> {
    let cutters = || Ok::<_, Error>((Cutter::new(source, false)?, Cutter::new(target, false)?));
    if let Some(path) = &args.learned {
        let (source, target) = cutters()?;
        return Ok(LineAligner::new(Learned::open(path)?, source, target));
    }
    if let Some(aligner) = LineAligner::bundled(source, target, false)? {
        return Ok(aligner);
    }
    let files: Vec<_> = args.source.iter().cloned().zip(args.target.iter().cloned()).collect();
    let (source, target) = cutters()?;
    statistical::learn_text(&files, (source, target), threads)
}
