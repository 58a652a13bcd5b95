//! Floor 9: `interlinear bench`: how fast this machine decodes, trains and starts.
//!
//! Sections are a table, run in order; each prints its rows as they are measured and leaves them
//! for `--json`. With `--file` one model folder decodes one file instead, and prints the figures
//! that a peer program prints, so that both can be compared in the same run (`--peer`).

mod corpora;
mod decode;
mod file;
mod heatmap;
mod machine;
mod opening;
mod peer;
mod race;
mod report;
mod startup;
mod subject;
mod timing;
mod training;
mod window;
mod work;

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, FromArgMatches as _};
use serde_json::{Map, Value, json};

use crate::cli::args::{RunArgs, Runtime};
use crate::cli::bench::machine::Rates;
use crate::cli::bench::peer::Peer;
use crate::cli::bench::report::Report;
use crate::cli::output::Output;
use crate::cli::{Context, MeasureWindow};
use crate::error::{Error, Result};
use crate::models::Kernels;
use crate::session::figures::MeasureHeatmap;
use crate::text::lines::write_atomic;

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
    /// Decode this file with --model, and nothing else
    #[arg(long, value_name = "FILE", requires = "model")]
    file: Option<PathBuf>,
    /// Hypotheses kept (with --file)
    #[arg(long, value_name = "K", default_value_t = 5, requires = "file", value_parser = clap::value_parser!(u16).range(1..=1000))]
    beam: u16,
    /// Most target words of a translation (with --file)
    #[arg(long, value_name = "N", default_value_t = 20, requires = "file", value_parser = clap::value_parser!(u16).range(1..))]
    max_length: u16,
    /// Sentences decoded together (with --file)
    #[arg(long, value_name = "N", default_value_t = 1, requires = "file", value_parser = clap::value_parser!(u16).range(1..=4096))]
    batch: u16,
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
n), draws its own pairs, and its last line must be a JSON object with words_per_second (target words, </s> included).

With --file the model decodes the file's sentences, words split by spaces, and prints one JSON object: sentences,
words_per_s, median_s and p95_s of a batch, the first words of the first translation and its log p; with --peer also
those of the peer.";

/// What the sections need to know.
struct Setup {
    runtime: Runtime,
    /// Whether `--threads` was given: then only that number is measured.
    threads_given: bool,
    model: Option<PathBuf>,
    measure_window: Option<MeasureWindow>,
    measure_heatmap: Option<MeasureHeatmap>,
    quick: bool,
    /// Repetitions of each measurement, at most.
    repeat: usize,
    /// Repetitions of each measurement, however long they take.
    least: usize,
    peer: Option<Peer>,
    train_peer: Option<Peer>,
    /// What the machine reaches, by threads.
    rates: RefCell<Vec<Rates>>,
}

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
    if let (Some(folder), Some(text)) = (low.model, low.file) {
        return file::run(&file::High {
            setup,
            folder,
            text,
            beam: low.beam.into(),
            max_length: low.max_length.into(),
            batch: low.batch.into(),
            repeat: low.repeat.map_or(1, usize::from),
        });
    }
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
            quick: self.quick,
            repeat,
            least: repeat.min(if self.quick { 1 } else { 3 }),
            peer: self.peer.as_deref().map(|command| Peer::new(command, "words_per_s")),
            train_peer: self.train_peer.as_deref().map(|command| Peer::new(command, "words_per_second")),
            rates: RefCell::default(),
        })
    }
}

impl Setup {
    /// The numbers of threads to measure.
    fn threads(&self) -> Vec<usize> {
        if self.threads_given || self.runtime.threads == 1 {
            return vec![self.runtime.threads];
        }
        if self.quick { vec![self.runtime.threads.min(2)] } else { vec![1, 2] }
    }

    /// What so many threads reach together; measured once.
    fn rates(&self, threads: usize) -> Result<Rates> {
        let known = self.rates.borrow().iter().find(|rates| rates.threads == threads).copied();
        if let Some(rates) = known {
            return Ok(rates);
        }
        let rates = Rates::measure(threads, self.quick)?;
        self.rates.borrow_mut().push(rates);
        Ok(rates)
    }

    /// What the measured way to decode is compared with.
    fn compared(&self) -> &'static str {
        match (self.runtime.engine, self.runtime.device.is_cpu()) {
            (Kernels::Fused, _) => "compared with the readable form",
            (Kernels::Plain, true) => "the readable form, compared with the fused one",
            (Kernels::Plain, false) => "compared with the fused form on the processor",
        }
    }
}

/// A peer that printed no figures for any row is a mistake of whoever typed it.
fn peer_must_have_run(asked: bool, rows: &[Value]) -> Result<()> {
    if asked && rows.iter().all(|row| row["peer_ratio"].is_null()) {
        return Err(Error::Input("the peer printed no figures for any model; what it said stands above".into()));
    }
    Ok(())
}

/// A pool of so many threads; the readable engine's products use no others.
fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Internal(format!("no {threads} threads could be started ({error})")))
}
