//! What BENCHMARKS.md tells: `cargo bench --bench bench`, or with names behind ` -- ` only these sections.
//!
//! Measured are the four models of the papers in four columns, and random ones of a bundled and of the papers' sizes.
//! Other programs that do the same work run by turns with ours. With `--quick` the smallest models do everything once,
//! and it fails where the fast and the readable form of a model disagree.

#[cfg(feature = "gui")]
mod corpus_table;
mod cost;
mod decode;
#[cfg(feature = "gui")]
mod frames;
mod machine;
mod opening;
mod others;
mod peer;
mod race;
#[cfg(feature = "gui")]
mod scenes;
mod startup;
mod steps;
mod subject;
mod timing;
mod training;
#[cfg(feature = "gui")]
mod typing;
mod work;
mod workspace;

use std::path::{Path, PathBuf};
use std::{cell::RefCell, process::ExitCode};

use clap::Parser;

use interlinear::cli::{args::RunArgs, bench::figures::Figures, bench::program};
use interlinear::{error::Result, host::runtime::Runtime, models::Kernels};
use machine::Rates;
use peer::Peer;

/// One model of each paper's decoder: what the window shows in four columns.
const FOUR: [&str; 4] = ["rnnencdec-en-fr", "rnnsearch-en-fr", "luong-global-en-fr", "luong-local-p-en-fr"];

/// Measures what BENCHMARKS.md tells
#[derive(Parser)]
#[command(after_help = HELP)]
struct Args {
    /// Only these sections
    #[arg(value_name = "SECTION", value_parser = names())]
    sections: Vec<String>,
    /// Tiny models and short measurements: whether everything runs, in seconds
    #[arg(long)]
    quick: bool,
    /// Also write what was measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A program that decodes, to compare with; once for each
    #[arg(long, value_name = "COMMAND")]
    peer: Vec<String>,
    /// A program that trains, to compare with
    #[arg(long, value_name = "COMMAND")]
    train_peer: Option<String>,
    /// Only models whose name or folder contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Repetitions of each measurement, at most
    #[arg(long, value_name = "N")]
    repeat: Option<usize>,
    #[command(flatten)]
    run: RunArgs,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// What `--help` says below the options.
const HELP: &str = "\
--peer COMMAND runs beside decode, corpora and competition, by turns with the rows, on the same model and sentences: on
one thread, on all of them with either OMP_WAIT_POLICY, and with a translator a thread (side_by_side=N). Ratios are to
the best of these. It is called with DIR FILE BEAM MAX_LENGTH batch=N threads=N, on a graphics card also device=NAME:
DIR is a model folder that lies there for the time of the measurement, FILE has a sentence a line, words split by
spaces, and </s> is to be added behind each. Its last line must be a JSON object with words_per_s (target words),
median_s (of a batch), first (the first ids of the first translation) and score (its log p); the last two are compared
with ours. Where it prints none for a model or a setting, it is left out there.
--train-peer COMMAND runs beside training. It is called with rnnencdec, rnnsearch or luong and threads=N updates=N
B=PAIRS length=WORDS V=VOCABULARY n=N m=N l=N drop=P (luong: layers=N and no l), draws its own pairs, and its last line
must be a JSON object with words_per_second (target words, </s> included).";

type Section = (&'static str, fn(&Setup, &mut Figures) -> anyhow::Result<()>);

const SECTIONS: &[Section] = &[
    // first, as it tells the most memory that the process had so far
    ("opening", opening::run),
    ("machine", machine::run),
    ("startup", startup::run),
    ("decode", decode::sentences),
    ("corpora", decode::corpora),
    ("competition", decode::competition),
    ("training", training::run),
    #[cfg(feature = "gui")]
    ("window", typing::run),
    #[cfg(feature = "gui")]
    ("heatmap", frames::heatmap),
    #[cfg(feature = "gui")]
    ("tree", frames::tree),
    ("steps", steps::run),
    ("workspace", workspace::run),
];

fn names() -> Vec<&'static str> {
    SECTIONS.iter().map(|(name, _)| *name).collect()
}

struct Setup {
    runtime: Runtime,
    threads_given: bool,
    quick: bool,
    repeat: usize,
    least: usize,
    only: String,
    peers: Vec<Peer>,
    train_peer: Option<Peer>,
    rates: RefCell<Vec<Rates>>,
}

impl Setup {
    fn new(args: &Args) -> Result<Self> {
        // a repetition of a peer takes seconds
        let repeat = args.repeat.unwrap_or(if args.quick { 1 } else { 9 }).max(1);
        Ok(Self {
            runtime: args.run.plan()?,
            threads_given: args.run.threads.is_some(),
            quick: args.quick,
            repeat,
            least: repeat.min(3),
            only: args.only.clone(),
            peers: args.peer.iter().map(|command| Peer::new(command, "words_per_s")).collect(),
            train_peer: args.train_peer.as_deref().map(|command| Peer::new(command, "words_per_second")),
            rates: RefCell::default(),
        })
    }

    fn models(&self) -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        if self.quick {
            return vec![root.join("tests/fixtures/reference/rnnsearch")];
        }
        FOUR.map(|name| root.join("models").join(name)).to_vec()
    }

    fn frames(&self) -> usize {
        if self.quick { 3 } else { 300 }
    }

    fn threads(&self) -> Vec<usize> {
        match self.runtime.threads {
            threads if self.threads_given || threads == 1 => vec![threads],
            _ if self.quick => vec![2],
            _ => vec![1, 2],
        }
    }

    fn most_threads(&self) -> usize {
        self.threads().last().copied().unwrap_or(1)
    }

    fn rates(&self, threads: usize) -> Result<Rates> {
        let known = self.rates.borrow().iter().find(|rates| rates.threads == threads).copied();
        if let Some(rates) = known {
            return Ok(rates);
        }
        let rates = Rates::measure(threads, self.quick)?;
        self.rates.borrow_mut().push(rates);
        Ok(rates)
    }

    fn compared(&self) -> &'static str {
        match (self.runtime.engine, self.runtime.device.is_cpu()) {
            (Kernels::Fused, _) => "compared with the readable form",
            (Kernels::Plain, true) => "the readable form, compared with the fused one",
            (Kernels::Plain, false) => "compared with the fused form on the processor",
        }
    }
}

fn measure(args: &Args) -> anyhow::Result<()> {
    let setup = Setup::new(args)?;
    let mut figures = Figures::default();
    figures.line(&program(&setup.runtime))?;
    for (name, run) in SECTIONS {
        if args.sections.is_empty() || args.sections.iter().any(|wanted| wanted == name) {
            figures.section(name)?;
            run(&setup, &mut figures)?;
        }
    }
    figures.finish(args.json.as_deref())
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            interlinear::cli::output::notify(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
