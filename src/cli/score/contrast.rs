//! `interlinear contrast`: minimal pairs: how often models hold the good translation for more probable than the bad one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::args::{BatchArgs, EnsembleArgs, RunArgs, TableFormat};
use crate::{args, output::LineOutput, progress::ProgressLine, windows};
use crate::{columns, output};
use engine::analysis::contrast::pairs::{
    ContrastPair, ContrastRow, ContrastedModel, FIGURES, each, summary, summary_table, tags,
};
use engine::error::{Error, Result};
use engine::evaluation::contrast::{ContrastMeasures, ContrastQuestions, ContrastedSystem};
use engine::text::{reader::LineReader, write::write_atomic};
use engine::{
    analysis::contrast::minimal::MinimalPair, decoding::Ensemble, evaluation::plan::InterventionPlan,
    models::choice::ModelSpec, ticket::CancellationToken,
};
use host::runtime::Runtime;
use import::contrast::read as read_table;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The pairs are a table (TSV or CSV) whose first row names the columns `source`, `good`, `bad` and perhaps `tag`, or
three files line by line. A source with several bad translations stands in several rows; a pair with several tags has commas between them.

Both translations are forced. The difference is ln p(good | source) - ln p(bad | source); a pair is right where it is above 0. The same is
told at the critical word, the first in which both differ, given what stands before it: there the length of what follows does not count.
Where a model has pieces of words, those of the whole word are added up.

A row for each model and tag:
  pairs, accuracy       how many there are, and the share that is right
  low, high             where the accuracy lies with a confidence of 95 % (Wilson's score)
  word accuracy         the share that is right at the critical word
  difference            the mean, in nats; word difference at the critical word
  equal                 how many have the same probability, most often since the model reads no difference; they are not right
  unknown               in how many the model does not know a critical word: it compares [UNK] with a word, which says little
  p                     of McNemar's exact test against the first model, over the pairs that both read

--interventions FILE forces both translations with what the file sets, too (one JSON object for all pairs, or a line for each, as for `translate`; words are
given, so that it has rows of alpha, masks, a temperature or heads that are left out). --measure asks at the critical word. Each figure is a mean over
the pairs that have it, FIGURE_pairs, and lies between FIGURE_low and FIGURE_high with a confidence of 95 % (shares by Wilson's score, else 1000 resamples):
  changed_accuracy      the accuracy with interventions
  difference_change     by how much the difference grows with them, in nats; word_change at the critical word
  alpha                 the weight of the source word that the model looks at most where it predicts the good critical word
  left_out              with --measure left-out: by how much ln p of the good critical word falls where this source word gets no weight in its row of
                        alpha and the others share it (Serrano and Smith 2019); left_out_word: by how much the word difference falls
A model without an alignment has nothing to leave out.

--pairs FILE writes a row for each pair and model: both critical words, ln p of each, the differences and what else was asked."
)]
pub struct ContrastArgs {
    /// The table of pairs, packed (gzip, zstandard) or not
    #[arg(value_name = "TABLE", required_unless_present = "source", conflicts_with = "source")]
    table: Option<PathBuf>,
    /// A model folder, or the name of an installed model; once for each model. With --ensemble all of them are one
    #[arg(long, value_name = "DIR", required = true, value_parser = args::folder())]
    model: Vec<ModelSpec>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    /// Sentences, one a line, in place of a table
    #[arg(long, value_name = "FILE", requires_all = ["good", "bad"])]
    source: Option<PathBuf>,
    /// Their good translations, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    good: Option<PathBuf>,
    /// Their bad translations, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    bad: Option<PathBuf>,
    /// Their tags, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    tags: Option<PathBuf>,
    /// The words are split by spaces already
    #[arg(long)]
    pretokenized: bool,
    /// Force both translations with these interventions as well, and tell what they change
    #[arg(long, value_name = "FILE")]
    interventions: Option<PathBuf>,
    /// What else to ask at the critical word
    #[arg(long, value_name = "NAME", value_enum)]
    measure: Option<MeasureChoice>,
    /// Write a row for each pair and model into this file, with tabs between
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What is asked at the critical word.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum MeasureChoice {
    /// What is lost where the source word that the model looks at is left out
    LeftOut,
}

const WINDOW: usize = 500;

/// Reads the pairs, asks every model, and prints what it says.
pub fn run(args: &ContrastArgs) -> anyhow::Result<()> {
    let (path, pairs) = read(args)?;
    if pairs.is_empty() {
        return Err(Error::file(path, "has no pairs; give at least one").into());
    }
    let acting = args.interventions.as_deref().map(InterventionPlan::open).transpose()?;
    acting.as_ref().map_or(Ok(()), |acting| acting.check_length(pairs.len()))?;
    let measures = ContrastMeasures { left_out: args.measure.is_some() };
    let questions = ContrastQuestions { acting: acting.as_ref(), measures };
    let runtime = args.run.plan()?;
    let mut models: Vec<ContrastedModel> = Vec::new();
    let mut refused = 0;
    for system in args.ensemble.systems(&args.model) {
        let system = EnsembleArgs::load(&system, &runtime)?;
        let (found, left_out) = measure(args, path, (&runtime, questions), (&system, &pairs))?;
        let mut name = system.name();
        if models.iter().any(|model| model.name == name) {
            name = format!("{name} ({})", system.folder());
        }
        models.push(ContrastedModel { name, found });
        // A line that several models refuse is one line.
        refused = refused.max(left_out);
    }
    if let Some(path) = &args.pairs {
        write_atomic(path, |file| file.write_all(each(&pairs, &models).0.tsv().as_bytes()))?;
    }
    let mut output = LineOutput::stdout();
    print(args.format, &summary(&pairs, &models), &mut output)?;
    output.finish()?;
    windows::refused(refused)
}

fn read(args: &ContrastArgs) -> Result<(&Path, Vec<ContrastPair>)> {
    if let Some(table) = &args.table {
        return Ok((table, read_table(table, &mut output::notify)?));
    }
    let given = || Error::Input("give a table, or --source, --good and --bad".to_owned());
    let source = args.source.as_ref().ok_or_else(given)?;
    let files = [Some(source), args.good.as_ref(), args.bad.as_ref(), args.tags.as_ref()];
    let mut columns =
        files.into_iter().flatten().map(|path| Ok((path, LineReader::open(path)?.held().collect::<Result<Vec<_>>>()?)));
    let columns = columns.by_ref().collect::<Result<Vec<(&PathBuf, Vec<String>)>>>()?;
    let count = columns[0].1.len();
    if let Some((path, lines)) = columns.iter().find(|(_, lines)| lines.len() != count) {
        let message = format!("has {} lines, and {} has {count}; give one for each", lines.len(), source.display());
        return Err(Error::file(path, message));
    }
    let pair = |n: usize| ContrastPair {
        line: n + 1,
        source: columns[0].1[n].clone(),
        targets: [columns[1].1[n].clone(), columns[2].1[n].clone()],
        tags: columns.get(3).map_or_else(Vec::new, |(_, lines)| tags(&lines[n])),
    };
    Ok((source, (0..count).map(pair).collect()))
}

/// Forces both translations of every pair; also how many cannot be read, each told.
fn measure(
    args: &ContrastArgs, path: &Path, (runtime, questions): (&Runtime, ContrastQuestions<'_>),
    (system, pairs): (&Ensemble, &[ContrastPair]),
) -> Result<(Vec<Option<MinimalPair>>, usize)> {
    let asked = ContrastedSystem::new(system.into(), (args.pretokenized, args.batch.batch), questions)?;
    let mut stepper = system.stepper(runtime.engine, runtime.threads)?;
    let mut progress = ProgressLine::new(format!("comparing, {}", system.name()), Some(pairs.len() as u64), false);
    let (mut found, mut refused) = (Vec::with_capacity(pairs.len()), 0);
    for window in pairs.chunks(WINDOW) {
        let (said, tokens) = asked.compare(stepper.as_mut(), (found.len(), window), &CancellationToken::forever())?;
        for (pair, said) in window.iter().zip(said) {
            if let Err(why) = &said {
                refused += 1;
                progress.notify(&Error::line(path, pair.line, why.clone()).to_string());
            }
            found.push(said.ok());
        }
        progress.add(window.len(), tokens, found.len() as u64);
    }
    progress.finish();
    Ok((found, refused))
}

fn print(format: TableFormat, rows: &[ContrastRow], output: &mut LineOutput) -> anyhow::Result<()> {
    if format != TableFormat::Json {
        return columns::print(format, &summary_table(rows), output);
    }
    rows.iter().try_for_each(|row| {
        let [pairs, equal, unknown] = [row.counts.pairs, row.counts.equal, row.counts.unknown];
        let mut object = json!({
            "model": row.model, "tag": row.tag, "pairs": pairs, "equal": equal, "unknown": unknown, "p": row.p,
        });
        for (name, of) in FIGURES {
            object[*name] = json!(of(row));
        }
        for (figure, mean) in &row.means {
            let [name, args, plan, pairs] = figure.heads;
            object[name] = json!(mean.map(|mean| mean.mean));
            object[args] = json!(mean.map(|mean| mean.low));
            object[plan] = json!(mean.map(|mean| mean.high));
            object[pairs] = json!(mean.map_or(0, |mean| mean.pairs));
        }
        output.json(&object)
    })
}
