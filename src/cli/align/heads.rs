//! Floor 13: `interlinear heads`: which head of a Transformer aligns.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::aligner::words::LineAligner;
use crate::analysis::aer::AerRates;
use crate::analysis::symmetrize::symmetrization;
use crate::cli::args::{BatchArgs, PairArgs, RunArgs};
use crate::cli::columns::TextTable;
use crate::cli::output::LineOutput;
use crate::cli::statistical::{StatisticalArgs, Text};
use crate::cli::{bundled, output};
use crate::corpus::overview::gold::{HeadErrorRow, heads};
use crate::corpus::overview::test_set::TestSet;
use crate::error::{Error, Result};
use crate::evaluation::alignment::Aligner;
use crate::models::Model;
use crate::text::links::Links;
use crate::text::links::read::LinkLayout;
use crate::text::tsv::{TsvCell, rows};
use crate::ticket::CancellationToken;

/// How both directions of the statistical aligner become one.
const USUAL: &str = "grow-diag";

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The target is forced, and each of its words is linked to the source word at which a head of the
decoder's cross-attention looks most, by both readings of a row: by the word that it predicts, and by the word that it
has just read. Each head of each layer has its alignment error rate against the links of --gold or, without them, those
of the statistical aligner (of the languages of the model, or as --statistical and --learned say); the best head comes
first. Layers and heads are counted from 1. `MODEL@6.1` is the model with head 1 of layer 6 as its alignment, in every
command and in the window; `MODEL@6` has the mean of layer 6."
)]
pub struct HeadsArgs {
    /// A Transformer: its folder or file
    #[arg(long, value_name = "PATH", value_parser = bundled::argument())]
    model: PathBuf,
    #[command(flatten)]
    pairs: PairArgs,
    /// Compare with these links
    #[arg(long, value_name = "FILE", conflicts_with_all = ["statistical", "learned"])]
    gold: Option<PathBuf>,
    #[command(flatten)]
    statistical: StatisticalArgs,
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
    /// A row for each head and reading, the best first
    #[default]
    Table,
    /// The same with tabs between
    Tsv,
    /// An object a line: layer, head, reading, aer, precision, recall
    Jsonl,
}

/// A line of the output.
#[derive(Serialize)]
struct HeadRecord {
    layer: usize,
    head: usize,
    reading: &'static str,
    aer: Option<f64>,
    precision: Option<f64>,
    recall: Option<f64>,
}

/// Measures all heads.
pub fn run(low: &HeadsArgs) -> anyhow::Result<()> {
    let PairArgs { source, target, pretokenized } = &low.pairs;
    let mut test_set = TestSet::read(source, std::slice::from_ref(target), *pretokenized)?;
    let runtime = low.run.high()?;
    let model = runtime.load(&low.model)?;
    refer(low, &model, &mut test_set, runtime.threads)?;
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    let aligner = Aligner { system: (&model).into(), stepper: stepper.as_mut() };
    let forever = CancellationToken::forever();
    let mut found = heads(aligner, &test_set, low.batch.high(), &forever, &mut |_, _, _| ())?;
    found.sort_by(|a, b| error(a).total_cmp(&error(b)));
    let mut output = LineOutput::stdout();
    let head = ["layer", "head", "reading", "AER", "precision", "recall"];
    match low.format {
        HeadsFormat::Jsonl => found.iter().try_for_each(|row| output.json(&record(row)))?,
        HeadsFormat::Tsv => {
            let cells = found.iter().map(|row| cells(row).map(|cell| TsvCell::plain(&cell)).to_vec());
            output.text(&rows(std::iter::once(head.map(TsvCell::from).to_vec()).chain(cells).collect::<Vec<_>>()))?;
        }
        HeadsFormat::Table => {
            let mut table = TextTable::new(head);
            for row in &found {
                table.row(cells(row));
            }
            output.text(&table.text())?;
        }
    }
    output.finish()
}

/// Those without any link last.
fn error(row: &HeadErrorRow) -> f64 {
    row.counts.rates().aer.unwrap_or(f64::INFINITY)
}

fn record(row: &HeadErrorRow) -> HeadRecord {
    let AerRates { precision, recall, aer } = row.counts.rates();
    HeadRecord { layer: row.layer, head: row.head, reading: row.reading.name(), aer, precision, recall }
}

fn cells(row: &HeadErrorRow) -> [String; 6] {
    let HeadRecord { layer, head, reading, aer, precision, recall } = record(row);
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.4}"));
    [layer.to_string(), head.to_string(), reading.to_owned(), rate(aer), rate(precision), rate(recall)]
}

/// Gives the pairs the links that the heads are compared with.
fn refer(low: &HeadsArgs, model: &Model, test_set: &mut TestSet, threads: usize) -> Result<()> {
    if let Some(path) = &low.gold {
        let note = test_set.read_golds(path, &LinkLayout::default())?;
        output::tell(&format!("{}: {note}", path.display()));
        return Ok(());
    }
    let pairs: Vec<(&str, &str)> = test_set.pairs.iter().map(|pair| (&*pair.source, pair.first())).collect();
    let (from, to) = (&model.config.source_language, &model.config.target_language);
    let aligner = if low.statistical.asked() {
        let files = (low.pairs.source.as_path(), low.pairs.target.as_path());
        let text = Text { files, pairs: &pairs, pretokenized: test_set.pretokenized };
        Some(low.statistical.aligner(text, threads)?)
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
