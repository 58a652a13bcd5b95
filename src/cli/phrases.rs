//! `interlinear score --phrase-table`: a phrase table with log p(target | source) as one further
//! feature (Cho et al. 2014, section 3.1), or the top targets of its source phrases.
//!
//! The table is read in windows of many lines. A window is scored in batches of like length, whose sources are
//! encoded once, and written in the order of the table; memory stays constant.

mod arguments;
mod top;

use std::io::{BufWriter, Write};
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches as _};

use crate::args::{BatchArgs, RunArgs, ScoreFormat, TableFormat};
use crate::phrases::arguments::{Feature, Scorer, WINDOW_LINES};
use crate::progress::ProgressLine;
use crate::{args, output};
use engine::decoding::phrases::{BATCH, PhraseOptions, ScoredPhrases};
use engine::error::{Error, Result};
use engine::text::phrases::{PhraseEntry, PhraseTable};
use engine::{models::choice::ModelSpec, text::phrases, ticket::CancellationToken};

pub use crate::phrases::arguments::{PhrasesArgs, PhrasesPlan};

const WINDOW_BYTES: usize = 16 << 20;

/// Shows the best targets of source phrases, by the model and by the table (Cho et al. 2014, section 4.3).
pub fn show(matches: &ArgMatches) -> anyhow::Result<()> {
    let typed = PhrasesArgs::from_arg_matches(matches)?;
    let table = open(&typed.phrase_table)?;
    let asked = (typed.phrase_table.as_path(), typed.table_feature, typed.phrases.as_slice());
    top::run(scorer(matches)?, table, asked, typed.format, typed.top)
}

/// Scores a phrase table, or shows its top targets.
pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let args = PhrasesPlan::from_arg_matches(matches)?;
    let path = args.phrase_table.clone().unwrap_or_default();
    let table = open(&path)?;
    let scorer = scorer(matches)?;
    match args.top {
        Some(k) => top::run(scorer, table, (&path, args.table_feature, &args.phrases), format(matches)?, k),
        None => write_table(scorer, table, &args),
    }
}

fn format(matches: &ArgMatches) -> Result<TableFormat> {
    match matches.get_one("format") {
        None | Some(ScoreFormat::Text) => Ok(TableFormat::Text),
        Some(ScoreFormat::Tsv) => Ok(TableFormat::Tsv),
        Some(ScoreFormat::Jsonl) => Ok(TableFormat::Json),
        Some(ScoreFormat::Pharaoh) => {
            Err(Error::Input("top targets have no alignment; choose --format text, tsv or jsonl".into()))
        }
    }
}

fn open(path: &Path) -> Result<PhraseTable> {
    if path == Path::new("-") {
        return Ok(PhraseTable::new(Path::new("standard input"), Box::new(std::io::BufReader::new(std::io::stdin()))));
    }
    PhraseTable::open(path)
}

fn scorer(matches: &ArgMatches) -> anyhow::Result<Scorer> {
    let models: Vec<ModelSpec> = matches.get_many("model").into_iter().flatten().cloned().collect();
    let models = args::given(&models)?;
    let [model] = models.as_slice() else {
        return Err(Error::Input("a phrase table is scored by one model; give --model once".into()).into());
    };
    let runtime = RunArgs::from_arg_matches(matches)?.plan()?;
    let model = args::load(model, &runtime)?;
    let stepper = model.stepper(runtime.engine, runtime.threads)?;
    // Phrases are short, so many fit a batch; what was asked for is done.
    let batch = match matches.value_source("batch") {
        Some(ValueSource::CommandLine) => BatchArgs::from_arg_matches(matches)?.batch,
        _ => BATCH,
    };
    let pretokenized = matches.get_flag("pretokenized");
    Ok(Scorer { model, stepper, options: PhraseOptions { batch, pretokenized } })
}

fn write_table(mut scorer: Scorer, mut table: PhraseTable, args: &PhrasesPlan) -> anyhow::Result<()> {
    use std::io::IsTerminal as _;
    let shared = args.output.is_none() && std::io::stdout().is_terminal();
    let mut progress = ProgressLine::new("scoring", table.size(), shared).counting("phrase pairs");
    let mut all = |write: &mut EntryWriter<'_>| stream(&mut scorer, &mut table, args.feature, &mut progress, write);
    let done = match &args.output {
        Some(path) if path != Path::new("-") => phrases::write_packed(path, |file| {
            let failed = |error| Error::io(path, &error).into();
            all(&mut |entry, feature| entry.write_with(feature, file).map_err(failed))
        }),
        _ => {
            let mut stdout = BufWriter::with_capacity(1 << 16, std::io::stdout());
            let failed = |error| output::failed(output::STDOUT, error);
            let done = all(&mut |entry, feature| entry.write_with(feature, &mut stdout).map_err(failed));
            done.and_then(|()| stdout.flush().map_err(failed))
        }
    };
    progress.finish();
    done
}

type EntryWriter<'a> = dyn FnMut(&PhraseEntry, &str) -> anyhow::Result<()> + 'a;

fn stream(
    scorer: &mut Scorer, table: &mut PhraseTable, feature: Feature, progress: &mut ProgressLine,
    write: &mut EntryWriter<'_>,
) -> anyhow::Result<()> {
    loop {
        let before = table.bytes_read();
        let (window, ended) = read_window(table);
        // What stands before a broken line is still written.
        let (log_p, ended) = score_window(scorer, table, before, &window, ended, progress)?;
        for (entry, log_p) in window.iter().zip(log_p) {
            if log_p.is_nan() {
                return Err(
                    Error::line(table.path(), entry.number, "gets no probability: the model fails on it").into()
                );
            }
            write(entry, &feature.text(log_p))?;
        }
        if ended? {
            return Ok(());
        }
    }
}

fn read_window(table: &mut PhraseTable) -> (Vec<PhraseEntry>, Result<bool>) {
    let (mut window, start) = (Vec::new(), table.bytes_read());
    while window.len() < WINDOW_LINES && table.bytes_read() - start < WINDOW_BYTES as u64 {
        match table.next() {
            Some(Ok(entry)) => window.push(entry),
            Some(Err(error)) => return (window, Err(error)),
            None => return (window, Ok(true)),
        }
    }
    (window, Ok(false))
}

/// log p of the lines of a window, up to one that the model cannot read, which then is how the table ended.
fn score_window(
    scorer: &mut Scorer, table: &PhraseTable, before: u64, window: &[PhraseEntry], mut ended: Result<bool>,
    progress: &mut ProgressLine,
) -> Result<(Vec<f32>, Result<bool>)> {
    let mut phrases = ScoredPhrases::new(&scorer.model, scorer.options);
    for entry in window {
        if let Err(message) = phrases.push(entry.source(), entry.target()) {
            ended = Err(Error::line(table.path(), entry.number, message));
            break;
        }
    }
    let (count, words, bytes) = (phrases.len().max(1), phrases.words(), table.bytes_read() - before);
    let (mut reported, mut words_reported) = (0, 0);
    let log_p = phrases.score(scorer.stepper.as_mut(), &CancellationToken::forever(), &mut |done| {
        let words_done = words * done / count;
        progress.add(done - reported, words_done - words_reported, before + bytes * done as u64 / count as u64);
        (reported, words_reported) = (done, words_done);
        Ok(())
    })?;
    Ok((log_p, ended))
}

impl Feature {
    fn text(self, log_p: f32) -> String {
        match self {
            // A sum of 0 and -0 is 0.
            Self::LogProbability => {
                let log_p = log_p.max(f32::MIN) + 0.0;
                if log_p < -1e7 { format!("{log_p:e}") } else { log_p.to_string() }
            }
            Self::Probability => {
                let p = f64::from(log_p).exp().max(f64::MIN_POSITIVE);
                if p < 1e-4 { format!("{p:.7e}") } else { (p as f32).to_string() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbers_that_others_can_read() {
        for (log_p, log, probability) in [
            (0.0, "0", "1"),
            (-0.0, "0", "1"),
            (-1.5, "-1.5", "0.22313017"),
            (-25.5, "-25.5", "8.4234638e-12"),
            (-500.0, "-500", "7.1245764e-218"),
            (-1000.0, "-1000", "2.2250739e-308"),
            (f32::NEG_INFINITY, "-3.4028235e38", "2.2250739e-308"),
        ] {
            assert_eq!(Feature::LogProbability.text(log_p), log);
            assert_eq!(Feature::Probability.text(log_p), probability);
        }
    }
}
