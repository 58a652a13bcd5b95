//! Floor 9: `interlinear evaluate`: how well models know and translate a test set.
//!
//! The negative log-likelihood is that of the reference, in nats; the perplexity is
//! exp(NLL / target words), `</s>` counted as a word, as the models are trained. BLEU compares
//! detokenised output with the raw reference. Everything is also told by source length and for
//! the sentences without unknown words on either side, as Bahdanau et al. (2015) do.

mod report;

use std::path::PathBuf;
use std::time::Instant;

use clap::ArgMatches;
use clap::Args;
use clap::FromArgMatches as _;
use clap::ValueEnum;

use crate::analysis::bleu;
use crate::analysis::buckets::BUCKETS;
use crate::analysis::buckets::by_length;
use crate::cli::Context;
use crate::cli::args::BatchArgs;
use crate::cli::args::PairArgs;
use crate::cli::args::RunArgs;
use crate::cli::args::Runtime;
use crate::cli::args::SearchArgs;
use crate::cli::evaluate::report::Report;
use crate::cli::evaluate::report::Row;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::score::ParallelLines;
use crate::cli::words;
use crate::decoding::Decoded;
use crate::decoding::Options;
use crate::error::Error;
use crate::models::Model;
use crate::models::Stepper;
use crate::text::sentence::Sentence;

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct Low {
    /// A model folder; once for each model
    #[arg(long, value_name = "DIR", required = true)]
    model: Vec<PathBuf>,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    batch: BatchArgs,
    /// Tell the figures by length of the source as well
    #[arg(long, value_enum, value_name = "YES|NO", default_value = "yes", num_args = 0..=1, default_missing_value = "yes")]
    bucket: YesNo,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
}

/// A switch that can be turned off.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesNo {
    /// On.
    Yes,
    /// Off.
    No,
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

/// As meant.
struct High {
    pairs: PairArgs,
    runtime: Runtime,
    options: Options,
    batch: usize,
    buckets: bool,
}

/// One pair of the test set and what a model made of it.
struct Case {
    source: Sentence,
    target: Sentence,
    /// NLL of the reference, in nats.
    nll: f64,
    translation: String,
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
    ParallelLines::open(&low.pairs)?;
    let high = High {
        runtime: low.run.high()?,
        // Only the text of the best is used.
        options: Options { most_numbers: 0, ..low.search.high() },
        batch: low.batch.high(),
        buckets: low.bucket == YesNo::Yes,
        pairs: low.pairs,
    };
    let mut reports = Vec::with_capacity(low.model.len());
    for folder in &low.model {
        let model = high.runtime.load(folder)?;
        reports.push(evaluate(&high, &model)?);
    }
    let mut output = Output::stdout();
    match low.format {
        Format::Table => output.text(&report::table(&reports))?,
        Format::Tsv => output.text(&report::tsv(&reports))?,
        Format::Json => output.json(&report::json(&reports))?,
    }
    output.finish()
}

fn evaluate(high: &High, model: &Model) -> anyhow::Result<Report> {
    let mut cases = read(high, model)?;
    let mut stepper = model.stepper(high.runtime.engine, high.runtime.threads)?;
    force(high, model, stepper.as_mut(), &mut cases)?;
    let started = Instant::now();
    let produced = translate(high, model, stepper.as_mut(), &mut cases)?;
    Ok(Report {
        name: model.config.name.clone(),
        architecture: model.config.architecture.name(),
        folder: model.folder.display().to_string(),
        beam: high.options.beam,
        device: high.runtime.device.name.clone(),
        threads: high.runtime.threads,
        seconds: started.elapsed().as_secs_f64(),
        sentences: cases.len(),
        words: produced,
        rows: rows(high, model, &cases),
    })
}

/// The whole test set, tokenised by the model's own tokenizers.
fn read(high: &High, model: &Model) -> crate::error::Result<Vec<Case>> {
    let mut files = ParallelLines::open(&high.pairs)?;
    let mut cases = Vec::new();
    while let Some((source, target)) = files.read(model, high.pairs.pretokenized)? {
        // A test set with holes would give figures that mean something else.
        if let Some(why) = source.refused.or(target.refused) {
            return Err(why);
        }
        cases.push(Case { source: source.sentence, target: target.sentence, nll: 0.0, translation: String::new() });
    }
    if cases.is_empty() {
        return Err(Error::file(&high.pairs.source, "has no lines; give a test set"));
    }
    Ok(cases)
}

/// NLL of every reference.
fn force(high: &High, model: &Model, stepper: &mut dyn Stepper, cases: &mut [Case]) -> anyhow::Result<()> {
    let pairs: Vec<(&[u32], &[u32])> =
        cases.iter().map(|case| (case.source.ids.as_slice(), case.target.ids.as_slice())).collect();
    let mut nll = vec![0.0; cases.len()];
    let mut progress = Progress::new(format!("scoring with {}", model.config.name), Some(pairs.len() as u64), false);
    let mut position = 0;
    words::force_all(stepper, &pairs, high.batch, &mut |indexes, forced| {
        for (&index, forced) in indexes.iter().zip(forced) {
            nll[index] = -forced.token_log_p.iter().map(|&log_p| f64::from(log_p)).sum::<f64>();
        }
        position += indexes.len() as u64;
        progress.add(indexes.len(), indexes.iter().map(|&index| pairs[index].1.len()).sum(), position);
    })?;
    progress.finish();
    for (case, nll) in cases.iter_mut().zip(nll) {
        case.nll = nll;
    }
    Ok(())
}

/// Translates every source and gives the words that were produced, `</s>` counted.
fn translate(high: &High, model: &Model, stepper: &mut dyn Stepper, cases: &mut [Case]) -> anyhow::Result<usize> {
    let chosen: Vec<usize> = (0..cases.len()).filter(|&index| cases[index].source.words() > 0).collect();
    let sources: Vec<&[u32]> = chosen.iter().map(|&index| cases[index].source.ids.as_slice()).collect();
    let mut progress =
        Progress::new(format!("translating with {}", model.config.name), Some(sources.len() as u64), false);
    let (mut position, mut produced) = (0, 0);
    let mut texts = vec![String::new(); sources.len()];
    let mut told = |indexes: &[usize], decoded: Vec<Decoded>| {
        let mut words = 0;
        for (&index, decoded) in indexes.iter().zip(&decoded) {
            let Some(best) = decoded.hypotheses.first() else { continue };
            words += best.tokens.len();
            texts[index] = words::text(model, best, None, high.pairs.pretokenized);
        }
        position += indexes.len() as u64;
        produced += words;
        progress.add(indexes.len(), words, position);
    };
    words::decode_all(model, stepper, &sources, &high.options, high.batch, &mut told)?;
    progress.finish();
    for (index, text) in chosen.into_iter().zip(texts) {
        cases[index].translation = text;
    }
    Ok(produced)
}

/// A row for each set and, where asked for, for each bucket with anything in it.
fn rows(high: &High, model: &Model, cases: &[Case]) -> Vec<Row> {
    let unk = model.config.unk;
    let known = |case: &Case| !case.source.ids.contains(&unk) && !case.target.ids.contains(&unk);
    let all: Vec<&Case> = cases.iter().collect();
    let without_unk: Vec<&Case> = cases.iter().filter(|case| known(case)).collect();
    let mut rows = Vec::new();
    for (set, cases) in [("all", all), ("without UNK", without_unk)] {
        rows.push(row(set, "all", &cases));
        if high.buckets {
            let lengths: Vec<usize> = cases.iter().map(|case| case.source.words()).collect();
            for (bucket, indexes) in BUCKETS.iter().zip(by_length(&lengths)) {
                let chosen: Vec<&Case> = indexes.into_iter().map(|index| cases[index]).collect();
                if !chosen.is_empty() {
                    rows.push(row(set, bucket.name, &chosen));
                }
            }
        }
    }
    rows
}

fn row(set: &'static str, length: &'static str, cases: &[&Case]) -> Row {
    let translations: Vec<&str> = cases.iter().map(|case| case.translation.as_str()).collect();
    let references: Vec<&str> = cases.iter().map(|case| case.target.text.as_str()).collect();
    Row {
        set,
        length,
        sentences: cases.len(),
        words: cases.iter().map(|case| case.target.len()).sum(),
        nll: cases.iter().fold(0.0, |sum, case| sum + case.nll),
        bleu: (!cases.is_empty()).then(|| bleu::corpus(&translations, &references).score),
    }
}
