//! Floor 9: `interlinear bench`: how fast this machine decodes, trains and starts.
//!
//! Sections are a table, run in order; each prints its rows as they are measured and leaves them
//! for `--json`. With `--file` one model folder decodes one file instead, and prints the figures
//! that a peer program prints, so that both can be compared in the same run (`--peer`).

mod decode;
mod file;
mod startup;
mod subject;
mod timing;
mod training;
mod window;

use std::io::Write as _;
use std::path::PathBuf;

use clap::ArgMatches;
use clap::Args;
use clap::FromArgMatches as _;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::cli::Context;
use crate::cli::MeasureWindow;
use crate::cli::args::RunArgs;
use crate::cli::args::Runtime;
use crate::cli::output::Output;
use crate::error::Error;
use crate::text::lines::write_atomic;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "With --file the model decodes the file's sentences, words split by spaces, and prints one JSON
object: sentences, words_per_s, median_s and p95_s of a batch, the first words of the first
translation and its log p. --peer runs another program alternately with it, called with
DIR FILE BEAM MAX_LENGTH batch=N threads=N, which must print such an object as well."
)]
pub struct Low {
    /// A model folder to measure instead of a bundled one
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Fewer settings and shorter measurements
    #[arg(long)]
    quick: bool,
    /// Only this section; once for each
    #[arg(long, value_name = "NAME", value_parser = section_names())]
    section: Vec<String>,
    /// Also write everything that was measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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
    /// A program to compare with (with --file)
    #[arg(long, value_name = "COMMAND", requires = "file")]
    peer: Option<String>,
    /// Repetitions of each measurement
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: Option<u16>,
    #[command(flatten)]
    run: RunArgs,
}

/// What the sections need to know.
struct Setup {
    runtime: Runtime,
    /// Whether `--threads` was given: then only that number is measured.
    threads_given: bool,
    model: Option<PathBuf>,
    measure_window: Option<MeasureWindow>,
    quick: bool,
    /// Repetitions of each measurement.
    repeat: usize,
}

/// Prints a line of a section as soon as it is known.
type Say<'a> = &'a mut dyn FnMut(&str) -> anyhow::Result<()>;

/// One line of [`SECTIONS`].
struct Section {
    name: &'static str,
    run: fn(&Setup, Say<'_>) -> anyhow::Result<Value>,
}

/// Everything that is measured, in this order.
const SECTIONS: &[Section] = &[
    Section { name: "startup", run: startup::run },
    Section { name: "decode", run: decode::run },
    Section { name: "training", run: training::run },
    Section { name: "window", run: window::run },
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
/// When a model, a file or the output fails.
pub fn run(matches: &ArgMatches, context: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let setup = Setup {
        runtime: low.run.high()?,
        threads_given: low.run.threads().is_some(),
        model: low.model.clone(),
        measure_window: context.measure,
        quick: low.quick,
        repeat: low.repeat.map_or(if low.quick { 2 } else { 5 }, usize::from),
    };
    if let (Some(folder), Some(text)) = (low.model, low.file) {
        return file::run(&file::High {
            setup,
            folder,
            text,
            beam: low.beam.into(),
            max_length: low.max_length.into(),
            batch: low.batch.into(),
            peer: low.peer,
            repeat: low.repeat.map_or(1, usize::from),
        });
    }
    let mut output = Output::stdout();
    output.line(&machine(&setup))?;
    let mut record = Map::new();
    record.insert("machine".into(), json!(machine(&setup)));
    for section in SECTIONS.iter().filter(|s| low.section.is_empty() || low.section.iter().any(|name| name == s.name)) {
        output.line(&format!("\n{}", section.name))?;
        let mut say = |line: &str| {
            output.line(line)?;
            output.flush()
        };
        record.insert(section.name.into(), (section.run)(&setup, &mut say)?);
    }
    output.finish()?;
    low.json.map_or(Ok(()), |path| write(&path, &Value::Object(record)))
}

fn write(path: &std::path::Path, record: &Value) -> anyhow::Result<()> {
    let text = format!("{}\n", serde_json::to_string_pretty(record)?);
    Ok(write_atomic(path, |file| file.write_all(text.as_bytes()))?)
}

/// The machine and the build, in one line.
fn machine(setup: &Setup) -> String {
    let cores = crate::cli::args::physical_cores();
    let build = if cfg!(debug_assertions) { "debug build: no figure counts" } else { "release build" };
    format!(
        "interlinear {} ({build}), {} {}, {cores} cores, device {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        setup.runtime.device.name
    )
}

impl Setup {
    /// The numbers of threads to measure.
    fn threads(&self) -> Vec<usize> {
        if self.threads_given || self.runtime.threads == 1 {
            return vec![self.runtime.threads];
        }
        if self.quick { vec![self.runtime.threads.min(2)] } else { vec![1, 2] }
    }
}

/// Runs `work` in a pool of so many threads; the readable engine's products use no others.
fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> crate::error::Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Internal(format!("no {threads} threads could be started ({error})")))?;
    Ok(pool.install(work))
}
