//! Floor 9: `interlinear evaluate`: how well models know and translate a test set.
//!
//! The negative log-likelihood is that of the first reference, in nats; the perplexity is
//! exp(NLL / target words), `</s>` counted as a word, as the models are trained. BLEU compares
//! detokenised output with the raw references. Everything is also told by source length and for
//! the sentences without unknown words on either side, as Bahdanau et al. (2015) do.

mod report;

use std::io::BufReader;
use std::path::Path;
use std::path::PathBuf;
use std::time::Instant;

use clap::ArgMatches;
use clap::Args;
use clap::FromArgMatches as _;
use clap::ValueEnum;

use crate::analysis::bleu::Tokenization;
use crate::analysis::buckets::Buckets;
use crate::cli::Context;
use crate::cli::args::BatchArgs;
use crate::cli::args::RunArgs;
use crate::cli::args::Runtime;
use crate::cli::args::SearchArgs;
use crate::cli::evaluate::report::Told;
use crate::cli::input::STDIN;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::error::Error;
use crate::error::Result;
use crate::evaluation;
use crate::evaluation::Options;
use crate::evaluation::Stage;
use crate::evaluation::TestSet;
use crate::evaluation::Unk;
use crate::models::Model;
use crate::text::reader::LineReader;
use crate::ticket::Ticket;

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct Low {
    /// A model folder; once for each model
    #[arg(long, value_name = "DIR", required = true)]
    model: Vec<PathBuf>,
    /// Sentences of the source language, one a line, packed (gzip, zstandard) or not
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Their translations, line by line; once for each reference. NLL is that of the first
    #[arg(long, value_name = "FILE", required = true)]
    target: Vec<PathBuf>,
    /// The words are split by spaces already
    #[arg(long)]
    pretokenized: bool,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    batch: BatchArgs,
    /// Tell the figures by length of the source as well, in buckets that end with these lengths; or `none`
    #[arg(long, value_name = "ENDS", default_value = "10,20,30,40,50,60", value_parser = buckets)]
    buckets: Buckets,
    /// How BLEU cuts text into words
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    tokenize: Tokenize,
    /// Translate with unknown words in the output, without, or both ways
    #[arg(long, value_enum, default_value_t)]
    unk: UnkArg,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
}

/// A tokenizer of sacreBLEU's.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenize {
    /// That of mteval-v13a.
    #[default]
    #[value(name = "13a")]
    Mteval13a,
    /// Whitespace alone.
    None,
}

/// Which translations are made.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnkArg {
    /// `[UNK]` is a word like any other.
    #[default]
    Allow,
    /// The search never emits it.
    Forbid,
    /// One after the other.
    Both,
}

/// How the figures are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For reading.
    #[default]
    Table,
    /// For a spreadsheet.
    Tsv,
    /// For a program.
    Json,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Evaluates every model and writes one report.
///
/// # Errors
/// When a model, the test set or the output fails.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let test_set = read(&low)?;
    let runtime = low.run.high()?;
    let options = options(&low);
    let mut told = Vec::with_capacity(low.model.len());
    for folder in &low.model {
        let model = runtime.load(folder)?;
        told.push(evaluate(&runtime, &model, &test_set, &options)?);
    }
    let mut output = Output::stdout();
    match low.format {
        Format::Table => output.text(&report::table(&told))?,
        Format::Tsv => output.text(&report::tsv(&told))?,
        Format::Json => output.json(&report::json(&told))?,
    }
    output.finish()
}

fn options(low: &Low) -> Options {
    let search = low.search.high();
    let unk = match low.unk {
        UnkArg::Both => vec![Unk::Allowed, Unk::Forbidden],
        UnkArg::Forbid => vec![Unk::Forbidden],
        UnkArg::Allow if search.forbid_unk => vec![Unk::Forbidden],
        UnkArg::Allow => vec![Unk::Allowed],
    };
    Options {
        search,
        batch: low.batch.high(),
        buckets: low.buckets.clone(),
        tokenization: match low.tokenize {
            Tokenize::Mteval13a => Tokenization::Mteval13a,
            Tokenize::None => Tokenization::None,
        },
        unk,
        clock: Some(Instant::now),
    }
}

fn evaluate(runtime: &Runtime, model: &Model, test_set: &TestSet, options: &Options) -> Result<Told> {
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let name = &model.config.name;
    let total = test_set.len() * (1 + options.unk.len());
    let mut bar = Progress::new(format!("evaluating {name}"), Some(total as u64), false);
    let mut tell = |now: evaluation::Progress| {
        // The rate that is shown is that of translating.
        let words = if now.stage == Stage::Scoring { 0 } else { now.words };
        bar.add(now.sentences, words, now.done as u64);
    };
    let report = evaluation::run(model, stepper.as_mut(), test_set, options, &Ticket::forever(), &mut tell);
    bar.finish();
    Ok(Told { report: report?, device: runtime.device.name.clone(), threads: runtime.threads })
}

fn read(low: &Low) -> Result<TestSet> {
    let targets: Result<Vec<LineReader>> = low.target.iter().map(|path| lines(path)).collect();
    TestSet::from_lines(lines(&low.source)?, targets?, low.pretokenized)
}

/// The lines of a file; `-` is stdin.
fn lines(path: &Path) -> Result<LineReader> {
    if path == Path::new("-") {
        return Ok(LineReader::new(Path::new(STDIN), Box::new(BufReader::new(std::io::stdin()))));
    }
    LineReader::open(path)
}

/// The ends of buckets as typed.
fn buckets(text: &str) -> Result<Buckets> {
    if text == "none" {
        return Buckets::new(&[]);
    }
    let ends: Option<Vec<usize>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    let wrong = || Error::Input("write the last length of each bucket, as in 10,20,30, or none".into());
    Buckets::new(&ends.ok_or_else(wrong)?)
}
