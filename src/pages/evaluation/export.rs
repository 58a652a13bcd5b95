//! Floor 9: the figures of an evaluation as text for other programs. Pure.

use serde_json::{Value, json};

use crate::analysis::aer;
use crate::analysis::bootstrap::Paired;
use crate::evaluation::alignment::Baseline;
use crate::evaluation::figures;
use crate::jobs::queue::evaluate::{Aligned, Compared, Evaluated, Measured};
use crate::pages::evaluation::command::FiguresFormat;
use crate::text::tsv::one_cell;

/// The figures in a format.
pub fn text(results: &Evaluated, format: FiguresFormat) -> String {
    match format {
        FiguresFormat::Tsv => tsv(results),
        FiguresFormat::Json => format!("{:#}\n", json(results)),
    }
}

fn tsv(results: &Evaluated) -> String {
    let mut text = figures::HEADER.to_owned();
    for Measured { report, words_per_second, .. } in results.models.iter().map(AsRef::as_ref) {
        let speed = Some(f64::from(*words_per_second));
        text.extend(report.rows.iter().map(|row| figures::line(&one_cell(&report.name), row, speed, "")));
    }
    text
}

fn json(results: &Evaluated) -> Value {
    let model = |measured: &Measured| {
        let report = &measured.report;
        json!({"name": report.name, "architecture": report.architecture,
               "folder": report.folder.display().to_string(), "average": report.mixing.map(|mixing| mixing.average.to_string()),
               "alignment_of": report.mixing.map(|mixing| mixing.alignment.to_string()), "beam": report.search.beam,
               "length": report.search.ranking.length.to_string(), "coverage": report.search.ranking.coverage,
               "words_per_second": measured.words_per_second, "alignments": alignments(measured),
               "rows": report.rows.iter().map(figures::object).collect::<Vec<_>>()})
    };
    let first = results.models.first().map(|measured| &measured.report);
    json!({"test_set": first.map(|report| report.test_set.clone()),
           "bleu_signature": first.map(|report| report.bleu_signature.clone()),
           "chrf2_signature": first.map(|report| report.chrf_signature.clone()),
           "gold": results.gold_note, "reverse": results.reverse, "left_out": results.left_out,
           "baselines": results.baselines.iter().map(baseline).collect::<Vec<_>>(),
           "models": results.models.iter().map(|measured| model(measured)).collect::<Vec<_>>(),
           "comparisons": results.comparisons.iter().map(|one| comparison(results, one)).collect::<Vec<_>>()})
}

/// AER and what it is made of, for each way to read links off alpha; why not, as a sentence; null without gold.
fn alignments(measured: &Measured) -> Value {
    let row = |row: &Aligned| {
        let rates = row.counts.rates();
        json!({"direction": row.direction, "reading": row.extraction.reading.name(), "threshold": row.extraction.threshold,
               "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
    };
    match &measured.alignments {
        None => Value::Null,
        Some(Ok(rows)) => rows.iter().map(row).collect(),
        Some(Err(message)) => json!(message),
    }
}

/// AER of links that need no model.
fn baseline(baseline: &Baseline) -> Value {
    let row = |(direction, counts): &(&str, aer::Counts)| {
        let rates = counts.rates();
        json!({"direction": direction, "precision": rates.precision, "recall": rates.recall, "aer": rates.aer})
    };
    json!({"name": baseline.name, "rows": baseline.rows.iter().map(row).collect::<Vec<_>>()})
}

fn comparison(results: &Evaluated, compared: &Compared) -> Value {
    let name = |place: usize| results.models.get(place).map(|measured| measured.report.name.clone());
    let paired = |paired: &Paired| {
        json!({"difference": paired.difference.value, "low": paired.difference.low, "high": paired.difference.high,
               "p_value": paired.p_value, "second_wins": paired.second_wins, "resamples": paired.resamples})
    };
    json!({"first": name(compared.pair.0), "second": name(compared.pair.1), "unk": compared.by.unk.name(),
           "bleu": paired(&compared.by.bleu), "chrf2": paired(&compared.by.chrf)})
}
