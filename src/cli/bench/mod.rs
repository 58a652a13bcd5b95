//! Floor 10: `interlinear bench`: how fast this machine decodes, trains and starts.
//!
//! Sections are a table, run in order; each prints its rows as they are measured and leaves them
//! for `--json`. Other programs that do the same work run by turns with ours (`--peer`, `--train-peer`).

mod corpora;
mod decode;
mod heatmap;
mod machine;
mod opening;
mod peer;
mod race;
mod rates;
mod report;
mod setup;
mod startup;
mod steps;
mod subject;
mod timing;
mod training;
mod tree;
mod window;
mod work;
mod workspace;

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, FromArgMatches as _};
use serde_json::{Map, Value, json};

use crate::cli::Context;
use crate::cli::args::RunArgs;
use crate::cli::bench::peer::Peer;
use crate::cli::bench::report::Report;
use crate::cli::bench::setup::Setup;
use crate::cli::output::Output;
use crate::text::write::write_atomic;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub struct Low {
    /// A model folder to measure instead of bundled and random ones
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Tiny models and short measurements: whether everything runs, in seconds
    #[arg(long)]
    quick: bool,
    /// Only this section; once for each
    #[arg(long, value_name = "NAME", value_parser = section_names())]
    section: Vec<String>,
    /// Also write everything that was measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the tables to this file, in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// A program that decodes, to compare with
    #[arg(long, value_name = "COMMAND")]
    peer: Option<String>,
    /// A program that trains, to compare with
    #[arg(long, value_name = "COMMAND")]
    train_peer: Option<String>,
    /// Repetitions of each measurement, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: Option<u16>,
    #[command(flatten)]
    run: RunArgs,
}

/// What `--help` says below the options.
const HELP: &str = "Sections, in their order:
  opening   a file of a million lines as a list: until the first lines are shown, until all are there, a search, and the
            memory of it
  machine   what the processor reads and multiplies at best, on one thread and on two; bounds come from it
  startup   loading a model, its first translation, a whole process
  decode    one sentence of 20 words at a time, beam 5: milliseconds, beside the bound (the weights that must be
            read, or the products that must be made, whichever takes longer) and beside the readable form, with
            the greatest difference of log p
  corpora   batches of 12, 64 and 256 sentences: words a second and the share of the greatest rate of f32 products
  training  full updates on 80 pairs of 13 words a side: target words a second
  window    first frame, first translation, keystrokes and frames of the real window; needs a display
  heatmap   CPU time of frames with alignments of 60 by 60 and 200 by 200 words; needs no display
  tree      CPU time of frames with the tree of a search with beam 12 and 40 words; needs no display
  steps     a source of 40 words taken apart, and CPU time of frames of the page Steps; needs no display
  workspace bringing in 100,000 sentences with the alignments of two systems; a million sentences opened, sorted, filtered,
            scrolled, and one chosen

Bundled models are measured, and random ones of a bundled and of the papers' sizes; --model DIR measures that one
instead. Everything takes some minutes and 4 GB of memory on two cores. Other programs that run meanwhile make all
figures worse.

--peer COMMAND runs beside decode and corpora, by turns with the rows, on the same model, sentences and threads. It is
called with DIR FILE BEAM MAX_LENGTH batch=N threads=N, on a graphics card also device=NAME: DIR is a model folder
that lies there for the time of the measurement, FILE has a sentence a line, words split by spaces, and </s> is to be
added behind each. Its last line must be a JSON object with words_per_s (target words), median_s (of a batch), first
(the first ids of the first translation) and score (its log p); the last two are compared with ours. Where it prints
none for a model, the row says so.
--train-peer COMMAND runs beside training. It is called with rnnencdec, rnnsearch or luong and threads=N updates=N
B=PAIRS length=WORDS V=VOCABULARY n=N m=N l=N drop=P (luong: layers=N and no l; rnnsearch: n' is the bundled models'
n), draws its own pairs, and its last line must be a JSON object with words_per_second (target words, </s> included).";

/// One line of [`SECTIONS`].
struct Section {
    name: &'static str,
    run: fn(&Setup, &mut Report<'_>) -> anyhow::Result<Value>,
}

/// Everything that is measured, in this order.
const SECTIONS: &[Section] = &[
    // first, as it tells the most memory that the process had so far
    Section { name: "opening", run: opening::run },
    Section { name: "machine", run: machine::run },
    Section { name: "startup", run: startup::run },
    Section { name: "decode", run: decode::run },
    Section { name: "corpora", run: corpora::run },
    Section { name: "training", run: training::run },
    Section { name: "window", run: window::run },
    Section { name: "heatmap", run: heatmap::run },
    Section { name: "tree", run: tree::run },
    Section { name: "steps", run: steps::run },
    Section { name: "workspace", run: workspace::run },
];

fn section_names() -> Vec<&'static str> {
    SECTIONS.iter().map(|section| section.name).collect()
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Measures.
///
/// # Errors
/// When a model, a file or the output fails, and when a peer prints no figures for any model.
pub fn run(matches: &ArgMatches, context: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let setup = low.setup(&context)?;
    let mut output = Output::stdout();
    let mut report = Report::new(&mut output);
    let (program, mut record) = (program(&setup), Map::new());
    report.line(&program)?;
    record.insert("program".into(), json!(program));
    for section in SECTIONS.iter().filter(|s| low.section.is_empty() || low.section.iter().any(|name| name == s.name)) {
        report.section(section.name)?;
        record.insert(section.name.into(), (section.run)(&setup, &mut report)?);
    }
    if let Some(path) = low.markdown {
        write(&path, report.markdown())?;
    }
    output.finish()?;
    low.json.map_or(Ok(()), |path| write(&path, &serde_json::to_string_pretty(&Value::Object(record))?))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(write_atomic(path, |file| writeln!(file, "{}", text.trim()))?)
}

/// The program, its build and where it runs, in one line.
fn program(setup: &Setup) -> String {
    let build = if cfg!(debug_assertions) { "debug build: no figure counts" } else { "release build" };
    format!(
        "interlinear {} ({build}, Rust {}), {} {}, device {}",
        env!("CARGO_PKG_VERSION"),
        rustc_version_runtime::version(),
        std::env::consts::OS,
        std::env::consts::ARCH,
        setup.runtime.device.name
    )
}

impl Low {
    fn setup(&self, context: &Context) -> anyhow::Result<Setup> {
        // a repetition of a peer takes seconds
        let default = if self.quick { 2 } else { 9 };
        let repeat = self.repeat.map_or(default, usize::from);
        Ok(Setup {
            runtime: self.run.high()?,
            threads_given: self.run.threads().is_some(),
            model: self.model.clone(),
            measure_window: context.measure,
            measure_heatmap: context.measure_heatmap,
            measure_tree: context.measure_tree,
            measure_steps: context.measure_steps,
            measure_workspace: context.measure_workspace,
            quick: self.quick,
            repeat,
            least: repeat.min(if self.quick { 1 } else { 3 }),
            peer: self.peer.as_deref().map(|command| Peer::new(command, "words_per_s")),
            train_peer: self.train_peer.as_deref().map(|command| Peer::new(command, "words_per_second")),
            rates: RefCell::default(),
        })
    }
}
