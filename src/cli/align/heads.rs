//! `interlinear heads`: which head of a Transformer aligns.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::args::{BatchArgs, PairArgs, RunArgs};
use crate::statistical::{StatisticalArgs, Text};
use crate::{
    args,
    args::GoldLayoutArgs,
    columns::{TextTable, figure},
    output,
    output::LineOutput,
};
use corpus::overview::gold::{HeadErrorRow, heads, heads_left_out};
use corpus::overview::test_set::TestSet;
use engine::analysis::{aer::AerRates, symmetrize::symmetrization};
use engine::error::{Error, Result};
use engine::models::Model;
use engine::models::{choice::ModelSpec, transformer::heads::HeadPlace};
use engine::text::tsv::{TsvCell, text};
use engine::{
    aligner::words::LineAligner, evaluation::alignment::Aligner, text::links::Links, ticket::CancellationToken,
};
use host::runtime::Runtime;

const USUAL: &str = "grow-diag";

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The target is forced, and each of its words is linked to the source word at which a head of the
decoder's cross-attention looks most; with --by-input also by the other reading of a row, the word that the decoder has
just read. Each head of each layer has its alignment error rate against the links of --gold or, without them, those
of the statistical aligner (of the languages of the model, or as --statistical and --learned say); the best head comes
first. Layers and heads are counted from 1. With --leave-out there is no alignment error: each head is left out in turn, of
cross-attention and of the self-attention of both sides, its output being zero in all steps, and has the Jensen-Shannon
divergence (nats, at most 0.693) of the next-word distributions with and without it, the mean over the words of the forced
target (Michel, Levy, Neubig 2019); the head that is missed most comes first. `MODEL@6.1` is the model with head 1 of layer 6 as its alignment, in every
command and in the window; `MODEL@6` has the mean of layer 6."
)]
pub struct HeadsArgs {
    /// A Transformer: its folder or file
    #[arg(long, value_name = "PATH", value_parser = args::folder())]
    model: ModelSpec,
    #[command(flatten)]
    pairs: PairArgs,
    /// Compare with these links
    #[arg(long, value_name = "FILE", conflicts_with_all = ["statistical", "learned"])]
    gold: Option<PathBuf>,
    #[command(flatten)]
    layout: GoldLayoutArgs,
    /// Also read each row by the word that the decoder had just read
    #[arg(long)]
    by_input: bool,
    #[command(flatten)]
    statistical: StatisticalArgs,
    /// Leave each head out in turn, and tell how far the next words change
    #[arg(long, conflicts_with_all = ["gold", "statistical", "learned"])]
    leave_out: bool,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: HeadsFormat,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HeadsFormat {
    /// A row for each head and reading, the best first; with --leave-out one for each head
    #[default]
    Table,
    /// The same with tabs between
    Tsv,
    /// An object a line: layer, head, reading, aer, precision, recall; with --leave-out: attention, layer, head, js
    Jsonl,
}

#[derive(Serialize)]
struct HeadRecord {
    layer: usize,
    head: usize,
    reading: &'static str,
    aer: Option<f64>,
    precision: Option<f64>,
    recall: Option<f64>,
}

#[derive(Serialize)]
struct LeftOutRecord {
    attention: &'static str,
    layer: usize,
    head: usize,
    js: f64,
}

pub fn run(args: &HeadsArgs) -> anyhow::Result<()> {
    let PairArgs { source, target, pretokenized } = &args.pairs;
    let mut test_set = TestSet::read(source, std::slice::from_ref(target), *pretokenized)?;
    let runtime = args.run.plan()?;
    let model = args::load(&args.model, &runtime)?;
    if args.leave_out {
        return leave_out(args, &model, &test_set, &runtime);
    }
    refer(args, &model, &mut test_set, runtime.threads)?;
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let aligner = Aligner { system: (&model).into(), stepper: stepper.as_mut() };
    let forever = CancellationToken::forever();
    let mut found = heads(aligner, &test_set, (args.batch.batch, args.by_input), &forever, &mut |_, _| ())?;
    found.sort_by(|a, b| error(a).total_cmp(&error(b)));
    let head = ["layer", "head", "reading", "AER", "precision", "recall"];
    write(args.format, head, found.iter().map(cells).collect(), found.iter().map(record))
}

fn leave_out(args: &HeadsArgs, model: &Model, test_set: &TestSet, runtime: &Runtime) -> anyhow::Result<()> {
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let mut aligner = Aligner { system: model.into(), stepper: stepper.as_mut() };
    let found = heads_left_out(&mut aligner, test_set, &CancellationToken::forever(), &mut |_, _| ())?;
    let cells = |(HeadPlace { attention, layer, head }, js): &(HeadPlace, f64)| {
        [attention.name().to_owned(), layer.to_string(), head.to_string(), format!("{js:.6}")]
    };
    let record = |(HeadPlace { attention, layer, head }, js): &(HeadPlace, f64)| LeftOutRecord {
        attention: attention.name(),
        layer: *layer,
        head: *head,
        js: *js,
    };
    let head = ["attention", "layer", "head", "JS"];
    write(args.format, head, found.iter().map(cells).collect(), found.iter().map(record))
}

fn write<const N: usize>(
    format: HeadsFormat, head: [&str; N], cells: Vec<[String; N]>, mut records: impl Iterator<Item = impl Serialize>,
) -> anyhow::Result<()> {
    let mut output = LineOutput::stdout();
    match format {
        HeadsFormat::Jsonl => records.try_for_each(|record| output.json(&record))?,
        HeadsFormat::Tsv => {
            output.text(&text(&head, cells.iter().map(|row| row.iter().map(TsvCell::plain).collect())))?;
        }
        HeadsFormat::Table => {
            let mut table = TextTable::new(head);
            cells.into_iter().for_each(|row| table.row(row));
            output.text(&table.text())?;
        }
    }
    output.finish()
}

fn error(row: &HeadErrorRow) -> f64 {
    row.counts.rates().aer.unwrap_or(f64::INFINITY)
}

fn record(row: &HeadErrorRow) -> HeadRecord {
    let AerRates { precision, recall, aer } = row.counts.rates();
    HeadRecord { layer: row.layer, head: row.head, reading: row.reading.name(), aer, precision, recall }
}

fn cells(row: &HeadErrorRow) -> [String; 6] {
    let HeadRecord { layer, head, reading, aer, precision, recall } = record(row);
    let [aer, precision, recall] = [aer, precision, recall].map(|rate| figure(rate, 4));
    [layer.to_string(), head.to_string(), reading.to_owned(), aer, precision, recall]
}

fn refer(args: &HeadsArgs, model: &Model, test_set: &mut TestSet, threads: usize) -> Result<()> {
    if let Some(path) = &args.gold {
        let note = test_set.read_golds(path, &args.layout.plan())?;
        output::notify(&format!("{}: {note}", path.display()));
        return Ok(());
    }
    let pairs: Vec<(&str, &str)> = test_set.pairs.iter().map(|pair| (&*pair.source, pair.first())).collect();
    let (from, to) = (&model.config.source_language, &model.config.target_language);
    let aligner = if args.statistical.asked() {
        let files = (args.pairs.source.as_path(), args.pairs.target.as_path());
        let text = Text { files, pairs: &pairs, pretokenized: test_set.pretokenized };
        Some(args.statistical.aligner(text, threads)?)
    } else {
        LineAligner::bundled(from, to, test_set.pretokenized)?
    };
    let Some(mut aligner) = aligner else {
        let message = format!("there is no statistical aligner for {from} to {to}");
        return Err(Error::Input(format!("{message}; give --gold, --statistical or --learned")));
    };
    let Some(way) = symmetrization(USUAL) else { return Err(Error::Internal(format!("there is no {USUAL}"))) };
    let links = |(source, target): &(&str, &str)| {
        let found = aligner.lines(source, target);
        Links::new((way.combine)(&found.forward, &found.reverse), Vec::new())
    };
    let links = pairs.iter().map(links).collect();
    test_set.set_golds(links);
    Ok(())
}
